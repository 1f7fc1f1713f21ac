/* SPDX-License-Identifier: MIT */
/* Standard output on a terminal -> the same through a pager. */
#include "tool/tool.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* perf's order; its own setting first. */
static const char *command(void)
{
    static const char *const names[] = { "PERF_PAGER", "PAGER" };
    for (size_t i = 0; i < TOOL_LENGTH(names); i++) {
        const char *value = getenv(names[i]);
        if (value)
            return value;
    }
    return access("/usr/bin/pager", X_OK) == 0 ? "/usr/bin/pager" : "less";
}

void tool_page(struct tool *tool)
{
    const char *pager = command();
    int ends[2];
    if (!tool_output_is_terminal(tool) || !*pager || !strcmp(pager, "cat") || pipe(ends) < 0)
        return;
    int child = fork();
    if (child == 0) {
        if (!getenv("LESS"))
            setenv("LESS", "FRSX", 1);
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp("sh", "sh", "-c", pager, (char *)NULL);
        _exit(127);
    }
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
