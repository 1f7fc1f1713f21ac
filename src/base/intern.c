/* SPDX-License-Identifier: MIT */
/* Texts -> ids, by a hash table over strings that never move. */
#include "base/intern.h"
#include "base/hash.h"

static bool grow(struct pd_intern *table)
{
    size_t want = table->slots ? (table->mask + 1) * 2 : 64;
    uint32_t *slots = pd_memory_noted(calloc(want, sizeof *slots));
    if (!slots)
        return false;
    for (size_t id = 0; id < table->strings.count; id++) {
        size_t at = table->strings.data[id].hash & (want - 1);
        while (slots[at])
            at = (at + 1) & (want - 1);
        slots[at] = (uint32_t)id + 1;
    }
    free(table->slots);
    table->slots = slots;
    table->mask = want - 1;
    return true;
}

/* The slot that holds the text, or the free one where it belongs. */
static size_t find_slot(const struct pd_intern *table, const char *text, size_t length,
                        uint32_t hash)
{
    size_t at = hash & table->mask;
    for (; table->slots[at]; at = (at + 1) & table->mask) {
        const struct pd_string *old = &table->strings.data[table->slots[at] - 1];
        if (old->hash == hash && old->length == length &&
            (!length || memcmp(old->text, text, length) == 0)) /* nothing may be at no address */
            break;
    }
    return at;
}

uint32_t pd_intern_find(const struct pd_intern *table, const char *text, size_t length)
{
    if (!table->slots)
        return PD_INTERN_NONE;
    uint32_t hash = (uint32_t)pd_hash_bytes(text, length);
    uint32_t found = table->slots[find_slot(table, text, length, hash)];
    return found ? found - 1 : PD_INTERN_NONE;
}

uint32_t pd_intern(struct pd_intern *table, const char *text, size_t length)
{
    if ((!table->slots || table->strings.count * 2 > table->mask) && !grow(table))
        return PD_INTERN_NONE;
    if (length >= UINT32_MAX || table->strings.count >= UINT32_MAX - 1)
        return PD_INTERN_NONE;
    uint32_t hash = (uint32_t)pd_hash_bytes(text, length);
    size_t at = find_slot(table, text, length, hash);
    if (table->slots[at])
        return table->slots[at] - 1;
    char *copy = pd_arena_copy(&table->arena, text, length);
    if (!copy || !pd_vec_push(&table->strings, (struct pd_string){ copy, (uint32_t)length, hash }))
        return PD_INTERN_NONE;
    table->slots[at] = (uint32_t)table->strings.count;
    return (uint32_t)table->strings.count - 1;
}

void pd_intern_free(struct pd_intern *table)
{
    free(table->slots);
    pd_vec_free(&table->strings);
    pd_arena_free(&table->arena);
    memset(table, 0, sizeof *table);
}
