/* SPDX-License-Identifier: MIT */
/* The command as a fuzz target calls it. */
#ifndef FUZZ_RUN_VERB_H
#define FUZZ_RUN_VERB_H
#include "tool/verbs.h"
#include <stdlib.h>

/* Runs the verb that argv[0] names; argv[argc] is NULL. The exit status. */
static inline int run_verb(int argc, char **argv)
{
    struct tool tool;
    tool_init(&tool, "perfdata");
    tool.verbs = tool_verbs;
    const struct tool_verb_row *row = tool_verb_find(&tool, argv[0]);
    if (!row)
        abort();
    tool.verb = row->name;
    return tool_finish(&tool, tool_verb_run(&tool, row->verb, argc, argv));
}

#endif
