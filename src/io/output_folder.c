/* SPDX-License-Identifier: MIT */
/* A name that the user gave -> a complete folder of that name or none. */
#include "io/output_folder.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static perfdata_status cannot(struct pd_context *context, const char *path, const char *why)
{
    return pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "%s: cannot write: %s", path, why);
}

int pd_each_file(int parent, const char *path,
                 bool (*take)(int folder, const char *name, void *data), void *data)
{
    int fd = openat(parent, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    int result = folder ? 1 : -1;
    for (struct dirent *entry; result > 0 && (entry = readdir(folder)) != NULL;)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            result = take(fd, entry->d_name, data);
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
    return result;
}

static bool is_ours(int folder, const char *name, void *data)
{
    const struct pd_output_folder *output = data;
    struct stat info;
    return output->is_own(name) && !fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) &&
           S_ISREG(info.st_mode);
}

static bool remove_file(int folder, const char *name, void *data)
{
    return !is_ours(folder, name, data) || !unlinkat(folder, name, 0);
}

/* NULL: it may be replaced, or nothing is there. */
static const char *in_the_way(struct pd_output_folder *folder)
{
    struct stat info;
    if (lstat(folder->path, &info))
        return errno == ENOENT ? NULL : strerrordesc_np(errno);
    int result = pd_each_file(AT_FDCWD, folder->path, is_ours, folder);
    return result > 0    ? NULL
           : result == 0 ? "the folder that is there holds something else"
                         : strerrordesc_np(errno);
}

static int make_folder(const char *name, mode_t mode)
{
    return mkdir(name, mode);
}

static void forget(struct pd_output_folder *folder)
{
    if (folder->part >= 0)
        close(folder->part);
    if (folder->fd >= 0)
        close(folder->fd);
    free(folder->path);
    free(folder->beside);
    *folder = (struct pd_output_folder){ .fd = -1, .part = -1 };
}

/* A name that ends with slashes names the same folder. */
static char *place_of(const char *path)
{
    char *copy = strdup(path), *place = NULL;
    for (size_t length = copy ? strlen(copy) : 0; length > 1 && copy[length - 1] == '/';)
        copy[--length] = 0;
    if (copy)
        place = pd_output_place(copy);
    free(copy);
    return place;
}

perfdata_status pd_output_folder_open(struct pd_context *context, const char *path,
                                      bool (*is_own)(const char *file),
                                      struct pd_output_folder *out)
{
    int made = -1;
    *out = (struct pd_output_folder){ .fd = -1, .part = -1, .name = path, .is_own = is_own };
    out->path = place_of(path);
    const char *why = out->path ? in_the_way(out) : strerrordesc_np(errno);
    if (!why) {
        out->beside = pd_make_beside(out->path, make_folder, 0777, &made);
        if (made >= 0)
            out->fd = open(out->beside, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
        if (out->fd >= 0)
            return PERFDATA_OK;
        why = strerrordesc_np(errno);
        if (made >= 0)
            (void)rmdir(out->beside);
    }
    perfdata_status status = cannot(context, path, why);
    forget(out);
    return status;
}

bool pd_output_folder_part(struct pd_output_folder *folder, const char *name)
{
    bool closed = folder->part < 0 || !close(folder->part);
    folder->part = -1;
    if (closed)
        folder->part = openat(folder->fd, name,
                              O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (folder->part < 0)
        folder->error = errno;
    return folder->part >= 0;
}

bool pd_output_folder_write(struct pd_output_folder *folder, const void *bytes, size_t size)
{
    struct pd_output_file part = { .fd = folder->part };
    bool written = pd_output_file_write(&part, bytes, size);
    folder->error = written ? folder->error : part.error;
    return written;
}

/* Puts the old folder aside, so that its name is free, and removes it once the new one has that. A
 * name that nothing has needs no more than the last step, nor does an empty folder. */
static bool take_name(struct pd_output_folder *folder)
{
    int made;
    if (!rename(folder->beside, folder->path))
        return true;
    if (errno != ENOTEMPTY && errno != EEXIST)
        return false;
    char *aside = pd_make_beside(folder->path, make_folder, 0700, &made);
    bool done = made >= 0 && !rename(folder->path, aside);
    if (done && rename(folder->beside, folder->path)) {
        int error = errno;
        (void)rename(aside, folder->path);
        errno = error;
        done = false;
    }
    if (done)
        (void)pd_each_file(AT_FDCWD, aside, remove_file, folder);
    if (made >= 0)
        (void)rmdir(aside);
    free(aside);
    return done;
}

perfdata_status pd_output_folder_close(struct pd_context *context, struct pd_output_folder *folder,
                                       perfdata_status status)
{
    if (!folder->beside)
        return status;
    int part = folder->part;
    folder->part = -1;
    if (part >= 0 && close(part) < 0 && status >= 0)
        status = cannot(context, folder->name, strerrordesc_np(errno));
    const char *why = status >= 0 ? in_the_way(folder) : NULL;
    if (status == PERFDATA_ERROR_OUTPUT && folder->error)
        why = strerrordesc_np(folder->error);
    if (why)
        status = cannot(context, folder->name, why);
    else if (status >= 0 && !take_name(folder))
        status = cannot(context, folder->name, strerrordesc_np(errno));
    if (status < 0) {
        (void)pd_each_file(AT_FDCWD, folder->beside, remove_file, folder);
        (void)rmdir(folder->beside);
    }
    forget(folder);
    return status;
}
