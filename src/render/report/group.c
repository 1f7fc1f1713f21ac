/* SPDX-License-Identifier: MIT */
/* Groups of events: as recorded, or of all events. */
#include "render/report/group.h"
#include <stdlib.h>

/* An event's place in its group. */
struct place {
    uint32_t leader, members; /* members: of a leader's group, itself included */
    uint32_t first,
        next; /* the events that it leads, and those that its leader leads; NONE: no more */
    const char *name;
    bool is_forced;
};

#define NONE UINT32_MAX

struct grouping {
    const struct pd_recording *recording;
    struct place *places; /* per event */
    size_t count;
};

static bool has_groups(const struct pd_recording *recording)
{
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->member_count > 1)
            return true;
    return false;
}

/* Events that a trace is decoded to are not in the group: they come after perf has made it of all
 * others. */
static void force_group(struct grouping *grouping)
{
    struct place *first = &grouping->places[0];
    first->is_forced = true;
    first->members = 0;
    for (size_t i = 0; i < grouping->count; i++) {
        if (grouping->recording->events[i]->synthesised)
            continue;
        grouping->places[i].leader = 0;
        first->members++;
    }
}

static void list_members(struct grouping *grouping)
{
    struct place *places = grouping->places;
    for (size_t i = 0; i < grouping->count; i++)
        places[i].first = NONE;
    for (size_t i = grouping->count; i--;) {
        struct place *leader = &places[places[i].leader];
        places[i].next = leader->first;
        leader->first = (uint32_t)i;
    }
}

/* An event that records a trace leads nobody, so the event behind it becomes the others' leader. */
static void dismiss(struct grouping *grouping, uint32_t old)
{
    struct place *places = grouping->places;
    uint32_t rest = NONE, *end = &rest;
    for (uint32_t i = places[old].first; i != NONE; i = places[i].next) {
        if (i == old)
            continue;
        *end = i;
        end = &places[i].next;
        places[i].leader = rest;
    }
    *end = NONE;
    places[old].first = old;
    places[old].next = NONE;
    if (rest == NONE)
        return;
    places[rest].first = rest;
    places[rest].name = places[old].name;
    places[rest].members = places[old].members - 1;
    places[old].members = 1;
    places[old].name = NULL;
}

static void find_places(struct grouping *grouping, const struct pd_report_plan *plan,
                        const struct pd_report_counts *counts)
{
    const struct pd_recording *recording = grouping->recording;
    for (size_t i = 0; i < grouping->count; i++) {
        const struct pd_event *event = recording->events[i];
        grouping->places[i] = (struct place){ .leader = event->leader,
                                              .members = event->member_count,
                                              .name = event->group_name };
    }
    /* perf makes one group of all events even for the option that then shows none. */
    if (grouping->count && (plan->group_all || plan->no_group) && !has_groups(recording))
        force_group(grouping);
    list_members(grouping);
    for (uint32_t i = 0; i < grouping->count; i++)
        if (counts->trace.known && recording->events[i]->attr.type == counts->trace.pmu &&
            !recording->events[i]->synthesised && grouping->places[i].leader == i)
            dismiss(grouping, i);
}

/* Puts the events that `leader` leads at `events`; none where it is itself a member of a group. */
static size_t list_events(const struct grouping *grouping, uint32_t leader, bool alone,
                          uint32_t *events)
{
    size_t count = 0;
    if (alone) {
        events[count++] = leader;
        return count;
    }
    if (grouping->places[leader].leader != leader)
        return 0;
    for (uint32_t i = grouping->places[leader].first; i != NONE; i = grouping->places[i].next)
        events[count++] = i;
    return count;
}

bool pd_report_groups_any(const struct pd_recording *recording, const struct pd_report_plan *plan)
{
    return has_groups(recording) ||
           ((plan->group_all || plan->no_group) && recording->event_count > 1);
}

perfdata_status pd_report_groups_make(const struct pd_recording *recording,
                                      struct pd_report_plan *plan,
                                      const struct pd_report_counts *counts,
                                      struct pd_report_groups *out)
{
    size_t count = recording->event_count;
    struct grouping grouping = { recording, calloc(count + 1, sizeof(struct place)), count };
    uint32_t *events = pd_arena_alloc(&plan->arena, (count + 1) * sizeof *events);
    *out = (struct pd_report_groups){ recording, NULL, 0 };
    out->list = pd_arena_zalloc(&plan->arena, (count + 1) * sizeof *out->list);
    if (!grouping.places || !events || !out->list) {
        free(grouping.places);
        return PERFDATA_ERROR_MEMORY;
    }
    const bool alone = plan->no_group || plan->options->flags & PERFDATA_REPORT_UNGROUPED;
    find_places(&grouping, plan, counts);
    for (uint32_t i = 0; i < count; i++) {
        const struct place *place = &grouping.places[i];
        size_t listed = list_events(&grouping, i, alone, events);
        if (!listed)
            continue;
        out->list[out->count++] = (struct pd_report_group){
            .events = events,
            .count = listed,
            .name = place->name,
            .is_forced = place->is_forced,
            .is_plural = listed > 1 || (place->leader == i && place->members > 1),
        };
        events += listed;
    }
    free(grouping.places);
    return 0;
}

void pd_report_group_names(const struct pd_report_groups *groups,
                           const struct pd_report_group *group, struct pd_text *out)
{
    const struct pd_event *leader = groups->recording->events[group->events[0]];
    if (group->count < 2) {
        pd_text_bytes(out, leader->name, leader->name_length);
        return;
    }
    if (!group->is_forced)
        pd_text_format(out, "%s { ", group->name ? group->name : "anon group");
    for (size_t i = 0; i < group->count; i++) {
        const struct pd_event *event = groups->recording->events[group->events[i]];
        if (i)
            pd_text_string(out, ", ");
        pd_text_bytes(out, event->name, event->name_length);
    }
    if (!group->is_forced)
        pd_text_string(out, " }");
}
