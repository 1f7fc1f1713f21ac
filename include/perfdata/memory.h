/* SPDX-License-Identifier: MIT */
/* Samples of accesses to memory, as `perf mem` of 6.1 prints them. The report of them is
 * perfdata_report_run() with PERFDATA_REPORT_MEM_MODE. */
#ifndef PERFDATA_MEMORY_H
#define PERFDATA_MEMORY_H
#include <perfdata/recording.h>
#include <perfdata/status.h>
#include <perfdata/symbol_search.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_memory_flags {
    PERFDATA_MEMORY_PHYSICAL = 1 << 0,       /* physical addresses, too */
    PERFDATA_MEMORY_PAGE_SIZE = 1 << 1,      /* sizes of the data's pages, too */
    PERFDATA_MEMORY_HIDE_UNRESOLVED = 1 << 2 /* not the samples whose function is not known */
};

/* Strings are borrowed for the call; NULL: not given. Since 0.1. */
struct perfdata_memory_options {
    size_t struct_size;
    uint64_t flags;        /* enum perfdata_memory_flags */
    const char *separator; /* between fields, in place of a blank; "." is refused */
    const char *cpus;      /* "0,2-5": these CPUs only */
    unsigned threads;      /* 0: all cores; the text never depends on it */
    unsigned reserved;
    struct perfdata_symbol_search search;
};

/* A line a sample: process, thread, address, the address it accessed, weight, data source, object
 * and function. PERFDATA_ERROR_ARGUMENT for a separator or CPUs that are none,
 * PERFDATA_ERROR_NO_DATA for CPUs where samples have none. Since 0.1. */
PERFDATA_API perfdata_status perfdata_memory_dump(perfdata_recording *recording,
                                                  const struct perfdata_memory_options *options,
                                                  perfdata_write_fn write, void *data);

#ifdef __cplusplus
}
#endif
#endif
