/* SPDX-License-Identifier: MIT */
/* What every verb shares: the state of one run, messages, exit codes, standard output.
 * The verb's contract (struct tool_verb) is in options.h. */
#ifndef PERFDATA_TOOL_H
#define PERFDATA_TOOL_H
#include <perfdata/recording.h>
#include <perfdata/status.h>
#include <perfdata/symbol_search.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TOOL_LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define TOOL_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* What a verb returns; main() turns it into perf's codes when called as perf. */
enum tool_exit {
    TOOL_DONE = 0,
    TOOL_PARTIAL = 1, /* the recording could be read only in part           */
    TOOL_USAGE = 2,   /* wrong usage                                        */
    TOOL_NOTHING = 3, /* nothing could be read                              */
    TOOL_OUTPUT = 4   /* an output could not be written                     */
};

/* Issues of one kind, for the summary on stderr. */
struct tool_issues {
    uint64_t count;
    uint64_t warnings;    /* those that are told in perf's words, not counted above */
    int64_t first_offset; /* -1: unknown */
    char first_text[240];
};

/* Issues in perf's words; those beyond the room are counted. */
struct tool_warnings {
    char *text;
    size_t length, told; /* the first `told` bytes are written */
    uint64_t left_out;
};

#define TOOL_ITRACE_MAX 32

/* What `kvm` says of guests to the verb that it runs. */
struct tool_guests {
    bool wanted, without_host, code;
    const char *kallsyms, *modules, *vmlinux, *mount;
    const char *output; /* what `record` writes without -o */
};

/* How recordings are read: TOOL_ROWS_READING of options.h. */
struct tool_reading {
    bool force;       /* -f: no check of the file's owner */
    bool strict;      /* --strict: the first issue ends the run */
    bool all_streams; /* --all-streams: of a pipe's recording */
    uint64_t memory;  /* --memory: a cap in bytes, 0: default */
};

struct tool_verb_row;
struct tool {
    const char *name;                  /* "perfdata", or "perf" when called as perf */
    const char *verb;                  /* the verb's name, or NULL before it is known */
    const struct tool_verb_row *verbs; /* all there are, given by main(); NULL: none are known */
    bool as_perf;                      /* perf's exit codes, nothing of ours          */
    int verbose;                       /* -v: every issue at once                     */
    const char *input;                 /* -i; NULL: the first argument or perf.data   */
    struct tool_reading reading;
    unsigned jobs;                       /* -j: threads, 0: all cores                   */
    const char *itrace[TOOL_ITRACE_MAX]; /* values of --itrace */
    unsigned itrace_count;
    bool no_itrace;
    const char *build_id_dir; /* --buildid-dir before the verb; NULL: HOME/.debug */
    bool no_cache;            /* --no-cache */
    int pager;                /* 1: -p, 0: --no-pager, -1: as the verb does on a terminal */
    int color;                /* 1: always, 0: never, -1: on a terminal           */
    bool no_progress;         /* --no-progress                                    */
    bool listed;              /* a verb's --list-opts or --list-cmds was answered */
    struct tool_before_verb {
        bool tracefs;              /* --debugfs-dir */
        int debug_level;           /* --debug verbose=N: as many -v */
        struct tool_warnings told; /* of settings */
    } before;                      /* options that stood before the verb and concern it */
    struct tool_guests guests;
    int perf_exit; /* what to return as perf; -1: by the table    */
    bool quiet;    /* -q of perf's verbs: none of perf's warnings */
    struct tool_issues issues[PERFDATA_ISSUE_COUNT];
    struct tool_warnings warnings; /* written before text on standard error, or at the end */
    bool pages,
        writes;   /* of the verb: long text; a file, which an interrupt must not leave half done */
    bool goes_on; /* an interrupt ends nothing: a file is changed in place */
    _Atomic bool printed; /* something was written on standard output */
    int pager_process;    /* 0: none */
    struct tool_progress {
        bool wanted;
        _Atomic bool shown;   /* the line stands on the terminal */
        uint64_t begin, told; /* milliseconds: of this walk, of the line's last change */
        uint64_t records;
        _Atomic bool text_ended; /* by an interrupt, behind a whole line */
        struct perfdata_progress
            ended_at; /* where an interrupt ended it; struct_size 0: none did */
    } progress;
    struct tool_output {
        char *buffer;
        size_t length, capacity;
        int error;   /* errno of the first failed write, 0: none */
        bool closed; /* the reader went away: drop what follows */
    } output;
};

void tool_init(struct tool *tool, const char *argv0);
/* Flushes, prints the summary of issues, maps the code. The process's exit code. */
int tool_finish(struct tool *tool, enum tool_exit code);

/* "perfdata VERB: text\n" on stderr. */
void tool_error(struct tool *tool, const char *format, ...) TOOL_PRINTF(2, 3);
/* The same, then returns TOOL_USAGE: `return tool_usage(tool, "...")`. */
enum tool_exit tool_usage(struct tool *tool, const char *format, ...) TOOL_PRINTF(2, 3);
/* "perfdata VERB: option WHAT is not supported yet"; returns TOOL_USAGE. For values of options that
 * perf knows and we not yet ("--sort mem"); whole options are refused by the option parser. */
enum tool_exit tool_refuse(struct tool *tool, const char *what);
/* Tells a failure on stderr by the library's status and message, and returns its exit code. `what`
 * is the file. */
enum tool_exit tool_failure(struct tool *tool, perfdata_status status, const char *what,
                            const char *message);
/* `code`, but called as perf the process ends with `perf_code` (perf's special cases). */
enum tool_exit tool_exit_as(struct tool *tool, enum tool_exit code, int perf_code);

/* The issue callback for struct perfdata_*_options: data is the struct tool. The library calls it
 * under its lock, so from one thread at a time. */
void tool_on_issue(void *tool, const struct perfdata_issue *issue);
/* Forgets what was told of settings, so that it can be told once more. */
void tool_forget_settings(struct tool *tool);
/* Takes over the issues that `told` met in place of this tool; `told` keeps none. */
void tool_take_issues(struct tool *tool, struct tool *told);
/* "file: KIND at offset N: ", before an issue's text in a list of all; its length. */
int tool_issue_head(const struct perfdata_issue *issue, char *text, size_t size);
/* Tells the warnings that were kept for the end, so that they stand before the reason why a run
 * ends. */
void tool_tell_warnings(struct tool *tool);
/* TOOL_PARTIAL when an issue says that something of the recording was lost, else TOOL_DONE. */
enum tool_exit tool_issues_exit(const struct tool *tool);

/* Standard output: one large buffer. Errors are kept and become TOOL_OUTPUT in tool_finish(). */
void tool_write(struct tool *tool, const void *bytes, size_t size);
void tool_puts(struct tool *tool, const char *text); /* no newline added */
void tool_printf(struct tool *tool, const char *format, ...) TOOL_PRINTF(2, 3);
void tool_flush(struct tool *tool);
/* False once nothing written can arrive any more: a long loop may stop. */
bool tool_output_ok(const struct tool *tool);

/* Also through a pager. */
bool tool_output_is_terminal(const struct tool *tool);
/* Whether text is printed in colours. */
bool tool_colors(const struct tool *tool);
/* pager.c: on a terminal, what is written from here on goes through PERF_PAGER or PAGER (less),
 * where the verb's output is paged. The first write calls it, so that messages alone are not. */
void tool_page(struct tool *tool);
/* Waits until the reader has left the pager. Call it after the last tool_flush(). */
void tool_page_end(struct tool *tool);
/* XDG_CACHE_HOME/perfdata or HOME/.cache/perfdata; NULL: neither is set, or --no-cache. */
const char *tool_index_dir(const struct tool *tool);
/* Columns of the terminal: COLUMNS, else the terminal's own, else 80. */
unsigned tool_columns(void);

/* ---- settings.c ---- */

/* Tells what is wrong with perf's configuration files, as perf does before each verb, or of what
 * the verb checks besides. Not TOOL_DONE: perf goes no further. */
enum tool_exit tool_settings_check(struct tool *tool, const char *verb);
/* Fails with --strict where something was told of settings. They are checked before options are
 * known, so that the check itself cannot. */
enum tool_exit tool_settings_strict(struct tool *tool);
/* For verbs whose perf reads one of these files again after that check: called as perf, tells once
 * more of lines that do not parse. */
void tool_settings_again(struct tool *tool, const char *only, const char *home);

/* ---- guard.c ---- */

/* From here on files that become shorter while they are mapped read as zeros. */
void tool_guard_files(void);
/* Whether a mapped file became shorter. */
bool tool_file_was_cut(void);

/* ---- heap.c ---- */

/* Prepares memory for a verb that reads all of a recording, where that is a small file. */
void tool_prepare_heap(const char *input);

/* ---- search.c ---- */

/* What a verb's own options say of where symbols are, with what holds for all verbs beside it. */
struct perfdata_symbol_search tool_search(const struct tool *tool,
                                          struct perfdata_symbol_search own);
/* Members of the library's options that verbs pass on just as their rows filled them. */
#define TOOL_WHERE_SYMBOLS(from)                                                                   \
    .symfs = (from)->symfs, .kallsyms = (from)->kallsyms, .vmlinux = (from)->vmlinux,              \
    .jitdump = (from)->jitdump
#define TOOL_WHICH_SAMPLES(from)                                                                   \
    .comms = (from)->comms, .pids = (from)->pids, .tids = (from)->tids, .cpus = (from)->cpus,      \
    .dsos = (from)->dsos, .symbols = (from)->symbols
/* How objects are fetched from servers; NULL: --debuginfod was not given. Valid until the process
 * ends. */
const struct perfdata_debuginfod *tool_debuginfod(void);

/* ---- progress.c ---- */

/* A recording is about to be opened with these options: an interrupt (SIGINT) ends reading it, and
 * a line on a terminal tells how far that is. */
void tool_watch(struct tool *tool, struct perfdata_options *options);
/* Takes the line away, before anything else is printed on the terminal. */
void tool_progress_clear(struct tool *tool);
bool tool_interrupted(void);
uint64_t tool_milliseconds(void); /* of a clock that is never set */
/* Shows a line that tells how far something else is, which began at `begin`, once that has taken
 * longer than half a second. May be called from any thread. */
void tool_progress_line(struct tool *tool, uint64_t begin, const char *line);
/* After an interrupt ended reading: says how much of the output is complete. */
void tool_tell_interrupt(struct tool *tool);
/* The share that has been read, 0 to 1; 0 where the size is unknown. */
double tool_share(const struct perfdata_progress *at);

/* Names near `wrong`, best first, each behind `prefix`: "--a, --b or --c" in `text`, empty when
 * there is none. `next` gives the candidates one by one until NULL. */
void tool_nearest(const char *wrong, const char *prefix, const char *(*next)(void *context),
                  void *context, char *text, size_t size);

#endif
