/* SPDX-License-Identifier: MIT */
/* Context switches and samples, in delivery order -> how many threads run. */
#ifndef PD_REPORT_PARALLELISM_H
#define PD_REPORT_PARALLELISM_H
#include "base/hash.h"
#include "order/order.h"

/* All zero at first. */
struct pd_report_running {
    struct pd_map64 threads; /* by tid */
    uint32_t count;          /* of those that run */
    bool has_switches;       /* any record told of one */
};

/* A context switch, or the end of a thread. False: no memory. */
bool pd_report_running_take(struct pd_report_running *running, const struct pd_delivered *record);
/* At a sample of a thread, which runs; at least 1. 0: no memory. */
uint32_t pd_report_parallelism(struct pd_report_running *running, uint32_t tid);
/* A period's share of the time that passes while so many threads run. In parts of a period, which
 * may be as small as 1. */
#define PD_REPORT_LATENCY_UNIT 1024
uint64_t pd_report_latency(uint64_t period, uint32_t parallelism);

#endif
