/* SPDX-License-Identifier: MIT */
/* Keys of one size -> their numbers, by a hash table. */
#include "base/keys.h"
#include "base/hash.h"
#include "base/memory.h"
#include <stdlib.h>

uint32_t pd_keys_hash(const struct pd_keys *keys, const void *key)
{
    return (uint32_t)pd_hash_bytes(key, keys->size);
}

static bool widen_slots(struct pd_keys *keys)
{
    size_t want = keys->slots ? (keys->mask + 1) * 2 : 64;
    struct pd_keys_slot *slots = pd_large_calloc(want, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; keys->slots && i <= keys->mask; i++) {
        if (!keys->slots[i].number)
            continue;
        size_t at = keys->slots[i].hash & (want - 1);
        while (slots[at].number)
            at = (at + 1) & (want - 1);
        slots[at] = keys->slots[i];
    }
    free(keys->slots);
    keys->slots = slots;
    keys->mask = want - 1;
    return true;
}

static bool widen(struct pd_keys *keys)
{
    size_t want = keys->room + keys->room / 2 + 64, bytes;
    if (pd_mul_overflows(want, keys->size, &bytes))
        return false;
    unsigned char *wider = pd_memory_noted(realloc(keys->bytes, bytes));
    if (!wider)
        return false;
    keys->bytes = wider;
    keys->room = want;
    return true;
}

uint32_t pd_keys_add(struct pd_keys *keys, const void *key, uint32_t hash)
{
    if ((!keys->slots || keys->count * 2 > keys->mask) && !widen_slots(keys))
        return PD_KEYS_NONE;
    size_t at = hash & keys->mask;
    for (; keys->slots[at].number; at = (at + 1) & keys->mask)
        if (keys->slots[at].hash == hash &&
            !memcmp(pd_keys_at(keys, keys->slots[at].number - 1), key, keys->size))
            return keys->slots[at].number - 1;
    if (keys->count >= PD_KEYS_NONE - 1 || (keys->count == keys->room && !widen(keys)))
        return PD_KEYS_NONE;
    memcpy(keys->bytes + keys->count * keys->size, key, keys->size);
    keys->slots[at] = (struct pd_keys_slot){ hash, (uint32_t)++keys->count };
    return (uint32_t)keys->count - 1;
}

void pd_keys_free(struct pd_keys *keys)
{
    free(keys->bytes);
    free(keys->slots);
}
