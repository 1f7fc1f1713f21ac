/* SPDX-License-Identifier: MIT */
/* The kernel's interrupts, soft interrupts and work queues, as `perf kwork` of 6.1 prints them. */
#ifndef PERFDATA_KWORK_H
#define PERFDATA_KWORK_H
#include <perfdata/recording.h>
#include <perfdata/status.h>
#include <perfdata/symbol_search.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_kwork_view {
    PERFDATA_KWORK_REPORT,   /* a line a work: how long it ran */
    PERFDATA_KWORK_LATENCY,  /* a line a work: how long it waited after it was raised */
    PERFDATA_KWORK_TIMEHIST, /* a line a run */
    PERFDATA_KWORK_VIEWS
};

/* Each is for the view that stands in brackets. Since 0.1. */
enum perfdata_kwork_flags {
    PERFDATA_KWORK_SUMMARY = 1 << 0, /* [report] sums below the table */
    PERFDATA_KWORK_CHAINS = 1 << 1   /* [timehist] the call chain behind each line */
};

/* Strings are borrowed for the call; NULL: not given. Since 0.1. */
struct perfdata_kwork_options {
    size_t struct_size;
    uint64_t flags;     /* enum perfdata_kwork_flags */
    uint32_t view;      /* enum perfdata_kwork_view */
    uint32_t max_stack; /* [timehist] frames of a chain; perf: 5 */
    const char *kinds;  /* "irq,softirq,workqueue", of which some */
    const char *sort;   /* report: runtime, max, count; latency: avg, max, count */
    const char *name;   /* this work only */
    const char *cpus;   /* "0,2-5": these only */
    const char *time;   /* "START,STOP" in seconds */
    struct perfdata_symbol_search search;
};

/* Since 0.1. */
struct perfdata_kwork_result {
    size_t struct_size;
    int32_t perf_exit; /* after a failure the exit code that perf has for it; -1: nothing special */
    uint32_t reserved;
};

/* Prints the view; `write` gets the text in pieces. PERFDATA_ERROR_ARGUMENT for keys, lists and
 * times that do not parse. Memory grows with the number of works, and with that of what was raised
 * and never ran. Since 0.1. */
PERFDATA_API perfdata_status perfdata_kwork_run(perfdata_recording *recording,
                                                const struct perfdata_kwork_options *options,
                                                perfdata_write_fn write, void *data,
                                                struct perfdata_kwork_result *result);

#ifdef __cplusplus
}
#endif
#endif
