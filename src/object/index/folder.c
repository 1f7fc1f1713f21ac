/* SPDX-License-Identifier: MIT */
/* Names of indexes -> files that can be believed; the oldest make room. */
#include "object/index/folder.h"
#include "base/vec.h"
#include "io/at.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILES_MAX = 4096, A_DAY = 24 * 60 * 60 };

static bool only_ours(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* -1: there is no such folder, or others can write to it. */
static int open_folder(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0 || (fstat(fd, &st) == 0 && only_ours(&st)))
        return fd;
    close(fd);
    return -1;
}

static bool above(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');

    return slash && slash > path &&
           snprintf(out, PATH_MAX, "%.*s", (int)(slash - path), path) < PATH_MAX;
}

/* Makes it and the one above it, but nothing in a home that is not this user's: with sudo the next
 * run without could not write there. */
static int make_folder(const char *path)
{
    char parent[PATH_MAX], grandparent[PATH_MAX];
    struct stat st;

    if (!above(path, parent))
        return -1;
    if (stat(parent, &st)) {
        if (!above(parent, grandparent) || stat(grandparent, &st) || !only_ours(&st) ||
            mkdir(parent, S_IRWXU))
            return -1;
    } else if (!only_ours(&st)) {
        return -1;
    }
    (void)!mkdir(path, S_IRWXU); /* another process may have made it just now */
    return open_folder(path);
}

/* Marks it as used, so that it stays, at most once a day. */
static void mark(int fd, const struct stat *st)
{
    time_t now = time(NULL);

    if (now - st->st_mtim.tv_sec > A_DAY || st->st_mtim.tv_sec > now)
        (void)!futimens(fd, NULL);
}

bool pd_index_read(const char *folder, const char *name, struct pd_bytes *out)
{
    struct stat st;
    int at = folder ? open_folder(folder) : -1;

    *out = (struct pd_bytes){ 0 };
    if (at < 0)
        return false;
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    close(at);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && only_ours(&st) && st.st_size > 0 &&
        (uint64_t)st.st_size <= PD_INDEX_MAX) {
        void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
            *out = (struct pd_bytes){ .data = map, .size = (size_t)st.st_size, .mapped = true };
            mark(fd, &st);
        }
    }
    close(fd);
    return out->data != NULL;
}

/* ---- room ---- */

struct file {
    char *name;
    uint64_t size;
    struct timespec used;
};

static int by_use(const void *a, const void *b)
{
    const struct timespec *x = &((const struct file *)a)->used,
                          *y = &((const struct file *)b)->used;

    if (x->tv_sec != y->tv_sec)
        return x->tv_sec < y->tv_sec ? -1 : 1;
    return x->tv_nsec < y->tv_nsec ? -1 : x->tv_nsec > y->tv_nsec;
}

/* A file of another kind is left alone. */
static bool is_index(const char *name)
{
    size_t letters = strspn(name, "abcdefghijklmnopqrstuvwxyz");

    return letters && name[letters] == '-';
}

typedef PD_VEC(struct file) files;

static uint64_t list_files(DIR *folder, files *out)
{
    uint64_t total = 0;

    for (const struct dirent *entry; (entry = readdir(folder));) {
        struct stat st;
        if (!is_index(entry->d_name) ||
            fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
            continue;
        struct file file = { strdup(entry->d_name), (uint64_t)st.st_size, st.st_mtim };
        if (!file.name || !pd_vec_push(out, file)) {
            free(file.name);
            break;
        }
        total += file.size;
    }
    return total;
}

/* Makes room down to three quarters, so that not every index that is written has to look for
 * room. */
static void make_room(int at)
{
    files list = { 0 };
    int again = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = again < 0 ? NULL : fdopendir(again);

    if (!folder) {
        if (again >= 0)
            close(again);
        return;
    }
    uint64_t total = list_files(folder, &list);
    size_t left = list.count;
    if (total > PD_INDEX_TOTAL || left > FILES_MAX) {
        qsort(list.data, list.count, sizeof *list.data, by_use);
        for (size_t i = 0;
             i < list.count && (total > PD_INDEX_TOTAL / 4 * 3 || left > FILES_MAX / 4 * 3);
             i++, left--)
            if (!unlinkat(dirfd(folder), list.data[i].name, 0))
                total -= list.data[i].size;
    }
    for (size_t i = 0; i < list.count; i++)
        free(list.data[i].name);
    pd_vec_free(&list);
    closedir(folder);
}

static int open_or_make(const char *folder)
{
    int at = open_folder(folder);

    return at < 0 ? make_folder(folder) : at;
}

bool pd_index_can_write(const char *folder)
{
    int at = folder ? open_or_make(folder) : -1;
    bool can = at >= 0 && !faccessat(at, ".", W_OK | X_OK, AT_EACCESS);

    if (at >= 0)
        close(at);
    return can;
}

void pd_index_write(const char *folder, const char *name, const void *bytes, size_t size)
{
    char beside[64];
    uint64_t number;

    if (!folder || !size || size > PD_INDEX_MAX)
        return;
    int at = open_or_make(folder);
    if (at < 0)
        return;
    if (getrandom(&number, sizeof number, GRND_NONBLOCK) != (ssize_t)sizeof number)
        number = (uint64_t)getpid();
    snprintf(beside, sizeof beside, "part-%016llx", (unsigned long long)number);
    int fd = openat(at, beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    S_IRUSR | S_IWUSR);
    if (fd >= 0) {
        bool ok = pd_write_all(fd, bytes, size);
        ok = !close(fd) && ok;
        if (!ok || renameat(at, beside, at, name))
            unlinkat(at, beside, 0);
        else
            make_room(at);
    }
    close(at);
}
