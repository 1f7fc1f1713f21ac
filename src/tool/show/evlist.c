/* SPDX-License-Identifier: MIT */
/* evlist: the events of a recording. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/text.h>

struct evlist_options {
    int verbose, frequency, group, trace_fields, json;
};
#define FIELD(name) offsetof(struct evlist_options, name)

static const struct tool_option evlist_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_FORCE,
    TOOL_ROW_PROGRESS,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 'F', "freq", NULL, "the sample frequency or period of each event",
      FIELD(frequency) },
    { TOOL_FLAG, 'g', "group", NULL, "groups in braces, a line each", FIELD(group) },
    { TOOL_COUNT, 'v', "verbose", NULL, "all fields of each event that are not zero",
      FIELD(verbose) },
    { TOOL_FLAG, 0, "trace-fields", NULL, "the fields of tracepoints", FIELD(trace_fields) },
    { TOOL_FLAG, 0, "json", NULL, "a JSON object per event, all fields", FIELD(json),
      .flags = TOOL_OURS },
    { 0 },
};

static enum tool_exit run_evlist(struct tool *tool, void *data, int argc, char **argv)
{
    const struct evlist_options *options = data;
    perfdata_recording *recording;
    if (options->group && (options->verbose || options->frequency))
        return tool_usage(tool, "--group option is not compatible with other options");
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    uint32_t flags = (options->verbose ? PERFDATA_EVLIST_VERBOSE : 0) |
                     (options->frequency ? PERFDATA_EVLIST_FREQUENCY : 0) |
                     (options->group ? PERFDATA_EVLIST_GROUP : 0) |
                     (options->trace_fields ? PERFDATA_EVLIST_TRACE_FIELDS : 0) |
                     (options->json ? PERFDATA_EVLIST_JSON : 0);
    return tool_close(tool, recording,
                      perfdata_evlist_print(recording, flags, tool_write_text, tool));
}

const struct tool_verb tool_verb_evlist = {
    .name = "evlist",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "Lists the events of a recording, one a line.",
    .examples = { "evlist perf.data", "the names of the events", "evlist -v perf.data",
                  "how each was opened" },
    .options = evlist_rows,
    .options_size = sizeof(struct evlist_options),
    .run = run_evlist,
    .flags = TOOL_VERB_UNPAGED | TOOL_VERB_PERF,
};
