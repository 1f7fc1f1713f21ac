/* SPDX-License-Identifier: MIT */
/* The name of a file -> its bytes, mapped, read or unpacked. All files that a recording names are
 * opened here. */
#include "object/file.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define FIRST_ROOM (64 * 1024)
#define GOOD_ROOM (1 << 20)

bool pd_file_is_regular(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The length of the "/proc/PID/root" that a path begins with; 0: it does not. */
static size_t foreign_root(const char *path)
{
    static const char before[] = "/proc/", behind[] = "/root/";
    if (strncmp(path, before, sizeof before - 1) != 0)
        return 0;
    const size_t front = sizeof before - 1;
    size_t at = front;
    while (path[at] >= '0' && path[at] <= '9')
        at++;
    bool digits = at > front;
    return digits && !strncmp(path + at, behind, sizeof behind - 1) ? at + sizeof behind - 2 : 0;
}

/* O_NONBLOCK: a pipe put in a file's place must not hang us. */
enum { OPEN_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

/* Below the root of a process links are not followed: an absolute one would lead to a file of ours.
 * The kernel gives paths without links, so nothing that was mapped is lost. */
static int open_below(const char *path, size_t root)
{
    char name[NAME_MAX + 1];
    const char *at = path + root;
    int folder = -1;

    if (root < PATH_MAX) {
        char text[PATH_MAX];
        memcpy(text, path, root);
        text[root] = '\0';
        folder = open(text, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    while (folder >= 0) {
        at += strspn(at, "/");
        size_t length = strcspn(at, "/");
        bool last = !at[length];
        if (!length || length > NAME_MAX || (length == 2 && at[0] == '.' && at[1] == '.'))
            break;
        memcpy(name, at, length);
        name[length] = '\0';
        int next = openat(folder, name,
                          O_NOFOLLOW | (last ? OPEN_FLAGS : O_PATH | O_DIRECTORY | O_CLOEXEC));
        close(folder);
        if (last)
            return next;
        folder = next;
        at += length;
    }
    if (folder >= 0)
        close(folder);
    return -1;
}

int pd_file_open(const char *path)
{
    struct stat st;
    size_t root = foreign_root(path);
    int fd = root ? open_below(path, root) : open(path, OPEN_FLAGS);

    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
        return fd;
    close(fd);
    errno = EINVAL;
    return -1;
}

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)((uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec);
}

static struct pd_file_identity identity_of(const struct stat *st)
{
    return (struct pd_file_identity){ .device = st->st_dev,
                                      .number = st->st_ino,
                                      .size = (uint64_t)st->st_size,
                                      .changed = nanoseconds(st->st_ctim),
                                      .modified = nanoseconds(st->st_mtim) };
}

bool pd_file_map(const char *path, struct pd_bytes *bytes)
{
    struct stat st;
    int fd = pd_file_open(path);

    *bytes = (struct pd_bytes){ 0 };
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
            *bytes = (struct pd_bytes){
                .data = at, .size = (size_t)st.st_size, .mapped = true, .identity = identity_of(&st)
            };
    }
    close(fd);
    return bytes->data != NULL;
}

static bool grow(struct pd_bytes *bytes, size_t *room, size_t limit)
{
    /* Much more at once when it is large: what is not used is never touched, and what is copied
     * once is not copied often. */
    size_t want = !*room ? FIRST_ROOM : *room < GOOD_ROOM ? *room * 2 : *room * 16;

    if (*room >= limit)
        return false;
    want = PD_MIN(want, limit);
    uint8_t *data = pd_memory_noted(realloc(bytes->data, want));
    if (!data)
        return false;
    bytes->data = data;
    *room = want;
    return true;
}

bool pd_file_read(const char *path, struct pd_bytes *bytes, size_t limit)
{
    size_t room = 0;
    bool ok = false;
    int fd = pd_file_open(path);

    *bytes = (struct pd_bytes){ 0 };
    if (fd < 0)
        return false;
    for (;;) {
        if (bytes->size == room && !grow(bytes, &room, limit))
            break;
        ssize_t got = read(fd, bytes->data + bytes->size, room - bytes->size);
        if (got <= 0) {
            ok = got == 0;
            break;
        }
        bytes->size += (size_t)got;
    }
    close(fd);
    if (!ok)
        pd_bytes_free(bytes);
    return ok;
}

void pd_bytes_free(struct pd_bytes *bytes)
{
    if (bytes->mapped)
        munmap(bytes->data, bytes->size);
    else if (!bytes->borrowed)
        free(bytes->data);
    *bytes = (struct pd_bytes){ 0 };
}

/* ---- unpacking ---- */

/* One step of any of the three: takes from `in`, fills `to`; false: broken. `*end`: nothing more
 * will come. */
struct unpacker {
    const uint8_t *in;
    size_t in_size;
    bool (*step)(struct unpacker *unpacker, uint8_t *to, size_t room, size_t *made, bool *end);
    z_stream zlib;
    lzma_stream lzma;
    ZSTD_DStream *zstd;
    size_t zstd_at;
};

static bool step_gzip(struct unpacker *unpacker, uint8_t *to, size_t room, size_t *made, bool *end)
{
    z_stream *z = &unpacker->zlib;

    if (!z->avail_in) {
        size_t part = PD_MIN(unpacker->in_size, (size_t)1 << 30);
        z->next_in = (Bytef *)(uintptr_t)unpacker->in;
        z->avail_in = (uInt)part;
        unpacker->in += part;
        unpacker->in_size -= part;
    }
    z->next_out = to;
    z->avail_out = (uInt)PD_MIN(room, (size_t)1 << 30);
    uInt before = z->avail_out;
    int result = inflate(z, Z_NO_FLUSH);
    *made = before - z->avail_out;
    *end = result == Z_STREAM_END;
    return result == Z_OK || result == Z_STREAM_END;
}

static bool step_xz(struct unpacker *unpacker, uint8_t *to, size_t room, size_t *made, bool *end)
{
    unpacker->lzma.next_out = to;
    unpacker->lzma.avail_out = room;
    lzma_ret result = lzma_code(&unpacker->lzma, LZMA_FINISH);
    *made = room - unpacker->lzma.avail_out;
    *end = result == LZMA_STREAM_END;
    return result == LZMA_OK || result == LZMA_STREAM_END;
}

static bool step_zstd(struct unpacker *unpacker, uint8_t *to, size_t room, size_t *made, bool *end)
{
    ZSTD_inBuffer in = { unpacker->in, unpacker->in_size, unpacker->zstd_at };
    ZSTD_outBuffer out = { to, room, 0 };
    size_t result = ZSTD_decompressStream(unpacker->zstd, &out, &in);

    *made = out.pos;
    *end = result == 0;
    bool moved = out.pos || in.pos != unpacker->zstd_at;
    unpacker->zstd_at = in.pos;
    return !ZSTD_isError(result) && (moved || *end);
}

static bool unpack_all(struct unpacker *unpacker, struct pd_bytes *out, size_t limit)
{
    size_t room = 0;

    for (bool end = false; !end;) {
        size_t made;
        if (out->size == room && !grow(out, &room, limit))
            return false;
        if (!unpacker->step(unpacker, out->data + out->size, room - out->size, &made, &end))
            return false;
        out->size += made;
    }
    return true;
}

bool pd_bytes_unpack(struct pd_bytes *bytes, size_t limit)
{
    struct unpacker unpacker = { .in = bytes->data, .in_size = bytes->size };
    struct pd_bytes out = { 0 };
    bool ok = false;

    if (bytes->size < 6)
        return true;
    if (!memcmp(bytes->data, "\x1f\x8b", 2)) {
        unpacker.step = step_gzip;
        if (inflateInit2(&unpacker.zlib, 15 + 16) == Z_OK)
            ok = unpack_all(&unpacker, &out, limit);
        inflateEnd(&unpacker.zlib);
    } else if (!memcmp(bytes->data,
                       "\xfd"
                       "7zXZ",
                       6)) {
        unpacker.step = step_xz;
        unpacker.lzma = (lzma_stream)LZMA_STREAM_INIT;
        unpacker.lzma.next_in = bytes->data;
        unpacker.lzma.avail_in = bytes->size;
        if (lzma_stream_decoder(&unpacker.lzma, UINT64_C(256) << 20, LZMA_CONCATENATED) == LZMA_OK)
            ok = unpack_all(&unpacker, &out, limit);
        lzma_end(&unpacker.lzma);
    } else if (!memcmp(bytes->data, "\x28\xb5\x2f\xfd", 4)) {
        unpacker.step = step_zstd;
        unpacker.zstd = ZSTD_createDStream();
        if (unpacker.zstd && !ZSTD_isError(ZSTD_initDStream(unpacker.zstd)))
            ok = unpack_all(&unpacker, &out, limit);
        ZSTD_freeDStream(unpacker.zstd);
    } else {
        return true;
    }
    if (!ok) {
        pd_bytes_free(&out);
        return false;
    }
    out.identity = bytes->identity;
    pd_bytes_free(bytes);
    *bytes = out;
    return true;
}
