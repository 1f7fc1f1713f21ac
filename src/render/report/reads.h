/* SPDX-License-Identifier: MIT */
/* -T: what the counters of each thread had counted when it ended, from the READ records of `record
 * -s`. */
#ifndef PD_REPORT_READS_H
#define PD_REPORT_READS_H
#include "base/hash.h"
#include "base/text.h"
#include "base/vec.h"
#include "container/container.h"
#include "order/order.h"

struct pd_report_task {
    uint32_t pid, tid;
};

struct pd_report_read {
    uint32_t thread, counter; /* in the order in which they came */
    uint64_t value;           /* the sum */
};

/* All zero is empty. */
struct pd_report_reads {
    PD_VEC(struct pd_report_task) threads;
    PD_VEC(const struct pd_event *) counters;
    PD_VEC(struct pd_report_read) values;
    struct pd_map64 thread_by_task, counter_by_event, value_by_both;
    bool failed; /* no memory */
};

/* Adds a READ record and ignores any other. Records have to come in delivery order, which becomes
 * the order of the rows. */
void pd_report_reads_add(struct pd_report_reads *reads, struct pd_context *context,
                         const struct pd_delivered *record);
/* Takes the text written so far, if there is enough of it. */
typedef perfdata_status (*pd_report_reads_flush)(void *data, struct pd_text *out);
/* A row for each thread, or with `raw` an entry for each thread and counter. */
perfdata_status pd_report_reads_text(const struct pd_report_reads *reads, bool raw,
                                     pd_report_reads_flush flush, void *data, struct pd_text *out);
void pd_report_reads_free(struct pd_report_reads *reads);

#endif
