/* SPDX-License-Identifier: MIT */
/* Names and groups of events: EVENT_DESC by position, tracing data, the historic table, the attr
 * (docs/perf-data-format.md). */
#include "container/internal.h"
#include <stdlib.h>

enum { OLD_ENTRY = 72, OLD_NAME = 64 };

static void name_by_description(struct pd_recording *recording, struct pd_event *event)
{
    const struct pd_feature_event_desc *desc = &recording->features.event_desc;
    if (event->index < desc->events_count && desc->events[event->index].name.text)
        event->name = desc->events[event->index].name.text;
}

static perfdata_status name_by_tracing_data(struct pd_recording *recording, struct pd_event *event)
{
    if (event->attr.type != PD_TYPE_TRACEPOINT || !recording->features.tracing_data.data.size)
        return PERFDATA_OK;
    return pdc_tracepoint_name(recording, event->attr.config, &event->name);
}

/* perf before 3.10 wrote {u64 config, char name[64]} for tracepoints. */
struct old_table {
    const uint8_t *bytes;
    size_t size;
    struct pd_map64 places; /* by config: where the first one with a name lies */
};

static perfdata_status read_old_table(struct pd_recording *recording, struct old_table *table)
{
    if (!(recording->event_types.size / OLD_ENTRY) || recording->event_types.size >= 1u << 20)
        return PERFDATA_OK;
    perfdata_status status = pdc_read_section(recording, recording->event_types, &table->bytes,
                                              &table->size);
    for (size_t at = 0; status >= 0 && at + OLD_ENTRY <= table->size; at += OLD_ENTRY) {
        uint64_t config = pd_load64(table->bytes + at, recording->swap);
        if (table->bytes[at + 8] && pd_map64_get(&table->places, config) == PD_MAP64_NONE &&
            !pd_map64_set(&table->places, config, (uint32_t)at))
            status = pd_no_memory(&recording->context, NULL);
    }
    return status < 0 ? status : PERFDATA_OK;
}

static void name_by_old_table(struct pd_recording *recording, struct pd_event *event,
                              const struct old_table *table)
{
    uint32_t at = table->bytes && event->attr.type == PD_TYPE_TRACEPOINT
                      ? pd_map64_get(&table->places, event->attr.config)
                      : PD_MAP64_NONE;
    if (at == PD_MAP64_NONE)
        return;
    const char *name = (const char *)table->bytes + at + 8;
    event->name = pd_arena_copy(&recording->arena, name, strnlen(name, OLD_NAME));
}

static void name_by_attr(struct pd_recording *recording, struct pd_event *event)
{
    struct pd_text text = { 0 };
    pd_attr_name(&event->attr, &text);
    event->name = text.failed ? NULL : pd_arena_copy(&recording->arena, text.data, text.length);
    pd_text_free(&text);
}

static bool in_events(const struct pd_recording *recording, const struct pd_part_group *group)
{
    return group->leader < recording->event_count &&
           group->members <= recording->event_count - group->leader;
}

/* An event is led by the last group that says so. From the last group to the first, each event is
 * set once: `skip` leads over those that are set. */
static perfdata_status lead_members(struct pd_recording *recording)
{
    const struct pd_feature_group_desc *desc = &recording->features.group_desc;
    uint32_t count = (uint32_t)recording->event_count;
    if (!desc->groups_count)
        return PERFDATA_OK;
    uint32_t *skip = malloc(((size_t)count + 1) * sizeof *skip);
    uint64_t *counters = calloc((size_t)count + 1, sizeof *counters);
    if (!skip || !counters) {
        free(skip);
        free(counters);
        return pd_no_memory(&recording->context, NULL);
    }
    for (uint32_t i = 0; i <= count; i++)
        skip[i] = i;
    for (uint32_t i = desc->groups_count; i--;) {
        const struct pd_part_group *group = &desc->groups[i];
        if (!in_events(recording, group))
            continue;
        uint32_t end = group->leader + group->members, at = group->leader;
        while (at < end) {
            while (skip[at] != at) {
                skip[at] = skip[skip[at]]; /* halves the way */
                at = skip[at];
            }
            if (at >= end)
                break;
            recording->events[at]->leader = group->leader;
            skip[at] = at + 1;
        }
    }
    /* All samples of a group have the counters that one of its events asks for. */
    for (uint32_t i = 0; i < count; i++)
        counters[recording->events[i]->leader] |= recording->events[i]->attr.branch_sample_type &
                                                  PD_BRANCH_SAMPLE_COUNTERS;
    for (uint32_t i = 0; i < count; i++)
        recording->events[i]->plan.branch_sample_type |= counters[recording->events[i]->leader];
    free(skip);
    free(counters);
    return PERFDATA_OK;
}

/* Members follow their leader. A group that reaches beyond the list ends there. */
static perfdata_status make_groups(struct pd_recording *recording)
{
    const struct pd_feature_group_desc *desc = &recording->features.group_desc;
    for (uint32_t i = 0; i < desc->groups_count; i++) {
        const struct pd_part_group *group = &desc->groups[i];
        if (!in_events(recording, group)) {
            perfdata_status status = pd_issue(
                &recording->context, PERFDATA_ISSUE_BAD_FEATURE,
                (int64_t)recording->feature_table.section[PD_FEATURE_GROUP_DESC].offset,
                "a group of %u events from event %u on: there are %zu", group->members,
                group->leader, recording->event_count);
            if (status < 0)
                return status;
            continue;
        }
        struct pd_event *leader = recording->events[group->leader];
        leader->member_count = group->members ? group->members : 1;
        if (group->name.text && strcmp(group->name.text, "{anon_group}") != 0)
            leader->group_name = group->name.text;
    }
    return lead_members(recording);
}

static perfdata_status name_one(struct pd_recording *recording, struct pd_event *event,
                                const struct old_table *old)
{
    event->name = NULL;
    name_by_description(recording, event);
    perfdata_status status = event->name ? PERFDATA_OK : name_by_tracing_data(recording, event);
    if (status < 0)
        return status;
    if (!event->name)
        name_by_old_table(recording, event, old);
    if (!event->name)
        name_by_attr(recording, event);
    if (!event->name)
        return pd_no_memory(&recording->context, NULL);
    pd_event_name(event, event->name);
    return PERFDATA_OK;
}

perfdata_status pdc_name_event(struct pd_recording *recording, struct pd_event *event)
{
    const struct old_table none = { 0 };
    return name_one(recording, event, &none);
}

perfdata_status pdc_name_events(struct pd_recording *recording)
{
    struct old_table old = { 0 };
    perfdata_status status = read_old_table(recording, &old);
    for (size_t i = 0; i < recording->event_count && status >= 0; i++)
        status = name_one(recording, recording->events[i], &old);
    pd_map64_free(&old.places);
    return status < 0 ? status : make_groups(recording);
}
