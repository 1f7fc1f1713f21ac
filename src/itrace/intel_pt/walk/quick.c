/* SPDX-License-Identifier: MIT */
/* Without code ("q"): every TIP and FUP is an instruction. From PSB to PSB ("qq"): only theirs
 * are. */
#include "itrace/intel_pt/walk/walk.h"

static int quick_to(struct pd_pt_decoder *d, bool ends)
{
    if (ends)
        walk_trace_off(d);
    if (!d->input.packet.count) {
        walk_update_nr(d);
        return STEP_ON;
    }
    walk_set_ip(d);
    if (ends) {
        d->state.type |= PD_PT_TRACE_END;
        d->state.from_ip = 0;
        d->state.to_ip = d->place.ip;
    } else {
        walk_report(d, PD_PT_INSTRUCTION);
    }
    walk_update_nr(d);
    walk_take_iflag(d);
    return STEP_DONE;
}

static int quick_fup(struct pd_pt_decoder *d, bool *no_tip)
{
    if (!d->input.packet.count)
        return STEP_ON;
    walk_set_ip(d);
    if (d->pending.mwait || d->pending.pwre || !d->config.branches || !d->time.pge)
        *no_tip = true;
    if (*no_tip) {
        walk_report(d, PD_PT_INSTRUCTION);
        walk_event(d, true);
        return STEP_DONE;
    }
    walk_event(d, false);
    d->state.type |= PD_PT_INSTRUCTION | PD_PT_BRANCH;
    int error = walk_fup_tip(d);
    if (!error && d->state.to_ip)
        d->walk = WALK_RESAMPLE;
    return error;
}

/* Behind a PSB: its step. */
static int quick_behind_psb(struct pd_pt_decoder *d)
{
    if (d->place.psb_ip) {
        d->state.type |= PD_PT_INSTRUCTION;
        d->place.ip = d->place.psb_ip;
        walk_forget_node(d);
    }
    return STEP_DONE;
}

/* The caller wants to see each PSB. */
static bool wants_each(const struct pd_pt_decoder *d)
{
    return d->config.wanted & (PD_PT_PSB_EVENT | PD_PT_INSTRUCTION) || d->watch;
}

/* A TSC packet below this would come before the limit, with the time going on as the packets say.
 * 0: not known, or each PSB is to be seen. */
static uint64_t psb_jumps_below(const struct pd_pt_decoder *d)
{
    const uint64_t whole = UINT64_C(1) << 56, tsc = d->time.timestamp;
    if (wants_each(d) || !tsc || d->time.reference || d->time.tsc != tsc || d->limit <= tsc)
        return 0;
    return d->limit / whole > tsc / whole ? whole : d->limit % whole;
}

static int quick_psb(struct pd_pt_decoder *d)
{
    walk_note_psb(d);
    int error = walk_psb(d);
    if (error)
        return error;
    d->quick.psb_jump_at = 0;
    const uint64_t below = d->quick.only_psbs && d->config.psb_jumps ? psb_jumps_below(d) : 0;
    if (!below ||
        !d->config.psb_jumps(d->config.data, d->state.psb_offset, below, &d->quick.psb_jumps))
        d->quick.psb_jumps.list = NULL;
    return quick_behind_psb(d);
}

int walk_psb_jump(struct pd_pt_decoder *d)
{
    /* the next one is read: it says what else is known there */
    if (d->quick.psb_jump_at == d->quick.psb_jumps.count) {
        d->quick.psb_jumps.list = NULL;
        d->config.psb_jump_to(d->config.data, d->quick.psb_jumps.resume);
        int error = walk_next_buffer(d, false);
        return error ? error : walk_trace(d);
    }
    const struct pd_pt_psb_jump *psb_jump = &d->quick.psb_jumps.list[d->quick.psb_jump_at++];
    d->state.psb_offset = d->quick.psb_jumps.base + psb_jump->offset;
    walk_enter_psb(d);
    pd_pt_time_tsc(&d->time, psb_jump->tsc, false);
    if (d->quick.psb_jumps.has_tma && d->time.rate.tsc_ctc_d)
        pd_pt_time_count_cycles(&d->time);
    d->place.psb_ip = d->place.last_ip = psb_jump->ip;
    d->time.pge |= psb_jump->ip != 0;
    d->state.type = PD_PT_PSB_EVENT;
    d->state.from_ip = d->place.psb_ip;
    d->state.to_ip = 0;
    return quick_behind_psb(d);
}

bool walk_without_code(struct pd_pt_decoder *d)
{
    if (d->input.packet.kind == PD_PT_TNT)
        return true;
    if (d->input.packet.kind != PD_PT_TIP || !d->input.packet.count ||
        d->time.timestamp >= d->limit || d->modes.iflag != d->modes.next_iflag ||
        (d->modes.pip & 1) != d->modes.nr || d->time.cbr != d->modes.cbr_seen)
        return false;
    walk_set_ip(d);
    d->modes.next_nr = d->modes.nr;
    walk_take_counts(d);
    return true;
}

/* A packet while in sync; STEP_CURRENT: as when decoding is not quick. */
int walk_quick(struct pd_pt_decoder *d, bool *no_tip)
{
    for (;;) {
        int how;
        if (d->quick.only_psbs && d->input.packet.kind != PD_PT_PSB) {
            walk_unread(d);
            how = walk_find_psb(d);
            if (how)
                return how;
            if (d->walk == WALK_NO_PSB) { /* in a buffer that decoding begins anew with */
                walk_unread(d);
                return STEP_AGAIN;
            }
        }
        switch (d->input.packet.kind) {
        case PD_PT_TNT: return STEP_ON;
        case PD_PT_TIP_PGD: return quick_to(d, true);
        case PD_PT_TIP: return quick_to(d, false);
        case PD_PT_FUP: return quick_fup(d, no_tip);
        case PD_PT_PSB:
            how = quick_psb(d);
            if (how != STEP_CURRENT)
                return how;
            break; /* a packet that does not belong into PSB+ */
        default: return STEP_CURRENT;
        }
    }
}
