/* SPDX-License-Identifier: MIT */
/* Samples between two events, as perf's --switch-on and --switch-off part them. */
#include "select/event_switch.h"
#include <string.h>

static perfdata_status find(struct pd_recording *recording, const char *name, const char *what,
                            const struct pd_event **out)
{
    for (size_t i = 0; name && i < recording->event_count; i++) {
        const struct pd_event *event = recording->events[i];
        if (!strcmp(event->name, name)) {
            *out = event;
            return PERFDATA_OK;
        }
    }
    if (!name)
        return PERFDATA_OK;
    return pd_fail(&recording->context, PERFDATA_ERROR_NOT_FOUND, -1,
                   "ERROR: %s event not found (%s)\n"
                   "HINT:  use 'perf evlist' to see the available event names",
                   what, name);
}

perfdata_status pd_event_switch_init(struct pd_event_switch *out, struct pd_recording *recording,
                                     const struct perfdata_event_switch *options)
{
    *out = (struct pd_event_switch){ .is_off = options->on != NULL,
                                     .shows_both = options->shows_both };
    perfdata_status status = find(recording, options->on, "switch-on", &out->on);
    return status < 0 ? status : find(recording, options->off, "switch-off", &out->off);
}

/* A sample that a trace adds to is of a copy of its event, which has the same index. */
static bool is_of(const struct pd_event *event, const struct pd_event *other)
{
    return other && event->index == other->index;
}

bool pd_event_switch_drops(struct pd_event_switch *state, const struct pd_event *event)
{
    if (state->on && state->is_off) {
        if (!is_of(event, state->on))
            return true;
        state->is_off = false;
        return !state->shows_both;
    }
    /* Without an event that switches on, perf drops the first sample of the other event only. */
    if (!state->is_off && is_of(event, state->off)) {
        state->is_off = true;
        return !state->shows_both;
    }
    return false;
}
