/* SPDX-License-Identifier: MIT */
/* What the kernel's memory allocators gave, as `perf kmem stat` of 6.1 prints it. */
#ifndef PERFDATA_KMEM_H
#define PERFDATA_KMEM_H
#include <perfdata/recording.h>
#include <perfdata/status.h>
#include <perfdata/symbol_search.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_kmem_flags {
    PERFDATA_KMEM_CALLERS = 1 << 0,     /* a table of call sites */
    PERFDATA_KMEM_ALLOCATIONS = 1 << 1, /* a table of what was given */
    PERFDATA_KMEM_RAW_IP = 1 << 2       /* call sites as addresses */
};

/* Strings are borrowed for the call; NULL: not given. Since 0.1. */
struct perfdata_kmem_options {
    size_t struct_size;
    uint64_t flags; /* enum perfdata_kmem_flags */
    /* Keys of the tables: bytes, callsite, frag, hit, pingpong, ptr; perf: frag,hit,bytes */
    const char *caller_sort, *allocation_sort;
    int32_t caller_lines, allocation_lines; /* lines at most; < 0: all */
    const char *time;                       /* "START,STOP" in seconds */
    struct perfdata_symbol_search search;
};

/* Prints the tables and the summary of the slab allocator. PERFDATA_ERROR_ARGUMENT for keys and
 * times that do not parse. Memory grows with the number of different addresses. Since 0.1. */
PERFDATA_API perfdata_status perfdata_kmem_run(perfdata_recording *recording,
                                               const struct perfdata_kmem_options *options,
                                               perfdata_write_fn write, void *data);

#ifdef __cplusplus
}
#endif
#endif
