/* SPDX-License-Identifier: MIT */
/* data convert: perf's verb for a recording in another form. */
#include "tool/output.h"
#include "tool/profile.h"
#include "tool/verbs.h"
#include <errno.h>
#include <perfdata/export.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct data_options {
    struct tool_profile profile;
    const char *json, *ctf;
    int all, wall_clock;
};
#define FIELD(name) offsetof(struct data_options, name)

static const struct tool_option data_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    { TOOL_CALLBACK, 'f', "force", NULL,
      "write over a file that is there; called as perf: read files of other users too",
      .flags = TOOL_NO_VALUE, .parse = tool_parse_force },
    TOOL_ROW_VERBOSE,
    TOOL_ROW_JOBS,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 0, "to-json", "FILE", "header and samples as JSON; - is standard output",
      FIELD(json) },
    { TOOL_STRING, 0, "to-ctf", "FOLDER", "samples in Common Trace Format 1.8", FIELD(ctf) },
    { TOOL_FLAG, 0, "all", NULL, "CTF: also comms, forks, exits and mappings", FIELD(all) },
    { TOOL_FLAG, 0, "tod", NULL, "CTF: times of day, of a recording made with a clock of -k",
      FIELD(wall_clock) },
    { 0 },
};

static void data_defaults(void *data)
{
    struct data_options *options = data;
    tool_profile_defaults(&options->profile);
}

/* As perf: its code for wrong usage is 129, for what it finds out later 255. */
static enum tool_exit refuse(struct tool *tool, const char *text)
{
    tool_error(tool, "%s", text);
    return tool_exit_as(tool, TOOL_USAGE, 255);
}

static enum tool_exit check(struct tool *tool, const struct data_options *options, int argc,
                            char **argv)
{
    struct stat there;
    if (!argc || strcmp(argv[0], "convert") != 0)
        return tool_usage(tool, "data has the verb convert");
    if (argc > 1)
        return tool_usage(tool, "convert takes its recording from -i, not '%s'", argv[1]);
    if (options->json && options->ctf)
        return refuse(tool, "--to-ctf and --to-json are for two runs");
    if (options->ctf)
        return TOOL_DONE;
    if (!options->json)
        return refuse(tool, "--to-json FILE or --to-ctf FOLDER is needed");
    if (options->all)
        return refuse(tool, "--all is not for JSON");
    if (options->wall_clock)
        return refuse(tool, "--tod is not for JSON");
    if (!tool->reading.force && strcmp(options->json, "-") != 0 && !stat(options->json, &there) &&
        S_ISREG(there.st_mode))
        return refuse(tool, "the output file exists; --force writes over it");
    return TOOL_DONE;
}

/* What perf says at the end, on standard error. The megabytes are the size of the JSON file, but
 * for a CTF trace the size that the samples had in the recording. */
static void tell(const struct tool *tool, const char *input, const struct data_options *options,
                 const struct perfdata_export_result *result)
{
    const char *output = options->ctf ? options->ctf : options->json;
    struct stat made;
    if (!strcmp(output, "-"))
        return;
    uint64_t size = options->ctf ? result->bytes : stat(output, &made) ? 0 : (uint64_t)made.st_size;
    fprintf(stderr, "[ %s data convert: Converted '%s' into %s data '%s' ]\n", tool->name, input,
            options->ctf ? "CTF" : "JSON", output);
    fprintf(stderr, "[ %s data convert: Converted and wrote %.3f MB (%llu samples", tool->name,
            (double)size / 1024.0 / 1024.0, (unsigned long long)result->samples);
    if (result->records)
        fprintf(stderr, ", %llu non-samples", (unsigned long long)result->records);
    fputs(") ]\n", stderr);
}

static uint32_t export_flags(const struct data_options *options)
{
    return (options->all ? PERFDATA_EXPORT_ALL_RECORDS : 0) |
           (options->wall_clock ? PERFDATA_EXPORT_WALL_CLOCK : 0);
}

static enum tool_exit run_data(struct tool *tool, void *data, int argc, char **argv)
{
    const struct data_options *options = data;
    /* A trace of the hardware is decoded for JSON, which perf does not do; a CTF trace lacks it, as
     * perf's. */
    struct perfdata_profile_options profile = tool_profile_options(
        tool, &options->profile, options->ctf ? PERFDATA_PROFILE_NO_ITRACE : 0);
    struct perfdata_export_options how = {
        .struct_size = sizeof how, .flags = export_flags(options), .detail = -1, .profile = &profile
    };
    struct perfdata_export_result result = { .struct_size = sizeof result };
    perfdata_recording *recording;
    enum tool_exit code = check(tool, options, argc, argv);
    if (code == TOOL_DONE)
        code = tool_open_one(tool, argc - 1, argv + 1, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_export_file(recording, options->ctf ? "ctf" : "json", &how,
                                                  options->ctf ? options->ctf : options->json,
                                                  &result);
    if (status >= 0)
        tell(tool, tool_input_name(tool, argc - 1, argv + 1), options, &result);
    return tool_close_run(tool, recording, status, -1);
}

const struct tool_verb tool_verb_data = {
    .name = "data",
    .synopsis = "convert [OPTIONS] --to-json FILE|--to-ctf FOLDER",
    .description =
        "Writes a recording in a form of `perf data convert`. JSON has its header, and of each "
        "sample time, process, thread, CPU,\ncommand and the recorded call chain with symbols. A "
        "trace in Common Trace Format has what was recorded of each sample,\nthe fields of "
        "tracepoints among that, for babeltrace2 and Trace Compass. `export` has the same forms "
        "and others.",
    .examples = { "data convert --to-json perf.json -i perf.data", "header and samples as JSON",
                  "data convert --to-ctf trace --all && babeltrace2 trace",
                  "samples and sideband records as a trace, read by its reader" },
    .options = data_rows,
    .options_size = sizeof(struct data_options),
    .defaults = data_defaults,
    .run = run_data,
    .flags = TOOL_VERB_PERF,
};
