/* SPDX-License-Identifier: MIT */
/* The attrs section -> events; and which event a record belongs to. */
#include "container/internal.h"

/* What no real recording reaches, but a hostile header may claim. */
enum { EVENTS_MAX = 65536, IDS_MAX = 4 << 20, DISTINCT_MAX = 16 };

static perfdata_status read_ids(struct pd_recording *recording, struct pd_event *event,
                                struct pd_section section, size_t *total)
{
    uint64_t count = section.size / 8;
    if (!count)
        return PERFDATA_OK;
    if (!pd_range_ok(section.offset, section.size, pd_source_size(recording->source)))
        return pd_issue(&recording->context, PERFDATA_ISSUE_BAD_ATTR, (int64_t)section.offset,
                        "the ids of event %u lie outside the file", event->index);
    if (count > IDS_MAX - *total)
        return pd_issue(&recording->context, PERFDATA_ISSUE_LIMIT, (int64_t)section.offset,
                        "event %u has %llu ids: too many", event->index, (unsigned long long)count);
    *total += (size_t)count;
    uint64_t *ids = pd_arena_alloc(&recording->arena, (size_t)count * 8);
    if (!ids)
        return pd_no_memory(&recording->context, NULL);
    size_t got;
    perfdata_status status = pd_source_read(recording->source, section.offset, ids,
                                            (size_t)count * 8, &got);
    if (status < 0)
        return status;
    event->ids = ids;
    event->id_count = got / 8;
    for (size_t i = 0; i < event->id_count; i++) {
        ids[i] = pd_load64(&ids[i], recording->swap);
        if (!pd_map64_set(&recording->ids.by_id, ids[i], event->index))
            return pd_no_memory(&recording->context, NULL);
    }
    return PERFDATA_OK;
}

static perfdata_status read_event(struct pd_recording *recording, const uint8_t *entry,
                                  uint32_t index, size_t *total)
{
    size_t room = (size_t)recording->attr_size - 16;
    int64_t offset = (int64_t)(recording->attrs.offset + index * recording->attr_size);
    struct pd_event *event = pd_arena_zalloc(&recording->arena, sizeof *event);
    if (!event)
        return pd_no_memory(&recording->context, NULL);
    recording->events[index] = event;
    recording->event_count = index + 1u;
    event->index = event->leader = index;
    event->member_count = 1;
    event->scale = 1.0;
    perfdata_status status = pd_attr_decode(entry, room, recording->swap, &event->attr);
    if (status < 0 || event->attr.size > room)
        status = pd_issue(
            &recording->context, PERFDATA_ISSUE_BAD_ATTR, offset,
            "the attr of event %u says it has %u bytes, the file's entries have room for %zu",
            index, event->attr.size, room);
    if (status < 0)
        return status;
    pd_plan_make(&event->attr, recording->swap, &event->plan);
    struct pd_section ids = { pd_load64(entry + room, recording->swap),
                              pd_load64(entry + room + 8, recording->swap) };
    return read_ids(recording, event, ids, total);
}

perfdata_status pdc_read_events(struct pd_recording *recording)
{
    uint64_t count = recording->attrs.size / recording->attr_size;
    perfdata_status status = PERFDATA_OK;
    if (count > EVENTS_MAX) {
        status = pd_issue(&recording->context, PERFDATA_ISSUE_LIMIT, 24, "%llu events: too many",
                          (unsigned long long)count);
        count = EVENTS_MAX;
    }
    if (status < 0)
        return status;
    struct pd_section section = { recording->attrs.offset, count * recording->attr_size };
    const uint8_t *bytes;
    size_t size;
    status = pdc_read_section(recording, section, &bytes, &size);
    if (status < 0)
        return status;
    if (size < section.size) {
        status = pd_issue(&recording->context, PERFDATA_ISSUE_TRUNCATED,
                          (int64_t)pd_source_size(recording->source),
                          "the file ends within its attributes");
        count = size / recording->attr_size;
    }
    recording->events = pd_arena_zalloc(&recording->arena,
                                        (size_t)(count + 1) * sizeof *recording->events);
    if (!recording->events)
        return pd_no_memory(&recording->context, NULL);
    size_t total = 0;
    for (uint32_t i = 0; i < count && status == PERFDATA_OK; i++)
        status = read_event(recording, bytes + i * recording->attr_size, i, &total);
    return status;
}

static bool same_places(const struct pd_plan *a, const struct pd_plan *b)
{
    return a->id_position == b->id_position && a->is_position == b->is_position;
}

perfdata_status pdc_finish_positions(struct pd_recording *recording)
{
    recording->ids.same_positions = true;
    recording->ids.layout_count = 0;
    recording->ids.layouts = pd_arena_zalloc(&recording->arena,
                                             DISTINCT_MAX * sizeof *recording->ids.layouts);
    if (!recording->ids.layouts)
        return pd_no_memory(&recording->context, NULL);
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_event *event = recording->events[i];
        size_t k = 0;
        while (k < recording->ids.layout_count &&
               !same_places(&recording->ids.layouts[k]->plan, &event->plan))
            k++;
        if (k == recording->ids.layout_count && k < DISTINCT_MAX)
            recording->ids.layouts[recording->ids.layout_count++] = event;
    }
    recording->ids.same_positions = recording->ids.layout_count <= 1;
    return PERFDATA_OK;
}

/* Events that differ in where the id stands: take the first place that holds the id of an event
 * which has it there. */
static const struct pd_event *try_layouts(const struct pd_recording *recording,
                                          const uint8_t *record, uint32_t size, uint32_t type)
{
    const struct pd_event *zero = NULL;
    for (size_t i = 0; i < recording->ids.layout_count; i++) {
        const struct pd_event *layout = recording->ids.layouts[i];
        uint32_t at = pdc_id_offset(&layout->plan, size, type);
        uint64_t id = at ? pd_load64(record + at, recording->swap) : 0;
        if (at && !id && !zero)
            zero = layout;
        const struct pd_event *event = id ? pdc_event_by_id(recording, id) : NULL;
        if (event && same_places(&event->plan, &layout->plan))
            return event;
    }
    return zero;
}

const struct pd_event *pd_recording_event_of(const struct pd_recording *recording,
                                             const uint8_t *record, uint32_t size, uint32_t type)
{
    if (recording->event_count == 1 && type < 64)
        return recording->events[0];
    return pd_recording_event_among(recording, record, size, type);
}

const struct pd_event *pd_recording_event_among(const struct pd_recording *recording,
                                                const uint8_t *record, uint32_t size, uint32_t type)
{
    if (type >= 64 || !recording->event_count)
        return NULL;
    const struct pd_event *first = recording->events[0];
    if (type != PD_RECORD_SAMPLE && !pd_attr_flag(&first->attr, PD_ATTR_SAMPLE_ID_ALL))
        return first;
    if (!recording->ids.same_positions)
        return try_layouts(recording, record, size, type);
    if (!(type == PD_RECORD_SAMPLE ? first->plan.id_position : first->plan.is_position))
        return first; /* no event has an id anywhere */
    uint32_t at = pdc_id_offset(&first->plan, size, type);
    if (!at)
        return NULL;
    uint64_t id = pd_load64(record + at, recording->swap);
    return id ? pdc_event_by_id(recording, id) : first;
}
