/* SPDX-License-Identifier: MIT */
/* The addresses of coming samples, which are looked up before their lines are put, since the data
 * that a look-up needs come from far in memory. */
#include "render/script/plan.h"

/* The address that a line without a chain shows; false: it shows none. */
PD_INLINE bool shown_address(const struct pd_script_event *plan, const struct pd_delivered *record,
                             uint64_t *ip)
{
    const uint32_t at = plan->event->plan.ip;
    if (plan->has_chain || !(plan->fields & PD_FIELD(IP)) || !at || at + 8 > record->size)
        return false;
    *ip = pd_load64(record->data + at, plan->event->plan.swap);
    return true;
}

struct pd_location *pd_script_ahead(struct pd_script_worker *worker,
                                    const struct pd_delivered *record)
{
    const struct pd_event *event = record->event;
    if (record->type != PD_RECORD_SAMPLE || !event)
        return NULL;
    unsigned mode = record->misc & PD_MISC_CPUMODE_MASK;
    uint64_t ip;
    if (PD_UNLIKELY(mode == PD_CPUMODE_GUEST_KERNEL || mode == PD_CPUMODE_GUEST_USER))
        return NULL;
    if (!shown_address(&worker->script->events[event->index], record, &ip))
        return NULL;
    struct pd_location *location = pd_resolve(worker->resolver, record->thread, record->number,
                                              (uint8_t)mode, ip);
    __builtin_prefetch(location);
    return location;
}

void pd_script_look_ahead(struct pd_script_worker *worker, const struct pd_delivered *record,
                          struct pd_script_ahead *out)
{
    const struct pd_script *script = worker->script;
    const struct pd_event *event = record->event;
    uint64_t ip;
    *out = (struct pd_script_ahead){ 0 };
    if (PD_UNLIKELY(record->type != PD_RECORD_SAMPLE || !event))
        return;
    const struct pd_script_event *plan = &script->events[event->index];
    if (!plan->branch_trace && !pd_filter_has_location(&script->filter) &&
        shown_address(plan, record, &ip) &&
        pd_script_point_ahead(worker, record, plan->fields, ip, &out->point))
        return;
    out->point.near = NULL;
    out->location = pd_script_ahead(worker, record);
}
