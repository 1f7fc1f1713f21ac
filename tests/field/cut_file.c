/* SPDX-License-Identifier: MIT */
/* A library to preload: the file named CUT_FILE loses all its bytes as soon as it has been mapped,
 * as by another process. */
#undef _FILE_OFFSET_BITS /* it makes one name of two functions */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#pragma GCC visibility push(default) /* of all that stands in for the C library */

typedef void *(*map_fn)(void *, size_t, int, int, int, off_t);

static void *map_and_cut(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    map_fn real = NULL;
    void *found = dlsym(RTLD_NEXT, "mmap");
    memcpy(&real, &found, sizeof real);
    void *mapped = real(at, size, protection, flags, fd, offset);
    const char *cut = getenv("CUT_FILE");
    char link[64], name[4096];
    if (fd < 0 || !cut)
        return mapped;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, name, sizeof name - 1);
    if (length > 0) {
        name[length] = '\0';
        if (!strcmp(name, cut) && truncate(cut, 0))
            abort();
    }
    return mapped;
}

void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return map_and_cut(at, size, protection, flags, fd, offset);
}

void *mmap64(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
    return map_and_cut(at, size, protection, flags, fd, offset);
}
