/* SPDX-License-Identifier: MIT */
/* A growing array whose elements never move: one thread appends while others read the elements
 * whose numbers they have been given. Blocks double, so that the place of an element is known from
 * its number alone. */
#ifndef PD_PROFILE_BLOCKS_H
#define PD_PROFILE_BLOCKS_H
#include "base/base.h"
#include <stdlib.h>

enum { PD_BLOCK_FIRST_BITS = 8, PD_BLOCK_MAX = 33 - PD_BLOCK_FIRST_BITS };

struct pd_blocks {
    void *blocks[PD_BLOCK_MAX];
    uint32_t count;
};

/* Block b holds 256 << b elements, from number (256 << b) - 256 on. */
PD_INLINE void *pd_blocks_at(const struct pd_blocks *blocks, uint32_t index, size_t size)
{
    uint64_t shifted = (uint64_t)index + (1u << PD_BLOCK_FIRST_BITS);
    unsigned block = 63 - (unsigned)__builtin_clzll(shifted) - PD_BLOCK_FIRST_BITS;
    size_t within = (size_t)(shifted - (UINT64_C(1) << (block + PD_BLOCK_FIRST_BITS)));
    return (uint8_t *)blocks->blocks[block] + within * size;
}

/* Room for one more element, not cleared; NULL: no memory, or 2^32 - 1 elements. */
PD_INLINE void *pd_blocks_push(struct pd_blocks *blocks, size_t size)
{
    if (PD_UNLIKELY(blocks->count == UINT32_MAX - 1))
        return NULL;
    uint64_t shifted = (uint64_t)blocks->count + (1u << PD_BLOCK_FIRST_BITS);
    unsigned block = 63 - (unsigned)__builtin_clzll(shifted) - PD_BLOCK_FIRST_BITS;
    if (PD_UNLIKELY(!blocks->blocks[block]) &&
        !(blocks->blocks[block] = malloc(size << (block + PD_BLOCK_FIRST_BITS))))
        return NULL;
    return pd_blocks_at(blocks, blocks->count++, size);
}

static inline void pd_blocks_free(struct pd_blocks *blocks)
{
    for (unsigned i = 0; i < PD_BLOCK_MAX; i++)
        free(blocks->blocks[i]);
    memset(blocks, 0, sizeof *blocks);
}

#endif
