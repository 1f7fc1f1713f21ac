/* SPDX-License-Identifier: MIT */
/* Which filters a sample does not pass. Its rows count all the same, and are not shown. */
#include "render/report/collect.h"

static bool is_host(const struct pd_sample *sample)
{
    return sample->cpumode == PD_CPUMODE_KERNEL || sample->cpumode == PD_CPUMODE_USER;
}

uint8_t pd_report_filtered(const struct pd_report_collecting *shared,
                           const struct pd_report_facts *facts)
{
    const struct pd_filter *filter = &shared->plan->filter;
    const struct pd_sample *sample = facts->sample;
    const bool guest = sample->cpumode == PD_CPUMODE_GUEST_KERNEL ||
                       sample->cpumode == PD_CPUMODE_GUEST_USER;
    uint8_t filtered = 0;
    if (pd_filter_has_thread(filter) && !pd_filter_thread(filter, facts->thread, facts->number))
        filtered |= PD_FILTERED_THREAD;
    if (pd_filter_has_location(filter)) {
        if (!pd_filter_dso(filter, shared->session->symbols, facts->location))
            filtered |= PD_FILTERED_DSO;
        if (!pd_filter_symbol(filter, facts->location))
            filtered |= PD_FILTERED_SYMBOL;
    }
    if (PD_UNLIKELY(filter->has_socket) && !pd_filter_socket(filter, sample->cpu))
        filtered |= PD_FILTERED_SOCKET;
    if ((PD_UNLIKELY(guest) && !shared->session->guests.wanted) ||
        (PD_UNLIKELY(shared->plan->no_host) && is_host(sample)))
        filtered |= PD_FILTERED_OTHER;
    return filtered;
}
