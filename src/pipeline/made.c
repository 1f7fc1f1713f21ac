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

uint8_t *pd_made_room(struct pd_made *made, struct pd_delivered *record, size_t size)
{
    struct pd_chunk *chunk = made->chunk;
    if (!chunk || chunk->capacity - chunk->size < size) {
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
    chunk->size += size;
    record->chunk = chunk;
    return room;
}
