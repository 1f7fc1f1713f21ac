/* SPDX-License-Identifier: MIT */
/* Options in tables. A verb is one `const struct tool_verb tool_verb_NAME` in NAME.c plus its row
 * in verbs.def; parsing, --help, man page, shell completion and docs/options.md come from its rows.
 *
 *     struct example_options {
 *         const char *input;
 *         int ns;
 *         unsigned max_stack;
 *         const char *header;
 *     };
 *     #define FIELD(name) offsetof(struct example_options, name)
 *
 *     static const struct tool_option example_rows[] = {
 *         {TOOL_GROUP, .help = "Input"},
 *         {TOOL_STRING, 'i', "input", "FILE", "recording to read; - is standard input",
 *          FIELD(input)},
 *         {TOOL_GROUP, .help = "Output"},
 *         {TOOL_FLAG, 0, "ns", NULL, "times with nine decimals", FIELD(ns)},
 *         {TOOL_UINT, 0, "max-stack", "N", "frames shown of a chain", FIELD(max_stack)},
 *         {TOOL_STRING, 0, "header", "WHAT", "...", FIELD(header),
 *          .flags = TOOL_OPTIONAL, .implied = "all"},
 *         {TOOL_CALLBACK, 'F', "fields", "LIST", "output columns", .parse = parse_fields},
 *         {0}};
 *
 * An option that perf's verb of the same name has (perf_options.def) and the table has not is
 * refused by name; no row is needed for it. Abbreviations, --no-X, --opt=value, bundles and -- work
 * as perf's do. */
#ifndef PERFDATA_TOOL_OPTIONS_H
#define PERFDATA_TOOL_OPTIONS_H
#include "tool/tool.h"
#include <string.h>

enum tool_option_kind {
    TOOL_END = 0,  /* ends a table                                                              */
    TOOL_GROUP,    /* a heading (help) for the rows that follow                                 */
    TOOL_FLAG,     /* int *: 1; --no-NAME: 0. A NAME that begins with "no-": --NAME is 1, and the
                      name without "no-" is 0                                                   */
    TOOL_COUNT,    /* int *: one more each time; --no-NAME: 0                                   */
    TOOL_STRING,   /* const char **: points into argv; --no-NAME: NULL                          */
    TOOL_INT,      /* int *, decimal                                                            */
    TOOL_UINT,     /* unsigned *                                                                */
    TOOL_U64,      /* uint64_t *                                                                */
    TOOL_CALLBACK, /* parse() is called each time, in the order of the command line             */
};

enum tool_option_flags {
    TOOL_OPTIONAL =
        1,         /* the value may be missing and is only taken after = (perf's [=...])         */
    TOOL_LAST = 2, /* the value may be missing when the option is last or a word with - follows  */
    TOOL_NO_VALUE =
        4, /* a callback without value                                                   */
    TOOL_NO_NEGATION =
        8, /* no --no-NAME                                                              */
    TOOL_HIDDEN =
        16,         /* not in --help                                                              */
    TOOL_OURS = 32, /* perf has no such option                                                    */
};

struct tool_option {
    enum tool_option_kind kind;
    char short_name;       /* 0: none                                                  */
    const char *long_name; /* without --; NULL: none                                   */
    const char *argument;  /* its name in the help, "FILE"; NULL for flags             */
    const char *help;      /* one line, lower case, no full stop                       */
    size_t offset;         /* of the target in the verb's options structure            */
    unsigned flags;
    const char *implied; /* TOOL_OPTIONAL and TOOL_LAST: the value when it is missing */
    /* `value` is NULL for TOOL_NO_VALUE, a missing optional value and --no-NAME (`unset`).
     * TOOL_DONE, or what tool_usage() returned after it told what is wrong. */
    enum tool_exit (*parse)(struct tool *tool, void *options, const char *value, bool unset);
};

enum tool_verb_flags {
    TOOL_VERB_PERF = 1,    /* perf has this verb: its other options are refused by name */
    TOOL_VERB_STOP = 2,    /* options end at the first argument                          */
    TOOL_VERB_UNPAGED = 4, /* its text does not go through a pager on a terminal      */
    TOOL_VERB_WRITES = 8,  /* it makes a file: not paged, and an interrupt leaves none */
};

struct tool_verb {
    const char *name;
    const char *synopsis; /* what follows the name, "[OPTIONS] [FILE]"                           */
    const char
        *description; /* for the man page: paragraphs separated by an empty line             */
    const char
        *examples[4]; /* pairs of command line (without "perfdata") and what it shows        */
    const struct tool_option *options;
    size_t options_size; /* of the structure that the rows' offsets refer to; zeroed at first */
    void (*defaults)(
        void *options); /* or NULL                                                     */
    /* Verbs that share `run` are told apart by `view`: it is stored in the options structure, as
     * the uint32_t at `view_at`. `view_at` 0: there is none. */
    uint32_t view;
    size_t view_at;
    /* argv holds what is not an option, NULL-terminated. */
    enum tool_exit (*run)(struct tool *tool, void *options, int argc, char **argv);
    /* Whether options end at this argument, as they do at every one with TOOL_VERB_STOP; NULL:
     * options may stand behind arguments. */
    bool (*stops)(const void *options, const char *word);
    unsigned flags;
    /* Verbs of the verb ("sched latency"), ended by NULL, or NULL: run is then tool_run_sub(). Each
     * has the verb's own options, too, where perf's has. */
    const struct tool_verb *const *subs;
};

/* The word behind the verb's name: "latency" of "sched latency". */
static inline const char *tool_sub_name(const struct tool_verb *sub)
{
    const char *blank = strrchr(sub->name, ' ');
    return blank ? blank + 1 : sub->name;
}
/* Runs the verb's verb that argv[0] names, by perf's rule: the beginning of a name is enough. Where
 * both have the same structure of options, it begins with `options`, which were given before it. */
enum tool_exit tool_run_sub(struct tool *tool, const struct tool_verb *verb, const void *options,
                            int argc, char **argv);

/* Parses argv[1..] into options, runs the verb; argv is permuted. */
enum tool_exit tool_verb_run(struct tool *tool, const struct tool_verb *verb, int argc,
                             char **argv);

/* Only the parsing: *argc and argv then hold the arguments. TOOL_DONE, TOOL_USAGE after a message,
 * TOOL_NOTHING where --strict finds that a setting was wrong, or *help set when -h or --help was
 * met, or --list-opts or --list-cmds, which are answered (`listed`). */
enum tool_exit tool_parse(struct tool *tool, const struct tool_verb *verb, void *options, int *argc,
                          char **argv, bool *help);

/* Options of perf's verb `name` that the verb's table lacks, one by one; NULL at the end. */
struct tool_perf_option {
    const char *verb, *long_name, *argument;
    char short_name;
};
extern const struct tool_perf_option tool_perf_options[];
const struct tool_perf_option *tool_refused_next(const struct tool_verb *verb,
                                                 const struct tool_perf_option *last);
/* Why it is refused; NULL: refused.def lacks it, which a test tells. */
const char *tool_refused_reason(const struct tool_perf_option *refused);

/* Rows that verbs share; what they set lies in struct tool and is honoured by tool_open() of
 * input.h. */
enum tool_exit tool_parse_input(struct tool *, void *, const char *, bool);
enum tool_exit tool_parse_force(struct tool *, void *, const char *, bool);
enum tool_exit tool_parse_verbose(struct tool *, void *, const char *, bool);
enum tool_exit tool_parse_jobs(struct tool *, void *, const char *, bool);
enum tool_exit tool_parse_strict(struct tool *, void *, const char *, bool);
enum tool_exit tool_parse_streams(struct tool *, void *, const char *, bool);
enum tool_exit tool_parse_memory(struct tool *, void *, const char *, bool);
enum tool_exit tool_parse_progress(struct tool *, void *, const char *, bool);
enum tool_exit tool_parse_debuginfod(struct tool *, void *, const char *, bool);
enum tool_exit tool_parse_cache(struct tool *, void *, const char *, bool);
/* Also --stdio-color of perf's verbs. */
enum tool_exit tool_parse_color(struct tool *, void *, const char *, bool);
enum tool_exit tool_parse_itrace(struct tool *, void *, const char *, bool);
#define TOOL_ROW_INPUT                                                                             \
    {                                                                                              \
        TOOL_CALLBACK, 'i', "input", "FILE", "recording to read; - is standard input",             \
            .parse = tool_parse_input                                                              \
    }
#define TOOL_ROW_FORCE                                                                             \
    {                                                                                              \
        TOOL_CALLBACK, 'f', "force", NULL, "called as perf: read files of other users too",        \
            .flags = TOOL_NO_VALUE, .parse = tool_parse_force                                      \
    }
#define TOOL_ROW_VERBOSE                                                                           \
    {                                                                                              \
        TOOL_CALLBACK, 'v', "verbose", NULL, "tell every issue at once",                           \
            .flags = TOOL_NO_VALUE, .parse = tool_parse_verbose                                    \
    }
#define TOOL_ROW_JOBS                                                                              \
    {                                                                                              \
        TOOL_CALLBACK, 'j', "jobs", "N", "threads; default: all cores, the output is the same",    \
            .flags = TOOL_OURS, .parse = tool_parse_jobs                                           \
    }

#define TOOL_ROW_STRICT                                                                            \
    {                                                                                              \
        TOOL_CALLBACK, 0, "strict", NULL, "end with an error at the first thing that is wrong",    \
            .flags = TOOL_NO_VALUE | TOOL_OURS, .parse = tool_parse_strict                         \
    }
#define TOOL_ROW_STREAMS                                                                           \
    {                                                                                              \
        TOOL_CALLBACK, 0, "all-streams", NULL,                                                     \
            "of pipe streams one behind the other read all, not the first",                        \
            .flags = TOOL_NO_VALUE | TOOL_OURS, .parse = tool_parse_streams                        \
    }
#define TOOL_ROW_MEMORY                                                                            \
    {                                                                                              \
        TOOL_CALLBACK, 0, "memory", "SIZE",                                                        \
            "records that wait for their order, in memory: more go to a file; above 1G, also "     \
            "what few compressed bytes may hold",                                                  \
            .flags = TOOL_OURS, .parse = tool_parse_memory                                         \
    }

#define TOOL_ROW_ITRACE                                                                            \
    {                                                                                              \
        TOOL_CALLBACK, 0, "itrace", "WHAT",                                                        \
            "what is made of AUX traces: letters and numbers as in perf; G and L warn of events "  \
            "that may be large PEBS",                                                              \
            .flags = TOOL_OPTIONAL, .parse = tool_parse_itrace                                     \
    }

#define TOOL_ROW_DEBUGINFOD(ours)                                                                  \
    {                                                                                              \
        TOOL_CALLBACK, 0, "debuginfod", "URLS",                                                    \
            "fetch debug files, and objects that are not here, from these servers or those of "    \
            "DEBUGINFOD_URLS",                                                                     \
            .flags = TOOL_OPTIONAL | (ours), .parse = tool_parse_debuginfod                        \
    }

/* Rows that several verbs share; FIELD() is the verb's own. `in`: the member of the verb's options
 * that the rows fill, with a dot behind it, or nothing. */
#define TOOL_ROWS_SYMBOLS(in)                                                                      \
    { TOOL_STRING,    0, "symfs", "DIR", "root under which programs and libraries are looked up",  \
      FIELD(in symfs) },                                                                           \
        { TOOL_STRING, 'k', "vmlinux", "FILE", "kernel image with symbols", FIELD(in vmlinux) },   \
        { TOOL_STRING,       0, "kallsyms", "FILE", "file used in place of /proc/kallsyms",        \
          FIELD(in kallsyms) },                                                                    \
        { TOOL_STRING,                                                                             \
          0,                                                                                       \
          "jitdump",                                                                               \
          "DIR",                                                                                   \
          "code of runtimes by the jitdumps that they wrote: in DIR, or where recorded",           \
          FIELD(in jitdump),                                                                       \
          .flags = TOOL_OPTIONAL | TOOL_OURS,                                                      \
          .implied = "" },                                                                         \
        TOOL_ROW_DEBUGINFOD(TOOL_OURS)
#define TOOL_ROW_PROGRESS                                                                          \
    {                                                                                              \
        TOOL_CALLBACK, 0, "progress", NULL,                                                        \
            "a line on a terminal that says how far reading is (on)",                              \
            .flags = TOOL_NO_VALUE | TOOL_OURS, .parse = tool_parse_progress                       \
    }
#define TOOL_ROW_COLOR                                                                             \
    {                                                                                              \
        TOOL_CALLBACK, 0, "color", "MODE",                                                         \
            "colours: always, never or auto (on a terminal, unless NO_COLOR is set)",              \
            .flags = TOOL_OPTIONAL | TOOL_OURS, .implied = "always", .parse = tool_parse_color     \
    }
#define TOOL_ROW_CACHE                                                                             \
    {                                                                                              \
        TOOL_CALLBACK, 0, "cache", NULL,                                                           \
            "indexes of symbols in XDG_CACHE_HOME/perfdata make the next run quicker (on)",        \
            .flags = TOOL_NO_VALUE | TOOL_OURS, .parse = tool_parse_cache                          \
    }
#define TOOL_ROWS_READING                                                                          \
    TOOL_ROW_FORCE, TOOL_ROW_STRICT, TOOL_ROW_STREAMS, TOOL_ROW_MEMORY, TOOL_ROW_JOBS,             \
        TOOL_ROW_PROGRESS, TOOL_ROW_CACHE
#define TOOL_ROW_INLINE(in)                                                                        \
    {                                                                                              \
        TOOL_FLAG, 0, "inline", NULL, "inlined functions in unwound chains (on)",                  \
            FIELD(in inlined)                                                                      \
    }
#define TOOL_ROW_DEMANGLE(in)                                                                      \
    {                                                                                              \
        TOOL_FLAG, 0, "demangle", NULL, "demangle C++, Rust, D and Java names (on)",               \
            FIELD(in demangle)                                                                     \
    }
#define TOOL_ROW_DEMANGLE_KERNEL(in)                                                               \
    {                                                                                              \
        TOOL_FLAG, 0, "demangle-kernel", NULL, "demangle kernel names as well",                    \
            FIELD(in demangle_kernel)                                                              \
    }
#define TOOL_ROWS_NAMES(in) TOOL_ROW_INLINE(in), TOOL_ROW_DEMANGLE(in), TOOL_ROW_DEMANGLE_KERNEL(in)
#define TOOL_ROWS_TASKS(in)                                                                        \
    { TOOL_STRING, 0, "pid", "PID[,...]", "keep these processes only", FIELD(in pids) },           \
        { TOOL_STRING, 0, "tid", "TID[,...]", "keep these threads only", FIELD(in tids) },         \
    {                                                                                              \
        TOOL_STRING, 'C', "cpu", "CPUS", "keep these CPUs only", FIELD(in cpus)                    \
    }
#define TOOL_ROW_TIME(in)                                                                          \
    {                                                                                              \
        TOOL_STRING, 0, "time", "SPANS", "time spans: START,STOP, percentages A%-B%, slices P%/N", \
            FIELD(in time)                                                                         \
    }
#define TOOL_ROWS_SWITCH                                                                           \
    { TOOL_STRING,      0, "switch-on", "EVENT", "only what comes behind a sample of this event",  \
      FIELD(between.on) },                                                                         \
        { TOOL_STRING,                                                                             \
          0,                                                                                       \
          "switch-off",                                                                            \
          "EVENT",                                                                                 \
          "... until one of this event comes; alone it leaves out that event's first sample",      \
          FIELD(between.off) },                                                                    \
    {                                                                                              \
        TOOL_FLAG, 0, "show-on-off-events", NULL, "also the samples that switch",                  \
            FIELD(between.shows_both)                                                              \
    }
#define TOOL_ROWS_HEADER                                                                           \
    { TOOL_FLAG, 0, "header", NULL, "header first", FIELD(header) },                               \
        { TOOL_FLAG, 0, "header-only", NULL, "nothing but the header", FIELD(header_only) },       \
    {                                                                                              \
        TOOL_FLAG, 'I', "show-info", NULL, "also the long parts of the header", FIELD(info)        \
    }

/* Options that are on, as the library's flags. */
struct tool_flag {
    bool set;
    uint64_t flag;
};
uint64_t tool_flags(const struct tool_flag *rows, size_t count);

/* help.c: `perfdata VERB --help`, fitted to the terminal. */
void tool_help_verb(struct tool *tool, const struct tool_verb *verb);
/* A row of a help: `left`, and `right` in a column of its own, wrapped. */
void tool_help_row(struct tool *tool, const char *left, const char *right);
/* "-i, --input=FILE" and the like; also for man pages and the options table. */
void tool_option_text(const struct tool_option *option, char *text, size_t size);

#endif
