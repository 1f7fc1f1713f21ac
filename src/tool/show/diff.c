/* SPDX-License-Identifier: MIT */
/* diff: what differs between recordings. */
#include "tool/input.h"
#include "tool/options.h"
#include "tool/verbs.h"
#include <perfdata/diff.h>
#include <perfdata/report.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 64 };

struct diff_options {
    int baseline_only, period, formula, quiet, verbose, relative, modules, json, dump;
    unsigned order;
    const char *compute, *sort, *separator, *comms, *pids, *tids, *cpus, *dsos, *symbols, *time;
    const char *symfs, *kallsyms, *vmlinux, *jitdump;
};

#define FIELD(name) offsetof(struct diff_options, name)
#define NO_ORDER UINT32_MAX

static enum tool_exit parse_percentage(struct tool *tool, void *data, const char *value, bool unset)
{
    struct diff_options *options = data;
    options->relative = !unset && !strcmp(value, "relative");
    if (unset || options->relative || !strcmp(value, "absolute"))
        return TOOL_DONE;
    return tool_usage(tool, "option --percentage takes relative or absolute, not '%s'", value);
}

static const struct tool_option diff_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROWS_SYMBOLS(),
    { TOOL_FLAG, 'm', "modules", NULL, "symbols of kernel modules (on)", FIELD(modules) },
    TOOL_ROWS_READING,
    { TOOL_GROUP, .help = "Rows and columns" },
    { TOOL_STRING, 'c', "compute", "METHOD",
      "how the others differ from the first: delta-abs, delta (of percentages), ratio, "
      "wdiff:W1,W2 (of weighted periods)",
      FIELD(compute) },
    { TOOL_UINT, 'o', "order", "N", "sort by the N-th recording's value, 0: by the first's share",
      FIELD(order) },
    { TOOL_STRING, 's', "sort", "KEY[,...]", "sort keys (dso,symbol); + appends", FIELD(sort) },
    { TOOL_FLAG, 'b', "baseline-only", NULL, "only what the first recording has, too",
      FIELD(baseline_only) },
    { TOOL_FLAG, 'p', "period", NULL, "columns of periods", FIELD(period) },
    { TOOL_FLAG, 'F', "formula", NULL, "the formula of each value", FIELD(formula) },
    { TOOL_STRING, 't', "field-separator", "TEXT", "between columns, without padding",
      FIELD(separator) },
    { TOOL_CALLBACK, 0, "percentage", "HOW",
      "of what the filters leave: relative, or of all: absolute", .parse = parse_percentage },
    { TOOL_FLAG, 'q', "quiet", NULL, "rows only", FIELD(quiet) },
    { TOOL_COUNT, 'v', "verbose", NULL, "addresses, long names, the recordings' names",
      FIELD(verbose) },
    { TOOL_FLAG, 0, "json", NULL,
      "JSON: every recording's periods, samples, deltas with their 95 % interval, ratios",
      FIELD(json), .flags = TOOL_OURS },
    { TOOL_GROUP, .help = "Which samples" },
    { TOOL_STRING, 'C', "comms", "COMM[,...]", "keep these comms only", FIELD(comms) },
    { TOOL_STRING, 'd', "dsos", "DSO[,...]", "keep these objects only", FIELD(dsos) },
    { TOOL_STRING, 'S', "symbols", "SYMBOL[,...]", "keep these symbols only", FIELD(symbols) },
    { TOOL_STRING, 0, "pid", "PID[,...]", "keep these processes only", FIELD(pids) },
    { TOOL_STRING, 0, "tid", "TID[,...]", "keep these threads only", FIELD(tids) },
    { TOOL_STRING, 0, "cpu", "CPUS", "keep these CPUs only", FIELD(cpus) },
    { TOOL_STRING, 0, "time", "SPANS",
      "time spans, as of report; with colons between them those of each recording", FIELD(time) },
    { TOOL_GROUP, .help = "Instead of rows" },
    { TOOL_FLAG, 'D', "dump-raw-trace", NULL, "every record as hex and text", FIELD(dump) },
    { 0 },
};

static void diff_defaults(void *data)
{
    struct diff_options *options = data;
    options->order = NO_ORDER;
    options->modules = 1;
}

static struct perfdata_symbol_search search_of(const struct tool *tool,
                                               const struct diff_options *from)
{
    return tool_search(tool, (struct perfdata_symbol_search){
                                 TOOL_WHERE_SYMBOLS(from), .guest_kallsyms = tool->guests.kallsyms,
                                 .guest_modules = tool->guests.modules,
                                 .guest_vmlinux = tool->guests.vmlinux,
                                 .guest_mount = tool->guests.mount });
}

static struct perfdata_diff_options library_options(const struct tool *tool,
                                                    const struct diff_options *from)
{
    const struct tool_flag rows[] = {
        { from->baseline_only, PERFDATA_DIFF_BASELINE_ONLY },
        { from->period, PERFDATA_DIFF_PERIOD },
        { from->formula, PERFDATA_DIFF_FORMULA },
        { from->quiet, PERFDATA_DIFF_QUIET },
        { from->verbose > 0 && !from->quiet, PERFDATA_DIFF_VERBOSE },
        { from->relative, PERFDATA_DIFF_RELATIVE },
        { from->json, PERFDATA_DIFF_JSON },
        { tool->reading.force, PERFDATA_DIFF_FORCE },
        { tool->guests.wanted, PERFDATA_DIFF_GUESTS },
        { tool->guests.without_host, PERFDATA_DIFF_NO_HOST },
        { tool->guests.code, PERFDATA_DIFF_GUEST_CODE },
    };
    return (struct perfdata_diff_options){
        .struct_size = sizeof(struct perfdata_diff_options),
        .flags = tool_flags(rows, TOOL_LENGTH(rows)),
        .threads = tool->jobs,
        .order = from->order == NO_ORDER ? -1 : (int32_t)(from->order & INT32_MAX),
        .compute = from->compute,
        .sort = from->sort,
        .separator = from->separator,
        TOOL_WHICH_SAMPLES(from),
        .time = from->time,
        .search = search_of(tool, from),
        .perf_config = getenv("PERF_CONFIG"),
    };
}

/* perf tells these without the heading "Error:". */
static enum tool_exit tell(struct tool *tool, perfdata_recording *recording, perfdata_status status,
                           const struct perfdata_diff_result *result)
{
    if (status >= 0)
        return TOOL_DONE;
    if (!tool->as_perf || status == PERFDATA_ERROR_OUTPUT || status == PERFDATA_ERROR_UNSUPPORTED)
        return tool_exit_as(tool, tool_recording_failure(tool, recording, status),
                            result->perf_exit);
    tool_tell_warnings(tool);
    fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
    return tool_exit_as(tool, TOOL_NOTHING, result->perf_exit);
}

static enum tool_exit dump(struct tool *tool, const struct diff_options *from,
                           perfdata_recording **recordings, size_t count)
{
    const struct perfdata_report_options options = tool_dump_options(tool, search_of(tool, from));
    enum tool_exit code = TOOL_DONE;
    for (size_t i = 0; i < count && code == TOOL_DONE; i++) {
        struct perfdata_diff_result result = { .perf_exit = 255 };
        perfdata_status status = perfdata_report_run(recordings[i], &options, tool_write_text, tool,
                                                     NULL);
        code = tell(tool, recordings[i], status, &result);
    }
    return code;
}

static enum tool_exit run_diff(struct tool *tool, void *data, int argc, char **argv)
{
    const struct diff_options *from = data;
    /* kvm: the names that its record gives the files */
    const bool both = tool->guests.wanted && !argc;
    const char *defaults[] = { both ? "perf.data.host" : "perf.data.old", argc == 1 ? argv[0]
                                                                          : both ? "perf.data.guest"
                                                                                 : "perf.data" };
    size_t count = argc < 2 ? 2 : (size_t)argc, opened = 0;
    perfdata_recording *recordings[FILES_MAX];
    struct perfdata_diff_result result = { .struct_size = sizeof result };
    struct perfdata_diff_options options = library_options(tool, from);
    tool->quiet = from->quiet;
    if (count > FILES_MAX)
        return tool_usage(tool, "at most %d recordings are compared", FILES_MAX);
    if (!from->modules)
        return tool_refuse(tool, "--no-modules");
    enum tool_exit code = TOOL_DONE;
    while (opened < count && code == TOOL_DONE) {
        code = tool_open(tool, argc < 2 ? defaults[opened] : argv[opened], &recordings[opened]);
        opened += code == TOOL_DONE;
    }
    if (code != TOOL_DONE) {
        code = tool_exit_as(tool, code, 255);
    } else if (from->dump) {
        code = dump(tool, from, recordings, count);
    } else {
        perfdata_status status = perfdata_diff_run(recordings, count, &options, tool_write_text,
                                                   tool, &result);
        code = tell(tool, recordings[result.failed], status, &result);
    }
    for (size_t i = 0; i < opened; i++)
        perfdata_recording_close(recordings[i]);
    return code;
}

const struct tool_verb tool_verb_diff = {
    .name = "diff",
    .synopsis = "[OPTIONS] [OLD [NEW...]]",
    .description =
        "Compares recordings: a row for each function that any of them has, with its share in the "
        "first one and\nhow the others differ, the greatest difference first. Functions are the "
        "same "
        "where their names and\nobjects are, so that builds of a program can be compared.\n\n"
        "Without arguments perf.data.old and perf.data are compared; one is compared with "
        "perf.data.old.",
    .examples = { "diff old.data new.data", "what became slower or faster",
                  "diff -c ratio -s comm a.data b.data c.data", "three recordings by command" },
    .options = diff_rows,
    .options_size = sizeof(struct diff_options),
    .defaults = diff_defaults,
    .run = run_diff,
    .flags = TOOL_VERB_PERF,
};
