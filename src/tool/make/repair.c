/* SPDX-License-Identifier: MIT */
/* repair: a damaged recording -> a valid one. */
#include "tool/output.h"
#include <inttypes.h>

struct repair_options {
    struct tool_output_options output;
};
#define FIELD(name) offsetof(struct repair_options, name)

static const struct tool_option repair_rows[] = {
    TOOL_ROWS_REWRITE(output),
    { 0 },
};

static enum tool_exit run_repair(struct tool *tool, void *data, int argc, char **argv)
{
    const struct repair_options *options = data;
    struct perfdata_repair_result result = { .struct_size = sizeof result };
    struct perfdata_output output;
    perfdata_recording *recording;
    enum tool_exit code = tool_rewrite(tool, &options->output, argc, argv, &output, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_repair(recording, &output, &result);
    code = tool_written(tool, recording, status);
    if (code == TOOL_DONE && output.path && result.dropped)
        tool_printf(tool,
                    "%" PRIu64 " records kept, %" PRIu64
                    " left out: perf would stop at them, or they may not be records\n",
                    result.kept, result.dropped);
    else if (code == TOOL_DONE && output.path)
        tool_printf(tool, "%" PRIu64 " records kept\n", result.kept);
    perfdata_recording_close(recording);
    return code;
}

const struct tool_verb tool_verb_repair = {
    .name = "repair",
    .synopsis = "[OPTIONS] [FILE] -o OUT",
    .description =
        "Writes a valid recording of what is whole in an unfinished, cut or damaged one. Each "
        "kind of damage is told;\nthe exit code is 1 when there was any.",
    .examples = { "repair perf.data -o whole.data", "what a killed perf record left" },
    .options = repair_rows,
    .options_size = sizeof(struct repair_options),
    .run = run_repair,
    .flags = TOOL_VERB_WRITES,
};
