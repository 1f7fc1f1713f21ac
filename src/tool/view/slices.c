/* SPDX-License-Identifier: MIT */
/* The span of a trace in time, and ranges that lie all over it. */
#include "tool/view/slices.h"
#include <inttypes.h>
#include <perfdata/records.h>
#include <perfdata/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#define SECOND UINT64_C(1000000000)

/* The span of time of the records beside the trace, where no samples say it. */
static void span_of_records(const char *name, struct tool_slices *out)
{
    struct perfdata_options how = PERFDATA_OPTIONS_INIT;
    struct perfdata_cursor_options options = { .struct_size = sizeof options,
                                               .order = PERFDATA_FILE_ORDER };
    perfdata_recording *recording = NULL;
    perfdata_cursor *cursor = NULL;
    const perfdata_record *record;
    out->first = UINT64_MAX;
    out->last = 0;
    if (perfdata_cursor_open_path(name, &how, &options, &recording, &cursor) >= 0) {
        while (perfdata_cursor_next(cursor, &record) > 0) {
            uint64_t time = perfdata_record_time(record);
            if (!time || time == PERFDATA_NO_TIME)
                continue;
            out->first = time < out->first ? time : out->first;
            out->last = time > out->last ? time : out->last;
        }
    }
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
}

bool tool_slices_find(const char *name, const perfdata_recording *recording,
                      struct tool_slices *out)
{
    struct stat file;
    if (!perfdata_recording_has_feature(recording, PERFDATA_FEATURE_AUXTRACE) ||
        stat(name, &file) < 0 || !S_ISREG(file.st_mode))
        return false;
    *out = (struct tool_slices){ .bytes = (uint64_t)file.st_size };
    if (perfdata_recording_sample_times(recording, &out->first, &out->last) < 0 || !out->first ||
        out->last <= out->first)
        span_of_records(name, out);
    return out->last > out->first;
}

char *tool_slices_text(const struct tool_slices *slices, double share)
{
    enum { LONGEST = 2 * (20 + 1 + 9 + 1) };
    char *text = malloc((size_t)TOOL_SLICES * LONGEST + 1), *to = text;
    uint64_t step = (slices->last - slices->first) / TOOL_SLICES;
    uint64_t length = (uint64_t)((double)step * share);
    for (uint64_t i = 0; text && i < TOOL_SLICES; i++) {
        uint64_t from = slices->first + i * step + (step - length) / 2, end = from + length;
        to += snprintf(to, LONGEST + 1, "%s%" PRIu64 ".%09" PRIu64 ",%" PRIu64 ".%09" PRIu64,
                       i ? " " : "", from / SECOND, from % SECOND, end / SECOND, end % SECOND);
    }
    return text;
}
