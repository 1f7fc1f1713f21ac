/* SPDX-License-Identifier: MIT */
/* Standard output on a terminal -> the same through a pager. */
#include "tool/tool.h"
#include <errno.h>
#include <perfdata/config.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* In perf's order: its own variable first. */
static const char *default_command(void)
{
    static const char *const names[] = { "PERF_PAGER", "PAGER" };
    for (size_t i = 0; i < TOOL_LENGTH(names); i++) {
        const char *value = getenv(names[i]);
        if (value)
            return value;
    }
    return access("/usr/bin/pager", X_OK) == 0 ? "/usr/bin/pager" : "less";
}

/* What the setting pager.VERB says: yes, no, or the pager's command. */
struct setting {
    const char *verb;
    int pages; /* -1: the setting says nothing */
    char command[1024];
};

static int take_setting(void *data, const char *key, const char *value)
{
    static const char section[] = "pager.";
    static const char *const words[][2] = {
        { "false", "true" }, { "no", "yes" }, { "off", "on" }, { "0", "1" }
    };
    struct setting *setting = data;
    if (strncmp(key, section, sizeof section - 1) != 0 ||
        strcmp(key + sizeof section - 1, setting->verb) != 0)
        return 0;
    *setting->command = '\0';
    for (size_t i = 0; i < 2 * TOOL_LENGTH(words) && value; i++)
        if (!strcasecmp(value, words[i / 2][i % 2])) {
            setting->pages = i % 2;
            return 0;
        }
    setting->pages = 1;
    if (value && (size_t)snprintf(setting->command, sizeof setting->command, "%s", value) >=
                     sizeof setting->command)
        *setting->command = '\0';
    return 0;
}

/* NULL: no pager is wanted. perf's settings can turn a verb's pager on, but not off. */
static const char *wanted_command(const struct tool *tool, struct setting *setting)
{
    if (tool->pager == 0 || !isatty(STDOUT_FILENO))
        return NULL;
    if (tool->verb)
        perfdata_settings(getenv("PERF_CONFIG"), getenv("HOME"), take_setting, setting);
    bool pages = tool->pages || tool->pager == 1;
    if (setting->pages == 1 || (setting->pages == 0 && !tool->as_perf && tool->pager != 1))
        pages = setting->pages;
    if (!pages)
        return NULL;
    const char *command = *setting->command && !tool->as_perf ? setting->command
                                                              : default_command();
    return !*command || !strcmp(command, "cat") ? NULL : command;
}

/* The environment, with the LESS that perf sets where there is none. NULL without memory. Only the
 * array is to be freed: its strings are borrowed. */
static char **pager_environment(void)
{
    static char less[] = "LESS=FRSX";
    size_t count = 0;
    while (environ[count])
        count++;
    char **list = calloc(count + 2, sizeof *list);
    if (!list)
        return NULL;
    memcpy(list, environ, count * sizeof *list);
    if (!getenv("LESS"))
        list[count] = less;
    return list;
}

static int spawn(const char *command, const int ends[2])
{
    char *arguments[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
    char **variables = pager_environment();
    posix_spawn_file_actions_t actions;
    pid_t child = 0;
    if (!variables || posix_spawn_file_actions_init(&actions)) {
        free(variables);
        return 0;
    }
    if (posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO) ||
        posix_spawn_file_actions_addclose(&actions, ends[0]) ||
        posix_spawn_file_actions_addclose(&actions, ends[1]) ||
        posix_spawnp(&child, "sh", &actions, NULL, arguments, variables))
        child = 0;
    posix_spawn_file_actions_destroy(&actions);
    free(variables);
    return child;
}

void tool_page(struct tool *tool)
{
    struct setting setting = { .verb = tool->verb, .pages = -1 };
    const char *command = wanted_command(tool, &setting);
    int ends[2];
    if (!command || pipe(ends) < 0)
        return;
    int child = spawn(command, ends);
    if (child > 0) {
        dup2(ends[1], STDOUT_FILENO);
        tool->pager_process = child;
    }
    close(ends[0]);
    close(ends[1]);
}

void tool_page_end(struct tool *tool)
{
    int status;
    if (!tool->pager_process)
        return;
    close(STDOUT_FILENO);
    while (waitpid(tool->pager_process, &status, 0) < 0 && errno == EINTR) {
    }
    tool->pager_process = 0;
}
