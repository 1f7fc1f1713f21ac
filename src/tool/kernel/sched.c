/* SPDX-License-Identifier: MIT */
/* sched: what the scheduler did. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sched_options {
    struct perfdata_sched_options to; /* its strings are the command line's */
    int each, compact, summary_only, summary, wakeups, migrations, next, visual, idle, state;
    int chain, one_cpu;
    const char *symfs, *kallsyms, *vmlinux;
    unsigned max_stack;
};
#define FIELD(name) offsetof(struct sched_options, name)

static enum tool_exit run_view(struct tool *tool, void *data, int argc, char **argv)
{
    const struct sched_options *from = data;
    const struct tool_flag rows[] = {
        { from->each, PERFDATA_SCHED_EACH_TASK },
        { from->one_cpu, PERFDATA_SCHED_ONE_CPU },
        { from->compact, PERFDATA_SCHED_COMPACT },
        { tool->verbose, PERFDATA_SCHED_VERBOSE },
        { from->summary_only, PERFDATA_SCHED_SUMMARY_ONLY },
        { from->summary, PERFDATA_SCHED_SUMMARY },
        { from->wakeups, PERFDATA_SCHED_WAKEUPS },
        { from->migrations, PERFDATA_SCHED_MIGRATIONS },
        { from->next, PERFDATA_SCHED_NEXT },
        { from->visual, PERFDATA_SCHED_CPU_VISUAL },
        { from->idle, PERFDATA_SCHED_IDLE },
        { from->state, PERFDATA_SCHED_STATE },
        { !from->chain, PERFDATA_SCHED_NO_CHAIN },
    };
    struct perfdata_sched_options options = from->to;
    options.struct_size = sizeof options;
    options.flags = tool_flags(rows, TOOL_LENGTH(rows));
    options.max_stack = from->max_stack;
    options.search = tool_search(tool, (struct perfdata_symbol_search){ .symfs = from->symfs,
                                                                        .kallsyms = from->kallsyms,
                                                                        .vmlinux = from->vmlinux });
    struct perfdata_sched_result result = { .struct_size = sizeof result };
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_sched_run(recording, &options, tool_write_text, tool,
                                                &result);
    if (result.lacks_chains)
        fprintf(stderr, "Samples do not have callchains.\n");
    return tool_close_run(tool, recording, status, result.perf_exit);
}

#define ROWS_SHARED                                                                                \
    { TOOL_GROUP, .help = "Input" }, TOOL_ROW_INPUT, TOOL_ROWS_READING, TOOL_ROW_VERBOSE

/* ---- latency ---- */

/* perf ignores which CPU it is: only that one was given counts. */
static enum tool_exit parse_one_cpu(struct tool *tool, void *data, const char *value, bool unset)
{
    char *end;
    if (!unset && (strtol(value, &end, 10) < 0 || end == value || *end))
        return tool_usage(tool, "option --CPU needs the number of a CPU, not '%s'", value);
    ((struct sched_options *)data)->one_cpu = !unset;
    return TOOL_DONE;
}

static const struct tool_option latency_rows[] = {
    ROWS_SHARED,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 's', "sort", "KEY[,...]", "avg, max, switch, runtime, pid; the largest first",
      FIELD(to.sort) },
    { TOOL_FLAG, 'p', "pids", NULL, "a line a task; tasks of one name are not added up",
      FIELD(each) },
    { TOOL_CALLBACK, 'C', "CPU", "N",
      "as in perf: only this CPU was recorded, so wakeups and moves count that otherwise do not",
      .parse = parse_one_cpu },
    { 0 },
};

static const struct tool_verb latency = {
    .name = "sched latency",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "A line a task: how long it ran, and how long it waited for a CPU.",
    .options = latency_rows,
    .options_size = sizeof(struct sched_options),
    .view = PERFDATA_SCHED_LATENCY,
    .view_at = FIELD(to.view),
    .run = run_view,
    .flags = TOOL_VERB_PERF,
};

/* ---- map ---- */

static const struct tool_option map_rows[] = {
    ROWS_SHARED,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 0, "compact", NULL, "no column for CPUs that did nothing yet", FIELD(compact) },
    { TOOL_STRING, 0, "cpus", "CPUS", "columns of these only", FIELD(to.cpus) },
    { 0 },
};

static const struct tool_verb map = {
    .name = "sched map",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "A line a switch: what each CPU runs.",
    .options = map_rows,
    .options_size = sizeof(struct sched_options),
    .view = PERFDATA_SCHED_MAP,
    .view_at = FIELD(to.view),
    .run = run_view,
    .flags = TOOL_VERB_PERF,
};

/* ---- timehist ---- */

static const struct tool_option timehist_rows[] = {
    ROWS_SHARED,
    { TOOL_STRING, 0, "symfs", "DIR", "root under which programs and libraries are looked up",
      FIELD(symfs) },
    { TOOL_STRING, 'k', "vmlinux", "FILE", "kernel image with symbols", FIELD(vmlinux) },
    { TOOL_STRING, 0, "kallsyms", "FILE", "file used in place of /proc/kallsyms", FIELD(kallsyms) },
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 'g', "call-graph", NULL, "the call chain behind each line (on)", FIELD(chain) },
    { TOOL_UINT, 0, "max-stack", "N", "frames shown of a chain (5)", FIELD(max_stack) },
    { TOOL_FLAG, 's', "summary", NULL, "nothing but the summary", FIELD(summary_only) },
    { TOOL_FLAG, 'S', "with-summary", NULL, "the summary below the lines", FIELD(summary) },
    { TOOL_FLAG, 'w', "wakeups", NULL, "lines of wakeups, too", FIELD(wakeups) },
    { TOOL_FLAG, 'M', "migrations", NULL, "lines of migrations, too", FIELD(migrations) },
    { TOOL_FLAG, 'n', "next", NULL, "the task that runs next", FIELD(next) },
    { TOOL_FLAG, 'V', "cpu-visual", NULL, "a column a CPU", FIELD(visual) },
    { TOOL_FLAG, 'I', "idle-hist", NULL, "idle CPUs only", FIELD(idle) },
    { TOOL_FLAG, 0, "state", NULL, "the state in which the task left; in the summary its waits",
      FIELD(state) },
    { TOOL_GROUP, .help = "Which events" },
    { TOOL_STRING, 'C', "cpu", "CPUS", "switches of these CPUs only", FIELD(to.cpus) },
    { TOOL_STRING, 'p', "pid", "PID[,...]", "these processes only", FIELD(to.pids) },
    { TOOL_STRING, 't', "tid", "TID[,...]", "these threads only", FIELD(to.tids) },
    { TOOL_STRING, 0, "time", "SPAN", "START,STOP in seconds; either may be missing",
      FIELD(to.time) },
    { 0 },
};

static void timehist_defaults(void *data)
{
    struct sched_options *options = data;
    options->max_stack = 5;
    options->chain = 1;
}

static enum tool_exit run_timehist(struct tool *tool, void *data, int argc, char **argv)
{
    const struct sched_options *options = data;
    if (options->summary_only && (options->next || options->wakeups))
        return tool_exit_as(tool, tool_usage(tool, "Error: -s and -[n|w] are mutually exclusive."),
                            234);
    if (options->max_stack > 1024)
        return tool_usage(tool, "option --max-stack: at most 1024 frames");
    return run_view(tool, data, argc, argv);
}

static const struct tool_verb timehist = {
    .name = "sched timehist",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "A line a switch: how long the task that leaves the CPU slept, waited and ran.",
    .options = timehist_rows,
    .options_size = sizeof(struct sched_options),
    .defaults = timehist_defaults,
    .view = PERFDATA_SCHED_TIMEHIST,
    .view_at = FIELD(to.view),
    .run = run_timehist,
    .flags = TOOL_VERB_PERF,
};

/* ---- the verb ---- */

static const struct tool_option sched_rows[] = {
    ROWS_SHARED,
    { 0 },
};

static const struct tool_verb *const views[] = { &latency, &map, &timehist, NULL };

static enum tool_exit run_sched(struct tool *tool, void *data, int argc, char **argv)
{
    if (argc && !strcmp(argv[0], "script")) {
        tool->verb = "script";
        return tool_verb_run(tool, &tool_verb_script, argc, argv);
    }
    if (argc && !strcmp(argv[0], "replay"))
        return tool_usage(tool, "replay, which makes this machine as busy as the recorded one was, "
                                "is not about the recording; see timehist");
    if (argc && !strcmp(argv[0], "record"))
        return tool_usage(tool, "record -e 'sched:*' records what its views need");
    return tool_run_sub(tool, &tool_verb_sched, data, argc, argv);
}

const struct tool_verb tool_verb_sched = {
    .name = "sched",
    .synopsis = "[OPTIONS] latency|map|timehist|script [OPTIONS] [FILE]",
    .description =
        "Shows what the scheduler did, from the tracepoints sched:sched_switch, sched_wakeup or "
        "sched_waking,\nsched_wakeup_new, sched_stat_runtime and sched_migrate_task of a "
        "recording. script is the verb script.",
    .examples = { "sched latency -i perf.data", "who waited longest for a CPU",
                  "sched timehist -w -M perf.data", "every switch, wakeup and migration" },
    .options = sched_rows,
    .options_size = sizeof(struct sched_options),
    .run = run_sched,
    .flags = TOOL_VERB_PERF | TOOL_VERB_STOP,
    .subs = views,
};
