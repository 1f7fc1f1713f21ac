/* SPDX-License-Identifier: MIT */
/* Locations of functions by object and block of addresses. Thousands of processes may run the same
 * objects at different addresses each, and tables by address would know nothing of a new process;
 * functions and the blocks that they lie in are few. */
#include "base/hash.h"
#include "base/memory.h"
#include "resolve/resolver.h"
#include <stdlib.h>

enum { BLOCK_SHIFT = 7 }; /* about as long as most functions: two of them fit into a slot */

/* The new slots are empty: what was known will be found again. Without memory the slots stay as
 * they are. */
static void make_slots(struct pd_resolver *resolver, unsigned bits)
{
    const size_t size = sizeof(struct pd_block_slot) << bits;
    char *memory = pd_large_calloc(size + PD_CACHE_LINE, 1);
    resolver->points.blocks.missed = 0;
    if (!memory)
        return;
    const size_t over = (uintptr_t)memory % PD_CACHE_LINE;
    free(resolver->points.blocks.memory);
    resolver->points.blocks.memory = memory;
    resolver->points.blocks.slots = (void *)(memory + (over ? PD_CACHE_LINE - over : 0));
    resolver->points.blocks.shift = 64 - bits;
}

void pd_resolver_begin_spots(struct pd_resolver *resolver)
{
    if (!resolver->ways.by_function)
        return;
    if (PD_UNLIKELY(!resolver->points.blocks.slots))
        make_slots(resolver, PD_BLOCKS_FIRST);
    else if (PD_UNLIKELY(resolver->points.blocks.missed > pd_block_slots(resolver)) &&
             resolver->points.blocks.shift > 64 - PD_BLOCKS_LAST)
        make_slots(resolver, 64 - resolver->points.blocks.shift + 2);
}

/* Whose addresses a slot is about: as for locations of functions. */
PD_INLINE const void *owner_of(const struct pd_spot *spot)
{
    return spot->cpumode == PD_CPUMODE_USER ? (const void *)spot->point.map->dso
                                            : (const void *)spot->point.map;
}

void pd_resolver_spot(struct pd_resolver *resolver, const struct pd_thread *thread, uint64_t number,
                      uint8_t cpumode, uint64_t ip, struct pd_spot *out)
{
    out->slot = NULL;
    if (PD_UNLIKELY(!resolver->points.blocks.slots ||
                    (cpumode != PD_CPUMODE_USER && cpumode != PD_CPUMODE_KERNEL)) ||
        !pd_resolver_point(resolver, thread, number, cpumode, ip, &out->point) || !out->point.map)
        return;
    out->ip = ip;
    out->cpumode = cpumode;
    const uint64_t hash = pd_hash_pair(out->point.addr >> BLOCK_SHIFT, (uintptr_t)owner_of(out));
    out->slot = &resolver->points.blocks.slots[hash >> resolver->points.blocks.shift];
    __builtin_prefetch(out->slot);
}

/* Fills the way that holds the spot's address from now on; NULL: its answer is not the same for all
 * that have the object. */
static PD_NOINLINE const struct pd_block_way *find(struct pd_resolver *resolver,
                                                   const struct pd_spot *spot)
{
    const struct pd_symbol_span span = pd_resolver_span_of(resolver, &spot->point);
    const struct pd_symbol *symbol = span.symbol;
    struct pd_location *location = NULL;
    if (symbol && spot->point.addr < symbol->end && !pd_symbol_is_data(symbol))
        location = pd_resolver_of_function(resolver, spot->point.map, spot->cpumode, spot->ip,
                                           symbol);
    if (!location && (symbol || spot->cpumode != PD_CPUMODE_USER))
        return NULL;
    resolver->points.blocks.missed++;
    struct pd_block_way *ways = spot->slot->ways;
    ways[1] = ways[0];
    ways[0] = (struct pd_block_way){ owner_of(spot), span.from, span.size, location };
    return ways;
}

PD_INLINE bool holds(const struct pd_block_way *way, const void *owner, uint64_t addr)
{
    return way->owner == owner && addr - way->from < way->size;
}

/* False: the spot's address has to be looked up in its turn. *out is the function's location; NULL:
 * the address has one of its own. */
PD_INLINE bool look_up(struct pd_resolver *resolver, const struct pd_spot *spot,
                       struct pd_location **out)
{
    const void *owner = owner_of(spot);
    const uint64_t addr = spot->point.addr;
    const struct pd_block_way *way = spot->slot->ways;
    *out = NULL;
    if (PD_LIKELY(holds(way, owner, addr) || holds(++way, owner, addr)))
        resolver->stats.recent += way->location != NULL;
    else if (!(way = find(resolver, spot)))
        return false;
    resolver->stats.lookups++;
    *out = way->location;
    return true;
}

void pd_resolver_at_spots(struct pd_resolver *resolver, const struct pd_spot *spots, size_t count,
                          struct pd_location **out)
{
    enum { ROW = 64 };
    while (count) {
        uint8_t outside[ROW]; /* which have locations of their own */
        const size_t row = PD_MIN(count, (size_t)ROW);
        size_t some = 0;
        for (size_t i = 0; i < row; i++) {
            out[i] = NULL;
            if (!spots[i].slot || !look_up(resolver, &spots[i], &out[i]))
                continue;
            if (out[i])
                __builtin_prefetch(out[i]);
            else if (resolver->ways.joins_outside)
                out[i] = &resolver->points.nowhere;
            else
                pd_resolver_fetch_outside(resolver, &spots[outside[some++] = (uint8_t)i].point);
        }
        for (size_t i = 0; i < some; i++)
            pd_resolver_fetch_location(resolver, &spots[outside[i]].point);
        for (size_t i = 0; i < some; i++)
            out[outside[i]] = pd_resolver_outside(resolver, spots[outside[i]].point.map,
                                                  spots[outside[i]].ip);
        spots += row;
        out += row;
        count -= row;
    }
}
