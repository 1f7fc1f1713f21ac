/* SPDX-License-Identifier: MIT */
/* A path, a descriptor, a pipe or a memory block -> a source of bytes. */
#include "io/io.h"
#include "io/at.h"
#include "io/temporary.h"
#include "io/unpack.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { KIND_FILE, KIND_MEMORY, KIND_STREAM, KIND_DIRECTORY };

struct pd_source {
    struct pd_context *context;
    enum kind kind;
    int fd;
    bool own_fd;
    const uint8_t *memory;
    uint64_t size;
    int64_t mtime, changed; /* seconds, nanoseconds */
    /* a stream: where its descriptor is, and what was read of it so far while that is kept */
    uint64_t position;
    bool keeping;
    uint8_t *kept;
    size_t kept_size, kept_capacity;
};

/* What opening a recording may read of a stream before its first record. */
enum { KEEP_MAX = 256 << 20 };

static perfdata_status fail_errno(struct pd_context *context, int error, int64_t offset,
                                  const char *path)
{
    perfdata_status status = error == ENOENT || error == ENOTDIR ? PERFDATA_ERROR_NOT_FOUND
                             : error == EACCES || error == EPERM ? PERFDATA_ERROR_ACCESS
                             : error == ENOMEM                   ? PERFDATA_ERROR_MEMORY
                                                                 : PERFDATA_ERROR_IO;
    char text[128];
    const char *said = strerror_r(error, text, sizeof text);
    return pd_fail(context, status, offset, "%s: %s", path ? path : "input", said);
}

static struct pd_source *new_source(struct pd_context *context, enum kind kind)
{
    struct pd_source *source = calloc(1, sizeof *source);
    if (!source) {
        pd_no_memory(context, NULL);
        return NULL;
    }
    source->context = context;
    source->kind = kind;
    source->fd = -1;
    return source;
}

static perfdata_status open_descriptor(struct pd_context *context, int fd, bool own,
                                       const char *path, struct pd_source **out)
{
    struct stat info;
    if (fstat(fd, &info) != 0) {
        int error = errno;
        if (own)
            close(fd);
        return fail_errno(context, error, -1, path);
    }
    struct pd_source *source = new_source(context, S_ISREG(info.st_mode)   ? KIND_FILE
                                                   : S_ISDIR(info.st_mode) ? KIND_DIRECTORY
                                                                           : KIND_STREAM);
    if (!source) {
        if (own)
            close(fd);
        return PERFDATA_ERROR_MEMORY;
    }
    source->fd = fd;
    source->own_fd = own;
    source->size = source->kind == KIND_FILE ? (uint64_t)info.st_size : UINT64_MAX;
    source->keeping = source->kind == KIND_STREAM;
    source->mtime = info.st_mtime;
    source->changed = (int64_t)((uint64_t)info.st_mtim.tv_sec * 1000000000u +
                                (uint64_t)info.st_mtim.tv_nsec);
    if (source->kind == KIND_FILE)
        (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    *out = source;
    return PERFDATA_OK;
}

struct packed_place {
    struct pd_source *source;
    uint64_t offset;
};

static perfdata_status read_packed(void *data, uint8_t *to, size_t size, size_t *got)
{
    struct packed_place *place = data;
    perfdata_status status = pd_source_read_least(place->source, place->offset, to, 1, size, got);
    place->offset += *got;
    return status;
}

perfdata_status pd_source_unpack(struct pd_source **in_out)
{
    struct pd_source *source = *in_out;
    uint8_t magic[PD_PACKED_MAGIC];
    size_t got;
    if (source->kind == KIND_DIRECTORY ||
        pd_source_read_least(source, 0, magic, sizeof magic, sizeof magic, &got) < 0)
        return PERFDATA_OK; /* opening the recording will say it */
    enum pd_packing packing = pd_packing_of(magic, got);
    if (packing == PD_PACKED_NOT)
        return PERFDATA_OK;
    int fd;
    struct packed_place place = { source, 0 };
    struct pd_source *unpacked = NULL;
    pd_source_stop_keeping(source);
    perfdata_status status = pd_unpack(source->context, packing, read_packed, &place, &fd);
    if (status == PERFDATA_OK)
        status = open_descriptor(source->context, fd, true, source->context->path, &unpacked);
    if (unpacked) {
        unpacked->mtime = source->mtime;
        unpacked->changed = source->changed;
    }
    pd_source_close(source);
    *in_out = unpacked;
    return status;
}

perfdata_status pd_source_open_path(struct pd_context *context, const char *path,
                                    struct pd_source **out)
{
    *out = NULL;
    int fd;
    do
        fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return fail_errno(context, errno, -1, path);
    return open_descriptor(context, fd, true, path, out);
}

/* Nobody is waited for: it may be a FIFO that somebody put there. */
static perfdata_status open_regular(struct pd_context *context, int directory, const char *name,
                                    const char *path, struct pd_source **out)
{
    *out = NULL;
    int fd;
    do
        fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return fail_errno(context, errno, -1, path);
    perfdata_status status = open_descriptor(context, fd, true, path, out);
    if (*out && status == PERFDATA_OK && (*out)->kind != KIND_FILE) {
        pd_source_close(*out);
        *out = NULL;
        status = pd_fail(context, PERFDATA_ERROR_NOT_FOUND, -1, "%s: not a regular file", path);
    }
    return status;
}

perfdata_status pd_source_open_regular(struct pd_context *context, const char *path,
                                       struct pd_source **out)
{
    return open_regular(context, AT_FDCWD, path, path, out);
}

perfdata_status pd_source_open_entry(struct pd_context *context, const struct pd_source *directory,
                                     const char *name, struct pd_source **out)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", context->path ? context->path : "", name);
    return open_regular(context, directory->fd, name, path, out);
}

perfdata_status pd_source_list(struct pd_context *context, const struct pd_source *directory,
                               int (*each)(void *data, const char *name), void *data)
{
    int fd = openat(directory->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    if (!stream) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return fail_errno(context, error, -1, context->path);
    }
    for (struct dirent *entry; (entry = readdir(stream));)
        if (each(data, entry->d_name))
            break;
    closedir(stream);
    return PERFDATA_OK;
}

perfdata_status pd_source_open_fd(struct pd_context *context, int fd, struct pd_source **out)
{
    *out = NULL;
    return open_descriptor(context, fd, false, context->path, out);
}

perfdata_status pd_source_open_memory(struct pd_context *context, const void *bytes, size_t size,
                                      struct pd_source **out)
{
    *out = new_source(context, KIND_MEMORY);
    if (!*out)
        return PERFDATA_ERROR_MEMORY;
    (*out)->memory = bytes ? bytes : (const uint8_t *)"";
    (*out)->size = size;
    return PERFDATA_OK;
}

void pd_source_close(struct pd_source *source)
{
    if (!source)
        return;
    if (source->own_fd)
        close(source->fd);
    free(source->kept);
    free(source);
}

uint64_t pd_source_size(const struct pd_source *source)
{
    return source->size;
}

bool pd_source_is_stream(const struct pd_source *source)
{
    return source->kind == KIND_STREAM;
}

bool pd_source_is_directory(const struct pd_source *source)
{
    return source->kind == KIND_DIRECTORY;
}

const uint8_t *pd_source_memory(const struct pd_source *source)
{
    return source->memory;
}

int64_t pd_source_changed(const struct pd_source *source)
{
    return source->changed;
}

int64_t pd_source_mtime(const struct pd_source *source)
{
    return source->mtime;
}

static perfdata_status read_file(struct pd_source *source, uint64_t offset, uint8_t *to,
                                 size_t size, size_t *got)
{
    int error = pd_read_at(source->fd, offset, to, size, got);
    return error
               ? fail_errno(source->context, error, (int64_t)(offset + *got), source->context->path)
               : PERFDATA_OK;
}

bool pd_source_read_quietly(const struct pd_source *source, uint64_t offset, void *to, size_t size,
                            size_t *got)
{
    *got = 0;
    return source->kind == KIND_FILE && !pd_read_at(source->fd, offset, to, size, got);
}

/* Reads what is there, `size` at most; *got 0: the end. */
static perfdata_status read_some(struct pd_source *source, uint8_t *to, size_t size, size_t *got)
{
    ssize_t n;
    do
        n = read(source->fd, to, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail_errno(source->context, errno, (int64_t)source->position, source->context->path);
    *got = (size_t)n;
    source->position += (uint64_t)n;
    return PERFDATA_OK;
}

/* Makes `kept` reach up to `end`, or to the end of the stream. */
static perfdata_status keep_up_to(struct pd_source *source, uint64_t end)
{
    enum { STEP = 64 << 10 };
    while (source->kept_size < end) {
        if (source->kept_size >= KEEP_MAX)
            return pd_fail(source->context, PERFDATA_ERROR_LIMIT, (int64_t)source->position,
                           "the stream's head is too large");
        if (source->kept_capacity - source->kept_size < STEP) {
            size_t capacity = source->kept_capacity * 2 + STEP;
            uint8_t *grown = realloc(source->kept, capacity);
            if (!grown)
                return pd_no_memory(source->context, NULL);
            source->kept = grown;
            source->kept_capacity = capacity;
        }
        size_t n = 0;
        perfdata_status status = read_some(source, source->kept + source->kept_size, STEP, &n);
        if (status < 0 || !n)
            return status;
        source->kept_size += n;
    }
    return PERFDATA_OK;
}

static perfdata_status read_forward(struct pd_source *source, uint64_t offset, uint8_t *to,
                                    size_t least, size_t size, size_t *got)
{
    uint64_t at = offset + *got;
    if (at < source->position)
        return pd_fail(source->context, PERFDATA_ERROR_UNSUPPORTED, (int64_t)at,
                       "a stream cannot be read twice");
    while (*got < least) {
        uint8_t waste[4096];
        bool gap = source->position < at;
        size_t n = 0;
        perfdata_status status = gap ? read_some(
                                           source, waste,
                                           (size_t)PD_MIN(sizeof waste, at - source->position), &n)
                                     : read_some(source, to + *got, size - *got, &n);
        if (status < 0 || !n)
            return status;
        if (!gap)
            *got += n;
    }
    return PERFDATA_OK;
}

static perfdata_status read_stream(struct pd_source *source, uint64_t offset, uint8_t *to,
                                   size_t least, size_t size, size_t *got)
{
    uint64_t end;
    if (pd_add_overflows(offset, least, &end))
        return PERFDATA_OK;
    if (source->keeping) {
        perfdata_status status = keep_up_to(source, end);
        if (status < 0)
            return status;
    }
    if (offset < source->kept_size) {
        *got = (size_t)PD_MIN(size, source->kept_size - offset);
        memcpy(to, source->kept + offset, *got);
    }
    if (source->keeping || *got >= least)
        return PERFDATA_OK;
    if (offset >= source->kept_size) { /* all of it has been seen again */
        free(source->kept);
        source->kept = NULL;
        source->kept_size = source->kept_capacity = 0;
    }
    return read_forward(source, offset, to, least, size, got);
}

static perfdata_status put_spool(struct pd_source *source, int fd, const uint8_t *bytes,
                                 size_t size)
{
    return pd_write_all(fd, bytes, size) ? PERFDATA_OK
                                         : fail_errno(source->context, errno, -1, "temporary file");
}

/* What was kept and what is still to come. */
static perfdata_status spool_to(struct pd_source *source, int fd)
{
    enum { PIECE = 256 << 10 };
    uint8_t *piece = malloc(PIECE);
    size_t got = 1;
    perfdata_status status = piece ? put_spool(source, fd, source->kept, source->kept_size)
                                   : pd_no_memory(source->context, NULL);
    while (status == PERFDATA_OK && got) {
        status = read_some(source, piece, PIECE, &got);
        if (status == PERFDATA_OK)
            status = put_spool(source, fd, piece, got);
    }
    free(piece);
    return status;
}

perfdata_status pd_source_spool(struct pd_source *source)
{
    if (source->kind != KIND_STREAM || source->position != source->kept_size)
        return pd_fail(source->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "the stream has been read already");
    int fd = pd_temporary_file();
    if (fd < 0)
        return fail_errno(source->context, errno, -1, "temporary file");
    perfdata_status status = spool_to(source, fd);
    if (status < 0) {
        close(fd);
        return status;
    }
    if (source->own_fd)
        close(source->fd);
    source->fd = fd;
    source->own_fd = true;
    source->kind = KIND_FILE;
    source->size = source->position;
    free(source->kept);
    source->kept = NULL;
    source->kept_size = source->kept_capacity = 0;
    return PERFDATA_OK;
}

void pd_source_stop_keeping(struct pd_source *source)
{
    source->keeping = false;
}

perfdata_status pd_source_read_least(struct pd_source *source, uint64_t offset, void *to,
                                     size_t least, size_t size, size_t *got)
{
    *got = 0;
    return source->kind == KIND_STREAM ? read_stream(source, offset, to, least, size, got)
                                       : pd_source_read(source, offset, to, size, got);
}

perfdata_status pd_source_read(struct pd_source *source, uint64_t offset, void *to, size_t size,
                               size_t *got)
{
    *got = 0;
    switch (source->kind) {
    case KIND_FILE: return read_file(source, offset, to, size, got);
    case KIND_STREAM: return read_stream(source, offset, to, size, size, got);
    case KIND_MEMORY:
        if (offset < source->size && size) {
            *got = (size_t)PD_MIN(size, source->size - offset);
            memcpy(to, source->memory + offset, *got);
        }
        return PERFDATA_OK;
    case KIND_DIRECTORY: break;
    }
    return pd_fail(source->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                   "the input cannot be read at an offset");
}

uint64_t pd_source_next_data(const struct pd_source *source, uint64_t offset)
{
#ifdef SEEK_DATA
    if (source->kind == KIND_FILE && source->own_fd && offset < source->size) {
        off_t at = lseek(source->fd, (off_t)offset, SEEK_DATA);
        if (at >= 0)
            return (uint64_t)at;
        if (errno == ENXIO) /* only a hole up to the end */
            return source->size;
    }
#endif
    return offset;
}
