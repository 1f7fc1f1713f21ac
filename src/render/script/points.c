/* SPDX-License-Identifier: MIT */
/* Addresses by object and function. Thousands of processes may have the same objects, each at other
 * places, while the text of an address does not depend on the place. So the text of a function is
 * made once; only the offset differs from address to address. A chain is taken in three steps, so
 * that what is asked of the memory arrives while the other frames are looked up. */
#include "base/hash.h"
#include "base/memory.h"
#include "render/script/plan.h"
#include <stdlib.h>

enum {
    NEAR_BITS = 16,
    NEAR_SHIFT = 8, /* addresses that share these upper bits are mostly in one function */
    SPANS_FIRST = 4096,
    POINTS_MEMORY = 24 << 20, /* of texts; then all are forgotten */
    OFFSET_WIDTH = 16
};

PD_INLINE struct pd_span_text **near_slot(const struct pd_script_points *points,
                                          const struct pd_dso *dso, uint64_t addr)
{
    return &points->near[pd_hash_pair(addr >> NEAR_SHIFT, (uintptr_t)dso) >> (64 - NEAR_BITS)];
}

static uint64_t span_hash(const struct pd_dso *dso, uint64_t from, uint64_t fields)
{
    return pd_hash_add(pd_hash_pair(from, (uintptr_t)dso), fields);
}

static uint64_t known_hash(const void *element)
{
    const struct pd_span_text *span = element;
    return span_hash(span->dso, span->from, span->fields);
}

static bool grow(struct pd_script_points *points)
{
    struct pd_span_text **grown = pd_slots_grown(points->spans, &points->mask, SPANS_FIRST,
                                                 known_hash);
    if (!grown)
        return false;
    free(points->spans);
    points->spans = grown;
    return true;
}

static bool make_room(struct pd_script_worker *worker)
{
    struct pd_script_points *points = &worker->texts.points;
    size_t count = worker->frame_capacity + 1;
    if (PD_LIKELY(points->capacity != 0))
        return true;
    free(points->at);
    free(points->slots);
    free(points->near);
    points->at = calloc(count, sizeof *points->at);
    points->slots = calloc(count, sizeof *points->slots);
    points->near = pd_large_calloc((size_t)1 << NEAR_BITS, sizeof *points->near);
    if (!points->at || !points->slots || !points->near || !grow(points))
        return false;
    points->capacity = count;
    return true;
}

/* ---- making them ---- */

/* Puts the text and returns the length of its head: where an offset can follow, what stands behind
 * the offset is the tail. */
static size_t put_text(struct pd_script *script, uint64_t fields,
                       const struct pd_location *location, bool has_offset, struct pd_text *text)
{
    text->length = 0;
    if (!has_offset) {
        pd_script_place_text(script, fields, location, text);
        return text->length;
    }
    pd_script_symbol(script, fields & PD_FIELD(SYM), location, text);
    pd_text_bytes(text, "+0x", 3);
    size_t head = text->length;
    pd_script_symbol(script, fields & PD_FIELD(DSO), location, text);
    return head;
}

static struct pd_span_text *new_text(struct pd_script_worker *worker, uint64_t fields,
                                     const struct pd_location *location)
{
    const bool has_offset = fields & PD_FIELD(SYM) && fields & PD_FIELD(SYMOFF) && location->sym &&
                            !(fields & PD_FIELD(SRCLINE));
    struct pd_text *text = &worker->line;
    size_t head = put_text(worker->script, fields, location, has_offset, text);
    if (text->failed || text->length >= UINT32_MAX)
        return NULL;
    struct pd_span_text *made = pd_arena_alloc(
        &worker->texts.points.arena, sizeof *made + head + pd_block_room(text->length - head));
    if (!made)
        return NULL;
    made->dso = location->dso;
    made->start = location->sym ? location->sym->start : 0;
    made->fields = fields;
    made->head = (uint32_t)head;
    made->length = (uint32_t)text->length;
    made->has_offset = has_offset;
    if (text->length) /* a text without has no data */
        memcpy(made->text, text->data, text->length);
    return made;
}

/* The slot of a text, or the free one in which it belongs. NULL: no memory. */
static struct pd_span_text **span_slot(struct pd_script_points *points, const struct pd_dso *dso,
                                       uint64_t from, uint64_t fields)
{
    if (2 * (points->count + 1) > points->mask + 1 && !grow(points))
        return NULL;
    size_t at = span_hash(dso, from, fields) & points->mask;
    const struct pd_span_text *span;
    while ((span = points->spans[at]) &&
           (span->from != from || span->dso != dso || span->fields != fields))
        at = (at + 1) & points->mask;
    return &points->spans[at];
}

/* Looks a text up or makes it. NULL: no memory, or the text depends on the map, too. */
static PD_NOINLINE struct pd_span_text *look_up(struct pd_script_worker *worker, uint64_t fields,
                                                const struct pd_point *point)
{
    struct pd_script_points *points = &worker->texts.points;
    struct pd_location location = { .addr = point->addr, .of_object = true };
    struct pd_symbol_span found = { NULL, 0, UINT64_MAX };
    if (point->map) {
        found = pd_resolver_span_of(worker->resolver, point);
        location.map = point->map;
        location.dso = point->map->dso;
        location.sym = found.symbol;
    }
    if (found.symbol && point->addr >= found.symbol->end)
        return NULL;
    if (fields & PD_FIELD(SRCLINE) && point->map) { /* each address has its own text */
        found.from = point->addr;
        found.size = 1;
    }
    struct pd_span_text **slot = span_slot(points, location.dso, found.from, fields);
    if (slot && !*slot) {
        struct pd_span_text *made = new_text(worker, fields, &location);
        if (!made)
            return NULL;
        made->from = found.from;
        made->size = found.size;
        points->count++;
        *slot = made;
    }
    return slot ? *slot : NULL;
}

/* ---- finding and printing them ---- */

PD_INLINE const struct pd_dso *dso_of(const struct pd_point *point)
{
    return point->map ? point->map->dso : NULL;
}

PD_INLINE const struct pd_span_text *find(struct pd_script_worker *worker, uint64_t fields,
                                          const struct pd_point *point, struct pd_span_text **near)
{
    const struct pd_span_text *known = *near;
    if (PD_LIKELY(known && known->dso == dso_of(point) && point->addr - known->from < known->size &&
                  known->fields == fields))
        return known;
    struct pd_span_text *found = look_up(worker, fields, point);
    return found ? *near = found : NULL;
}

PD_INLINE size_t room_for(const struct pd_span_text *span)
{
    return span->length + OFFSET_WIDTH + PD_COPY_BLOCK;
}

/* Puts a text where room_for() it was made. */
PD_INLINE char *put_span(char *to, const struct pd_span_text *span, uint64_t addr)
{
    to = pd_put_block(to, span->text, span->head);
    if (PD_LIKELY(span->has_offset)) {
        to = pd_put_hex_wide(to, addr - span->start);
        to = pd_put_block(to, span->text + span->head, span->length - span->head);
    }
    return to;
}

/* The entries of a chain mostly lie in one cache line or two. */
PD_INLINE void fetch_near(struct pd_span_text *const *near)
{
    const char *span = (const char *)*near;
    if (!span)
        return;
    __builtin_prefetch(span);
    __builtin_prefetch(span + PD_COPY_BLOCK);
}

/* Whether points are enough for the text. Source lines of the kernel are found by locations. */
PD_INLINE bool tells_points(uint64_t fields, uint8_t cpumode)
{
    return cpumode == PD_CPUMODE_USER ||
           (cpumode == PD_CPUMODE_KERNEL && !(fields & PD_FIELD(SRCLINE)));
}

bool pd_script_put_points(struct pd_script_worker *worker, uint64_t fields,
                          const struct pd_delivered *record, uint8_t cpumode,
                          const struct pd_chain_entries *entries, struct pd_text *text)
{
    struct pd_script_points *points = &worker->texts.points;
    const size_t count = entries->count, before = text->length;
    fields &= PD_PLACE_FIELDS;
    if (!tells_points(fields, cpumode) || !make_room(worker) || count > points->capacity ||
        !pd_resolver_points(worker->resolver, record->thread, record->number, cpumode, entries,
                            points->at))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct pd_point *point = &points->at[i];
        points->slots[i] = near_slot(points, dso_of(point), point->map ? point->addr : 0);
        __builtin_prefetch(points->slots[i]);
    }
    for (size_t i = 0; i < count; i++)
        fetch_near(points->slots[i]);
    for (size_t i = 0; i < count; i++) {
        const struct pd_point *point = &points->at[i];
        const struct pd_span_text *span = find(worker, fields, point, points->slots[i]);
        char *to = span ? pd_text_room(text, PD_ADDRESS_WIDTH + 2 + room_for(span)) : NULL;
        if (PD_UNLIKELY(!to)) {
            text->length = before;
            return false;
        }
        *to = '\t';
        to = put_span(pd_put_hex16(to + 1, point->shown), span, point->addr);
        *to++ = '\n';
        text->length = (size_t)(to - text->data);
    }
    return true;
}

bool pd_script_point_ahead(struct pd_script_worker *worker, const struct pd_delivered *record,
                           uint64_t fields, uint64_t ip, struct pd_script_point *out)
{
    const uint8_t cpumode = record->misc & PD_MISC_CPUMODE_MASK;
    if (!tells_points(fields, cpumode) || !make_room(worker) ||
        !pd_resolver_point(worker->resolver, record->thread, record->number, cpumode, ip,
                           &out->point))
        return false;
    const struct pd_point *point = &out->point;
    out->near = near_slot(&worker->texts.points, dso_of(point), point->map ? point->addr : 0);
    __builtin_prefetch(out->near);
    return true;
}

void pd_script_point_fetch(const struct pd_script_point *point)
{
    fetch_near(point->near);
}

bool pd_script_put_point(struct pd_script_worker *worker, uint64_t fields,
                         const struct pd_script_point *at, uint64_t ip, struct pd_text *text)
{
    const struct pd_point *point = &at->point;
    const struct pd_span_text *span = find(worker, fields & PD_PLACE_FIELDS, point, at->near);
    char *to = span ? pd_text_room(text, PD_ADDRESS_WIDTH + 1 + room_for(span)) : NULL;
    if (PD_UNLIKELY(!to))
        return false;
    *to = ' ';
    to = put_span(pd_put_hex16(to + 1, ip), span, point->addr);
    text->length = (size_t)(to - text->data);
    return true;
}

/* ---- their life ---- */

void pd_script_points_forget(struct pd_script_worker *worker)
{
    struct pd_script_points *points = &worker->texts.points;
    if (points->near)
        memset(points->near, 0, ((size_t)1 << NEAR_BITS) * sizeof *points->near);
    if (points->spans)
        memset(points->spans, 0, (points->mask + 1) * sizeof *points->spans);
    pd_arena_empty(&points->arena);
    points->count = 0;
}

void pd_script_points_trim(struct pd_script_worker *worker)
{
    if (worker->texts.points.arena.total > POINTS_MEMORY)
        pd_script_points_forget(worker);
}

void pd_script_points_free(struct pd_script_worker *worker)
{
    struct pd_script_points *points = &worker->texts.points;
    pd_arena_free(&points->arena);
    free(points->spans);
    free(points->near);
    free(points->at);
    free(points->slots);
}
