/* SPDX-License-Identifier: MIT */
/* Counts a sample for its entry: at once, or as one of some accesses to memory. */
#include "render/report/collect.h"
#include <stdlib.h>

static void count_entry(struct pd_report_state *state, const struct pd_report_facts *facts,
                        uint32_t id, uint8_t filtered)
{
    struct pd_hist_entry *entry = &state->hist.entries.data[id];
    PD_HIST_COUNT(entry, facts->cpumode, facts->period);
    if (PD_UNLIKELY(facts->parallelism))
        entry->latency += pd_report_latency(facts->period, facts->parallelism);
    /* The sample numbers of one worker rise, so that only the first sample of an entry can be its
     * first. */
    if (entry->count == 1 && pd_hist_is_first(&entry->first, facts->number, 0)) {
        const struct pd_location *location = facts->location;
        entry->first = (struct pd_hist_first){
            .number = facts->number,
            .thread = facts->thread,
            .dso = location->dso,
            .symbol = location->sym,
            .addr = location->addr,
            .map_bias = location->map ? location->ip - location->addr : 0,
            .map_size = location->map ? location->map->end - location->map->start : 0,
            .level = location->level,
            .filtered = filtered,
        };
    }
}

static bool count_chain(struct pd_report_state *state, const struct pd_report_facts *facts,
                        uint32_t id, uint8_t filtered)
{
    const struct pd_hist_options *options = &state->hist.options;
    struct pd_hist_pair *pair = pd_hist_pair_at(&state->hist, id, facts->cell);
    if (!pair)
        return false;
    pair->period += facts->period;
    pair->count++;
    pair->last = facts->number;
    pair->borrowed = !state->shared->plan->chains.shows_ends &&
                     !(pd_event_fields(facts->event) & PD_SAMPLE_CALLCHAIN);
    if (facts->number < pair->number) {
        pair->number = facts->number;
        pair->thread = facts->thread;
        pair->level = facts->location->level;
        pair->filtered = filtered;
    }
    if (!options->keeps_visits || !options->children ||
        !state->hist.cells.data[facts->cell].has_unknown)
        return true;
    struct pd_hist_visit visit = { facts->number, facts->thread,
                                   (uint32_t)(pair - state->hist.pairs.data),
                                   facts->location->level };
    return pd_vec_push(&state->hist.visits, visit);
}

perfdata_status pd_report_count_entry(struct pd_report_state *state,
                                      const struct pd_report_facts *facts, uint32_t id,
                                      uint8_t filtered)
{
    if (id == PD_HIST_NONE)
        return PERFDATA_ERROR_MEMORY;
    count_entry(state, facts, id, filtered);
    bool is_first = state->hist.entries.data[id].first.number == facts->number;
    if (facts->access && is_first && !pd_hist_keep_access(&state->hist, id, facts->access))
        return PERFDATA_ERROR_MEMORY;
    if (PD_UNLIKELY(state->shared->plan->counts_code))
        pd_report_count_code(state, facts);
    if (facts->cell != PD_HIST_NONE && !count_chain(state, facts, id, filtered))
        return PERFDATA_ERROR_MEMORY;
    return state->hist.failed ? PERFDATA_ERROR_MEMORY : 0;
}

/* ---- accesses to memory ---- */

/* Samples that are yet to be counted: there may be as many rows as samples, and each look-up waits
 * for memory. */
struct pd_report_accesses {
    size_t count;
    struct {
        struct pd_report_facts facts;
        struct pd_hist_access access;
        uint8_t filtered;
    } waiting[PD_HIST_READ_MAX];
    uint64_t hashes[PD_HIST_READ_MAX];
    uint64_t keys[PD_HIST_READ_MAX][PD_HIST_WORDS];
};

perfdata_status pd_report_count_accesses(struct pd_report_state *state)
{
    struct pd_report_accesses *accesses = state->accesses;
    perfdata_status status = PERFDATA_OK;
    if (!accesses)
        return status;
    pd_hist_read_entries(&state->hist, accesses->hashes, accesses->count);
    for (size_t i = 0; i < accesses->count && status == PERFDATA_OK; i++) {
        uint32_t id = pd_hist_entry_by_hash(&state->hist, accesses->keys[i], accesses->hashes[i]);
        status = pd_report_count_entry(state, &accesses->waiting[i].facts, id,
                                       accesses->waiting[i].filtered);
    }
    accesses->count = 0;
    return status;
}

perfdata_status pd_report_take_access(struct pd_report_state *state,
                                      const struct pd_report_facts *facts, uint8_t filtered)
{
    if (!state->accesses && !(state->accesses = calloc(1, sizeof *state->accesses)))
        return PERFDATA_ERROR_MEMORY;
    struct pd_report_accesses *accesses = state->accesses;
    const size_t at = accesses->count;
    struct pd_report_facts *kept = &accesses->waiting[at].facts;
    *kept = *facts;
    kept->access = &accesses->waiting[at].access;
    kept->period = PD_MAX(pd_report_weight(facts), 1);
    if (!pd_report_access(state, facts, &accesses->waiting[at].access))
        return PERFDATA_ERROR_MEMORY;
    pd_report_fill_key(state, kept, accesses->keys[at]);
    kept->sample = NULL; /* it is the caller's, and gone when it counts */
    accesses->waiting[at].filtered = filtered;
    accesses->hashes[at] = pd_hist_key_hash(&state->hist, accesses->keys[at]);
    accesses->count = at + 1;
    return accesses->count == PD_HIST_READ_MAX ? pd_report_count_accesses(state) : PERFDATA_OK;
}
