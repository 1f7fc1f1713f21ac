/* SPDX-License-Identifier: MIT */
/* anonymize: a recording without names. */
#include "tool/output.h"

struct anonymize_options {
    struct tool_output_options output;
    const char *key;
    int keep_stacks;
};
#define FIELD(name) offsetof(struct anonymize_options, name)

static const struct tool_option anonymize_rows[] = {
    TOOL_ROWS_REWRITE(output),
    { TOOL_GROUP, .help = "Names" },
    { TOOL_STRING, 0, "key", "TEXT",
      "a secret that the pseudonyms depend on: without it names can be found by trying",
      FIELD(key) },
    { TOOL_FLAG, 0, "keep-stacks", NULL, "leave the copies of user stacks, which hold anything",
      FIELD(keep_stacks) },
    { 0 },
};

static int tell(void *data, const char *text, size_t length)
{
    tool_error(data, "%.*s", (int)length, text);
    return 0;
}

static enum tool_exit run_anonymize(struct tool *tool, void *data, int argc, char **argv)
{
    const struct anonymize_options *options = data;
    struct perfdata_anonymize_options anonymize = {
        .struct_size = sizeof anonymize,
        .flags = options->keep_stacks ? PERFDATA_ANONYMIZE_KEEP_STACKS : 0u,
        .key = options->key,
        .write = tell,
        .data = tool,
    };
    struct perfdata_output output;
    perfdata_recording *recording;
    enum tool_exit code = tool_rewrite(tool, &options->output, argc, argv, &output, &recording);
    if (code != TOOL_DONE)
        return code;
    return tool_rewritten(tool, recording, perfdata_anonymize(recording, &output, &anonymize));
}

const struct tool_verb tool_verb_anonymize = {
    .name = "anonymize",
    .synopsis = "[OPTIONS] [FILE] -o OUT",
    .description =
        "Replaces names of commands, files, cgroups, BPF programs and hosts, command lines and "
        "strings of tracepoints by\npseudonyms of the same length; equal names stay equal. "
        "Addresses, build-ids and names of events stay, user stacks become zeros. What may hold "
        "names in a form of its\nown, such as BPF programs, is left out and told.",
    .examples = { "anonymize --key s3cret perf.data -o public.data", "to be shown to others" },
    .options = anonymize_rows,
    .options_size = sizeof(struct anonymize_options),
    .run = run_anonymize,
    .flags = TOOL_VERB_WRITES,
};
