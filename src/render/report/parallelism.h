/* SPDX-License-Identifier: MIT */
/* How many threads run, from context switches and samples in delivery order. */
#ifndef PD_REPORT_PARALLELISM_H
#define PD_REPORT_PARALLELISM_H
#include "base/hash.h"
#include "order/order.h"

/* All zero at first. */
struct pd_report_running {
    struct pd_map64 threads; /* by tid */
    uint32_t count;          /* of those that run */
    bool has_switches;       /* a record has told of a context switch */
};

/* Takes a context switch, or the end of a thread. False: no memory. */
bool pd_report_running_take(struct pd_report_running *running, const struct pd_delivered *record);
/* How many threads run at a sample of this thread, which runs itself: at least 1. 0: no memory. */
uint32_t pd_report_parallelism(struct pd_report_running *running, uint32_t tid);
/* A period divided by how many threads run at the time, in units of 1/1024, as a period may be as
 * small as 1. */
#define PD_REPORT_LATENCY_UNIT 1024
uint64_t pd_report_latency(uint64_t period, uint32_t parallelism);

#endif
