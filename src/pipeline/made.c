/* SPDX-License-Identifier: MIT */
/* Sizes of records -> room for them in counted chunks. */
#include "pipeline/made.h"

enum { CHUNK_SIZE = 256 * 1024 };

void pd_made_free(struct pd_made *made)
{
    if (made->chunk)
        pd_chunk_release(made->chunk);
    pd_chunk_pool_close(made->pool);
    *made = (struct pd_made){ 0 };
}

uint8_t *pd_made_bytes(struct pd_made *made, struct pd_delivered *record, size_t size)
{
    size_t need = record->size + sizeof(uint32_t) + size;
    struct pd_chunk *chunk = made->chunk;
    if (!chunk || chunk->capacity - chunk->size < need) {
        if (chunk)
            pd_chunk_release(chunk);
        if (!made->pool)
            made->pool = pd_chunk_pool_new();
        chunk = made->pool ? pd_chunk_new(made->pool, CHUNK_SIZE) : NULL;
        made->chunk = chunk;
        if (!chunk)
            return NULL;
        chunk->size = 0;
    }
    uint8_t *room = chunk->bytes + chunk->size;
    chunk->size += need;
    memcpy(room, record->data, record->size);
    room += record->size;
    pd_store32(room, record->size, false);
    room += sizeof(uint32_t);
    record->chunk = chunk;
    record->data = room;
    record->size = (uint32_t)size;
    record->is_made = 1;
    return room;
}
