/* SPDX-License-Identifier: MIT */
/* A worker's caches. Level one: address -> location, direct-mapped, good while the stamp of the
 * maps is the same or the map at the address is. Level two (places.c): (map, address) -> location,
 * so that forks, processes whose other maps change, and those that map the same file at the same
 * place, share what is known; for consumers that agree, (DSO, address in it) -> location, for all
 * processes wherever they map it, or even (DSO, function) -> location. Below it (DSO, address) ->
 * symbol, so that processes that map a library at different places search it once. */
#include "resolve/resolver.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/vec.h"
#include <stdlib.h>

/* ---- level one ---- */

static bool is_guest(uint8_t cpumode)
{
    return cpumode == PD_CPUMODE_GUEST_KERNEL || cpumode == PD_CPUMODE_GUEST_USER;
}

PD_INLINE bool shows(const struct pd_maps_view *view, uint64_t number)
{
    return number >= view->from && number < view->until;
}

static PD_NOINLINE void change_view(struct pd_resolver *resolver, const struct pd_thread *thread)
{
    /* Not read back from the resolver at once, as two bytes: the processor would wait. */
    const bool of_guest = thread && thread->timeline != resolver->symbols->timeline;
    resolver->thread = thread;
    resolver->rare = of_guest | resolver->no_host;
    resolver->of_guest = of_guest;
    if (!thread) {
        resolver->user = &resolver->nothing;
        resolver->points.slot = NULL;
        return;
    }
    struct pd_view_slot *slot = &resolver->views[thread->index % PD_VIEW_SLOTS];
    if (slot->thread != thread || !shows(&slot->view, resolver->number)) {
        slot->thread = thread;
        memset(slot->last, 0, sizeof slot->last);
        memset(slot->gaps, 0, sizeof slot->gaps);
        uint64_t settled = pd_timeline_settled(thread->timeline);
        pd_thread_maps_view(thread, resolver->number, settled, &slot->view);
    }
    resolver->user = &slot->view;
    resolver->points.slot = slot;
}

static PD_NOINLINE void change_kernel_view(struct pd_resolver *resolver)
{
    const struct pd_timeline *timeline = resolver->symbols->timeline;
    uint64_t settled = pd_timeline_settled(timeline);
    pd_timeline_kernel_view(timeline, resolver->number, settled, &resolver->kernel);
}

PD_INLINE void take_stamps(struct pd_resolver *resolver, const struct pd_thread *thread,
                           uint64_t number)
{
    if (PD_LIKELY(resolver->number == number && resolver->thread == thread))
        return;
    resolver->number = number;
    if (resolver->thread != thread || !shows(resolver->user, number))
        change_view(resolver, thread);
    if (!shows(&resolver->kernel, number))
        change_kernel_view(resolver);
    uint64_t first = atomic_load_explicit(&resolver->symbols->first_kernel, memory_order_acquire);
    resolver->before_kernel = number < first;
    resolver->loads_kernel = number == first;
    resolver->loading = NULL;
}

PD_INLINE struct pd_recent_slot *recent_slot(struct pd_resolver *resolver, uint8_t cpumode,
                                             uint64_t ip)
{
    uint64_t hash = (ip + cpumode) * UINT64_C(0x9e3779b97f4a7c15);
    return &resolver->recent[hash >> resolver->recent_shift];
}

void pd_resolver_fetch(struct pd_resolver *resolver, uint8_t cpumode, uint64_t ip)
{
    __builtin_prefetch(recent_slot(resolver, cpumode, ip));
}

const struct pd_location *pd_resolver_peek(struct pd_resolver *resolver, uint8_t cpumode,
                                           uint64_t ip)
{
    const struct pd_recent_slot *slot = recent_slot(resolver, cpumode, ip);
    return slot->ip == ip ? slot->location : NULL;
}

/* Stamps of different kinds, for the kernel, a user's maps and the like, are never equal. */
PD_INLINE uint64_t stamp_for(const struct pd_resolver *resolver, uint8_t cpumode)
{
    if (cpumode == PD_CPUMODE_USER)
        return resolver->user->stamp << 2;
    if (cpumode == PD_CPUMODE_KERNEL)
        return resolver->kernel.stamp << 2 | (resolver->before_kernel ? 3 : 1);
    return (uint64_t)cpumode << 2 | 2;
}

/* perf finds the map of the first kernel address before the table that it then loads changes the
 * maps' bounds: this one look-up sees them as recorded. */
static PD_NOINLINE struct pd_location *look_up_loading(struct pd_resolver *resolver, uint64_t ip)
{
    struct pd_symbols *symbols = resolver->symbols;
    if (resolver->loading && resolver->loading->ip == ip)
        return resolver->loading;
    if (resolver->loading)
        return NULL;
    const struct pd_map *map = pd_symbols_kernel_map(symbols, resolver->number, ip);
    if (!map)
        map = pd_timeline_kernel_map(symbols->timeline, resolver->number, ip);
    return resolver->loading = pd_resolver_at_place(resolver, map, PD_CPUMODE_KERNEL, ip);
}

/* Without a front that showed the samples the first look-up is the first sample. */
static bool becomes_first(struct pd_resolver *resolver, uint64_t ip)
{
    struct pd_symbols *symbols = resolver->symbols;
    if (atomic_load_explicit(&symbols->first_kernel, memory_order_relaxed) != UINT64_MAX)
        return false;
    if (!pd_symbols_show_front(symbols, PD_CPUMODE_KERNEL, ip, resolver->number))
        return false;
    resolver->before_kernel = false;
    resolver->loads_kernel = true;
    return true;
}

/* Before the sample that loads the kernel, only chains lead into the kernel, and their addresses
 * load it as well. */
static const struct pd_map *kernel_map(const struct pd_resolver *resolver, uint64_t ip)
{
    if (resolver->before_kernel) {
        const struct pd_map *map = pd_timeline_kernel_map(resolver->symbols->timeline,
                                                          resolver->number, ip);
        if (!map || map->dso->kind != PD_DSO_KERNEL)
            return map;
    }
    return pd_symbols_kernel_map(resolver->symbols, resolver->number, ip);
}

static size_t recent_slots(const struct pd_resolver *resolver)
{
    return (size_t)1 << (64 - resolver->recent_shift);
}

/* Four slots for each location, or where functions have one for each look-up that level one did not
 * answer: where two share one, both go to level two each time. */
PD_INLINE bool is_crowded(struct pd_resolver *resolver)
{
    const bool by_function = resolver->ways.by_function;
    const uint32_t most = by_function ? PD_RECENT_LAST_FUNCTIONS : PD_RECENT_LAST;
    const uint32_t wants = by_function ? resolver->ways.missed++ : resolver->count;
    return wants >= recent_slots(resolver) / 4 && resolver->recent_shift > 64 - most;
}

/* Without memory it stays as it is. */
static void grow_recent(struct pd_resolver *resolver)
{
    size_t count = recent_slots(resolver);
    struct pd_recent_slot *old = resolver->recent;
    struct pd_recent_slot *grown = pd_large_calloc(2 * count, sizeof *grown);
    if (!grown)
        return;
    resolver->recent = grown;
    resolver->recent_shift--;
    for (size_t i = 0; i < count; i++)
        if (old[i].location)
            *recent_slot(resolver, old[i].location->cpumode, old[i].ip) = old[i];
    free(old);
}

static PD_NOINLINE struct pd_location *look_up(struct pd_resolver *resolver, uint64_t stamp,
                                               uint8_t cpumode, uint64_t ip)
{
    if (PD_UNLIKELY(is_crowded(resolver)))
        grow_recent(resolver);
    struct pd_recent_slot *slot = recent_slot(resolver, cpumode, ip);
    const struct pd_map *map = NULL;
    if (cpumode == PD_CPUMODE_KERNEL && becomes_first(resolver, ip))
        return look_up_loading(resolver, ip);
    if (cpumode == PD_CPUMODE_KERNEL)
        map = kernel_map(resolver, ip);
    else if (cpumode == PD_CPUMODE_USER && resolver->thread)
        map = pd_maps_view_find(resolver->user, ip);
    /* Other maps have changed, this one has not. */
    struct pd_location *last = slot->location;
    if (last && !last->of_object && last->ip == ip && last->cpumode == cpumode &&
        pd_same_map(last->map, map)) {
        resolver->stats.known++;
        slot->stamp = stamp;
        return last;
    }
    struct pd_location *location = pd_resolver_at_place(resolver, map, cpumode, ip);
    if (location)
        *slot = (struct pd_recent_slot){ ip, stamp, location };
    return location;
}

/* Looks up code of a guest in its hypervisor. NULL: it is not there either. */
static struct pd_location *look_up_hypervisor(struct pd_resolver *resolver, uint8_t cpumode,
                                              uint64_t ip)
{
    const struct pd_thread *thread = resolver->thread;
    const struct pd_thread *hypervisor = pd_timeline_hypervisor(thread->timeline);
    struct pd_location *location = NULL;
    if (!hypervisor)
        return NULL;
    change_view(resolver, hypervisor);
    const struct pd_map *map = pd_maps_view_find(resolver->user, ip);
    if (map)
        location = pd_resolver_at_place(resolver, map, cpumode, ip);
    change_view(resolver, thread);
    return location;
}

/* Samples of guests are few: nothing is cached but the locations found. */
static PD_NOINLINE struct pd_location *look_up_guest(struct pd_resolver *resolver, uint8_t cpumode,
                                                     uint64_t ip)
{
    const struct pd_thread *thread = resolver->thread;
    struct pd_symbols *symbols = pd_resolver_symbols_here(resolver);
    const struct pd_map *map = NULL;
    bool kernel = cpumode == PD_CPUMODE_GUEST_KERNEL || cpumode == PD_CPUMODE_KERNEL;
    bool user = cpumode == PD_CPUMODE_GUEST_USER || cpumode == PD_CPUMODE_USER;
    bool hidden = resolver->no_host && !is_guest(cpumode);
    if (!resolver->of_guest && hidden)
        return pd_resolver_at_place(resolver, NULL, cpumode, ip);
    /* Where there is no process, perf takes the host's kernel. */
    if (hidden) /* perf takes what chains say of a guest for the host's */
        map = NULL;
    else if (kernel && (resolver->of_guest || (thread && thread->tid == UINT32_MAX)))
        map = pd_symbols_kernel_map(symbols, resolver->number, ip);
    else if (user && (resolver->of_guest || resolver->ways.guest_code))
        map = pd_maps_view_find(resolver->user, ip);
    if (resolver->of_guest && (kernel || user)) /* in chains it says less */
        cpumode = kernel ? PD_CPUMODE_GUEST_KERNEL : PD_CPUMODE_GUEST_USER;
    if (user && resolver->of_guest && !map && !hidden) {
        struct pd_location *location = look_up_hypervisor(resolver, cpumode, ip);
        if (location)
            return location;
    }
    return pd_resolver_at_place(resolver, map, cpumode, ip);
}

struct pd_location *pd_resolve(struct pd_resolver *resolver, const struct pd_thread *thread,
                               uint64_t number, uint8_t cpumode, uint64_t ip)
{
    take_stamps(resolver, thread, number);
    resolver->stats.lookups++;
    if (PD_UNLIKELY(resolver->rare || is_guest(cpumode)))
        return look_up_guest(resolver, cpumode, ip);
    if (PD_UNLIKELY(resolver->loads_kernel) && cpumode == PD_CPUMODE_KERNEL) {
        struct pd_location *location = look_up_loading(resolver, ip);
        if (location)
            return location;
    }
    uint64_t stamp = stamp_for(resolver, cpumode);
    struct pd_recent_slot *slot = recent_slot(resolver, cpumode, ip);
    if (PD_LIKELY(slot->ip == ip && slot->stamp == stamp && slot->location)) {
        resolver->stats.recent++;
        return slot->location;
    }
    return look_up(resolver, stamp, cpumode, ip);
}

struct pd_location *pd_resolve_any(struct pd_resolver *resolver, const struct pd_thread *thread,
                                   uint64_t number, uint8_t cpumode, uint64_t ip)
{
    if (cpumode != PD_CPUMODE_KERNEL && cpumode != PD_CPUMODE_USER)
        return pd_resolve(resolver, thread, number, cpumode, ip);
    bool kernel = ip >= pd_symbols_kernel_start(resolver->symbols, number);
    uint8_t own = kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
    if (PD_UNLIKELY(own != cpumode)) {
        /* A kernel that was recorded from 0 on covers user addresses, too. */
        struct pd_location *location = pd_resolve(resolver, thread, number, cpumode, ip);
        if (!location || location->map)
            return location;
    }
    return pd_resolve(resolver, thread, number, own, ip);
}

struct pd_location *pd_resolve_unmoded(struct pd_resolver *resolver, const struct pd_thread *thread,
                                       uint64_t number, uint64_t ip)
{
    static const uint8_t modes[] = { PD_CPUMODE_USER, PD_CPUMODE_KERNEL, PD_CPUMODE_GUEST_USER,
                                     PD_CPUMODE_GUEST_KERNEL };
    size_t count = PD_LIKELY(!resolver->no_host) ? 2 : PD_LENGTH(modes);
    struct pd_location *location = NULL;
    for (size_t i = 0; i < count; i++) {
        location = pd_resolve(resolver, thread, number, modes[i], ip);
        if (!location || location->map)
            break;
    }
    return location;
}

uint64_t pd_resolver_stamp(struct pd_resolver *resolver, const struct pd_thread *thread,
                           uint64_t number)
{
    take_stamps(resolver, thread, number);
    uint64_t kernel = stamp_for(resolver, PD_CPUMODE_KERNEL);
    return pd_hash64(kernel) ^ resolver->user->stamp;
}

uint64_t pd_resolver_kernel_stamp(struct pd_resolver *resolver, const struct pd_thread *thread,
                                  uint64_t number)
{
    take_stamps(resolver, thread, number);
    return resolver->rare ? 0 : stamp_for(resolver, PD_CPUMODE_KERNEL);
}

bool pd_resolver_span(struct pd_resolver *resolver, const struct pd_thread *thread, uint64_t number,
                      uint8_t cpumode, struct pd_resolver_span *out)
{
    if (cpumode != PD_CPUMODE_USER && cpumode != PD_CPUMODE_KERNEL)
        return false;
    take_stamps(resolver, thread, number);
    uint64_t first = atomic_load_explicit(&resolver->symbols->first_kernel, memory_order_acquire);
    if (resolver->rare || resolver->before_kernel != (number < first) || number == first)
        return false;
    out->stamp = stamp_for(resolver, cpumode);
    out->from = PD_MAX(resolver->user->from, resolver->kernel.from);
    out->until = PD_MIN(resolver->user->until, resolver->kernel.until);
    if (number < first)
        out->until = PD_MIN(out->until, first);
    else
        out->from = PD_MAX(out->from, first + 1);
    return out->stamp != 0;
}

/* ---- points ---- */

PD_INLINE bool is_in(const struct pd_map *map, uint64_t ip)
{
    return map && ip >= map->start && ip < map->end;
}

PD_INLINE bool is_in_gap(const struct pd_view_slot *slot, uint64_t ip)
{
    for (unsigned i = 0; i < PD_VIEW_GAPS; i++)
        if (ip - slot->gaps[i].from < slot->gaps[i].size)
            return true;
    return false;
}

/* Notes what is found. False: see find_point(). */
static PD_NOINLINE bool search_map(struct pd_view_slot *slot, uint64_t ip,
                                   const struct pd_map **map)
{
    struct pd_map_gap gap;
    *map = pd_maps_view_find_or_gap(&slot->view, ip, &gap);
    if (!*map) {
        if (ip >= PD_CHAIN_FIRST_CONTEXT)
            return false;
        gap.size = PD_MIN(gap.size, PD_CHAIN_FIRST_CONTEXT - gap.from);
        slot->gaps[slot->next_gap++ % PD_VIEW_GAPS] = gap;
        return true;
    }
    if (!pd_map_is_shared(*map))
        return false;
    slot->last[1] = slot->last[0];
    slot->last[0] = *map;
    return true;
}

/* False: the answer is not the same for all that have the object. Tries what was found last first:
 * more often than not a thread stays in two objects, and what is no address of code, as chains of
 * code without frame pointers are full of, lies in few gaps between maps. */
PD_INLINE bool find_point(struct pd_view_slot *slot, uint64_t ip, struct pd_point *out)
{
    const struct pd_map *map = slot->last[0];
    if (!is_in(map, ip)) {
        map = NULL;
        if (is_in(slot->last[1], ip)) {
            map = slot->last[1];
            slot->last[1] = slot->last[0];
            slot->last[0] = map;
        } else if (!is_in_gap(slot, ip) && !search_map(slot, ip, &map)) {
            return false;
        }
    }
    const uint64_t addr = map ? pd_map_address(map, ip) : ip;
    *out = (struct pd_point){ map, addr, addr };
    return true;
}

/* Maps that were there when the kernel's table was loaded have the bounds that the table gave them;
 * later maps take precedence. Within both bounds an address has the same map as its neighbours. */
PD_NOINLINE bool pd_core_find(struct pd_symbols *symbols, uint64_t number, uint64_t stamp,
                              uint64_t ip, struct pd_core *out)
{
    const struct pd_map *recorded = pd_timeline_kernel_map(symbols->timeline, number, ip);
    const struct pd_map *map = pd_symbols_kernel_map(symbols, number, ip);
    if (!recorded || !map || map->dso->kind != PD_DSO_KERNEL)
        return false;
    const uint64_t from = PD_MAX(recorded->start, map->start);
    const uint64_t until = PD_MIN(recorded->end, map->end);
    if (ip < from || ip >= until)
        return false;
    *out = (struct pd_core){ stamp, from, until - from, map };
    return true;
}

PD_INLINE bool find_kernel_point(struct pd_resolver *resolver, uint64_t ip, struct pd_point *out)
{
    const struct pd_core *core = &resolver->points.core;
    if (PD_UNLIKELY(core->stamp != resolver->kernel.stamp || ip - core->from >= core->size) &&
        !pd_core_find(resolver->symbols, resolver->number, resolver->kernel.stamp, ip,
                      &resolver->points.core))
        return false;
    *out = (struct pd_point){ core->map, pd_map_address(core->map, ip), ip };
    return true;
}

/* Whether points can be told for this sample. */
PD_INLINE bool begin_points(struct pd_resolver *resolver, const struct pd_thread *thread,
                            uint64_t number, uint8_t cpumode)
{
    if (PD_UNLIKELY(!resolver->ways.by_object || !thread))
        return false;
    take_stamps(resolver, thread, number);
    if (cpumode == PD_CPUMODE_KERNEL && (resolver->before_kernel || resolver->loads_kernel))
        return false;
    return !resolver->rare;
}

bool pd_resolver_points(struct pd_resolver *resolver, const struct pd_thread *thread,
                        uint64_t number, uint8_t cpumode, const struct pd_chain_entries *entries,
                        struct pd_point *out)
{
    if (PD_UNLIKELY(!begin_points(resolver, thread, number, cpumode)))
        return false;
    for (size_t i = 0; i < entries->count; i++) {
        const uint64_t ip = pd_load64(entries->ips + 8 * i, entries->swap);
        if (cpumode == PD_CPUMODE_KERNEL ? !find_kernel_point(resolver, ip, &out[i])
                                         : !find_point(resolver->points.slot, ip, &out[i]))
            return false;
    }
    return true;
}

bool pd_resolver_point(struct pd_resolver *resolver, const struct pd_thread *thread,
                       uint64_t number, uint8_t cpumode, uint64_t ip, struct pd_point *out)
{
    if (PD_UNLIKELY(!begin_points(resolver, thread, number, cpumode)))
        return false;
    return cpumode == PD_CPUMODE_KERNEL ? find_kernel_point(resolver, ip, out)
                                        : find_point(resolver->points.slot, ip, out);
}

uint64_t pd_resolver_address(struct pd_resolver *resolver, const struct pd_thread *thread,
                             uint64_t number, const struct pd_location *location, uint64_t ip)
{
    struct pd_point point = { .addr = location->addr };
    if (!location->of_function)
        return location->addr;
    if (location->cpumode != PD_CPUMODE_USER) /* a kernel's function has one map */
        return pd_symbols_address(pd_resolver_symbols_here(resolver), location->map, ip);
    (void)pd_resolver_user_map(resolver, thread, number, ip, &point);
    return point.addr;
}

bool pd_resolver_user_map(struct pd_resolver *resolver, const struct pd_thread *thread,
                          uint64_t number, uint64_t ip, struct pd_point *out)
{
    if (PD_UNLIKELY(!thread))
        return false;
    take_stamps(resolver, thread, number);
    if (PD_UNLIKELY(resolver->rare))
        return false;
    const struct pd_map *map = pd_maps_view_find(resolver->user, ip);
    const uint64_t addr = map ? pd_map_address(map, ip) : ip;
    *out = (struct pd_point){ map, addr, addr };
    return true;
}

uint64_t pd_resolver_points_stamp(struct pd_resolver *resolver, const struct pd_thread *thread,
                                  uint64_t number)
{
    if (!begin_points(resolver, thread, number, PD_CPUMODE_USER) || resolver->loads_kernel)
        return 0;
    return pd_hash64(stamp_for(resolver, PD_CPUMODE_KERNEL)) ^ resolver->user->stamp;
}

struct pd_symbol_span pd_resolver_span_of(struct pd_resolver *resolver,
                                          const struct pd_point *point)
{
    const struct pd_symtab *table = pd_symbols_table(resolver->symbols, point->map);
    return table ? pd_symtab_find_span(table, point->addr)
                 : (struct pd_symbol_span){ NULL, 0, UINT64_MAX };
}

/* ---- life ---- */

static void forget(struct pd_resolver *resolver)
{
    memset(resolver->recent, 0, recent_slots(resolver) * sizeof *resolver->recent);
    if (resolver->places)
        memset(resolver->places, 0, (resolver->place_mask + 1) * sizeof(struct pd_location *));
    pd_arena_free(&resolver->arena);
    pd_map64_free(&resolver->inlines.nested_of);
    resolver->inlines.nested.count = 0;
    resolver->slab_left = 0;
    resolver->count = 0;
    if (resolver->points.blocks.slots)
        memset(resolver->points.blocks.slots, 0,
               pd_block_slots(resolver) * sizeof *resolver->points.blocks.slots);
}

bool pd_resolver_trim(struct pd_resolver *resolver)
{
    if (resolver->count <= PD_LOCATION_LIMIT)
        return false;
    forget(resolver);
    return true;
}

struct pd_resolver *pd_resolver_new(struct pd_symbols *symbols)
{
    struct pd_resolver *resolver = pd_memory_noted(calloc(1, sizeof *resolver));
    if (!resolver)
        return NULL;
    resolver->symbols = symbols;
    resolver->number = UINT64_MAX;
    resolver->nothing = (struct pd_maps_view){ .until = UINT64_MAX };
    resolver->user = &resolver->nothing;
    resolver->recent_shift = 64 - PD_RECENT_FIRST;
    resolver->recent = pd_memory_noted(calloc(recent_slots(resolver), sizeof *resolver->recent));
    resolver->symbol_slots = pd_large_calloc(PD_SYMBOL_SLOTS, sizeof *resolver->symbol_slots);
    if (resolver->recent && resolver->symbol_slots)
        return resolver;
    pd_resolver_free(resolver);
    return NULL;
}

void pd_resolver_free(struct pd_resolver *resolver)
{
    if (!resolver)
        return;
    pd_arena_free(&resolver->arena);
    pd_map64_free(&resolver->inlines.nested_of);
    pd_vec_free(&resolver->inlines.nested);
    pd_vec_free(&resolver->inlines.inlined);
    free(resolver->places);
    free(resolver->recent);
    free(resolver->symbol_slots);
    free(resolver->step_slots);
    free(resolver->points.blocks.memory);
    free(resolver);
}

struct pd_symbols *pd_resolver_symbols(struct pd_resolver *resolver)
{
    return resolver->symbols;
}

void pd_resolver_guest_code(struct pd_resolver *resolver, bool guest_code)
{
    resolver->ways.guest_code = guest_code;
}

void pd_resolver_no_host(struct pd_resolver *resolver, bool no_host)
{
    resolver->no_host = resolver->rare = no_host;
}

void pd_resolver_by_object(struct pd_resolver *resolver, bool by_object)
{
    /* arm64 asks the map of a leaf function: see chain.c. */
    resolver->ways.by_object = by_object && !pd_symbols_of_arm64(resolver->symbols);
}

bool pd_resolver_by_function(struct pd_resolver *resolver, bool by_function)
{
    resolver->ways.by_function = by_function && resolver->ways.by_object;
    return resolver->ways.by_function;
}

void pd_resolver_join_outside(struct pd_resolver *resolver, bool joins)
{
    resolver->ways.joins_outside = joins && resolver->ways.by_function;
    resolver->points.nowhere = (struct pd_location){ .level = '.', .cpumode = PD_CPUMODE_USER };
}

void pd_resolver_join_branches(struct pd_resolver *resolver, bool joins)
{
    resolver->ways.joins_branches = joins;
}

void pd_resolver_from_caller(struct pd_resolver *resolver, bool from_caller)
{
    resolver->ways.from_caller = from_caller;
}

void pd_resolver_ask_in_turn(struct pd_resolver *resolver, const struct pd_lines_turn *turn)
{
    resolver->inlines.turn = turn;
}

void pd_resolver_statistics(const struct pd_resolver *resolver, struct pd_resolver_stats *out)
{
    *out = resolver->stats;
    out->made = out->lookups - out->recent - out->known;
    out->memory = resolver->arena.total + recent_slots(resolver) * sizeof *resolver->recent +
                  PD_SYMBOL_SLOTS * sizeof *resolver->symbol_slots +
                  (resolver->places ? (resolver->place_mask + 1) * sizeof(struct pd_location *)
                                    : 0);
}
