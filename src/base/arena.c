/* SPDX-License-Identifier: MIT */
/* Blocks of memory that end together. */
#include "base/arena.h"
#include "base/memory.h"
#include <stdlib.h>

struct pd_arena_block {
    struct pd_arena_block *before;
    size_t size;
};

/* Blocks grow with the arena: there may be one for each of a hundred thousand small things. */
enum {
    FIRST_BLOCK = 512,
    BLOCK_SIZE = 64 * 1024,
    HEAD_SIZE = 16,
    LARGE_ARENA = 4 << 20,
    LARGE_BLOCK = (2 << 20) - HEAD_SIZE
};

_Static_assert(sizeof(struct pd_arena_block) <= HEAD_SIZE, "the block head keeps the alignment");

/* One that was used before, or a new one. Those that are too small for what comes now go, so that
 * they do not add up. */
static struct pd_arena_block *take_block(struct pd_arena *arena, size_t *want)
{
    struct pd_arena_block *block;
    while ((block = arena->spare)) {
        arena->spare = block->before;
        if (block->size >= *want) {
            *want = block->size;
            return block;
        }
        free(block);
    }
    block = pd_large_alloc(*want + HEAD_SIZE);
    if (block)
        block->size = *want;
    return block;
}

static void *new_block(struct pd_arena *arena, size_t size)
{
    size_t block_size = arena->total > LARGE_ARENA ? (size_t)LARGE_BLOCK : BLOCK_SIZE;
    bool apart = size > block_size / 4;
    size_t grown = PD_MIN(block_size, PD_MAX((size_t)arena->total, (size_t)FIRST_BLOCK));
    size_t want = apart ? size : PD_MAX(grown, size);
    if (want > SIZE_MAX - HEAD_SIZE)
        return NULL;
    struct pd_arena_block *block = take_block(arena, &want);
    if (!block)
        return NULL;
    arena->total += want + HEAD_SIZE;
    uint8_t *start = (uint8_t *)block + HEAD_SIZE;
    if (apart && arena->blocks) { /* a large one goes behind the current */
        block->before = arena->blocks->before;
        arena->blocks->before = block;
        return start;
    }
    block->before = arena->blocks;
    arena->blocks = block;
    arena->next = start + size;
    arena->end = start + want;
    return start;
}

void *pd_arena_alloc(struct pd_arena *arena, size_t size)
{
    if (size > SIZE_MAX - 15)
        return NULL;
    size = (size + 15) & ~(size_t)15;
    if (PD_LIKELY(size <= (size_t)(arena->end - arena->next))) {
        void *result = arena->next;
        arena->next += size;
        return result;
    }
    return new_block(arena, size);
}

void *pd_arena_zalloc(struct pd_arena *arena, size_t size)
{
    void *result = pd_arena_alloc(arena, size);
    return result ? memset(result, 0, size) : NULL;
}

char *pd_arena_copy(struct pd_arena *arena, const void *bytes, size_t size)
{
    char *result = size == SIZE_MAX ? NULL : pd_arena_alloc(arena, size + 1);
    if (!result)
        return NULL;
    if (size)
        memcpy(result, bytes, size);
    result[size] = 0;
    return result;
}

char *pd_arena_strdup(struct pd_arena *arena, const char *text)
{
    return pd_arena_copy(arena, text, strlen(text));
}

static void free_blocks(struct pd_arena_block *block)
{
    while (block) {
        struct pd_arena_block *before = block->before;
        free(block);
        block = before;
    }
}

void pd_arena_free(struct pd_arena *arena)
{
    free_blocks(arena->blocks);
    free_blocks(arena->spare);
    memset(arena, 0, sizeof *arena);
}

void pd_arena_empty(struct pd_arena *arena)
{
    while (arena->blocks) {
        struct pd_arena_block *block = arena->blocks;
        arena->blocks = block->before;
        block->before = arena->spare;
        arena->spare = block;
    }
    arena->next = arena->end = NULL;
    arena->total = 0;
}
