/* SPDX-License-Identifier: MIT */
/* A call chain that came before -> what a consumer made of it. */
#include "resolve/chain_memo.h"
#include "base/memory.h"
#include <stdlib.h>

static struct pd_chain_slot *slot_of(const struct pd_chain_memo *memo,
                                     const struct pd_chain_key *key)
{
    uint64_t hash = key->stamp ^ key->kind * UINT64_C(0xd6e8feb86659fd93);
    for (uint32_t i = 0; i < key->count; i++) {
        hash = (hash ^ pd_load64(key->ips + 8 * (size_t)i, false)) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return &memo->slots[(hash ^ hash >> 32) & memo->mask];
}

const void *pd_chain_memo_find(const struct pd_chain_memo *memo, const struct pd_chain_key *key,
                               uint32_t *size)
{
    const struct pd_chain_slot *slot = slot_of(memo, key);
    if (!slot->ips || slot->stamp != key->stamp || slot->count != key->count ||
        slot->kind != key->kind || memcmp(slot->ips, key->ips, 8 * (size_t)key->count) != 0)
        return NULL;
    *size = slot->size;
    return slot->ips + 8 * (size_t)key->count;
}

static struct pd_chain_key key_of(const struct pd_chain_slot *slot)
{
    return (struct pd_chain_key){ slot->stamp, slot->kind, slot->ips, slot->count };
}

/* Without memory it stays as small as it is. */
static void grow(struct pd_chain_memo *memo)
{
    enum { TIMES = 8 };
    struct pd_chain_slot *before = memo->slots;
    size_t count = memo->mask + 1, more = PD_MIN(count * TIMES, memo->most);
    struct pd_chain_slot *slots = pd_large_calloc(more, sizeof *slots);
    memo->used = 0;
    if (!slots)
        return;
    memo->slots = slots;
    memo->mask = more - 1;
    for (size_t i = 0; i < count; i++) {
        if (!before[i].ips)
            continue;
        struct pd_chain_key key = key_of(&before[i]);
        *slot_of(memo, &key) = before[i];
        memo->used++;
    }
    free(before);
}

void pd_chain_memo_keep(struct pd_chain_memo *memo, const struct pd_chain_key *key,
                        const void *answer, size_t size)
{
    if (memo->arena.total > memo->limit)
        pd_chain_memo_forget(memo);
    size_t bytes = 8 * (size_t)key->count;
    uint8_t *copy = size < UINT32_MAX ? pd_arena_alloc(&memo->arena, bytes + size) : NULL;
    if (!copy)
        return;
    if (++memo->used > memo->mask / 2 && memo->mask + 1 < memo->most)
        grow(memo);
    memcpy(copy, key->ips, bytes);
    memcpy(copy + bytes, answer, size);
    *slot_of(memo, key) = (struct pd_chain_slot){ key->stamp, key->kind, copy, key->count,
                                                  (uint32_t)size };
}

void pd_chain_memo_forget(struct pd_chain_memo *memo)
{
    pd_arena_empty(&memo->arena);
    memo->used = 0;
    memset(memo->slots, 0, (memo->mask + 1) * sizeof *memo->slots);
}

bool pd_chain_memo_init(struct pd_chain_memo *memo, size_t slots, uint64_t limit)
{
    enum { FIRST = 1024 }; /* tables of megabytes take longer to clear than a small recording */
    size_t first = PD_MIN(slots, FIRST);
    *memo = (struct pd_chain_memo){ .mask = first - 1, .most = slots, .limit = limit };
    memo->slots = pd_large_calloc(first, sizeof *memo->slots);
    return memo->slots != NULL;
}

void pd_chain_memo_free(struct pd_chain_memo *memo)
{
    pd_arena_free(&memo->arena);
    free(memo->slots);
    memset(memo, 0, sizeof *memo);
}
