/* SPDX-License-Identifier: MIT */
/* A packed recording -> an unlinked temporary file with its bytes. */
#include "io/unpack.h"
#include "io/at.h"
#include "io/temporary.h"
#include "io/zstd.h"
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

enum { PIECE = 256 << 10, XZ_MEMORY = 512 << 20, FREE_SIZE = 1 << 30, RATIO_MAX = 256 };

struct unpacker {
    struct pd_context *context;
    pd_packed_read_fn read;
    void *data;
    int fd;
    uint64_t in_total, out_total;
    uint8_t in[PIECE], out[PIECE];
};

enum pd_packing pd_packing_of(const uint8_t *bytes, size_t size)
{
    if (size < PD_PACKED_MAGIC)
        return PD_PACKED_NOT;
    return memcmp(bytes, "\x1f\x8b\x08", 3) == 0       ? PD_PACKED_GZIP
           : memcmp(bytes, "\xfd\x37zXZ\0", 6) == 0    ? PD_PACKED_XZ
           : memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0 ? PD_PACKED_ZSTD
                                                       : PD_PACKED_NOT;
}

bool pd_is_bomb(const struct pd_context *context, uint64_t in, uint64_t out)
{
    if (context->limits.decompressed)
        return out > context->limits.decompressed;
    return out > PD_MAX(context->limits.memory, (uint64_t)FREE_SIZE) && out / RATIO_MAX > in;
}

int pd_temporary_file(void)
{
    const char *folder = getenv("TMPDIR");
    int fd = open(folder && *folder ? folder : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    return fd < 0 ? memfd_create("perfdata", MFD_CLOEXEC) : fd;
}

static perfdata_status fetch(struct unpacker *unpacker, size_t *got)
{
    perfdata_status status = unpacker->read(unpacker->data, unpacker->in, PIECE, got);
    unpacker->in_total += *got;
    return status;
}

static perfdata_status put(struct unpacker *unpacker, size_t size)
{
    struct pd_context *context = unpacker->context;
    unpacker->out_total += size;
    if (pd_is_bomb(context, unpacker->in_total, unpacker->out_total))
        return pd_fail(context, PERFDATA_ERROR_LIMIT, (int64_t)unpacker->in_total,
                       "%llu packed bytes hold more than %llu: stopped (--memory=SIZE and "
                       "max_decompressed allow more)",
                       (unsigned long long)unpacker->in_total,
                       (unsigned long long)unpacker->out_total);
    if (pd_write_all(unpacker->fd, unpacker->out, size))
        return PERFDATA_OK;
    char text[128];
    return pd_fail(context, PERFDATA_ERROR_IO, -1, "unpacking the recording: %s",
                   strerror_r(errno, text, sizeof text));
}

static perfdata_status damaged(struct unpacker *unpacker, const char *what)
{
    return pd_issue(unpacker->context, PERFDATA_ISSUE_TRUNCATED, (int64_t)unpacker->in_total,
                    "the packed recording %s: reading what came out of it", what);
}

static perfdata_status unpack_gzip(struct unpacker *unpacker)
{
    z_stream stream = { 0 };
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return pd_no_memory(unpacker->context, NULL);
    perfdata_status status = PERFDATA_OK;
    bool at_end = false; /* of a member; others may follow */
    for (size_t got; (status = fetch(unpacker, &got)) == PERFDATA_OK;) {
        if (!got) {
            status = at_end ? PERFDATA_OK : damaged(unpacker, "is cut");
            break;
        }
        stream.next_in = unpacker->in;
        stream.avail_in = (uInt)got;
        int result = Z_OK;
        do {
            if (at_end && (inflateReset(&stream) != Z_OK || *stream.next_in != 0x1f))
                goto done; /* padding, or something else behind it */
            stream.next_out = unpacker->out;
            stream.avail_out = PIECE;
            result = inflate(&stream, Z_NO_FLUSH);
            at_end = result == Z_STREAM_END;
            status = put(unpacker, PIECE - stream.avail_out);
        } while (status == PERFDATA_OK && (result == Z_OK || at_end) &&
                 (stream.avail_in || (!at_end && !stream.avail_out)));
        if (status == PERFDATA_OK && result != Z_OK && result != Z_BUF_ERROR && !at_end) {
            status = damaged(unpacker, "is damaged");
            break;
        }
        if (status < 0)
            break;
    }
done:
    inflateEnd(&stream);
    return status;
}

static perfdata_status unpack_xz(struct unpacker *unpacker)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK)
        return pd_no_memory(unpacker->context, NULL);
    perfdata_status status = PERFDATA_OK;
    lzma_ret result = LZMA_OK;
    bool finish = false;
    while (status == PERFDATA_OK && result == LZMA_OK) {
        if (!stream.avail_in && !finish) {
            size_t got;
            status = fetch(unpacker, &got);
            if (status < 0)
                break;
            stream.next_in = unpacker->in;
            stream.avail_in = got;
            finish = !got;
        }
        stream.next_out = unpacker->out;
        stream.avail_out = PIECE;
        result = lzma_code(&stream, finish ? LZMA_FINISH : LZMA_RUN);
        status = put(unpacker, PIECE - stream.avail_out);
    }
    lzma_end(&stream);
    if (status < 0 || result == LZMA_STREAM_END)
        return status;
    if (result == LZMA_MEM_ERROR || result == LZMA_MEMLIMIT_ERROR)
        return pd_fail(unpacker->context, PERFDATA_ERROR_MEMORY, -1,
                       "the packed recording needs too much memory");
    return damaged(unpacker, result == LZMA_BUF_ERROR ? "is cut" : "is damaged");
}

static perfdata_status unpack_zstd(struct unpacker *unpacker)
{
    struct pd_zstd *zstd = pd_zstd_new();
    if (!zstd)
        return pd_no_memory(unpacker->context, NULL);
    perfdata_status status = PERFDATA_OK;
    for (size_t got; (status = fetch(unpacker, &got)) == PERFDATA_OK && got;) {
        pd_zstd_feed(zstd, unpacker->in, got);
        size_t made = 0;
        do {
            bool bad = pd_zstd_read(zstd, unpacker->out, PIECE, &made) < 0;
            status = bad ? damaged(unpacker, pd_zstd_error(zstd)) : put(unpacker, made);
            if (bad || status < 0)
                goto done;
        } while (made);
    }
    if (status == PERFDATA_OK && !pd_zstd_at_frame_end(zstd))
        status = damaged(unpacker, "is cut");
done:
    pd_zstd_free(zstd);
    return status;
}

perfdata_status pd_unpack(struct pd_context *context, enum pd_packing packing,
                          pd_packed_read_fn read, void *data, int *out)
{
    struct unpacker *unpacker = malloc(sizeof *unpacker);
    if (!unpacker)
        return pd_no_memory(context, NULL);
    unpacker->context = context;
    unpacker->read = read;
    unpacker->data = data;
    unpacker->in_total = unpacker->out_total = 0;
    unpacker->fd = pd_temporary_file();
    perfdata_status status;
    if (unpacker->fd < 0)
        status = pd_fail(context, PERFDATA_ERROR_IO, -1, "no temporary file to unpack into");
    else if (packing == PD_PACKED_GZIP)
        status = unpack_gzip(unpacker);
    else if (packing == PD_PACKED_XZ)
        status = unpack_xz(unpacker);
    else
        status = unpack_zstd(unpacker);
    if (status < 0 && unpacker->fd >= 0)
        close(unpacker->fd);
    *out = status < 0 ? -1 : unpacker->fd;
    free(unpacker);
    return status;
}
