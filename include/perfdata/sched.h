/* SPDX-License-Identifier: MIT */
/* What the scheduler's tracepoints tell, as `perf sched` of 6.1 prints it. */
#ifndef PERFDATA_SCHED_H
#define PERFDATA_SCHED_H
#include <perfdata/recording.h>
#include <perfdata/status.h>
#include <perfdata/symbol_search.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_sched_view {
    PERFDATA_SCHED_LATENCY,  /* a line a task: how long it ran, and waited for a CPU */
    PERFDATA_SCHED_MAP,      /* a line a switch: what each CPU runs */
    PERFDATA_SCHED_TIMEHIST, /* a line a switch: how long the task waited and ran */
    PERFDATA_SCHED_VIEWS
};

/* Each is for the view that stands in brackets. Since 0.1. */
enum perfdata_sched_flags {
    PERFDATA_SCHED_EACH_TASK = 1 << 0,    /* [latency] tasks of one name are not added up */
    PERFDATA_SCHED_ONE_CPU = 1 << 1,      /* [latency] only one CPU was recorded */
    PERFDATA_SCHED_COMPACT = 1 << 2,      /* [map] no column for CPUs that nothing is known of */
    PERFDATA_SCHED_VERBOSE = 1 << 3,      /* [map] the task's name on each line */
    PERFDATA_SCHED_SUMMARY_ONLY = 1 << 4, /* [timehist] nothing but the summary */
    PERFDATA_SCHED_SUMMARY = 1 << 5,      /* [timehist] the summary below the lines */
    PERFDATA_SCHED_WAKEUPS = 1 << 6,      /* [timehist] lines of wakeups */
    PERFDATA_SCHED_MIGRATIONS = 1 << 7,   /* [timehist] lines of migrations */
    PERFDATA_SCHED_NEXT = 1 << 8,         /* [timehist] the task that runs next */
    PERFDATA_SCHED_CPU_VISUAL = 1 << 9,   /* [timehist] a column a CPU */
    PERFDATA_SCHED_IDLE = 1 << 10,        /* [timehist] idle CPUs only */
    PERFDATA_SCHED_STATE = 1 << 11,       /* [timehist] states; waits in the summary */
    PERFDATA_SCHED_NO_CHAIN = 1 << 12     /* [timehist] no call chains */
};

/* Strings are borrowed for the call; NULL: not given. Since 0.1. */
struct perfdata_sched_options {
    size_t struct_size;
    uint64_t flags;     /* enum perfdata_sched_flags */
    uint32_t view;      /* enum perfdata_sched_view */
    uint32_t max_stack; /* [timehist] frames of a chain; perf: 5 */
    const char
        *sort; /* [latency] keys avg, max, pid, runtime, switch; perf: avg,max,switch,runtime */
    const char *cpus;        /* [map, timehist] "0,2-5": these only */
    const char *pids, *tids; /* [timehist] these only */
    const char *time;        /* [timehist] "START,STOP" in seconds */
    struct perfdata_symbol_search search;
};

/* Since 0.1. */
struct perfdata_sched_result {
    size_t struct_size;
    int32_t perf_exit; /* after a failure the exit code that perf has for it; -1: nothing special */
    uint32_t lacks_chains; /* 1: [timehist] chains were asked for, and not every event has them */
};

/* Prints the view; `write` gets the text in pieces. PERFDATA_ERROR_ARGUMENT for keys, lists and
 * times that do not parse, PERFDATA_ERROR_NO_DATA when the events of the view are not in the
 * recording; both leave their text in the recording. Memory grows with the number of threads, not
 * with that of events. Since 0.1. */
PERFDATA_API perfdata_status perfdata_sched_run(perfdata_recording *recording,
                                                const struct perfdata_sched_options *options,
                                                perfdata_write_fn write, void *data,
                                                struct perfdata_sched_result *result);

#ifdef __cplusplus
}
#endif
#endif
