/* SPDX-License-Identifier: MIT */
/* view: the page of flame, served to this machine alone. */
#include "tool/show/page_code.h"
#include "tool/view/range.h"
#include "tool/view/serve.h"
#include "tool/view/slices.h"
#include "tool/verbs.h"
#include <inttypes.h>
#include <malloc.h>
#include <perfdata/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view_options {
    struct tool_profile profile;
    const char *title;
    uint64_t max_samples;
    unsigned port;
    int switches, code;
};
#define FIELD(name) offsetof(struct view_options, name)

static const struct tool_option view_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_PROFILE_INPUT,
    { TOOL_GROUP, .help = "Page" },
    { TOOL_UINT, 0, "port", "N", "of 127.0.0.1; default: a free one", FIELD(port) },
    { TOOL_STRING, 0, "title", "TEXT", "title, in place of the recording's name", FIELD(title) },
    { TOOL_U64, 0, "max-samples", "N",
      "join samples of one stack in a piece of time where there are more (2,000,000)",
      FIELD(max_samples) },
    { TOOL_FLAG, 0, "switches", NULL,
      "context switches in the timeline (on): of more than a million those of the longest runs",
      FIELD(switches) },
    TOOL_ROW_PAGE_CODE,
    { TOOL_GROUP, .help = "Call chains" },
    TOOL_ROWS_PROFILE_CHAINS,
    { TOOL_GROUP, .help = "Which samples" },
    TOOL_ROWS_PROFILE_SAMPLES,
    { 0 },
};

static void view_defaults(void *data)
{
    struct view_options *options = data;
    tool_profile_defaults(&options->profile);
    options->switches = 1;
}

/* A first part is read and shown, then a larger one, then the whole: all parts together cost a
 * seventh of it. */
#define FIRST_PART (UINT64_C(4) << 20)
#define MORE 8

struct view {
    struct tool *tool;
    const struct view_options *options;
    const char *name;
    struct perfdata_profile_options how;
    struct server *server;
    struct serve_news news;
    uint64_t limit; /* bytes of the part that is being read */
    bool stopped;   /* `limit` is less than all */
    /* A trace is read in slices, since its records stand before it and so do not tell how much of
     * it has been read. */
    bool traced;
    struct tool_slices slices;
    double slice_share; /* the share of the time that is being read; 1: all */
    char *times;        /* that time, as --time takes it */
    perfdata_page_samples *samples;
    struct tool_range range; /* while it is served */
};

static int on_progress(void *data, const struct perfdata_progress *at)
{
    struct view *view = data;
    if (!view->traced)
        view->news.share = tool_share(at);
    view->news.records = at->records;
    serve_tell(view->server, &view->news);
    /* A recording of less than two parts is read as a whole at once. */
    bool enough = at->bytes >= view->limit && at->total / 2 > view->limit;
    view->stopped |= enough;
    return serve_is_over(view->server) ? -1 : enough;
}

static int take_samples(void *data, const perfdata_profile *profile,
                        const struct perfdata_samples *from)
{
    struct view *view = data;
    uint64_t time = from->count ? from->time[from->count - 1] : 0;
    const struct tool_slices *all = &view->slices;
    if (view->traced && time > all->first && time <= all->last) {
        view->news.share = (double)(time - all->first) / (double)(all->last - all->first);
        serve_tell(view->server, &view->news);
    }
    return serve_is_over(view->server) || perfdata_page_samples_take(view->samples, profile, from);
}

/* ---- a picture ---- */

/* What was met while the recording was read, a line a kind. For warnings_free(). */
static const char **list_warnings(const struct tool *told, size_t *count)
{
    enum { LINE = 400 };
    const char **lines = calloc(PERFDATA_ISSUE_COUNT, sizeof *lines);
    *count = 0;
    for (int kind = 0; lines && kind < PERFDATA_ISSUE_COUNT; kind++) {
        const struct tool_issues *kept = &told->issues[kind];
        char *line = kept->count ? malloc(LINE) : NULL;
        if (!line)
            continue;
        snprintf(line, LINE, "file: %s: %s (%" PRIu64 " in all)", perfdata_issue_name(kind),
                 kept->first_text, kept->count);
        lines[(*count)++] = line;
    }
    return lines;
}

static void warnings_free(const char **lines, size_t count)
{
    for (size_t i = 0; lines && i < count; i++)
        free((void *)(uintptr_t)lines[i]);
    free(lines);
}

static enum tool_exit give(struct view *view, const struct tool *told,
                           perfdata_recording *recording, const perfdata_profile *profile,
                           perfdata_page_samples *samples, const perfdata_page_code *code)
{
    struct tool_text data = { 0 };
    struct perfdata_page_options page = PERFDATA_PAGE_OPTIONS_INIT;
    size_t count = 0;
    const char **warnings = view->stopped ? NULL : list_warnings(told, &count);
    page.form = PERFDATA_PAGE_DATA;
    page.title = view->options->title ? view->options->title : view->name;
    page.samples = samples;
    page.code = code;
    page.warnings = warnings;
    page.warning_count = count;
    perfdata_status status = perfdata_page_write(recording, profile, &page, tool_text_take, &data);
    warnings_free(warnings, count);
    if (status >= 0) {
        bool sliced = view->traced && view->stopped;
        serve_give(view->server, &data,
                   !view->stopped ? 1
                   : sliced       ? view->slice_share
                                  : view->news.share,
                   sliced ? TOOL_SLICES : 0);
        return TOOL_DONE;
    }
    free(data.text);
    return tool_failure(view->tool,
                        status == PERFDATA_ERROR_OUTPUT ? PERFDATA_ERROR_MEMORY : status,
                        view->name, NULL);
}

/* Reads the code for the page; a page of only a part of the recording has none. */
static enum tool_exit find_code(struct view *view, perfdata_page_code **code)
{
    struct perfdata_options open = PERFDATA_OPTIONS_INIT;
    bool wanted = view->options->code && !view->stopped;
    open.on_progress = on_progress;
    open.progress_data = view;
    if (wanted)
        view->limit = UINT64_MAX; /* this reads the whole, too */
    return tool_page_code(view->tool, wanted, view->name, &view->how, &open, code);
}

/* Only the picture stays of what was read. `told` is the tool to which the recording tells its
 * issues. */
static enum tool_exit show(struct view *view, struct tool *told, perfdata_recording *recording)
{
    perfdata_page_samples *samples = perfdata_page_samples_new(view->options->max_samples);
    perfdata_profile *profile = NULL;
    perfdata_page_code *code = NULL;
    perfdata_status status = samples ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
    enum tool_exit result = TOOL_DONE;
    view->how.samples = take_samples;
    view->how.samples_data = view;
    view->samples = samples;
    view->stopped = view->traced && view->slice_share < 1;
    if (status == PERFDATA_OK)
        status = perfdata_profile_build(recording, &view->how, &profile);
    if (profile && !serve_is_over(view->server))
        result = find_code(view, &code);
    if (profile && result == TOOL_DONE && !serve_is_over(view->server))
        result = give(view, told, recording, profile, samples, code);
    perfdata_profile_free(profile);
    perfdata_page_samples_free(samples);
    perfdata_page_code_free(code);
    if (serve_is_over(view->server)) /* then that it was not read to its end is no failure */
        status = PERFDATA_OK;
    enum tool_exit closed = tool_close_run(told, recording, status, -1);
    malloc_trim(0); /* it may be served for days */
    return serve_is_over(view->server) ? TOOL_DONE : result != TOOL_DONE ? result : closed;
}

/* ---- parts ---- */

static enum tool_exit open_again(struct view *view, struct tool *told, perfdata_recording **out)
{
    struct perfdata_options open = PERFDATA_OPTIONS_INIT;
    *told = (struct tool){ .name = view->tool->name,
                           .verb = view->tool->verb,
                           .verbose = view->tool->verbose,
                           .reading = view->tool->reading,
                           .jobs = view->tool->jobs };
    open.on_progress = on_progress;
    open.progress_data = view;
    return tool_open_as(told, view->name, &open, out);
}

/* The part that is to be read now, `first` or the one behind it. False: no memory. */
static bool choose_part(struct view *view, bool first)
{
    if (!view->traced) {
        view->limit = first                             ? FIRST_PART
                      : view->limit > UINT64_MAX / MORE ? UINT64_MAX
                                                        : view->limit * MORE;
        return true;
    }
    view->limit = UINT64_MAX;
    view->slice_share = first ? (double)FIRST_PART / (double)view->slices.bytes
                              : view->slice_share * MORE;
    if (view->slice_share > 0.5)
        view->slice_share = 1;
    free(view->times);
    view->times = view->slice_share < 1 ? tool_slices_text(&view->slices, view->slice_share) : NULL;
    view->how.time = view->times;
    return view->times || view->slice_share >= 1;
}

/* The first part, a larger one, the whole, each in place of the one before. What is wrong with a
 * part is wrong with the whole, which alone tells it. */
static enum tool_exit show_all(struct view *view, struct tool *told, perfdata_recording *recording)
{
    /* A stream cannot be read twice; strictly read, a part ends with an error, as it ends. */
    bool once = !strcmp(view->name, "-") || view->tool->reading.strict;
    enum tool_exit code = TOOL_DONE;
    view->limit = UINT64_MAX;
    view->traced = !once && !view->tool->no_itrace && !view->how.time &&
                   tool_slices_find(view->name, recording, &view->slices);
    if (view->traced) {
        view->range = (struct tool_range){
            .tool = view->tool,
            .name = view->name,
            .title = view->options->title ? view->options->title : view->name,
            .how = view->how,
            .slices = view->slices,
            .max_samples = view->options->max_samples,
        };
        serve_offer_ranges(view->server, tool_range_make, &view->range);
    }
    bool ok = once || choose_part(view, true);
    while (ok && recording) {
        code = show(view, told, recording);
        recording = NULL;
        if (!view->stopped || serve_is_over(view->server))
            break;
        free(told->warnings.text);
        ok = choose_part(view, false);
        code = open_again(view, told, &recording);
    }
    free(view->times);
    view->how.time = view->options->profile.time;
    if (!ok) {
        perfdata_recording_close(recording);
        code = tool_failure(view->tool, PERFDATA_ERROR_MEMORY, view->name, NULL);
    }
    tool_take_issues(view->tool, told);
    return code;
}

static enum tool_exit run_view(struct tool *tool, void *data, int argc, char **argv)
{
    const struct view_options *options = data;
    struct perfdata_page_options page = PERFDATA_PAGE_OPTIONS_INIT;
    struct tool_text shell = { 0 };
    struct tool told;
    perfdata_recording *recording;
    const char *missing = serve_load();
    if (missing)
        return tool_usage(tool, "%s; perfdata flame writes the page to a file", missing);
    if (options->port > 65535)
        return tool_usage(tool, "option --port: ports end at 65535");
    enum tool_exit code = tool_one_input(tool, argc, argv);
    if (code != TOOL_DONE)
        return code;
    struct view view = { .tool = tool,
                         .options = options,
                         .name = tool_input_name(tool, argc, argv),
                         .how = tool_profile_options(
                             tool, &options->profile,
                             PERFDATA_PROFILE_NO_SUMS | PERFDATA_PROFILE_CALLS |
                                 PERFDATA_PROFILE_MARKS |
                                 (options->switches ? PERFDATA_PROFILE_SWITCHES : 0u)) };
    tool_profile_for_picture(tool, &view.how);
    code = open_again(&view, &told, &recording);
    if (code != TOOL_DONE)
        return code;
    page.form = PERFDATA_PAGE_SHELL;
    if (perfdata_page_write(NULL, NULL, &page, tool_text_take, &shell) < 0)
        code = tool_failure(tool, PERFDATA_ERROR_MEMORY, view.name, NULL);
    if (code == TOOL_DONE)
        code = serve_begin(tool, &shell, (uint16_t)options->port, &view.server);
    if (code == TOOL_DONE) {
        code = show_all(&view, &told, recording);
        view.news.whole = true;
        serve_tell(view.server, &view.news);
    } else {
        perfdata_recording_close(recording);
    }
    if (code == TOOL_DONE)
        serve_wait(view.server);
    serve_end(view.server);
    free(shell.text);
    return code;
}

const struct tool_verb tool_verb_view = {
    .name = "view",
    .synopsis = "[OPTIONS] [FILE]",
    .description =
        "Serves the page of `flame` on 127.0.0.1, until CTRL+C. The address comes at once; of a "
        "large recording the page\nshows the first part, then larger ones, while the rest is read, "
        "and says of how much it is; of a trace\nthese are slices that lie all over its time, and "
        "`Exact` reads all that there is of the time in sight.\nThe address holds a token that "
        "nobody else knows; other addresses, methods than GET and requests by another\nname than "
        "127.0.0.1 or localhost are refused. Beyond --max-samples samples are joined.",
    .examples = { "view perf.data", "the page, at the address that is printed" },
    .options = view_rows,
    .options_size = sizeof(struct view_options),
    .defaults = view_defaults,
    .run = run_view,
    .flags = TOOL_VERB_UNPAGED,
};
