/* SPDX-License-Identifier: MIT */
/* Where a recording goes: a file, or a directory of files. What was there becomes NAME.old, as with perf. */
#include "record/record.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

bool pd_record_is_directory(const perfdata_recorder *recorder)
{
    return recorder->options.threads || recorder->options.kcore;
}

/* ---- what was there ---- */

static bool is_copy(const char *name)
{
    return !strcmp(name, "kcore") || !strcmp(name, "kallsyms") || !strcmp(name, "modules");
}

static bool is_part(const char *name)
{
    return !strcmp(name, "data") || !strncmp(name, "data.", 5) || !strncmp(name, "kcore_dir", 9);
}

static DIR *open_folder(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder && fd >= 0)
        close(fd);
    return folder;
}

/* A directory in which there is nothing but the files of one. */
static bool is_recording(const char *path)
{
    bool data = false, others = false;
    const struct dirent *entry;
    DIR *folder = open_folder(AT_FDCWD, path);
    while (folder && (entry = readdir(folder))) {
        const char *name = entry->d_name;
        data |= !strcmp(name, "data");
        others |= !is_part(name) && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
    }
    if (folder)
        closedir(folder);
    return data && !others;
}

static void remove_folder(int parent, const char *name, bool (*ours)(const char *name))
{
    const struct dirent *entry;
    DIR *folder = open_folder(parent, name);
    while (folder && (entry = readdir(folder)))
        if (ours(entry->d_name) && unlinkat(dirfd(folder), entry->d_name, 0) < 0 && ours == is_part)
            remove_folder(dirfd(folder), entry->d_name, is_copy);
    if (folder)
        closedir(folder);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

static void remove_old(const char *path)
{
    struct stat info;
    if (lstat(path, &info) < 0)
        return;
    if (!S_ISDIR(info.st_mode))
        (void)unlink(path);
    else if (is_recording(path))
        remove_folder(AT_FDCWD, path, is_part);
}

/* False and errno: something stands there that is not ours to move. */
static bool make_way(const char *path)
{
    struct stat info;
    char *old = NULL;
    bool done = true;
    if (stat(path, &info) || (!S_ISDIR(info.st_mode) && !S_ISREG(info.st_mode)) ||
        (S_ISREG(info.st_mode) && !info.st_size))
        return true;
    errno = EISDIR;
    if (S_ISDIR(info.st_mode) && !is_recording(path))
        return false;
    if (asprintf(&old, "%s.old", path) < 0)
        return false;
    remove_old(old);
    done = !rename(path, old);
    free(old);
    return done;
}

/* ---- what comes ---- */

static perfdata_status cannot_open(perfdata_recorder *recorder, const char *path)
{
    return pd_fail(&recorder->context, PERFDATA_ERROR_OUTPUT, -1, "failed to open %s : %s", path,
                   strerrordesc_np(errno));
}

static perfdata_status open_directory(perfdata_recorder *recorder, const char *path)
{
    struct stat info;
    if (!stat(path, &info) && S_ISREG(info.st_mode))
        (void)unlink(path); /* an empty file */
    if (mkdir(path, S_IRWXU) < 0 ||
        (recorder->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return cannot_open(recorder, path);
    recorder->fd = openat(recorder->folder, "data", O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC,
                          S_IRUSR | S_IWUSR);
    return recorder->fd >= 0 ? PERFDATA_OK : cannot_open(recorder, path);
}

perfdata_status pd_record_open_output(perfdata_recorder *recorder)
{
    const char *path = recorder->options.path;
    perfdata_status status = PERFDATA_OK;
    recorder->fd = recorder->options.fd;
    if (!path)
        return recorder->options.kcore ? pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                                                 "--kcore: a stream has no directory for the copy")
                                       : PERFDATA_OK;
    recorder->fd = -1;
    if (recorder->options.kcore && !pd_record_has_kcore(recorder))
        return pd_fail(&recorder->context, PERFDATA_ERROR_NOT_FOUND, -1,
                       "ERROR: kcore is not readable.");
    if (!make_way(path))
        status = cannot_open(recorder, path);
    else if (pd_record_is_directory(recorder))
        status = open_directory(recorder, path);
    else if ((recorder->fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC,
                                  S_IRUSR | S_IWUSR)) < 0)
        status = cannot_open(recorder, path);
    recorder->own_fd = recorder->fd >= 0;
    return status < 0 || !recorder->options.kcore ? status : pd_record_copy_kcore(recorder);
}

void pd_record_close_output(perfdata_recorder *recorder)
{
    if (recorder->own_fd)
        close(recorder->fd);
    if (recorder->folder >= 0)
        close(recorder->folder);
    recorder->own_fd = false;
    recorder->folder = -1;
}
