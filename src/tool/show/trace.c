/* SPDX-License-Identifier: MIT */
/* trace: a line a system call. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <math.h>
#include <perfdata/config.h>
#include <perfdata/recorder.h>
#include <perfdata/syscalls.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_options {
    int summary_only, summary, errnos, failures, full_time, comm, runtime, samples, all_cpus,
        sorted;
    uint64_t duration, max_events;
    const char *pids, *tids, *calls, *output, *cpus, *without_pids, *user;
    struct perfdata_event_switch between;
    struct perfdata_symbol_search search;
    unsigned max_stack, min_stack;
};
#define FIELD(name) offsetof(struct trace_options, name)

static enum tool_exit parse_duration(struct tool *tool, void *data, const char *value, bool unset)
{
    struct trace_options *options = data;
    char *end = NULL;
    double ms = unset ? 0 : strtod(value, &end);
    if (!unset && (end == value || *end || !(ms >= 0 && ms < 1e12)))
        return tool_usage(tool, "option --duration needs milliseconds, not '%s'", value);
    options->duration = (uint64_t)ceil(ms * 1e6);
    return TOOL_DONE;
}

/* ---- what is about recording ----
 * perf reads it, checks it and does nothing with it where it reads a recording. */

static enum tool_exit only_as_perf(struct tool *tool, const char *name)
{
    return tool->as_perf ? TOOL_DONE
                         : tool_usage(tool,
                                      "option --%s is about recording: what was recorded stays "
                                      "as it is",
                                      name);
}

static bool is_number(const char *text, bool negative)
{
    char *end;
    strtol(text, &end, 10);
    return end != text && !*end && (negative || *text != '-');
}

static enum tool_exit wrong(struct tool *tool, const char *name, const char *value)
{
    return tool_usage(tool, "option --%s does not take '%s'", name, value);
}

static enum tool_exit parse_delay(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)data;
    return unset || is_number(value, true) ? only_as_perf(tool, "delay")
                                           : wrong(tool, "delay", value);
}

static enum tool_exit parse_timeout(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)data;
    return unset || is_number(value, false) ? only_as_perf(tool, "proc-map-timeout")
                                            : wrong(tool, "proc-map-timeout", value);
}

static enum tool_exit parse_faults(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)data;
    return unset || !strcmp(value, "all") || !strcmp(value, "maj") || !strcmp(value, "min")
               ? only_as_perf(tool, "pf")
               : wrong(tool, "pf", value);
}

/* A number of pages, or a size with its unit. */
static enum tool_exit parse_pages(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)data;
    size_t digits = unset ? 0 : strspn(value, "0123456789");
    bool good = unset || (digits && (!value[digits] ||
                                     (strchr("BKMG", value[digits]) && !value[digits + 1])));
    return good ? only_as_perf(tool, "mmap-pages") : wrong(tool, "mmap-pages", value);
}

static enum tool_exit parse_user(struct tool *tool, void *data, const char *value, bool unset)
{
    enum { NO_SUCH_NUMBER = 251, NO_SUCH_NAME = 250 };
    struct trace_options *options = data;
    options->user = unset || !*value ? NULL : value;
    if (!options->user || getpwnam(value) ||
        (is_number(value, true) && getpwuid((uid_t)strtoul(value, NULL, 10))))
        return only_as_perf(tool, "uid");
    return tool_exit_as(tool, wrong(tool, "uid", value),
                        is_number(value, true) ? NO_SUCH_NUMBER : NO_SUCH_NAME);
}

/* Two ways to say what to record. perf goes no further, even where it reads a recording; each pair
 * has an exit code of its own. */
static enum tool_exit check_targets(struct tool *tool, const struct trace_options *options)
{
    const bool threads = options->pids || options->tids;
    const struct {
        bool both;
        int code;
        const char *text;
    } pairs[] = {
        { threads && options->cpus, 240, "-p and -t do not go with -C" },
        { threads && options->user, 241, "-p and -t do not go with -u" },
        { options->user && options->cpus, 242, "-u does not go with -C" },
        { threads && options->all_cpus, 243, "-p and -t do not go with -a" },
        { options->user && options->all_cpus, 244, "-u does not go with -a" },
    };
    for (size_t i = 0; tool->as_perf && i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].both)
            return tool_exit_as(tool, tool_usage(tool, "%s", pairs[i].text), pairs[i].code);
    return TOOL_DONE;
}

static enum tool_exit parse_chains(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)data;
    size_t length = unset ? 0 : strcspn(value, ",");
    bool is_dwarf = length == 5 && !strncmp(value, "dwarf", length);
    bool good = unset || (length == 2 && !strncmp(value, "fp", length)) || !strcmp(value, "lbr") ||
                (is_dwarf && (!value[length] || is_number(value + length + 1, false)));
    return good ? only_as_perf(tool, "call-graph") : wrong(tool, "call-graph", value);
}

#define PARSE_FLAG(function, name)                                                                 \
    static enum tool_exit function(struct tool *tool, void *data, const char *value, bool unset)   \
    {                                                                                              \
        (void)data, (void)value, (void)unset;                                                      \
        return only_as_perf(tool, name);                                                           \
    }
PARSE_FLAG(parse_graph, "kernel-syscall-graph")
PARSE_FLAG(parse_inherit, "no-inherit")
PARSE_FLAG(parse_statistics, "tool_stats")
PARSE_FLAG(parse_events, "libtraceevent_print")
PARSE_FLAG(parse_calls, "syscalls")

static const struct tool_option trace_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_READING,
    TOOL_ROW_VERBOSE,
    TOOL_ROWS_SYMBOLS(search.),
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 's', "summary", NULL, "nothing but what each thread's calls took",
      FIELD(summary_only) },
    { TOOL_FLAG, 'S', "with-summary", NULL, "that below the lines", FIELD(summary) },
    { TOOL_FLAG, 0, "errno-summary", NULL,
      "in it how often each error came; without -S the same as with -s", FIELD(errnos) },
    { TOOL_FLAG, 'T', "time", NULL, "times as recorded, not since the first event",
      FIELD(full_time) },
    { TOOL_FLAG, 0, "comm", NULL, "names of threads beside their ids (on)", FIELD(comm) },
    { TOOL_FLAG, 0, "sched", NULL,
      "in it how long threads ran, by sched:sched_stat_runtime; perf has 0 of a recording",
      FIELD(runtime) },
    { TOOL_UINT, 0, "max-stack", "N", "frames shown at most of a call chain", FIELD(max_stack) },
    { TOOL_STRING, 'o', "output", "FILE", "there, not on standard error", FIELD(output) },
    { TOOL_FLAG, 0, "print-sample", NULL, "in front of lines the samples that they are from",
      FIELD(samples) },
    { TOOL_FLAG, 0, "sort-events", NULL, "by time, as they are in any case", FIELD(sorted) },
    { TOOL_GROUP, .help = "Which calls" },
    { TOOL_STRING, 'p', "pid", "PID[,...]", "of these processes", FIELD(pids) },
    { TOOL_STRING, 't', "tid", "TID[,...]", "of these threads", FIELD(tids) },
    { TOOL_STRING, 'e', "event", "CALL[,...]",
      "of these names, open* too; !CALL,...: all others; called as perf: all, since perf looks at "
      "none "
      "of a recording",
      FIELD(calls) },
    { TOOL_STRING, 0, "expr", "CALL[,...]", "the same", FIELD(calls) },
    { TOOL_STRING, 'C', "cpu", "CPUS",
      "on these CPUs; called as perf: all, since perf looks at none of a recording", FIELD(cpus) },
    { TOOL_FLAG, 'a', "all-cpus", NULL, "all CPUs that were recorded, as without it",
      FIELD(all_cpus) },
    { TOOL_STRING, 0, "filter-pids", "PID[,...]",
      "not of these processes and threads; called as perf: all, since the kernel filters while it "
      "records",
      FIELD(without_pids) },
    TOOL_ROWS_SWITCH,
    { TOOL_UINT, 0, "min-stack", "N", "with so many frames at least", FIELD(min_stack) },
    { TOOL_FLAG, 0, "failure", NULL, "failed calls only", FIELD(failures) },
    { TOOL_CALLBACK, 0, "duration", "MS", "calls that lasted as long only",
      .parse = parse_duration },
    { TOOL_U64, 0, "max-events", "N",
      "lines at most; called as perf: all, since perf counts none of a recording",
      FIELD(max_events) },
    { TOOL_GROUP,
      .help = "Of recording: called as perf these are checked and change nothing, as with perf" },
    { TOOL_CALLBACK, 'D', "delay", "MS", "begin later", .parse = parse_delay },
    { TOOL_CALLBACK, 'F', "pf", "all|maj|min", "page faults too", .flags = TOOL_LAST,
      .implied = "all", .parse = parse_faults },
    { TOOL_CALLBACK, 'm', "mmap-pages", "PAGES", "size of the kernel's buffers",
      .parse = parse_pages },
    { TOOL_CALLBACK, 'u', "uid", "USER", "the processes of a user", .parse = parse_user },
    { TOOL_CALLBACK, 0, "call-graph", "KIND", "call chains: fp, dwarf[,BYTES], lbr",
      .parse = parse_chains },
    { TOOL_CALLBACK, 0, "kernel-syscall-graph", NULL, "the kernel's part of call chains",
      .flags = TOOL_NO_VALUE, .parse = parse_graph },
    { TOOL_CALLBACK, 0, "no-inherit", NULL, "not the children of a process", .flags = TOOL_NO_VALUE,
      .parse = parse_inherit },
    { TOOL_CALLBACK, 0, "proc-map-timeout", "MS", "time for reading a process's maps",
      .parse = parse_timeout },
    { TOOL_CALLBACK, 0, "syscalls", NULL, "system calls", .flags = TOOL_NO_VALUE,
      .parse = parse_calls },
    { TOOL_CALLBACK, 0, "libtraceevent_print", NULL, "other events by their own print format",
      .flags = TOOL_NO_VALUE, .parse = parse_events },
    { TOOL_CALLBACK, 0, "tool_stats", NULL, "counts of what was done for each call",
      .flags = TOOL_NO_VALUE, .parse = parse_statistics },
    { 0 },
};

/* ---- trace.add_events ----
 * Events that perf records beside the system calls. It parses them even where it reads a recording,
 * and goes no further when they are wrong. */

static int take_added(void *data, const char *key, const char *value)
{
    char **added = data;
    if (strcmp(key, "trace.add_events") != 0)
        return 0;
    free(*added);
    *added = strdup(value);
    return *added ? 0 : PERFDATA_ERROR_MEMORY;
}

/* Tells in perf's words what is wrong with the events. Under our own name that is no reason to
 * stop, since a recording is read without them. */
static enum tool_exit tell_added(struct tool *tool, const char *text)
{
    char line[1024];
    snprintf(line, sizeof line, "%s\n", text);
    tool_on_issue(tool, &(struct perfdata_issue){ .struct_size = sizeof(struct perfdata_issue),
                                                  .kind = PERFDATA_ISSUE_CONFIG,
                                                  .offset = -1,
                                                  .text = line,
                                                  .perf_text = line });
    return tool->as_perf ? tool_exit_as(tool, TOOL_NOTHING, 1) : tool_settings_strict(tool);
}

static enum tool_exit check_added(struct tool *tool)
{
    const struct perfdata_recorder_options options = { .struct_size = sizeof options };
    perfdata_recorder *recorder = NULL;
    char *added = NULL;
    int status = perfdata_settings(getenv("PERF_CONFIG"), getenv("HOME"), take_added, &added);
    enum tool_exit code = TOOL_DONE;
    if (status == PERFDATA_OK && added) {
        status = perfdata_recorder_open(&options, &recorder);
        if (status == PERFDATA_OK)
            status = perfdata_recorder_add_events(recorder, added);
    }
    const char *text = recorder ? perfdata_recorder_error(recorder) : "";
    if (status == PERFDATA_ERROR_ARGUMENT)
        code = tell_added(tool, text);
    else if (status < 0)
        code = tool_failure(tool, (perfdata_status)status, NULL, text);
    perfdata_recorder_close(recorder);
    free(added);
    return code;
}

static void set_defaults(void *data)
{
    ((struct trace_options *)data)->comm = 1;
}

static enum tool_exit run_trace(struct tool *tool, void *data, int argc, char **argv)
{
    const struct trace_options *from = data;
    const struct tool_flag rows[] = {
        { from->summary_only || (from->errnos && !from->summary), PERFDATA_SYSCALLS_SUMMARY_ONLY },
        { from->summary, PERFDATA_SYSCALLS_SUMMARY },
        { from->errnos, PERFDATA_SYSCALLS_ERRNO_SUMMARY },
        { from->failures, PERFDATA_SYSCALLS_FAILURES },
        { from->full_time, PERFDATA_SYSCALLS_FULL_TIME },
        { !from->comm, PERFDATA_SYSCALLS_NO_COMM },
        { from->runtime, PERFDATA_SYSCALLS_RUNTIME },
        { from->samples, PERFDATA_SYSCALLS_SAMPLES },
    };
    struct perfdata_syscalls_options options = { .struct_size = sizeof options,
                                                 .flags = tool_flags(rows, TOOL_LENGTH(rows)),
                                                 .duration = from->duration,
                                                 .max_events = tool->as_perf ? 0 : from->max_events,
                                                 .pids = from->pids,
                                                 .tids = from->tids,
                                                 .calls = tool->as_perf ? NULL : from->calls,
                                                 .cpus = tool->as_perf ? NULL : from->cpus,
                                                 .without_pids = tool->as_perf ? NULL
                                                                               : from->without_pids,
                                                 .output = from->output,
                                                 .event_switch = from->between,
                                                 .max_stack = from->max_stack,
                                                 .min_stack = from->min_stack,
                                                 .search = from->search,
                                                 .perf_config = getenv("PERF_CONFIG") };
    options.search = tool_search(tool, options.search);
    enum tool_exit code = check_added(tool);
    if (code == TOOL_DONE)
        code = check_targets(tool, from);
    if (code != TOOL_DONE)
        return code;
    if (!tool->input && (!argc || tool->as_perf))
        return tool_usage(tool, "tracing what runs is not about recordings: use perf; -i FILE "
                                "prints the system calls of a recording");
    perfdata_recording *recording;
    code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    return tool_close(tool, recording,
                      perfdata_syscalls_run(recording, &options, tool_write_error, tool));
}

const struct tool_verb tool_verb_trace = {
    .name = "trace",
    .synopsis = "[OPTIONS] -i FILE",
    .description =
        "Prints the system calls of a recording with raw_syscalls:sys_enter and sys_exit, a line "
        "a call, on\nstandard error as with perf: begin, duration, thread, arguments, result, call "
        "chain. Samples of\npage faults are lines as well: the code and the place that it looked "
        "for.",
    .examples = { "trace -i perf.data", "every system call", "trace -s -i perf.data",
                  "what the calls of each thread took" },
    .options = trace_rows,
    .options_size = sizeof(struct trace_options),
    .defaults = set_defaults,
    .run = run_trace,
    .flags = TOOL_VERB_PERF,
};
