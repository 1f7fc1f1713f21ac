/* SPDX-License-Identifier: MIT */
/* Room for records that the front makes of others: in chunks of its own, which live until their batches are through. */
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
/* `size` bytes, at most 64 KiB, for a record's bytes; the record gets their chunk. NULL: no memory. */
uint8_t *pd_made_room(struct pd_made *made, struct pd_delivered *record, size_t size);

#endif
