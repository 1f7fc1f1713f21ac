/* SPDX-License-Identifier: MIT */
/* perfdata VERB [OPTIONS] [FILE] */
#include "tool/verbs.h"
#include <string.h>

/* Whether perf has the verb, or one of the verbs below it. */
static bool is_perfs(const struct tool_verb *verb)
{
    bool found = verb->flags & TOOL_VERB_PERF;
    for (const struct tool_verb *const *sub = verb->subs; sub && *sub; sub++)
        found |= ((*sub)->flags & TOOL_VERB_PERF) != 0;
    return found;
}

static enum tool_exit run(struct tool *tool, int argc, char **argv)
{
    bool done;
    enum tool_exit code = tool->as_perf ? tool_settings_check(tool, NULL) : TOOL_DONE;
    if (code != TOOL_DONE)
        return code;
    code = tool_global_options(tool, &argc, &argv, &done);
    if (code != TOOL_DONE || done)
        return code;
    if (argc < 2) {
        tool_help_all(tool);
        return tool_exit_as(tool, TOOL_DONE, 1);
    }
    const struct tool_verb_row *row = tool_verb_find(tool, argv[1]);
    if (!row)
        return tool_verb_unknown(tool, argv[1]);
    tool->verb = row->name;
    if (tool->before.tracefs && !strcmp(row->name, "record"))
        return tool_refuse(tool, "--debugfs-dir");
    tool->pages = !(row->verb->flags & (TOOL_VERB_UNPAGED | TOOL_VERB_WRITES));
    tool->writes = row->verb->flags & TOOL_VERB_WRITES;
    if (!tool->as_perf && is_perfs(row->verb))
        code = tool_settings_check(tool, NULL);
    if (code == TOOL_DONE && (tool->as_perf || is_perfs(row->verb)))
        code = tool_settings_check(tool, row->name);
    return code != TOOL_DONE ? code : tool_verb_run(tool, row->verb, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    struct tool tool;
    tool_guard_files();
    tool_init(&tool, argc > 0 ? argv[0] : NULL);
    tool.verbs = tool_verbs;
    return tool_finish(&tool, run(&tool, argc, argv));
}
