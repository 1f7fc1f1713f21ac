/* SPDX-License-Identifier: MIT */
/* report --stats: how many records of each type, and samples of each event. */
#ifndef PD_STATS_H
#define PD_STATS_H
#include "base/text.h"
#include "container/container.h"
#include <stdatomic.h>

/* Reads the whole recording once, in file order, and adds perf's text. After an error the text
 * holds what was read. */
/* What the counts of an event's samples include. */
struct pd_stats_options {
    bool lost;     /* also lost samples, which perf leaves out below a dump */
    bool empty;    /* also types and events of which there is nothing */
    bool branches; /* every branch of a sample counts as one */
    unsigned made; /* how many events the dump made up, since perf counts them, too */
    /* By the event's index: how many of its samples the filters keep. NULL: all. */
    const _Atomic uint64_t *kept;
};
perfdata_status pd_stats_text(struct pd_recording *recording, struct pd_stats_options options,
                              struct pd_text *out);

#endif
