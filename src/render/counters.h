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

/* The counters of an event's group; count 0: it has none. */
void pd_branch_counters_of(const struct pd_recording *recording, const struct pd_event *event,
                           struct pd_branch_counters *out);
/* A letter for each time that an event occurred, the first event's being A; '+' behind those of a
 * counter that is full, "-" for none. The plain number where the width is not known. With `names`:
 * each event by name, with its number. */
void pd_branch_counters_text(const struct pd_branch_counters *counters, uint64_t word, bool names,
                             struct pd_text *text);
/* Which letter stands for which event, as comment lines. */
void pd_branch_counters_list(const struct pd_branch_counters *counters, struct pd_text *text);

#endif
