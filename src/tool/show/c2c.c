/* SPDX-License-Identifier: MIT */
/* c2c: the report of lines of the data cache that processors take from each other. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/memory.h>
#include <stdlib.h>
#include <string.h>

struct c2c_options {
    struct perfdata_c2c_options to; /* its strings are the command line's */
    int stats, all, no_source, full, text, stitch;
};
#define FIELD(name) offsetof(struct c2c_options, name)

static enum tool_exit parse_display(struct tool *tool, void *data, const char *value, bool unset)
{
    static const char *const names[] = { "tot", "lcl", "rmt", "peer" };
    struct c2c_options *options = data;
    options->to.display = PERFDATA_C2C_DEFAULT;
    for (uint32_t i = 0; !unset && i < TOOL_LENGTH(names); i++)
        if (!strcmp(value, names[i]))
            options->to.display = i + PERFDATA_C2C_TOTAL;
    if (unset || options->to.display)
        return TOOL_DONE;
    return tool_exit_as(tool, tool_usage(tool, "failed: unknown display type: %s", value), 255);
}

static enum tool_exit parse_nodes(struct tool *tool, void *data, const char *value, bool unset)
{
    enum { MOST = 3 };
    struct c2c_options *options = data;
    (void)tool, (void)value;
    if (unset)
        options->to.node_info = 0;
    else if (options->to.node_info < MOST)
        options->to.node_info++;
    return TOOL_DONE;
}

static enum tool_exit parse_chains(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)tool;
    ((struct c2c_options *)data)->to.call_graph = unset ? "none" : value ? value : "";
    return TOOL_DONE;
}

static const struct tool_option report_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_READING,
    TOOL_ROW_VERBOSE,
    { TOOL_STRING, 'k', "vmlinux", "FILE", "kernel image with symbols", FIELD(to.search.vmlinux) },
    { TOOL_STRING, 0, "symfs", "DIR", "root under which programs and libraries are looked up",
      FIELD(to.search.symfs), .flags = TOOL_OURS },
    { TOOL_STRING, 0, "kallsyms", "FILE", "file used in place of /proc/kallsyms",
      FIELD(to.search.kallsyms), .flags = TOOL_OURS },
    { TOOL_GROUP, .help = "Lines" },
    { TOOL_CALLBACK, 'd', "display", "WHAT",
      "what lines are shown for and ordered by: loads that hit modified lines (tot; of this "
      "socket lcl, of another rmt), or loads that other caches served (peer)",
      .parse = parse_display },
    { TOOL_FLAG, 0, "show-all", NULL, "also lines below a thousandth of all", FIELD(all) },
    { TOOL_FLAG, 0, "stats", NULL, "only the sums", FIELD(stats) },
    { TOOL_GROUP, .help = "Who accesses a line" },
    { TOOL_STRING, 'c', "coalesce", "KEY[,...]",
      "what joins accesses besides the offset: pid, tid, iaddr, dso (iaddr)", FIELD(to.coalesce) },
    { TOOL_CALLBACK, 'N', "node-info", NULL,
      "with the nodes their CPUs and shares; twice: lists of CPUs", .flags = TOOL_NO_VALUE,
      .parse = parse_nodes },
    { TOOL_FLAG, 0, "full-symbols", NULL, "functions in full, not cut at 26 characters",
      FIELD(full) },
    { TOOL_FLAG, 0, "no-source", NULL, "no column of source lines", FIELD(no_source) },
    { TOOL_CALLBACK, 'g', "call-graph", "STYLE",
      "call chains below the places: graph, fractal, flat, folded or none; then threshold, limit, "
      "caller or callee, function, address or srcline, branch, percent, period or count",
      .flags = TOOL_LAST, .parse = parse_chains },
    { TOOL_FLAG, 0, "stitch-lbr", NULL,
      "as in perf, tells that there are no call stacks of branches to join; refused where there "
      "are",
      FIELD(stitch) },
    { TOOL_FLAG, 0, "stdio", NULL, "text: there is no other form", FIELD(text) },
    { 0 },
};

static enum tool_exit run_report(struct tool *tool, void *data, int argc, char **argv)
{
    struct c2c_options *from = data;
    struct perfdata_c2c_options options = from->to;
    options.struct_size = sizeof options;
    options.flags = (from->stats ? PERFDATA_C2C_STATS : 0) |
                    (from->all ? PERFDATA_C2C_SHOW_ALL : 0) |
                    (from->no_source ? PERFDATA_C2C_NO_SOURCE : 0) |
                    (from->full ? PERFDATA_C2C_FULL_SYMBOLS : 0);
    options.search = tool_search(tool, options.search);
    perfdata_recording *recording;
    enum tool_exit code = tool_open_to_stitch(tool, argc, argv, from->stitch, "Warning:\n",
                                              &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_c2c_run(recording, &options, tool_write_text, tool);
    int perf_exit = status == PERFDATA_ERROR_NO_DATA    ? 234
                    : status == PERFDATA_ERROR_ARGUMENT ? 255
                                                        : -1;
    return tool_close_run(tool, recording, status, perf_exit);
}

static const struct tool_verb report = {
    .name = "c2c report",
    .synopsis = "[OPTIONS] [FILE]",
    .description =
        "Prints sums of all accesses, the lines of the data cache that several processors want, "
        "and for each the places\nin the code that access it, with the cycles that took.",
    .options = report_rows,
    .options_size = sizeof(struct c2c_options),
    .run = run_report,
    .flags = TOOL_VERB_PERF,
};
static const struct tool_verb *const verbs[] = { &report, NULL };

static const struct tool_option c2c_rows[] = { TOOL_ROW_VERBOSE, { 0 } };

static enum tool_exit run_c2c(struct tool *tool, void *data, int argc, char **argv)
{
    if (argc && strlen(argv[0]) > 2 && !strncmp("record", argv[0], strlen(argv[0])))
        return tool_usage(tool, "c2c has the verb report; record -d -W --phys-data -e "
                                "cpu/mem-loads,ldlat=30/P -e cpu/mem-stores/P records what it "
                                "needs where the processor has such events");
    return tool_run_sub(tool, &tool_verb_c2c, data, argc, argv);
}

const struct tool_verb tool_verb_c2c = {
    .name = "c2c",
    .synopsis = "report [OPTIONS] [FILE]",
    .description = "Finds lines of the data cache that processors take from each other, from "
                   "samples of accesses to memory.",
    .examples = { "c2c report --stdio -i perf.data", "the lines, and who accesses them",
                  "c2c report -NN -c tid -d lcl -i perf.data",
                  "by threads, with their CPUs, for lines shared in a socket" },
    .options = c2c_rows,
    .options_size = sizeof(int),
    .run = run_c2c,
    .flags = TOOL_VERB_PERF | TOOL_VERB_STOP,
    .subs = verbs,
};
