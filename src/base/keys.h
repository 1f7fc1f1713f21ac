/* SPDX-License-Identifier: MIT */
/* Keys of one size -> their numbers, in the order in which they first came. The keys lie side by
 * side, so that a look-up reads a slot and the key. The hash is a step of its own, so that whoever
 * has several keys can prefetch all their slots at the same time. */
#ifndef PD_BASE_KEYS_H
#define PD_BASE_KEYS_H
#include "base/base.h"

#define PD_KEYS_NONE UINT32_MAX

struct pd_keys_slot {
    uint32_t hash, number; /* + 1; 0: free */
};

/* All zero but `size` is an empty table. */
struct pd_keys {
    size_t size; /* of a key in bytes, without gaps that are not set */
    unsigned char *bytes;
    size_t count, room;
    struct pd_keys_slot *slots;
    size_t mask;
};

uint32_t pd_keys_hash(const struct pd_keys *keys, const void *key);
/* The number of a key, which is added where it is new; PD_KEYS_NONE: no memory. */
uint32_t pd_keys_add(struct pd_keys *keys, const void *key, uint32_t hash);
void pd_keys_free(struct pd_keys *keys);

/* Prefetches the slot of a key that will be asked for. */
PD_INLINE void pd_keys_fetch(const struct pd_keys *keys, uint32_t hash)
{
    if (keys->slots)
        __builtin_prefetch(&keys->slots[hash & keys->mask]);
}

PD_INLINE const void *pd_keys_at(const struct pd_keys *keys, uint32_t number)
{
    return keys->bytes + number * keys->size;
}

/* Once the slot is there, prefetches the key that it names. */
PD_INLINE void pd_keys_fetch_key(const struct pd_keys *keys, uint32_t hash)
{
    uint32_t number = keys->slots ? keys->slots[hash & keys->mask].number : 0;
    if (number)
        __builtin_prefetch(pd_keys_at(keys, number - 1));
}

#endif
