/* SPDX-License-Identifier: MIT */
/* The calls of the kernel that the recorder makes, in a table that tests replace. */
#include "record/calls.h"
#include "base/memory.h"
#include "base/vec.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int event_open(void *data, const void *attr, pid_t pid, int cpu, int group, unsigned flags)
{
    (void)data;
    return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, (unsigned long)flags);
}

static int control(void *data, int fd, unsigned long request, void *argument)
{
    (void)data;
    return ioctl(fd, request, argument);
}

static void *map(void *data, size_t size, int protection, int fd, uint64_t offset)
{
    (void)data;
    return mmap(NULL, size, protection, MAP_SHARED, fd, (off_t)offset);
}

static int unmap(void *data, void *at, size_t size)
{
    (void)data;
    return munmap(at, size);
}

static int bpf(void *data, int command, void *attr, unsigned size)
{
    (void)data;
    return (int)syscall(SYS_bpf, command, attr, size);
}

const struct pd_calls pd_calls_kernel = { NULL, event_open, control, map, unmap, bpf };

PD_PRINTF(3, 0)
static bool path_of(const struct pd_roots *roots, char *out, const char *format, va_list arguments)
{
    int head = snprintf(out, PD_PATH_SIZE, "%s", roots->root ? roots->root : "");
    if (head < 0 || head >= PD_PATH_SIZE)
        return false;
    int tail = vsnprintf(out + head, (size_t)(PD_PATH_SIZE - head), format, arguments);
    return tail >= 0 && tail < PD_PATH_SIZE - head;
}

bool pd_roots_path(const struct pd_roots *roots, char out[PD_PATH_SIZE], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool fits = path_of(roots, out, format, arguments);
    va_end(arguments);
    return fits;
}

static char *read_file(const char *path, size_t *size, bool whole)
{
    const size_t most = whole ? 1 << 26 : 1 << 20;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    PD_VEC(char) bytes = { 0 };
    ssize_t got = 0;
    while (bytes.count < most && pd_vec_reserve(&bytes, bytes.count + 4096) &&
           (got = read(fd, bytes.data + bytes.count, 4095)) > 0)
        bytes.count += (size_t)got;
    int error = errno;
    close(fd);
    if (got < 0 || !bytes.data) {
        free(bytes.data);
        errno = got < 0 ? error : ENOMEM;
        return NULL;
    }
    if (!whole && bytes.count && bytes.data[bytes.count - 1] == '\n')
        bytes.count--;
    bytes.data[bytes.count] = 0;
    if (size)
        *size = bytes.count;
    return bytes.data;
}

PD_PRINTF(4, 0)
static char *read_named(const struct pd_roots *roots, size_t *size, bool whole, const char *format,
                        va_list arguments)
{
    char path[PD_PATH_SIZE];
    if (path_of(roots, path, format, arguments))
        return read_file(path, size, whole);
    errno = ENAMETOOLONG;
    return NULL;
}

char *pd_roots_read(const struct pd_roots *roots, size_t *size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *bytes = read_named(roots, size, false, format, arguments);
    va_end(arguments);
    return bytes;
}

char *pd_roots_read_all(const struct pd_roots *roots, size_t *size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *bytes = read_named(roots, size, true, format, arguments);
    va_end(arguments);
    return bytes;
}

int64_t pd_roots_number(const struct pd_roots *roots, int64_t missing, const char *format, ...)
{
    char *end;
    va_list arguments;
    va_start(arguments, format);
    char *text = read_named(roots, NULL, false, format, arguments);
    va_end(arguments);
    if (!text)
        return missing;
    errno = 0;
    long long value = strtoll(text, &end, 0);
    bool good = end != text && !errno;
    free(text);
    return good ? value : missing;
}

static char **pack(const struct pd_text *names, size_t count)
{
    char **list = pd_memory_noted(malloc((count + 1) * sizeof *list + names->length));
    if (!list)
        return NULL;
    char *text = (char *)(list + count + 1);
    if (names->length)
        memcpy(text, names->data, names->length);
    for (size_t i = 0; i < count; i++, text += strlen(text) + 1)
        list[i] = text;
    list[count] = NULL;
    return list;
}

char **pd_roots_list(const struct pd_roots *roots, size_t *count, const char *format, ...)
{
    char path[PD_PATH_SIZE];
    va_list arguments;
    va_start(arguments, format);
    bool fits = path_of(roots, path, format, arguments);
    va_end(arguments);
    *count = 0;
    errno = 0;
    DIR *folder = fits ? opendir(path) : NULL;
    if (!folder) {
        pd_memory_note_errno();
        return NULL;
    }
    struct pd_text names = { 0 };
    const struct dirent *entry;
    while ((entry = readdir(folder))) {
        if (entry->d_name[0] == '.')
            continue;
        pd_text_bytes(&names, entry->d_name, strlen(entry->d_name) + 1);
        ++*count;
    }
    closedir(folder);
    char **list = *count && !names.failed ? pack(&names, *count) : NULL;
    pd_text_free(&names);
    if (!list)
        *count = 0;
    return list;
}
