/* SPDX-License-Identifier: MIT */
/* Samples of annotated code: which of them count, and at which address. */
#include "render/report/collect.h"

bool pd_report_wants_code(const struct pd_report_plan *plan, struct pd_location *location,
                          bool filtered)
{
    return !filtered && (!plan->code_symbol || pd_code_hist_wants(plan->code_symbol, location));
}

void pd_report_count_code(struct pd_report_state *state, const struct pd_report_facts *facts)
{
    struct pd_location *location = facts->location;
    uint64_t addr = facts->addr;
    if (!location->of_function)
        addr = location->addr;
    else if (!addr)
        addr = pd_resolver_address(state->resolver, facts->thread, facts->number, location,
                                   facts->sample->ip);
    pd_code_hist_count(&state->code, location, addr, facts->event->index, facts->number,
                       facts->period);
}
