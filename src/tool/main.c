/* SPDX-License-Identifier: MIT */
/* perfdata VERB [OPTIONS] [FILE] */
#include "tool/verbs.h"
#include <string.h>

/* For shells: verbs, or the options that stand before them, in a line. */
static void list_words(struct tool *tool, bool verbs)
{
    for (const struct tool_verb_row *row = tool_verbs; verbs && row->verb; row++)
        tool_printf(tool, "%s ", row->name);
    tool_puts(tool, verbs ? "\n" : "--help --version --no-pager --list-cmds --list-opts \n");
}

/* What stands before the verb: --version, --help, or an option of perf's that we do not have. */
static enum tool_exit run_global(struct tool *tool, const char *option)
{
    if (!strcmp(option, "--version") || !strcmp(option, "-v")) {
        tool_version(tool);
        return TOOL_DONE;
    }
    if (!strcmp(option, "--help") || !strcmp(option, "-h")) {
        tool_help_all(tool);
        return TOOL_DONE;
    }
    if (!strcmp(option, "--list-cmds") || !strcmp(option, "--list-opts")) {
        list_words(tool, option[7] == 'c');
        return TOOL_DONE;
    }
    static const char *const refused[] = { "-vv",           "-p",          "--paginate",
                                           "--exec-path",   "--html-path", "--buildid-dir",
                                           "--debugfs-dir", "--debug" };
    for (size_t i = 0; i < TOOL_LENGTH(refused); i++) {
        size_t length = strlen(refused[i]);
        if (!strncmp(option, refused[i], length) && (!option[length] || option[length] == '='))
            return tool_refuse(tool, refused[i]);
    }
    return tool_usage(tool, "unknown option %s; see %s help", option, tool->name);
}

static enum tool_exit run(struct tool *tool, int argc, char **argv)
{
    /* Output is never paged. */
    for (; argc > 1 && !strcmp(argv[1], "--no-pager"); argc--)
        argv++;
    if (argc < 2) {
        tool_help_all(tool);
        return tool_exit_as(tool, TOOL_DONE, 1);
    }
    if (argv[1][0] == '-' && argv[1][1])
        return run_global(tool, argv[1]);
    const struct tool_verb_row *row = tool_verb_find(argv[1]);
    if (!row)
        return tool_verb_unknown(tool, argv[1]);
    tool->verb = row->name;
    return tool_verb_run(tool, row->verb, argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    struct tool tool;
    tool_init(&tool, argc > 0 ? argv[0] : NULL);
    return tool_finish(&tool, run(&tool, argc, argv));
}
