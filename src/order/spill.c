/* SPDX-License-Identifier: MIT */
/* Records that memory has no room for -> sorted pieces of a temporary file, merged again. */
#include "order/spill.h"
#include "io/at.h"
#include "io/temporary.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { WRITE_BLOCK = 256 * 1024, READ_BLOCK = 64 * 1024 };

/* What stands in the file in front of a record's bytes. */
struct stored {
    struct pd_queue_entry entry; /* its pointer means nothing there */
    uint32_t part, room;         /* bytes that follow */
};

struct piece {
    uint64_t at, end;       /* of what was not read yet, in the file */
    struct pd_chunk *chunk; /* NULL: nothing was read */
    size_t next;            /* in the chunk */
    uint64_t time;          /* of the next record */
};

struct pd_spill {
    int fd;
    uint64_t size; /* of the file */
    struct pd_chunk_pool *pool;
    PD_VEC(struct piece) pieces;       /* in order of arrival */
    PD_VEC(struct pd_queue_head) heap; /* of those with records left */
    uint64_t left;
    uint8_t *block; /* what is to be written */
    size_t filled;
    bool failed;
    uint64_t piece_at, piece_count; /* of the one that is written */
    struct pd_chunk *given;         /* whose record was handed out last */
};

struct pd_spill *pd_spill_new(void)
{
    struct pd_spill *spill = calloc(1, sizeof *spill);
    if (!spill)
        return NULL;
    spill->fd = pd_temporary_file();
    spill->pool = pd_chunk_pool_new();
    spill->block = malloc(WRITE_BLOCK);
    if (spill->fd >= 0 && spill->pool && spill->block)
        return spill;
    pd_spill_free(spill);
    return NULL;
}

void pd_spill_free(struct pd_spill *spill)
{
    if (!spill)
        return;
    for (size_t i = 0; i < spill->pieces.count; i++)
        if (spill->pieces.data[i].chunk)
            pd_chunk_release(spill->pieces.data[i].chunk);
    if (spill->given)
        pd_chunk_release(spill->given);
    pd_vec_free(&spill->pieces);
    pd_vec_free(&spill->heap);
    pd_chunk_pool_close(spill->pool);
    if (spill->fd >= 0)
        close(spill->fd);
    free(spill->block);
    free(spill);
}

uint64_t pd_spill_left(const struct pd_spill *spill)
{
    return spill ? spill->left : 0;
}

/* ---- writing ---- */

static void flush(struct pd_spill *spill)
{
    if (!spill->failed && pd_write_at(spill->fd, spill->size, spill->block, spill->filled))
        spill->size += spill->filled;
    else
        spill->failed = true;
    spill->filled = 0;
}

static void put_bytes(struct pd_spill *spill, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    while (size && !spill->failed) {
        size_t piece = PD_MIN(size, WRITE_BLOCK - spill->filled);
        memcpy(spill->block + spill->filled, from, piece);
        spill->filled += piece;
        from += piece;
        size -= piece;
        if (spill->filled == WRITE_BLOCK)
            flush(spill);
    }
}

void pd_spill_begin(struct pd_spill *spill)
{
    spill->piece_at = spill->size;
    spill->piece_count = 0;
    spill->failed = false;
}

bool pd_spill_put(struct pd_spill *spill, const struct pd_queue_entry *entry, uint32_t part)
{
    static const uint8_t padding[8];
    struct stored stored = { *entry, part, (uint32_t)pd_align8(entry->size) };
    stored.entry.data = NULL;
    put_bytes(spill, &stored, sizeof stored);
    put_bytes(spill, entry->data, entry->size);
    put_bytes(spill, padding, stored.room - entry->size);
    spill->piece_count++;
    return !spill->failed;
}

/* ---- reading ---- */

static struct pd_queue_head head_of(const struct pd_spill *spill, size_t piece)
{
    return (struct pd_queue_head){ spill->pieces.data[piece].time, piece };
}

/* Room for the record at piece->at as a whole; false: it cannot be read. */
static bool read_at(struct pd_spill *spill, struct piece *piece, size_t need)
{
    size_t block = (size_t)PD_MIN((uint64_t)READ_BLOCK, piece->end - piece->at);
    struct pd_chunk *chunk = pd_chunk_new(spill->pool, PD_MAX(need, block));
    if (!chunk)
        return false;
    size_t want = (size_t)PD_MIN((uint64_t)chunk->capacity, piece->end - piece->at);
    (void)pd_read_at(spill->fd, piece->at, chunk->bytes, want, &chunk->size);
    if (piece->chunk)
        pd_chunk_release(piece->chunk);
    piece->chunk = chunk;
    piece->next = 0;
    return chunk->size >= need;
}

/* The next record's head, with the record behind it in one chunk. NULL: it cannot be read. */
static const struct stored *look(struct pd_spill *spill, struct piece *piece)
{
    size_t left = piece->chunk ? piece->chunk->size - piece->next : 0;
    if (left < sizeof(struct stored)) {
        if (!read_at(spill, piece, sizeof(struct stored)))
            return NULL;
        left = piece->chunk->size;
    }
    const struct stored *stored = (const struct stored *)(const void *)(piece->chunk->bytes +
                                                                        piece->next);
    size_t whole = sizeof *stored + stored->room;
    if (whole <= left)
        return stored;
    if (!read_at(spill, piece, whole))
        return NULL;
    return (const struct stored *)(const void *)piece->chunk->bytes;
}

bool pd_spill_end(struct pd_spill *spill)
{
    flush(spill);
    struct piece piece = { .at = spill->piece_at, .end = spill->size };
    if (!spill->failed && spill->piece_count) {
        const struct stored *first = look(spill, &piece);
        piece.time = first ? first->entry.time : 0;
        spill->failed = !first || !pd_vec_reserve(&spill->heap, spill->heap.count + 1) ||
                        !pd_vec_push(&spill->pieces, piece);
    }
    if (spill->failed) {
        if (piece.chunk)
            pd_chunk_release(piece.chunk);
        spill->size = spill->piece_at; /* what was written is written over */
        return false;
    }
    if (!spill->piece_count)
        return true;
    spill->left += spill->piece_count;
    size_t at = spill->heap.count++;
    struct pd_queue_head *heap = spill->heap.data, value = head_of(spill, spill->pieces.count - 1);
    for (; at && pd_queue_before(&value, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = value;
    return true;
}

/* Once all is read, begins the file anew. */
static void start_over(struct pd_spill *spill)
{
    for (size_t i = 0; i < spill->pieces.count; i++)
        if (spill->pieces.data[i].chunk)
            pd_chunk_release(spill->pieces.data[i].chunk);
    spill->pieces.count = 0;
    spill->size = 0;
    if (ftruncate(spill->fd, 0) < 0)
        return; /* it only stays larger */
}

int pd_spill_next(struct pd_spill *spill, uint64_t limit, struct pd_queue_entry *entry,
                  uint32_t *part, struct pd_chunk **chunk)
{
    struct pd_queue_head *heap = spill->heap.data;
    if (spill->given) {
        pd_chunk_release(spill->given);
        spill->given = NULL;
    }
    if (!spill->heap.count && spill->pieces.count)
        start_over(spill);
    if (!spill->heap.count || heap[0].time > limit)
        return 0;
    struct piece *piece = &spill->pieces.data[heap[0].run];
    const struct stored *stored = look(spill, piece);
    if (!stored)
        return PERFDATA_ERROR_IO;
    *entry = stored->entry;
    *part = stored->part;
    entry->data = (const uint8_t *)(stored + 1);
    *chunk = spill->given = piece->chunk;
    pd_chunk_hold(spill->given);
    size_t whole = sizeof *stored + stored->room;
    piece->next += whole;
    piece->at += whole;
    spill->left--;
    struct pd_queue_head value = heap[--spill->heap.count];
    if (piece->at < piece->end) {
        stored = look(spill, piece);
        if (!stored)
            return PERFDATA_ERROR_IO;
        piece->time = stored->entry.time;
        spill->heap.count++;
        value = head_of(spill, heap[0].run);
    }
    if (spill->heap.count)
        pd_queue_sift(heap, spill->heap.count, 0, value);
    return 1;
}
