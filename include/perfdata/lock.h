/* SPDX-License-Identifier: MIT */
/* Which of the kernel's locks were waited for, as `perf lock` of 6.1 prints it. */
#ifndef PERFDATA_LOCK_H
#define PERFDATA_LOCK_H
#include <perfdata/recording.h>
#include <perfdata/status.h>
#include <perfdata/symbol_search.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_lock_view {
    PERFDATA_LOCK_REPORT,     /* how often each was acquired */
    PERFDATA_LOCK_CONTENTION, /* how long each was waited for */
    PERFDATA_LOCK_INFO        /* the addresses of locks, or the threads */
};

/* What a line is about. Since 0.1. */
enum perfdata_lock_by {
    PERFDATA_LOCK_BY_CALLER, /* the code that waits */
    PERFDATA_LOCK_BY_THREAD,
    PERFDATA_LOCK_BY_ADDRESS /* the lock */
};

/* Since 0.1. */
enum perfdata_lock_flags {
    PERFDATA_LOCK_STACKS = 1 << 0,   /* the addresses of the first wait, and what was odd */
    PERFDATA_LOCK_THREADS = 1 << 1,  /* [info] threads, not addresses */
    PERFDATA_LOCK_COMBINE = 1 << 2,  /* [report] locks of a name in one line */
    PERFDATA_LOCK_NO_TITLES = 1 << 3 /* [report, contention] nothing above the lines */
};

/* Strings are borrowed for the call; NULL: not given. Since 0.1. */
struct perfdata_lock_options {
    size_t struct_size;
    uint64_t flags;     /* enum perfdata_lock_flags */
    uint32_t view, by;  /* enum perfdata_lock_view, perfdata_lock_by */
    uint32_t entries;   /* lines at most */
    uint32_t max_stack; /* frames that are looked at; perf: 8, at most 128 */
    uint32_t skip;      /* of them the first ones, the locks' own; perf: 3 */
    uint32_t reserved;
    /* Columns, and the one that is sorted by: acquired (report only), contended, avg_wait,
     * wait_total, wait_max, wait_min */
    const char *fields, *sort;
    struct perfdata_symbol_search search;
    const char *pids, *tids, *cpus; /* "1,2": of these only; NULL: all. Since 0.1 */
};

/* Prints the view, from lock:contention_begin and contention_end. PERFDATA_ERROR_NO_DATA when the
 * recording has none, PERFDATA_ERROR_ARGUMENT for columns that there are not. Since 0.1. */
PERFDATA_API perfdata_status perfdata_lock_run(perfdata_recording *recording,
                                               const struct perfdata_lock_options *options,
                                               perfdata_write_fn write, void *data);

#ifdef __cplusplus
}
#endif
#endif
