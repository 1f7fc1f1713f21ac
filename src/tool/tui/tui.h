/* SPDX-License-Identifier: MIT */
/* The interactive views: a report and a flame graph on a terminal. Without ncursesw they are not
 * built in, and verbs print. */
#ifndef PERFDATA_TOOL_TUI_H
#define PERFDATA_TOOL_TUI_H
#include "tool/tool.h"
#include <perfdata/annotate.h>
#include <perfdata/profile.h>
#include <perfdata/report.h>

/* Whether a view can be opened: it is built in, and standard input and output are a terminal that
 * can move its cursor. */
bool tool_tui_possible(const struct tool *tool);
/* Whether it is built in. */
bool tool_tui_built(void);
/* NULL: it is built in, and ncursesw is here. Else what is missing. */
const char *tool_tui_missing(void);
/* The verb's run: until the user leaves. `name` is a file that can be read several times. */
enum tool_exit tool_tui_report(struct tool *tool, const char *name,
                               const struct perfdata_report_options *options);
enum tool_exit tool_tui_flame(struct tool *tool, const char *name,
                              const struct perfdata_profile_options *options);
enum tool_exit tool_tui_annotate(struct tool *tool, const char *name,
                                 const struct perfdata_annotate_options *options);

#endif
