/* SPDX-License-Identifier: MIT */
/* report --stats: how many records of each type, and samples of each event. */
#ifndef PD_STATS_H
#define PD_STATS_H
#include "base/text.h"
#include "container/container.h"
#include "order/order.h"
#include <stdatomic.h>

/* What the counts of an event's samples include. */
struct pd_stats_options {
    bool lost;     /* also lost samples, which perf leaves out below a dump */
    bool empty;    /* also types and events of which there is nothing */
    bool branches; /* every branch of a sample counts as one */
    unsigned made; /* how many events the dump made up, since perf counts them, too */
    /* By the event's index, for the first `kept_count` events: how many of its samples the filters
     * keep. NULL: all. */
    const _Atomic uint64_t *kept;
    size_t kept_count;
};

/* Reads the whole recording once, in file order, and adds perf's text. After an error the text
 * holds what was read. */
perfdata_status pd_stats_text(struct pd_recording *recording, struct pd_stats_options options,
                              struct pd_text *out);

/* Counts while something else reads, since a stream cannot be read twice. */
struct pd_stats;
/* NULL: no memory. */
struct pd_stats *pd_stats_new(struct pd_recording *recording);
/* Takes a record in delivery order, all types of records wanted; of a sample of several counters
 * each of its parts. `options`: those that pd_stats_put() is given. False: no memory. */
bool pd_stats_see(struct pd_stats *stats, const struct pd_stats_options *options,
                  const struct pd_delivered *record);
/* As pd_stats_text(), of what was seen. */
void pd_stats_put(struct pd_stats *stats, const struct pd_stats_options *options,
                  struct pd_text *out);
void pd_stats_free(struct pd_stats *stats);

#endif
