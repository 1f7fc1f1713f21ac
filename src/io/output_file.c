/* SPDX-License-Identifier: MIT */
/* A name that the user gave -> a descriptor to write to, and a complete file of that name or
 * none. */
#include "io/output_file.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 100, SUFFIX_LENGTH = 9 };

static perfdata_status cannot_write(struct pd_context *context, const char *path)
{
    return pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "%s: cannot write: %s",
                   strcmp(path, "-") != 0 ? path : "standard output", strerrordesc_np(errno));
}

char *pd_make_beside(const char *path, int (*make)(const char *name, mode_t mode), mode_t mode,
                     int *made)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - path) : 0;
    size_t base = PD_MIN(strlen(path + folder), (size_t)(NAME_MAX - SUFFIX_LENGTH));
    size_t room = folder + base + SUFFIX_LENGTH + 1;
    char *name = malloc(room);
    *made = -1;
    errno = ENOMEM;
    for (unsigned i = 0; name && i < TRIES; i++) {
        uint32_t number = i;
        (void)!getrandom(&number, sizeof number, GRND_NONBLOCK);
        snprintf(name, room, "%.*s.%08x", (int)(folder + base), path, (unsigned)number);
        *made = make(name, mode);
        if (*made >= 0 || errno != EEXIST)
            break;
    }
    return name;
}

/* mkstemp() would not do: its mode is always 0600, and the umask cannot be asked for without
 * changing it for other threads. */
static int make_file(const char *name, mode_t mode)
{
    return open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
}

/* Opens a new file whose name is that of `file` and a suffix, in the same folder. */
static bool create_beside(struct pd_output_file *file, mode_t mode)
{
    file->beside = pd_make_beside(file->path, make_file, mode, &file->fd);
    file->open = file->fd >= 0;
    return file->open;
}

/* What a link names, which need not be there; NULL and errno. */
static char *follow(const char *link)
{
    char target[PATH_MAX], *path = NULL;
    ssize_t length = readlink(link, target, sizeof target);
    if (length < 0)
        return NULL;
    const char *slash = length && target[0] == '/' ? NULL : strrchr(link, '/');
    int folder = slash ? (int)(slash + 1 - link) : 0;
    errno = ENOMEM;
    return asprintf(&path, "%.*s%.*s", folder, link, (int)length, target) < 0 ? NULL : path;
}

/* realpath() would not do: of a missing folder it leaves the folder's name. */
char *pd_output_place(const char *path)
{
    enum { LINKS = 40 };
    struct stat info;
    char *at = strdup(path);
    for (unsigned i = 0; at && !lstat(at, &info) && S_ISLNK(info.st_mode); i++) {
        char *next = NULL;
        errno = ELOOP;
        if (i < LINKS)
            next = follow(at);
        free(at);
        at = next;
    }
    return at;
}

static bool is_standard_output(const char *path, const struct stat *info)
{
    struct stat output;
    return !strcmp(path, "-") || (info && !fstat(STDOUT_FILENO, &output) &&
                                  output.st_dev == info->st_dev && output.st_ino == info->st_ino);
}

static bool open_stream(const char *path, struct pd_output_file *out)
{
    struct stat info;
    out->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    out->open = out->fd >= 0;
    if (!out->open)
        return false;
    if (fstat(out->fd, &info) == 0 && !S_ISREG(info.st_mode))
        return true;
    errno = EEXIST; /* a file has taken its place since */
    return false;
}

static perfdata_status open_named(struct pd_context *context, const char *path,
                                  enum pd_output_mode mode, const char *format,
                                  struct pd_output_file *out)
{
    struct stat info;
    bool exists = !stat(path, &info);
    *out = (struct pd_output_file){ .fd = -1, .name = path };
    if (!exists && errno != ENOENT && strcmp(path, "-") != 0)
        return cannot_write(context, path);
    bool standard = is_standard_output(path, exists ? &info : NULL);
    if (format && (standard || (exists && !S_ISREG(info.st_mode))))
        return pd_fail(context, PERFDATA_ERROR_OUTPUT, -1,
                       "%s: %s can only be a regular file, and this is none", path, format);
    if (standard) {
        out->fd = STDOUT_FILENO;
        out->open = out->keep = true;
        return PERFDATA_OK;
    }
    if (exists && !S_ISREG(info.st_mode))
        return open_stream(path, out) ? PERFDATA_OK : cannot_write(context, path);
    out->regular = true;
    out->path = pd_output_place(path);
    return out->path && create_beside(out, mode) ? PERFDATA_OK : cannot_write(context, path);
}

static void forget(struct pd_output_file *file)
{
    free(file->path);
    free(file->beside);
    *file = (struct pd_output_file){ .fd = -1 };
}

perfdata_status pd_output_file_open_regular(struct pd_context *context, const char *path,
                                            enum pd_output_mode mode, const char *format,
                                            struct pd_output_file *out)
{
    perfdata_status status = open_named(context, path, mode, format, out);
    if (status < 0) {
        int error = format ? 0 : errno; /* a format's words say more */
        if (out->open)
            close(out->fd);
        forget(out);
        out->name = path;
        out->error = error;
    }
    return status;
}

perfdata_status pd_output_file_open(struct pd_context *context, const char *path,
                                    enum pd_output_mode mode, struct pd_output_file *out)
{
    return pd_output_file_open_regular(context, path, mode, NULL, out);
}

/* Looks once more: a device may have got the name while the file was written. */
static bool take_name(const struct pd_output_file *file)
{
    struct stat info;
    if (!lstat(file->path, &info) && !S_ISREG(info.st_mode)) {
        errno = EEXIST;
        return false;
    }
    return rename(file->beside, file->path) == 0;
}

perfdata_status pd_output_file_close(struct pd_context *context, struct pd_output_file *file,
                                     perfdata_status status)
{
    if (status == PERFDATA_ERROR_OUTPUT && file->error) {
        errno = file->error;
        status = cannot_write(context, file->name);
    }
    if (!file->open)
        return status;
    if (!file->keep && close(file->fd) < 0 && status >= 0)
        status = cannot_write(context, file->name);
    if (file->beside && status >= 0 && !take_name(file))
        status = cannot_write(context, file->name);
    if (file->beside && status < 0)
        (void)unlink(file->beside);
    forget(file);
    return status;
}

int pd_create_at(int folder, const char *name, mode_t mode)
{
    struct stat info;
    if (!fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW)) {
        bool ours = S_ISREG(info.st_mode) || S_ISLNK(info.st_mode);
        if (!ours || unlinkat(folder, name, 0) < 0) {
            errno = ours ? errno : EEXIST;
            return -1;
        }
    }
    return openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
}

bool pd_output_file_write(struct pd_output_file *file, const void *bytes, size_t size)
{
    for (const char *at = bytes; size;) {
        ssize_t done = write(file->fd, at, size);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0) {
            errno = file->error = done < 0 ? errno : EIO;
            return false;
        }
        at += done;
        size -= (size_t)done;
    }
    return true;
}

int pd_output_file_put(void *file, const char *text, size_t length)
{
    return !pd_output_file_write(file, text, length);
}
