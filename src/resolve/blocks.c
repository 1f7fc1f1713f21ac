/* SPDX-License-Identifier: MIT */
/* Locations of functions by object and block of addresses. Processes by the thousand run the same
 * objects at other places each, so that tables of their addresses are as cold as the processes are
 * young; functions and the blocks that they lie in are few. */
#include "base/hash.h"
#include "base/memory.h"
#include "resolve/resolver.h"
#include <elf.h>
#include <stdlib.h>

enum { BLOCK_SHIFT = 7 }; /* about as long as most functions: two of them fit into a slot */

static size_t slot_count(const struct pd_resolver *resolver)
{
    return (size_t)1 << (64 - resolver->blocks.shift);
}

/* What was known is forgotten: it will be found again. Without memory the slots stay as they are. */
static void make_slots(struct pd_resolver *resolver, unsigned bits)
{
    const size_t size = sizeof(struct pd_block_slot) << bits;
    char *memory = pd_large_calloc(size + PD_CACHE_LINE, 1);
    resolver->blocks.missed = 0;
    if (!memory)
        return;
    const size_t over = (uintptr_t)memory % PD_CACHE_LINE;
    free(resolver->blocks.memory);
    resolver->blocks.memory = memory;
    resolver->blocks.slots = (void *)(memory + (over ? PD_CACHE_LINE - over : 0));
    resolver->blocks.shift = 64 - bits;
}

void pd_resolver_begin_spots(struct pd_resolver *resolver)
{
    if (!resolver->ways.by_function)
        return;
    if (PD_UNLIKELY(!resolver->blocks.slots))
        make_slots(resolver, PD_BLOCKS_FIRST);
    else if (PD_UNLIKELY(resolver->blocks.missed > slot_count(resolver)) &&
             resolver->blocks.shift > 64 - PD_BLOCKS_LAST)
        make_slots(resolver, 64 - resolver->blocks.shift + 1);
}

void pd_resolver_forget_blocks(struct pd_resolver *resolver)
{
    if (resolver->blocks.slots)
        memset(resolver->blocks.slots, 0, slot_count(resolver) * sizeof *resolver->blocks.slots);
}

/* Whose addresses they are: as for locations of functions. */
PD_INLINE const void *owner_of(const struct pd_spot *spot)
{
    return spot->cpumode == PD_CPUMODE_USER ? (const void *)spot->point.map->dso
                                            : (const void *)spot->point.map;
}

bool pd_resolver_spot(struct pd_resolver *resolver, const struct pd_thread *thread, uint64_t number,
                      uint8_t cpumode, uint64_t ip, struct pd_spot *out)
{
    if (PD_UNLIKELY(!resolver->blocks.slots ||
                    (cpumode != PD_CPUMODE_USER && cpumode != PD_CPUMODE_KERNEL)) ||
        !pd_resolver_point(resolver, thread, number, cpumode, ip, &out->point) || !out->point.map)
        return false;
    out->ip = ip;
    out->cpumode = cpumode;
    const uint64_t hash = pd_hash_pair(out->point.addr >> BLOCK_SHIFT, (uintptr_t)owner_of(out));
    out->slot = &resolver->blocks.slots[hash >> resolver->blocks.shift];
    __builtin_prefetch(out->slot);
    return true;
}

/* The way that holds the spot's address now; NULL: its answer is not the same for all that have the
 * object. */
static PD_NOINLINE const struct pd_block_way *find(struct pd_resolver *resolver,
                                                   const struct pd_spot *spot)
{
    const struct pd_symbol_span span = pd_resolver_span_of(resolver, &spot->point);
    const struct pd_symbol *symbol = span.symbol;
    struct pd_location *location = NULL;
    if (symbol && spot->point.addr < symbol->end && symbol->type != STT_OBJECT)
        location = pd_resolver_of_function(resolver, spot->point.map, spot->cpumode, spot->ip,
                                           symbol);
    if (!location && (symbol || spot->cpumode != PD_CPUMODE_USER))
        return NULL;
    resolver->blocks.missed++;
    struct pd_block_way *ways = spot->slot->ways;
    ways[1] = ways[0];
    ways[0] = (struct pd_block_way){ owner_of(spot), span.from, span.size, location };
    return ways;
}

PD_INLINE bool holds(const struct pd_block_way *way, const void *owner, uint64_t addr)
{
    return way->owner == owner && addr - way->from < way->size;
}

struct pd_location *pd_resolver_at_spot(struct pd_resolver *resolver, const struct pd_spot *spot)
{
    const void *owner = owner_of(spot);
    const uint64_t addr = spot->point.addr;
    const struct pd_block_way *way = spot->slot->ways;
    if (PD_LIKELY(holds(way, owner, addr) || holds(++way, owner, addr)))
        resolver->stats.recent += way->location != NULL;
    else if (!(way = find(resolver, spot)))
        return NULL;
    resolver->stats.lookups++;
    return PD_LIKELY(way->location != NULL)
               ? way->location
               : pd_resolver_outside(resolver, spot->point.map, spot->ip);
}
