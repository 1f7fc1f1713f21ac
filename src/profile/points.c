/* SPDX-License-Identifier: MIT */
/* The stack of a sample whose frames are told apart by function, or by address without lines, found
 * without making a location for each of its addresses. Thousands of processes may map the same
 * objects at different addresses each, which would make hundreds of thousands of locations for a
 * few thousand functions. Here an address becomes a place in its object, by which its function is
 * found: the same for all addresses of a function and for all processes. */
#include "profile/profile.h"
#include "base/hash.h"
#include "base/memory.h"
#include <stdlib.h>

enum {
    NEAR_SHIFT = 8, /* bits of an address that are dropped: the rest mostly tells its function */
    NEAR_FIRST = 9, /* bits of the table's size, */
    NEAR_LAST = 15, /* up to 2 MB, one huge page */
    NEAR_STEP = 2,  /* bits that it grows by */
    NEAR_WAYS = 2,
    CACHE_LINE = 64
};

/* The function, or the gap between two functions, that the addresses around a place lie in. */
struct pd_near_frame {
    const struct pd_dso *dso;
    uint64_t from;
    uint32_t size; /* of addresses that have the same function; 0: free */
    uint32_t id;   /* the worker's number of the frame, by address of the function */
};

/* Fills a cache line. */
struct pd_near_line {
    struct pd_near_frame ways[NEAR_WAYS]; /* the one that came last first */
    uint64_t unused[2];
};

/* Of a point that has a map. */
PD_INLINE struct pd_near_line *near_line(const struct pd_profile_points *points,
                                         const struct pd_point *point)
{
    const uint64_t hash = pd_hash_pair(point->addr >> NEAR_SHIFT, (uintptr_t)point->map->dso);
    return &points->near[hash >> points->near_shift];
}

/* An empty table; NULL: no memory. */
static struct pd_near_line *new_near(unsigned bits)
{
    const size_t size = sizeof(struct pd_near_line) << bits;
    if (bits >= NEAR_LAST)
        return pd_large_calloc(size, 1); /* begins a page */
    struct pd_near_line *made = pd_memory_noted(aligned_alloc(CACHE_LINE, size));
    return made ? memset(made, 0, size) : NULL;
}

/* Growing empties the table: what is forgotten is simply looked up again. Without memory the table
 * stays as it is. */
static void grow_near(struct pd_profile_points *points)
{
    unsigned bits = 64 - points->near_shift + NEAR_STEP;
    struct pd_near_line *grown = new_near(bits);
    points->missed = 0;
    if (!grown)
        return;
    free(points->near);
    points->near = grown;
    points->near_shift = 64 - bits;
}

static bool make_room(struct pd_profile_points *points, size_t count)
{
    if (PD_LIKELY(count <= points->capacity))
        return true;
    struct pd_point *at = realloc(points->at, 2 * count * sizeof *at);
    if (!at)
        return false;
    points->at = at;
    points->capacity = 2 * count;
    return true;
}

/* The part of the span around the point that a slot can tell. */
static struct pd_near_frame near_of(const struct pd_symbol_span *span, const struct pd_point *point,
                                    uint32_t id)
{
    uint64_t from = span->from, size = span->size;
    if (point->addr - from >= UINT32_MAX) {
        from = PD_MAX(from, point->addr & ~(uint64_t)UINT32_MAX);
        size -= from - span->from;
    }
    return (struct pd_near_frame){ point->map->dso, from, (uint32_t)PD_MIN(size, UINT32_MAX), id };
}

/* The number that all addresses with the location's function share. */
static uint32_t id_of(struct pd_profile_worker *worker, struct pd_location *location)
{
    return worker->shared->by_address ? pd_profile_local_function(worker, location)
                                      : pd_profile_local_frame(worker, location);
}

/* PERFDATA_NONE: no memory. */
static PD_NOINLINE uint32_t look_up(struct pd_profile_worker *worker, const struct pd_point *point)
{
    struct pd_profile_points *points = &worker->points;
    const struct pd_symbol_span found = pd_resolver_span_of(worker->resolver, point);
    struct pd_location location = {
        .map = point->map,
        .addr = point->addr,
        .dso = point->map->dso,
        .sym = found.symbol,
        .is_kernel_map = point->map->kernel,
    };
    const uint32_t id = id_of(worker, &location);
    const unsigned bits = 64 - points->near_shift;
    if (id == PERFDATA_NONE)
        return PERFDATA_NONE;
    if (++points->missed > UINT64_C(1) << bits && bits < NEAR_LAST)
        grow_near(points);
    struct pd_near_line *line = near_line(points, point);
    memmove(&line->ways[1], &line->ways[0], sizeof line->ways - sizeof line->ways[0]);
    line->ways[0] = near_of(&found, point, id);
    return id;
}

/* What all addresses that lie in no map have. */
static PD_NOINLINE uint32_t look_up_nowhere(struct pd_profile_worker *worker)
{
    struct pd_location location = { 0 };
    worker->points.nowhere = id_of(worker, &location) + 1;
    return worker->points.nowhere - 1;
}

PD_INLINE uint32_t find_id(struct pd_profile_worker *worker, const struct pd_point *point)
{
    if (!point->map)
        return worker->points.nowhere ? worker->points.nowhere - 1 : look_up_nowhere(worker);
    const struct pd_near_line *line = near_line(&worker->points, point);
    for (size_t i = 0; i < NEAR_WAYS; i++) {
        const struct pd_near_frame *near = &line->ways[i];
        if (PD_LIKELY(point->addr - near->from < near->size && near->dso == point->map->dso))
            return near->id;
    }
    return look_up(worker, point);
}

PD_INLINE uint32_t frame_of(struct pd_profile_worker *worker, const struct pd_point *point)
{
    const uint32_t id = find_id(worker, point);
    return worker->shared->by_address && id != PERFDATA_NONE
               ? pd_profile_local_frame_at(worker, id, point->addr)
               : id;
}

/* ---- chains ---- */

/* Addresses of one mode in a row. */
struct run {
    struct pd_chain_entries entries;
    uint8_t cpumode;
};

enum { RUNS_MAX = 4 };

struct chain {
    struct run runs[RUNS_MAX]; /* the innermost first; none is empty */
    size_t run_count, count;   /* of addresses */
};

PD_INLINE uint64_t entry(const struct pd_chain_entries *entries, size_t i)
{
    return pd_load64(entries->ips + 8 * i, entries->swap);
}

/* Takes a chain apart into runs. False: an address follows no marker, there are too many runs, or
 * the first address is not that of the sample. */
static bool take_apart(const struct pd_profile_worker *worker, const struct pd_sample *sample,
                       struct chain *out)
{
    const struct pd_chain_entries all = pd_chain_entries_of(sample);
    out->run_count = out->count = 0;
    if (PD_UNLIKELY(all.count > worker->shared->max_stack || pd_chain_has_more(sample)))
        return false;
    for (uint32_t i = 0; i < all.count;) {
        struct run *run = &out->runs[out->run_count];
        if (out->run_count == RUNS_MAX || !pd_chain_context_mode(entry(&all, i), &run->cpumode))
            return false;
        const uint32_t first = ++i;
        while (i < all.count && entry(&all, i) < PD_CHAIN_FIRST_CONTEXT)
            i++;
        run->entries = (struct pd_chain_entries){ all.ips + 8 * (size_t)first, i - first,
                                                  all.swap };
        out->run_count += run->entries.count != 0;
        out->count += run->entries.count;
    }
    const struct run *first = &out->runs[0];
    return out->count && entry(&first->entries, 0) == sample->ip &&
           first->cpumode == sample->cpumode;
}

/* ---- stacks ---- */

/* The kernel's maps have to be noted even where the function is known already. */
static bool note_maps(struct pd_profile_worker *worker, size_t count)
{
    struct pd_profile_points *points = &worker->points;
    for (size_t i = 0; i < count; i++) {
        const struct pd_map *map = points->at[i].map;
        if (PD_LIKELY(!map || !map->kernel || map == points->kernel_map))
            continue;
        if (!pd_profile_note_mapping(worker, map))
            return false;
        points->kernel_map = map;
    }
    return true;
}

/* A thread's samples have the same outer callers again and again. Takes those callers off the chain
 * that the thread's last chain had as well; returns their number. */
static size_t known_callers(const struct pd_profile_last *last, struct chain *chain)
{
    size_t known = 0;
    while (chain->run_count) {
        struct run *run = &chain->runs[chain->run_count - 1];
        uint32_t left = run->entries.count;
        for (; left && known < last->count; left--, known++) {
            const struct pd_profile_step *step = &last->steps[known];
            if (step->ip != entry(&run->entries, left - 1) || step->cpumode != run->cpumode)
                break;
        }
        run->entries.count = left;
        if (left)
            break;
        chain->run_count--;
    }
    chain->count -= known;
    return known;
}

static bool find_points(struct pd_profile_worker *worker, const struct pd_delivered *record,
                        const struct chain *chain)
{
    struct pd_profile_points *points = &worker->points;
    struct pd_point *at = points->at;
    for (size_t i = 0; i < chain->run_count; i++) {
        const struct run *run = &chain->runs[i];
        if (!pd_resolver_points(worker->resolver, record->thread, record->number, run->cpumode,
                                &run->entries, at))
            return false;
        at += run->entries.count;
    }
    for (size_t i = 0; i < chain->count; i++)
        if (points->at[i].map)
            __builtin_prefetch(near_line(points, &points->at[i]));
    return true;
}

/* Puts what is left of the chain on top of the stack of its known callers. */
static uint32_t put_callees(struct pd_profile_worker *worker, const struct chain *chain,
                            struct pd_profile_last *last)
{
    const struct pd_profile_points *points = &worker->points;
    uint32_t stack = last->count ? last->steps[last->count - 1].stack : PERFDATA_NONE;
    size_t at = chain->count;
    for (size_t i = chain->run_count; i-- > 0;) {
        const struct run *run = &chain->runs[i];
        for (uint32_t k = run->entries.count; k-- > 0;) {
            const uint32_t frame = frame_of(worker, &points->at[--at]);
            stack = frame == PERFDATA_NONE ? frame : pd_profile_local_stack(worker, frame, stack);
            if (stack == PERFDATA_NONE)
                return stack;
            if (last->count < PD_LENGTH(last->steps))
                last->steps[last->count++] = (struct pd_profile_step){ entry(&run->entries, k),
                                                                       stack, run->cpumode };
        }
    }
    return stack;
}

static bool chained_stack(struct pd_profile_worker *worker, const struct pd_delivered *record,
                          const struct pd_sample *sample, uint64_t stamp, uint32_t *stack)
{
    struct pd_profile_points *points = &worker->points;
    struct pd_profile_last *last = &points->last[record->thread->index % PD_PROFILE_LAST];
    struct chain chain;
    if (!take_apart(worker, sample, &chain) || !make_room(points, chain.count))
        return false;
    if (last->stamp != stamp) {
        last->stamp = stamp;
        last->count = 0;
    }
    last->count = known_callers(last, &chain);
    if (!find_points(worker, record, &chain))
        return false;
    *stack = note_maps(worker, chain.count) ? put_callees(worker, &chain, last) : PERFDATA_NONE;
    return true;
}

bool pd_profile_points_stack(struct pd_profile_worker *worker, const struct pd_delivered *record,
                             const struct pd_sample *sample, uint32_t *stack)
{
    const bool chained = !(worker->shared->options->flags & PERFDATA_PROFILE_NO_CALLCHAIN);
    const uint64_t stamp = pd_resolver_points_stamp(worker->resolver, record->thread,
                                                    record->number);
    if (!stamp)
        return false;
    if (chained && (sample->callchain_count || pd_chain_has_more(sample)))
        return chained_stack(worker, record, sample, stamp, stack);
    if (!make_room(&worker->points, 1) ||
        !pd_resolver_point(worker->resolver, record->thread, record->number, sample->cpumode,
                           sample->ip, worker->points.at))
        return false;
    const uint32_t frame = note_maps(worker, 1) ? frame_of(worker, worker->points.at)
                                                : PERFDATA_NONE;
    *stack = frame == PERFDATA_NONE ? frame : pd_profile_local_stack(worker, frame, PERFDATA_NONE);
    return true;
}

bool pd_profile_points_init(struct pd_profile_points *points)
{
    points->last = pd_large_calloc(PD_PROFILE_LAST, sizeof *points->last);
    points->near = new_near(NEAR_FIRST);
    points->near_shift = 64 - NEAR_FIRST;
    return points->last && points->near;
}

void pd_profile_points_forget(struct pd_profile_worker *worker)
{
    struct pd_profile_points *points = &worker->points;
    if (!points->last)
        return;
    memset(points->last, 0, PD_PROFILE_LAST * sizeof *points->last);
    if (worker->shared->by_address) /* numbers of functions last */
        return;
    memset(points->near, 0, ((size_t)1 << (64 - points->near_shift)) * sizeof *points->near);
    points->nowhere = 0;
}

void pd_profile_points_free(struct pd_profile_points *points)
{
    free(points->near);
    free(points->last);
    free(points->at);
}
