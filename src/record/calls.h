/* SPDX-License-Identifier: MIT */
/* What the recorder asks of the kernel, in one table that a test may replace, and where it looks
 * for it. */
#ifndef PD_RECORD_CALLS_H
#define PD_RECORD_CALLS_H
#include "base/text.h"
#include <sys/types.h>

struct pd_calls {
    void *data; /* first argument of all */
    /* `attr` as the kernel takes it, its size in it. A descriptor, or -1 and errno. */
    int (*event_open)(void *data, const void *attr, pid_t pid, int cpu, int group, unsigned flags);
    int (*control)(void *data, int fd, unsigned long request, void *argument);
    void *(*map)(void *data, size_t size, int protection, int fd, uint64_t offset);
    int (*unmap)(void *data, void *at, size_t size);
    /* bpf(2); NULL: there are no programs. */
    int (*bpf)(void *data, int command, void *attr, unsigned size);
};

extern const struct pd_calls pd_calls_kernel;

/* "" is this machine; a test has its own files below. */
struct pd_roots {
    const char *root;
};

enum { PD_PATH_SIZE = 512 };

/* <root>/<formatted path>, false when it is too long. */
bool pd_roots_path(const struct pd_roots *roots, char out[PD_PATH_SIZE], const char *format, ...)
    PD_PRINTF(3, 4);
/* The whole of a small file (1 MiB at most), NUL-terminated, its last newline taken away; to be
 * freed. NULL and errno. */
char *pd_roots_read(const struct pd_roots *roots, size_t *size, const char *format, ...)
    PD_PRINTF(3, 4);
/* A whole file as it is, up to 64 MiB. */
char *pd_roots_read_all(const struct pd_roots *roots, size_t *size, const char *format, ...)
    PD_PRINTF(3, 4);
/* A number from a file; `missing` when it cannot be read. */
int64_t pd_roots_number(const struct pd_roots *roots, int64_t missing, const char *format, ...)
    PD_PRINTF(3, 4);
/* Names in a folder, in the folder's order as perf takes them, in one block to be freed with its
 * pointers; NULL: none. */
char **pd_roots_list(const struct pd_roots *roots, size_t *count, const char *format, ...)
    PD_PRINTF(3, 4);

#endif
