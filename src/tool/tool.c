/* SPDX-License-Identifier: MIT */
/* The state of one run of the command: messages, exit codes, standard output. */
#include "tool/tool.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { OUTPUT_SIZE = 1 << 18, OUTPUT_DIRECT = 1 << 14, WARNINGS_MAX = 1 << 16 };

void tool_init(struct tool *tool, const char *argv0)
{
    memset(tool, 0, sizeof *tool);
    const char *slash = argv0 ? strrchr(argv0, '/') : NULL;
    const char *base = slash ? slash + 1 : argv0;
    tool->as_perf = base && !strcmp(base, "perf");
    tool->name = tool->as_perf ? "perf" : "perfdata";
    tool->perf_exit = -1;
    tool->pager = tool->color = -1;
}

static void print_prefix(const struct tool *tool)
{
    if (tool->verb)
        fprintf(stderr, "%s %s: ", tool->name, tool->verb);
    else
        fprintf(stderr, "%s: ", tool->name);
}

TOOL_PRINTF(2, 0)
static void print_error(struct tool *tool, const char *format, va_list arguments)
{
    tool_progress_clear(tool);
    print_prefix(tool);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

void tool_error(struct tool *tool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(tool, format, arguments);
    va_end(arguments);
}

enum tool_exit tool_usage(struct tool *tool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    print_error(tool, format, arguments);
    va_end(arguments);
    return TOOL_USAGE;
}

enum tool_exit tool_refuse(struct tool *tool, const char *what)
{
    return tool_usage(tool, "option %s is not supported yet", what);
}

enum tool_exit tool_failure(struct tool *tool, perfdata_status status, const char *what,
                            const char *message)
{
    if (!message || !*message)
        message = perfdata_status_text(status);
    if (what)
        tool_error(tool, "%s: %s", what, message);
    else
        tool_error(tool, "%s", message);
    switch (status) {
    case PERFDATA_OK: return TOOL_DONE;
    case PERFDATA_ERROR_ARGUMENT:
    case PERFDATA_ERROR_UNSUPPORTED: return TOOL_USAGE;
    case PERFDATA_ERROR_OUTPUT: return TOOL_OUTPUT;
    default: return TOOL_NOTHING;
    }
}

enum tool_exit tool_exit_as(struct tool *tool, enum tool_exit code, int perf_code)
{
    tool->perf_exit = perf_code;
    return code;
}

/* Whether an issue of this kind means that the output lacks something of the recording. */
static bool issue_is_loss(int kind)
{
    switch (kind) {
    case PERFDATA_ISSUE_UNFINISHED:
    case PERFDATA_ISSUE_TRUNCATED:
    case PERFDATA_ISSUE_BAD_RECORD:
    case PERFDATA_ISSUE_SKIPPED_BYTES:
    case PERFDATA_ISSUE_BAD_FEATURE:
    case PERFDATA_ISSUE_BAD_SAMPLE:
    case PERFDATA_ISSUE_LIMIT:
    case PERFDATA_ISSUE_UNSUPPORTED: return true;
    default: return false;
    }
}

static void print_issue(struct tool *tool, int kind, int64_t offset, const char *text,
                        uint64_t count)
{
    tool_progress_clear(tool);
    print_prefix(tool);
    fprintf(stderr, "%s: %s", perfdata_issue_name(kind), text);
    if (offset >= 0)
        fprintf(stderr, " (%soffset %" PRId64 ")", count > 1 ? "first at " : "at ", offset);
    if (count > 1)
        fprintf(stderr, ", %" PRIu64 " times", count);
    fputc('\n', stderr);
}

static bool is_kept(const struct tool_warnings *warnings, const char *text)
{
    for (size_t at = 0; at < warnings->length; at += strlen(warnings->text + at) + 1) {
        if (!strcmp(warnings->text + at, text))
            return true;
    }
    return false;
}

/* Workers say warnings while text is written, and what was said so far is written before it. */
static pthread_mutex_t warnings_lock = PTHREAD_MUTEX_INITIALIZER;

static void keep_new_warning(struct tool_warnings *warnings, const char *text)
{
    size_t size = strlen(text) + 1;
    char *grown = warnings->length + size <= WARNINGS_MAX
                      ? realloc(warnings->text, warnings->length + size)
                      : NULL;
    if (!grown) {
        warnings->left_out++;
        return;
    }
    memcpy(grown + warnings->length, text, size);
    warnings->text = grown;
    warnings->length += size;
}

/* Each text once, in the order in which they came. */
static void keep_warning(struct tool_warnings *warnings, const char *text)
{
    pthread_mutex_lock(&warnings_lock);
    if (!is_kept(warnings, text))
        keep_new_warning(warnings, text);
    pthread_mutex_unlock(&warnings_lock);
}

void tool_tell_warnings(struct tool *tool)
{
    struct tool_warnings *warnings = &tool->warnings;
    pthread_mutex_lock(&warnings_lock);
    if (warnings->told < warnings->length)
        tool_progress_clear(tool);
    for (; warnings->told < warnings->length;
         warnings->told += strlen(warnings->text + warnings->told) + 1)
        if (!tool->quiet)
            fputs(warnings->text + warnings->told, stderr);
    uint64_t left_out = warnings->left_out;
    warnings->left_out = 0;
    pthread_mutex_unlock(&warnings_lock);
    if (left_out)
        tool_error(tool, "%" PRIu64 " further warnings", left_out);
}

/* Printed at once, since perf says it before all else; and once, since this program reads the same
 * files several times. */
static void tell_setting(struct tool *tool, const char *text)
{
    if (is_kept(&tool->before.told, text))
        return;
    tool_progress_clear(tool);
    fputs(text, stderr);
    keep_warning(&tool->before.told, text);
}

void tool_forget_settings(struct tool *tool)
{
    free(tool->before.told.text);
    tool->before.told = (struct tool_warnings){ 0 };
}

void tool_on_issue(void *context, const struct perfdata_issue *issue)
{
    struct tool *tool = context;
    if (issue->kind < 0 || issue->kind >= PERFDATA_ISSUE_COUNT)
        return;
    struct tool_issues *kept = &tool->issues[issue->kind];
    if (issue->perf_text) {
        kept->warnings++;
        if (issue->kind == PERFDATA_ISSUE_CONFIG)
            tell_setting(tool, issue->perf_text);
        else
            keep_warning(&tool->warnings, issue->perf_text);
        return;
    }
    /* Workers say them in any order: the one that lies first in the file is kept, and among those
     * of unknown place the one with the least text. */
    int order = issue->offset < kept->first_offset ? -1 : issue->offset > kept->first_offset;
    if (!order)
        order = strncmp(issue->text, kept->first_text, sizeof kept->first_text - 1);
    if (!kept->count++ || order < 0) {
        kept->first_offset = issue->offset;
        snprintf(kept->first_text, sizeof kept->first_text, "%s", issue->text);
    }
    if (tool->verbose && !tool->as_perf)
        print_issue(tool, issue->kind, issue->offset, issue->text, 1);
}

void tool_take_issues(struct tool *tool, struct tool *told)
{
    memcpy(tool->issues, told->issues, sizeof tool->issues);
    free(tool->warnings.text);
    tool->warnings = told->warnings;
    told->warnings = (struct tool_warnings){ 0 };
}

int tool_issue_head(const struct perfdata_issue *issue, char *text, size_t size)
{
    const char *kind = perfdata_issue_name(issue->kind);
    return issue->offset >= 0
               ? snprintf(text, size, "file: %s at offset %" PRId64 ": ", kind, issue->offset)
               : snprintf(text, size, "file: %s: ", kind);
}

enum tool_exit tool_issues_exit(const struct tool *tool)
{
    for (int kind = 0; kind < PERFDATA_ISSUE_COUNT; kind++) {
        const struct tool_issues *kept = &tool->issues[kind];
        if ((kept->count || kept->warnings) && issue_is_loss(kind))
            return TOOL_PARTIAL;
    }
    return TOOL_DONE;
}

static void print_issues(struct tool *tool)
{
    for (int kind = 0; kind < PERFDATA_ISSUE_COUNT; kind++) {
        const struct tool_issues *kept = &tool->issues[kind];
        bool told = tool->as_perf ? kept->warnings || !issue_is_loss(kind)
                                  : kind == PERFDATA_ISSUE_LIMIT && kept->count == 1 &&
                                        tool->progress.ended_at.struct_size; /* by an interrupt */
        if (kept->count && !told)
            print_issue(tool, kind, kept->first_offset, kept->first_text, kept->count);
    }
}

int tool_finish(struct tool *tool, enum tool_exit code)
{
    tool_progress_clear(tool);
    tool_flush(tool);
    tool_page_end(tool); /* messages would run through its screen */
    tool_tell_warnings(tool);
    tool_tell_interrupt(tool);
    if (tool->as_perf || !tool->verbose)
        print_issues(tool);
    if (code == TOOL_DONE)
        code = tool_issues_exit(tool);
    if (tool_file_was_cut()) {
        tool_error(tool, "a file became shorter while it was read: what it held may be missing");
        code = code == TOOL_DONE ? TOOL_PARTIAL : code;
    }
    if (tool->output.error) {
        errno = tool->output.error;
        print_prefix(tool);
        fprintf(stderr, "standard output: %s\n", strerror(tool->output.error));
        code = TOOL_OUTPUT;
        tool->perf_exit = -1;
    }
    free(tool->output.buffer);
    tool->output.buffer = NULL;
    free(tool->warnings.text);
    tool->warnings = (struct tool_warnings){ 0 };
    tool_forget_settings(tool);
    if (!tool->as_perf)
        return code;
    if (tool->perf_exit >= 0)
        return tool->perf_exit;
    switch (code) {
    case TOOL_DONE:
    case TOOL_PARTIAL: return 0;
    case TOOL_USAGE: return 129;
    case TOOL_OUTPUT: return 1;
    case TOOL_NOTHING: break;
    }
    return 255;
}

bool tool_output_ok(const struct tool *tool)
{
    return !tool->output.error && !tool->output.closed;
}

static void write_all(struct tool *tool, const char *bytes, size_t size)
{
    if (size && !tool->printed) {
        tool_progress_clear(tool);
        tool->printed = true;
        tool_page(tool);
    }
    while (size && tool_output_ok(tool)) {
        ssize_t done = write(STDOUT_FILENO, bytes, size);
        if (done >= 0) {
            bytes += done;
            size -= (size_t)done;
        } else if (errno == EPIPE) {
            tool->output.closed = true;
        } else if (errno != EINTR) {
            tool->output.error = errno;
        }
    }
}

void tool_flush(struct tool *tool)
{
    write_all(tool, tool->output.buffer, tool->output.length);
    tool->output.length = 0;
}

void tool_write(struct tool *tool, const void *bytes, size_t size)
{
    struct tool_output *output = &tool->output;
    if (!output->buffer) {
        output->buffer = malloc(OUTPUT_SIZE);
        output->capacity = output->buffer ? OUTPUT_SIZE : 0;
    }
    if (size > output->capacity - output->length)
        tool_flush(tool);
    /* A large piece is written directly: gathering it would save nothing. */
    if (size >= output->capacity || size >= OUTPUT_DIRECT) {
        tool_flush(tool);
        write_all(tool, bytes, size);
        return;
    }
    memcpy(output->buffer + output->length, bytes, size);
    output->length += size;
}

void tool_puts(struct tool *tool, const char *text)
{
    tool_write(tool, text, strlen(text));
}

void tool_printf(struct tool *tool, const char *format, ...)
{
    char small[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(small, sizeof small, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    if ((size_t)length < sizeof small) {
        tool_write(tool, small, (size_t)length);
        return;
    }
    char *large = malloc((size_t)length + 1);
    if (!large) {
        tool->output.error = ENOMEM;
        return;
    }
    va_start(arguments, format);
    vsnprintf(large, (size_t)length + 1, format, arguments);
    va_end(arguments);
    tool_write(tool, large, (size_t)length);
    free(large);
}

bool tool_output_is_terminal(const struct tool *tool)
{
    return tool->pager_process || isatty(STDOUT_FILENO);
}

bool tool_colors(const struct tool *tool)
{
    const char *no = getenv("NO_COLOR"), *terminal = getenv("TERM");
    bool plain = (no && *no) || (!tool->as_perf && terminal && !strcmp(terminal, "dumb"));
    return tool->color >= 0 ? tool->color : !plain && tool_output_is_terminal(tool);
}

unsigned tool_columns(void)
{
    const char *text = getenv("COLUMNS");
    unsigned long columns = text ? strtoul(text, NULL, 10) : 0;
    struct winsize size;
    if (!columns && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size))
        columns = size.ws_col;
    if (!columns)
        columns = 80;
    return columns < 40 ? 40 : columns > 1000 ? 1000 : (unsigned)columns;
}

/* A relative XDG_CACHE_HOME is invalid and ignored, says the XDG base directory specification. */
const char *tool_index_dir(const struct tool *tool)
{
    static char path[PATH_MAX];
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;

    if (tool->no_cache)
        return NULL;
    if (cache && cache[0] == '/')
        length = snprintf(path, sizeof path, "%s/perfdata", cache);
    else if (home && home[0] == '/')
        length = snprintf(path, sizeof path, "%s/.cache/perfdata", home);
    return length > 0 && length < (int)sizeof path ? path : NULL;
}
