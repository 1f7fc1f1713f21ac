/* SPDX-License-Identifier: MIT */
/* The state machine of a decoder: which step a packet is, and the interface of decoder.h. */
#include "itrace/intel_pt/walk/walk.h"
#include <stdlib.h>

/* ---- packets while in sync ---- */

/* A packet whose event waits for the FUP behind it, which is read here. False: none is there. */
static int event_at_fup(struct pd_pt_decoder *d, bool *fup)
{
    int error = walk_next_packet(d);
    *fup = !error && d->input.packet.kind == PD_PT_FUP;
    return error ? error : STEP_CURRENT;
}

/* The same, where all that the event does is to set `pending`, and the TIP behind it is not its
 * place. */
static int pend_at_fup(struct pd_pt_decoder *d, bool *pending, bool *no_tip)
{
    bool fup;
    int how = event_at_fup(d, &fup);
    if (fup)
        *pending = *no_tip = true;
    return how;
}

static int mode_tsx(struct pd_pt_decoder *d, bool *no_tip)
{
    uint32_t flags = (d->input.packet.payload ? PD_PT_IN_TX : 0) |
                     (d->input.packet.ip ? PD_PT_ABORT_TX : 0);
    if (!d->time.pge || d->events.in_psb) {
        d->modes.tx_flags = flags & PD_PT_IN_TX;
        return STEP_ON;
    }
    bool fup;
    int how = event_at_fup(d, &fup);
    if (!fup) {
        d->modes.tx_flags = flags & PD_PT_IN_TX;
        return how;
    }
    d->pending.tx = true;
    d->pending.tx_flags = flags;
    if (!(flags & PD_PT_ABORT_TX))
        *no_tip = true;
    return how;
}

static int mode_exec(struct pd_pt_decoder *d, bool *no_tip)
{
    d->modes.next_iflag = d->input.packet.ip;
    return pend_at_fup(d, &d->pending.mode_exec, no_tip);
}

static int ptwrite(struct pd_pt_decoder *d, bool *no_tip)
{
    uint64_t payload = d->input.packet.payload;
    if (!d->input.packet.ip) {
        d->state.payload.ptw = payload;
        return walk_report(d, PD_PT_PTW);
    }
    bool fup;
    int how = event_at_fup(d, &fup);
    if (fup) {
        d->pending.ptw = *no_tip = true;
        d->pending.ptw_payload = payload;
    }
    return how;
}

static int exstop(struct pd_pt_decoder *d, bool *no_tip)
{
    if (!d->input.packet.ip)
        return walk_report(d, PD_PT_EX_STOP);
    return pend_at_fup(d, &d->pending.exstop, no_tip);
}

static int block_end(struct pd_pt_decoder *d, bool *no_tip)
{
    if (!d->input.packet.ip)
        return walk_report(d, PD_PT_BLOCK_ITEMS);
    return pend_at_fup(d, &d->pending.bep, no_tip);
}

static int control_flow_event(struct pd_pt_decoder *d, bool *no_tip)
{
    bool with_ip = d->input.packet.ip;
    d->pending.cfe_type = d->input.packet.count;
    d->pending.cfe_vector = (uint8_t)d->input.packet.payload;
    if (!with_ip) {
        d->pending.cfe = true;
        if (d->time.pge)
            return STEP_ON;
        walk_event(d, true);
        return STEP_DONE;
    }
    return pend_at_fup(d, &d->pending.cfe_ip, no_tip);
}

static int power_entry(struct pd_pt_decoder *d)
{
    if (d->pending.mwait) {
        d->pending.pwre = true;
        d->pending.pwre_payload = d->input.packet.payload;
        return STEP_ON;
    }
    d->state.payload.pwrx =
        d->input.packet.payload; /* as perf has it: the step shows the last pwre_payload */
    return walk_report(d, PD_PT_PWR_ENTRY);
}

static int fup(struct pd_pt_decoder *d, bool *no_tip)
{
    if (!walk_set_last_ip(d)) {
        walk_log_at(d, "Skipping zero FUP at", walk_position(d));
        *no_tip = false;
        return STEP_ON;
    }
    if (!d->config.branches || !d->time.pge) {
        d->place.ip = d->place.last_ip;
        walk_forget_node(d);
        if (walk_event(d, *no_tip))
            return STEP_DONE;
        *no_tip = false;
        return STEP_ON;
    }
    if (d->pending.mwait)
        *no_tip = true;
    d->walk = *no_tip ? WALK_FUP_NO_TIP : WALK_FUP;
    int how = walk_fup(d);
    if (how != STEP_THERE)
        return how;
    if (*no_tip) {
        *no_tip = false;
        return STEP_ON;
    }
    return walk_fup_tip(d);
}

/* Reads PSB+ behind the walk to its FUP: an error in PSB+ means that the walk was wrong. */
static int psb_after_fup(struct pd_pt_decoder *d)
{
    d->walk = WALK_IN_SYNC;
    int how = walk_psb(d);
    if (how == STEP_DONE || how == STEP_AGAIN || how == PD_PT_NO_DATA)
        return how;
    d->walk = WALK_RESYNC;
    return PD_PT_MISMATCH;
}

/* A PSB in sync: first walks to where its FUP says that the walk will be. */
static int psb(struct pd_pt_decoder *d)
{
    struct pd_pt_packet fup;
    walk_note_psb(d);
    if (d->config.branches && d->time.pge && walk_fup_in_psb(d, &fup)) {
        d->place.last_ip = 0;
        pd_pt_ip(&fup, &d->place.last_ip);
        d->place.have_last_ip = true;
        if (d->place.ip == d->place.last_ip) /* no step that a sample could be due in */
            return psb_after_fup(d);
        d->walk = WALK_FUP_IN_PSB;
        int how = walk_fup(d);
        return how == STEP_THERE ? psb_after_fup(d) : how;
    }
    return walk_psb(d);
}

static int pge(struct pd_pt_decoder *d)
{
    d->time.pge = true;
    d->events.overflow = false;
    pd_pt_time_rebase_cycles(&d->time);
    walk_set_nr(d);
    if (!d->input.packet.count) {
        walk_log_at(d, "Skipping zero TIP.PGE at", walk_position(d));
        return STEP_ON;
    }
    walk_take_iflag(d);
    walk_set_ip(d);
    d->state.from_ip = 0;
    d->state.to_ip = d->place.ip;
    d->state.type |= PD_PT_TRACE_BEGIN;
    if (d->quick.on)
        d->walk = WALK_RESAMPLE;
    return STEP_DONE;
}

static int tip(struct pd_pt_decoder *d)
{
    bool ends = d->input.packet.kind == PD_PT_TIP_PGD;
    if (ends && d->time.uncalibrated)
        walk_settle_vain(d);
    walk_settle(d);
    d->walk = ends ? WALK_TIP_PGD : WALK_TIP;
    d->unused.tip_has_ip = walk_set_last_ip(d);
    return walk_tip(d);
}

static int cbr(struct pd_pt_decoder *d)
{
    pd_pt_time_cbr(&d->time, (uint32_t)d->input.packet.payload);
    if (d->time.cbr == d->modes.cbr_seen)
        return STEP_ON;
    d->state.type = 0;
    return STEP_DONE;
}

static int go_on_with_tnt(struct pd_pt_decoder *d)
{
    if (d->quick.unreported && d->time.timestamp < d->limit && !d->events.emulated_ptwrite) {
        walk_tnt_unreported(d);
        if (!d->unused.tnt_count)
            return STEP_ON;
    }
    walk_settle(d);
    return walk_tnt(d);
}

static int tnt(struct pd_pt_decoder *d)
{
    if (!d->input.packet.count)
        return STEP_ON;
    d->unused.tnt = d->input.packet.payload;
    d->unused.tnt_count = d->input.packet.count;
    d->walk = WALK_TNT;
    return go_on_with_tnt(d);
}

/* STEP_ON: the next packet; STEP_CURRENT: another packet has been read instead. */
static int other_packet(struct pd_pt_decoder *d, bool *no_tip)
{
    switch (d->input.packet.kind) {
    case PD_PT_TIP_PGE: return pge(d);
    case PD_PT_FUP: return fup(d, no_tip);
    case PD_PT_OVF: return walk_overflow(d);
    case PD_PT_TRACESTOP:
        walk_trace_off(d);
        d->modes.tx_flags = 0;
        d->time.ctc.have_tma = false;
        return STEP_ON;
    case PD_PT_PSB: return psb(d);
    case PD_PT_PIP: d->modes.pip = d->input.packet.payload; return STEP_ON;
    case PD_PT_CBR: return cbr(d);
    case PD_PT_MODE_EXEC: return mode_exec(d, no_tip);
    case PD_PT_MODE_TSX: return mode_tsx(d, no_tip);
    case PD_PT_PTWRITE: return ptwrite(d, no_tip);
    case PD_PT_MWAIT:
        d->pending.mwait = true;
        d->pending.mwait_payload = d->input.packet.payload;
        return STEP_ON;
    case PD_PT_PWRE: return power_entry(d);
    case PD_PT_EXSTOP: return exstop(d, no_tip);
    case PD_PT_PWRX:
        d->state.payload.pwrx = d->input.packet.payload;
        return walk_report(d, PD_PT_PWR_EXIT);
    case PD_PT_BBP: walk_block_begin(d); return STEP_ON;
    case PD_PT_BIP: walk_block_item(d); return STEP_ON;
    case PD_PT_BEP: return block_end(d, no_tip);
    case PD_PT_CFE: return control_flow_event(d, no_tip);
    case PD_PT_EVD: return walk_event_data(d) ? STEP_ON : PD_PT_INTERNAL;
    default: walk_status(d); return STEP_ON;
    }
}

static int on(struct pd_pt_decoder *d, bool *no_tip)
{
    if (d->input.packet.kind != PD_PT_CYC && d->input.packet.kind != PD_PT_MTC)
        walk_settle(d);
    return walk_quick(d, no_tip);
}

int walk_trace(struct pd_pt_decoder *d)
{
    bool no_tip = false;
    int how = STEP_ON;
    for (;;) {
        if (d->quick.unreported && how == STEP_ON && walk_unreported(d)) {
            how = go_on_with_tnt(d);
            if (how != STEP_ON)
                return how;
        }
        if (how != STEP_CURRENT) {
            how = walk_next_packet_here(d);
            if (PD_UNLIKELY(how)) {
                walk_settle(d);
                return how;
            }
        }
        if (d->config.cyc_threshold && d->time.sample_cyc && !walk_after_cyc(d))
            d->time.sample_cyc = false;
        if (d->quick.skips_code && walk_without_code(d)) {
            how = STEP_ON;
            continue;
        }
        how = d->quick.on ? on(d, &no_tip) : STEP_CURRENT;
        if (how == STEP_CURRENT) {
            switch (d->input.packet.kind) {
            case PD_PT_TNT: how = tnt(d); break;
            case PD_PT_TIP:
            case PD_PT_TIP_PGD: how = tip(d); break;
            case PD_PT_CYC:
                if (PD_UNLIKELY(d->config.log != NULL))
                    walk_status_logged(d);
                else
                    walk_cyc(d, d->input.packet.payload);
                how = STEP_ON;
                break;
            case PD_PT_MTC:
                walk_status(d);
                how = STEP_ON;
                break;
            default: walk_settle(d); how = other_packet(d, &no_tip);
            }
        }
        if (how != STEP_ON && how != STEP_CURRENT)
            return how;
    }
}

/* ---- steps ---- */

static int go_on_with_fup(struct pd_pt_decoder *d)
{
    bool no_tip = d->walk != WALK_FUP, psb_first = d->walk == WALK_FUP_IN_PSB;
    int how = walk_fup(d);
    if (how != STEP_THERE)
        return how;
    if (!no_tip)
        return walk_fup_tip(d);
    return psb_first ? psb_after_fup(d) : walk_trace(d);
}

static int one_step(struct pd_pt_decoder *d)
{
    int how;
    d->state.type = PD_PT_BRANCH;
    d->state.flags = 0;
    switch (d->walk) {
    case WALK_NO_PSB: return walk_sync(d);
    case WALK_NO_IP:
        d->place.have_last_ip = false;
        d->place.last_ip = d->place.ip = 0;
        walk_forget_node(d);
        return walk_sync_ip(d);
    case WALK_RESYNC: return walk_sync_ip(d);
    case WALK_IN_SYNC: return d->quick.psb_jumps.list ? walk_psb_jump(d) : walk_trace(d);
    case WALK_TNT:
    case WALK_TNT_MORE: how = go_on_with_tnt(d); return how == STEP_ON ? walk_trace(d) : how;
    case WALK_TIP:
    case WALK_TIP_PGD: return walk_tip(d);
    case WALK_FUP:
    case WALK_FUP_NO_TIP:
    case WALK_FUP_IN_PSB: return go_on_with_fup(d);
    case WALK_RESAMPLE: d->walk = WALK_IN_SYNC; return walk_report(d, PD_PT_INSTRUCTION);
    default: return PD_PT_INTERNAL;
    }
}

/* The estimate is asked for only with these steps: see pd_pt_state. */
PD_INLINE bool is_estimated(const struct pd_pt_decoder *d)
{
    const struct pd_pt_state *state = &d->state;
    uint64_t kernel = d->config.kernel_start;
    return state->error || (state->to_ip && (!state->from_ip || state->from_ip >= kernel ||
                                             state->to_ip >= kernel));
}

static void finish_error(struct pd_pt_decoder *d, int error)
{
    d->state.error = (enum pd_pt_error)error;
    if (error == PD_PT_INTERNAL)
        d->walk = WALK_NO_PSB;
    if (error != PD_PT_OVERFLOW)
        d->state.from_ip = d->place.ip;
    walk_take_time(d);
    walk_take_total(d);
    walk_set_nr(d);
}

static void finish_good(struct pd_pt_decoder *d)
{
    struct pd_pt_state *state = &d->state;
    state->error = PD_PT_OK;
    if (d->time.cbr != d->modes.cbr_seen) {
        d->modes.cbr_seen = d->time.cbr;
        if (!state->type) {
            state->from_ip = d->place.ip;
            state->to_ip = 0;
        }
        state->type |= PD_PT_CBR_CHANGE;
    }
    if (d->walk <= WALK_TIMED) {
        if (walk_take_counts(d))
            state->flags |= PD_PT_SAMPLE_IPC;
    }
    if (!d->time.have_cyc)
        state->flags |= PD_PT_SAMPLE_IPC;
}

static void use_view(struct pd_pt_decoder *d)
{
    struct pd_code_view *view = d->code.views[d->modes.nr];
    if (view == d->code.view)
        return;
    d->code.view = view;
    d->stack.stale = d->stack.count;
    walk_forget_node(d);
}

static void finish_step(struct pd_pt_decoder *d, int error)
{
    struct pd_pt_state *state = &d->state;
    state->last_timestamp = PD_MAX(state->last_timestamp, d->sample.time);
    if (PD_UNLIKELY(error))
        finish_error(d, error);
    else
        finish_good(d);
    if ((state->type & PD_PT_PSB_EVENT) && d->time.tsc)
        d->sample.time = d->time.tsc;
    state->from_nr = d->modes.nr;
    state->to_nr = d->modes.nr = d->modes.next_nr;
    use_view(d);
    if (!(state->type & PD_PT_IF_CHANGE))
        state->from_if = state->to_if = d->modes.iflag;
    state->timestamp = d->sample.time;
    state->est_timestamp = 0;
    if (PD_UNLIKELY(is_estimated(d)))
        state->est_timestamp = d->sample.time +
                               walk_estimate(d, d->time.insns - d->sample.insn_base);
    state->tot_insn_cnt = d->time.insns;
    state->tot_cyc_cnt = d->sample.tot_cycles;
    state->cbr = d->time.cbr;
    state->cbr_payload = d->time.cbr_payload;
}

bool pd_pt_is_near(const struct pd_pt_decoder *d)
{
    if (d->config.period_type != PD_PT_PERIOD_TICKS || !d->config.near_ticks)
        return false;
    uint64_t now = walk_time(d) + 1, masked = now & d->period.mask;
    if (!d->period.continuous &&
        masked > d->period.last_masked_time) /* a period begins, without a sample */
        return d->period.ticks - (now - masked) <= d->config.near_ticks;
    return !walk_ticks_far(d);
}

bool pd_pt_is_at_place(const struct pd_pt_decoder *d)
{
    const struct pd_pt_state *state = &d->state;
    return PD_UNLIKELY(d->config.watches_ips) && !state->error && state->type & PD_PT_BRANCH &&
           (!state->to_ip || walk_is_place(d, state->to_ip));
}

/* Whether the caller must see the step even though it asked for other steps. */
static bool is_wanted(const struct pd_pt_decoder *d, uint64_t limit)
{
    const struct pd_pt_state *state = &d->state;
    if (state->error || (state->type & d->config.wanted) || state->timestamp >= limit ||
        pd_pt_is_near(d) || (state->type & d->watch && state->psb_offset >= d->watch_from) ||
        pd_pt_is_at_place(d))
        return true;
    return d->config.timeful && state->to_ip && state->to_ip < d->config.kernel_start &&
           (!state->from_ip || state->from_ip >= d->config.kernel_start);
}

static void tell_skipped(struct pd_pt_decoder *d)
{
    walk_settle(d);
    d->state.skipped_timestamp = d->untold.time;
}

const struct pd_pt_state *pd_pt_decode(struct pd_pt_decoder *d, uint64_t limit)
{
    d->limit = limit;
    d->state.last_timestamp = d->state.skipped_timestamp = 0;
    d->untold.skipped = d->untold.late = false;
    do {
        int how;
        do {
            how = one_step(d);
        } while (how == STEP_AGAIN);
        if (how == PD_PT_NO_DATA)
            return NULL;
        finish_step(d, how);
    } while (!is_wanted(d, limit));
    if (d->untold.skipped)
        tell_skipped(d);
    return &d->state;
}

/* ---- making one ---- */

void pd_pt_log_settings(struct pd_pt_decoder *d)
{
    const struct pd_pt_time *time = &d->time;
    if (!d->config.log)
        return;
    walk_log(d, "timestamp: mtc_shift %u\n", time->rate.mtc_shift);
    walk_log(d, "timestamp: tsc_ctc_ratio_n %llu\n", (unsigned long long)time->rate.tsc_ctc_n);
    walk_log(d, "timestamp: tsc_ctc_ratio_d %llu\n", (unsigned long long)time->rate.tsc_ctc_d);
    walk_log(d, "timestamp: tsc_ctc_mult %llu\n", (unsigned long long)time->rate.tsc_ctc_mult);
    walk_log(d, "timestamp: tsc_slip 0x%x\n", PD_PT_TSC_SLIP);
    if (d->quick.on)
        walk_log(d, "Hop mode: decoding FUP and TIPs, but not TNT\n");
}

static void set_period(struct pd_pt_decoder *d)
{
    uint64_t ticks = d->config.period;
    if (!ticks)
        ticks = 1;
    /* A power of two, so that a mask tells periods apart. */
    d->period.ticks = UINT64_C(1) << (63 - __builtin_clzll(ticks));
    d->period.mask = ~(d->period.ticks - 1);
    if (!d->config.period)
        d->config.period_type = PD_PT_PERIOD_NONE;
}

static bool take_tables(struct pd_pt_decoder *d)
{
    d->learnt.tables = d->config.tables ? d->config.tables : pd_pt_tables_new();
    if (!d->learnt.tables)
        return false;
    d->learnt.known = d->learnt.tables->known;
    d->learnt.runs = d->learnt.tables->runs;
    d->learnt.chains = &d->learnt.tables->chains;
    return true;
}

struct pd_pt_decoder *pd_pt_decoder_new(const struct pd_pt_config *config)
{
    struct pd_pt_decoder *d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->config = *config;
    if (!take_tables(d)) {
        free(d);
        return NULL;
    }
    if (!d->config.max_loops)
        d->config.max_loops = PD_PT_MAX_LOOPS;
    d->quick.on = config->quick >= 1;
    d->quick.only_psbs = config->quick >= 2;
    pd_pt_set_wanted(d, config->wanted);
    d->walk = WALK_NO_PSB;
    d->events.block = -1;
    d->state.items = &d->items;
    d->state.cfe.data = d->event_data_out;
    set_period(d);
    pd_pt_time_init(&d->time, config->tsc_ctc_n, config->tsc_ctc_d, config->mtc_shift,
                    config->max_non_turbo_ratio);
    return d;
}

void pd_pt_decoder_free(struct pd_pt_decoder *d)
{
    if (!d)
        return;
    free(d->stack.returns);
    if (!d->config.tables)
        free(d->learnt.tables);
    free(d);
}

const struct pd_pt_config *pd_pt_config_of(const struct pd_pt_decoder *d)
{
    return &d->config;
}

static void forget_nodes(struct pd_pt_decoder *d)
{
    d->stack.stale = d->stack.count;
    walk_forget_node(d);
}

void pd_pt_forget_code(struct pd_pt_decoder *d)
{
    walk_clear_tables(d->learnt.tables);
    forget_nodes(d);
}

/* A generation is the kernel's, which many views share: it counts whichever view was in use
 * before. */
static bool is_newer(uint64_t *generation, const struct pd_code_view *view)
{
    if (!view || *generation == view->generation)
        return false;
    *generation = view->generation;
    return true;
}

void pd_pt_set_code(struct pd_pt_decoder *d, struct pd_code_view *host, struct pd_code_view *guest)
{
    struct pd_code_view *views[2] = { host, guest };
    for (unsigned i = 0; i < 2; i++) {
        /* Nodes have died. */
        if (is_newer(&d->learnt.tables->generations[i], views[i]))
            walk_clear_tables(d->learnt.tables);
        if (is_newer(&d->code.generations[i], views[i]))
            forget_nodes(d);
        d->code.views[i] = views[i];
    }
    use_view(d);
}

void pd_pt_watch(struct pd_pt_decoder *d, uint32_t types, uint64_t from)
{
    d->watch = types;
    d->watch_from = from;
}

void pd_pt_watch_ips(struct pd_pt_decoder *d, uint64_t one, uint64_t other)
{
    d->config.watches_ips = true;
    d->config.watch_ips[0] = one;
    d->config.watch_ips[1] = other;
    walk_clear_tables(d->learnt.tables);
}

/* Whether samples are so close to each other that leaving out what is between them is not worth
 * it. */
static bool samples_often(const struct pd_pt_decoder *d)
{
    enum { CLOSE = 16 };
    return d->config.period_type != PD_PT_PERIOD_NONE && d->config.period < CLOSE;
}

void pd_pt_set_wanted(struct pd_pt_decoder *d, uint32_t wanted)
{
    d->config.wanted = wanted;
    bool unreported = !d->config.log &&
                      !(wanted & (PD_PT_BRANCH | PD_PT_TRACE_BEGIN | PD_PT_TRACE_END)) &&
                      !((wanted & PD_PT_INSTRUCTION) && samples_often(d));
    d->quick.unreported = !d->quick.on && unreported;
    d->quick.skips_code = d->quick.on && !d->quick.only_psbs && unreported &&
                          !(wanted & PD_PT_INSTRUCTION) && !d->config.cyc_threshold;
}

const char *pd_pt_error_text(unsigned error)
{
    static const char *const text[] = { "",
                                        "Memory allocation failed",
                                        "Internal error",
                                        "Bad packet",
                                        "No more data",
                                        "Failed to get instruction",
                                        "Trace doesn't match instruction",
                                        "Overflow packet",
                                        "Lost trace data",
                                        "Unknown error!",
                                        "Never-ending loop (refer perf config intel-pt.max-loops)",
                                        "Broken emulated ptwrite" };
    return error && error < PD_LENGTH(text) ? text[error] : "Unknown error!";
}

static uint64_t payload_of(const struct pd_pt_state *state)
{
    return state->type & PD_PT_PTW          ? state->payload.ptw
           : state->type & PD_PT_MWAIT_OP   ? state->payload.mwait
           : state->type & PD_PT_PWR_ENTRY  ? state->payload.pwre
           : state->type & PD_PT_PWR_EXIT   ? state->payload.pwrx
           : state->type & PD_PT_CBR_CHANGE ? state->cbr
           : state->type & PD_PT_PSB_EVENT  ? state->psb_offset
                                            : 0;
}

struct pd_pt_step pd_pt_step_of(const struct pd_pt_state *state)
{
    const bool lost = state->error != PD_PT_OK;
    return (struct pd_pt_step){
        .type = lost ? 0 : state->type & PD_PT_ALL_STEPS,
        .flags = state->flags & (PD_PT_IN_TX | PD_PT_ABORT_TX | PD_PT_ASYNC | PD_PT_FUP_IP),
        .error = state->error,
        .insn_length = lost || state->insn_ip != state->from_ip ? 0 : state->insn_length,
        .from = state->from_ip,
        .to = lost ? 0 : state->to_ip,
        .tsc = state->timestamp,
        .insns = state->tot_insn_cnt,
        .cycles = state->tot_cyc_cnt,
        .payload = lost ? 0 : payload_of(state),
        .pid = UINT32_MAX,
        .tid = UINT32_MAX,
        .cpu = UINT32_MAX,
    };
}
