/* SPDX-License-Identifier: MIT */
/* Samples between two events: --switch-on, --switch-off, --show-on-off-events. Whether a sample is
 * shown depends on those before it, so that samples have to be asked about in delivery order, by
 * one thread. */
#ifndef PD_EVENT_SWITCH_H
#define PD_EVENT_SWITCH_H
#include "container/container.h"
#include <perfdata/event_switch.h>

/* All zero drops nothing. */
struct pd_event_switch {
    const struct pd_event *on, *off;
    bool is_off, shows_both;
};

/* Finds the events by their names. PERFDATA_ERROR_NOT_FOUND, with perf's text, where the recording
 * has none of the name. */
perfdata_status pd_event_switch_init(struct pd_event_switch *out, struct pd_recording *recording,
                                     const struct perfdata_event_switch *options);

PD_INLINE bool pd_event_switch_any(const struct pd_event_switch *state)
{
    return state->on || state->off;
}

/* True when a sample of `event` is not shown; follows what the event switches. */
bool pd_event_switch_drops(struct pd_event_switch *state, const struct pd_event *event);

#endif
