/* SPDX-License-Identifier: MIT */
#include "tool/verbs.h"

void tool_version(struct tool *tool)
{
    if (tool->as_perf)
        tool_puts(tool, "perf version 6.1.192\n");
    else
        tool_puts(tool, "perfdata " PERFDATA_VERSION " (prints the text of perf 6.1.192)\n");
}

static enum tool_exit run_version(struct tool *tool, void *options, int argc, char **argv)
{
    (void)options;
    if (argc)
        return tool_usage(tool, "version takes no argument: '%s'", argv[0]);
    tool_version(tool);
    return TOOL_DONE;
}

static const struct tool_option version_rows[] = { { 0 } };

const struct tool_verb tool_verb_version = {
    .name = "version",
    .synopsis = "",
    .description = "Prints the version of perfdata and that of the perf whose text it prints.",
    .examples = { "version", "the version in one line" },
    .options = version_rows,
    .run = run_version,
};
