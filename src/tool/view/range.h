/* SPDX-License-Identifier: MIT */
/* A range of time of a trace, exact, while the rest of it may still be decoded. */
#ifndef PERFDATA_TOOL_RANGE_H
#define PERFDATA_TOOL_RANGE_H
#include "tool/view/serve.h"
#include "tool/view/slices.h"
#include <perfdata/profile.h>

struct tool_range {
    const struct tool *tool;
    const char *name, *title;
    struct perfdata_profile_options how; /* but for time and samples */
    struct tool_slices slices;
    uint64_t max_samples;
};

/* A serve_range_fn; `data` is a struct tool_range. */
enum serve_range tool_range_make(void *data, uint64_t from, uint64_t to, struct tool_text *out);

#endif
