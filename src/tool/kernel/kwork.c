/* SPDX-License-Identifier: MIT */
/* kwork: interrupts, soft interrupts and work queues. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/kwork.h>
#include <perfdata/report.h>
#include <stdlib.h>
#include <string.h>

struct kwork_options {
    struct perfdata_kwork_options to; /* its strings are the command line's */
    int summary, chains;
    bool dumps;
    bool behind_view; /* the options are those of a view, among which perf ignores -k */
};
#define FIELD(name) offsetof(struct kwork_options, name)

static enum tool_exit dump(struct tool *tool, perfdata_recording *recording)
{
    struct perfdata_report_options options = {
        .struct_size = sizeof options,
        .flags = PERFDATA_REPORT_DUMP | PERFDATA_REPORT_QUIET,
        .threads = tool->jobs,
        .search = tool_search(tool, (struct perfdata_symbol_search){ 0 }),
        .perf_config = getenv("PERF_CONFIG"),
    };
    perfdata_status status = perfdata_report_run(recording, &options, tool_write_text, tool, NULL);
    return status < 0 ? tool_recording_failure(tool, recording, status) : TOOL_DONE;
}

static enum tool_exit run_view(struct tool *tool, void *data, int argc, char **argv)
{
    const struct kwork_options *from = data;
    struct perfdata_kwork_options options = from->to;
    struct perfdata_kwork_result result = { .struct_size = sizeof result };
    options.struct_size = sizeof options;
    options.flags = (from->summary ? PERFDATA_KWORK_SUMMARY : 0) |
                    (from->chains ? PERFDATA_KWORK_CHAINS : 0);
    options.search = tool_search(tool, options.search);
    if (options.max_stack > 1024)
        return tool_usage(tool, "option --max-stack: at most 1024 frames");
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code == TOOL_DONE && from->dumps)
        code = dump(tool, recording);
    if (code != TOOL_DONE) {
        perfdata_recording_close(recording);
        return code;
    }
    perfdata_status status = perfdata_kwork_run(recording, &options, tool_write_text, tool,
                                                &result);
    return tool_close_run(tool, recording, status, result.perf_exit);
}

static enum tool_exit parse_kinds(struct tool *tool, void *data, const char *value, bool unset)
{
    struct kwork_options *options = data;
    if (options->behind_view && tool->as_perf)
        tool_error(tool, "-k behind the view is not read, as with perf: put it before");
    else
        options->to.kinds = unset ? NULL : value;
    return TOOL_DONE;
}

static enum tool_exit parse_dump(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)tool, (void)value;
    ((struct kwork_options *)data)->dumps = !unset;
    return TOOL_DONE;
}

#define ROWS_SHARED(letter)                                                                        \
    { TOOL_GROUP, .help = "Input" }, TOOL_ROW_INPUT, TOOL_ROWS_READING, TOOL_ROW_VERBOSE,          \
        { TOOL_GROUP, .help = "Which events" },                                                    \
        { TOOL_CALLBACK,       letter, "kwork", "KIND[,...]", "irq, softirq, workqueue (all)",     \
          .parse = parse_kinds },                                                                  \
    {                                                                                              \
        TOOL_CALLBACK, 'D', "dump-raw-trace", NULL, "every record as hex and text first",          \
            .flags = TOOL_NO_VALUE, .parse = parse_dump                                            \
    }
/* Without these options, works get their names from this machine's kernel. */
#define ROWS_KERNEL(letter, whose)                                                                 \
    { TOOL_GROUP, .help = "Symbols" },                                                             \
        { TOOL_STRING,                                                                             \
          0,                                                                                       \
          "symfs",                                                                                 \
          "DIR",                                                                                   \
          "root under which programs and libraries are looked up",                                 \
          FIELD(to.search.symfs),                                                                  \
          .flags = (whose) },                                                                      \
        { TOOL_STRING,                                                                             \
          letter,                                                                                  \
          "vmlinux",                                                                               \
          "FILE",                                                                                  \
          "kernel image with symbols",                                                             \
          FIELD(to.search.vmlinux),                                                                \
          .flags = (whose) },                                                                      \
    {                                                                                              \
        TOOL_STRING, 0, "kallsyms", "FILE", "file used in place of /proc/kallsyms",                \
            FIELD(to.search.kallsyms), .flags = (whose)                                            \
    }
#define ROWS_WHICH                                                                                 \
    { TOOL_STRING, 'C', "cpu", "CPUS", "of these CPUs only", FIELD(to.cpus) },                     \
        { TOOL_STRING, 'n', "name", "NAME", "this work only", FIELD(to.name) },                    \
    {                                                                                              \
        TOOL_STRING, 0, "time", "SPAN", "START,STOP in seconds; either may be missing",            \
            FIELD(to.time)                                                                         \
    }

static void view_defaults(void *data)
{
    ((struct kwork_options *)data)->behind_view = true;
}

static const struct tool_option report_rows[] = {
    ROWS_SHARED('k'),
    ROWS_WHICH,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 's', "sort", "KEY[,...]", "runtime, max, count; the largest first",
      FIELD(to.sort) },
    { TOOL_FLAG, 'S', "with-summary", NULL, "sums below the table", FIELD(summary) },
    ROWS_KERNEL(0, TOOL_OURS),
    { 0 },
};

static const struct tool_verb report = {
    .name = "kwork report",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "A line a work on a CPU: how often and how long it ran.",
    .options = report_rows,
    .options_size = sizeof(struct kwork_options),
    .defaults = view_defaults,
    .view = PERFDATA_KWORK_REPORT,
    .view_at = FIELD(to.view),
    .run = run_view,
    .flags = TOOL_VERB_PERF,
};

static const struct tool_option latency_rows[] = {
    ROWS_SHARED('k'),
    ROWS_WHICH,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 's', "sort", "KEY[,...]", "avg, max, count; the largest first", FIELD(to.sort) },
    ROWS_KERNEL(0, TOOL_OURS),
    { 0 },
};

static const struct tool_verb latency = {
    .name = "kwork latency",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "A line a work on a CPU: how long it waited between being raised and running.",
    .options = latency_rows,
    .options_size = sizeof(struct kwork_options),
    .defaults = view_defaults,
    .view = PERFDATA_KWORK_LATENCY,
    .view_at = FIELD(to.view),
    .run = run_view,
    .flags = TOOL_VERB_PERF,
};

static const struct tool_option timehist_rows[] = {
    ROWS_SHARED(0),
    ROWS_WHICH,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 'g', "call-graph", NULL, "the call chain behind each line", FIELD(chains) },
    { TOOL_UINT, 0, "max-stack", "N", "frames shown of a chain (5), and two more",
      FIELD(to.max_stack) },
    ROWS_KERNEL('k', 0),
    { 0 },
};

static void timehist_defaults(void *data)
{
    struct kwork_options *options = data;
    view_defaults(data);
    options->to.max_stack = 5;
}

static const struct tool_verb timehist = {
    .name = "kwork timehist",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "A line a run of a work: how long it ran, and how long it waited before.",
    .options = timehist_rows,
    .options_size = sizeof(struct kwork_options),
    .defaults = timehist_defaults,
    .view = PERFDATA_KWORK_TIMEHIST,
    .view_at = FIELD(to.view),
    .run = run_view,
    .flags = TOOL_VERB_PERF,
};

static const struct tool_option kwork_rows[] = { ROWS_SHARED('k'), { 0 } };
static const struct tool_verb *const views[] = { &report, &latency, &timehist, NULL };

static enum tool_exit run_kwork(struct tool *tool, void *data, int argc, char **argv)
{
    if (argc && !strncmp(argv[0], "rec", 3))
        return tool_usage(tool, "record -a -e 'irq:*,workqueue:*' records what its views need");
    return tool_run_sub(tool, &tool_verb_kwork, data, argc, argv);
}

const struct tool_verb tool_verb_kwork = {
    .name = "kwork",
    .synopsis = "[OPTIONS] report|latency|timehist [OPTIONS] [FILE]",
    .description = "Shows the kernel's works, interrupts, soft interrupts and work queues, from "
                   "the tracepoints irq:irq_handler_*,\nirq:softirq_* and workqueue:* of a "
                   "recording.",
    .examples = { "kwork report -i perf.data", "which works took the most time",
                  "kwork -k softirq latency perf.data", "how long soft interrupts waited" },
    .options = kwork_rows,
    .options_size = sizeof(struct kwork_options),
    .run = run_kwork,
    .flags = TOOL_VERB_PERF | TOOL_VERB_STOP,
    .subs = views,
};
