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
    bool is_open; /* the session */
};

/* The plan of the options, which fits nothing yet. */
perfdata_status pd_report_start(struct pd_report *report);
/* Fits the plan to the recording; a failure is told as perf's report does where the caller is
 * perf's. */
perfdata_status pd_report_fit(struct pd_report *report);
/* Reads and counts. The session stays open, as tables need it; to be ended by pd_report_end() also
 * on failure. */
perfdata_status pd_report_count(struct pd_report *report);
/* Groups of events, rows in order, chains by row. */
perfdata_status pd_report_prepare(struct pd_report *report);
bool pd_report_is_drawn(const struct pd_report *report, uint32_t leader);
struct pd_report_table pd_report_table_of(struct pd_report *report,
                                          const struct pd_report_group *group);
/* Everything but the plan; `status` of the run, or what comes instead. */
perfdata_status pd_report_end(struct pd_report *report, perfdata_status status);

#endif
