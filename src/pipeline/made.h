/* SPDX-License-Identifier: MIT */
/* Room for records that the front makes of others: in chunks of its own, which live until their
 * batches are through. */
#ifndef PD_PIPELINE_MADE_H
#define PD_PIPELINE_MADE_H
#include "io/io.h"
#include "order/order.h"

/* One owner; all zero is empty. */
struct pd_made {
    struct pd_chunk_pool *pool;
    struct pd_chunk *chunk; /* the one that is filled; NULL: none yet */
};

void pd_made_free(struct pd_made *made);
/* Room for `size` bytes, at most 64 KiB, which become the record's, with their chunk; the record as
 * it was is kept in front of them. NULL: no memory, and the record stays what it was. The caller
 * fills them. */
uint8_t *pd_made_bytes(struct pd_made *made, struct pd_delivered *record, size_t size);

/* The bytes of a record as they were recorded. */
PD_INLINE const uint8_t *pd_made_recorded(const struct pd_delivered *record, uint32_t *size)
{
    *size = record->size;
    if (PD_LIKELY(!record->is_made))
        return record->data;
    *size = pd_load32(record->data - 4, false);
    return record->data - 4 - *size;
}

#endif
