/* SPDX-License-Identifier: MIT */
/* Counters of branches (PERF_SAMPLE_BRANCH_COUNTERS, Linux 6.8): how often some events occurred
 * since the branch before. */
#ifndef PD_RENDER_COUNTERS_H
#define PD_RENDER_COUNTERS_H
#include "base/text.h"
#include "container/container.h"

enum { PD_BRANCH_COUNTERS_MAX = 26 }; /* letters */

/* What a branch's word of counters is made of, for one group of events. */
struct pd_branch_counters {
    unsigned width,
        slots; /* bits a counter, counters a word, as the processor's PMU tells; 0: unknown */
    const struct pd_event *events[PD_BRANCH_COUNTERS_MAX]; /* whose counters they are, in order */
    unsigned count;
};

/* The counters of the event's group; count is 0 where it has none. */
void pd_branch_counters_of(const struct pd_recording *recording, const struct pd_event *event,
                           struct pd_branch_counters *out);
/* Adds a letter for each time that an event occurred, A for the first event, with '+' behind the
 * letters of a counter that is full, and "-" for no letter at all. Where the width is not known,
 * adds the plain number. With `names`: each event's name with its count. */
void pd_branch_counters_text(const struct pd_branch_counters *counters, uint64_t word, bool names,
                             struct pd_text *text);
/* Which letter stands for which event, as comment lines. */
void pd_branch_counters_list(const struct pd_branch_counters *counters, struct pd_text *text);

#endif
