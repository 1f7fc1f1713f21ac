/* SPDX-License-Identifier: MIT */
/* buildid-list: the build-ids of a recording's objects. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/text.h>
#include <string.h>

struct buildid_list_options {
    int with_hits, kernel;
};
#define FIELD(name) offsetof(struct buildid_list_options, name)

static const struct tool_option buildid_list_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    { TOOL_CALLBACK, 'i', "input", "FILE",
      "recording, or an ELF file whose id is printed; - is standard input",
      .parse = tool_parse_input },
    TOOL_ROW_FORCE,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 'H', "with-hits", NULL, "only objects that samples hit", FIELD(with_hits) },
    { TOOL_FLAG, 'k', "kernel", NULL, "no recording, but the id of this machine's kernel",
      FIELD(kernel) },
    TOOL_ROW_VERBOSE,
    TOOL_ROW_PROGRESS,
    TOOL_ROW_JOBS,
    { 0 },
};

/* perf prints an ELF file's own id. */
static bool print_file_id(struct tool *tool, const char *name)
{
    uint8_t id[20];
    size_t size;
    if (!strcmp(name, "-") || perfdata_file_build_id(name, id, &size) < 0 || !size)
        return false;
    for (size_t i = 0; i < size; i++)
        tool_printf(tool, "%02x", id[i]);
    tool_puts(tool, "\n");
    return true;
}

static enum tool_exit run_buildid_list(struct tool *tool, void *data, int argc, char **argv)
{
    const struct buildid_list_options *options = data;
    const char *name = tool_input_name(tool, argc, argv);
    perfdata_recording *recording;
    if (options->kernel)
        return print_file_id(tool, "/sys/kernel/notes")
                   ? TOOL_DONE
                   : tool_failure(tool, PERFDATA_ERROR_NOT_FOUND, "/sys/kernel/notes", NULL);
    enum tool_exit code = tool_one_input(tool, argc, argv);
    if (code != TOOL_DONE || print_file_id(tool, name))
        return code;
    code = tool_open(tool, name, &recording);
    if (code != TOOL_DONE)
        return code;
    uint32_t flags = options->with_hits ? PERFDATA_BUILD_IDS_HITS : 0;
    perfdata_status status = perfdata_build_ids_print(recording, flags, tool_write_text, tool);
    return tool_close_run(tool, recording, status, 0);
}

const struct tool_verb tool_verb_buildid_list = {
    .name = "buildid-list",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "Lists the build-ids of the programs and libraries in a recording, as its "
                   "header has them; without\n"
                   "that table, of those that samples hit.",
    .examples = { "buildid-list perf.data", "build-ids and names", "buildid-list -H perf.data",
                  "only what samples hit" },
    .options = buildid_list_rows,
    .options_size = sizeof(struct buildid_list_options),
    .run = run_buildid_list,
    .flags = TOOL_VERB_PERF,
};
