/* SPDX-License-Identifier: MIT */
/* timechart: what a machine did over time, as a picture. */
#include "tool/output.h"
#include "tool/verbs.h"
#include <perfdata/timechart.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES = 64 };

struct timechart_options {
    struct perfdata_timechart_options to; /* its strings are the command line's */
    const char *output, *symfs;
    const char *processes[PROCESSES];
    int power, tasks, topology, skip_again;
    int width, task_count;
};
#define FIELD(name) offsetof(struct timechart_options, name)

static enum tool_exit parse_process(struct tool *tool, void *data, const char *value, bool unset)
{
    struct timechart_options *options = data;
    if (unset) {
        options->to.process_count = 0;
        return TOOL_DONE;
    }
    if (options->to.process_count == PROCESSES)
        return tool_usage(tool, "option --process: at most %d of them", PROCESSES);
    options->processes[options->to.process_count++] = value;
    return TOOL_DONE;
}

/* A number is a time in ns, all else a task's name. */
static enum tool_exit parse_highlight(struct tool *tool, void *data, const char *value, bool unset)
{
    struct timechart_options *options = data;
    char *end = NULL;
    (void)tool;
    unsigned long long time = unset ? 0 : strtoull(value, &end, 0);
    bool is_time = end && end != value && !*end && time;
    options->to.highlight_time = is_time ? time : 0;
    options->to.highlight_name = unset || is_time ? NULL : value;
    options->to.flags &= ~(uint64_t)PERFDATA_TIMECHART_HIGHLIGHT_TIME;
    if (is_time)
        options->to.flags |= PERFDATA_TIMECHART_HIGHLIGHT_TIME;
    return TOOL_DONE;
}

/* "20", "20ns", "20us", "20ms". */
static enum tool_exit parse_time(struct tool *tool, const char *option, const char *value,
                                 uint64_t *time)
{
    char *end;
    unsigned long long number = strtoull(value, &end, 10);
    unsigned long long unit = !strcmp(end, "ms") ? 1000000 : !strcmp(end, "us") ? 1000 : 1;
    bool known = !*end || !strcmp(end, "ns") || unit > 1;
    if (end == value || *value == '-' || !known || number > UINT64_MAX / unit)
        return tool_usage(tool, "option --%s needs a time as 20ms, 20us or 20 (ns), not '%s'",
                          option, value);
    *time = number * unit;
    return TOOL_DONE;
}

static enum tool_exit parse_min_time(struct tool *tool, void *data, const char *value, bool unset)
{
    struct timechart_options *options = data;
    return parse_time(tool, "io-min-time", unset ? "0" : value, &options->to.io_min_time);
}

static enum tool_exit parse_merge_distance(struct tool *tool, void *data, const char *value,
                                           bool unset)
{
    struct timechart_options *options = data;
    return parse_time(tool, "io-merge-dist", unset ? "0" : value, &options->to.io_merge_distance);
}

static const struct tool_option timechart_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_READING,
    TOOL_ROW_VERBOSE,
    { TOOL_STRING, 0, "symfs", "DIR",
      "as in perf: changes nothing, for the picture shows addresses without names", FIELD(symfs) },
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 'o', "output", "FILE",
      "where to write, output.svg if not given; - is standard output", FIELD(output) },
    { TOOL_INT, 'w', "width", "N", "of the picture, in pixels (1000)", FIELD(width) },
    { TOOL_CALLBACK, 0, "highlight", "TIME|NAME",
      "mark spans of running that took longer (in ns), or the tasks of this name",
      .parse = parse_highlight },
    { TOOL_FLAG, 't', "topology", NULL, "CPUs that share a core stand together", FIELD(topology) },
    { TOOL_GROUP, .help = "What is drawn" },
    { TOOL_FLAG, 'P', "power-only", NULL, "CPUs, no tasks", FIELD(power) },
    { TOOL_FLAG, 'T', "tasks-only", NULL, "no states of processors", FIELD(tasks) },
    { TOOL_CALLBACK, 'p', "process", "PID|NAME", "these tasks only; may be given again",
      .parse = parse_process },
    { TOOL_INT, 'n', "proc-num", "N", "so many tasks at least, where there are (15)",
      FIELD(task_count) },
    { TOOL_GROUP, .help = "System calls" },
    { TOOL_FLAG, 0, "io-skip-eagain", NULL, "none that failed with EAGAIN", FIELD(skip_again) },
    { TOOL_CALLBACK, 0, "io-min-time", "TIME",
      "shorter ones are drawn as if they took so long (1ms)", .parse = parse_min_time },
    { TOOL_CALLBACK, 0, "io-merge-dist", "TIME",
      "those of one kind and file that are so near are one (1us)", .parse = parse_merge_distance },
    { 0 },
};

static void timechart_defaults(void *data)
{
    struct timechart_options *options = data;
    options->width = 1000;
    options->task_count = 15;
    options->to.io_min_time = 1000000;
    options->to.io_merge_distance = 1000;
}

static enum tool_exit run_timechart(struct tool *tool, void *data, int argc, char **argv)
{
    struct timechart_options *from = data;
    const struct tool_flag rows[] = {
        { from->power, PERFDATA_TIMECHART_POWER_ONLY },
        { from->tasks, PERFDATA_TIMECHART_TASKS_ONLY },
        { from->topology, PERFDATA_TIMECHART_TOPOLOGY },
        { from->skip_again, PERFDATA_TIMECHART_SKIP_EAGAIN },
    };
    if (argc && !strcmp(argv[0], "record"))
        return tool_usage(tool, "record -e 'sched:sched_switch,sched:sched_wakeup,power:*' records "
                                "what it needs");
    if (from->power && from->tasks)
        return tool_usage(tool, "-P and -T options cannot be used at the same time.");
    if (from->width < 1 || from->task_count < 0)
        return tool_usage(tool, "options --width and --proc-num need numbers above 0");
    struct perfdata_timechart_options options = from->to;
    options.struct_size = sizeof options;
    options.flags |= tool_flags(rows, TOOL_LENGTH(rows));
    options.width = (uint32_t)from->width;
    options.task_count = (uint32_t)from->task_count;
    options.processes = from->processes;
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    const char *path = from->output ? from->output : "output.svg";
    struct perfdata_timechart_result result = { .struct_size = sizeof result };
    perfdata_status status = perfdata_timechart_file(recording, &options, path, &result);
    tool_tell_warnings(tool);
    if (status >= 0)
        fprintf(stderr, "Written %2.1f seconds of trace to %s.\n",
                (double)(result.last - result.first) / 1e9, path);
    return tool_close_run(tool, recording, status, result.perf_exit);
}

const struct tool_verb tool_verb_timechart = {
    .name = "timechart",
    .synopsis = "[OPTIONS] [FILE] [-o OUT]",
    .description =
        "Draws what a machine did over time, as SVG: what ran on each CPU, which tasks waited for "
        "one or for a\ndisk, who was woken, and how deep processors slept, from the tracepoints "
        "sched:sched_switch,\nsched_wakeup, power:cpu_idle and cpu_frequency of a recording. Where "
        "system calls were recorded that\nread, write, sync or wait (`perf timechart record -I`), "
        "the picture is of these, by task.",
    .examples = { "timechart -i perf.data -o chart.svg", "the tasks that ran most",
                  "timechart -p make --highlight 10000000 perf.data",
                  "the tasks called make; what ran for more than 10 ms is marked" },
    .options = timechart_rows,
    .options_size = sizeof(struct timechart_options),
    .defaults = timechart_defaults,
    .run = run_timechart,
    .flags = TOOL_VERB_PERF | TOOL_VERB_WRITES,
};
