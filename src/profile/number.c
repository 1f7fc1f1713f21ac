/* SPDX-License-Identifier: MIT */
/* A worker's numbers of functions, frames and stacks -> the profile's, given out in the order of
 * their first use. */
#include "profile/profile.h"
#include "base/hash.h"
#include "base/memory.h"

/* The place of an inlined function, which has none of its own. */
#define NO_PLACE UINT64_MAX

/* ---- objects ---- */

static uint32_t new_object(struct pd_profile_shared *shared, const struct pd_dso *dso)
{
    perfdata_profile *profile = shared->profile;
    struct perfdata_profile_object *object = pd_blocks_push(&profile->objects, sizeof *object);
    if (!object || !pd_vec_push(&shared->known.dsos, dso))
        return PERFDATA_NONE;
    *object = (struct perfdata_profile_object){ .name = "", .path = "" };
    object->is_kernel = dso->kernel_space;
    const char *name = pd_symbols_short_name(shared->session.symbols, dso);
    const char *path = pd_symbols_long_name(shared->session.symbols, dso);
    object->name = pd_arena_strdup(&profile->arena, name ? name : "");
    object->path = pd_arena_strdup(&profile->arena, path ? path : "");
    uint32_t id = profile->objects.count - 1;
    return object->name && object->path && pd_map64_set(&shared->known.object_map, dso->index, id)
               ? id
               : PERFDATA_NONE;
}

/* ---- functions ---- */

static uint64_t hash_function(const struct pd_function_key *key)
{
    return pd_hash64(((uint64_t)key->object << 32 | key->name) ^ pd_hash64(key->place));
}

static uint64_t hash_function_at(const void *data, size_t index)
{
    return hash_function(
        &((const struct pd_profile_shared *)data)->known.function_keys.data[index]);
}

static uint32_t new_function(struct pd_profile_shared *shared,
                             const struct pd_local_function *local,
                             const struct pd_function_key *key)
{
    perfdata_profile *profile = shared->profile;
    struct perfdata_profile_function *made = pd_blocks_push(&profile->functions, sizeof *made);
    if (!made || !pd_vec_push(&shared->known.function_keys, *key))
        return PERFDATA_NONE;
    const struct pd_string *name = &profile->texts.strings.data[key->name];
    bool inlined = local->symbol && local->symbol->inlined;
    *made = (struct perfdata_profile_function){
        .name = name->text,
        .name_length = name->length,
        .object = key->object,
        .flags = (local->symbol ? 0 : PERFDATA_FUNCTION_UNKNOWN) |
                 (local->kernel ? PERFDATA_FUNCTION_KERNEL : 0) |
                 (inlined ? PERFDATA_FUNCTION_INLINED : 0),
    };
    if (local->symbol && !inlined) {
        made->address = local->symbol->start;
        made->size = local->symbol->end - local->symbol->start;
    }
    return profile->functions.count - 1;
}

static uint32_t intern_function(struct pd_profile_shared *shared,
                                const struct pd_local_function *local)
{
    static const char unknown[] = "[unknown]";
    struct pd_function_key key = { .object = PERFDATA_NONE };
    const struct pd_symbol *symbol = local->symbol;
    key.name = symbol ? pd_intern(&shared->profile->texts, symbol->name, symbol->name_length)
                      : pd_intern(&shared->profile->texts, unknown, sizeof unknown - 1);
    if (symbol)
        key.place = symbol->inlined ? NO_PLACE : symbol->start - local->base;
    if (local->dso) {
        uint32_t known = pd_map64_get(&shared->known.object_map, local->dso->index);
        key.object = known != PD_MAP64_NONE ? known : new_object(shared, local->dso);
    }
    if (key.name == PD_INTERN_NONE || (local->dso && key.object == PERFDATA_NONE) ||
        !pd_slots_reserve(&shared->known.function_slots, &shared->known.function_mask,
                          shared->known.function_keys.count, hash_function_at, shared))
        return PERFDATA_NONE;
    size_t at = hash_function(&key) & shared->known.function_mask;
    for (; shared->known.function_slots[at]; at = (at + 1) & shared->known.function_mask) {
        uint32_t id = shared->known.function_slots[at] - 1;
        const struct pd_function_key *other = &shared->known.function_keys.data[id];
        bool is_unknown = pd_profile_function(shared->profile, id)->flags &
                          PERFDATA_FUNCTION_UNKNOWN;
        if (other->object == key.object && other->name == key.name && other->place == key.place &&
            is_unknown == !symbol)
            return id;
    }
    uint32_t id = new_function(shared, local, &key);
    if (id != PERFDATA_NONE)
        shared->known.function_slots[at] = id + 1;
    return id;
}

/* The profile's number for a worker's number if it has one already, else what `make` gives. */
#define KNOWN_ID(vec, index) ((index) < (vec)->count ? (vec)->data[index] : 0)

static bool keep_id(uint32_t **data, size_t *count, size_t *capacity, uint32_t local, uint32_t id)
{
    if (id == PERFDATA_NONE ||
        !pd_vec_widen((void **)data, count, capacity, (size_t)local + 1, sizeof **data))
        return false;
    (*data)[local] = id + 1;
    return true;
}
#define KEEP_ID(vec, local, id) keep_id(&(vec)->data, &(vec)->count, &(vec)->capacity, local, id)

static uint32_t number_function(struct pd_profile_shared *shared, struct pd_profile_worker *worker,
                                uint32_t local)
{
    uint32_t known = KNOWN_ID(&worker->function_ids, local);
    if (known)
        return known - 1;
    uint32_t id = intern_function(
        shared, pd_blocks_at(&worker->functions, local, sizeof(struct pd_local_function)));
    return KEEP_ID(&worker->function_ids, local, id) ? id : PERFDATA_NONE;
}

/* ---- frames ---- */

static uint64_t hash_frame(const struct perfdata_profile_frame *frame)
{
    uint64_t hash = pd_hash64((uint64_t)frame->function << 32 | frame->line);
    return pd_hash64(hash ^ frame->address) ^ pd_hash64((uint64_t)(uintptr_t)frame->file);
}

static uint64_t hash_frame_at(const void *data, size_t index)
{
    return hash_frame(
        pd_profile_frame(((const struct pd_profile_shared *)data)->profile, (uint32_t)index));
}

static uint32_t intern_frame(struct pd_profile_shared *shared, struct perfdata_profile_frame *frame)
{
    perfdata_profile *profile = shared->profile;
    if (!pd_slots_reserve(&shared->known.frame_slots, &shared->known.frame_mask,
                          profile->frames.count, hash_frame_at, shared))
        return PERFDATA_NONE;
    size_t at = hash_frame(frame) & shared->known.frame_mask;
    for (; shared->known.frame_slots[at]; at = (at + 1) & shared->known.frame_mask) {
        const struct perfdata_profile_frame *other = pd_profile_frame(
            profile, shared->known.frame_slots[at] - 1);
        if (other->function == frame->function && other->line == frame->line &&
            other->address == frame->address && other->file == frame->file)
            return shared->known.frame_slots[at] - 1;
    }
    struct perfdata_profile_frame *made = pd_blocks_push(&profile->frames, sizeof *made);
    if (!made)
        return PERFDATA_NONE;
    *made = *frame;
    shared->known.frame_slots[at] = profile->frames.count;
    return profile->frames.count - 1;
}

uint32_t pd_profile_number_frame(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                                 uint32_t local)
{
    uint32_t known = KNOWN_ID(&tables->frame_ids, local);
    if (known)
        return known - 1;
    const struct pd_local_frame *from = pd_blocks_at(&tables->framelist, local, sizeof *from);
    struct perfdata_profile_frame frame = {
        .function = number_function(shared, tables->worker, from->function),
        .line = from->line,
        .address = from->address,
    };
    if (frame.function == PERFDATA_NONE)
        return PERFDATA_NONE;
    if (from->file) {
        uint32_t text = pd_intern(&shared->profile->texts, from->file, strlen(from->file));
        if (text == PD_INTERN_NONE)
            return PERFDATA_NONE;
        frame.file = pd_intern_text(&shared->profile->texts, text);
    }
    uint32_t id = intern_frame(shared, &frame);
    return KEEP_ID(&tables->frame_ids, local, id) ? id : PERFDATA_NONE;
}

/* ---- stacks ---- */

static uint64_t hash_stack_at(const void *data, size_t index)
{
    const struct perfdata_profile_stack *stack = pd_profile_stack(
        ((const struct pd_profile_shared *)data)->profile, (uint32_t)index);
    return pd_hash_pair(stack->parent, stack->frame);
}

static uint32_t intern_stack(struct pd_profile_shared *shared, uint32_t frame, uint32_t parent)
{
    perfdata_profile *profile = shared->profile;
    struct pd_profile_known *known = &shared->known;
    if (!pd_slots_reserve(&known->stack_slots, &known->stack_mask, profile->stacks.count,
                          hash_stack_at, shared))
        return PERFDATA_NONE;
    size_t at = pd_hash_pair(parent, frame) & known->stack_mask;
    for (; known->stack_slots[at]; at = (at + 1) & known->stack_mask) {
        const uint32_t id = known->stack_slots[at] - 1;
        const struct perfdata_profile_stack *other = pd_profile_stack(profile, id);
        if (other->frame == frame && other->parent == parent)
            return id;
    }
    struct perfdata_profile_stack *made = pd_blocks_push(&profile->stacks, sizeof *made);
    if (!made)
        return PERFDATA_NONE;
    *made = (struct perfdata_profile_stack){
        .frame = frame,
        .parent = parent,
        .depth = parent == PERFDATA_NONE ? 1 : pd_profile_stack(profile, parent)->depth + 1,
    };
    known->stack_slots[at] = profile->stacks.count;
    shared->full |= profile->stacks.count > shared->bounds.stacks;
    return profile->stacks.count - 1;
}

uint32_t pd_profile_number_stack(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                                 uint32_t stack)
{
    uint32_t known = KNOWN_ID(&tables->stack_ids, stack), parent = PERFDATA_NONE;
    if (PD_LIKELY(known))
        return known - 1;
    shared->known.path.count = 0;
    for (uint32_t at = stack; at != PERFDATA_NONE;) {
        known = KNOWN_ID(&tables->stack_ids, at);
        if (known) {
            parent = known - 1;
            break;
        }
        if (!pd_vec_push(&shared->known.path, at))
            return PERFDATA_NONE;
        const struct pd_local_stack *local = pd_blocks_at(&tables->stacks, at, sizeof *local);
        at = local->parent;
    }
    for (size_t i = shared->known.path.count; i-- > 0;) {
        uint32_t at = shared->known.path.data[i];
        const struct pd_local_stack *local = pd_blocks_at(&tables->stacks, at, sizeof *local);
        uint32_t frame = pd_profile_number_frame(shared, tables, local->frame);
        if (frame == PERFDATA_NONE)
            return PERFDATA_NONE;
        parent = intern_stack(shared, frame, parent);
        if (!KEEP_ID(&tables->stack_ids, at, parent))
            return PERFDATA_NONE;
    }
    return parent;
}
