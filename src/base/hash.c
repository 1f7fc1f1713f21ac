/* SPDX-License-Identifier: MIT */
#include "base/hash.h"
#include "base/memory.h"
#include <stdlib.h>

uint64_t pd_hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
    const uint8_t *p = bytes;
    uint64_t hash = seed ^ size * UINT64_C(0x9e3779b97f4a7c15);
    for (; size >= 8; p += 8, size -= 8)
        hash = (hash ^ pd_load64(p, false)) * UINT64_C(0xd6e8feb86659fd93), hash ^= hash >> 29;
    uint64_t rest = 0;
    for (size_t i = 0; i < size; i++)
        rest |= (uint64_t)p[i] << 8 * i;
    return pd_hash64(hash ^ rest);
}

static bool grow(struct pd_map64 *map)
{
    size_t want = map->slots ? (map->mask + 1) * 2 : 16, bytes;
    if (pd_mul_overflows(want, sizeof *map->slots, &bytes))
        return false;
    struct pd_map64_slot *slots = pd_large_alloc(bytes);
    if (!slots)
        return false;
    for (size_t i = 0; i < want; i++)
        slots[i] = (struct pd_map64_slot){ 0, PD_MAP64_NONE };
    for (size_t i = 0; map->slots && i <= map->mask; i++) {
        struct pd_map64_slot *old = &map->slots[i];
        if (old->value == PD_MAP64_NONE)
            continue;
        size_t at = pd_hash64(old->key) & (want - 1);
        while (slots[at].value != PD_MAP64_NONE)
            at = (at + 1) & (want - 1);
        slots[at] = *old;
    }
    free(map->slots);
    map->slots = slots;
    map->mask = want - 1;
    return true;
}

bool pd_map64_set(struct pd_map64 *map, uint64_t key, uint32_t value)
{
    if ((!map->slots || map->count * 4 >= (map->mask + 1) * 3) && !grow(map))
        return false;
    for (size_t at = pd_hash64(key) & map->mask;; at = (at + 1) & map->mask) {
        struct pd_map64_slot *slot = &map->slots[at];
        if (slot->value == PD_MAP64_NONE) {
            *slot = (struct pd_map64_slot){ key, value };
            map->count++;
            return true;
        }
        if (slot->key == key) {
            slot->value = value;
            return true;
        }
    }
}

void pd_map64_free(struct pd_map64 *map)
{
    free(map->slots);
    memset(map, 0, sizeof *map);
}
