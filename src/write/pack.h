/* SPDX-License-Identifier: MIT */
/* Records -> pieces of one zstd stream, each of which can be read when it is met. */
#ifndef PD_PACK_H
#define PD_PACK_H
#include "base/base.h"

/* What a piece holds: its compressed form fits in a record even where nothing can be saved. */
enum { PD_PACK_PIECE = 64000 };

struct pd_pack;

struct pd_pack *pd_pack_new(int level); /* NULL: no memory */
void pd_pack_free(struct pd_pack *pack);
/* Takes as many bytes as the piece has room for; returns how many. */
size_t pd_pack_add(struct pd_pack *pack, const uint8_t *bytes, size_t size);
bool pd_pack_full(const struct pd_pack *pack);
/* Ends the piece: *bytes are valid until the next call, *size 0: it was empty. False: zstd
 * failed. */
bool pd_pack_flush(struct pd_pack *pack, const uint8_t **bytes, size_t *size);
/* Bytes taken per byte made, rounded; 0 before the first piece. */
uint32_t pd_pack_ratio(const struct pd_pack *pack);

/* Bytes taken and made so far. */
void pd_pack_totals(const struct pd_pack *pack, uint64_t *taken, uint64_t *made);

#endif
