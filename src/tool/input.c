/* SPDX-License-Identifier: MIT */
#include "tool/input.h"
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *tool_input_name(const struct tool *tool, int argc, char **argv)
{
    return tool->input ? tool->input : argc > 0 ? argv[0] : "perf.data";
}

/* perf reads no file of another user unless -f is given; root reads all that are its own. */
static bool owner_is_wrong(const struct tool *tool, const char *name)
{
    struct stat info;
    return tool->as_perf && !tool->force && stat(name, &info) == 0 && info.st_uid &&
           info.st_uid != geteuid();
}

enum tool_exit tool_open(struct tool *tool, const char *name, perfdata_recording **out)
{
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    options.on_issue = tool_on_issue;
    options.issue_data = tool;
    options.threads = tool->jobs;
    *out = NULL;
    bool standard_input = !strcmp(name, "-");
    if (!standard_input && owner_is_wrong(tool, name)) {
        tool_error(tool, "file %s not owned by current user or root (use -f to override)", name);
        return TOOL_NOTHING;
    }
    perfdata_recording *recording;
    perfdata_status status = standard_input
                                 ? perfdata_recording_open_fd(STDIN_FILENO, &options, &recording)
                                 : perfdata_recording_open(name, &options, &recording);
    if (status == PERFDATA_OK) {
        *out = recording;
        return TOOL_DONE;
    }
    tool_recording_failure(tool, recording, status);
    perfdata_recording_close(recording);
    return TOOL_NOTHING;
}

enum tool_exit tool_recording_failure(struct tool *tool, perfdata_recording *recording, perfdata_status status)
{
    if (status == PERFDATA_ERROR_OUTPUT)
        return TOOL_OUTPUT;
    int64_t offset = -1;
    const char *text = recording ? perfdata_recording_error(recording, &offset) : "";
    if (!*text)
        text = perfdata_status_text(status);
    if (offset >= 0)
        tool_error(tool, "%s (at offset %lld)", text, (long long)offset);
    else
        tool_error(tool, "%s", text);
    return status == PERFDATA_ERROR_ARGUMENT || status == PERFDATA_ERROR_UNSUPPORTED ? TOOL_USAGE : TOOL_NOTHING;
}

int tool_write_text(void *data, const char *text, size_t length)
{
    struct tool *tool = data;
    tool_write(tool, text, length);
    return !tool_output_ok(tool);
}
