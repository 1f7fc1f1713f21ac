/* SPDX-License-Identifier: MIT */
/* A name on the command line -> its verb, or what is said of it. */
#include "tool/verbs.h"
#include <string.h>

const struct tool_verb_row *tool_verb_find(const struct tool *tool, const char *name)
{
    for (const struct tool_verb_row *row = tool->verbs; row && row->verb; row++) {
        if (!strcmp(row->name, name))
            return row;
    }
    return NULL;
}

static const char *next_verb(void *context)
{
    const struct tool_verb_row **row = context;
    return (*row)->verb ? (*row)++->name : NULL;
}

/* Verbs of perf that are not here. */
static const struct {
    const char *name, *advice;
} others[] = {
#define OTHER_VERB(name, advice) { name, advice },
#include "tool/other_verbs.def"
#undef OTHER_VERB
};

static bool tell_other(struct tool *tool, const char *name)
{
    for (size_t i = 0; i < TOOL_LENGTH(others); i++) {
        if (strcmp(others[i].name, name) != 0)
            continue;
        if (*others[i].advice)
            tool_error(tool, "perf's verb %s is not here: %s", name, others[i].advice);
        else
            tool_error(tool, "perf's verb %s is not supported yet", name);
        return true;
    }
    return false;
}

enum tool_exit tool_verb_unknown(struct tool *tool, const char *name)
{
    char near[200];
    if (tell_other(tool, name))
        return tool_exit_as(tool, TOOL_USAGE, 1);
    const struct tool_verb_row *row = tool->verbs;
    tool_nearest(name, "", next_verb, &row, near, sizeof near);
    if (*near)
        tool_error(tool, "'%s' is not a verb; near: %s", name, near);
    else
        tool_error(tool, "'%s' is not a verb; see %s help", name, tool->name);
    return tool_exit_as(tool, TOOL_USAGE, 1);
}
