/* SPDX-License-Identifier: MIT */
/* Hash functions and a table from 64-bit keys to 32-bit values (open addressing, one owner).
 *
 * Keys come from files that anybody may have made. With a hash function that is known, a file can
 * name keys that all fall into one place of a table, and each look-up then walks over all of them.
 * So the functions here depend on numbers that each process draws anew. No output may depend on
 * them: neither on a hash nor on the order of a table's slots. What must be equal in every process
 * is a pd_digest(). */
#ifndef PD_HASH_H
#define PD_HASH_H
#include "base/base.h"

/* Drawn when the library is loaded, constant from then on; the second one is odd. */
extern uint64_t pd_hash_secret[2];

/* Both halves of the product: its low bits depend on all bits of the factors, unlike those of a
 * plain product. */
PD_INLINE uint64_t pd_hash_fold(uint64_t a, uint64_t b)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)(product >> 64) ^ (uint64_t)product;
#else
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX), high = (a >> 32) * (b >> 32);
    uint64_t left = (a >> 32) * (b & UINT32_MAX), right = (a & UINT32_MAX) * (b >> 32);
    uint64_t middle = (low >> 32) + (left & UINT32_MAX) + (right & UINT32_MAX);
    high += (left >> 32) + (right >> 32) + (middle >> 32);
    return high ^ (middle << 32 | (low & UINT32_MAX));
#endif
}

/* Copies a table of pointers with open addressing, in which a free slot is NULL, into one with
 * twice as many slots, or makes one of `first` slots where there was none; the caller still has to
 * free the old one. `hash` gives the hash of what a pointer points to. NULL without memory. */
void *pd_slots_grown(const void *slots, size_t *mask, size_t first,
                     uint64_t (*hash)(const void *element));

PD_INLINE uint64_t pd_hash64(uint64_t x)
{
    return pd_hash_fold(x ^ pd_hash_secret[0], pd_hash_secret[1]);
}

/* The hash of two numbers, in this order. */
PD_INLINE uint64_t pd_hash_pair(uint64_t a, uint64_t b)
{
    return pd_hash_fold(a ^ pd_hash_secret[0], b ^ pd_hash_secret[1]);
}

/* Adds a number to a hash that began as 0 or as the hash of something else. */
PD_INLINE uint64_t pd_hash_add(uint64_t hash, uint64_t x)
{
    return pd_hash64(hash ^ x);
}

uint64_t pd_hash_bytes(const void *bytes, size_t size);

/* Equal in every process and on every machine, for what is written or printed; whoever chooses the
 * bytes can choose the digest, too. `seed` is 0 or the digest of what comes before. */
uint64_t pd_digest(const void *bytes, size_t size, uint64_t seed);
uint64_t pd_digest64(uint64_t x);

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
/* Empty again, with its memory. */
void pd_map64_clear(struct pd_map64 *map);

/* A table of things that lie elsewhere, numbered from 0: a slot holds a thing's number plus 1, a
 * free slot 0. The owner looks a thing up from the slot `hash & mask` on. */
bool pd_slots_widen(uint32_t **slots, size_t *mask, size_t count,
                    uint64_t (*hash_of)(const void *data, size_t number), const void *data);

/* Makes room for `more` than the `count` things that are in the table, at most PD_SLOTS_MORE, so
 * that at most half of the slots are taken; *slots is NULL before the first one. `hash_of` gives
 * the hash of a thing. False when the system has no memory. */
enum { PD_SLOTS_MORE = 512 };
PD_INLINE bool pd_slots_reserve_more(uint32_t **slots, size_t *mask, size_t count, size_t more,
                                     uint64_t (*hash_of)(const void *data, size_t number),
                                     const void *data)
{
    return (*slots && (count + more) * 2 <= *mask + 1) ||
           pd_slots_widen(slots, mask, count, hash_of, data);
}

/* The same for one more. */
PD_INLINE bool pd_slots_reserve(uint32_t **slots, size_t *mask, size_t count,
                                uint64_t (*hash_of)(const void *data, size_t number),
                                const void *data)
{
    return pd_slots_reserve_more(slots, mask, count, 1, hash_of, data);
}

#endif
