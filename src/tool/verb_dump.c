/* SPDX-License-Identifier: MIT */
#include "tool/input.h"
#include "tool/verbs.h"
#include <inttypes.h>
#include <perfdata/dump.h>

struct dump_options {
    int json, stats, checksum;
};
#define FIELD(name) offsetof(struct dump_options, name)

static enum tool_exit refuse_pdt(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)data;
    (void)value;
    (void)unset;
    return tool_refuse(tool, "--pdt");
}

static enum tool_exit refuse_itrace(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)data;
    (void)value;
    return tool_refuse(tool, unset ? "--no-itrace" : "--itrace");
}

static const struct tool_option dump_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_FORCE,
    TOOL_ROW_VERBOSE,
    TOOL_ROW_STRICT,
    TOOL_ROW_STREAMS,
    TOOL_ROW_MEMORY,
    TOOL_ROW_JOBS,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 0, "json", NULL, "a JSON object per record", FIELD(json), .flags = TOOL_OURS },
    { TOOL_FLAG, 0, "stats", NULL, "only how many records of each type there are", FIELD(stats),
      .flags = TOOL_OURS },
    { TOOL_FLAG, 0, "checksum", NULL, "only one number over all fields of all records",
      FIELD(checksum), .flags = TOOL_OURS },
    { TOOL_CALLBACK, 0, "pdt", NULL, "a text recording: not supported yet", .parse = refuse_pdt,
      .flags = TOOL_OURS | TOOL_NO_VALUE | TOOL_HIDDEN },
    { TOOL_CALLBACK, 0, "itrace", NULL, "AUX packets: not supported yet", .parse = refuse_itrace,
      .flags = TOOL_OURS | TOOL_NO_VALUE | TOOL_HIDDEN },
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
        return perfdata_dump_print(recording, options->json ? PERFDATA_DUMP_JSON : 0,
                                   tool_write_text, tool);
    status = perfdata_dump_checksum(recording, &sum, NULL);
    if (status == PERFDATA_OK)
        tool_printf(tool, "%016" PRIx64 "\n", sum);
    return status;
}

static enum tool_exit run_dump(struct tool *tool, void *data, int argc, char **argv)
{
    const struct dump_options *options = data;
    perfdata_recording *recording;
    enum tool_exit code = tool_one_input(tool, argc, argv);
    if (code == TOOL_DONE && options->json + options->stats + options->checksum > 1)
        code = tool_usage(tool, "--json, --stats and --checksum exclude each other");
    if (code == TOOL_DONE)
        code = tool_open(tool, tool_input_name(tool, argc, argv), &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = print(tool, options, recording);
    if (status < 0)
        code = tool_recording_failure(tool, recording, status);
    perfdata_recording_close(recording);
    return code;
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
