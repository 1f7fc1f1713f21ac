/* SPDX-License-Identifier: MIT */
/* script --list-dlfilters: the filters in this folder and among perf's, as they describe
 * themselves. */
#include "tool/show/dlfilters.h"
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATH_ROOM 4096

typedef const char *describe_fn(const char **long_description);

/* A line, if the object is a filter. */
static void describe(struct tool *tool, const char *path, const char *name)
{
    void *handle = dlopen(path, RTLD_NOW);
    describe_fn *function = NULL;

    if (!handle)
        return;
    void *found = dlsym(handle, "filter_description");
    memcpy(&function, &found, sizeof found);
    const char *more = NULL, *line = function ? function(&more) : NULL;
    bool is_filter = function || dlsym(handle, "filter_event") ||
                     dlsym(handle, "filter_event_early");
    if (is_filter)
        tool_printf(tool, "  %-36s %s\n", name, line ? line : "");
    if (is_filter && tool->verbose && more)
        tool_printf(tool, "  %-36s %s\n", "", more);
    dlclose(handle);
}

static void list_folder(struct tool *tool, const char *folder)
{
    char path[PATH_ROOM];
    DIR *directory = opendir(folder);
    const struct dirent *entry;

    while (directory && (entry = readdir(directory)) != NULL) {
        size_t length = strlen(entry->d_name);
        if (length < 4 || strcmp(entry->d_name + length - 3, ".so") != 0)
            continue;
        int written = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (written > 0 && (size_t)written < sizeof path)
            describe(tool, path, entry->d_name);
    }
    if (directory)
        closedir(directory);
}

enum tool_exit tool_list_dlfilters(struct tool *tool)
{
    char path[PATH_ROOM];
    const char *exec_path = getenv("PERF_EXEC_PATH");

    tool_printf(tool, "List of available dlfilters:\n");
    list_folder(tool, ".");
    snprintf(path, sizeof path, "%s/dlfilters",
             exec_path && exec_path[0] ? exec_path : "/usr/lib/perf-core");
    list_folder(tool, path);
    return TOOL_DONE;
}
