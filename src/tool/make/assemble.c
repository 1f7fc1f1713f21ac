/* SPDX-License-Identifier: MIT */
/* assemble: a text recording -> a recording. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <dirent.h>
#include <errno.h>
#include <perfdata/text_recording.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct assemble_options {
    const char *output;
};
#define FIELD(name) offsetof(struct assemble_options, name)

static const struct tool_option assemble_rows[] = {
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 'o', "output", "FILE",
      "the recording to write; for a directory of text recordings a directory", FIELD(output),
      .flags = TOOL_OURS },
    { 0 },
};

static enum tool_exit assemble_file(struct tool *tool, const char *input, const char *output)
{
    struct perfdata_textrec_error error = { .struct_size = sizeof error };
    perfdata_status status = perfdata_textrec_assemble(input, output, &error);
    if (status >= 0)
        return TOOL_DONE;
    tool_error(tool, "%s", error.message);
    return status == PERFDATA_ERROR_OUTPUT ? TOOL_OUTPUT : TOOL_NOTHING;
}

/* Each NAME.pdt of a directory becomes NAME of another. */
static enum tool_exit assemble_directory(struct tool *tool, DIR *directory, const char *input,
                                         const char *output)
{
    enum tool_exit code = TOOL_DONE;
    if (mkdir(output, 0777) < 0 && errno != EEXIST) {
        tool_error(tool, "%s: cannot make this directory: %s", output, strerror(errno));
        return TOOL_OUTPUT;
    }
    for (struct dirent *entry; code == TOOL_DONE && (entry = readdir(directory));) {
        char from[4096], to[4096];
        size_t length = strlen(entry->d_name);
        if (length <= 4 || strcmp(entry->d_name + length - 4, ".pdt") != 0)
            continue;
        if (snprintf(from, sizeof from, "%s/%s", input, entry->d_name) >= (int)sizeof from ||
            snprintf(to, sizeof to, "%s/%.*s", output, (int)length - 4, entry->d_name) >=
                (int)sizeof to)
            return tool_usage(tool, "'%s': too long a path", input);
        code = assemble_file(tool, from, to);
    }
    return code;
}

static enum tool_exit run_assemble(struct tool *tool, void *data, int argc, char **argv)
{
    const struct assemble_options *options = data;
    if (argc > 1)
        return tool_usage(tool, "'%s': one text recording at a time", argv[1]);
    if (!options->output)
        return tool_usage(tool, "-o FILE is needed: where to write");
    const char *input = argc ? argv[0] : "-";
    DIR *directory = strcmp(input, "-") != 0 ? opendir(input) : NULL;
    if (!directory)
        return assemble_file(tool, input, options->output);
    enum tool_exit code = assemble_directory(tool, directory, input, options->output);
    closedir(directory);
    return code;
}

const struct tool_verb tool_verb_assemble = {
    .name = "assemble",
    .synopsis = "[OPTIONS] [FILE]",
    .description =
        "Makes a recording of a text recording, as dump --pdt writes it: the same bytes as the "
        "recording that was\ndumped, or what the changed text says. The output takes its name "
        "when it is complete.",
    .examples = { "dump --pdt perf.data > perf.pdt", "a recording as text",
                  "assemble perf.pdt -o again.data", "and back: the same bytes" },
    .options = assemble_rows,
    .options_size = sizeof(struct assemble_options),
    .run = run_assemble,
    .flags = TOOL_VERB_WRITES,
};
