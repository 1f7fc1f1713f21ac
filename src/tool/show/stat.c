/* SPDX-License-Identifier: MIT */
/* stat: recorded counts. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/stat.h>
#include <string.h>

struct stat_options {
    int cpu, core, die, socket, node;
};
#define FIELD(name) offsetof(struct stat_options, name)

static const struct tool_option report_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_STRICT,
    { TOOL_GROUP, .help = "What there is a line of" },
    { TOOL_FLAG, 'A', "no-aggr", NULL, "each CPU", FIELD(cpu) },
    { TOOL_FLAG, 0, "per-core", NULL, "each core", FIELD(core) },
    { TOOL_FLAG, 0, "per-die", NULL, "each die", FIELD(die) },
    { TOOL_FLAG, 0, "per-socket", NULL, "each socket", FIELD(socket) },
    { TOOL_FLAG, 0, "per-node", NULL, "each NUMA node", FIELD(node) },
    { 0 },
};

static enum tool_exit run_report(struct tool *tool, void *data, int argc, char **argv)
{
    const struct stat_options *options = data;
    uint32_t aggregate = options->node     ? PERFDATA_STAT_NODE
                         : options->socket ? PERFDATA_STAT_SOCKET
                         : options->die    ? PERFDATA_STAT_DIE
                         : options->core   ? PERFDATA_STAT_CORE
                         : options->cpu    ? PERFDATA_STAT_CPU
                                           : PERFDATA_STAT_RECORDED;
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    return tool_close(tool, recording,
                      perfdata_stat_report_run(recording, aggregate, tool_write_error, tool));
}

static const struct tool_verb report = {
    .name = "stat report",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "The counts of a recording of perf stat, on standard error as with perf.",
    .options = report_rows,
    .options_size = sizeof(struct stat_options),
    .run = run_report,
    .flags = TOOL_VERB_PERF,
};

static const struct tool_verb *const subs[] = { &report, NULL };

static const struct tool_option stat_rows[] = { { 0 } };

static enum tool_exit run_stat(struct tool *tool, void *data, int argc, char **argv)
{
    if (!argc || strcmp(argv[0], "report") != 0)
        return tool_usage(tool, "it counts what runs, and so is not about recordings: use perf; "
                                "`stat report` prints what `perf stat record` wrote");
    return tool_run_sub(tool, &tool_verb_stat, data, argc, argv);
}

const struct tool_verb tool_verb_stat = {
    .name = "stat",
    .synopsis = "report [OPTIONS] [FILE]",
    .description = "Prints what `perf stat record` wrote: the counts of each round.",
    .examples = { "stat report -i perf.data", "as it was printed when it was recorded",
                  "stat report --per-core perf.data", "added up by core" },
    .options = stat_rows,
    .run = run_stat,
    .flags = TOOL_VERB_STOP,
    .subs = subs,
};
