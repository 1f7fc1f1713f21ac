/* SPDX-License-Identifier: MIT */
/* Files whose names the command makes from a recording's name: each is written under another name
 * beside it, and gets its own when it is complete.
 *
 * The name can be foretold, so a folder that others write to may hold a link of that name: the link
 * is replaced, not followed. A pipe, a FIFO or a device is written into and stays. (Files that the
 * user names are opened by the library, which follows links.) */
#ifndef PERFDATA_TOOL_PART_H
#define PERFDATA_TOOL_PART_H
#include <stdbool.h>

struct tool_part {
    int fd;       /* to write to, or -1 */
    char *path;   /* the name in the end */
    char *beside; /* the name until then; NULL: what stands at `path` is written into */
};

/* Opens `path` for writing, with the mode that a new file gets. False and errno: it cannot be done,
 * ENXIO for a FIFO that nobody reads. */
bool tool_part_open(const char *path, struct tool_part *part);
/* If `good`, the file gets its name, else it is removed. Closes the descriptor unless it is -1,
 * which says that its owner has closed it, and frees the names. False and errno: a good file could
 * not be finished; errno is unchanged if `good` is false. */
bool tool_part_close(struct tool_part *part, bool good);

#endif
