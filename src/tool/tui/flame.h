/* SPDX-License-Identifier: MIT */
/* A flame graph in characters. */
#ifndef PERFDATA_TUI_FLAME_H
#define PERFDATA_TUI_FLAME_H
#include "tool/tui/screen.h"
#include <perfdata/profile.h>

/* Reads the recording and shows it until the user leaves; `options` NULL: those of `flame`.
 * `event`: the name of the one that is shown first, or NULL. The status of reading, and what went
 * wrong in `message`. */
perfdata_status flame_show(struct screen *screen, struct tool *tool, const char *name,
                           const struct perfdata_profile_options *options, const char *event,
                           char *message, size_t size);

#endif
