/* SPDX-License-Identifier: MIT */
/* Histograms of samples, as `perf report --stdio` of 6.1 prints them. */
#ifndef PERFDATA_REPORT_H
#define PERFDATA_REPORT_H
#include <perfdata/recording.h>
#include <perfdata/event_switch.h>
#include <perfdata/symbol_search.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of perfdata_report_options.flags. Since 0.1. */
/* A function's samples do not count for its callers. */
#define PERFDATA_REPORT_NO_CHILDREN (UINT64_C(1) << 0)
/* No call chains below the rows, like call_graph "none". */
#define PERFDATA_REPORT_NO_CALL_GRAPH (UINT64_C(1) << 1)
/* -G: chains from caller to callee. */
#define PERFDATA_REPORT_INVERTED (UINT64_C(1) << 2)
/* -n: column with the number of samples. */
#define PERFDATA_REPORT_SAMPLES (UINT64_C(1) << 3)
/* Column with the period. */
#define PERFDATA_REPORT_TOTAL_PERIOD (UINT64_C(1) << 4)
/* Columns sys and usr. */
#define PERFDATA_REPORT_CPU_UTILIZATION (UINT64_C(1) << 5)
/* -q: rows only. */
#define PERFDATA_REPORT_QUIET (UINT64_C(1) << 6)
/* -U: nothing without a symbol. */
#define PERFDATA_REPORT_HIDE_UNRESOLVED (UINT64_C(1) << 7)
/* -x: only samples with a parent, none without `parent`. */
#define PERFDATA_REPORT_EXCLUDE_OTHER (UINT64_C(1) << 8)
/* Percentages of what the filters leave. */
#define PERFDATA_REPORT_RELATIVE (UINT64_C(1) << 9)
/* All events as one group. */
#define PERFDATA_REPORT_GROUP (UINT64_C(1) << 10)
/* Events of a group one by one; see also PERFDATA_REPORT_UNGROUPED. */
#define PERFDATA_REPORT_NO_GROUP (UINT64_C(1) << 11)
/* Shows events without samples, too. */
#define PERFDATA_REPORT_SHOW_EMPTY (UINT64_C(1) << 12)
/* C++ and Rust names as they are in the object. */
#define PERFDATA_REPORT_NO_DEMANGLE (UINT64_C(1) << 13)
/* Demangles the names of the kernel, too. */
#define PERFDATA_REPORT_DEMANGLE_KERNEL (UINT64_C(1) << 14)
#define PERFDATA_REPORT_IGNORE_VMLINUX (UINT64_C(1) << 15)
/* Use symbol files that other users own. */
#define PERFDATA_REPORT_FORCE (UINT64_C(1) << 16)
/* Times with nine decimals. */
#define PERFDATA_REPORT_NS (UINT64_C(1) << 17)
/* The header first. */
#define PERFDATA_REPORT_HEADER (UINT64_C(1) << 18)
/* Nothing but the header. */
#define PERFDATA_REPORT_HEADER_ONLY (UINT64_C(1) << 19)
/* -I: the header with its long parts. */
#define PERFDATA_REPORT_HEADER_FULL (UINT64_C(1) << 20)
/* Counts of records by type, nothing else. */
#define PERFDATA_REPORT_STATS (UINT64_C(1) << 21)
/* The tree of tasks, nothing else. */
#define PERFDATA_REPORT_TASKS (UINT64_C(1) << 22)
/* With their maps. */
#define PERFDATA_REPORT_MMAPS (UINT64_C(1) << 23)
/* -D: each record raw, then the counts, nothing else. */
#define PERFDATA_REPORT_DUMP (UINT64_C(1) << 24)
/* Payloads of tracepoints field by field. */
#define PERFDATA_REPORT_RAW_TRACE (UINT64_C(1) << 25)
/* AUX traces are not decoded. */
#define PERFDATA_REPORT_NO_ITRACE (UINT64_C(1) << 26)
/* -b: a row for each branch. */
#define PERFDATA_REPORT_BRANCH_STACK (UINT64_C(1) << 27)
/* Samples also where branches were recorded. */
#define PERFDATA_REPORT_NO_BRANCH_STACK (UINT64_C(1) << 28)
/* Rows of memory accesses, by their weights. */
#define PERFDATA_REPORT_MEM_MODE (UINT64_C(1) << 29)
/* Shows blocks of code by the cycles of branches. */
#define PERFDATA_REPORT_TOTAL_CYCLES (UINT64_C(1) << 30)
/* Source files with their folders. */
#define PERFDATA_REPORT_FULL_SOURCE_PATH (UINT64_C(1) << 31)
/* Rows below rows, a level for each sort key. */
#define PERFDATA_REPORT_HIERARCHY (UINT64_C(1) << 32)
/* -v: addresses, whence symbols are, long names. */
#define PERFDATA_REPORT_VERBOSE (UINT64_C(1) << 33)
/* Unwound chains without the functions put into others. */
#define PERFDATA_REPORT_NO_INLINE (UINT64_C(1) << 34)
/* Samples: chains begin with their branches. */
#define PERFDATA_REPORT_BRANCH_HISTORY (UINT64_C(1) << 35)
/* Samples of guests have rows, too. */
#define PERFDATA_REPORT_GUESTS (UINT64_C(1) << 36)
/* The host's samples count, but have no rows. */
#define PERFDATA_REPORT_NO_HOST (UINT64_C(1) << 37)
/* What runs in a guest is its hypervisor's own code. */
#define PERFDATA_REPORT_GUEST_CODE (UINT64_C(1) << 38)
/* Children, or percentages of all: also where a configuration file says otherwise. Since 0.1. */
#define PERFDATA_REPORT_CHILDREN (UINT64_C(1) << 39)
#define PERFDATA_REPORT_ABSOLUTE (UINT64_C(1) << 40)
/* Percentages in perf's colours, as ANSI escape sequences. Since 0.1. */
#define PERFDATA_REPORT_COLOR (UINT64_C(1) << 41)
/* With PERFDATA_REPORT_DUMP: records as they lie in the file, not by time. Since 0.1. */
#define PERFDATA_REPORT_FILE_ORDER (UINT64_C(1) << 42)
/* -T: below the rows, what the counters of each thread had counted (READ records of `record -s`).
 * Since 0.1. */
#define PERFDATA_REPORT_THREAD_COUNTS (UINT64_C(1) << 43)
/* With PERFDATA_REPORT_THREAD_COUNTS: --pretty raw, an entry for each thread and counter. Since
 * 0.1. */
#define PERFDATA_REPORT_THREAD_COUNTS_RAW (UINT64_C(1) << 44)

/* perfdata_report_run(): an object of JSON for each row (docs/schema/report.json) in place of text;
 * options as for perfdata_report_rows(). Since 0.1. */
#define PERFDATA_REPORT_JSON (UINT64_C(1) << 45)
/* Nothing for events without samples: also where a configuration file says otherwise. Since 0.1. */
#define PERFDATA_REPORT_SKIP_EMPTY (UINT64_C(1) << 46)
/* A column of what each row takes of the time that passes, which rows are sorted by: a sample's
 * period divided by how many threads ran. Context switches must have been recorded
 * (PERFDATA_ERROR_NO_DATA). Since 0.1. */
#define PERFDATA_REPORT_LATENCY (UINT64_C(1) << 47)
/* A sample of an event that records no chains counts for the callers of the sample before, as in
 * perf. With this flag rows of such events show these chains, too (perf's --show-ref-call-graph).
 * Since 0.1. */
#define PERFDATA_REPORT_BORROWED_CHAINS (UINT64_C(1) << 48)
/* Events of a group one by one, as perf's setting report.group=false has it. With
 * PERFDATA_REPORT_NO_GROUP the headings of events that are no group speak of "events", as those of
 * perf's --no-group. Since 0.1. */
#define PERFDATA_REPORT_UNGROUPED (UINT64_C(1) << 49)

/* All zero but struct_size and max_stack is the plain `report`. Strings are borrowed for the call;
 * NULL: not given. Lists are separated by commas. Since 0.1. */
struct perfdata_report_options {
    size_t struct_size;
    uint64_t flags;             /* PERFDATA_REPORT_...                                      */
    uint32_t max_stack;         /* addresses of a chain; perf: 127                          */
    uint32_t threads;           /* 0: all cores; the text never depends on it               */
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
    struct perfdata_symbol_search search;
    /* What is made of AUX traces: values of --itrace, "" for its defaults; none: those of report.
     * */
    const char *const *itrace;
    size_t itrace_count;
    const char *perf_config; /* read in place of /etc/perfconfig and home's; NULL: these */
    /* Words of call_graph that hold where call_graph says nothing else; NULL: those of the
     * configuration. Since 0.1. */
    const char *chain_settings;
    /* Keys in place of comm, dso and symbol where `sort` names none; NULL: those of the
     * configuration. Since 0.1. */
    const char *sort_settings;
    struct perfdata_event_switch event_switch;
    const char *socket;  /* samples on CPUs of this processor socket only: "0" */
    uint32_t group_sort; /* rows of groups are sorted by this member, 0: the leader */
};

/* What perf's exit code would be for a failure. Since 0.1. */
struct perfdata_report_result {
    size_t struct_size;
    int32_t perf_exit; /* 0 when all went well, or where perf forgives */
    uint32_t reserved;
    uint64_t trace_errors; /* errors that decoding AUX traces met and told */
};

/* Prints the report. `write` is called one call at a time, maybe from another thread. `result` may
 * be NULL. Failures leave their text in the recording:
 *   PERFDATA_ERROR_ARGUMENT     an option does not parse
 *   PERFDATA_ERROR_UNSUPPORTED  a sort key or style that perf has and this version has not
 *   PERFDATA_ERROR_NO_DATA      no samples, or what an option needs is not in the recording
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_report_run(perfdata_recording *recording,
                                                 const struct perfdata_report_options *options,
                                                 perfdata_write_fn write, void *data,
                                                 struct perfdata_report_result *result);

/* ---- rows ---- */

/* Since 0.1. */
enum perfdata_report_cell_kind {
    PERFDATA_CELL_TEXT = 0,  /* `text`: of a sort key                                  */
    PERFDATA_CELL_COUNT = 1, /* `number`: samples, or their periods                    */
    PERFDATA_CELL_SHARE = 2  /* `share`: per cent, of which `number` is the sum of periods */
};

/* A column of a row: what the text shows there, without what pads it. A column that is "N/A" for
 * all has no cells. The size of the structure is fixed for ever. Since 0.1. */
struct perfdata_report_cell {
    const char
        *column;   /* as -F names it: "overhead", "sample", "comm"; of a payload the field's name */
    uint32_t kind; /* enum perfdata_report_cell_kind                        */
    uint32_t event;      /* index in the recording: of a number, whose it is      */
    const char *text;    /* NUL-terminated, bytes as recorded; NULL: a number     */
    size_t length;       /* of the text */
    uint32_t level;      /* of a symbol: the letter before it, 'k' or '.'; 0: none */
    uint32_t is_payload; /* 1: a tracepoint's field */
    uint64_t number;
    double share;
};

/* A row: its cells, and whom it stands for. Names are those of its first sample where they are no
 * sort keys. Since 0.1. */
struct perfdata_report_row {
    size_t struct_size;
    uint32_t event,
        reserved; /* index in the recording of the table's event, of a group its leader */
    const char *event_name;
    uint64_t total; /* what is 100 per cent */
    const struct perfdata_report_cell *cells;
    size_t cell_count;
    uint64_t period, samples;
    uint64_t children_period; /* without children: the period */
    const char *comm;         /* never NULL */
    const char *object;       /* as printed; "[unknown]" */
    const char *symbol;       /* NULL: unknown */
    uint64_t address;         /* of the symbol or, without one, of the code, in the object's file */
    uint32_t pid, tid;        /* all ones: unknown */
    uint32_t is_kernel;       /* its object is a kernel or a module */
    uint32_t has_chains;      /* perfdata_report_chains() gives some */
};

/* All lives during the call. 0 to go on, anything else ends with PERFDATA_ERROR_CANCELLED. Since
 * 0.1. */
typedef int (*perfdata_report_row_fn)(void *data, const struct perfdata_report_row *row);

/* The rows of the report that perfdata_report_run() would print, in its order, table after table;
 * without call chains below them. Also columns of one value only, which the text tells above its
 * table. Options that are of the text alone (views, header, separator, widths, colours, hierarchy)
 * are PERFDATA_ERROR_ARGUMENT; other errors as there. Since 0.1. */
PERFDATA_API perfdata_status perfdata_report_rows(perfdata_recording *recording,
                                                  const struct perfdata_report_options *options,
                                                  perfdata_report_row_fn row, void *data,
                                                  struct perfdata_report_result *result);

/* Names that -s and -F take: NULL at the end. For helps and completion. Since 0.1. */
PERFDATA_API const char *perfdata_report_key_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
