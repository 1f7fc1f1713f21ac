/* SPDX-License-Identifier: MIT */
/* report --stats: how many records of each type, and samples of each event. */
#ifndef PD_STATS_H
#define PD_STATS_H
#include "base/text.h"
#include "container/container.h"

/* Reads the whole recording once, in file order, and adds perf's text. After an error the text
 * holds what was read. */
/* What an event's samples are counted by. */
struct pd_stats_options {
    bool lost;     /* those that were lost, too: perf leaves them out below a dump */
    bool branches; /* each branch of a sample */
    unsigned made; /* events that the dump made up: perf counts them */
};
perfdata_status pd_stats_text(struct pd_recording *recording, struct pd_stats_options options,
                              struct pd_text *out);

#endif
