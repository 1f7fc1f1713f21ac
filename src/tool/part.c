/* SPDX-License-Identifier: MIT */
/* A name that can be foretold -> a complete new file of that name, or what was there before. */
#include "tool/part.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mode_t mode_of_new_files(void)
{
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static bool open_beside(struct tool_part *part)
{
    if (asprintf(&part->beside, "%s.XXXXXX", part->path) < 0) {
        part->beside = NULL;
        errno = ENOMEM;
        return false;
    }
    part->fd = mkostemp(part->beside, O_CLOEXEC);
    if (part->fd < 0) {
        free(part->beside);
        part->beside = NULL;
    }
    return part->fd >= 0 && fchmod(part->fd, mode_of_new_files()) == 0;
}

/* Does not wait until somebody opens a FIFO, but writing waits for the reader that has it open. */
static bool open_stream(struct tool_part *part)
{
    part->fd = open(part->path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
    return part->fd >= 0 && fcntl(part->fd, F_SETFL, 0) == 0;
}

bool tool_part_open(const char *path, struct tool_part *part)
{
    struct stat info;
    *part = (struct tool_part){ .fd = -1, .path = strdup(path) };
    bool file = lstat(path, &info) < 0 || S_ISREG(info.st_mode) || S_ISLNK(info.st_mode);
    if (part->path && (file ? open_beside(part) : open_stream(part)))
        return true;
    (void)tool_part_close(part, false);
    return false;
}

bool tool_part_close(struct tool_part *part, bool good)
{
    int error = errno;
    bool done = part->fd < 0 || close(part->fd) == 0;
    if (good && done && part->beside)
        done = rename(part->beside, part->path) == 0;
    if (good && !done)
        error = errno;
    if (part->beside && (!good || !done))
        unlink(part->beside);
    free(part->beside);
    free(part->path);
    *part = (struct tool_part){ .fd = -1 };
    errno = error;
    return done;
}
