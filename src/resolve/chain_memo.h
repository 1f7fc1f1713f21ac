/* SPDX-License-Identifier: MIT */
/* What a consumer made of a chain, kept for when the chain comes again: chains repeat far more
 * often than not. Each worker has one; it is direct-mapped and grows up to a bound: what no longer
 * fits is made again. */
#ifndef PD_CHAIN_MEMO_H
#define PD_CHAIN_MEMO_H
#include "base/arena.h"

struct pd_chain_key {
    uint64_t stamp;     /* pd_resolver_stamp(): the same addresses have the same answers */
    uint64_t kind;      /* what else the answer depends on; the consumer's */
    const uint8_t *ips; /* u64s, as recorded */
    uint32_t count;
};

struct pd_chain_slot {
    uint64_t stamp, kind;
    const uint8_t *ips; /* a copy, with the answer behind it; NULL: free */
    uint32_t count, size;
};

struct pd_chain_memo {
    struct pd_chain_slot *slots; /* a power of two */
    size_t mask, most;           /* `most`: how many slots it may grow to */
    size_t used;                 /* bytes kept since it was last empty */
    struct pd_arena arena;
    uint64_t limit; /* bytes kept before all are dropped */
};

/* Grows to at most `slots`, a power of two. False: no memory. */
bool pd_chain_memo_init(struct pd_chain_memo *memo, size_t slots, uint64_t limit);
/* All zero: nothing. */
void pd_chain_memo_free(struct pd_chain_memo *memo);
void pd_chain_memo_forget(struct pd_chain_memo *memo);
/* The answer and its size, aligned for 8 bytes, valid until the next keep or forget; NULL: not
 * known. */
const void *pd_chain_memo_find(const struct pd_chain_memo *memo, const struct pd_chain_key *key,
                               uint32_t *size);
/* Copies both. Without memory nothing is kept. */
void pd_chain_memo_keep(struct pd_chain_memo *memo, const struct pd_chain_key *key,
                        const void *answer, size_t size);

#endif
