/* SPDX-License-Identifier: MIT */
/* dump: every field of every record. */
#include "tool/output.h"
#include "tool/verbs.h"
#include <inttypes.h>
#include <errno.h>
#include <perfdata/dump.h>
#include <perfdata/text_recording.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dump_options {
    int json, header, stats, checksum, pdt;
    const char *output;
};
#define FIELD(name) offsetof(struct dump_options, name)

static const struct tool_option dump_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_FORCE,
    TOOL_ROW_VERBOSE,
    TOOL_ROW_PROGRESS,
    TOOL_ROW_STRICT,
    TOOL_ROW_STREAMS,
    TOOL_ROW_MEMORY,
    TOOL_ROW_JOBS,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 0, "json", NULL, "a JSON object per record", FIELD(json), .flags = TOOL_OURS },
    { TOOL_FLAG, 0, "header", NULL,
      "what lies around the records: file header, attributes, ids, features, tracing data",
      FIELD(header), .flags = TOOL_OURS },
    { TOOL_FLAG, 0, "stats", NULL, "only how many records of each type there are", FIELD(stats),
      .flags = TOOL_OURS },
    { TOOL_FLAG, 0, "checksum", NULL, "only one number over all fields of all records",
      FIELD(checksum), .flags = TOOL_OURS },
    { TOOL_FLAG, 0, "pdt", NULL, "a text recording, of which `assemble` makes the same bytes again",
      FIELD(pdt), .flags = TOOL_OURS },
    { TOOL_STRING, 'o', "output", "PATH",
      "with --pdt: the file to write, for a directory recording a directory", FIELD(output),
      .flags = TOOL_OURS },
    { 0 },
};

static perfdata_status print(struct tool *tool, const struct dump_options *options,
                             perfdata_recording *recording)
{
    uint64_t sum;
    perfdata_status status;
    if (options->stats)
        return perfdata_dump_stats(recording, tool_write_text, tool);
    if (!options->checksum)
        return perfdata_dump_print(recording,
                                   (options->json ? PERFDATA_DUMP_JSON : 0) |
                                       (options->header ? PERFDATA_DUMP_HEADER : 0),
                                   tool_write_text, tool);
    status = perfdata_dump_checksum(recording, &sum, NULL);
    if (status == PERFDATA_OK)
        tool_printf(tool, "%016" PRIx64 "\n", sum);
    return status;
}

/* ---- text recordings ---- */

static enum tool_exit print_file(struct tool *tool, perfdata_recording *recording, size_t index,
                                 const char *path)
{
    perfdata_status status = perfdata_textrec_write(recording, index, path, NULL);
    return tool_written(tool, recording, status);
}

static enum tool_exit print_directory(struct tool *tool, perfdata_recording *recording,
                                      const char *path)
{
    enum tool_exit code = TOOL_DONE;
    const char *name;
    if (mkdir(path, 0777) < 0 && errno != EEXIST) {
        tool_error(tool, "%s: cannot make this directory: %s", path, strerror(errno));
        return TOOL_OUTPUT;
    }
    for (size_t i = 0; code == TOOL_DONE && (name = perfdata_textrec_file(recording, i)); i++) {
        char file[4096];
        if (snprintf(file, sizeof file, "%s/%s.pdt", path, name) >= (int)sizeof file)
            return tool_usage(tool, "'%s': too long a path", path);
        code = print_file(tool, recording, i, file);
    }
    return code;
}

static enum tool_exit print_pdt(struct tool *tool, perfdata_recording *recording,
                                const char *output)
{
    bool directory = perfdata_recording_form(recording) == PERFDATA_FORM_DIRECTORY;
    if (directory && (!output || !strcmp(output, "-")))
        return tool_usage(tool, "the recording is a directory: -o DIR is needed");
    if (directory)
        return print_directory(tool, recording, output);
    if (output)
        return print_file(tool, recording, 0, output);
    perfdata_status status = perfdata_textrec_print(recording, 0, tool_write_text, tool, NULL);
    return status < 0 ? tool_recording_failure(tool, recording, status) : TOOL_DONE;
}

/* --pdt. What is no recording, or nothing but damage, is written as bytes. */
static enum tool_exit run_pdt(struct tool *tool, const char *name, const char *output)
{
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    perfdata_recording *recording;
    enum tool_exit code;
    options.on_issue = tool_on_issue;
    options.issue_data = tool;
    tool_watch(tool, &options);
    perfdata_status status = strcmp(name, "-") != 0
                                 ? perfdata_recording_open(name, &options, &recording)
                                 : perfdata_recording_open_fd(STDIN_FILENO, &options, &recording);
    bool bytes = status == PERFDATA_ERROR_NOT_PERF_DATA || status == PERFDATA_ERROR_BAD_HEADER ||
                 status == PERFDATA_ERROR_TRUNCATED || status == PERFDATA_ERROR_EMPTY;
    if (status < 0 && !bytes)
        code = tool_recording_failure(tool, recording, status);
    else
        code = print_pdt(tool, recording, output);
    perfdata_recording_close(recording);
    return code;
}

static enum tool_exit run_dump(struct tool *tool, void *data, int argc, char **argv)
{
    const struct dump_options *options = data;
    perfdata_recording *recording;
    enum tool_exit code = tool_one_input(tool, argc, argv);
    if (code == TOOL_DONE && options->json + options->stats + options->checksum + options->pdt > 1)
        code = tool_usage(tool, "--json, --stats, --checksum and --pdt exclude each other");
    if (code == TOOL_DONE && options->output && !options->pdt)
        code = tool_usage(tool, "-o goes with --pdt");
    if (code == TOOL_DONE && options->pdt)
        return run_pdt(tool, tool_input_name(tool, argc, argv), options->output);
    if (code == TOOL_DONE)
        code = tool_open(tool, tool_input_name(tool, argc, argv), &recording);
    if (code != TOOL_DONE)
        return code;
    return tool_close(tool, recording, print(tool, options, recording));
}

const struct tool_verb tool_verb_dump = {
    .name = "dump",
    .synopsis = "[OPTIONS] [FILE]",
    .description = "Shows every record in the order of the file: offset, type, misc, size and "
                   "every field by name.",
    .examples = { "dump perf.data", "all records as text", "dump --stats perf.data",
                  "how many records of each type there are" },
    .options = dump_rows,
    .options_size = sizeof(struct dump_options),
    .run = run_dump,
};
