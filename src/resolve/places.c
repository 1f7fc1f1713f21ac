/* SPDX-License-Identifier: MIT */
/* The second level of a worker's caches: what is at an address of a map, of an object, or what a
 * function is, and below it (DSO, address) -> symbol. resolver.c says who shares what. */
#include "resolve/resolver.h"
#include "base/hash.h"
#include "base/memory.h"
#include <stdlib.h>

static struct pd_symbol_slot *symbol_slot(struct pd_resolver *resolver,
                                          const struct pd_symtab *table, uint64_t addr)
{
    return &resolver->symbol_slots[pd_hash_pair(addr, (uintptr_t)table) % PD_SYMBOL_SLOTS];
}

static const struct pd_symbol *find_symbol(struct pd_resolver *resolver, struct pd_symbols *symbols,
                                           const struct pd_map *map, uint64_t addr)
{
    const struct pd_symtab *table = pd_symbols_table(symbols, map);
    if (!table)
        return NULL;
    struct pd_symbol_slot *slot = symbol_slot(resolver, table, addr);
    if (slot->table == table && slot->addr == addr)
        return slot->sym;
    *slot = (struct pd_symbol_slot){ table, addr, pd_symtab_find(table, addr) };
    return slot->sym;
}

static uint64_t place_hash(const struct pd_map *map, uint64_t mode, uint64_t ip)
{
    const void *of = map && pd_map_is_shared(map) ? (const void *)map->dso : map;
    return pd_hash_pair(ip, (uint64_t)(uintptr_t)of + mode);
}

static uint64_t object_hash(const struct pd_dso *dso, uint64_t addr)
{
    return pd_hash_pair(addr, (uint64_t)(uintptr_t)dso);
}

/* By whom a function's location is shared: by all processes that have its object, or by those that
 * see its kernel's map. */
static const void *owner_of(const struct pd_map *map, uint8_t cpumode)
{
    return cpumode == PD_CPUMODE_USER ? (const void *)map->dso : map;
}

static uint64_t function_hash(const struct pd_symbol *symbol, const struct pd_map *map,
                              uint8_t cpumode)
{
    return pd_hash_pair((uintptr_t)symbol, (uint64_t)(uintptr_t)owner_of(map, cpumode) + cpumode);
}

static uint64_t location_hash(const struct pd_location *location)
{
    if (location->of_function)
        return function_hash(location->sym, location->map, location->cpumode);
    return location->of_object ? object_hash(location->dso, location->addr)
                               : place_hash(location->map, location->cpumode, location->ip);
}

/* Whether both give the same answers for all addresses. */
bool pd_same_map(const struct pd_map *a, const struct pd_map *b)
{
    if (a == b || !a || !b)
        return a == b;
    return pd_map_is_shared(a) && pd_map_is_shared(b) && a->dso == b->dso && a->start == b->start &&
           a->end == b->end && a->pgoff == b->pgoff && a->identity == b->identity &&
           a->prot == b->prot && a->flags == b->flags;
}

static uint64_t known_hash(const void *element)
{
    return location_hash(element);
}

static bool grow_places(struct pd_resolver *resolver)
{
    struct pd_location **grown = pd_slots_grown(resolver->places, &resolver->place_mask, 1024,
                                                known_hash);
    if (!grown)
        return false;
    free(resolver->places);
    resolver->places = grown;
    return true;
}

static char level_of(uint8_t cpumode, bool guests)
{
    switch (cpumode) {
    case PD_CPUMODE_KERNEL: return 'k';
    case PD_CPUMODE_USER: return '.';
    case PD_CPUMODE_GUEST_KERNEL: return guests ? 'g' : 'H';
    case PD_CPUMODE_GUEST_USER: return guests ? 'u' : 'H';
    default: return 'H';
    }
}

static struct pd_location *new_location(struct pd_resolver *resolver)
{
    if (!resolver->slab_left) {
        size_t size = PD_LOCATION_SLAB * sizeof *resolver->slab;
        char *bytes = pd_arena_zalloc(&resolver->arena, size + PD_CACHE_LINE);
        if (!bytes)
            return NULL;
        size_t over = (uintptr_t)bytes % PD_CACHE_LINE;
        resolver->slab = (struct pd_location *)(void *)(bytes + (over ? PD_CACHE_LINE - over : 0));
        resolver->slab_left = PD_LOCATION_SLAB;
    }
    resolver->slab_left--;
    return resolver->slab++;
}

/* Makes a location without its symbol. */
static struct pd_location *make_bare(struct pd_resolver *resolver, const struct pd_map *map,
                                     uint8_t cpumode, uint64_t ip)
{
    struct pd_location *location = new_location(resolver);
    if (!location)
        return NULL;
    location->ip = location->addr = ip;
    location->cpumode = cpumode;
    struct pd_symbols *symbols = pd_resolver_symbols_here(resolver);
    bool guests = atomic_load_explicit(&resolver->symbols->guests, memory_order_relaxed);
    location->level = level_of(cpumode, guests || map);
    location->index = resolver->count++;
    if (map) {
        location->map = map;
        location->dso = map->dso;
        location->is_kernel_map = map->kernel;
        location->addr = pd_symbols_address(symbols, map, ip);
    }
    return location;
}

static struct pd_location *make_location(struct pd_resolver *resolver, const struct pd_map *map,
                                         uint8_t cpumode, uint64_t ip)
{
    struct pd_location *location = make_bare(resolver, map, cpumode, ip);
    if (location && map)
        location->sym = find_symbol(resolver, pd_resolver_symbols_here(resolver), map,
                                    location->addr);
    return location;
}

/* What consumers say of a function is the same wherever its object lies. For an address outside all
 * functions they may show the map. */
static bool may_join(const struct pd_resolver *resolver, const struct pd_map *map, uint8_t cpumode)
{
    if (!resolver->ways.by_object || !map)
        return false;
    return cpumode == PD_CPUMODE_USER ? pd_map_is_shared(map)
                                      : cpumode == PD_CPUMODE_KERNEL && resolver->ways.by_function;
}

/* There is room for one more. */
static bool has_room(struct pd_resolver *resolver)
{
    return (resolver->places && resolver->count * 2 <= resolver->place_mask) ||
           grow_places(resolver);
}

struct pd_location *pd_resolver_of_function(struct pd_resolver *resolver, const struct pd_map *map,
                                            uint8_t cpumode, uint64_t ip,
                                            const struct pd_symbol *symbol)
{
    if (!has_room(resolver))
        return NULL;
    size_t at = function_hash(symbol, map, cpumode) & resolver->place_mask;
    for (struct pd_location *known; (known = resolver->places[at]) != NULL;
         at = (at + 1) & resolver->place_mask) {
        if (known->sym == symbol && known->of_function && known->cpumode == cpumode &&
            owner_of(known->map, cpumode) == owner_of(map, cpumode)) {
            resolver->stats.known++;
            return known;
        }
    }
    struct pd_location *location = make_bare(resolver, map, cpumode, ip);
    if (location) {
        location->sym = symbol;
        location->of_object = location->of_function = true;
    }
    return resolver->places[at] = location;
}

/* The location of an address that all who have the object share, at its place in the table or NULL;
 * *at is where it is or belongs. */
static struct pd_location *find_in_object(struct pd_resolver *resolver, const struct pd_dso *dso,
                                          uint64_t addr, size_t *at)
{
    struct pd_location *known;
    *at = object_hash(dso, addr) & resolver->place_mask;
    for (; (known = resolver->places[*at]) != NULL; *at = (*at + 1) & resolver->place_mask) {
        if (known->addr == addr && known->dso == dso && known->of_object && !known->of_function) {
            resolver->stats.known++;
            return known;
        }
    }
    return NULL;
}

/* Puts a new location into the free place of the table. */
static struct pd_location *put_in_object(struct pd_resolver *resolver, const struct pd_map *map,
                                         uint64_t ip, const struct pd_symbol *symbol, size_t at)
{
    struct pd_location *location = make_bare(resolver, map, PD_CPUMODE_USER, ip);
    if (location) {
        location->sym = symbol;
        location->of_object = true;
    }
    return resolver->places[at] = location;
}

PD_INLINE struct pd_location **outside_slot(const struct pd_resolver *resolver,
                                            const struct pd_point *point)
{
    return &resolver->places[object_hash(point->map->dso, point->addr) & resolver->place_mask];
}

void pd_resolver_fetch_outside(const struct pd_resolver *resolver, const struct pd_point *point)
{
    if (resolver->places)
        __builtin_prefetch(outside_slot(resolver, point));
}

void pd_resolver_fetch_location(const struct pd_resolver *resolver, const struct pd_point *point)
{
    if (resolver->places && *outside_slot(resolver, point))
        __builtin_prefetch(*outside_slot(resolver, point));
}

struct pd_location *pd_resolver_outside(struct pd_resolver *resolver, const struct pd_map *map,
                                        uint64_t ip)
{
    size_t at;
    if (!has_room(resolver))
        return NULL;
    struct pd_location *known = find_in_object(resolver, map->dso, pd_map_address(map, ip), &at);
    return known ? known : put_in_object(resolver, map, ip, NULL, at);
}

/* NULL: the address is not the same in all processes, or there is no memory. */
static struct pd_location *in_object(struct pd_resolver *resolver, const struct pd_map *map,
                                     uint8_t cpumode, uint64_t ip)
{
    const uint64_t addr = pd_symbols_address(resolver->symbols, map, ip);
    const bool by_function = resolver->ways.by_function;
    size_t at = 0;
    struct pd_location *known = by_function ? NULL : find_in_object(resolver, map->dso, addr, &at);
    if (known)
        return known;
    const struct pd_symbol *symbol = find_symbol(resolver, resolver->symbols, map, addr);
    /* Consumers that ask for functions do not ask for the map of what lies in none. */
    if (!symbol && by_function && cpumode == PD_CPUMODE_USER)
        return pd_resolver_outside(resolver, map, ip);
    /* For data the offset is shown, and that depends on the place of the map. */
    if (!symbol || addr >= symbol->end || pd_symbol_is_data(symbol))
        return NULL;
    return by_function ? pd_resolver_of_function(resolver, map, cpumode, ip, symbol)
                       : put_in_object(resolver, map, ip, symbol, at);
}

struct pd_location *pd_resolver_at_place(struct pd_resolver *resolver, const struct pd_map *map,
                                         uint8_t cpumode, uint64_t ip)
{
    if (!has_room(resolver))
        return NULL;
    if (may_join(resolver, map, cpumode)) {
        struct pd_location *location = in_object(resolver, map, cpumode, ip);
        if (location)
            return location;
    }
    size_t at = place_hash(map, cpumode, ip) & resolver->place_mask;
    for (struct pd_location *known; (known = resolver->places[at]) != NULL;
         at = (at + 1) & resolver->place_mask) {
        if (known->ip == ip && known->cpumode == cpumode && !known->of_object &&
            pd_same_map(known->map, map)) {
            resolver->stats.known++;
            return known;
        }
    }
    return resolver->places[at] = make_location(resolver, map, cpumode, ip);
}
