/* SPDX-License-Identifier: MIT */
/* A range of time -> the data of a page, from a recording that is opened for it. */
#include "tool/view/range.h"
#include "tool/input.h"
#include <inttypes.h>
#include <perfdata/page.h>
#include <stdio.h>
#include <stdlib.h>

/* The most of a trace that is decoded for a range, estimated by the range's share of the time:
 * decoding so much takes some seconds. */
#define MOST_BYTES (UINT64_C(64) << 20)
#define SECOND UINT64_C(1000000000)

static bool is_too_long(const struct tool_slices *slices, uint64_t from, uint64_t to)
{
    double share = (double)(to - from) / (double)(slices->last - slices->first);
    return share * (double)slices->bytes > (double)MOST_BYTES;
}

static perfdata_status make(const struct tool_range *range, perfdata_recording *recording,
                            const char *time, struct tool_text *out)
{
    struct perfdata_page_options page = PERFDATA_PAGE_OPTIONS_INIT;
    struct perfdata_profile_options how = range->how;
    perfdata_page_samples *samples = perfdata_page_samples_new(range->max_samples);
    perfdata_profile *profile = NULL;
    how.time = time;
    how.samples = perfdata_page_samples_take;
    how.samples_data = samples;
    perfdata_status status = samples ? perfdata_profile_build(recording, &how, &profile)
                                     : PERFDATA_ERROR_MEMORY;
    page.form = PERFDATA_PAGE_DATA;
    page.title = range->title;
    page.samples = samples;
    if (status >= 0)
        status = perfdata_page_write(recording, profile, &page, tool_text_take, out);
    perfdata_profile_free(profile);
    perfdata_page_samples_free(samples);
    return status;
}

enum serve_range tool_range_make(void *data, uint64_t from, uint64_t to, struct tool_text *out)
{
    const struct tool_range *range = data;
    const struct tool *tool = range->tool;
    struct perfdata_options open = PERFDATA_OPTIONS_INIT;
    perfdata_recording *recording = NULL;
    char time[2 * (20 + 1 + 9 + 1) + 1];
    if (from > to || is_too_long(&range->slices, from, to))
        return SERVE_RANGE_TOO_LONG;
    snprintf(time, sizeof time, "%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64, from / SECOND,
             from % SECOND, to / SECOND, to % SECOND);
    struct tool told = {
        .name = tool->name, .verb = tool->verb, .reading = tool->reading, .jobs = tool->jobs
    };
    if (tool_open_as(&told, range->name, &open, &recording) != TOOL_DONE)
        return SERVE_RANGE_FAILED;
    perfdata_status status = make(range, recording, time, out);
    /* What is wrong with the recording is told where all of it is read. */
    perfdata_recording_close(recording);
    free(told.warnings.text);
    return status < 0 ? SERVE_RANGE_FAILED : SERVE_RANGE_DONE;
}
