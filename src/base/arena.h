/* SPDX-License-Identifier: MIT */
/* Memory that is freed at once. One owner, no locks. */
#ifndef PD_ARENA_H
#define PD_ARENA_H
#include "base/base.h"

struct pd_arena_block;

struct pd_arena {
    struct pd_arena_block *blocks;
    struct pd_arena_block *spare; /* emptied ones */
    uint8_t *next, *end;
    size_t total; /* bytes of the blocks in use */
};

/* An arena that is all zero is ready. Blocks are aligned to 16; NULL when the system has no
 * memory. */
void *pd_arena_alloc(struct pd_arena *arena, size_t size);
void *pd_arena_zalloc(struct pd_arena *arena, size_t size);
/* Copies `size` bytes and adds a NUL. */
char *pd_arena_copy(struct pd_arena *arena, const void *bytes, size_t size);
char *pd_arena_strdup(struct pd_arena *arena, const char *text);
void pd_arena_free(struct pd_arena *arena);
/* As pd_arena_free(), but the memory is kept for the next allocations, so that the system need not
 * clear its pages again. */
void pd_arena_empty(struct pd_arena *arena);

#endif
