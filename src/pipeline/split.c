/* SPDX-License-Identifier: MIT */
#include "pipeline/split.h"

void pd_split_init(struct pd_split *split, const struct pd_recording *recording)
{
    *split = (struct pd_split){ .recording = recording };
}

void pd_split_free(struct pd_split *split)
{
    pd_last_values_free(&split->last);
}

void pd_split_begin(struct pd_split *split, const struct pd_delivered *record)
{
    uint64_t format = record->event->plan.read_format;
    struct pd_sample sample;
    split->record = *record;
    split->left = 0;
    /* Of a damaged sample what was readable counts. */
    if (pd_sample_decode(record->event, record->data, record->size, &sample) < 0 && !sample.read)
        return;
    split->tid = sample.tid;
    bool group = format & PD_READ_GROUP;
    size_t times = 8 * (size_t)(!!(format & PD_READ_TOTAL_TIME_ENABLED) +
                                !!(format & PD_READ_TOTAL_TIME_RUNNING));
    size_t head = group ? 8 + times : 0, size = sample.read ? sample.read_size : 0;
    split->has_id = format & PD_READ_ID;
    split->stride = (uint8_t)(8 + (group ? 0 : times) + (split->has_id ? 8 : 0) +
                              (format & PD_READ_LOST ? 8 : 0));
    if (size < head + split->stride)
        return;
    uint64_t count = group ? pd_load64(sample.read, sample.swap) : 1;
    split->next = sample.read + head;
    split->left = (uint32_t)PD_MIN(count, (size - head) / split->stride);
}

void pd_last_values_free(struct pd_last_values *last)
{
    pd_map64_free(&last->ids);
    pd_map64_free(&last->threads);
    pd_vec_free(&last->values);
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

uint64_t *pd_last_value(struct pd_last_values *last, const struct pd_event *event, uint64_t id,
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
    const struct pd_plan *plan = &split->record.event->plan;
    while (split->left) {
        const uint8_t *value = split->next;
        /* The id stands behind the value, or behind the times of a lone one, before the count of lost ones. */
        size_t lost = plan->read_format & PD_READ_LOST ? 8 : 0;
        split->left--;
        split->next += split->stride;
        if (!split->has_id)
            continue;
        uint64_t id = pd_load64(split->next - lost - 8, plan->swap),
                 now = pd_load64(value, plan->swap);
        uint32_t index = pd_map64_get(&recording->event_by_id, id);
        if (index == PD_MAP64_NONE || index >= recording->event_count) {
            split->unknown_ids++;
            continue;
        }
        uint64_t *last = pd_last_value(&split->last, split->record.event, id, split->tid);
        if (!last)
            return PERFDATA_ERROR_MEMORY;
        uint64_t period = now - *last;
        *last = now;
        if (!period)
            continue;
        const struct pd_event *event = recording->events[index];
        *out = split->record;
        out->has_period = 1;
        out->period = period;
        if (event->attr.sample_type == split->record.event->attr.sample_type)
            out->event = event; /* else its layout would not be the sample's */
        return 1;
    }
    return 0;
}
