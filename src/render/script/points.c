/* SPDX-License-Identifier: MIT */
/* Frames in user space by object and address: processes by the thousand have the same objects at
 * other places each, and what a frame reads does not tell where. A chain is taken in three steps,
 * so that what the memory is asked for comes while the other frames are looked up. */
#include "base/hash.h"
#include "render/script/plan.h"
#include <stdlib.h>

enum {
    SLOTS_FIRST = 4096,
    POINTS_LIMIT = 1 << 18,   /* then all are forgotten: 12 MB of slots, */
    POINTS_MEMORY = 24 << 20, /* or of texts */
    NAMELESS = -1             /* as an address */
};

static uint64_t hash_of(const struct pd_dso *dso, uint64_t addr)
{
    return pd_hash_pair(addr, (uintptr_t)dso);
}

/* The point's slot, or the free one where it belongs. */
PD_INLINE struct pd_point_slot *slot_of(const struct pd_script_points *points,
                                        const struct pd_dso *dso, uint64_t addr, uint64_t hash)
{
    size_t at = hash & points->mask;
    while (points->slots[at].dso &&
           (points->slots[at].addr != addr || points->slots[at].dso != dso))
        at = (at + 1) & points->mask;
    return &points->slots[at];
}

static bool grow(struct pd_script_points *points)
{
    size_t size = points->slots ? 2 * (points->mask + 1) : SLOTS_FIRST;
    struct pd_script_points grown = { .slots = pd_large_calloc(size, sizeof *grown.slots),
                                      .mask = size - 1 };
    if (!grown.slots)
        return false;
    for (size_t i = 0; points->slots && i <= points->mask; i++) {
        const struct pd_point_slot *slot = &points->slots[i];
        if (slot->dso)
            *slot_of(&grown, slot->dso, slot->addr, hash_of(slot->dso, slot->addr)) = *slot;
    }
    free(points->slots);
    points->slots = grown.slots;
    points->mask = grown.mask;
    return true;
}

static bool make_room(struct pd_script_worker *worker)
{
    struct pd_script_points *points = &worker->texts.points;
    size_t count = worker->frame_capacity + 1;
    if (points->capacity)
        return true;
    free(points->at);
    free(points->hashes);
    free(points->places);
    points->at = calloc(count, sizeof *points->at);
    points->hashes = calloc(count, sizeof *points->hashes);
    points->places = calloc(count, sizeof *points->places);
    if (!points->at || !points->hashes || !points->places || !grow(points))
        return false;
    points->capacity = count;
    return true;
}

/* Puts a text before those that the point has of other fields. */
static struct pd_place *keep(struct pd_script_worker *worker, const struct pd_dso *dso,
                             uint64_t addr, struct pd_place *place)
{
    struct pd_script_points *points = &worker->texts.points;
    if (2 * (points->count + 1) > points->mask + 1 && !grow(points))
        return NULL;
    struct pd_point_slot *slot = slot_of(points, dso, addr, hash_of(dso, addr));
    points->count += !slot->dso;
    *slot = (struct pd_point_slot){ dso, addr, place };
    return place;
}

static struct pd_place *of_fields(struct pd_place *place, uint64_t fields)
{
    while (place && place->fields != fields)
        place = place->next;
    return place;
}

static struct pd_place *make_nowhere(struct pd_script_worker *worker, uint64_t fields)
{
    struct pd_script_points *points = &worker->texts.points;
    struct pd_place *place = of_fields(points->nowhere, fields);
    struct pd_location location = { .cpumode = PD_CPUMODE_USER };
    if (place ||
        !(place = pd_script_new_place(worker, fields, &location, &worker->texts.points.arena)))
        return place;
    place->next = points->nowhere;
    return points->nowhere = place;
}

/* Outside of all functions an object's addresses read the same. */
static struct pd_place *make_nameless(struct pd_script_worker *worker, uint64_t fields,
                                      struct pd_location *location)
{
    const uint64_t hash = hash_of(location->dso, (uint64_t)NAMELESS);
    const struct pd_point_slot *slot = slot_of(&worker->texts.points, location->dso,
                                               (uint64_t)NAMELESS, hash);
    struct pd_place *known = slot->dso ? slot->place : NULL, *place = of_fields(known, fields);
    if (place ||
        !(place = pd_script_new_place(worker, fields, location, &worker->texts.points.arena)))
        return place;
    place->next = known;
    return keep(worker, location->dso, (uint64_t)NAMELESS, place);
}

/* NULL: no memory, or the text tells the map, too. `known`: of other fields. */
static PD_NOINLINE struct pd_place *make(struct pd_script_worker *worker, uint64_t fields,
                                         const struct pd_point *point, struct pd_place *known)
{
    const struct pd_symbol *symbol = pd_resolver_symbol(worker->resolver, point);
    struct pd_location location = { .map = point->map,
                                    .dso = point->map->dso,
                                    .addr = point->addr,
                                    .sym = symbol,
                                    .cpumode = PD_CPUMODE_USER,
                                    .of_object = true };
    if (symbol ? point->addr >= symbol->end : point->addr == (uint64_t)NAMELESS)
        return NULL;
    struct pd_place *place = symbol || fields & PD_FIELD(SRCLINE)
                                 ? pd_script_new_place(worker, fields, &location,
                                                       &worker->texts.points.arena)
                                 : make_nameless(worker, fields, &location);
    if (!place)
        return NULL;
    if (symbol)
        place->next = known;
    return keep(worker, location.dso, point->addr, place);
}

/* The same of other fields. */
static PD_NOINLINE struct pd_place *with_fields(struct pd_script_worker *worker, uint64_t fields,
                                                const struct pd_point *point,
                                                struct pd_place *known)
{
    struct pd_place *place = of_fields(known, fields);
    return place || !point->map ? place : make(worker, fields, point, known);
}

PD_INLINE struct pd_place *find(struct pd_script_worker *worker, uint64_t fields,
                                const struct pd_point *point, uint64_t hash)
{
    const struct pd_script_points *points = &worker->texts.points;
    if (!point->map)
        return make_nowhere(worker, fields);
    const struct pd_point_slot *slot = slot_of(points, point->map->dso, point->addr, hash);
    return PD_LIKELY(slot->dso != NULL) ? slot->place : make(worker, fields, point, NULL);
}

bool pd_script_put_points(struct pd_script_worker *worker, uint64_t fields,
                          const struct pd_delivered *record, const struct pd_chain_entries *entries,
                          struct pd_text *text)
{
    struct pd_script_points *points = &worker->texts.points;
    const size_t count = entries->count, before = text->length;
    fields &= PD_PLACE_FIELDS;
    if (!make_room(worker) || count > points->capacity ||
        !pd_resolver_points(worker->resolver, record->thread, record->number, entries, points->at))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct pd_point *point = &points->at[i];
        if (!point->map)
            continue;
        points->hashes[i] = hash_of(point->map->dso, point->addr);
        __builtin_prefetch(&points->slots[points->hashes[i] & points->mask]);
    }
    for (size_t i = 0; i < count; i++) {
        points->places[i] = find(worker, fields, &points->at[i], points->hashes[i]);
        if (PD_UNLIKELY(!points->places[i]))
            return false;
        __builtin_prefetch(points->places[i]);
        __builtin_prefetch(points->places[i]->text + PD_COPY_BLOCK / 2);
    }
    for (size_t i = 0; i < count; i++) {
        const struct pd_place *place = points->places[i];
        if (PD_UNLIKELY(place->fields != fields) &&
            !(place = with_fields(worker, fields, &points->at[i], points->places[i]))) {
            text->length = before;
            return false;
        }
        pd_script_put_frame(place, points->at[i].addr, text);
    }
    return true;
}

void pd_script_points_forget(struct pd_script_worker *worker)
{
    struct pd_script_points *points = &worker->texts.points;
    if (points->slots)
        memset(points->slots, 0, (points->mask + 1) * sizeof *points->slots);
    pd_arena_empty(&points->arena);
    points->count = 0;
    points->nowhere = NULL;
}

void pd_script_points_trim(struct pd_script_worker *worker)
{
    const struct pd_script_points *points = &worker->texts.points;
    if (points->count > POINTS_LIMIT || points->arena.total > POINTS_MEMORY)
        pd_script_points_forget(worker);
}

void pd_script_points_free(struct pd_script_worker *worker)
{
    struct pd_script_points *points = &worker->texts.points;
    pd_arena_free(&points->arena);
    free(points->slots);
    free(points->at);
    free(points->hashes);
    free(points->places);
}
