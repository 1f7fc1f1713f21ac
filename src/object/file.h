/* SPDX-License-Identifier: MIT */
/* Whole files in memory, mapped or read, and unpacked ones. */
#ifndef PD_OBJECT_FILE_H
#define PD_OBJECT_FILE_H
#include "base/base.h"

/* Which file it was, and in which state: files that are equal in all of this have the same bytes,
 * unless somebody set the clock back. */
struct pd_file_identity {
    uint64_t device, number, size;
    int64_t changed, modified; /* nanoseconds */
};

struct pd_bytes {
    uint8_t *data;
    size_t size;
    bool mapped; /* else from malloc, or borrowed: freed by nobody */
    bool borrowed;
    struct pd_file_identity identity; /* of pd_file_map(), also once unpacked; else zeros */
};

/* Opens a regular file to read, links followed, without ever waiting; -1: there is none, or it is a
 * pipe, a device or a folder. All that a recording names (objects, debug files, maps and dumps of
 * runtimes, kernel tables, sources) is opened by this function. Below "/proc/PID/root" no link is
 * followed. */
int pd_file_open(const char *path);
/* A regular file, links followed. */
bool pd_file_is_regular(const char *path);
/* Maps a regular, non-empty file. */
bool pd_file_map(const char *path, struct pd_bytes *bytes);
/* Reads a regular file, also one of /proc and /sys, whose size is not known beforehand; false when
 * it cannot be opened or is larger than `limit`. Behind the bytes there is room for one more. */
bool pd_file_read(const char *path, struct pd_bytes *bytes, size_t limit);
/* Unpacks bytes in the gzip, xz or zstd format; bytes in none of them stay, which is true as
 * well. */
bool pd_bytes_unpack(struct pd_bytes *bytes, size_t limit);
void pd_bytes_free(struct pd_bytes *bytes);

#endif
