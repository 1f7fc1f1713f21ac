/* SPDX-License-Identifier: MIT */
/* Samples of accesses to memory, as `perf mem` and `perf c2c` of 6.1 print them. The report of
 * them is perfdata_report_run() with PERFDATA_REPORT_MEM_MODE. */
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

/* What lines of the data cache are shown for. Since 0.1. */
enum perfdata_c2c_display {
    PERFDATA_C2C_DEFAULT, /* PEER for recordings of 64-bit Arm, else TOTAL */
    PERFDATA_C2C_TOTAL,   /* loads that hit a line which another cache has modified: HITM */
    PERFDATA_C2C_LOCAL,   /* in the same socket */
    PERFDATA_C2C_REMOTE,  /* in another one */
    PERFDATA_C2C_PEER     /* loads that another cache served */
};

/* Since 0.1. */
enum perfdata_c2c_flags {
    PERFDATA_C2C_STATS = 1 << 0,        /* the sums only */
    PERFDATA_C2C_SHOW_ALL = 1 << 1,     /* also lines that are below a thousandth of all, or 0 */
    PERFDATA_C2C_NO_SOURCE = 1 << 2,    /* no column of source lines */
    PERFDATA_C2C_FULL_SYMBOLS = 1 << 3, /* functions in full, not cut at 26 characters */
    PERFDATA_C2C_NO_CHAINS = 1 << 4     /* no call chains, also where they were recorded */
};

/* Strings are borrowed for the call; NULL: not given. Since 0.1. */
struct perfdata_c2c_options {
    size_t struct_size;
    uint64_t flags;     /* enum perfdata_c2c_flags */
    uint32_t display;   /* enum perfdata_c2c_display */
    uint32_t node_info; /* 0: numbers of nodes; 1: with CPUs and shares; 2, 3: with lists of CPUs */
    const char *coalesce; /* what joins accesses of a line besides the offset: pid, tid, iaddr, dso;
                             NULL: iaddr */
    struct perfdata_symbol_search search;
    const char *call_graph; /* how chains are drawn, as in struct perfdata_report_options; NULL:
                               graph, callee first */
};

/* Which lines of the data cache several processors want, and who accesses them. The recording must
 * tell the machine's nodes (PERFDATA_ERROR_NO_DATA). PERFDATA_ERROR_ARGUMENT for keys or
 * words of call_graph that there are not.
 * Memory grows with the number of different places that access memory. Since 0.1. */
PERFDATA_API perfdata_status perfdata_c2c_run(perfdata_recording *recording,
                                              const struct perfdata_c2c_options *options,
                                              perfdata_write_fn write, void *data);

#ifdef __cplusplus
}
#endif
#endif
