/* SPDX-License-Identifier: MIT */
/* A report from its options to its tables: what printing it and walking through it share. */
#ifndef PD_REPORT_RUN_H
#define PD_REPORT_RUN_H
#include "render/raw_dump/trace_log.h"
#include "render/report/group.h"
#include "render/report/plan.h"

struct pd_report {
    struct pd_recording *recording;
    const struct perfdata_report_options *options;
    struct pd_report_plan plan;
    struct pd_report_counts counts;
    struct pd_hist_result result;
    struct pd_chain_index chains;
    struct pd_report_groups groups;
    struct pd_session session;
    struct pd_trace_log log;
    perfdata_write_fn write;
    void *data;
    int32_t perf_exit;
    uint64_t trace_errors;
    const char *last_mispredict;
    unsigned threads;
    bool is_open; /* whether the session is open */
};

/* Makes the plan from the options; it is not yet fitted to the recording. */
perfdata_status pd_report_start(struct pd_report *report);
/* Fits the plan to the recording. A failure is told in the words of perf's report, where the caller
 * stands in for perf. */
perfdata_status pd_report_fit(struct pd_report *report);
/* Reads the recording and counts. The session stays open, since tables need it; pd_report_end() has
 * to end it, also after a failure. */
perfdata_status pd_report_count(struct pd_report *report);
/* Groups the events, puts rows in order, and gathers the chains of each row. */
perfdata_status pd_report_prepare(struct pd_report *report);
bool pd_report_is_drawn(const struct pd_report *report, uint32_t leader);
struct pd_report_table pd_report_table_of(struct pd_report *report,
                                          const struct pd_report_group *group);
/* Frees everything but the plan. Returns `status`, that of the run, or an error met at the end. */
perfdata_status pd_report_end(struct pd_report *report, perfdata_status status);

#endif
