/* SPDX-License-Identifier: MIT */
/* Where a recording goes: a file, or a directory of files. What was there becomes NAME.old, as with
 * perf. A FIFO or device of that name gets a stream. */
#include "record/record.h"
#include "io/output_folder.h"
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

static bool take_part(int folder, const char *name, void *data)
{
    (void)folder;
    *(bool *)data |= !strcmp(name, "data");
    return is_part(name);
}

/* A directory in which there is nothing but the files of one. */
static bool is_recording(const char *path)
{
    bool data = false;
    return pd_each_file(AT_FDCWD, path, take_part, &data) > 0 && data;
}

static bool remove_copy(int folder, const char *name, void *data)
{
    (void)data;
    if (is_copy(name))
        (void)unlinkat(folder, name, 0);
    return true;
}

static bool remove_part(int folder, const char *name, void *data)
{
    (void)data;
    if (!is_part(name) || !unlinkat(folder, name, 0))
        return true;
    (void)pd_each_file(folder, name, remove_copy, NULL);
    (void)unlinkat(folder, name, AT_REMOVEDIR);
    return true;
}

static void remove_old(const char *path)
{
    struct stat info;
    if (lstat(path, &info) < 0)
        return;
    if (!S_ISDIR(info.st_mode))
        (void)unlink(path);
    else if (is_recording(path)) {
        (void)pd_each_file(AT_FDCWD, path, remove_part, NULL);
        (void)rmdir(path);
    }
}

/* Whether a rename may replace what has this name: a device or a FIFO is nobody's old recording. */
static bool may_go(const char *path)
{
    struct stat info;
    return lstat(path, &info) < 0 || S_ISREG(info.st_mode) || S_ISLNK(info.st_mode) ||
           S_ISDIR(info.st_mode);
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
    errno = EEXIST;
    done = may_go(old);
    if (done) {
        remove_old(old);
        done = !rename(path, old);
    }
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
        (recorder->output.folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
        return cannot_open(recorder, path);
    recorder->output.fd = openat(recorder->output.folder, "data",
                                 O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
    return recorder->output.fd >= 0 ? PERFDATA_OK : cannot_open(recorder, path);
}

/* In place, unlike other outputs: others read a recording while it grows. */
static bool open_file(perfdata_recorder *recorder, const char *path)
{
    struct stat info;
    recorder->output.fd = open(path, O_CREAT | O_RDWR | O_TRUNC | O_CLOEXEC | O_NONBLOCK,
                               S_IRUSR | S_IWUSR);
    if (recorder->output.fd < 0 || fstat(recorder->output.fd, &info) < 0)
        return false;
    errno = EEXIST; /* since the recorder was opened something else has taken the name */
    if (!S_ISREG(info.st_mode))
        return false;
    /* an empty file that was there keeps its owner and mode, but for what would make it run as that
     * owner */
    return !(info.st_mode & (S_ISUID | S_ISGID)) ||
           !fchmod(recorder->output.fd, info.st_mode & 0777);
}

static perfdata_status open_stream(perfdata_recorder *recorder)
{
    perfdata_status status = pd_output_file_open(&recorder->context, recorder->output.stream,
                                                 PD_OUTPUT_PRIVATE, &recorder->output.stream_file);
    recorder->output.fd = recorder->output.stream_file.open ? recorder->output.stream_file.fd : -1;
    if (status == PERFDATA_OK && recorder->output.stream_file.regular)
        status = pd_fail(&recorder->context, PERFDATA_ERROR_OUTPUT, -1, "%s: is no stream any more",
                         recorder->output.stream);
    return status;
}

void pd_record_know_stream(perfdata_recorder *recorder)
{
    struct stat info;
    const char *path = recorder->options.path;
    if (!path || stat(path, &info) < 0 || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))
        return;
    recorder->output.stream = path;
    recorder->options.path = NULL;
}

perfdata_status pd_record_open_output(perfdata_recorder *recorder)
{
    const char *path = recorder->options.path;
    perfdata_status status = PERFDATA_OK;
    recorder->output.fd = recorder->options.fd;
    if (!path && recorder->options.kcore)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "--kcore: a stream has no directory for the copy");
    if (!path)
        return recorder->output.stream ? open_stream(recorder) : PERFDATA_OK;
    recorder->output.fd = -1;
    if (recorder->options.kcore && !pd_record_has_kcore(recorder))
        return pd_fail(&recorder->context, PERFDATA_ERROR_NOT_FOUND, -1,
                       "ERROR: kcore is not readable.");
    if (!make_way(path))
        status = cannot_open(recorder, path);
    else if (pd_record_is_directory(recorder))
        status = open_directory(recorder, path);
    else if (!open_file(recorder, path))
        status = cannot_open(recorder, path);
    recorder->output.own_fd = recorder->output.fd >= 0;
    return status < 0 || !recorder->options.kcore ? status : pd_record_copy_kcore(recorder);
}

void pd_record_close_output(perfdata_recorder *recorder)
{
    if (recorder->output.own_fd)
        close(recorder->output.fd);
    (void)pd_output_file_close(&recorder->context, &recorder->output.stream_file,
                               recorder->output.stream_file.regular ? PERFDATA_ERROR_CANCELLED
                                                                    : PERFDATA_OK);
    if (recorder->output.folder >= 0)
        close(recorder->output.folder);
    recorder->output.own_fd = false;
    recorder->output.folder = -1;
}
