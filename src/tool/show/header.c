/* SPDX-License-Identifier: MIT */
/* header: what a recording's header says. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/text.h>

struct header_options {
    int json;
};
#define FIELD(name) offsetof(struct header_options, name)

static const struct tool_option header_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_FORCE,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 0, "json", NULL, "one JSON object", FIELD(json) },
    TOOL_ROW_VERBOSE,
    TOOL_ROW_PROGRESS,
    { 0 },
};

static enum tool_exit run_header(struct tool *tool, void *data, int argc, char **argv)
{
    const struct header_options *options = data;
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    uint32_t flags = options->json ? PERFDATA_HEADER_JSON : PERFDATA_HEADER_FULL;
    return tool_close(tool, recording,
                      perfdata_header_print(recording, flags, tool_write_text, tool));
}

const struct tool_verb tool_verb_header = {
    .name = "header",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "Prints the recording's header: machine, command line, events, topology. The "
                   "text is that of\n"
                   "`perf report --header-only -I`.",
    .examples = { "header perf.data", "everything that the header says", "header --json perf.data",
                  "the same for programs" },
    .options = header_rows,
    .options_size = sizeof(struct header_options),
    .run = run_header,
};
