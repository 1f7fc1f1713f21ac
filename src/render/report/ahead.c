/* SPDX-License-Identifier: MIT */
/* What coming samples will need. Nearly all of a sample's time is spent waiting for memory, so the
 * memory is asked for some samples ahead. */
#include "render/report/collect.h"

/* The entry that this location's last sample counted for will most likely be wanted again. */
PD_INLINE void fetch_entry(const struct pd_report_state *state, const struct pd_location *location)
{
    uint32_t last = location ? (uint32_t)(location->memo[0] >> 32) : 0;
    if (!last)
        return;
    const struct pd_hist_entry *entry = &state->hist.entries.data[last - 1];
    __builtin_prefetch(pd_hist_key_of(&state->hist, last - 1));
    __builtin_prefetch(&entry->period);
    __builtin_prefetch(&entry->count);
}

/* Reads the records ahead and keeps the spots of their addresses. */
static void find_spots(struct pd_report_state *state, const struct pd_batch *batch,
                       const struct pd_report_ahead *ahead, struct pd_spot *spots)
{
    const struct pd_filter *filter = &state->shared->plan->filter;
    for (size_t i = 0; i < ahead->count; i++) {
        const size_t at = ahead->from + i;
        const struct pd_delivered *record = &batch->records[at];
        uint64_t ip;
        if (at + PD_REPORT_AHEAD < batch->count)
            __builtin_prefetch(batch->records[at + PD_REPORT_AHEAD].data);
        spots[i].slot = NULL;
        spots[i].point.addr = 0;
        if (pd_batch_ip(batch, at, &ip) && pd_filter_early(filter, record))
            pd_resolver_spot(state->resolver, record->thread, record->number,
                             record->misc & PD_MISC_CPUMODE_MASK, ip, &spots[i]);
    }
}

static PD_NOINLINE void look(struct pd_report_state *state, const struct pd_batch *batch,
                             struct pd_report_ahead *ahead)
{
    struct pd_spot spots[PD_REPORT_AHEAD];
    size_t count = ahead->count;
    pd_resolver_begin_spots(state->resolver);
    find_spots(state, batch, ahead, spots);
    pd_resolver_at_spots(state->resolver, spots, count, ahead->locations);
    for (size_t i = 0; i < count; i++) {
        if (!state->by_name)
            fetch_entry(state, ahead->locations[i]);
        ahead->addrs[i] = spots[i].point.addr;
    }
}

struct pd_location *pd_report_look_ahead(struct pd_report_state *state,
                                         const struct pd_batch *batch, size_t i,
                                         struct pd_report_ahead *ahead)
{
    if (!state->by_spots) {
        fetch_entry(state, pd_batch_ahead(batch, i, state->resolver));
        return NULL;
    }
    if (i >= ahead->from + ahead->count) {
        ahead->from = i;
        ahead->count = PD_MIN(batch->count - i, (size_t)PD_REPORT_AHEAD);
        look(state, batch, ahead);
    }
    return ahead->locations[i - ahead->from];
}
