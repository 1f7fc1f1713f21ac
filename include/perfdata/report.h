/* SPDX-License-Identifier: MIT */
/* Histograms of samples, as `perf report --stdio` of 6.1 prints them. */
#ifndef PERFDATA_REPORT_H
#define PERFDATA_REPORT_H
#include <perfdata/recording.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_report_flags {
    PERFDATA_REPORT_NO_CHILDREN = 1
                                  << 0, /* a function's samples do not count for its callers      */
    PERFDATA_REPORT_NO_CALL_GRAPH =
        1 << 1,                        /* no call chains below the rows, like call_graph "none"  */
    PERFDATA_REPORT_INVERTED = 1 << 2, /* -G: chains from caller to callee                       */
    PERFDATA_REPORT_SAMPLES = 1 << 3,  /* -n: column with the number of samples                  */
    PERFDATA_REPORT_TOTAL_PERIOD =
        1 << 4, /* column with the period                                 */
    PERFDATA_REPORT_CPU_UTILIZATION =
        1 << 5,                     /* columns sys and usr                                    */
    PERFDATA_REPORT_QUIET = 1 << 6, /* -q: rows only                                          */
    PERFDATA_REPORT_HIDE_UNRESOLVED =
        1 << 7, /* -U: nothing without a symbol                           */
    PERFDATA_REPORT_EXCLUDE_OTHER =
        1 << 8,                         /* -x: only samples with a parent, none without `parent`  */
    PERFDATA_REPORT_RELATIVE = 1 << 9,  /* percentages of what the filters leave                  */
    PERFDATA_REPORT_GROUP = 1 << 10,    /* all events as one group                                */
    PERFDATA_REPORT_NO_GROUP = 1 << 11, /* events of a group one by one                           */
    PERFDATA_REPORT_SHOW_EMPTY = 1
                                 << 12, /* also events without samples                            */
    PERFDATA_REPORT_NO_DEMANGLE = 1 << 13,
    PERFDATA_REPORT_DEMANGLE_KERNEL = 1 << 14,
    PERFDATA_REPORT_IGNORE_VMLINUX = 1 << 15,
    PERFDATA_REPORT_FORCE = 1 << 16,  /* use symbol files that other users own                  */
    PERFDATA_REPORT_NS = 1 << 17,     /* times with nine decimals                               */
    PERFDATA_REPORT_HEADER = 1 << 18, /* the header first                                       */
    PERFDATA_REPORT_HEADER_ONLY =
        1 << 19, /* nothing but the header                                 */
    PERFDATA_REPORT_HEADER_FULL =
        1 << 20,                     /* -I: the header with its long parts                     */
    PERFDATA_REPORT_STATS = 1 << 21, /* counts of records by type, nothing else                */
    PERFDATA_REPORT_TASKS = 1 << 22, /* the tree of tasks, nothing else                        */
    PERFDATA_REPORT_MMAPS = 1 << 23, /* with their maps                                        */
    PERFDATA_REPORT_DUMP = 1 << 24,  /* -D: each record raw, then the counts, nothing else     */
    PERFDATA_REPORT_RAW_TRACE = 1 << 25,       /* payloads of tracepoints field by field          */
    PERFDATA_REPORT_NO_ITRACE = 1 << 26,       /* AUX traces are not decoded                      */
    PERFDATA_REPORT_BRANCH_STACK = 1 << 27,    /* -b: a row for each branch                     */
    PERFDATA_REPORT_NO_BRANCH_STACK = 1 << 28, /* samples also where branches were recorded     */
    PERFDATA_REPORT_MEM_MODE = 1 << 29,        /* rows of memory accesses                       */
    PERFDATA_REPORT_TOTAL_CYCLES = 1 << 30     /* of branches: blocks of code by their cycles   */
};

/* More of them, for `more`. Since 0.1. */
enum perfdata_report_more_flags {
    PERFDATA_REPORT_FULL_SOURCE_PATH = 1 << 0, /* source files with their folders             */
    PERFDATA_REPORT_HIERARCHY = 1 << 1,        /* rows below rows, a level for each sort key  */
    PERFDATA_REPORT_VERBOSE = 1 << 2,          /* -v: addresses, whence symbols are, long names */
    PERFDATA_REPORT_NO_INLINE = 1 << 3, /* unwound chains without the functions put into others */
    PERFDATA_REPORT_BRANCH_HISTORY = 1 << 4 /* samples: chains begin with their branches      */
};

/* Whose samples have rows beside guests', for `guest_flags`. Since 0.1. */
enum perfdata_report_guests {
    PERFDATA_REPORT_NO_HOST = 1 << 0,   /* the host's count, but have no rows */
    PERFDATA_REPORT_GUEST_CODE = 1 << 1 /* what runs in a guest is its hypervisor's own code */
};

/* All zero but struct_size and max_stack is the plain `report`. Strings are borrowed for the call; NULL: not given.
 * Lists are separated by commas. Since 0.1. */
struct perfdata_report_options {
    size_t struct_size;
    uint32_t flags;             /* enum perfdata_report_flags                               */
    uint32_t max_stack;         /* addresses of a chain; perf: 127                          */
    uint32_t threads;           /* 0: all cores; the text never depends on it               */
    uint32_t more;              /* enum perfdata_report_more_flags                          */
    const char *sort;           /* -s: "key,key..." or "+key"                               */
    const char *fields;         /* -F: columns                                              */
    const char *call_graph;     /* -g: "graph,0.5,caller..."                                */
    const char *percent_limit;  /* rows below are left out                                  */
    const char *separator;      /* -t                                                       */
    const char *column_widths;  /* -w                                                       */
    const char *parent;         /* -p: extended regular expression                          */
    const char *ignore_callees; /* chains begin at the functions that match                 */
    const char *comms, *pids, *tids, *cpus, *dsos; /* keep these only                       */
    const char *symbols;       /* -S                                                       */
    const char *symbol_filter; /* keep rows whose symbol contains this                     */
    const char *time;          /* "START,STOP", "A%-B%,...", "P%/N,..."                    */
    const char *time_quantum;  /* step of the sort key time: "100ms"                       */
    /* Where symbols come from. */
    const char *symfs, *kallsyms, *vmlinux, *home, *build_id_dir;
    /* Code of runtimes: the folder where their jitdumps lie now; "": where they were recorded; NULL: not read. */
    const char *jitdump;
    /* What is made of AUX traces: values of --itrace, "" for its defaults; none: those of report. */
    const char *const *itrace;
    size_t itrace_count;
    const char *perf_config; /* read in place of /etc/perfconfig and home's; NULL: these */
    /* Samples of guests have rows, too: also where one of the others is given. Of the guest that no pid names: its kernel's table,
     * modules and image; of the others a folder with a root PID each, by the pid of their hypervisor. */
    uint32_t guests;
    uint32_t guest_flags; /* enum perfdata_report_guests */
    const char *guest_kallsyms, *guest_modules, *guest_vmlinux, *guest_mount;
};

/* What perf's exit code would be for a failure. Since 0.1. */
struct perfdata_report_result {
    size_t struct_size;
    int32_t perf_exit; /* 0 when all went well, or where perf forgives */
    uint32_t reserved;
    uint64_t trace_errors; /* errors that decoding AUX traces met and told */
};

/* Prints the report. `write` is called one call at a time, maybe from another thread. `result` may be NULL. Failures leave
 * their text in the recording:
 *   PERFDATA_ERROR_ARGUMENT     an option does not parse
 *   PERFDATA_ERROR_UNSUPPORTED  a sort key or style that perf has and this version has not
 *   PERFDATA_ERROR_NO_DATA      no samples, or what an option needs is not in the recording
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_report_run(perfdata_recording *recording,
                                                 const struct perfdata_report_options *options,
                                                 perfdata_write_fn write, void *data,
                                                 struct perfdata_report_result *result);

/* Names that -s and -F take: NULL at the end. For helps and completion. Since 0.1. */
PERFDATA_API const char *perfdata_report_key_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
