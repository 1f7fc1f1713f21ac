/* SPDX-License-Identifier: MIT */
/* lock: how long tasks waited for locks. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/lock.h>
#include <stdlib.h>
#include <string.h>

struct lock_options {
    struct perfdata_lock_options to; /* its strings are the command line's */
    int threads, map, all_cpus, combine;
};
#define FIELD(name) offsetof(struct lock_options, name)

static enum tool_exit run_view(struct tool *tool, void *data, int argc, char **argv)
{
    const struct lock_options *from = data;
    const bool waits = from->to.view == PERFDATA_LOCK_CONTENTION;
    struct perfdata_lock_options options = from->to;
    options.struct_size = sizeof options;
    options.by = from->threads && from->to.view != PERFDATA_LOCK_INFO ? PERFDATA_LOCK_BY_THREAD
                 : waits                                              ? PERFDATA_LOCK_BY_CALLER
                                                                      : PERFDATA_LOCK_BY_ADDRESS;
    options.flags = (tool->verbose ? PERFDATA_LOCK_STACKS : 0) |
                    (from->threads ? PERFDATA_LOCK_THREADS : 0) |
                    (from->combine ? PERFDATA_LOCK_COMBINE : 0) |
                    (tool->quiet ? PERFDATA_LOCK_NO_TITLES : 0);
    if (tool->as_perf) /* perf uses these while it counts live, and reads all of a recording */
        options.pids = options.tids = options.cpus = NULL;
    options.search = tool_search(tool, options.search);
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_lock_run(recording, &options, tool_write_error, tool);
    bool is_refused = status == PERFDATA_ERROR_NO_DATA || status == PERFDATA_ERROR_ARGUMENT;
    return tool_close_run(tool, recording, status, is_refused ? 234 : -1);
}

static enum tool_exit parse_quiet(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)data, (void)value;
    tool->quiet = !unset;
    return TOOL_DONE;
}

#define ROW_KALLSYMS                                                                               \
    {                                                                                              \
        TOOL_STRING, 0, "kallsyms", "FILE", "file used in place of /proc/kallsyms",                \
            FIELD(to.search.kallsyms)                                                              \
    }
#define ROW_VMLINUX                                                                                \
    {                                                                                              \
        TOOL_STRING, 0, "vmlinux", "FILE", "kernel image with symbols", FIELD(to.search.vmlinux)   \
    }
#define ROW_QUIET                                                                                  \
    {                                                                                              \
        TOOL_CALLBACK, 'q', "quiet", NULL, "no titles, no warnings", .parse = parse_quiet,         \
                                                                     .flags = TOOL_NO_VALUE        \
    }
#define ROWS_SHARED                                                                                \
    { TOOL_GROUP, .help = "Input" }, TOOL_ROW_INPUT, TOOL_ROWS_READING, ROW_KALLSYMS, ROW_VMLINUX, \
        ROW_QUIET, TOOL_ROW_VERBOSE
#define ROWS_TABLE(keys)                                                                           \
    { TOOL_STRING,   'k', "key", "COLUMN", "the column that is sorted by, the largest first",      \
      FIELD(to.sort) },                                                                            \
        { TOOL_STRING, 'F', "field", "COLUMN[,...]", keys, FIELD(to.fields) },                     \
    {                                                                                              \
        TOOL_UINT, 'E', "entries", "N", "lines at most", FIELD(to.entries)                         \
    }

static void set_defaults(void *data)
{
    struct lock_options *options = data;
    options->to.entries = UINT32_MAX;
    options->to.max_stack = 8;
    options->to.skip = 3;
}

static const struct tool_option report_rows[] = {
    ROWS_SHARED,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 't', "threads", NULL, "a line a thread", FIELD(threads) },
    { TOOL_FLAG, 'c', "combine-locks", NULL, "locks of a name in one line", FIELD(combine) },
    ROWS_TABLE("acquired, contended, avg_wait, wait_total, wait_max, wait_min"),
    { 0 },
};

static const struct tool_verb report = {
    .name = "lock report",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "A line a lock: how often it was acquired after a wait, and how long that took.",
    .options = report_rows,
    .options_size = sizeof(struct lock_options),
    .defaults = set_defaults,
    .view = PERFDATA_LOCK_REPORT,
    .view_at = FIELD(to.view),
    .run = run_view,
    .flags = TOOL_VERB_PERF,
};

static const struct tool_option info_rows[] = {
    ROWS_SHARED,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 't', "threads", NULL, "the threads that waited", FIELD(threads) },
    { TOOL_FLAG, 'm', "map", NULL, "the addresses of the locks, and who waited first", FIELD(map) },
    { 0 },
};

static enum tool_exit run_info(struct tool *tool, void *data, int argc, char **argv)
{
    const struct lock_options *options = data;
    if (!options->threads && !options->map)
        return tool_exit_as(tool, tool_usage(tool, "Unknown type of information"), 255);
    return run_view(tool, data, argc, argv);
}

static const struct tool_verb info = {
    .name = "lock info",
    .synopsis = "-m|-t [OPTIONS] [FILE]",
    .description = "Lists the threads that waited, or the locks.",
    .options = info_rows,
    .options_size = sizeof(struct lock_options),
    .defaults = set_defaults,
    .view = PERFDATA_LOCK_INFO,
    .view_at = FIELD(to.view),
    .run = run_info,
    .flags = TOOL_VERB_PERF,
};

static const struct tool_option contention_rows[] = {
    ROWS_SHARED,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 't', "threads", NULL, "a line a thread", FIELD(threads) },
    ROWS_TABLE("contended, avg_wait, wait_total, wait_max, wait_min"),
    { TOOL_UINT, 0, "max-stack", "N", "frames that are looked at (8)", FIELD(to.max_stack) },
    { TOOL_UINT, 0, "stack-skip", "N", "of them the first ones that are no callers (3)",
      FIELD(to.skip) },
    { TOOL_GROUP,
      .help = "Which waits (called as perf: all, since perf looks at none of a recording)" },
    { TOOL_STRING, 'p', "pid", "PID[,...]", "of these processes", FIELD(to.pids) },
    { TOOL_STRING, 0, "tid", "TID[,...]", "of these threads", FIELD(to.tids) },
    { TOOL_STRING, 'C', "cpu", "CPUS", "on these CPUs", FIELD(to.cpus) },
    { TOOL_FLAG, 'a', "all-cpus", NULL, "all CPUs that were recorded, as without it",
      FIELD(all_cpus) },
    { 0 },
};

static const struct tool_verb contention = {
    .name = "lock contention",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "A line a place that waited for a lock: how often and how long.",
    .options = contention_rows,
    .options_size = sizeof(struct lock_options),
    .defaults = set_defaults,
    .view = PERFDATA_LOCK_CONTENTION,
    .view_at = FIELD(to.view),
    .run = run_view,
    .flags = TOOL_VERB_PERF,
};

static const struct tool_option lock_rows[] = { ROWS_SHARED, { 0 } };
static const struct tool_verb *const views[] = { &report, &info, &contention, NULL };

static enum tool_exit run_lock(struct tool *tool, void *data, int argc, char **argv)
{
    if (argc && !strcmp(argv[0], "script")) {
        tool->verb = "script";
        return tool_verb_run(tool, &tool_verb_script, argc, argv);
    }
    if (argc && !strncmp(argv[0], "rec", 3))
        return tool_usage(tool, "record -e 'lock:contention*' -g records what its views need");
    return tool_run_sub(tool, &tool_verb_lock, data, argc, argv);
}

const struct tool_verb tool_verb_lock = {
    .name = "lock",
    .synopsis = "[OPTIONS] report|info|contention|script [OPTIONS] [FILE]",
    .description = "Shows which of the kernel's locks were waited for, from the tracepoints "
                   "lock:contention_begin and\ncontention_end of a recording, on standard error as "
                   "with perf. script is the verb script.",
    .examples = { "lock contention -i perf.data", "where the kernel waited longest",
                  "lock contention -t perf.data", "which threads waited" },
    .options = lock_rows,
    .options_size = sizeof(struct lock_options),
    .run = run_lock,
    .flags = TOOL_VERB_PERF | TOOL_VERB_STOP,
    .subs = views,
};
