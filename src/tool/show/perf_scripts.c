/* SPDX-License-Identifier: MIT */
/* The name of a script of perf -> the command that does its work here. */
#include "tool/show/perf_scripts.h"
#include <stdio.h>
#include <string.h>

static const struct perf_script {
    const char *name, *instead;
} scripts[] = {
#define PERF_SCRIPT(name, instead) { name, instead },
#include "tool/perf_scripts.def"
#undef PERF_SCRIPT
};

static const struct perf_script *find(const char *name, size_t length)
{
    for (size_t i = 0; i < TOOL_LENGTH(scripts); i++)
        if (strlen(scripts[i].name) == length && !strncmp(scripts[i].name, name, length))
            return &scripts[i];
    return NULL;
}

bool tool_is_script(const char *name)
{
    return find(name, strlen(name)) != NULL;
}

enum tool_exit tool_list_scripts(struct tool *tool)
{
    tool_puts(tool, "Scripts of perf are not run. What does their work here:\n");
    for (size_t i = 0; i < TOOL_LENGTH(scripts); i++) {
        const char *instead = scripts[i].instead;
        if (*instead)
            tool_printf(tool, "  %-24s%s %s\n", scripts[i].name, tool->name, instead);
        else
            tool_printf(tool, "  %-24snothing yet\n", scripts[i].name);
    }
    return TOOL_DONE;
}

enum tool_exit tool_refuse_script(struct tool *tool, const char *name)
{
    const char *slash = strrchr(name, '/'), *colon = strchr(name, ':');
    const char *base = slash ? slash + 1 : colon ? colon + 1 : name;
    const char *dot = strrchr(base, '.');
    const struct perf_script *script = find(base, dot ? (size_t)(dot - base) : strlen(base));
    if (script && *script->instead)
        tool_error(tool, "scripts are not run: %s %s does the work of %s", tool->name,
                   script->instead, script->name);
    else
        tool_error(tool,
                   "scripts are not run, and nothing does the work of '%s' yet; -l lists what does",
                   name);
    return tool_exit_as(tool, TOOL_USAGE, 129);
}
