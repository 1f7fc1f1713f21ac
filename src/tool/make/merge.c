/* SPDX-License-Identifier: MIT */
/* merge: several recordings -> one. */
#include "tool/output.h"
#include <stdlib.h>

struct merge_options {
    struct tool_output_options output;
};
#define FIELD(name) offsetof(struct merge_options, name)

static const struct tool_option merge_rows[] = {
    { TOOL_GROUP, .help = "Output" },
    TOOL_ROWS_OUTPUT(output),
    TOOL_ROW_VERBOSE,
    { 0 },
};

static enum tool_exit run_merge(struct tool *tool, void *data, int argc, char **argv)
{
    const struct merge_options *options = data;
    struct perfdata_output output;
    if (argc < 2)
        return tool_usage(tool, "two recordings or more are needed");
    enum tool_exit code = tool_output(tool, &options->output, NULL, &output);
    if (code != TOOL_DONE)
        return code;
    perfdata_recording **recordings = calloc((size_t)argc, sizeof(perfdata_recording *));
    if (!recordings)
        return tool_failure(tool, PERFDATA_ERROR_MEMORY, "merge", NULL);
    int opened = 0;
    while (opened < argc && code == TOOL_DONE) {
        code = tool_open(tool, argv[opened], &recordings[opened]);
        opened += code == TOOL_DONE;
    }
    if (code == TOOL_DONE)
        code = tool_written(tool, recordings[0],
                            perfdata_merge(recordings, (size_t)argc, &output, NULL));
    while (opened)
        perfdata_recording_close(recordings[--opened]);
    free(recordings);
    return code;
}

const struct tool_verb tool_verb_merge = {
    .name = "merge",
    .synopsis = "[OPTIONS] FILE FILE... -o OUT",
    .description =
        "Joins recordings of the same or of different hosts: ids that two have are told apart, "
        "and so are processes\nof different hosts. The first one gives the header.",
    .examples = { "merge a.data b.data -o both.data", "two recordings as one" },
    .options = merge_rows,
    .options_size = sizeof(struct merge_options),
    .run = run_merge,
    .flags = TOOL_VERB_WRITES,
};
