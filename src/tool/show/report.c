/* SPDX-License-Identifier: MIT */
/* report: samples counted by sort keys. */
#include "tool/input.h"
#include "tool/options.h"
#include "tool/tui/tui.h"
#include "tool/verbs.h"
#include <perfdata/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct report_options {
    int latency, json, stdio, tui, stitch, borrowed_chains, children, inverted, samples,
        total_period, cpu_utilization, quiet, hide_unresolved, exclude_other;
    int branch_stack, branch_history, mem_mode, total_cycles, full_source_path, hierarchy, verbose;
    int group, skip_empty, demangle, demangle_kernel, inlined, ignore_vmlinux, ns, relative;
    int header, header_only, info, stats, tasks, mmaps, dump, no_call_graph, raw_trace;
    int file_order, modules, source, asm_raw, thread_counts;
    const char *objdump, *style, *prefix, *prefix_strip, *pretty;
    const char *sort, *fields, *call_graph, *percent_limit, *separator, *widths, *parent,
        *ignore_callees;
    const char *comms, *pids, *tids, *cpus, *dsos, *symbols, *symbol_filter, *time, *quantum;
    const char *symfs, *kallsyms, *vmlinux, *jitdump;
    struct perfdata_event_switch between;
    const char *socket;
    unsigned max_stack;
    int group_sort;
};

#define FIELD(name) offsetof(struct report_options, name)

static enum tool_exit parse_call_graph(struct tool *tool, void *data, const char *value, bool unset)
{
    struct report_options *options = data;
    (void)tool;
    options->no_call_graph = unset;
    options->call_graph = unset ? NULL : value ? value : "";
    return TOOL_DONE;
}

static enum tool_exit parse_percentage(struct tool *tool, void *data, const char *value, bool unset)
{
    struct report_options *options = data;
    if (unset || strcmp(value, "relative") == 0)
        options->relative = !unset;
    else if (strcmp(value, "absolute") == 0)
        options->relative = 0;
    else
        return tool_usage(tool, "option --percentage takes relative or absolute, not '%s'", value);
    return TOOL_DONE;
}

/* --percent-type of annotated code: (local|global)-(period|hits), in either order. */
static enum tool_exit parse_percent_type(struct tool *tool, void *data, const char *value,
                                         bool unset)
{
    static const char *const types[] = { "local-period",  "local-hits",   "global-period",
                                         "global-hits",   "period-local", "hits-local",
                                         "period-global", "hits-global" };
    (void)data;
    for (size_t i = 0; !unset && i < TOOL_LENGTH(types); i++)
        if (!strcmp(value, types[i]))
            return TOOL_DONE;
    return unset ? TOOL_DONE
                 : tool_usage(tool,
                              "option --percent-type takes local or global with period or "
                              "hits, as local-period, not '%s'",
                              value);
}

/* Samples that are kept for browsing on a terminal. */
static enum tool_exit parse_samples(struct tool *tool, void *data, const char *value, bool unset)
{
    char *end = NULL;
    (void)data;
    if (unset)
        return TOOL_DONE;
    long number = strtol(value, &end, 10);
    return *end || number < 0 ? tool_usage(tool, "option --samples needs a number, not '%s'", value)
                              : TOOL_DONE;
}

static const struct tool_option report_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_SYMBOLS(),
    { TOOL_FLAG, 0, "ignore-vmlinux", NULL, "kernel image is never read", FIELD(ignore_vmlinux) },
    { TOOL_FLAG, 'm', "modules", NULL, "symbols of kernel modules (on)", FIELD(modules) },
    TOOL_ROWS_READING,
    TOOL_ROW_ITRACE,
    { TOOL_GROUP, .help = "Rows and columns" },
    { TOOL_FLAG, 0, "stdio", NULL, "plain text, also on a terminal", FIELD(stdio) },
    { TOOL_FLAG, 0, "tui", NULL, "the interactive report (on a terminal, unless --stdio is given)",
      FIELD(tui) },
    { TOOL_STRING, 's', "sort", "KEY[,...]",
      "sort keys, the columns that identify a row; + appends", FIELD(sort) },
    { TOOL_STRING, 'F', "fields", "KEY[,...]", "columns, in order", FIELD(fields) },
    { TOOL_FLAG, 0, "children", NULL,
      "a function's samples count for its callers too (on with chains)", FIELD(children) },
    { TOOL_FLAG, 0, "latency", NULL,
      "sort by each row's part of the time that passes, not of what processors work (recordings of "
      "record --switch-events)",
      FIELD(latency), .flags = TOOL_OURS },
    { TOOL_FLAG, 'n', "show-nr-samples", NULL, "column with the number of samples",
      FIELD(samples) },
    { TOOL_FLAG, 0, "show-total-period", NULL, "column with the period sum", FIELD(total_period) },
    { TOOL_FLAG, 0, "show-cpu-utilization", NULL, "columns sys and usr", FIELD(cpu_utilization) },
    { TOOL_FLAG, 0, "showcpuutilization", NULL, "the same", FIELD(cpu_utilization),
      .flags = TOOL_HIDDEN },
    { TOOL_STRING, 't', "field-separator", "TEXT", "between columns, without padding",
      FIELD(separator) },
    { TOOL_STRING, 'w', "column-widths", "N[,...]", "widths of the columns", FIELD(widths) },
    { TOOL_STRING, 0, "percent-limit", "PERCENT", "leave out rows below", FIELD(percent_limit) },
    { TOOL_CALLBACK, 0, "percentage", "HOW",
      "of what the filters leave: relative, or of all: absolute", .parse = parse_percentage },
    { TOOL_STRING, 'p', "parent", "REGEX", "functions for the column parent", FIELD(parent) },
    { TOOL_FLAG, 'x', "exclude-other", NULL, "with -p: only samples with such a parent",
      FIELD(exclude_other) },
    { TOOL_STRING, 0, "time-quantum", "TIME", "step of the sort key time, as 10ms",
      FIELD(quantum) },
    { TOOL_FLAG, 0, "raw-trace", NULL, "tracepoints' fields without the event's print format",
      FIELD(raw_trace) },
    { TOOL_CALLBACK, 0, "stdio-color", "MODE",
      "percentages in colours: always, never or auto (on a terminal); without MODE always",
      .flags = TOOL_LAST, .implied = "always", .parse = tool_parse_color },
    TOOL_ROW_COLOR,
    { TOOL_FLAG, 0, "hierarchy", NULL, "rows below rows, a level for each sort key",
      FIELD(hierarchy) },
    { TOOL_FLAG, 0, "full-source-path", NULL, "source files with their folders",
      FIELD(full_source_path) },
    { TOOL_FLAG, 0, "ns", NULL, "times with 9 decimals", FIELD(ns) },
    { TOOL_FLAG, 0, "group", NULL, "events side by side", FIELD(group) },
    { TOOL_INT, 0, "group-sort-idx", "N", "sort by the Nth event of groups, from 0",
      FIELD(group_sort) },
    { TOOL_FLAG, 'b', "branch-stack", NULL,
      "a row for each branch (on where they were recorded); --no-branch-stack: for each sample",
      FIELD(branch_stack) },
    { TOOL_FLAG, 0, "branch-history", NULL,
      "samples with the branches that led to them in front of their chains",
      FIELD(branch_history) },
    { TOOL_FLAG, 0, "total-cycles", NULL,
      "with branches: blocks of code by their cycles; refused so far where known functions have "
      "any",
      FIELD(total_cycles) },
    { TOOL_FLAG, 0, "mem-mode", NULL,
      "rows of memory accesses, by their weights; -s mem, tlb, snoop, symbol_daddr, dcacheline...",
      FIELD(mem_mode) },
    { TOOL_FLAG, 0, "skip-empty", NULL, "nothing for events without samples (on)",
      FIELD(skip_empty) },
    { TOOL_FLAG, 'T', "threads", NULL,
      "below the rows, counts of each thread (recordings of record -s)", FIELD(thread_counts) },
    { TOOL_STRING, 0, "pretty", "KEY", "of -T: normal, a row a thread, or raw, an entry a counter",
      FIELD(pretty) },
    { TOOL_FLAG, 'q', "quiet", NULL, "rows only", FIELD(quiet) },
    { TOOL_FLAG, 0, "json", NULL, "a JSON object a row, without chains", FIELD(json),
      .flags = TOOL_OURS },
    { TOOL_COUNT, 'v', "verbose", NULL,
      "addresses, where symbols are from, long names of objects, C++ parameters", FIELD(verbose) },
    { TOOL_GROUP, .help = "Call chains" },
    { TOOL_CALLBACK, 'g', "call-graph", "STYLE",
      "graph, fractal, flat, folded or none; then threshold, limit, caller or callee, function, "
      "address or srcline, branch (samples' branches in front), percent, period or count",
      .flags = TOOL_LAST, .parse = parse_call_graph },
    { TOOL_FLAG, 'G', "inverted", NULL, "chains from caller to callee", FIELD(inverted) },
    { TOOL_UINT, 0, "max-stack", "N", "frames taken at most of a chain", FIELD(max_stack) },
    { TOOL_STRING, 0, "ignore-callees", "REGEX", "drop what these functions call",
      FIELD(ignore_callees) },
    { TOOL_FLAG, 0, "show-ref-call-graph", NULL,
      "events without chains show those of the samples before, whose callers they count for",
      FIELD(borrowed_chains) },
    TOOL_ROWS_NAMES(),
    { TOOL_FLAG, 0, "stitch-lbr", NULL,
      "as in perf, tells that there are no call stacks of branches to join; refused where there "
      "are",
      FIELD(stitch) },
    { TOOL_GROUP, .help = "Which samples" },
    { TOOL_STRING, 'c', "comms", "COMM[,...]", "keep these comms only", FIELD(comms) },
    { TOOL_STRING, 'd', "dsos", "DSO[,...]", "keep these objects only", FIELD(dsos) },
    { TOOL_STRING, 'S', "symbols", "SYMBOL[,...]", "keep these symbols only", FIELD(symbols) },
    { TOOL_STRING, 0, "symbol-filter", "TEXT", "keep symbols that contain this",
      FIELD(symbol_filter) },
    TOOL_ROWS_TASKS(),
    { TOOL_STRING, 0, "socket-filter", "N", "keep CPUs of this processor socket only",
      FIELD(socket) },
    TOOL_ROW_TIME(),
    TOOL_ROWS_SWITCH,
    { TOOL_FLAG, 'U', "hide-unresolved", NULL, "leave out what has no symbol",
      FIELD(hide_unresolved) },
    { TOOL_GROUP, .help = "Instead of rows" },
    { TOOL_FLAG, 'D', "dump-raw-trace", NULL, "every record as hex and text", FIELD(dump) },
    { TOOL_FLAG, 0, "disable-order", NULL, "with -D: records as they lie in the file, not by time",
      FIELD(file_order) },
    { TOOL_FLAG, 0, "stats", NULL, "counts of records by type", FIELD(stats) },
    { TOOL_FLAG, 0, "tasks", NULL, "tree of tasks", FIELD(tasks) },
    { TOOL_FLAG, 0, "mmaps", NULL, "tree of tasks with their maps", FIELD(mmaps) },
    TOOL_ROWS_HEADER,
    { TOOL_GROUP, .help = "Of perf's interactive report; its values are checked, plain text stays "
                          "as it is" },
    { TOOL_FLAG, 0, "asm-raw", NULL, "annotated code: with its bytes", FIELD(asm_raw) },
    { TOOL_FLAG, 0, "source", NULL, "annotated code: with its source", FIELD(source) },
    { TOOL_STRING, 'M', "disassembler-style", "STYLE", "annotated code: objdump's -M",
      FIELD(style) },
    { TOOL_STRING, 0, "objdump", "PATH", "annotated code: the objdump that is run",
      FIELD(objdump) },
    { TOOL_STRING, 0, "prefix", "PREFIX", "annotated code: put before source files' paths",
      FIELD(prefix) },
    { TOOL_STRING, 0, "prefix-strip", "N",
      "annotated code: folders that --prefix takes off those paths", FIELD(prefix_strip) },
    { TOOL_CALLBACK, 0, "percent-type", "TYPE", "annotated code: local or global, -period or -hits",
      .parse = parse_percent_type },
    { TOOL_CALLBACK, 0, "samples", "N", "samples kept of each row", .parse = parse_samples },
    { 0 },
};

static void report_defaults(void *data)
{
    struct report_options *options = data;
    options->max_stack = 127;
    options->demangle = options->inlined = options->modules = 1;
    options->group = options->branch_stack = options->children = options->relative = -1;
    options->skip_empty = -1;
}

static uint64_t flags_of(const struct tool *tool, const struct report_options *from)
{
    const struct tool_flag rows[] = {
        { from->children == 0, PERFDATA_REPORT_NO_CHILDREN },
        { from->children == 1, PERFDATA_REPORT_CHILDREN },
        { from->no_call_graph, PERFDATA_REPORT_NO_CALL_GRAPH },
        { from->inverted, PERFDATA_REPORT_INVERTED },
        { from->latency, PERFDATA_REPORT_LATENCY },
        { from->samples, PERFDATA_REPORT_SAMPLES },
        { from->total_period, PERFDATA_REPORT_TOTAL_PERIOD },
        { from->cpu_utilization, PERFDATA_REPORT_CPU_UTILIZATION },
        { from->quiet, PERFDATA_REPORT_QUIET },
        { from->hide_unresolved, PERFDATA_REPORT_HIDE_UNRESOLVED },
        { from->exclude_other, PERFDATA_REPORT_EXCLUDE_OTHER },
        { from->relative == 1, PERFDATA_REPORT_RELATIVE },
        { from->relative == 0, PERFDATA_REPORT_ABSOLUTE },
        { from->group == 1, PERFDATA_REPORT_GROUP },
        { from->group == 0, PERFDATA_REPORT_NO_GROUP },
        { from->skip_empty == 1, PERFDATA_REPORT_SKIP_EMPTY },
        { from->skip_empty == 0, PERFDATA_REPORT_SHOW_EMPTY },
        { !from->demangle, PERFDATA_REPORT_NO_DEMANGLE },
        { from->demangle_kernel, PERFDATA_REPORT_DEMANGLE_KERNEL },
        { from->ignore_vmlinux, PERFDATA_REPORT_IGNORE_VMLINUX },
        { tool->reading.force, PERFDATA_REPORT_FORCE },
        { from->ns, PERFDATA_REPORT_NS },
        { from->header, PERFDATA_REPORT_HEADER },
        { from->header_only, PERFDATA_REPORT_HEADER_ONLY },
        { from->info, PERFDATA_REPORT_HEADER_FULL },
        { from->stats, PERFDATA_REPORT_STATS },
        { from->tasks, PERFDATA_REPORT_TASKS },
        { from->mmaps, PERFDATA_REPORT_MMAPS },
        { from->dump, PERFDATA_REPORT_DUMP },
        { from->raw_trace, PERFDATA_REPORT_RAW_TRACE },
        { tool->no_itrace, PERFDATA_REPORT_NO_ITRACE },
        { from->branch_stack == 1, PERFDATA_REPORT_BRANCH_STACK },
        { from->branch_stack == 0, PERFDATA_REPORT_NO_BRANCH_STACK },
        { from->mem_mode, PERFDATA_REPORT_MEM_MODE },
        { from->total_cycles, PERFDATA_REPORT_TOTAL_CYCLES },
        { from->full_source_path, PERFDATA_REPORT_FULL_SOURCE_PATH },
        { from->hierarchy, PERFDATA_REPORT_HIERARCHY },
        { from->borrowed_chains, PERFDATA_REPORT_BORROWED_CHAINS },
        { from->verbose > 0 && !from->quiet, PERFDATA_REPORT_VERBOSE },
        { !from->inlined, PERFDATA_REPORT_NO_INLINE },
        { from->branch_history, PERFDATA_REPORT_BRANCH_HISTORY },
        { tool_colors(tool), PERFDATA_REPORT_COLOR },
        { from->file_order, PERFDATA_REPORT_FILE_ORDER },
        { from->thread_counts, PERFDATA_REPORT_THREAD_COUNTS },
        { from->pretty && !strcmp(from->pretty, "raw"), PERFDATA_REPORT_THREAD_COUNTS_RAW },
        { from->json, PERFDATA_REPORT_JSON },
        { tool->guests.wanted, PERFDATA_REPORT_GUESTS },
        { tool->guests.without_host, PERFDATA_REPORT_NO_HOST },
        { tool->guests.code, PERFDATA_REPORT_GUEST_CODE },
    };
    return tool_flags(rows, TOOL_LENGTH(rows));
}

static struct perfdata_report_options library_options(const struct tool *tool,
                                                      const struct report_options *from)
{
    return (struct perfdata_report_options){
        .struct_size = sizeof(struct perfdata_report_options),
        .flags = flags_of(tool, from),
        .max_stack = from->max_stack,
        .threads = tool->jobs,
        .sort = from->sort,
        .fields = from->fields,
        .call_graph = from->call_graph,
        .percent_limit = from->percent_limit,
        .separator = from->separator,
        .column_widths = from->widths,
        .parent = from->parent,
        .ignore_callees = from->ignore_callees,
        TOOL_WHICH_SAMPLES(from),
        .symbol_filter = from->symbol_filter,
        .time = from->time,
        .time_quantum = from->quantum,
        .search = tool_search(
            tool, (struct perfdata_symbol_search){ TOOL_WHERE_SYMBOLS(from),
                                                   .guest_kallsyms = tool->guests.kallsyms,
                                                   .guest_modules = tool->guests.modules,
                                                   .guest_vmlinux = tool->guests.vmlinux,
                                                   .guest_mount = tool->guests.mount }),
        .perf_config = getenv("PERF_CONFIG"),
        .event_switch = from->between,
        .socket = from->socket,
        .group_sort = from->group_sort > 0 ? (uint32_t)from->group_sort : 0,
        .itrace = tool->itrace,
        .itrace_count = tool->itrace_count,
    };
}

/* A view reads a recording several times, so it must be a file. Output that is no table is
 * printed. */
static bool is_interactive(const struct tool *tool, const struct report_options *from,
                           const char *name)
{
    bool printed = from->json || from->stdio || from->header || from->header_only || from->info ||
                   from->stats || from->tasks || from->mmaps || from->dump || from->hierarchy ||
                   from->total_cycles || from->thread_counts || from->quiet || from->separator;
    struct stat info;
    return !printed && tool_tui_possible(tool) && !stat(name, &info) &&
           (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
}

/* What can't be opened is told before the screen changes. */
static enum tool_exit run_interactive(struct tool *tool, const char *name,
                                      const struct perfdata_report_options *options)
{
    perfdata_recording *recording;
    enum tool_exit code = tool_open(tool, name, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_recording_close(recording);
    memset(tool->issues, 0, sizeof tool->issues); /* the view meets them again */
    return tool_tui_report(tool, name, options);
}

static enum tool_exit run_report(struct tool *tool, void *data, int argc, char **argv)
{
    struct perfdata_report_options options = library_options(tool, data);
    const struct report_options *from = data;
    tool->quiet = from->quiet;
    if (from->prefix_strip && !from->prefix)
        return tool_exit_as(tool, tool_usage(tool, "--prefix-strip requires --prefix"), 234);
    if (!from->modules)
        return tool_refuse(tool, "--no-modules");
    struct perfdata_report_result result = { .struct_size = sizeof result };
    perfdata_recording *recording;
    /* perf's only argument is the filter of symbols; ours names the recording where -i does not. */
    if (argc == 1 && (tool->as_perf || tool->input)) {
        options.symbol_filter = argv[0];
        argc = 0;
    }
    enum tool_exit code = tool_one_input(tool, argc, argv);
    if (code != TOOL_DONE)
        return code;
    const char *name = tool_input_name(tool, argc, argv);
    if (from->tui && tool_tui_missing())
        return tool_usage(tool, "option --tui: %s", tool_tui_missing());
    if (!from->stitch && is_interactive(tool, from, name))
        return run_interactive(tool, name, &options);
    tool_prepare_heap(name);
    code = tool_open(tool, name, &recording);
    if (code != TOOL_DONE)
        return code;
    if (from->stitch)
        code = tool_check_stitching(tool, recording, "Warning:\n");
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_report_run(recording, &options, tool_write_text, tool,
                                                 &result);
    return tool_close_run(tool, recording, status,
                          status == PERFDATA_ERROR_UNSUPPORTED ? -1 : result.perf_exit);
}

const struct tool_verb tool_verb_report = {
    .name = "report",
    .synopsis = "[OPTIONS] [FILE]",
    .description =
        "Counts samples by command, object and symbol, or by the keys of --sort, and "
        "prints a row for each,\n"
        "the heaviest first, with its call chains where chains were recorded.\n\n"
        "With chains a function's samples count for its callers as well (column "
        "Children); --no-children\n"
        "leaves that out.\n\n"
        "On a terminal it is interactive: arrows walk, + and e unfold chains, d and t zoom "
        "into objects and threads,\n"
        "/ filters, f shows a flame graph, ? lists all keys. --stdio prints, as does "
        "whatever is no terminal.\n\n"
        "With --branch-history each branch that led to a sample is two frames: where "
        "it led, with its kinds and\n"
        "how many were predicted, and where it came from, with its cycles and how often "
        "a loop before it was left\n"
        "out (iter). Callers that no branch tells are marked (calltrace).",
    .examples = { "report -i perf.data", "where the time went",
                  "report --no-children -g none -s dso,sym perf.data",
                  "functions, without chains" },
    .options = report_rows,
    .options_size = sizeof(struct report_options),
    .defaults = report_defaults,
    .run = run_report,
    .flags = TOOL_VERB_PERF,
};
