/* SPDX-License-Identifier: MIT */
/* A line a sample, as `perf script` of 6.1 prints it. */
#ifndef PERFDATA_SCRIPT_H
#define PERFDATA_SCRIPT_H
#include <perfdata/recording.h>
#include <perfdata/event_switch.h>
#include <perfdata/symbol_search.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_script_flags {
    PERFDATA_SCRIPT_NO_CALLCHAIN = 1 << 0, /* -G: the symbol on the sample's line, no chain */
    PERFDATA_SCRIPT_NS = 1 << 1,           /* times with nine decimals                      */
    PERFDATA_SCRIPT_RELTIME = 1 << 2,      /* times since the first line                    */
    PERFDATA_SCRIPT_DELTATIME = 1 << 3,    /* times since the line before                   */
    PERFDATA_SCRIPT_LATENCY = 1 << 4,      /* -L: columns of latency tracers                */
    PERFDATA_SCRIPT_KERNEL_PATH = 1 << 5,  /* the path of the kernel image                  */
    PERFDATA_SCRIPT_NO_DEMANGLE = 1 << 6,
    PERFDATA_SCRIPT_DEMANGLE_KERNEL = 1 << 7,
    PERFDATA_SCRIPT_VERBOSE_NAMES = 1 << 8,     /* C++ names with parameters                     */
    PERFDATA_SCRIPT_FORCE = 1 << 9,             /* use symbol files that other users own         */
    PERFDATA_SCRIPT_HEADER = 1 << 10,           /* the header first                              */
    PERFDATA_SCRIPT_HEADER_ONLY = 1 << 11,      /* nothing but the header                        */
    PERFDATA_SCRIPT_HEADER_FULL = 1 << 12,      /* -I: also the long parts of the header         */
    PERFDATA_SCRIPT_DUMP = 1 << 13,             /* -D: each record raw before its line           */
    PERFDATA_SCRIPT_FULL_SOURCE_PATH = 1 << 14, /* srcline with folders                      */
    PERFDATA_SCRIPT_NO_ITRACE = 1 << 15,        /* AUX traces are not decoded                */
    PERFDATA_SCRIPT_GUEST_CODE = 1 << 16,       /* guests run code of their own host process */
    PERFDATA_SCRIPT_XED = 1 << 17,              /* instructions as xed prints them, not as bytes */
    PERFDATA_SCRIPT_UNSORTED = 1 << 18,         /* with DUMP: records as they lie in the file */
    PERFDATA_SCRIPT_PT_EVENTS = 1 << 19,        /* lines of intel-pt-events.py */
    PERFDATA_SCRIPT_NO_INLINE = 1 << 20, /* unwound chains without the functions put into others */
    PERFDATA_SCRIPT_PT_INSNS = 1 << 21,  /* with PT_EVENTS: its head for traces of instructions */
    PERFDATA_SCRIPT_PT_SWITCHES = 1 << 22, /* PT_EVENTS: all switches, not each CPU's last */
    PERFDATA_SCRIPT_PT_SOURCE = 1 << 23, /* PT_EVENTS: source lines of instructions and branches */
    PERFDATA_SCRIPT_COLOR = 1 << 24,     /* with DUMP: bytes in perf's blue (ANSI). Since 0.1. */
    PERFDATA_SCRIPT_JSON =
        1 << 25, /* an object a line in place of text: docs/schema/script.json. Since 0.1 */
    PERFDATA_SCRIPT_CHECK_ORDER = 1 << 26 /* no lines: only whether times go back. Since 0.1 */
};

/* Records that get lines of their own. Since 0.1. */
enum perfdata_script_show {
    PERFDATA_SCRIPT_SHOW_TASKS = 1 << 0, /* COMM, FORK, EXIT */
    PERFDATA_SCRIPT_SHOW_MMAPS = 1 << 1,
    PERFDATA_SCRIPT_SHOW_SWITCHES = 1 << 2,
    PERFDATA_SCRIPT_SHOW_NAMESPACES = 1 << 3,
    PERFDATA_SCRIPT_SHOW_LOST = 1 << 4,
    PERFDATA_SCRIPT_SHOW_BPF = 1 << 5, /* BPF_EVENT, KSYMBOL */
    PERFDATA_SCRIPT_SHOW_CGROUPS = 1 << 6,
    PERFDATA_SCRIPT_SHOW_TEXT_POKES = 1 << 7,
    PERFDATA_SCRIPT_SHOW_ROUNDS = 1 << 8 /* also: everything in file order */
};

/* Takes text of samples of one event, by its index among the recording's events; calls come one at
 * a time and in order, maybe from other threads. Not 0: ends the run. */
typedef int (*perfdata_script_event_fn)(void *data, uint32_t event, uint64_t samples,
                                        const char *text, size_t length);

/* All zero but struct_size and max_stack is the plain `script`. Strings are borrowed for the call;
 * NULL: not given. Lists are separated by commas. Since 0.1. */
struct perfdata_script_options {
    size_t struct_size;
    uint64_t flags; /* enum perfdata_script_flags */
    uint32_t show;  /* enum perfdata_script_show  */
    const char *const
        *fields; /* values of -F in their order: "[type:]field,field..." with +field, -field */
    size_t field_count;
    const char *comms, *pids, *tids, *cpus, *dsos; /* keep these only */
    const char *symbols;                           /* names, or addresses in hexadecimal */
    uint64_t address_range;                        /* bytes from each address of `symbols` */
    const char *time;                              /* "START,STOP", "A%-B%,...", "P%/N,..." */
    const char *stop_symbols;                      /* chains end at these */
    uint32_t max_stack;                            /* addresses of a chain; perf: 127 */
    uint32_t threads;                              /* 0: all cores; the text never depends on it */
    struct perfdata_symbol_search search;
    uint32_t max_blocks; /* of brstackinsn; 0: all */
    /* What is made of AUX traces: values of --itrace, "" for its defaults; none: those of script.
     * */
    const char *const *itrace;
    size_t itrace_count;
    const char *graph_functions; /* only what runs within these functions */
    uint32_t dso_width;          /* names of objects are padded to it */
    uint32_t reserved;
    /* A shared object that is shown each sample and may drop it, as perf-dlfilter(1) says;
     * "show-cycles": built in. It runs in this process, and meanwhile what is written to stdout
     * goes to `write`. */
    const char *dlfilter;
    const char *const *dlargs;
    size_t dlarg_count;
    const char *perf_config; /* read in place of /etc/perfconfig and home's; NULL: these */
    struct perfdata_event_switch event_switch;
    /* Gets the text of samples in place of `write`; not with RELTIME, DELTATIME, DUMP. NULL: none.
     * Since 0.1. */
    perfdata_script_event_fn write_event;
    void *event_data;
};

/* What was printed, and after a failure the exit code that perf has for it. Since 0.1. */
struct perfdata_script_result {
    size_t struct_size;
    int32_t perf_exit; /* 0 where perf forgives; -1: nothing special */
    uint32_t reserved;
    uint64_t samples;      /* samples printed */
    uint64_t trace_errors; /* errors that decoding AUX traces met and told */
    uint64_t misordered;   /* of CHECK_ORDER: samples before the one before them. Since 0.1. */
};

/* Prints the recording; `write` gets the text in pieces, one call at a time, maybe from other
 * threads. `result` may be NULL. Failures leave their text in the recording. A recording can be
 * printed as often as one likes. Since 0.1. */
PERFDATA_API perfdata_status perfdata_script_run(perfdata_recording *recording,
                                                 const struct perfdata_script_options *options,
                                                 perfdata_write_fn write, void *data,
                                                 struct perfdata_script_result *result);

/* Fields by name, done and refused ones: NULL at the end. For helps and completion. Since 0.1. */
PERFDATA_API const char *perfdata_script_field_name(size_t index);

#ifdef __cplusplus
}
#endif
#endif
