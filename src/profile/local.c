/* SPDX-License-Identifier: MIT */
/* Locations -> a worker's numbers of functions, frames and stacks. */
#include "profile/profile.h"
#include "base/hash.h"
#include "base/memory.h"
#include <stdlib.h>

uint32_t pd_profile_local_function(struct pd_profile_worker *worker,
                                   const struct pd_location *location)
{
    const void *identity = location->sym ? (const void *)location->sym : location->dso;
    /* One object's symbols may be read for another, so the key holds both. */
    uint64_t key = pd_hash64((uint64_t)(uintptr_t)identity) ^ (uint64_t)(uintptr_t)location->dso;
    for (uint32_t step = 0;; step++, key = pd_hash64(key + step)) {
        uint32_t id = pd_map64_get(&worker->function_map, key);
        if (id == PD_MAP64_NONE)
            break;
        const struct pd_local_function *known = pd_blocks_at(&worker->functions, id, sizeof *known);
        if (known->symbol == location->sym && known->dso == location->dso)
            return id;
    }
    struct pd_local_function *made = pd_blocks_push(&worker->functions, sizeof *made);
    if (!made)
        return PERFDATA_NONE;
    *made = (struct pd_local_function){
        .dso = location->dso,
        .symbol = location->sym,
        .base = location->is_kernel_map && location->map ? location->map->start : 0,
        .kernel = location->is_kernel_map,
    };
    uint32_t id = worker->functions.count - 1;
    return pd_map64_set(&worker->function_map, key, id) ? id : PERFDATA_NONE;
}

/* Notes the kernel's maps, which come from records and from its own table. Those of a process are
 * noted by the timeline instead, since a location that several processes share knows the map of one
 * of them only. */
bool pd_profile_note_mapping(struct pd_profile_worker *worker, const struct pd_map *map)
{
    uint64_t key = (uint64_t)(uintptr_t)map;
    if (pd_map64_get(&worker->mapping_map, key) != PD_MAP64_NONE)
        return true;
    return pd_vec_push(&worker->kernel_maps, map) && pd_map64_set(&worker->mapping_map, key, 0);
}

static bool read_line(struct pd_profile_worker *worker, const struct pd_location *location,
                      struct pd_local_frame *frame)
{
    const struct pd_nested *nested = pd_nested_of(location);
    if (nested && nested->file) {
        frame->file = nested->file;
        frame->line = nested->line;
        return true;
    }
    struct pd_source_line line = { .answer = PD_LINES_NAMELESS };
    if (!pd_symbols_line(pd_resolver_symbols(worker->resolver), location->map, location->addr,
                         &line))
        return false;
    if (line.answer == PD_LINES_FOUND) {
        frame->file = line.file;
        frame->line = line.line;
    }
    return true;
}

static uint64_t hash_of(const struct pd_local_frame *frame)
{
    return pd_profile_hash_frame(frame->function, frame->line, frame->address, frame->file);
}

static bool is_same(const struct pd_local_frame *a, const struct pd_local_frame *b)
{
    return a->function == b->function && a->line == b->line && a->address == b->address &&
           a->file == b->file;
}

static uint64_t hash_of_frame(const void *data, size_t id)
{
    const struct pd_profile_tables *tables = data;
    return hash_of(pd_blocks_at(&tables->framelist, (uint32_t)id, sizeof(struct pd_local_frame)));
}

static uint32_t intern_frame(struct pd_profile_tables *tables, const struct pd_local_frame *frame)
{
    if (!pd_slots_reserve(&tables->frame_slots, &tables->frame_mask, tables->framelist.count,
                          hash_of_frame, tables))
        return PERFDATA_NONE;
    size_t at = hash_of(frame) & tables->frame_mask;
    for (; tables->frame_slots[at]; at = (at + 1) & tables->frame_mask) {
        uint32_t id = tables->frame_slots[at] - 1;
        if (is_same(pd_blocks_at(&tables->framelist, id, sizeof *frame), frame))
            return id;
    }
    struct pd_local_frame *made = pd_blocks_push(&tables->framelist, sizeof *made);
    if (!made)
        return PERFDATA_NONE;
    *made = *frame;
    tables->frame_slots[at] = tables->framelist.count;
    return tables->framelist.count - 1;
}

static PD_NOINLINE uint32_t new_frame(struct pd_profile_worker *worker,
                                      struct pd_location *location)
{
    const struct pd_profile_shared *shared = worker->shared;
    struct pd_local_frame frame = { .function = pd_profile_local_function(worker, location) };
    if (frame.function == PERFDATA_NONE)
        return PERFDATA_NONE;
    if (location->map && location->dso && location->is_kernel_map &&
        !pd_profile_note_mapping(worker, location->map))
        return PERFDATA_NONE;
    if (shared->by_address)
        frame.address = location->addr;
    if (shared->lines && location->map && !read_line(worker, location, &frame))
        return PERFDATA_NONE;
    uint32_t id = intern_frame(worker->tables, &frame);
    if (id != PERFDATA_NONE)
        location->memo[0] = (uint64_t)worker->generation << 32 | id;
    return id;
}

uint32_t pd_profile_local_frame(struct pd_profile_worker *worker, struct pd_location *location)
{
    uint64_t known = location->memo[0];
    return PD_LIKELY(known >> 32 == worker->generation) ? (uint32_t)known
                                                        : new_frame(worker, location);
}

uint32_t pd_profile_local_frame_at(struct pd_profile_worker *worker, uint32_t function,
                                   uint64_t address)
{
    const struct pd_local_frame frame = { .function = function, .address = address };
    return intern_frame(worker->tables, &frame);
}

static uint32_t new_stack(struct pd_profile_tables *tables, uint32_t frame, uint32_t parent)
{
    struct pd_local_stack *made = pd_blocks_push(&tables->stacks, sizeof *made);
    if (!made)
        return PERFDATA_NONE;
    *made = (struct pd_local_stack){ frame, parent };
    return tables->stacks.count - 1;
}

static PD_NOINLINE uint32_t new_dense(struct pd_profile_worker *worker,
                                      struct pd_profile_dense *dense, uint32_t frame,
                                      uint32_t parent)
{
    struct pd_profile_tables *tables = worker->tables;
    if (!pd_vec_widen_to(&dense->ids, tables->framelist.count))
        return PERFDATA_NONE;
    const uint32_t id = new_stack(tables, frame, parent);
    if (id == PERFDATA_NONE)
        return id;
    dense->ids.data[frame] = id + 1;
    const struct pd_local_frame *of = pd_blocks_at(&tables->framelist, frame, sizeof *of);
    const struct pd_local_function *function = pd_blocks_at(&worker->functions, of->function,
                                                            sizeof *function);
    if (parent == PERFDATA_NONE && !function->dso && !worker->shared->by_address)
        tables->on_nowhere.parent = id;
    return id;
}

uint32_t pd_profile_local_stack(struct pd_profile_worker *worker, uint32_t frame, uint32_t parent)
{
    struct pd_profile_tables *tables = worker->tables;
    if (parent == PERFDATA_NONE || parent == tables->on_nowhere.parent) {
        struct pd_profile_dense *dense = parent == PERFDATA_NONE ? &tables->roots
                                                                 : &tables->on_nowhere;
        const uint32_t known = frame < dense->ids.count ? dense->ids.data[frame] : 0;
        return PD_LIKELY(known) ? known - 1 : new_dense(worker, dense, frame, parent);
    }
    const uint64_t key = (uint64_t)parent << 32 | frame;
    uint32_t id = pd_map64_get(&tables->stack_map, key);
    if (PD_LIKELY(id != PD_MAP64_NONE))
        return id;
    id = new_stack(tables, frame, parent);
    return id != PERFDATA_NONE && pd_map64_set(&tables->stack_map, key, id) ? id : PERFDATA_NONE;
}

/* ---- tables ---- */

/* As new ones, but with their memory. */
static void empty(struct pd_profile_tables *tables)
{
    tables->framelist.count = tables->stacks.count = 0;
    pd_map64_clear(&tables->stack_map);
    if (tables->frame_slots)
        memset(tables->frame_slots, 0, (tables->frame_mask + 1) * sizeof *tables->frame_slots);
    tables->frame_ids.count = tables->stack_ids.count = 0;
    tables->roots.ids.count = tables->on_nowhere.ids.count = 0;
    tables->on_nowhere.parent = PERFDATA_NONE;
}

bool pd_profile_tables_renew(struct pd_profile_worker *worker)
{
    struct pd_profile_tables *tables = worker->tables;
    if (tables && atomic_load_explicit(&tables->users, memory_order_acquire) == 1) {
        empty(tables);
    } else {
        struct pd_profile_tables *made = pd_memory_noted(calloc(1, sizeof *made));
        if (!made)
            return false;
        atomic_init(&made->users, 1);
        made->on_nowhere.parent = PERFDATA_NONE;
        made->worker = worker;
        worker->tables = made;
        pd_profile_tables_leave(tables);
    }
    worker->generation++;
    return true;
}

void pd_profile_tables_leave(struct pd_profile_tables *tables)
{
    if (!tables || atomic_fetch_sub_explicit(&tables->users, 1, memory_order_acq_rel) != 1)
        return;
    pd_blocks_free(&tables->framelist);
    pd_blocks_free(&tables->stacks);
    pd_map64_free(&tables->stack_map);
    pd_vec_free(&tables->frame_ids);
    pd_vec_free(&tables->stack_ids);
    pd_vec_free(&tables->roots.ids);
    pd_vec_free(&tables->on_nowhere.ids);
    free(tables->frame_slots);
    free(tables);
}
