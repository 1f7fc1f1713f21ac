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

static void name_by_tracing_data(struct pd_recording *recording, struct pd_event *event)
{
    const struct pd_span *data = &recording->features.tracing_data.data;
    if (event->attr.type == PD_TYPE_TRACEPOINT && data->size)
        event->name = pdc_tracepoint_name(&recording->arena, data->data, data->size,
                                          event->attr.config);
}

/* perf before 3.10 wrote {u64 config, char name[64]} for tracepoints. */
static void name_by_old_table(struct pd_recording *recording, struct pd_event *event,
                              const uint8_t *table, size_t size)
{
    if (event->attr.type != PD_TYPE_TRACEPOINT)
        return;
    for (size_t at = 0; at + OLD_ENTRY <= size; at += OLD_ENTRY) {
        const char *name = (const char *)table + at + 8;
        if (pd_load64(table + at, recording->swap) != event->attr.config || !*name)
            continue;
        event->name = pd_arena_copy(&recording->arena, name, strnlen(name, OLD_NAME));
        return;
    }
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
                                const uint8_t *old, size_t old_size)
{
    event->name = NULL;
    name_by_description(recording, event);
    if (!event->name)
        name_by_tracing_data(recording, event);
    if (!event->name)
        name_by_old_table(recording, event, old, old_size);
    if (!event->name)
        name_by_attr(recording, event);
    if (!event->name)
        return pd_no_memory(&recording->context, NULL);
    pd_event_name(event, event->name);
    return PERFDATA_OK;
}

perfdata_status pdc_name_event(struct pd_recording *recording, struct pd_event *event)
{
    return name_one(recording, event, NULL, 0);
}

perfdata_status pdc_name_events(struct pd_recording *recording)
{
    const uint8_t *old = NULL;
    size_t old_size = 0;
    if (recording->event_types.size / OLD_ENTRY && recording->event_types.size < (1u << 20)) {
        perfdata_status status = pdc_read_section(recording, recording->event_types, &old,
                                                  &old_size);
        if (status < 0)
            return status;
    }
    for (size_t i = 0; i < recording->event_count; i++) {
        perfdata_status status = name_one(recording, recording->events[i], old, old_size);
        if (status < 0)
            return status;
    }
    return make_groups(recording);
}
