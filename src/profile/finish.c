/* SPDX-License-Identifier: MIT */
/* The end of a run -> names and build-ids of objects, their mappings, and hashes that other
 * recordings share. */
#include "profile/profile.h"
#include "base/hash.h"
#include <stdlib.h>

/* ---- hashes ---------------------------------------------------------------------------------- */

/* FNV-1a of bytes and of little-endian numbers, mixed at the end. The result is part of the
 * interface and must never change. */

#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *p = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ p[i]) * FNV_PRIME;
    return hash;
}

static uint64_t hash_number(uint64_t hash, uint64_t number)
{
    for (unsigned shift = 0; shift < 64; shift += 8)
        hash = (hash ^ (uint8_t)(number >> shift)) * FNV_PRIME;
    return hash;
}

static void hash_functions(struct pd_profile_shared *shared)
{
    perfdata_profile *profile = shared->profile;
    for (uint32_t i = 0; i < profile->functions.count; i++) {
        struct perfdata_profile_function *function = pd_profile_function(profile, i);
        uint64_t object = function->object == PERFDATA_NONE
                              ? 0
                              : pd_profile_object(profile, function->object)->hash;
        uint64_t hash = hash_number(FNV_BASIS, object);
        if (!(function->flags & PERFDATA_FUNCTION_UNKNOWN)) {
            hash = hash_bytes(hash, function->name, function->name_length);
            hash = hash_number(hash, shared->known.function_keys.data[i].place);
        }
        function->hash = pd_digest64(hash);
    }
}

static void hash_frames_and_stacks(perfdata_profile *profile)
{
    for (uint32_t i = 0; i < profile->frames.count; i++) {
        struct perfdata_profile_frame *frame = pd_profile_frame(profile, i);
        const struct perfdata_profile_function *function = pd_profile_function(profile,
                                                                               frame->function);
        uint64_t hash = hash_number(FNV_BASIS, function->hash);
        hash = hash_number(hash, frame->line);
        if (frame->file)
            hash = hash_bytes(hash, frame->file, strlen(frame->file));
        /* a kernel lies elsewhere after each boot */
        bool moves = function->flags & PERFDATA_FUNCTION_KERNEL &&
                     !(function->flags & PERFDATA_FUNCTION_UNKNOWN);
        frame->hash = pd_digest64(hash_number(hash, moves && frame->address
                                                        ? frame->address - function->address + 1
                                                        : frame->address));
    }
    for (uint32_t i = 0; i < profile->stacks.count; i++) {
        struct perfdata_profile_stack *stack = pd_profile_stack(profile, i);
        uint64_t parent = stack->parent == PERFDATA_NONE
                              ? 0
                              : pd_profile_stack(profile, stack->parent)->hash;
        stack->hash = pd_digest64(hash_number(hash_number(FNV_BASIS, parent),
                                              pd_profile_frame(profile, stack->frame)->hash));
    }
}

/* ---- objects ---- */

static bool finish_object(struct pd_profile_shared *shared, uint32_t index)
{
    perfdata_profile *profile = shared->profile;
    struct perfdata_profile_object *object = pd_profile_object(profile, index);
    const struct pd_dso *dso = shared->known.dsos.data[index];
    struct pd_symbols *symbols = shared->session.symbols;
    object->name = pd_arena_strdup(&profile->arena, pd_symbols_short_name(symbols, dso));
    object->path = pd_arena_strdup(&profile->arena, pd_symbols_long_name(symbols, dso));
    struct pd_build_id id = pd_symbols_build_id(symbols, dso);
    if (id.size)
        object->build_id = (const uint8_t *)pd_arena_copy(&profile->arena, id.bytes, id.size);
    object->build_id_size = (uint32_t)id.size;
    if (!object->name || !object->path || (id.size && !object->build_id))
        return false;
    object->hash = pd_digest64(id.size ? hash_bytes(FNV_BASIS, id.bytes, id.size)
                                       : hash_bytes(FNV_BASIS, object->path, strlen(object->path)));
    return true;
}

/* ---- mappings ---- */

#define COMPARE(member)                                                                            \
    if (left->member != right->member)                                                             \
    return left->member < right->member ? -1 : 1

static int compare_places(const struct pd_told_map *left, const struct pd_told_map *right)
{
    COMPARE(pid);
    COMPARE(start);
    COMPARE(end);
    COMPARE(pgoff);
    COMPARE(dso->index);
    return 0;
}

static int by_place(const void *a, const void *b)
{
    const struct pd_told_map *left = a, *right = b;
    int order = compare_places(left, right);
    if (order)
        return order;
    COMPARE(number);
    return 0;
}

static int by_number(const void *a, const void *b)
{
    const struct pd_told_map *left = a, *right = b;
    COMPARE(number);
    return compare_places(left, right);
}
#undef COMPARE

/* The maps of objects that occur: those of processes as recorded, the kernel's as samples were
 * found in them. A map that was recorded twice counts once. */
static bool take_mappings(struct pd_profile_shared *shared)
{
    struct pd_profile_known *known = &shared->known;
    size_t count = 0;
    for (size_t i = 0; i < known->kernel_maps.count; i++) {
        const struct pd_map *map = known->kernel_maps.data[i];
        if (!pd_vec_push(&known->maps.maps,
                         (struct pd_told_map){ map->dso, map->number, map->start, map->end,
                                               map->pgoff, UINT32_MAX }))
            return false;
    }
    struct pd_told_map *maps = known->maps.maps.data;
    for (size_t i = 0; i < known->maps.maps.count; i++)
        if (pd_map64_get(&known->object_map, maps[i].dso->index) != PD_MAP64_NONE)
            maps[count++] = maps[i];
    if (count)
        qsort(maps, count, sizeof *maps, by_place);
    size_t kept = PD_MIN(count, 1);
    for (size_t i = 1; i < count; i++)
        if (compare_places(&maps[kept - 1], &maps[i]))
            maps[kept++] = maps[i];
    if (kept)
        qsort(maps, kept, sizeof *maps, by_number);
    known->maps.maps.count = kept;
    return true;
}

static bool finish_mappings(struct pd_profile_shared *shared)
{
    if (!take_mappings(shared))
        return false;
    for (size_t i = 0; i < shared->known.maps.maps.count; i++) {
        const struct pd_told_map *map = &shared->known.maps.maps.data[i];
        struct perfdata_profile_mapping *made = pd_blocks_push(&shared->profile->mappings,
                                                               sizeof *made);
        if (!made)
            return false;
        *made = (struct perfdata_profile_mapping){
            .pid = map->pid,
            .object = pd_map64_get(&shared->known.object_map, map->dso->index),
            .start = map->start,
            .end = map->end,
            .offset = map->pgoff,
        };
    }
    return true;
}

perfdata_status pd_profile_finish(struct pd_profile_shared *shared)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < shared->profile->objects.count; i++)
        ok = finish_object(shared, i);
    if (!ok || !finish_mappings(shared))
        return pd_no_memory(&shared->recording->context, "the profile");
    hash_functions(shared);
    hash_frames_and_stacks(shared->profile);
    return PERFDATA_OK;
}
