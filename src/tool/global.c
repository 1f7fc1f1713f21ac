/* SPDX-License-Identifier: MIT */
/* What stands before the verb: perf's global options -> the state of the run, or a line that is
 * printed. */
#include "tool/verbs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What an option of perf's does here. */
enum global_kind {
    GLOBAL_VERSION,
    GLOBAL_BUILD,
    GLOBAL_HELP,
    GLOBAL_CMDS,
    GLOBAL_OPTS,
    GLOBAL_NO_PAGER,
    GLOBAL_PAGER,
    GLOBAL_EXEC_PATH,
    GLOBAL_HTML_PATH,
    GLOBAL_BUILD_ID_DIR,
    GLOBAL_NO_CACHE,
    GLOBAL_DEBUGFS,
    GLOBAL_DEBUG
};

enum global_value { VALUE_NONE, VALUE_NEXT_WORD, VALUE_BEHIND_EQUALS, VALUE_EITHER };

static const struct global_option {
    const char *name;
    enum global_kind kind;
    enum global_value value;
    /* what the message calls a value that is missing; NULL: the option needs none */
    const char *missing;
} global_options[] = {
    { "--version", GLOBAL_VERSION, VALUE_NONE, NULL },
    { "-v", GLOBAL_VERSION, VALUE_NONE, NULL },
    { "-vv", GLOBAL_BUILD, VALUE_NONE, NULL },
    { "--help", GLOBAL_HELP, VALUE_NONE, NULL },
    { "-h", GLOBAL_HELP, VALUE_NONE, NULL },
    { "--list-cmds", GLOBAL_CMDS, VALUE_NONE, NULL },
    { "--list-opts", GLOBAL_OPTS, VALUE_NONE, NULL },
    { "--no-pager", GLOBAL_NO_PAGER, VALUE_NONE, NULL },
    { "-p", GLOBAL_PAGER, VALUE_NONE, NULL },
    { "--paginate", GLOBAL_PAGER, VALUE_NONE, NULL },
    { "--exec-path", GLOBAL_EXEC_PATH, VALUE_BEHIND_EQUALS, NULL },
    { "--html-path", GLOBAL_HTML_PATH, VALUE_NONE, NULL },
    { "--buildid-dir", GLOBAL_BUILD_ID_DIR, VALUE_NEXT_WORD, "directory" },
    { "--no-cache", GLOBAL_NO_CACHE, VALUE_NONE, NULL }, /* ours */
    { "--debugfs-dir", GLOBAL_DEBUGFS, VALUE_EITHER, "directory" },
    { "--debug", GLOBAL_DEBUG, VALUE_NEXT_WORD, "variable" },
};

/* For shells: verbs, or the options that stand before them, in a line. */
static void list_words(struct tool *tool, bool verbs)
{
    for (const struct tool_verb_row *row = tool->verbs; verbs && row->verb; row++)
        tool_printf(tool, "%s ", row->name);
    for (size_t i = 0; !verbs && i < TOOL_LENGTH(global_options); i++)
        if (global_options[i].name[1] == '-')
            tool_printf(tool, "%s ", global_options[i].name);
    tool_puts(tool, "\n");
}

/* The folder below which perf has its scripts and filters: PERF_EXEC_PATH, or where it is
 * installed. */
static void print_exec_path(struct tool *tool)
{
    const char *path = getenv("PERF_EXEC_PATH");
    tool_printf(tool, "%s\n", path && *path ? path : "/usr/lib/perf-core");
}

/* KEY[=N][,...]. Only `verbose` makes this program say more; the other keys are about perf's own
 * workings. */
static enum tool_exit take_debug(struct tool *tool, const char *list)
{
    static const char *const keys[] = { "verbose", "ordered-events", "stderr", "data-convert",
                                        "perf-event-open" };
    enum { LEVEL_MAX = 10 };
    while (*list) {
        size_t length = strcspn(list, ","), name = strcspn(list, "=,"), i = 0;
        while (i < TOOL_LENGTH(keys) &&
               (strlen(keys[i]) != name || strncmp(keys[i], list, name) != 0))
            i++;
        if (i == TOOL_LENGTH(keys) && length)
            return tool_usage(tool, "option --debug: unknown name '%.*s'", (int)name, list);
        if (length && !i) {
            long level = list[name] == '=' ? strtol(list + name + 1, NULL, 10) : 1;
            tool->before.debug_level = level < 0 || level > LEVEL_MAX ? 0 : (int)level;
        }
        list += length + (list[length] == ',');
    }
    return TOOL_DONE;
}

static enum tool_exit apply(struct tool *tool, const struct global_option *option,
                            const char *value, bool *done)
{
    *done = false;
    switch (option->kind) {
    case GLOBAL_NO_PAGER: tool->pager = 0; return TOOL_DONE;
    case GLOBAL_PAGER: tool->pager = 1; return TOOL_DONE;
    case GLOBAL_BUILD_ID_DIR: tool->build_id_dir = value; return TOOL_DONE;
    case GLOBAL_NO_CACHE: tool->no_cache = true; return TOOL_DONE;
    case GLOBAL_DEBUGFS: tool->before.tracefs = true; return TOOL_DONE;
    case GLOBAL_DEBUG: return take_debug(tool, value);
    case GLOBAL_EXEC_PATH:
        if (value)
            return setenv("PERF_EXEC_PATH", value, 1)
                       ? tool_failure(tool, PERFDATA_ERROR_MEMORY, NULL, NULL)
                       : TOOL_DONE;
        print_exec_path(tool);
        break;
    case GLOBAL_HTML_PATH: tool_puts(tool, "/usr/share/doc/perf-doc\n"); break;
    case GLOBAL_VERSION: tool_version(tool); break;
    case GLOBAL_BUILD: tool_build_options(tool); break;
    case GLOBAL_HELP: tool_help_all(tool); break;
    case GLOBAL_CMDS: list_words(tool, true); break;
    case GLOBAL_OPTS: list_words(tool, false); break;
    }
    *done = true;
    return TOOL_DONE;
}

static const struct global_option *find(const char *word, const char **value)
{
    for (size_t i = 0; i < TOOL_LENGTH(global_options); i++) {
        const struct global_option *option = &global_options[i];
        size_t length = strlen(option->name);
        bool has = option->value == VALUE_BEHIND_EQUALS || option->value == VALUE_EITHER;
        if (strncmp(word, option->name, length) != 0 ||
            (word[length] && !(has && word[length] == '=')))
            continue;
        *value = word[length] ? word + length + 1 : NULL;
        return option;
    }
    return NULL;
}

enum tool_exit tool_global_options(struct tool *tool, int *argc, char ***argv, bool *done)
{
    *done = false;
    while (*argc > 1 && (*argv)[1][0] == '-' && (*argv)[1][1] && !*done) {
        const char *value = NULL;
        const struct global_option *option = find((*argv)[1], &value);
        if (!option)
            return tool_usage(tool, "unknown option %s; see %s help", (*argv)[1], tool->name);
        (*argc)--, (*argv)++;
        if (option->missing && !value) {
            if (*argc < 2)
                return tool_usage(tool, "no %s given for %s", option->missing, option->name);
            value = (*argv)[1];
            (*argc)--, (*argv)++;
        }
        enum tool_exit code = apply(tool, option, value, done);
        if (code != TOOL_DONE)
            return code;
    }
    return TOOL_DONE;
}
