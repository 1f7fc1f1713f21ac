/* SPDX-License-Identifier: MIT */
/* Streams of bytes -> a temporary file without a name, and back. */
#include "convert/spool.h"
#include "io/at.h"
#include "io/temporary.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    MEMORY = 4 << 20, /* of all streams before anything is written */
    LEAST = 64 << 10, /* that is written at once */
    BLOCK = 64 << 10  /* that is read at once */
};

void pd_spool_init(struct pd_spool *spool, struct pd_convert *x)
{
    *spool = (struct pd_spool){ .x = x, .fd = -1 };
}

void pd_spool_close(struct pd_spool *spool)
{
    if (spool->x && spool->fd >= 0)
        close(spool->fd);
    spool->fd = -1;
}

void pd_spool_free(struct pd_spool_stream *stream)
{
    pd_text_free(&stream->pending);
    pd_vec_free(&stream->pieces);
    stream->length = 0;
}

static perfdata_status fail(const struct pd_spool *spool, int error)
{
    char text[128];
    return pd_fail(spool->x->context, PERFDATA_ERROR_IO, -1, "the export's temporary file: %s",
                   strerror_r(error, text, sizeof text));
}

/* Where TMPDIR names no place, pd_temporary_file() would go to memory, which is no place for what
 * does not fit into memory. */
static perfdata_status open_file(struct pd_spool *spool)
{
    const char *folder = getenv("TMPDIR");
    if (folder && *folder && access(folder, W_OK | X_OK))
        return fail(spool, errno);
    spool->fd = pd_temporary_file();
    return spool->fd < 0 ? fail(spool, errno) : PERFDATA_OK;
}

static perfdata_status write_pending(struct pd_spool *spool, struct pd_spool_stream *stream)
{
    const size_t size = stream->pending.length;
    const struct pd_spool_piece piece = { spool->file_size, size };
    perfdata_status status = spool->fd < 0 ? open_file(spool) : PERFDATA_OK;
    if (status < 0)
        return status;
    if (!pd_write_at(spool->fd, spool->file_size, stream->pending.data, size))
        return fail(spool, errno);
    if (!pd_vec_push(&stream->pieces, piece))
        return pd_convert_no_memory(spool->x);
    spool->file_size += size;
    spool->pending -= size;
    stream->pending.length = 0;
    return PERFDATA_OK;
}

perfdata_status pd_spool_put(struct pd_spool *spool, struct pd_spool_stream *stream,
                             struct pd_text *from)
{
    pd_text_bytes(&stream->pending, from->data, from->length);
    if (stream->pending.failed || from->failed)
        return pd_convert_no_memory(spool->x);
    stream->length += from->length;
    spool->pending += from->length;
    from->length = 0;
    return spool->pending > MEMORY && stream->pending.length >= LEAST ? write_pending(spool, stream)
                                                                      : PERFDATA_OK;
}

void pd_spool_reader_init(struct pd_spool_reader *reader, const struct pd_spool *spool,
                          const struct pd_spool_stream *stream)
{
    *reader = (struct pd_spool_reader){ .spool = spool, .stream = stream };
}

void pd_spool_reader_free(struct pd_spool_reader *reader)
{
    pd_text_free(&reader->block);
}

/* The next bytes, which stay valid until the next call; *size 0: there are none left. */
static perfdata_status next_block(struct pd_spool_reader *reader, const char **bytes, size_t *size)
{
    const struct pd_spool *spool = reader->spool;
    const struct pd_spool_stream *stream = reader->stream;
    *size = 0;
    if (reader->piece > stream->pieces.count)
        return PERFDATA_OK;
    if (reader->piece == stream->pieces.count) {
        reader->piece++;
        *bytes = stream->pending.data;
        *size = stream->pending.length;
        return PERFDATA_OK;
    }
    const struct pd_spool_piece *piece = &stream->pieces.data[reader->piece];
    const size_t want = (size_t)PD_MIN(piece->size - reader->read, (uint64_t)BLOCK);
    size_t got;
    reader->block.length = 0;
    char *room = pd_text_room(&reader->block, want);
    if (!room)
        return pd_convert_no_memory(spool->x);
    int error = pd_read_at(spool->fd, piece->at + reader->read, room, want, &got);
    if (error || got < want)
        return fail(spool, error ? error : EIO);
    reader->read += want;
    if (reader->read == piece->size) {
        reader->read = 0;
        reader->piece++;
    }
    *bytes = room;
    *size = want;
    return PERFDATA_OK;
}

perfdata_status pd_spool_take(struct pd_spool_reader *reader, void *to, size_t size)
{
    while (size) {
        if (reader->taken == reader->size) {
            perfdata_status status = next_block(reader, &reader->bytes, &reader->size);
            if (status >= 0 && !reader->size)
                status = fail(reader->spool, EIO);
            if (status < 0)
                return status;
            reader->taken = 0;
        }
        const size_t part = PD_MIN(size, reader->size - reader->taken);
        memcpy(to, reader->bytes + reader->taken, part);
        to = (char *)to + part;
        size -= part;
        reader->taken += part;
    }
    return PERFDATA_OK;
}

perfdata_status pd_spool_copy(struct pd_spool *spool, const struct pd_spool_stream *stream)
{
    struct pd_spool_reader reader;
    const char *bytes;
    size_t size;
    pd_spool_reader_init(&reader, spool, stream);
    perfdata_status status = next_block(&reader, &bytes, &size);
    while (status >= 0 && size) {
        pd_text_bytes(&spool->x->out, bytes, size);
        status = pd_convert_flush(spool->x, false);
        if (status >= 0)
            status = next_block(&reader, &bytes, &size);
    }
    pd_spool_reader_free(&reader);
    return status;
}
