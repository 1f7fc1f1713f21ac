/* SPDX-License-Identifier: MIT */
/* pread() and pwrite() until all bytes are through. */
#include "io/at.h"
#include <errno.h>
#include <unistd.h>

int pd_read_at(int fd, uint64_t offset, void *to, size_t size, size_t *got)
{
    *got = 0;
    while (*got < size) {
        uint64_t at;
        if (pd_add_overflows(offset, *got, &at) || at > INT64_MAX)
            return 0; /* no file reaches that far */
        ssize_t n = pread(fd, (uint8_t *)to + *got, size - *got, (off_t)at);
        if (n == 0)
            return 0;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        *got += (size_t)n;
    }
    return 0;
}

/* A write stopped early; true: it is worth another try. */
static bool is_interrupted(ssize_t wrote)
{
    if (wrote == 0)
        errno = EIO;
    return wrote < 0 && errno == EINTR;
}

bool pd_write_at(int fd, uint64_t offset, const void *from, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pwrite(fd, (const uint8_t *)from + done, size - done, (off_t)(offset + done));
        if (n > 0)
            done += (size_t)n;
        else if (!is_interrupted(n))
            return false;
    }
    return true;
}

bool pd_write_all(int fd, const void *from, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, (const uint8_t *)from + done, size - done);
        if (n > 0)
            done += (size_t)n;
        else if (!is_interrupted(n))
            return false;
    }
    return true;
}
