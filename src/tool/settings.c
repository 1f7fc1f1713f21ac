/* SPDX-License-Identifier: MIT */
/* perf's configuration files, as the command honours them. */
#include "tool/tool.h"
#include <perfdata/config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PERF_EXIT_SETTINGS = 255 };

enum tool_exit tool_settings_check(struct tool *tool, const char *verb)
{
    char text[512];
    perfdata_status status = perfdata_settings_check(getenv("PERF_CONFIG"), getenv("HOME"), verb,
                                                     tool_on_issue, tool, text, sizeof text);
    if (status >= 0)
        return TOOL_DONE;
    if (status == PERFDATA_ERROR_MEMORY)
        return tool_failure(tool, status, NULL, text);
    if (tool->as_perf)
        fprintf(stderr, "%s\n", text);
    else
        tool_error(tool, "%s", text);
    return tool_exit_as(tool, TOOL_USAGE, PERF_EXIT_SETTINGS);
}

enum tool_exit tool_settings_strict(struct tool *tool)
{
    const struct tool_warnings *told = &tool->before.told;
    if (!tool->reading.strict || (!told->length && !told->left_out))
        return TOOL_DONE;
    int length = told->length ? (int)strcspn(told->text, "\n") : 0;
    tool_error(tool, "--strict: %.*s", length, length ? told->text : "");
    return TOOL_NOTHING;
}

void tool_settings_again(struct tool *tool, const char *only, const char *home)
{
    if (!tool->as_perf)
        return;
    tool_forget_settings(tool);
    /* for the verb config no value is checked, only the syntax */
    perfdata_settings_check(only, home, "config", tool_on_issue, tool, NULL, 0);
}
