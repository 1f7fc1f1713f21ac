/* SPDX-License-Identifier: MIT */
/* What differs between recordings, as `perf diff` of 6.1 prints it. */
#ifndef PERFDATA_DIFF_H
#define PERFDATA_DIFF_H
#include <perfdata/recording.h>
#include <perfdata/symbol_search.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of perfdata_diff_options.flags. Since 0.1. */
/* -b: only what the first recording and another one have. */
#define PERFDATA_DIFF_BASELINE_ONLY (UINT64_C(1) << 0)
/* -p: columns of periods. */
#define PERFDATA_DIFF_PERIOD (UINT64_C(1) << 1)
/* -F: the formula of each value. */
#define PERFDATA_DIFF_FORMULA (UINT64_C(1) << 2)
/* -q: rows only. */
#define PERFDATA_DIFF_QUIET (UINT64_C(1) << 3)
/* -v: addresses, long names, the recordings' names. */
#define PERFDATA_DIFF_VERBOSE (UINT64_C(1) << 4)
/* Percentages of what the filters leave. */
#define PERFDATA_DIFF_RELATIVE (UINT64_C(1) << 5)
/* JSON in place of the table: all values, intervals of confidence. */
#define PERFDATA_DIFF_JSON (UINT64_C(1) << 6)
/* Use symbol files that other users own. */
#define PERFDATA_DIFF_FORCE (UINT64_C(1) << 7)
/* As in report: guests of virtual machines are shown, the host has no rows, and what runs in a
 * guest is its hypervisor's own code. */
#define PERFDATA_DIFF_GUESTS (UINT64_C(1) << 8)
#define PERFDATA_DIFF_NO_HOST (UINT64_C(1) << 9)
#define PERFDATA_DIFF_GUEST_CODE (UINT64_C(1) << 10)

/* All zero but struct_size is the plain `diff`. Strings are borrowed for the call; NULL: not given.
 * Since 0.1. */
struct perfdata_diff_options {
    size_t struct_size;
    uint64_t flags;      /* PERFDATA_DIFF_...                                                    */
    uint32_t threads;    /* 0: all cores; the text never depends on it                           */
    int32_t order;       /* sort by the value of this recording; 0: the first, -1: not given     */
    const char *compute; /* "delta-abs" (default), "delta", "ratio", "wdiff:W1,W2"               */
    const char *sort;    /* sort keys; default "dso,symbol"                                      */
    const char *separator; /* between columns, without padding                                   */
    const char *comms, *pids, *tids, *cpus, *dsos, *symbols; /* keep these only                  */
    const char *time; /* spans; with colons between them those of each recording                 */
    struct perfdata_symbol_search search;
    const char *perf_config; /* read in place of /etc/perfconfig and home's; NULL: these         */
};

/* Since 0.1. */
struct perfdata_diff_result {
    size_t struct_size;
    int32_t perf_exit; /* what perf's exit code would be for a failure */
    uint32_t failed;   /* the recording whose error text tells it      */
};

/* Prints what differs between the first of `count` (2 to 64) recordings and each of the others. All
 * are read one after the other and stay in memory as histograms. `write` is called one call at a
 * time. `result` may be NULL. A failure leaves its text in the recording that the result names:
 *   PERFDATA_ERROR_ARGUMENT     an option does not parse
 *   PERFDATA_ERROR_UNSUPPORTED  a sort key or method that perf has and this version has not
 *   PERFDATA_ERROR_NO_DATA      what an option needs is not in the recording
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_diff_run(perfdata_recording *const *recordings, size_t count,
                                               const struct perfdata_diff_options *options,
                                               perfdata_write_fn write, void *data,
                                               struct perfdata_diff_result *result);

#ifdef __cplusplus
}
#endif
#endif
