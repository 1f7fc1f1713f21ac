/* SPDX-License-Identifier: MIT */
/* Where a rewritten recording goes: a descriptor, a file, a new directory. */
#include "rewrite/rewrite.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static perfdata_status cannot(struct pd_context *context, const char *what, const char *path)
{
    return pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "%s: cannot %s: %s", path, what,
                   strerrordesc_np(errno));
}

/* What is there stays: perf, too, only ever adds directories. */
static perfdata_status open_folder(struct pd_context *context, const char *path, bool exists,
                                   struct pd_output *out)
{
    if (exists) {
        errno = EEXIST;
        return cannot(context, "make", path);
    }
    if (asprintf(&out->temporary, "%s.XXXXXX", path) < 0) {
        out->temporary = NULL;
        return pd_no_memory(context, NULL);
    }
    if (!mkdtemp(out->temporary) ||
        (out->folder = open(out->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0 ||
        (out->fd = openat(out->folder, "data", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0)
        return cannot(context, "make", path);
    out->kind = PD_WRITE_FILE;
    return PERFDATA_OK;
}

static void remove_folder(struct pd_output *output)
{
    DIR *folder = opendir(output->temporary);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL)
        if (strncmp(entry->d_name, "data", 4) == 0)
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(output->temporary);
}

perfdata_status pd_output_open(struct pd_context *context, const struct perfdata_output *options,
                               struct pd_output *out)
{
    struct stat info;
    memset(out, 0, sizeof *out);
    perfdata_status taken = pd_take_options(context, &out->options, sizeof out->options, options);
    out->fd = out->folder = -1;
    out->kind = PD_WRITE_PIPE;
    if (taken < 0)
        return taken;
    const char *path = out->options.path;
    bool directory = out->options.flags & PERFDATA_OUTPUT_DIRECTORY;
    if (directory && (!path || out->options.flags & PERFDATA_OUTPUT_PIPE))
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       path ? "a directory is no pipe stream" : "a directory needs a name");
    if (!path) {
        out->fd = out->options.fd;
        return PERFDATA_OK;
    }
    if (directory)
        return open_folder(context, path, !stat(path, &info), out);
    perfdata_status status = pd_output_file_open(context, path, PD_OUTPUT_PRIVATE, &out->file);
    if (status == PERFDATA_OK)
        out->fd = out->file.fd;
    if (out->file.regular && !(out->options.flags & PERFDATA_OUTPUT_PIPE))
        out->kind = PD_WRITE_FILE;
    return status;
}

static perfdata_status close_folder(struct pd_context *context, struct pd_output *output,
                                    perfdata_status status)
{
    const char *path = output->options.path;
    if (output->fd >= 0 && close(output->fd) < 0 && status == PERFDATA_OK)
        status = cannot(context, "write", path);
    if (status == PERFDATA_OK && rename(output->temporary, path) < 0)
        status = cannot(context, "write", path);
    if (status < 0)
        remove_folder(output);
    if (output->folder >= 0)
        close(output->folder);
    free(output->temporary);
    return status;
}

perfdata_status pd_output_close(struct pd_context *context, struct pd_output *output,
                                perfdata_status status)
{
    status = output->temporary ? close_folder(context, output, status)
                               : pd_output_file_close(context, &output->file, status);
    memset(output, 0, sizeof *output);
    output->fd = output->folder = -1;
    return status;
}
