/* SPDX-License-Identifier: MIT */
/* Packets of events (PTWRITE, power, PEBS, CFE) -> what a step tells of them. */
#include "itrace/intel_pt/walk/walk.h"

void walk_clear_pending(struct pd_pt_decoder *d)
{
    d->pending = (struct walk_pending){ 0 };
}

/* ---- events at a FUP ---- */

static void take_cfe(struct pd_pt_decoder *d)
{
    struct walk_pending *pending = &d->pending;
    bool ip = pending->cfe_ip;
    d->state.type |= PD_PT_EVENT;
    if (!ip && d->time.pge)
        d->state.type |= PD_PT_BRANCH;
    if (ip || d->time.pge)
        d->state.flags |= PD_PT_FUP_IP;
    d->state.cfe.type = pending->cfe_type;
    d->state.cfe.vector = pending->cfe_vector;
    memcpy(d->event_data_out, d->event_data, d->events.data_count * sizeof d->event_data[0]);
    d->state.cfe.data = d->event_data_out;
    d->state.cfe.data_count = d->events.data_count;
    d->events.data_count = 0;
    pending->cfe = pending->cfe_ip = false;
}

static void take_tx(struct pd_pt_decoder *d)
{
    d->pending.tx = false;
    d->modes.tx_flags = d->pending.tx_flags;
    d->state.type |= PD_PT_TRANSACTION;
    if (d->modes.tx_flags & PD_PT_ABORT_TX)
        d->state.type |= PD_PT_BRANCH;
    d->state.flags = d->modes.tx_flags;
}

static void take_power(struct pd_pt_decoder *d)
{
    struct walk_pending *pending = &d->pending;
    if (pending->mwait) {
        d->state.type |= PD_PT_MWAIT_OP;
        d->state.payload.mwait = pending->mwait_payload;
    }
    if (pending->pwre) {
        d->state.type |= PD_PT_PWR_ENTRY;
        d->state.payload.pwre = pending->pwre_payload;
    }
    if (pending->exstop) {
        d->state.type |= PD_PT_EX_STOP;
        d->state.flags |= PD_PT_FUP_IP;
    }
    pending->mwait = pending->pwre = pending->exstop = false;
}

static bool take_overflow(struct pd_pt_decoder *d)
{
    d->events.overflow = false;
    if (d->time.pge)
        return false;
    if (d->quick.on)
        d->walk = WALK_RESAMPLE;
    d->time.pge = true;
    d->state.type = PD_PT_BRANCH | PD_PT_TRACE_BEGIN;
    d->state.from_ip = 0;
    d->state.to_ip = d->place.ip;
    d->state.insn_op = PD_INSN_OTHER;
    d->state.insn_length = 0;
    return true;
}

/* What waited for this FUP is put into the step. False: nothing did. */
bool walk_event(struct pd_pt_decoder *d, bool no_tip)
{
    struct walk_pending *pending = &d->pending;
    if (!walk_is_pending(pending)) {
        if (d->events.overflow)
            return take_overflow(d);
        return false;
    }
    bool sample = pending->mode_exec && no_tip;
    d->state.type &= ~PD_PT_BRANCH;
    if (pending->cfe || pending->cfe_ip)
        take_cfe(d);
    if (pending->mode_exec) {
        pending->mode_exec = false;
        walk_take_iflag(d);
    }
    if (pending->tx)
        take_tx(d);
    if (pending->ptw) {
        pending->ptw = false;
        d->state.type |= PD_PT_PTW;
        d->state.flags |= PD_PT_FUP_IP;
        d->state.payload.ptw = pending->ptw_payload;
    }
    take_power(d);
    if (pending->bep) {
        pending->bep = false;
        d->state.type |= PD_PT_BLOCK_ITEMS;
    }
    d->events.overflow = false;
    d->state.from_ip = d->place.ip;
    d->state.to_ip = 0;
    d->state.insn_op = PD_INSN_OTHER;
    d->state.insn_length = 0;
    if (sample)
        walk_sample_at_fup(d);
    return true;
}

/* ---- FUP, then TIP: an asynchronous branch ---- */

static void async_to(struct pd_pt_decoder *d, bool begins)
{
    d->state.from_ip = begins ? 0 : d->place.ip;
    d->state.to_ip = 0;
    if (d->input.packet.count) {
        walk_set_ip(d);
        d->state.to_ip = d->place.ip;
    }
    walk_update_nr(d);
    walk_take_iflag(d);
}

int walk_fup_tip(struct pd_pt_decoder *d)
{
    if (d->modes.tx_flags & PD_PT_ABORT_TX) {
        d->modes.tx_flags = 0;
        d->state.flags &= ~PD_PT_IN_TX;
        d->state.flags |= PD_PT_ABORT_TX;
    } else {
        d->state.flags |= PD_PT_ASYNC;
    }
    d->walk = WALK_IN_SYNC;
    for (;;) {
        int error = walk_next_settled(d);
        if (error)
            return error;
        switch (d->input.packet.kind) {
        case PD_PT_TIP: async_to(d, false); return STEP_DONE;
        case PD_PT_TIP_PGD:
            async_to(d, false);
            walk_trace_off(d);
            d->state.type |= PD_PT_TRACE_END;
            return STEP_DONE;
        case PD_PT_TIP_PGE:
            d->time.pge = true;
            pd_pt_time_rebase_cycles(&d->time);
            async_to(d, true);
            d->state.type |= PD_PT_TRACE_BEGIN;
            return STEP_DONE;
        case PD_PT_CBR: pd_pt_time_cbr(&d->time, (uint32_t)d->input.packet.payload); break;
        case PD_PT_MTC:
        case PD_PT_CYC: walk_status(d); break;
        case PD_PT_PIP: d->modes.pip = d->input.packet.payload; break;
        case PD_PT_MODE_EXEC: d->modes.next_iflag = d->input.packet.ip; break;
        case PD_PT_VMCS:
        case PD_PT_MNT: break;
        case PD_PT_OVF: return walk_overflow(d);
        default:
            walk_log(d, "ERROR: Missing TIP after FUP\n");
            walk_unread(d);
            d->walk = WALK_RESYNC;
            return PD_PT_MISMATCH;
        }
    }
}

int walk_overflow(struct pd_pt_decoder *d)
{
    d->modes.tx_flags = 0;
    walk_set_nr(d);
    d->time.insn_base = d->time.insns;
    d->walk = WALK_IN_SYNC;
    d->state.from_ip = d->place.ip;
    d->place.ip = 0;
    walk_forget_node(d);
    d->time.pge = false;
    walk_clear_pending(d);
    d->events.overflow = true;
    walk_log(d, "ERROR: Buffer overflow\n");
    return PD_PT_OVERFLOW;
}

/* ---- blocks of PEBS ---- */

static int block_of(uint32_t type)
{
    switch (type) {
    case 1: return PD_PT_BLOCK_GP;
    case 4: return PD_PT_BLOCK_BASIC;
    case 5: return PD_PT_BLOCK_MEMORY;
    case 8: return PD_PT_BLOCK_LBR_0;
    case 9: return PD_PT_BLOCK_LBR_1;
    case 10: return PD_PT_BLOCK_LBR_2;
    case 16: return PD_PT_BLOCK_XMM;
    default: return -1;
    }
}

void walk_block_begin(struct pd_pt_decoder *d)
{
    if (d->input.last_context == PD_PT_NO_BLOCK) {
        memset(d->items.mask, 0, sizeof d->items.mask);
        d->items.is_32_bit = false;
    }
    d->events.block = block_of(d->input.packet.extra);
    if (d->events.block == PD_PT_BLOCK_GP)
        d->items.is_32_bit = d->input.packet.count == 4;
}

void walk_block_item(struct pd_pt_decoder *d)
{
    if (d->events.block < 0 || d->input.packet.count >= 32)
        return;
    d->items.mask[d->events.block] |= UINT32_C(1) << d->input.packet.count;
    d->items.value[d->events.block][d->input.packet.count] = d->input.packet.payload;
}

bool walk_event_data(struct pd_pt_decoder *d)
{
    if (d->events.data_count >= PD_PT_MAX_EVENT_DATA)
        return false;
    d->event_data[d->events.data_count++] = (struct pd_pt_event_data){ d->input.packet.count,
                                                                       d->input.packet.payload };
    return true;
}
