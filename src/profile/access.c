/* SPDX-License-Identifier: MIT */
/* <perfdata/profile.h>: rows of a profile by their numbers. */
#include "profile/profile.h"
#include <stdlib.h>

void perfdata_profile_free(perfdata_profile *profile)
{
    if (!profile || atomic_fetch_sub_explicit(&profile->holders, 1, memory_order_acq_rel) != 1)
        return;
    struct pd_profile_columns *columns = &profile->columns;
    pd_vec_free(&columns->time);
    pd_vec_free(&columns->weight);
    pd_vec_free(&columns->event);
    pd_vec_free(&columns->thread);
    pd_vec_free(&columns->stack);
    pd_vec_free(&columns->cpu);
    for (size_t i = 0; i < PERFDATA_COLUMN_COUNT; i++)
        pd_vec_free(&columns->more[i].values);
    pd_vec_free(&profile->switches);
    pd_vec_free(&profile->sums);
    pd_vec_free(&profile->calls);
    pd_vec_free(&profile->call_sums);
    pd_vec_free(&profile->marks);
    pd_blocks_free(&profile->events);
    pd_blocks_free(&profile->threads);
    pd_blocks_free(&profile->objects);
    pd_blocks_free(&profile->functions);
    pd_blocks_free(&profile->frames);
    pd_blocks_free(&profile->stacks);
    pd_blocks_free(&profile->mappings);
    pd_intern_free(&profile->texts);
    pd_arena_free(&profile->arena);
    free(profile);
}

#define TABLE(singular, plural)                                                                    \
    uint32_t perfdata_profile_##singular##_count(const perfdata_profile *profile)                  \
    {                                                                                              \
        return profile->plural.count;                                                              \
    }                                                                                              \
    const struct perfdata_profile_##singular *perfdata_profile_##singular(                         \
        const perfdata_profile *profile, uint32_t index)                                           \
    {                                                                                              \
        return index < profile->plural.count                                                       \
                   ? pd_blocks_at(&profile->plural, index,                                         \
                                  sizeof(struct perfdata_profile_##singular))                      \
                   : NULL;                                                                         \
    }

TABLE(event, events)
TABLE(thread, threads)
TABLE(object, objects)
TABLE(function, functions)
TABLE(frame, frames)
TABLE(stack, stacks)
TABLE(mapping, mappings)

uint64_t perfdata_profile_stack_frames(const perfdata_profile *profile, const uint32_t *stacks,
                                       size_t count, uint64_t *ends, uint32_t *frames,
                                       uint64_t capacity)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (stacks[i] < profile->stacks.count)
            total += pd_profile_stack(profile, stacks[i])->depth;
        ends[i] = total;
    }
    if (total > capacity)
        return total;
    for (size_t i = 0; i < count; i++) {
        uint32_t at = stacks[i] < profile->stacks.count ? stacks[i] : PERFDATA_NONE;
        while (at != PERFDATA_NONE) {
            const struct perfdata_profile_stack *stack = pd_profile_stack(profile, at);
            *frames++ = stack->frame;
            at = stack->parent;
        }
    }
    return total;
}

size_t perfdata_profile_frame_columns(const perfdata_profile *profile, uint32_t first, size_t count,
                                      uint32_t *functions, uint32_t *lines, uint64_t *addresses,
                                      const char **files)
{
    uint32_t all = profile->frames.count;
    count = first < all ? PD_MIN(count, (size_t)(all - first)) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct perfdata_profile_frame *frame = pd_profile_frame(profile, first + (uint32_t)i);
        if (functions)
            functions[i] = frame->function;
        if (lines)
            lines[i] = frame->line;
        if (addresses)
            addresses[i] = frame->address;
        if (files)
            files[i] = frame->file;
    }
    return count;
}

uint64_t perfdata_profile_switch_count(const perfdata_profile *profile)
{
    return profile->switches.count;
}

const struct perfdata_profile_switch *perfdata_profile_switch(const perfdata_profile *profile,
                                                              uint64_t index)
{
    return index < profile->switches.count ? &profile->switches.data[index] : NULL;
}

uint64_t perfdata_profile_switches_left_out(const perfdata_profile *profile, uint64_t *shorter_than)
{
    if (shorter_than)
        *shorter_than = profile->switches_shorter_than;
    return profile->switches_left_out;
}

uint64_t perfdata_profile_sample_count(const perfdata_profile *profile)
{
    return profile->sample_count;
}

perfdata_status perfdata_profile_samples(const perfdata_profile *profile,
                                         struct perfdata_samples *out)
{
    struct perfdata_samples all;
    if (!out || out->struct_size < sizeof out->struct_size)
        return PERFDATA_ERROR_ARGUMENT;
    if (!profile->keeps_samples)
        return PERFDATA_ERROR_NO_DATA;
    pd_profile_view(profile, 0, &all);
    all.struct_size = PD_MIN(out->struct_size, sizeof all);
    memcpy(out, &all, all.struct_size);
    return PERFDATA_OK;
}

perfdata_status perfdata_profile_times(const perfdata_profile *profile, uint64_t *first,
                                       uint64_t *last)
{
    if (profile->first_time == UINT64_MAX)
        return PERFDATA_ERROR_NO_DATA;
    if (first)
        *first = profile->first_time;
    if (last)
        *last = profile->last_time;
    return PERFDATA_OK;
}

uint64_t perfdata_profile_trace_errors(const perfdata_profile *profile)
{
    return profile->trace_errors;
}

int perfdata_profile_has_column(const perfdata_profile *profile, uint32_t column)
{
    return column < PERFDATA_COLUMN_COUNT && profile->has_columns >> column & 1;
}

const char *perfdata_column_name(uint32_t column)
{
    static const char *const names[PERFDATA_COLUMN_COUNT] = {
#define COLUMN(NAME, name, bits, get) [PERFDATA_COLUMN_##NAME] = #name,
#include "profile/columns.def"
#undef COLUMN
    };
    return column < PERFDATA_COLUMN_COUNT ? names[column] : NULL;
}

const struct perfdata_profile_sum *perfdata_profile_sums(const perfdata_profile *profile,
                                                         size_t *count)
{
    *count = profile->sums.count;
    return profile->sums.data;
}
