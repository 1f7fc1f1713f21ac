/* SPDX-License-Identifier: MIT */
/* flame: a recording as a page, or as a flame graph in SVG. */
#include "tool/show/page_code.h"
#include "tool/tui/tui.h"
#include "tool/output.h"
#include "tool/text.h"
#include "tool/verbs.h"
#include <perfdata/page.h>
#include <perfdata/rewrite.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct flame_options {
    struct tool_profile profile;
    const char *output, *before, *title;
    int svg, icicle, upward, samples, lines, code;
    uint64_t max_samples;
};
#define FIELD(name) offsetof(struct flame_options, name)

static const struct tool_option flame_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    { TOOL_STRING, 0, "diff", "OLD", "compare with this recording: what grew, what shrank",
      FIELD(before) },
    TOOL_ROWS_PROFILE_INPUT,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 'o', "output", "FILE",
      "where to write, perf.html or perf.svg if not given; - is standard output", FIELD(output) },
    { TOOL_FLAG, 0, "svg", NULL, "the flame graph alone, for documents", FIELD(svg) },
    { TOOL_FLAG, 0, "icicle", NULL,
      "with --svg: the root at the top, as of graphs with more than 40 rows", FIELD(icicle) },
    { TOOL_FLAG, 0, "upward", NULL, "with --svg: the root at the bottom, however high the graph is",
      FIELD(upward) },
    { TOOL_FLAG, 0, "count", NULL, "with --svg: a sample weighs 1, not its period",
      FIELD(samples) },
    { TOOL_STRING, 0, "title", "TEXT", "title, in place of the recording's name", FIELD(title) },
    { TOOL_U64, 0, "max-samples", "N",
      "join samples of one stack in a piece of time where there are more (2,000,000)",
      FIELD(max_samples) },
    { TOOL_GROUP, .help = "Call chains" },
    { TOOL_FLAG, 0, "lines", NULL, "source lines, too: frames differ by their lines",
      FIELD(lines) },
    TOOL_ROW_PAGE_CODE,
    TOOL_ROWS_PROFILE_CHAINS,
    { TOOL_GROUP, .help = "Which samples" },
    TOOL_ROWS_PROFILE_SAMPLES,
    { 0 },
};

static void flame_defaults(void *data)
{
    struct flame_options *options = data;
    tool_profile_defaults(&options->profile);
}

/* ---- what is wrong with the recording, for the page ---- */

struct warnings {
    struct tool_text all; /* what `check` prints; its lines end with NUL once they are listed */
    const char **lines;
    size_t count;
    uint64_t issues[PERFDATA_ISSUE_COUNT]; /* of each kind */
};
enum { ISSUES_SHOWN = 10 /* of a kind; the rest is counted */ };

static void take_issue(void *data, const struct perfdata_issue *issue)
{
    struct warnings *warnings = data;
    char head[128];
    if (issue->kind < 0 || issue->kind >= PERFDATA_ISSUE_COUNT ||
        ++warnings->issues[issue->kind] > ISSUES_SHOWN)
        return;
    int length = tool_issue_head(issue, head, sizeof head);
    (void)!(tool_text_take(&warnings->all, head, (size_t)length) ||
            tool_text_take(&warnings->all, issue->text, strlen(issue->text)) ||
            tool_text_take(&warnings->all, "\n", 1));
}

/* How many there are of the kinds of which not all are shown. */
static bool count_issues(struct warnings *warnings)
{
    char line[128];
    for (int kind = 0; kind < PERFDATA_ISSUE_COUNT; kind++) {
        if (warnings->issues[kind] <= ISSUES_SHOWN)
            continue;
        int length = snprintf(line, sizeof line, "file: %s: %" PRIu64 " in all\n",
                              perfdata_issue_name(kind), warnings->issues[kind]);
        if (tool_text_take(&warnings->all, line, (size_t)length))
            return false;
    }
    return true;
}

static bool count_trace_errors(uint64_t errors, struct warnings *warnings)
{
    char line[128];
    if (!errors)
        return true;
    int length = snprintf(line, sizeof line,
                          "content: %" PRIu64 " errors of decoding: what ran there is missing\n",
                          errors);
    return !tool_text_take(&warnings->all, line, (size_t)length);
}

/* Lines that tell of something wrong: all but the counts at the end. */
static bool list_lines(struct warnings *warnings)
{
    size_t lines = 0;
    for (size_t i = 0; i < warnings->all.length; i++)
        lines += warnings->all.text[i] == '\n';
    warnings->lines = malloc((lines + 1) * sizeof *warnings->lines);
    if (!warnings->lines)
        return false;
    char *at = warnings->all.text;
    for (; lines; lines--) {
        char *end = memchr(at, '\n', warnings->all.length - (size_t)(at - warnings->all.text));
        *end = '\0';
        if (!strncmp(at, "file: ", 6) || !strncmp(at, "content: ", 9))
            warnings->lines[warnings->count++] = at;
        at = end + 1;
    }
    return true;
}

/* Reads the recording a second time, through a handle of its own: what is wrong has been told on
 * standard error already. A stream cannot be read twice. */
static bool find_warnings(struct tool *tool, const char *name, const perfdata_profile *profile,
                          struct warnings *warnings)
{
    perfdata_recording *recording;
    perfdata_status status = PERFDATA_OK;
    struct perfdata_options open = PERFDATA_OPTIONS_INIT;
    open.on_issue = take_issue;
    open.issue_data = warnings;
    tool_watch(tool, &open);
    if (strcmp(name, "-") != 0) {
        status = perfdata_recording_open(name, &open, &recording);
        if (status >= 0)
            status = perfdata_check(recording, tool_text_take, &warnings->all, NULL);
        perfdata_recording_close(recording);
    }
    return status != PERFDATA_ERROR_MEMORY && status != PERFDATA_ERROR_OUTPUT &&
           count_issues(warnings) &&
           count_trace_errors(perfdata_profile_trace_errors(profile), warnings) &&
           list_lines(warnings);
}

static void forget(struct warnings *warnings)
{
    free(warnings->lines);
    free(warnings->all.text);
}

/* ---- the verb ---- */

/* The profile of another recording, by the options of this one. */
static enum tool_exit read_before(struct tool *tool, const char *name,
                                  const struct perfdata_profile_options *how,
                                  perfdata_profile **out)
{
    perfdata_recording *recording;
    *out = NULL;
    if (!name)
        return TOOL_DONE;
    enum tool_exit code = tool_open(tool, name, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_profile_build(recording, how, out);
    return tool_close_run(tool, recording, status, -1);
}

static enum tool_exit write_all(struct tool *tool, const struct flame_options *options,
                                perfdata_recording *recording, const perfdata_profile *profile,
                                const perfdata_profile *before, const perfdata_page_code *code,
                                const char *name)
{
    struct warnings warnings = { 0 };
    struct perfdata_page_options page = PERFDATA_PAGE_OPTIONS_INIT;
    page.form = options->svg ? PERFDATA_PAGE_SVG : PERFDATA_PAGE_HTML;
    page.flags = (options->icicle ? PERFDATA_PAGE_ICICLE : 0u) |
                 (options->upward ? PERFDATA_PAGE_UPWARD : 0u) |
                 (options->samples ? PERFDATA_PAGE_SAMPLES : 0u);
    page.title = options->title ? options->title : name;
    page.before = before;
    page.code = code;
    page.max_samples = options->max_samples;
    if (!options->svg && !find_warnings(tool, name, profile, &warnings))
        tool_error(tool, "out of memory: the page does not list what is wrong with the recording");
    page.warnings = warnings.lines;
    page.warning_count = warnings.count;
    const char *path = options->output ? options->output : options->svg ? "perf.svg" : "perf.html";
    perfdata_status status = perfdata_page_file(recording, profile, &page, path);
    if (status >= 0 && !options->output)
        tool_printf(tool, "%s\n", path);
    forget(&warnings);
    return tool_written(tool, recording, status);
}

/* On a terminal the graph is shown there, unless a file is asked for. */
static bool is_interactive(const struct tool *tool, const struct flame_options *options, int argc,
                           char **argv)
{
    bool file = options->output || options->svg || options->before || options->title ||
                options->max_samples || options->lines || options->code;
    return !file && argc < 2 && tool_tui_possible(tool) &&
           strcmp(tool_input_name(tool, argc, argv), "-") != 0;
}

static enum tool_exit run_flame(struct tool *tool, void *data, int argc, char **argv)
{
    const struct flame_options *options = data;
    if (!options->svg && (options->icicle || options->upward || options->samples))
        return tool_usage(tool, "options --icicle, --upward and --count go with --svg: the page "
                                "has all of them");
    if (options->icicle && options->upward)
        return tool_usage(tool, "options --icicle and --upward exclude each other");
    if (options->svg && options->max_samples)
        return tool_usage(tool, "option --max-samples is for the page");
    if (options->svg && options->code)
        return tool_usage(tool, "option --code is for the page");
    struct perfdata_profile_options how = tool_profile_options(
        tool, &options->profile,
        options->svg ? 0
                     : PERFDATA_PROFILE_KEEP_SAMPLES | PERFDATA_PROFILE_SWITCHES |
                           PERFDATA_PROFILE_CALLS | PERFDATA_PROFILE_MARKS);
    tool_profile_for_picture(tool, &how);
    how.detail = options->lines ? PERFDATA_FRAMES_BY_LINE : PERFDATA_FRAMES_BY_FUNCTION;
    if (is_interactive(tool, options, argc, argv)) {
        how.flags &= ~(uint32_t)(PERFDATA_PROFILE_KEEP_SAMPLES | PERFDATA_PROFILE_SWITCHES |
                                 PERFDATA_PROFILE_CALLS | PERFDATA_PROFILE_MARKS);
        return tool_tui_flame(tool, tool_input_name(tool, argc, argv), &how);
    }
    perfdata_profile *before, *profile = NULL;
    perfdata_recording *recording;
    enum tool_exit code = read_before(tool, options->before, &how, &before);
    if (code != TOOL_DONE && code != TOOL_PARTIAL)
        return code;
    enum tool_exit opened = tool_open_one(tool, argc, argv, &recording);
    if (opened != TOOL_DONE) {
        perfdata_profile_free(before);
        return opened;
    }
    const char *name = tool_input_name(tool, argc, argv);
    perfdata_page_code *text = NULL;
    perfdata_status status = perfdata_profile_build(recording, &how, &profile);
    enum tool_exit written = TOOL_DONE;
    struct perfdata_options again = PERFDATA_OPTIONS_INIT;
    tool_watch(tool, &again);
    if (profile)
        written = tool_page_code(tool, options->code, name, &how, &again, &text);
    if (profile && written == TOOL_DONE)
        written = write_all(tool, options, recording, profile, before, text, name);
    perfdata_page_code_free(text);
    perfdata_profile_free(profile);
    perfdata_profile_free(before);
    enum tool_exit closed = tool_close_run(tool, recording, status, -1);
    return written != TOOL_DONE ? written : closed != TOOL_DONE ? closed : code;
}

const struct tool_verb tool_verb_flame = {
    .name = "flame",
    .synopsis = "[OPTIONS] [FILE] [-o OUT]",
    .description =
        "Draws a recording: one HTML file with a flame graph, a table, callers and callees and a "
        "timeline, which\nneeds no network and opens in any browser; with `--svg` a flame graph "
        "for documents.\n\n"
        "On a terminal, without -o or an option of the file's, the graph is shown there in "
        "characters; ? lists its keys.\n\n"
        "Of a trace (Intel PT) the page has the calls of each thread over time, and what each "
        "function's calls add\nup to. Without --itrace its graph is of samples each 10 us with "
        "their call chains; with it, of what\nit asks for, and calls are there where it has `cr` "
        "or `b`.\n\n"
        "`--diff OLD` shows what changed since another recording: widths from both, what grew in "
        "orange, what\nshrank in blue.",
    .examples = { "flame perf.data", "the page perf.html", "flame --svg -o flame.svg perf.data",
                  "a picture for a document" },
    .options = flame_rows,
    .options_size = sizeof(struct flame_options),
    .defaults = flame_defaults,
    .run = run_flame,
    .flags = TOOL_VERB_WRITES,
};
