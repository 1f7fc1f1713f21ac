/* SPDX-License-Identifier: MIT */
/* A build without ncursesw: there are no interactive views. */
#include "tool/tui/tui.h"

bool tool_tui_built(void)
{
    return false;
}

const char *tool_tui_missing(void)
{
    return "this build was made without ncursesw";
}

bool tool_tui_possible(const struct tool *tool)
{
    (void)tool;
    return false;
}

enum tool_exit tool_tui_report(struct tool *tool, const char *name,
                               const struct perfdata_report_options *options)
{
    (void)name, (void)options;
    return tool_usage(tool, "this build has no interactive views: it was made without ncursesw");
}

enum tool_exit tool_tui_flame(struct tool *tool, const char *name,
                              const struct perfdata_profile_options *options)
{
    (void)name, (void)options;
    return tool_usage(tool, "this build has no interactive views: it was made without ncursesw");
}

enum tool_exit tool_tui_annotate(struct tool *tool, const char *name,
                                 const struct perfdata_annotate_options *options)
{
    (void)name, (void)options;
    return tool_usage(tool, "this build has no interactive views: it was made without ncursesw");
}
