/* SPDX-License-Identifier: MIT */
/* Hash functions and a table from 64-bit keys to 32-bit values (open addressing, one owner). */
#ifndef PD_HASH_H
#define PD_HASH_H
#include "base/base.h"

PD_INLINE uint64_t pd_hash64(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

uint64_t pd_hash_bytes(const void *bytes, size_t size, uint64_t seed);

#define PD_MAP64_NONE UINT32_MAX

/* All zero is an empty table. */
struct pd_map64 {
    struct pd_map64_slot *slots;
    size_t count, mask;
};

struct pd_map64_slot {
    uint64_t key;
    uint32_t value; /* PD_MAP64_NONE: free */
};

/* PD_MAP64_NONE when there is none. */
static inline uint32_t pd_map64_get(const struct pd_map64 *map, uint64_t key)
{
    if (!map->slots)
        return PD_MAP64_NONE;
    for (size_t at = pd_hash64(key) & map->mask;; at = (at + 1) & map->mask) {
        const struct pd_map64_slot *slot = &map->slots[at];
        if (slot->value == PD_MAP64_NONE || slot->key == key)
            return slot->value;
    }
}

/* Sets or replaces; `value` may not be PD_MAP64_NONE. False when the system has no memory. */
bool pd_map64_set(struct pd_map64 *map, uint64_t key, uint32_t value);
void pd_map64_free(struct pd_map64 *map);

#endif
