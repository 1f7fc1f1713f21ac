/* SPDX-License-Identifier: MIT */
/* Samples of functions that nobody asks for, told by the maps as they are when the sample comes and
 * by a table of what is known of regions of code. Most samples need no more than a look into
 * both. */
#include "base/memory.h"
#include "resolve/resolver.h"
#include <stdlib.h>

enum {
    GRANULE_SHIFT = 10,               /* a few functions */
    REGION_SHIFT = GRANULE_SHIFT + 6, /* one bit for each granule */
    REGION_BITS = 12,                 /* of how many regions are remembered */
    SEAT_BITS = 6,
    SEAT_WAYS = 2 /* most threads are in their program and in one library */
};

struct region {
    const void *owner; /* the object, or the kernel's map; NULL: free */
    uint64_t place;    /* address >> REGION_SHIFT */
    uint64_t known;    /* by granule: whether it was looked at */
    uint64_t clear;    /* no function of the name reaches into it */
};

/* A map of an object whose symbols are loaded. */
struct way {
    uint64_t from, size;
    uint64_t bias;                 /* to be added to an address before it is looked up */
    const void *owner;             /* NULL: none */
    const struct pd_symtab *table; /* NULL: it has no symbols */
};

/* Where a thread was last, as long as nobody's maps change. */
struct seat {
    const struct pd_thread *thread; /* NULL: free */
    uint64_t changes;
    unsigned oldest; /* of the ways */
    struct way ways[SEAT_WAYS];
};

struct pd_elsewhere {
    struct pd_symbols *symbols;
    const char *name;
    const uint64_t *changes; /* of the timeline's maps */
    struct way kernel;
    uint64_t kernel_stamp, kernel_changes;
    struct seat seats[1 << SEAT_BITS];
    struct region regions[1 << REGION_BITS];
};

struct pd_elsewhere *pd_elsewhere_new(struct pd_symbols *symbols, const char *name)
{
    struct pd_elsewhere *elsewhere = pd_large_calloc(1, sizeof *elsewhere);
    if (!elsewhere)
        return NULL;
    elsewhere->symbols = symbols;
    elsewhere->name = name;
    elsewhere->changes = pd_timeline_changes(pd_symbols_timeline(symbols));
    return elsewhere;
}

void pd_elsewhere_free(struct pd_elsewhere *elsewhere)
{
    free(elsewhere);
}

/* Looks at an address's granule for the first time. */
static PD_NOINLINE void get_to_know(const struct pd_elsewhere *elsewhere, const struct way *way,
                                    uint64_t address, struct region *region)
{
    const uint64_t first = address >> GRANULE_SHIFT << GRANULE_SHIFT;
    const uint64_t last = first + (((uint64_t)1 << GRANULE_SHIFT) - 1);
    const uint64_t bit = (uint64_t)1 << (address >> GRANULE_SHIFT & 63);
    if (region->owner != way->owner || region->place != address >> REGION_SHIFT)
        *region = (struct region){ .owner = way->owner, .place = address >> REGION_SHIFT };
    region->known |= bit;
    if (!way->table || !pd_symtab_may_find(way->table, first, last, elsewhere->name))
        region->clear |= bit;
}

/* Whether the function at an address is of another name, or there is none. */
PD_INLINE bool is_outside(struct pd_elsewhere *elsewhere, const struct way *way, uint64_t ip)
{
    const uint64_t address = ip + way->bias, place = address >> REGION_SHIFT;
    const uint64_t bit = (uint64_t)1 << (address >> GRANULE_SHIFT & 63);
    const uint64_t hash = pd_hash_pair(place, (uintptr_t)way->owner);
    struct region *region = &elsewhere->regions[hash >> (64 - REGION_BITS)];
    if (PD_UNLIKELY(region->owner != way->owner || region->place != place ||
                    !(region->known & bit)))
        get_to_know(elsewhere, way, address, region);
    return region->clear & bit;
}

PD_INLINE bool holds(const struct way *way, uint64_t ip)
{
    return ip - way->from < way->size;
}

static PD_NOINLINE bool find_kernel(struct pd_elsewhere *elsewhere, uint64_t number, uint64_t ip)
{
    struct pd_symbols *symbols = elsewhere->symbols;
    const uint64_t first = atomic_load_explicit(&symbols->first_kernel, memory_order_acquire);
    const uint64_t stamp = pd_timeline_kernel_stamp(symbols->timeline, number);
    struct pd_core core;
    if (number <= first || !pd_symbols_has_kernel(symbols))
        return false;
    elsewhere->kernel_changes = *elsewhere->changes;
    if (stamp == elsewhere->kernel_stamp && holds(&elsewhere->kernel, ip))
        return true;
    if (!pd_core_find(symbols, number, stamp, ip, &core))
        return false;
    elsewhere->kernel_stamp = stamp;
    elsewhere->kernel = (struct way){ .from = core.from,
                                      .size = core.size,
                                      .bias = pd_map_address(core.map, ip) - ip,
                                      .owner = core.map,
                                      .table = pd_symbols_table(symbols, core.map) };
    return true;
}

/* The way of a user's address, which becomes one of the seat's; NULL: there is none. */
static PD_NOINLINE const struct way *find_way(struct seat *seat, uint64_t changes,
                                              struct pd_thread *thread, uint64_t number,
                                              uint64_t ip)
{
    const struct pd_map *map = pd_thread_map_now(thread, number, ip);
    if (!map || !pd_map_is_shared(map))
        return NULL;
    const struct pd_loaded *loaded = atomic_load_explicit(&map->dso->symbols, memory_order_acquire);
    if (!loaded)
        return NULL;
    if (seat->thread != thread || seat->changes != changes)
        *seat = (struct seat){ .thread = thread, .changes = changes };
    struct way *way = &seat->ways[seat->oldest];
    seat->oldest = (seat->oldest + 1) % SEAT_WAYS;
    *way = (struct way){ .from = map->start,
                         .size = map->end - map->start,
                         .bias = pd_map_address(map, ip) - ip,
                         .owner = map->dso,
                         .table = loaded->table };
    return way;
}

static bool is_outside_in_user(struct pd_elsewhere *elsewhere, struct pd_thread *thread,
                               uint64_t number, uint64_t ip)
{
    const uint64_t changes = *elsewhere->changes;
    struct seat *seat = &elsewhere->seats[pd_hash64((uintptr_t)thread) >> (64 - SEAT_BITS)];
    if (PD_LIKELY(seat->thread == thread && seat->changes == changes)) {
        for (unsigned i = 0; i < SEAT_WAYS; i++)
            if (holds(&seat->ways[i], ip))
                return is_outside(elsewhere, &seat->ways[i], ip);
    }
    const struct way *way = find_way(seat, changes, thread, number, ip);
    return way && is_outside(elsewhere, way, ip);
}

bool pd_elsewhere_is(struct pd_elsewhere *elsewhere, struct pd_thread *thread, uint64_t number,
                     uint8_t cpumode, uint64_t ip)
{
    if (cpumode == PD_CPUMODE_USER)
        return is_outside_in_user(elsewhere, thread, number, ip);
    if (cpumode != PD_CPUMODE_KERNEL)
        return false;
    const struct way *kernel = &elsewhere->kernel;
    const bool found = holds(kernel, ip) && elsewhere->kernel_changes == *elsewhere->changes;
    return (PD_LIKELY(found) || find_kernel(elsewhere, number, ip)) &&
           is_outside(elsewhere, kernel, ip);
}
