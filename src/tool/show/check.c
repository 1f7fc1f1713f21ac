/* SPDX-License-Identifier: MIT */
/* check: what is wrong with a recording. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/rewrite.h>
#include <string.h>
#include <unistd.h>

struct check_options {
    int quiet;
};
#define FIELD(name) offsetof(struct check_options, name)

static const struct tool_option check_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_PROGRESS,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 'q', "quiet", NULL, "nothing but the exit code", FIELD(quiet) },
    { 0 },
};

struct printer {
    struct tool *tool;
    bool quiet;
};

static void print_issue(void *data, const struct perfdata_issue *issue)
{
    const struct printer *printer = data;
    if (printer->quiet || issue->kind == PERFDATA_ISSUE_OUT_OF_ORDER)
        return; /* one line for all of these */
    char head[128];
    (void)tool_issue_head(issue, head, sizeof head);
    tool_printf(printer->tool, "%s%s\n", head, issue->text);
}

static int print_text(void *data, const char *text, size_t length)
{
    const struct printer *printer = data;
    return printer->quiet ? 0 : tool_write_text(printer->tool, text, length);
}

static enum tool_exit run_check(struct tool *tool, void *data, int argc, char **argv)
{
    const struct check_options *options = data;
    struct printer printer = { tool, options->quiet };
    struct perfdata_options open = PERFDATA_OPTIONS_INIT;
    struct perfdata_check_result result = { .struct_size = sizeof result };
    perfdata_recording *recording;
    enum tool_exit code = tool_one_input(tool, argc, argv);
    if (code != TOOL_DONE)
        return code;
    const char *name = tool_input_name(tool, argc, argv);
    open.on_issue = print_issue;
    open.issue_data = &printer;
    tool_watch(tool, &open);
    perfdata_status status = strcmp(name, "-") != 0
                                 ? perfdata_recording_open(name, &open, &recording)
                                 : perfdata_recording_open_fd(STDIN_FILENO, &open, &recording);
    if (status == PERFDATA_OK)
        status = perfdata_check(recording, print_text, &printer, &result);
    if (status < 0)
        code = tool_recording_failure(tool, recording, status);
    else if (result.file_issues || result.content_issues)
        code = TOOL_PARTIAL;
    perfdata_recording_close(recording);
    return code;
}

const struct tool_verb tool_verb_check = {
    .name = "check",
    .synopsis = "[OPTIONS] [FILE]",
    .description =
        "Says what is wrong with a recording: with its file (each damage with its offset) and "
        "with its content\n(records lost, throttling, samples that are in no map, objects without "
        "build-id). Exit code 0: nothing,\n1: something, 3: it cannot be read at all.",
    .examples = { "check perf.data", "what is wrong, a line each" },
    .options = check_rows,
    .options_size = sizeof(struct check_options),
    .run = run_check,
};
