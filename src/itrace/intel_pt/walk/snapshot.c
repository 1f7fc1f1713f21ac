/* SPDX-License-Identifier: MIT */
/* A decoder just behind a PSB -> a snapshot that another decoder can be compared with or put to. */
#include "itrace/intel_pt/walk/snapshot.h"
#include "itrace/intel_pt/walk/walk.h"
#include <stdlib.h>

/* All that is not cleared here tells places apart. So a member that is added to the decoder keeps
 * places apart, too, until it is cleared here. */
struct pd_pt_snapshot {
    struct pd_pt_decoder at;    /* counts are relative to these: */
    uint64_t insns, tot_cycles; /* absolute */
    bool brief;                 /* only HEAD bytes of `at` are set: nothing is in the others */
    bool timeless;              /* instructions are counted from the beginning: */
    uint64_t insn_base, sample_insn_base; /* absolute */
    uint64_t base_cycles, base_timestamp; /* of cycles without CYCs */
};

enum { HEAD = offsetof(struct pd_pt_decoder, items) };

/* Whether nobody will read items or Event Data that have come. */
static bool is_brief(const struct pd_pt_decoder *d)
{
    uint32_t items = d->items.is_32_bit;
    for (unsigned i = 0; i < PD_PT_BLOCKS; i++)
        items |= d->items.mask[i];
    return !items && !d->events.data_count && !d->state.cfe.data_count;
}

static size_t size_of(const struct pd_pt_snapshot *snapshot)
{
    return snapshot->brief ? HEAD : sizeof snapshot->at;
}

struct pd_pt_snapshot *pd_pt_snapshot_new(void)
{
    return calloc(1, sizeof(struct pd_pt_snapshot));
}

/* Clears what belongs to the decoder, not to its place. */
static void clear_own(struct pd_pt_decoder *at)
{
    memset(&at->config, 0, sizeof at->config);
    memset(&at->code, 0, sizeof at->code);
    at->place.node = at->place.from = at->place.branch = NULL;
    at->place.index = 0;
    at->place.from_taken = false;
    at->stack.returns = NULL;
    at->stack.capacity = at->stack.stale = 0;
    memset(&at->stack.returned, 0, sizeof at->stack.returned);
    memset(&at->learnt, 0, sizeof at->learnt);
    at->quick.unreported = at->quick.skips_code = false;
    at->pauses = NULL;
    at->limit = at->watch_from = 0;
    at->watch = 0;
}

/* Clears what the next step sets before it looks at it. */
static void clear_passing(struct pd_pt_decoder *at)
{
    struct pd_pt_state *state = &at->state;
    unsigned kind = at->input.packet.kind;
    memset(&at->input.packet, 0, sizeof at->input.packet);
    at->input.packet.kind = (uint8_t)kind;
    at->unused.tnt = 0;
    at->unused.tip_has_ip = false;
    at->loop.stuck_left = at->loop.stuck_period = 0;
    at->loop.stuck_ip = 0;
    at->period.late_insns = 0;
    memset(&at->untold, 0, sizeof at->untold);
    at->sample.cycles = 0;
    state->flags = 0;
    memset(&state->failure, 0, sizeof state->failure);
    state->tot_insn_cnt = state->tot_cyc_cnt = 0;
    state->timestamp = state->est_timestamp = state->last_timestamp = 0;
    state->skipped_timestamp = 0;
    state->items = NULL;
    state->cfe.data = NULL;
}

static void make_relative(struct pd_pt_snapshot *snapshot)
{
    struct pd_pt_decoder *at = &snapshot->at;
    struct pd_pt_time *time = &at->time;
    snapshot->insns = time->insns;
    time->insns = 0;
    snapshot->insn_base = time->insn_base;
    snapshot->sample_insn_base = at->sample.insn_base;
    time->insn_base = snapshot->timeless ? 0 : time->insn_base - snapshot->insns;
    at->sample.insn_base = snapshot->timeless ? 0 : at->sample.insn_base - snapshot->insns;
    snapshot->tot_cycles = time->tot_cycles;
    time->tot_cycles = 0;
    at->sample.tot_cycles -= snapshot->tot_cycles;
    at->state.cycles -= snapshot->tot_cycles;
    snapshot->base_cycles = time->base_cycles;
    snapshot->base_timestamp = time->base_timestamp;
    time->base_cycles = time->base_timestamp = 0;
}

static void clear_time(struct pd_pt_time *time)
{
    time->told = NULL;
    time->changes = NULL;
    time->max_cycles = 0;
    if (!time->have_cyc_to_tsc)
        time->cyc_to_tsc = 0;
}

bool pd_pt_snapshot_take(struct pd_pt_snapshot *snapshot, struct pd_pt_decoder *d)
{
    walk_settle(d);
    if (!(d->state.type & PD_PT_PSB_EVENT) || d->state.error || d->walk != WALK_IN_SYNC ||
        d->stack.count || d->unused.tnt_count || d->loop.progress_count || d->sample.late ||
        d->input.ended || d->config.period_type == PD_PT_PERIOD_INSTRUCTIONS || d->config.log)
        return false;
    /* No time was ever told, and no samples go by it. */
    snapshot->timeless = !d->time.timestamp && !d->sample.time &&
                         d->config.period_type == PD_PT_PERIOD_NONE;
    snapshot->brief = is_brief(d);
    memcpy(&snapshot->at, d, size_of(snapshot));
    clear_own(&snapshot->at);
    clear_passing(&snapshot->at);
    clear_time(&snapshot->at.time);
    make_relative(snapshot);
    /* Without CYCs counts can be made up for only where they are zero. */
    return d->time.have_cyc || (!snapshot->at.sample.tot_cycles && !snapshot->at.state.cycles);
}

void pd_pt_snapshot_counted(const struct pd_pt_snapshot *snapshot, struct pd_pt_counted *out)
{
    *out = (struct pd_pt_counted){ .have_cyc = snapshot->at.time.have_cyc,
                                   .insns = snapshot->insns,
                                   .told_cycles = snapshot->tot_cycles +
                                                  snapshot->at.sample.tot_cycles };
}

void pd_pt_snapshot_cycles(const struct pd_pt_snapshot *snapshot, struct pd_pt_time *out)
{
    *out = (struct pd_pt_time){ .tot_cycles = snapshot->tot_cycles,
                                .base_cycles = snapshot->base_cycles,
                                .base_timestamp = snapshot->base_timestamp };
}

bool pd_pt_snapshot_counts(const struct pd_pt_snapshot *one, const struct pd_pt_snapshot *other)
{
    return one->at.time.have_cyc == other->at.time.have_cyc;
}

bool pd_pt_snapshot_same(const struct pd_pt_snapshot *one, const struct pd_pt_snapshot *other)
{
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): padding that differs only prevents a
     * match */
    return one->brief == other->brief && !memcmp(&one->at, &other->at, size_of(one));
}

static void go_to(struct pd_pt_decoder *d, const struct pd_pt_snapshot *snapshot, uint64_t insns,
                  const struct pd_pt_time *counts)
{
    struct pd_pt_decoder own;
    memcpy(&own, d, HEAD);
    memcpy(d, &snapshot->at, size_of(snapshot));
    if (snapshot->brief) {
        memset(d->items.mask, 0, sizeof d->items.mask);
        d->items.is_32_bit = false;
    }
    d->config = own.config;
    memcpy(d->code.views, own.code.views, sizeof d->code.views);
    memcpy(d->code.generations, own.code.generations, sizeof d->code.generations);
    d->code.view = d->code.views[d->modes.nr];
    d->stack.returns = own.stack.returns;
    d->stack.capacity = own.stack.capacity;
    d->learnt.tables = own.learnt.tables;
    d->learnt.known = own.learnt.known;
    d->learnt.runs = own.learnt.runs;
    d->learnt.chains = own.learnt.chains;
    d->quick.unreported = own.quick.unreported;
    d->quick.skips_code = own.quick.skips_code;
    d->watch = own.watch;
    d->pauses = own.pauses;
    d->watch_from = own.watch_from;
    d->state.items = &d->items;
    d->state.cfe.data = d->event_data_out;
    d->time.changes = own.time.changes;
    d->time.insns += insns;
    d->time.insn_base += insns;
    d->sample.insn_base += insns;
    d->time.tot_cycles += counts->tot_cycles;
    d->sample.tot_cycles += counts->tot_cycles;
    d->state.cycles += counts->tot_cycles;
    d->time.base_cycles = counts->base_cycles;
    d->time.base_timestamp = counts->base_timestamp;
}

void pd_pt_snapshot_back(struct pd_pt_decoder *d, const struct pd_pt_snapshot *snapshot)
{
    struct pd_pt_time counts;
    pd_pt_snapshot_cycles(snapshot, &counts);
    go_to(d, snapshot, snapshot->insns, &counts);
    if (!snapshot->timeless)
        return;
    d->time.insn_base = snapshot->insn_base;
    d->sample.insn_base = snapshot->sample_insn_base;
}

void pd_pt_snapshot_jump(struct pd_pt_decoder *d, const struct pd_pt_snapshot *own,
                         const struct pd_pt_snapshot *from, const struct pd_pt_snapshot *to,
                         const struct pd_pt_cycles *changes)
{
    struct pd_pt_time counts;
    pd_pt_snapshot_cycles(own, &counts);
    if (to->at.time.have_cyc)
        counts.tot_cycles += to->tot_cycles - from->tot_cycles;
    else
        pd_pt_time_recount(&counts, changes, 0, changes->list.count);
    go_to(d, to, own->insns + (to->insns - from->insns), &counts);
    if (to->timeless)
        d->time.insn_base = d->sample.insn_base = own->insn_base;
}

void pd_pt_note_cycles(struct pd_pt_decoder *d, struct pd_pt_cycles *changes)
{
    d->time.changes = changes;
}

bool pd_pt_counts_wait(const struct pd_pt_decoder *d)
{
    return d->time.sample_cyc;
}

void pd_pt_note_pauses(struct pd_pt_decoder *d, struct pd_pt_pauses *pauses)
{
    d->pauses = pauses;
}

void pd_pt_snapshot_begin(struct pd_pt_decoder *d, const struct pd_pt_snapshot *snapshot,
                          uint64_t position)
{
    pd_pt_snapshot_back(d, snapshot);
    d->input.next = d->input.at = d->input.start + (position - d->input.position);
    d->walk = WALK_NO_PSB;
}

void pd_pt_rest(const struct pd_pt_decoder *d, struct pd_pt_rest *out)
{
    *out = (struct pd_pt_rest){ .data = d->input.next,
                                .size = (size_t)(d->input.end - d->input.next),
                                .position = d->input.position +
                                            (uint64_t)(d->input.next - d->input.start),
                                .tracing = d->time.pge,
                                .insns = d->time.insns };
}
