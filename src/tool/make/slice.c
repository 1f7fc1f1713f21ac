/* SPDX-License-Identifier: MIT */
/* slice: a part of a recording -> a recording. */
#include "tool/output.h"

struct slice_options {
    struct tool_output_options output;
    const char *time, *cpus, *pids, *tids, *comms, *events;
    uint64_t every, first, last;
};
#define FIELD(name) offsetof(struct slice_options, name)

static const struct tool_option slice_rows[] = {
    TOOL_ROWS_REWRITE(output),
    { TOOL_GROUP, .help = "Which samples stay" },
    { TOOL_STRING, 0, "time", "SPANS", "times: START,STOP or 10%-20%, as in script", FIELD(time) },
    { TOOL_STRING, 'C', "cpu", "LIST", "CPUs: 0,2-3", FIELD(cpus) },
    { TOOL_STRING, 'p', "pid", "LIST", "processes", FIELD(pids) },
    { TOOL_STRING, 't', "tid", "LIST", "threads", FIELD(tids) },
    { TOOL_STRING, 'c', "comm", "LIST", "names of threads", FIELD(comms) },
    { TOOL_STRING, 'e', "event", "LIST", "events, with or without modifiers", FIELD(events) },
    { TOOL_U64, 0, "every", "N", "of those each Nth", FIELD(every) },
    { TOOL_U64, 0, "first", "N", "of those so many from the start", FIELD(first) },
    { TOOL_U64, 0, "last", "N", "of those so many up to the end", FIELD(last) },
    { 0 },
};

static enum tool_exit run_slice(struct tool *tool, void *data, int argc, char **argv)
{
    const struct slice_options *options = data;
    struct perfdata_slice_options slice = {
        .struct_size = sizeof slice,
        .time = options->time,
        .cpus = options->cpus,
        .pids = options->pids,
        .tids = options->tids,
        .comms = options->comms,
        .events = options->events,
        .every = options->every,
        .first = options->first,
        .last = options->last,
    };
    struct perfdata_output output;
    perfdata_recording *recording;
    enum tool_exit code = tool_rewrite(tool, &options->output, argc, argv, &output, &recording);
    if (code != TOOL_DONE)
        return code;
    return tool_rewritten(tool, recording, perfdata_slice(recording, &output, &slice));
}

const struct tool_verb tool_verb_slice = {
    .name = "slice",
    .synopsis = "[OPTIONS] [FILE] -o OUT",
    .description =
        "Writes a part of a recording: the samples that all given options want, with the "
        "processes, maps and names\nthat are needed to read them. Trace data stays whole.",
    .examples = { "slice --time 10%-20% perf.data -o part.data", "a tenth of the time",
                  "slice -c nginx --every 10 perf.data -o part.data",
                  "each tenth sample of one program" },
    .options = slice_rows,
    .options_size = sizeof(struct slice_options),
    .run = run_slice,
    .flags = TOOL_VERB_WRITES,
};
