/* SPDX-License-Identifier: MIT */
/* Queued records that memory has no room for: sorted pieces in an unlinked temporary file, merged
 * again when they are due. What was spilled earlier came earlier, so equal times go to the earlier
 * piece. */
#ifndef PD_ORDER_SPILL_H
#define PD_ORDER_SPILL_H
#include "io/io.h"
#include "order/queue.h"

struct pd_spill;

/* NULL: no memory, or no place for a temporary file. */
struct pd_spill *pd_spill_new(void);
void pd_spill_free(struct pd_spill *spill);

/* A new piece, then its records by time, then its end. False: there is no room on the disk, and the
 * piece is undone. */
void pd_spill_begin(struct pd_spill *spill);
bool pd_spill_put(struct pd_spill *spill, const struct pd_queue_entry *entry, uint32_t part);
bool pd_spill_end(struct pd_spill *spill);

uint64_t pd_spill_left(const struct pd_spill *spill); /* records that wait */

/* 1: the next record of all pieces whose time is at most `limit`, 0: there is none, < 0: it cannot
 * be read. Bytes lie in *chunk, which stays the spill's; they are valid until the next call. */
int pd_spill_next(struct pd_spill *spill, uint64_t limit, struct pd_queue_entry *entry,
                  uint32_t *part, struct pd_chunk **chunk);

#endif
