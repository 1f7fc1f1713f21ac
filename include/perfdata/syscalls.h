/* SPDX-License-Identifier: MIT */
/* System calls of a recording, as `perf trace -i` of 6.1 prints them. */
#ifndef PERFDATA_SYSCALLS_H
#define PERFDATA_SYSCALLS_H
#include <perfdata/event_switch.h>
#include <perfdata/recording.h>
#include <perfdata/status.h>
#include <perfdata/symbol_search.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_syscalls_flags {
    PERFDATA_SYSCALLS_SUMMARY_ONLY = 1 << 0,  /* -s: nothing but the summary */
    PERFDATA_SYSCALLS_SUMMARY = 1 << 1,       /* -S: the summary below the lines */
    PERFDATA_SYSCALLS_ERRNO_SUMMARY = 1 << 2, /* in it how often each error came */
    PERFDATA_SYSCALLS_FAILURES = 1 << 3,      /* failed calls only */
    PERFDATA_SYSCALLS_FULL_TIME = 1 << 4,     /* -T: times as recorded, not since the first */
    PERFDATA_SYSCALLS_NO_COMM = 1 << 5,       /* tids without names */
    PERFDATA_SYSCALLS_RUNTIME =
        1 << 6, /* in the summary how long threads ran: sched:sched_stat_runtime */
    PERFDATA_SYSCALLS_SAMPLES = 1 << 7 /* a line for each sample of a call in front of the call's */
};

/* Since 0.1. */
struct perfdata_syscalls_options {
    size_t struct_size;
    uint64_t flags;          /* enum perfdata_syscalls_flags */
    uint64_t duration;       /* ns: only calls that lasted as long; 0: all */
    uint64_t max_events;     /* lines at most; 0: all */
    const char *pids, *tids; /* "1,2": these processes, these threads only; NULL: all */
    const char
        *calls; /* "open*,read": calls of these names only, or "!..." without them; NULL: all */
    uint32_t max_stack; /* frames shown of a call chain; 0: as many as there are */
    uint32_t min_stack; /* only calls with so many frames */
    struct perfdata_symbol_search search; /* where the symbols of call chains are */
    const char *cpus, *without_pids;      /* "0-2,4": these CPUs only; "1,2": not these threads and
                                        processes; NULL: all. Since 0.1 */
    struct perfdata_event_switch event_switch;
    const char *output; /* this file gets the text instead of `write`; NULL: none. Since 0.1 */
    const char
        *perf_config; /* read in place of /etc/perfconfig and home's; NULL: these. Since 0.1 */
};

/* Prints the calls of raw_syscalls:sys_enter and sys_exit and the samples of page faults, with
 * their call chains where these were recorded. The library knows the names of calls and arguments;
 * numbers that it does not know are left out and told as an issue. Strings of the options need to
 * live until it returns. PERFDATA_ERROR_UNSUPPORTED for machines whose numbers of calls it does not
 * know; one pass over the recording, memory by the number of threads. Since 0.1. */
PERFDATA_API perfdata_status perfdata_syscalls_run(perfdata_recording *recording,
                                                   const struct perfdata_syscalls_options *options,
                                                   perfdata_write_fn write, void *data);

#ifdef __cplusplus
}
#endif
#endif
