/* SPDX-License-Identifier: MIT */
/* view: the page of flame, served to this machine alone. */
#include "tool/show/page_code.h"
#include "tool/show/serve.h"
#include "tool/verbs.h"
#include <malloc.h>
#include <perfdata/page.h>
#include <signal.h>
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
      "context switches in the timeline (on); they take memory, 40 bytes each", FIELD(switches) },
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

static int take_text(void *data, const char *text, size_t length)
{
    struct serve_page *page = data;
    if (page->capacity - page->length < length) {
        size_t capacity = 2 * (page->capacity + length);
        char *grown = realloc(page->text, capacity);
        if (!grown)
            return 1;
        page->text = grown;
        page->capacity = capacity;
    }
    memcpy(page->text + page->length, text, length);
    page->length += length;
    return 0;
}

/* Reads the recording; of all that only the page stays. */
static enum tool_exit make_page(struct tool *tool, const struct view_options *options,
                                perfdata_recording *recording, const char *name,
                                struct serve_page *out)
{
    struct perfdata_profile_options how = tool_profile_options(
        tool, &options->profile,
        PERFDATA_PROFILE_NO_SUMS | PERFDATA_PROFILE_CALLS | PERFDATA_PROFILE_MARKS |
            (options->switches ? PERFDATA_PROFILE_SWITCHES : 0u));
    struct perfdata_page_options page = PERFDATA_PAGE_OPTIONS_INIT;
    perfdata_page_samples *samples = perfdata_page_samples_new(options->max_samples);
    perfdata_profile *profile = NULL;
    perfdata_status status = samples ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
    tool_profile_for_picture(tool, &how);
    how.samples = perfdata_page_samples_take;
    how.samples_data = samples;
    page.samples = samples;
    page.title = options->title ? options->title : name;
    if (status == PERFDATA_OK)
        status = perfdata_profile_build(recording, &how, &profile);
    enum tool_exit code = TOOL_DONE;
    perfdata_page_code *text = NULL;
    if (profile && !tool_interrupted())
        code = tool_page_code(tool, options->code, name, &how, &text);
    page.code = text;
    if (profile && !tool_interrupted() && code == TOOL_DONE) {
        perfdata_status made = perfdata_page_write(recording, profile, &page, take_text, out);
        if (made < 0)
            code = tool_failure(tool, made == PERFDATA_ERROR_OUTPUT ? PERFDATA_ERROR_MEMORY : made,
                                name, NULL);
    }
    perfdata_profile_free(profile);
    perfdata_page_samples_free(samples);
    perfdata_page_code_free(text);
    enum tool_exit closed = tool_close_run(tool, recording, status, -1);
    malloc_trim(0); /* it may be served for days */
    return code != TOOL_DONE ? code : closed;
}

static enum tool_exit run_view(struct tool *tool, void *data, int argc, char **argv)
{
    const struct view_options *options = data;
    struct serve_page page = { 0 };
    perfdata_recording *recording;
    const char *missing = serve_load();
    if (missing)
        return tool_usage(tool, "%s; perfdata flame writes the page to a file", missing);
    if (options->port > 65535)
        return tool_usage(tool, "option --port: ports end at 65535");
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    code = make_page(tool, options, recording, tool_input_name(tool, argc, argv), &page);
    if (code == TOOL_DONE && !tool_interrupted())
        code = serve(tool, &page, (uint16_t)options->port);
    free(page.text);
    return code;
}

const struct tool_verb tool_verb_view = {
    .name = "view",
    .synopsis = "[OPTIONS] [FILE]",
    .description =
        "Reads a recording and serves the page of `flame` on 127.0.0.1, until CTRL+C. The address "
        "that it prints holds\na token that nobody else knows; other addresses, methods than GET "
        "and requests by another name than\n127.0.0.1 or localhost are refused. Memory stays below "
        "1 GiB also for large recordings: beyond\n--max-samples they are joined.",
    .examples = { "view perf.data", "the page, at the address that is printed" },
    .options = view_rows,
    .options_size = sizeof(struct view_options),
    .defaults = view_defaults,
    .run = run_view,
    .flags = TOOL_VERB_UNPAGED,
};
