/* SPDX-License-Identifier: MIT */
/* Which recording is meant, and opening it. */
#include "tool/input.h"
#include <inttypes.h>
#include <perfdata/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_ROOM = 4096 };

enum tool_exit tool_parse_strict(struct tool *tool, void *options, const char *value, bool unset)
{
    (void)options, (void)value;
    tool->reading.strict = !unset;
    return TOOL_DONE;
}

enum tool_exit tool_parse_streams(struct tool *tool, void *options, const char *value, bool unset)
{
    (void)options, (void)value;
    tool->reading.all_streams = !unset;
    return TOOL_DONE;
}

enum tool_exit tool_parse_progress(struct tool *tool, void *options, const char *value, bool unset)
{
    (void)options, (void)value;
    tool->no_progress = unset;
    return TOOL_DONE;
}

enum tool_exit tool_parse_cache(struct tool *tool, void *options, const char *value, bool unset)
{
    (void)options, (void)value;
    tool->no_cache = unset;
    return TOOL_DONE;
}

/* perf reads the word as a value of color.ui, and goes on where it is none. */
enum tool_exit tool_parse_color(struct tool *tool, void *options, const char *value, bool unset)
{
    (void)options;
    if (unset || !*value || !strcmp(value, "never"))
        tool->color = 0;
    else if (!strcmp(value, "always"))
        tool->color = 1;
    else if (!strcmp(value, "auto"))
        tool->color = -1;
    else if (tool->as_perf)
        fprintf(stderr, "bad config value for 'color.ui', ignoring...\n");
    else
        return tool_usage(tool, "colours are always, never or auto, not '%s'", value);
    return TOOL_DONE;
}

enum tool_exit tool_parse_itrace(struct tool *tool, void *options, const char *value, bool unset)
{
    (void)options;
    tool->no_itrace |= unset; /* also where --itrace follows, as with perf */
    if (unset)
        return TOOL_DONE;
    if (tool->itrace_count == TOOL_ITRACE_MAX)
        return tool_usage(tool, "too many times --itrace");
    tool->itrace[tool->itrace_count++] = value ? value : "";
    return TOOL_DONE;
}

enum tool_exit tool_parse_memory(struct tool *tool, void *options, const char *value, bool unset)
{
    static const char units[] = "kMGT";
    char *end = NULL;
    (void)options;
    tool->reading.memory = 0;
    if (unset)
        return TOOL_DONE;
    unsigned long long number = *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
    const char *unit = end && *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (!end || !number || (*end && (!unit || end[1])) || number > UINT64_MAX >> shift)
        return tool_usage(tool, "option --memory needs a size like 512M, not '%s'", value);
    tool->reading.memory = (uint64_t)number << shift;
    return TOOL_DONE;
}

/* perf reads a pipe on standard input where no file is named. */
static bool stdin_is_pipe(void)
{
    struct stat status;
    return !fstat(STDIN_FILENO, &status) && S_ISFIFO(status.st_mode);
}

const char *tool_input_name(const struct tool *tool, int argc, char **argv)
{
    if (tool->input)
        return tool->input;
    if (argc > 0)
        return argv[0];
    return stdin_is_pipe() ? "-" : "perf.data";
}

enum tool_exit tool_one_input(struct tool *tool, int argc, char **argv)
{
    if (argc > 1)
        return tool_usage(tool, "'%s': one recording at a time", argv[1]);
    if (argc && tool->input)
        return tool_usage(tool, "'%s': the recording is already named (-i %s)", argv[0],
                          tool->input);
    return TOOL_DONE;
}

/* perf reads no other user's file unless -f is given, but always trusts root's. */
static bool owner_is_wrong(const struct tool *tool, const char *name)
{
    struct stat info;
    return tool->as_perf && !tool->reading.force && stat(name, &info) == 0 && info.st_uid &&
           info.st_uid != geteuid();
}

/* perf's words where it cannot open a recording; "" where it has none of its own. */
static void perf_refusal(const char *name, perfdata_status status, const char *text, char *out,
                         size_t size)
{
    bool is_default = !strcmp(name, "perf.data");
    if (status == PERFDATA_ERROR_EMPTY && !strcmp(name, "-")) /* nothing came through the pipe */
        status = PERFDATA_ERROR_NOT_PERF_DATA;
    switch (status) {
    case PERFDATA_ERROR_NOT_FOUND:
    case PERFDATA_ERROR_ACCESS:
        snprintf(out, size, "failed to open %s%s", text,
                 status == PERFDATA_ERROR_NOT_FOUND && is_default ? "  (try 'perf record' first)"
                                                                  : "");
        break;
    case PERFDATA_ERROR_EMPTY:
        snprintf(out, size, "zero-sized data (%s), nothing to do!", name);
        break;
    case PERFDATA_ERROR_NOT_PERF_DATA:
        snprintf(out, size, "incompatible file format (rerun with -v to learn more)");
        break;
    default: *out = '\0';
    }
}

/* Tells why it could not be opened. */
static void tell_refusal(struct tool *tool, const char *name, perfdata_recording *recording,
                         perfdata_status status)
{
    char words[PATH_ROOM + 128] = "";
    if (tool->as_perf && recording && status != PERFDATA_ERROR_STRICT)
        perf_refusal(name, status, perfdata_recording_error(recording, NULL), words, sizeof words);
    if (*words)
        fprintf(stderr, "%s\n", words);
    if (!*words || tool->verbose)
        tool_recording_failure(tool, recording, status);
    if (!tool->as_perf && status == PERFDATA_ERROR_NOT_FOUND && !strcmp(name, "perf.data"))
        tool_error(tool, "try '%s record' first", tool->name);
}

enum tool_exit tool_open(struct tool *tool, const char *name, perfdata_recording **out)
{
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    tool_watch(tool, &options);
    return tool_open_as(tool, name, &options, out);
}

void tool_reading_options(const struct tool *tool, struct tool *issues,
                          struct perfdata_options *options)
{
    options->on_issue = tool_on_issue;
    options->issue_data = issues;
    options->threads = tool->jobs;
    options->max_memory = tool->reading.memory;
    options->flags = (tool->reading.strict ? PERFDATA_STRICT : 0) |
                     (tool->reading.all_streams ? PERFDATA_ALL_STREAMS : 0) |
                     (tool->as_perf ? PERFDATA_LIKE_PERF : 0);
}

enum tool_exit tool_open_as(struct tool *tool, const char *name,
                            const struct perfdata_options *watched, perfdata_recording **out)
{
    struct perfdata_options options = *watched;
    tool_reading_options(tool, tool, &options);
    *out = NULL;
    bool standard_input = !strcmp(name, "-");
    if (!standard_input && owner_is_wrong(tool, name)) {
        tool_error(tool, "%s is neither yours nor root's (-f reads it all the same)", name);
        return TOOL_NOTHING;
    }
    perfdata_recording *recording;
    perfdata_status status = standard_input
                                 ? perfdata_recording_open_fd(STDIN_FILENO, &options, &recording)
                                 : perfdata_recording_open(name, &options, &recording);
    /* From standard input perf takes nothing but the pipe form, even where that is a file. */
    bool refused = status == PERFDATA_OK && standard_input && tool->as_perf &&
                   perfdata_recording_form(recording) != PERFDATA_FORM_PIPE;
    if (status == PERFDATA_OK && !refused) {
        *out = recording;
        return TOOL_DONE;
    }
    if (refused)
        tool_error(tool, "-: incompatible file format: standard input takes the pipe form");
    else
        tell_refusal(tool, name, recording, status);
    perfdata_recording_close(recording);
    return TOOL_NOTHING;
}

enum tool_exit tool_open_one(struct tool *tool, int argc, char **argv, perfdata_recording **out)
{
    enum tool_exit code = tool_one_input(tool, argc, argv);
    return code == TOOL_DONE ? tool_open(tool, tool_input_name(tool, argc, argv), out) : code;
}

enum tool_exit tool_recording_failure(struct tool *tool, perfdata_recording *recording,
                                      perfdata_status status)
{
    if (status == PERFDATA_ERROR_CANCELLED && tool->progress.ended_at.struct_size)
        return TOOL_PARTIAL; /* tool_finish() tells it */
    int64_t offset = -1;
    const char *text = recording ? perfdata_recording_error(recording, &offset) : "";
    if (status == PERFDATA_ERROR_OUTPUT) {
        if (tool->progress.text_ended)
            return TOOL_PARTIAL;
        if (*text && tool_output_ok(tool)) /* else tool_finish() tells of standard output */
            tool_error(tool, "%s", text);
        return TOOL_OUTPUT;
    }
    if (!*text)
        text = perfdata_status_text(status);
    tool_tell_warnings(tool);
    if (tool->as_perf && status == PERFDATA_ERROR_NO_DATA) /* perf's words, which name no verb */
        fprintf(stderr, "%s\n", text);
    else if (offset >= 0)
        tool_error(tool, "%s (at offset %" PRId64 ")", text, offset);
    else
        tool_error(tool, "%s", text);
    bool usage = status == PERFDATA_ERROR_ARGUMENT || status == PERFDATA_ERROR_UNSUPPORTED;
    return usage ? TOOL_USAGE : TOOL_NOTHING;
}

enum tool_exit tool_close(struct tool *tool, perfdata_recording *recording, perfdata_status status)
{
    enum tool_exit code = status < 0 ? tool_recording_failure(tool, recording, status) : TOOL_DONE;
    perfdata_recording_close(recording);
    return code;
}

/* What perf ends with when a perfconfig file has a value that it refuses. */
enum { PERF_EXIT_SETTINGS = 255 };

enum tool_exit tool_close_run(struct tool *tool, perfdata_recording *recording,
                              perfdata_status status, int perf_exit)
{
    bool perf_has = status < 0 && status != PERFDATA_ERROR_OUTPUT && perf_exit >= 0;
    bool annotates = !strcmp(tool->verb, "annotate");
    const char *text = status < 0 ? perfdata_recording_error(recording, NULL) : "";
    bool of_settings = strstr(text, "Error in the given config file: ");
    if (tool->as_perf &&
        (of_settings || (perf_has && (annotates || !strcmp(tool->verb, "report"))))) {
        tool_tell_warnings(tool);
        bool bare = of_settings || strstr(text, "\nError:\n") ||
                    !strcmp(text, "branch and mem mode incompatible") ||
                    (annotates && strstr(text, " -C option "));
        fprintf(stderr, "%s%s\n", bare ? "" : "Error:\n", text);
        perfdata_recording_close(recording);
        return tool_exit_as(tool, TOOL_NOTHING, of_settings ? PERF_EXIT_SETTINGS : perf_exit);
    }
    enum tool_exit code = tool_close(tool, recording, status);
    if (perf_has)
        code = tool_exit_as(tool, code, perf_exit);
    return code;
}

int tool_write_text(void *tool, const char *text, size_t length)
{
    struct tool *state = tool;
    if (tool_interrupted() && !state->writes && !state->progress.ended_at.struct_size) {
        state->progress.text_ended = true;
        return 1;
    }
    tool_write(state, text, length);
    return !tool_output_ok(state);
}

int tool_write_error(void *tool, const char *text, size_t length)
{
    tool_flush(tool);
    tool_tell_warnings(tool); /* perf says them as they come, which is before it */
    return fwrite(text, 1, length, stderr) != length;
}

static enum tool_exit check_stitching(struct tool *tool, const perfdata_recording *recording,
                                      const char *heading)
{
    size_t count = perfdata_recording_event_count(recording);
    if (!count)
        return tool_usage(tool, "option --stitch-lbr needs a file, not a pipe");
    for (size_t i = 0; i < count; i++) {
        uint64_t kinds = 0;
        if (perfdata_event_attr(perfdata_recording_event(recording, i), "branch_sample_type",
                                &kinds) < 0 ||
            kinds & PERFDATA_BRANCH_SAMPLE_CALL_STACK)
            return tool_usage(tool,
                              "option --stitch-lbr: call stacks of branches, as %s has, are "
                              "not stitched yet",
                              perfdata_event_name(perfdata_recording_event(recording, i)));
    }
    fprintf(stderr,
            "%sCan't find LBR callchain. Switch off --stitch-lbr.\n"
            "Please apply --call-graph lbr when recording.\n",
            heading);
    return TOOL_DONE;
}

struct perfdata_report_options tool_dump_options(const struct tool *tool,
                                                 struct perfdata_symbol_search search)
{
    return (struct perfdata_report_options){
        .struct_size = sizeof(struct perfdata_report_options),
        .flags = PERFDATA_REPORT_DUMP | PERFDATA_REPORT_QUIET,
        .threads = tool->jobs,
        .search = search,
        .perf_config = getenv("PERF_CONFIG"),
    };
}

enum tool_exit tool_open_to_stitch(struct tool *tool, int argc, char **argv, bool stitch,
                                   const char *heading, perfdata_recording **out)
{
    enum tool_exit code = tool_open_one(tool, argc, argv, out);
    return code == TOOL_DONE && stitch ? tool_check_stitching(tool, *out, heading) : code;
}

enum tool_exit tool_check_stitching(struct tool *tool, perfdata_recording *recording,
                                    const char *heading)
{
    enum tool_exit code = check_stitching(tool, recording, heading);
    if (code != TOOL_DONE)
        perfdata_recording_close(recording);
    return code;
}
