/* SPDX-License-Identifier: MIT */
/* A sample with counter values -> a part for each event whose counter moved. */
#include "pipeline/split.h"

static void free_values(struct pd_last_values *last)
{
    pd_map64_free(&last->ids);
    pd_map64_free(&last->threads);
    pd_vec_free(&last->values);
}

void pd_split_init(struct pd_split *split, const struct pd_recording *recording)
{
    *split = (struct pd_split){ .recording = recording };
}

void pd_split_free(struct pd_split *split)
{
    free_values(&split->last);
}

void pd_split_begin(struct pd_split *split, const struct pd_delivered *record)
{
    struct pd_read_values *values = &split->values;
    struct pd_sample sample;
    split->record = *record;
    split->next = split->left = 0;
    /* What was readable of a damaged sample counts. */
    if (pd_sample_decode(record->event, record->data, record->size, &sample) < 0 && !sample.read)
        return;
    /* values without an id belong to no event */
    if (pd_read_decode(record->event->plan.read_format, sample.read,
                       sample.read ? sample.read_size : 0, sample.swap, values) &&
        values->id_at)
        split->left = values->count;
    split->tid = sample.tid;
}

/* PD_MAP64_NONE: no memory. */
static uint32_t slot_of(struct pd_last_values *last, struct pd_map64 *map, uint64_t key)
{
    uint32_t slot = pd_map64_get(map, key);
    if (slot != PD_MAP64_NONE)
        return slot;
    slot = (uint32_t)last->values.count;
    return pd_vec_push(&last->values, 0) && pd_map64_set(map, key, slot) ? slot : PD_MAP64_NONE;
}

/* The value of a counter that a sample of `event`, of thread `tid`, held under `id`: 0 at first.
 * NULL: no memory. */
static uint64_t *last_value(struct pd_last_values *last, const struct pd_event *event, uint64_t id,
                            uint32_t tid)
{
    bool by_thread = pd_attr_flag(&event->attr, PD_ATTR_INHERIT);
    uint32_t slot = slot_of(last, &last->ids, id);
    if (slot != PD_MAP64_NONE && by_thread)
        slot = slot_of(last, &last->threads, (uint64_t)slot << 32 | tid);
    return slot == PD_MAP64_NONE ? NULL : &last->values.data[slot];
}

int pd_split_next(struct pd_split *split, struct pd_delivered *out)
{
    const struct pd_recording *recording = split->recording;
    while (split->left) {
        struct pd_read_value read = pd_read_value(&split->values, split->next++);
        split->left--;
        uint32_t index = pd_map64_get(&recording->ids.by_id, read.id);
        if (index == PD_MAP64_NONE || index >= recording->event_count) {
            split->unknown_ids++;
            continue;
        }
        uint64_t *last = last_value(&split->last, split->record.event, read.id, split->tid);
        if (!last)
            return PERFDATA_ERROR_MEMORY;
        uint64_t period = read.value - *last;
        *last = read.value;
        if (!period)
            continue;
        const struct pd_event *event = recording->events[index];
        *out = split->record;
        out->has_period = 1;
        out->counts_for = index + 1;
        out->period = period;
        if (event->attr.sample_type == split->record.event->attr.sample_type)
            out->event = event; /* else its layout would not be the sample's */
        return 1;
    }
    return 0;
}
