/* SPDX-License-Identifier: MIT */
/* A directory with a copy of the kernel -> such a directory again. */
#include "rewrite/kernel_copy.h"
#include "io/at.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 1 << 18 };
static const char folder[] = "kcore_dir";

static perfdata_status cannot(struct pd_kernel_copy *copy, const char *path)
{
    return pd_fail(copy->context, PERFDATA_ERROR_OUTPUT, -1, "%s: cannot write: %s", path,
                   strerrordesc_np(errno));
}

/* A file of that name becomes NAME.old, as perf does it. */
static perfdata_status make_directory(struct pd_kernel_copy *copy, const char *path)
{
    struct stat info;
    char old[4096];
    if (!stat(path, &info) && S_ISREG(info.st_mode) &&
        snprintf(old, sizeof old, "%s.old", path) < (int)sizeof old && rename(path, old) < 0)
        return cannot(copy, path);
    return mkdir(path, 0700) < 0 && errno != EEXIST ? cannot(copy, path) : PERFDATA_OK;
}

perfdata_status pd_kernel_copy_begin(struct pd_recording *recording,
                                     const struct perfdata_output *output,
                                     struct pd_kernel_copy *out)
{
    memset(out, 0, sizeof *out);
    out->context = &recording->context;
    perfdata_status taken = pd_take_options(&recording->context, &out->output, sizeof out->output,
                                            output);
    if (taken < 0)
        return taken;
    struct stat info;
    const char *path = out->output.path;
    if (!recording->directory || recording->parts.count || !path ||
        out->output.flags & (PERFDATA_OUTPUT_PIPE | PERFDATA_OUTPUT_DIRECTORY) ||
        (!stat(path, &info) && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)))
        return PERFDATA_OK;
    char from[4096];
    if (snprintf(from, sizeof from, "%s/%s", recording->path, folder) >= (int)sizeof from ||
        access(from, R_OK) < 0)
        return PERFDATA_OK;
    out->from = strdup(from);
    if (!out->from || asprintf(&out->data, "%s/data", path) < 0 ||
        asprintf(&out->to, "%s/%s", path, folder) < 0)
        return pd_no_memory(out->context, NULL);
    out->output.path = out->data;
    return make_directory(out, path);
}

static perfdata_status copy_bytes(struct pd_kernel_copy *copy, int from, int to, const char *name)
{
    uint8_t *block = malloc(BLOCK);
    perfdata_status status = block ? PERFDATA_OK : pd_no_memory(copy->context, NULL);
    for (ssize_t got = 1; status == PERFDATA_OK && got > 0;) {
        got = read(from, block, BLOCK);
        if (got < 0 || !pd_write_all(to, block, (size_t)got))
            status = cannot(copy, name);
    }
    free(block);
    return status;
}

/* What is there already stays. */
static perfdata_status copy_file(struct pd_kernel_copy *copy, int from, int to, const char *name)
{
    struct stat info;
    int in = openat(from, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (in < 0 || fstat(in, &info) < 0 || !S_ISREG(info.st_mode)) {
        if (in >= 0)
            close(in);
        return PERFDATA_OK;
    }
    perfdata_status status = PERFDATA_OK;
    int out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, info.st_mode & 0777);
    if (out >= 0) {
        status = copy_bytes(copy, in, out, name);
        if (close(out) < 0 && status == PERFDATA_OK)
            status = cannot(copy, name);
    } else if (errno != EEXIST) {
        status = cannot(copy, name);
    }
    close(in);
    return status;
}

static perfdata_status copy_all(struct pd_kernel_copy *copy)
{
    if (mkdir(copy->to, 0700) < 0 && errno != EEXIST)
        return cannot(copy, copy->to);
    DIR *from = opendir(copy->from);
    int to = open(copy->to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    perfdata_status status = from && to >= 0 ? PERFDATA_OK : cannot(copy, copy->to);
    for (struct dirent *entry; from && status == PERFDATA_OK && (entry = readdir(from));)
        status = copy_file(copy, dirfd(from), to, entry->d_name);
    if (from)
        closedir(from);
    if (to >= 0)
        close(to);
    return status;
}

perfdata_status pd_kernel_copy_end(struct pd_kernel_copy *copy, perfdata_status status)
{
    if (status == PERFDATA_OK && copy->from)
        status = copy_all(copy);
    free(copy->from);
    free(copy->to);
    free(copy->data);
    return status;
}
