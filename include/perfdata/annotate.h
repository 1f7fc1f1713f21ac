/* SPDX-License-Identifier: MIT */
/* The code of the functions that samples lie in, as `perf annotate --stdio` of 6.1 prints it. The
 * program objdump, which must be installed, turns code into text. */
#ifndef PERFDATA_ANNOTATE_H
#define PERFDATA_ANNOTATE_H
#include <perfdata/recording.h>
#include <perfdata/symbol_search.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits of perfdata_annotate_options.flags. Since 0.1. */
/* Numbers of samples in place of percentages. */
#define PERFDATA_ANNOTATE_SAMPLES (UINT64_C(1) << 0)
/* Sums of periods in place of percentages. */
#define PERFDATA_ANNOTATE_TOTAL_PERIOD (UINT64_C(1) << 1)
/* All events as one group. */
#define PERFDATA_ANNOTATE_GROUP (UINT64_C(1) << 2)
/* Events of a group one by one. */
#define PERFDATA_ANNOTATE_NO_GROUP (UINT64_C(1) << 3)
/* No source between the instructions. */
#define PERFDATA_ANNOTATE_NO_SOURCE (UINT64_C(1) << 4)
/* The bytes of each instruction. */
#define PERFDATA_ANNOTATE_RAW (UINT64_C(1) << 5)
/* Before each function its hottest source lines. */
#define PERFDATA_ANNOTATE_SOURCE_LINES (UINT64_C(1) << 6)
/* Objects and source files with their folders. */
#define PERFDATA_ANNOTATE_FULL_PATHS (UINT64_C(1) << 7)
/* Functions whose code cannot be had are no issues. */
#define PERFDATA_ANNOTATE_SKIP_MISSING (UINT64_C(1) << 8)
/* C++ and Rust names as they are in the object. */
#define PERFDATA_ANNOTATE_NO_DEMANGLE (UINT64_C(1) << 9)
/* Demangles the names of the kernel, too. */
#define PERFDATA_ANNOTATE_DEMANGLE_KERNEL (UINT64_C(1) << 10)
#define PERFDATA_ANNOTATE_IGNORE_VMLINUX (UINT64_C(1) << 11)
/* Use symbol files that other users own. */
#define PERFDATA_ANNOTATE_FORCE (UINT64_C(1) << 12)
/* AUX traces are not decoded. */
#define PERFDATA_ANNOTATE_NO_ITRACE (UINT64_C(1) << 13)
/* -v: above each function its samples by address; C++ names with parameters. */
#define PERFDATA_ANNOTATE_VERBOSE (UINT64_C(1) << 14)
/* Shows code as perf's browser does (--stdio2): offsets where jumps lead to, names in place of
 * addresses. x86 only. */
#define PERFDATA_ANNOTATE_BROWSER (UINT64_C(1) << 15)
/* Of that, as settings say: no lines of source, addresses, numbers of source lines, how many jumps
 * lead to a line. */
#define PERFDATA_ANNOTATE_HIDE_SOURCE (UINT64_C(1) << 16)
#define PERFDATA_ANNOTATE_ADDRESSES (UINT64_C(1) << 17)
#define PERFDATA_ANNOTATE_LINE_NUMBERS (UINT64_C(1) << 18)
#define PERFDATA_ANNOTATE_JUMP_COUNTS (UINT64_C(1) << 19)
/* Names demangled: also where a configuration file says otherwise. Since 0.1. */
#define PERFDATA_ANNOTATE_DEMANGLE (UINT64_C(1) << 20)

/* All zero but struct_size is the plain `annotate`. Strings are borrowed for the call; NULL: not
 * given. Since 0.1. */
struct perfdata_annotate_options {
    size_t struct_size;
    uint64_t flags;            /* PERFDATA_ANNOTATE_...                                          */
    uint32_t threads;          /* 0: all cores; the text never depends on it                     */
    uint32_t reserved;         /* 0                                                              */
    const char *symbol;        /* this function only                                             */
    const char *cpus, *dsos;   /* keep these only: lists with commas                             */
    const char *percent_limit; /* functions below are left out                                   */
    const char *percent_type;  /* "local-period" (default), "global-hits"...                     */
    const char *objdump;       /* the program; default: that of the recording's architecture     */
    const char *style;         /* objdump's -M                                                   */
    const char *prefix;        /* before the paths of sources                                    */
    const char *prefix_strip;  /* folders that are taken off these paths                         */
    struct perfdata_symbol_search search;
    const char *const *itrace; /* values of --itrace, "" for its defaults                        */
    size_t itrace_count;
    const char *perf_config; /* read in place of /etc/perfconfig and home's; NULL: these         */
    const char *comms, *pids, *tids; /* keep these only: lists with commas   */
    const char *symbols;             /* and samples in these functions       */
    const char *time;                /* and of this time, as report's --time */
};

/* Since 0.1. */
struct perfdata_annotate_result {
    size_t struct_size;
    int32_t perf_exit; /* what perf's exit code would be for a failure */
    uint32_t reserved;
    uint64_t trace_errors; /* errors that decoding AUX traces met and told */
    uint64_t functions;    /* printed                                      */
    uint64_t missing;      /* whose code could not be had                  */
};

/* Prints the functions of each event or group, the heaviest first. `write` is called one call at a
 * time. objdump runs once for each function, on as many threads as the run has; what it says is
 * kept until the function's last event is printed. `result` may be NULL. Failures leave their text
 * in the recording:
 *   PERFDATA_ERROR_ARGUMENT     an option does not parse
 *   PERFDATA_ERROR_UNSUPPORTED  there is no objdump for the recording's architecture
 *   PERFDATA_ERROR_NO_DATA      no samples, or what an option needs is not in the recording
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_annotate_run(perfdata_recording *recording,
                                                   const struct perfdata_annotate_options *options,
                                                   perfdata_write_fn write, void *data,
                                                   struct perfdata_annotate_result *result);

/* ---- code as rows ---- */

/* What a line of objdump's is. Since 0.1. */
enum perfdata_code_kind {
    PERFDATA_CODE_INSTRUCTION = 0,
    PERFDATA_CODE_SOURCE = 1, /* source, or what objdump says of a function */
    PERFDATA_CODE_PLACE = 2   /* where the instructions behind it come from: "/a/b.c:12" */
};

/* A line that objdump printed. The size of the structure is fixed for ever. Since 0.1. */
struct perfdata_code_line {
    const char *text; /* of an instruction what follows its address; never NULL                */
    uint64_t offset;  /* of an instruction, in bytes from the function's start; else all ones */
    uint32_t kind;    /* enum perfdata_code_kind                                               */
    uint32_t indent;  /* blanks before it, which its text has not                              */
};

/* What lies on a line. The size of the structure is fixed for ever. Since 0.1. */
struct perfdata_code_sum {
    uint64_t count, period; /* samples, and what these add up to */
};

/* A function that samples lie in. All is borrowed until the callback returns. Since 0.1. */
struct perfdata_code_function {
    const char *name, *object; /* path of the object as far as it is known; never NULL           */
    uint64_t address;          /* of its start, as the object's file counts                      */
    uint64_t index, count;     /* the how manyth function this is, from 0, of how many           */
    size_t line_count;         /* 0: its code cannot be had                                      */
    size_t event_count;        /* of the recording                                               */
    const struct perfdata_code_line *lines;
    const struct perfdata_code_sum *sums;   /* of line i and event e: sums[i * event_count + e]  */
    const struct perfdata_code_sum *totals; /* of each event in the function                     */
};

/* Not 0: that is enough. Since 0.1. */
typedef int (*perfdata_code_fn)(void *data, const struct perfdata_code_function *function);

/* The same functions as rows, for programs that show them in their own way: each once with all its
 * events, ordered by the greatest share that it has of any event. options->percent_limit leaves out
 * those below it in every event; flags and strings that are about text do nothing. Functions whose
 * code cannot be had are no issues. Errors as of perfdata_annotate_run(). Since 0.1. */
PERFDATA_API perfdata_status perfdata_annotate_code(perfdata_recording *recording,
                                                    const struct perfdata_annotate_options *options,
                                                    perfdata_code_fn take, void *data,
                                                    struct perfdata_annotate_result *result);

#ifdef __cplusplus
}
#endif
#endif
