/* SPDX-License-Identifier: MIT */
/* Pieces of time spread over the trace of a recording: they are decoded first, to show within a
 * moment what the trace is about. */
#ifndef PERFDATA_TOOL_SLICES_H
#define PERFDATA_TOOL_SLICES_H
#include "tool/tool.h"

enum { TOOL_SLICES = 48 };

struct tool_slices {
    uint64_t first, last; /* times of the recording */
    uint64_t bytes;       /* of its file            */
};

/* False: it has no trace, no times, or is no file. `name` is the recording's, `recording` open. */
bool tool_slices_find(const char *name, const perfdata_recording *recording,
                      struct tool_slices *out);
/* TOOL_SLICES ranges as --time takes them, together `share` of the time. For free(); NULL without
 * memory. */
char *tool_slices_text(const struct tool_slices *slices, double share);

#endif
