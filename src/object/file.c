/* SPDX-License-Identifier: MIT */
#include "object/file.h"

#include <fcntl.h>
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

/* O_NONBLOCK: a pipe put in a file's place must not hang us. */
static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

bool pd_file_map(const char *path, struct pd_bytes *bytes)
{
    struct stat st;
    int fd = open_file(path);

    *bytes = (struct pd_bytes){ 0 };
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (at != MAP_FAILED)
            *bytes = (struct pd_bytes){ .data = at, .size = (size_t)st.st_size, .mapped = true };
    }
    close(fd);
    return bytes->data != NULL;
}

static bool grow(struct pd_bytes *bytes, size_t *room, size_t limit)
{
    /* Much more at once soon: what is not used is never touched, and what is copied has been. */
    size_t want = !*room ? FIRST_ROOM : *room < GOOD_ROOM ? *room * 2 : *room * 16;

    if (*room >= limit)
        return false;
    want = PD_MIN(want, limit);
    uint8_t *data = realloc(bytes->data, want);
    if (!data)
        return false;
    bytes->data = data;
    *room = want;
    return true;
}

bool pd_file_read(const char *path, struct pd_bytes *bytes, size_t limit)
{
    struct stat st;
    size_t room = 0;
    bool ok = false;
    int fd = open_file(path);

    *bytes = (struct pd_bytes){ 0 };
    if (fd < 0)
        return false;
    if (fstat(fd, &st) || S_ISDIR(st.st_mode)) {
        close(fd);
        return false;
    }
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

/* One step of any of the three: takes from `in`, fills `to`; false: broken. `*end`: nothing more will come. */
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
    pd_bytes_free(bytes);
    *bytes = out;
    return true;
}
