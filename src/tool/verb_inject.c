/* SPDX-License-Identifier: MIT */
#include "tool/output.h"

struct inject_options {
    struct tool_output_options output;
    const char *known;
    int build_ids, all, sched_stat, jit;
};
#define FIELD(name) offsetof(struct inject_options, name)

static const struct tool_option inject_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_FORCE,
    TOOL_ROW_VERBOSE,
    TOOL_ROW_STRICT,
    { TOOL_GROUP, .help = "Output" },
    TOOL_ROWS_OUTPUT(output),
    { TOOL_GROUP, .help = "What is added" },
    { TOOL_FLAG, 'b', "build-ids", NULL, "build-ids of the objects that samples hit",
      FIELD(build_ids) },
    { TOOL_FLAG, 0, "buildid-all", NULL, "build-ids of all objects that were mapped", FIELD(all) },
    { TOOL_STRING, 0, "known-build-ids", "LIST",
      "\"ID PATH,ID PATH...\" or @FILE with a pair a line: used before the files' own",
      FIELD(known) },
    { TOOL_FLAG, 's', "sched-stat", NULL,
      "merge sched_stat and sched_switch samples: where and how long tasks slept",
      FIELD(sched_stat) },
    { TOOL_FLAG, 'j', "jit", NULL,
      "code of runtimes: ELF files of what jitdumps hold, written beside them, and their maps",
      FIELD(jit) },
    { 0 },
};

static enum tool_exit run_inject(struct tool *tool, void *data, int argc, char **argv)
{
    const struct inject_options *options = data;
    struct perfdata_inject_options inject = {
        .struct_size = sizeof inject,
        .flags = (options->build_ids ? PERFDATA_INJECT_BUILD_IDS : 0u) |
                 (options->all ? PERFDATA_INJECT_ALL_BUILD_IDS : 0u) |
                 (options->sched_stat ? PERFDATA_INJECT_SCHED_STAT : 0u) |
                 (options->jit ? PERFDATA_INJECT_JIT : 0u),
        .known_build_ids = options->known,
    };
    struct perfdata_output output;
    perfdata_recording *recording;
    if (argc)
        return tool_usage(tool, "'%s': the recording is named with -i", argv[0]);
    enum tool_exit code = tool_output(tool, &options->output, "-", &output);
    if (code == TOOL_DONE && options->known && !options->build_ids && !options->all)
        code = tool_usage(tool, "--known-build-ids goes with -b or --buildid-all");
    if (code == TOOL_DONE) /* perf reads standard input here */
        code = tool_open(tool, tool->input ? tool->input : "-", &recording);
    if (code != TOOL_DONE)
        return code;
    return tool_rewritten(tool, recording, perfdata_inject(recording, &output, &inject));
}

const struct tool_verb tool_verb_inject = {
    .name = "inject",
    .synopsis = "[OPTIONS]",
    .description =
        "Copies a recording record by record: from a pipe to a file and back, from a directory "
        "to a file, into\nanother byte order, compressed, with build-ids. The output takes its "
        "name when it is complete.",
    .examples = { "inject -i perf.data -o copy.data --byte-order=native",
                  "a foreign recording in this machine's byte order",
                  "inject -b -i perf.data -o with-ids.data", "with build-ids in its header" },
    .options = inject_rows,
    .options_size = sizeof(struct inject_options),
    .run = run_inject,
    .flags = TOOL_VERB_PERF,
};
