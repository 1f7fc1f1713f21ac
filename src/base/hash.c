/* SPDX-License-Identifier: MIT */
/* Keys → places in tables, which nobody can foresee; bytes → digests, which everybody can. */
#include "base/hash.h"
#include "base/memory.h"
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

uint64_t pd_hash_secret[2] = { UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xd6e8feb86659fd93) };

/* Before anything can ask for a hash, so that it needs no lock. Where the kernel has nothing random
 * yet, early in its life, what differs from process to process must do. */
__attribute__((constructor(101))) static void draw_secret(void)
{
    uint64_t drawn[2];
    if (getrandom(drawn, sizeof drawn, GRND_NONBLOCK) != (ssize_t)sizeof drawn) {
        struct timespec now = { 0 };
        clock_gettime(CLOCK_MONOTONIC, &now);
        drawn[0] = pd_digest64((uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 32);
        drawn[1] = pd_digest64(drawn[0] ^ (uint64_t)(uintptr_t)&now);
    }
    pd_hash_secret[0] = drawn[0];
    pd_hash_secret[1] = drawn[1] | 1;
}

uint64_t pd_hash_bytes(const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    uint64_t hash = size;
    for (; size >= 8; p += 8, size -= 8)
        hash = pd_hash_add(hash, pd_load64(p, false));
    uint64_t rest = 0;
    for (size_t i = 0; i < size; i++)
        rest |= (uint64_t)p[i] << 8 * i;
    return pd_hash_add(hash, rest);
}

/* Slots are copied as bytes, since pointers of another type lie in them. */
void *pd_slots_grown(const void *slots, size_t *mask, size_t first,
                     uint64_t (*hash)(const void *element))
{
    const char *from = slots;
    size_t size = slots ? 2 * (*mask + 1) : first;
    void *element, *taken;
    char *grown = pd_large_calloc(size, sizeof element);
    if (!grown)
        return NULL;
    for (size_t i = 0; slots && i <= *mask; i++) {
        memcpy(&element, from + i * sizeof element, sizeof element);
        if (!element)
            continue;
        size_t at = hash(element) & (size - 1);
        while (memcpy(&taken, grown + at * sizeof taken, sizeof taken), taken)
            at = (at + 1) & (size - 1);
        memcpy(grown + at * sizeof element, &element, sizeof element);
    }
    *mask = size - 1;
    return grown;
}

#define DIGEST_FACTOR UINT64_C(0xd6e8feb86659fd93)

uint64_t pd_digest64(uint64_t x)
{
    x ^= x >> 32;
    x *= DIGEST_FACTOR;
    x ^= x >> 32;
    x *= DIGEST_FACTOR;
    return x ^ x >> 32;
}

uint64_t pd_digest(const void *bytes, size_t size, uint64_t seed)
{
    const uint8_t *p = bytes;
    uint64_t digest = seed ^ size * UINT64_C(0x9e3779b97f4a7c15);
    for (; size >= 8; p += 8, size -= 8)
        digest = (digest ^ pd_load64(p, false)) * DIGEST_FACTOR, digest ^= digest >> 29;
    uint64_t rest = 0;
    for (size_t i = 0; i < size; i++)
        rest |= (uint64_t)p[i] << 8 * i;
    return pd_digest64(digest ^ rest);
}

static bool grow(struct pd_map64 *map)
{
    enum { FIRST = 16, SMALL = 4096, TIMES = 4 }; /* small ones reach their size in few steps */
    const size_t had = map->slots ? map->mask + 1 : 0;
    size_t want = had ? had * (had <= SMALL ? TIMES : 2) : FIRST, bytes;
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

void pd_map64_clear(struct pd_map64 *map)
{
    for (size_t i = 0; map->slots && i <= map->mask; i++)
        map->slots[i].value = PD_MAP64_NONE;
    map->count = 0;
}

void pd_map64_free(struct pd_map64 *map)
{
    free(map->slots);
    memset(map, 0, sizeof *map);
}

bool pd_slots_widen(uint32_t **slots, size_t *mask, size_t count,
                    uint64_t (*hash_of)(const void *data, size_t number), const void *data)
{
    const size_t size = *slots ? (*mask + 1) * 2 : 2 * (size_t)PD_SLOTS_MORE;
    uint32_t *wider = pd_large_calloc(size, sizeof *wider);
    if (!wider)
        return false;
    for (size_t i = 0; i < count; i++) {
        size_t at = hash_of(data, i) & (size - 1);
        while (wider[at])
            at = (at + 1) & (size - 1);
        wider[at] = (uint32_t)i + 1;
    }
    free(*slots);
    *slots = wider;
    *mask = size - 1;
    return true;
}
