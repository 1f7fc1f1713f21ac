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
    return pd_profile_hash_frame(frame->function, frame->line, frame->address, frame->file);
}

static uint64_t hash_frame_at(const void *data, size_t index)
{
    return hash_frame(
        pd_profile_frame(((const struct pd_profile_shared *)data)->profile, (uint32_t)index));
}

static uint32_t intern_frame(struct pd_profile_shared *shared,
                             const struct perfdata_profile_frame *frame, uint64_t hash)
{
    perfdata_profile *profile = shared->profile;
    if (!pd_slots_reserve(&shared->known.frame_slots, &shared->known.frame_mask,
                          profile->frames.count, hash_frame_at, shared))
        return PERFDATA_NONE;
    size_t at = hash & shared->known.frame_mask;
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

/* A worker's frame as the profile has it, without its number. False: no memory. */
static bool make_frame(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                       uint32_t local, struct perfdata_profile_frame *frame)
{
    const struct pd_local_frame *from = pd_blocks_at(&tables->framelist, local, sizeof *from);
    *frame = (struct perfdata_profile_frame){
        .function = number_function(shared, tables->worker, from->function),
        .line = from->line,
        .address = from->address,
    };
    if (from->file) {
        uint32_t text = pd_intern(&shared->profile->texts, from->file, strlen(from->file));
        if (text == PD_INTERN_NONE)
            return false;
        frame->file = pd_intern_text(&shared->profile->texts, text);
    }
    return frame->function != PERFDATA_NONE;
}

uint32_t pd_profile_number_frame(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                                 uint32_t local)
{
    uint32_t known = KNOWN_ID(&tables->frame_ids, local);
    struct perfdata_profile_frame frame;
    if (known)
        return known - 1;
    if (!make_frame(shared, tables, local, &frame))
        return PERFDATA_NONE;
    uint32_t id = intern_frame(shared, &frame, hash_frame(&frame));
    return KEEP_ID(&tables->frame_ids, local, id) ? id : PERFDATA_NONE;
}

/* ---- stacks ---- */

static uint64_t hash_stack_at(const void *data, size_t index)
{
    const struct perfdata_profile_stack *stack = pd_profile_stack(
        ((const struct pd_profile_shared *)data)->profile, (uint32_t)index);
    return pd_hash_pair(stack->parent, stack->frame);
}

/* Room in the table for more stacks. False: no memory. */
static bool reserve_stacks(struct pd_profile_shared *shared, uint32_t more)
{
    return pd_slots_reserve_more(&shared->known.stack_slots, &shared->known.stack_mask,
                                 shared->profile->stacks.count, more, hash_stack_at, shared);
}

/* A stack that is not in the table. */
static uint32_t new_stack(struct pd_profile_shared *shared, uint32_t frame, uint32_t parent)
{
    perfdata_profile *profile = shared->profile;
    struct perfdata_profile_stack *made = pd_blocks_push(&profile->stacks, sizeof *made);
    if (!made)
        return PERFDATA_NONE;
    *made = (struct perfdata_profile_stack){
        .frame = frame,
        .parent = parent,
        .depth = parent == PERFDATA_NONE ? 1 : pd_profile_stack(profile, parent)->depth + 1,
    };
    shared->full |= profile->stacks.count > shared->bounds.stacks;
    return profile->stacks.count - 1;
}

/* There is room for one more. */
static uint32_t intern_stack(struct pd_profile_shared *shared, uint32_t frame, uint32_t parent)
{
    struct pd_profile_known *known = &shared->known;
    size_t at = pd_hash_pair(parent, frame) & known->stack_mask;
    for (; known->stack_slots[at]; at = (at + 1) & known->stack_mask) {
        const uint32_t id = known->stack_slots[at] - 1;
        const struct perfdata_profile_stack *other = pd_profile_stack(shared->profile, id);
        if (other->frame == frame && other->parent == parent)
            return id;
    }
    const uint32_t id = new_stack(shared, frame, parent);
    if (id != PERFDATA_NONE)
        known->stack_slots[at] = id + 1;
    return id;
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
        parent = reserve_stacks(shared, 1) ? intern_stack(shared, frame, parent) : PERFDATA_NONE;
        if (!KEEP_ID(&tables->stack_ids, at, parent))
            return PERFDATA_NONE;
    }
    return parent;
}

/* ---- many stacks ---- */

/* Frames that are told apart by address make millions of frames and stacks, most of which are new.
 * Each look-up waits for memory, so that it is made in steps, each for several stacks before the
 * next one. */
enum { WAVE = 32, WAVE_SLOTS = 2 * WAVE };
_Static_assert((int)WAVE <= (int)PD_SLOTS_MORE, "room for a wave is made at once");

struct wave {
    uint32_t first, count; /* the worker's stacks */
    uint32_t known;        /* the profile's stacks before the wave */
    uint64_t hashes[WAVE]; /* of what lies in a table: frames, then stacks */
    uint32_t frame_ids[WAVE];
    struct perfdata_profile_frame frames[WAVE]; /* function PERFDATA_NONE: it has its number */
    /* New stacks whose callers are new as well: nobody can have put them into the profile's table
     * before. They get there when all of them are known. */
    uint32_t made[WAVE], made_count; /* the profile's numbers */
    uint8_t slots[WAVE_SLOTS];       /* place in `made` + 1, open addressing */
};

static const struct pd_local_stack *stack_at(const struct pd_profile_tables *tables, uint32_t at)
{
    return pd_blocks_at(&tables->stacks, at, sizeof(struct pd_local_stack));
}

static bool make_frames(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                        struct wave *wave)
{
    const struct pd_profile_known *known = &shared->known;
    for (uint32_t i = 0; i < wave->count; i++) {
        const uint32_t local = stack_at(tables, wave->first + i)->frame;
        struct perfdata_profile_frame *frame = &wave->frames[i];
        frame->function = PERFDATA_NONE;
        if (KNOWN_ID(&tables->frame_ids, local))
            continue;
        if (!make_frame(shared, tables, local, frame))
            return false;
        wave->hashes[i] = hash_frame(frame);
        if (known->frame_slots)
            __builtin_prefetch(&known->frame_slots[wave->hashes[i] & known->frame_mask]);
    }
    for (uint32_t i = 0; i < wave->count; i++) {
        if (wave->frames[i].function == PERFDATA_NONE || !known->frame_slots)
            continue;
        const uint32_t slot = known->frame_slots[wave->hashes[i] & known->frame_mask];
        if (slot)
            __builtin_prefetch(pd_profile_frame(shared->profile, slot - 1));
    }
    return true;
}

static bool number_frames(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                          struct wave *wave)
{
    for (uint32_t i = 0; i < wave->count; i++) {
        const uint32_t local = stack_at(tables, wave->first + i)->frame;
        const uint32_t numbered = KNOWN_ID(&tables->frame_ids, local);
        wave->frame_ids[i] = numbered ? numbered - 1
                                      : intern_frame(shared, &wave->frames[i], wave->hashes[i]);
        if (!numbered && !KEEP_ID(&tables->frame_ids, local, wave->frame_ids[i]))
            return false;
    }
    return true;
}

static uint32_t parent_of(const struct pd_profile_tables *tables, uint32_t local)
{
    const uint32_t parent = stack_at(tables, local)->parent;
    return parent == PERFDATA_NONE ? parent : tables->stack_ids.data[parent] - 1;
}

/* What stacks whose callers have numbers will look at. */
static void fetch_stacks(const struct pd_profile_shared *shared,
                         const struct pd_profile_tables *tables, struct wave *wave)
{
    const struct pd_profile_known *known = &shared->known;
    uint32_t asked[WAVE], count = 0;
    for (uint32_t i = 0; i < wave->count; i++) {
        const uint32_t local = wave->first + i, parent = stack_at(tables, local)->parent;
        if (parent != PERFDATA_NONE && parent >= wave->first)
            continue;
        wave->hashes[i] = pd_hash_pair(parent_of(tables, local), wave->frame_ids[i]);
        __builtin_prefetch(&known->stack_slots[wave->hashes[i] & known->stack_mask]);
        asked[count++] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t slot = known->stack_slots[wave->hashes[asked[i]] & known->stack_mask];
        if (slot)
            __builtin_prefetch(pd_profile_stack(shared->profile, slot - 1));
    }
}

/* The number of a stack on top of one that is new in the wave. */
static uint32_t put_on_new(struct pd_profile_shared *shared, struct wave *wave, uint32_t frame,
                           uint32_t parent)
{
    size_t at = pd_hash_pair(parent, frame) % WAVE_SLOTS;
    for (; wave->slots[at]; at = (at + 1) % WAVE_SLOTS) {
        const uint32_t id = wave->made[wave->slots[at] - 1];
        const struct perfdata_profile_stack *other = pd_profile_stack(shared->profile, id);
        if (other->frame == frame && other->parent == parent)
            return id;
    }
    const uint32_t id = new_stack(shared, frame, parent);
    if (id == PERFDATA_NONE)
        return id;
    wave->made[wave->made_count++] = id;
    wave->slots[at] = (uint8_t)wave->made_count;
    return id;
}

/* Puts the new stacks on top of new ones into the profile's table. */
static void keep_made(struct pd_profile_shared *shared, struct wave *wave)
{
    const struct pd_profile_known *known = &shared->known;
    for (uint32_t i = 0; i < wave->made_count; i++) {
        wave->hashes[i] = hash_stack_at(shared, wave->made[i]);
        __builtin_prefetch(&known->stack_slots[wave->hashes[i] & known->stack_mask]);
    }
    for (uint32_t i = 0; i < wave->made_count; i++) {
        size_t at = wave->hashes[i] & known->stack_mask;
        while (known->stack_slots[at])
            at = (at + 1) & known->stack_mask;
        known->stack_slots[at] = wave->made[i] + 1;
    }
}

static bool number_wave(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                        struct wave *wave)
{
    const struct pd_blocks *stacks = &shared->profile->stacks;
    if (!make_frames(shared, tables, wave) || !number_frames(shared, tables, wave) ||
        !reserve_stacks(shared, wave->count))
        return false;
    fetch_stacks(shared, tables, wave);
    wave->known = stacks->count;
    wave->made_count = 0;
    memset(wave->slots, 0, sizeof wave->slots);
    for (uint32_t i = 0; i < wave->count; i++) {
        const uint32_t parent = parent_of(tables, wave->first + i);
        const bool on_new = parent != PERFDATA_NONE && parent >= wave->known;
        const uint32_t id = on_new ? put_on_new(shared, wave, wave->frame_ids[i], parent)
                                   : intern_stack(shared, wave->frame_ids[i], parent);
        if (id == PERFDATA_NONE)
            return false;
        tables->stack_ids.data[wave->first + i] = id + 1;
    }
    keep_made(shared, wave);
    return true;
}

bool pd_profile_number_stacks(struct pd_profile_shared *shared, struct pd_profile_tables *tables,
                              uint32_t upto)
{
    struct wave wave = { .first = (uint32_t)tables->stack_ids.count };
    if (upto <= wave.first)
        return true;
    if (!pd_vec_widen_to(&tables->stack_ids, upto))
        return false;
    for (; wave.first < upto; wave.first += wave.count) {
        wave.count = PD_MIN(upto - wave.first, (uint32_t)WAVE);
        if (!number_wave(shared, tables, &wave))
            return false;
    }
    return true;
}
