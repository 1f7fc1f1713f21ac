/* SPDX-License-Identifier: MIT */
/* Where a walk begins, or begins again after an error: at the next PSB, or with the next packet
 * that has an address. */
#include "itrace/intel_pt/walk/walk.h"

/* ---- packets that tell of time and state ---- */

void walk_settle_late(struct pd_pt_decoder *d)
{
    bool calibrate = d->time.uncalibrated;
    d->time.uncalibrated = false;
    d->time.max_cycles = 0;
    if (calibrate) /* from the packet that has been read, but not yet acted; an MTC put it off */
        pd_pt_time_calibrate(&d->time, d->input.at, (size_t)(d->input.end - d->input.at),
                             PD_PT_NO_BLOCK, walk_after_cyc(d) || d->input.last_kind == PD_PT_MTC);
    walk_apply_late(d);
}

/* Ends a calibration in vain: its search would have ended here, at a packet behind which nothing is
 * looked for. */
void walk_settle_vain(struct pd_pt_decoder *d)
{
    d->time.uncalibrated = false;
    d->time.max_cycles = 0;
    walk_apply_late(d);
}

static void mtc(struct pd_pt_decoder *d)
{
    uint32_t payload = (uint32_t)d->input.packet.payload;
    if (d->time.uncalibrated && walk_after_cyc(d)) {
        pd_pt_time_found(&d->time, payload);
        walk_apply_late(d);
    }
    walk_settle(d);
    if (!pd_pt_time_mtc(&d->time, payload, walk_after_cyc(d)))
        return;
    if (d->input.context == PD_PT_NO_BLOCK && walk_may_be_late(d) && walk_put_off(d, true))
        return;
    pd_pt_time_calibrate(&d->time, d->input.next, (size_t)(d->input.end - d->input.next),
                         d->input.context, true);
}

bool walk_status_now(struct pd_pt_decoder *d)
{
    switch (d->input.packet.kind) {
    case PD_PT_CYC: pd_pt_time_cyc(&d->time, d->input.packet.payload); return true;
    case PD_PT_MTC: mtc(d); return true;
    case PD_PT_TSC:
        pd_pt_time_tsc(&d->time, d->input.packet.payload, walk_after_cyc(d));
        return true;
    case PD_PT_TMA:
        pd_pt_time_tma(&d->time, (uint32_t)d->input.packet.payload, d->input.packet.extra,
                       d->events.in_psb);
        return true;
    case PD_PT_CBR: pd_pt_time_cbr(&d->time, (uint32_t)d->input.packet.payload); return true;
    case PD_PT_PAD:
    case PD_PT_MNT:
    case PD_PT_VMCS: return true;
    default: return false;
    }
}

/* The same where packets tell of the state instead of changing it: in PSB+ and while an address is
 * looked for. */
static bool state_packet(struct pd_pt_decoder *d)
{
    switch (d->input.packet.kind) {
    case PD_PT_PIP:
        d->modes.pip = d->input.packet.payload;
        walk_set_nr(d);
        return true;
    case PD_PT_MODE_EXEC: d->modes.iflag = d->modes.next_iflag = d->input.packet.ip; return true;
    case PD_PT_MODE_TSX: d->modes.tx_flags = d->input.packet.payload ? PD_PT_IN_TX : 0; return true;
    default: return walk_status(d);
    }
}

static void trace_stopped(struct pd_pt_decoder *d)
{
    walk_trace_off(d);
    d->modes.tx_flags = 0;
}

void walk_enter_psb(struct pd_pt_decoder *d)
{
    d->place.psb_ip = d->place.last_ip = 0;
    d->place.have_last_ip = true;
    walk_reset_returns(d);
}

/* ---- PSB+ while the walk is in sync ---- */

static int psb_plus(struct pd_pt_decoder *d)
{
    for (;;) {
        int error = walk_next_settled(d);
        if (error)
            return error;
        switch (d->input.packet.kind) {
        case PD_PT_PSBEND: return STEP_DONE;
        case PD_PT_OVF: return walk_overflow(d);
        case PD_PT_FUP:
            d->time.pge = true;
            if (walk_set_last_ip(d))
                d->place.psb_ip = d->place.last_ip;
            break;
        default:
            if (state_packet(d))
                break;
            walk_log(d, "ERROR: Unexpected packet\n");
            d->time.ctc.have_tma = false;
            return STEP_CURRENT;
        }
    }
}

static int report_psb(struct pd_pt_decoder *d, int (*read_rest)(struct pd_pt_decoder *d))
{
    walk_enter_psb(d);
    d->events.in_psb = true;
    int error = read_rest(d);
    d->events.in_psb = false;
    if (error)
        return error;
    d->state.type = PD_PT_PSB_EVENT;
    d->state.from_ip = d->place.psb_ip;
    d->state.to_ip = 0;
    return STEP_DONE;
}

/* STEP_CURRENT: a packet that does not belong into PSB+ ended it. */
int walk_psb(struct pd_pt_decoder *d)
{
    return report_psb(d, psb_plus);
}

/* ---- PSB+ to begin with ---- */

static int begin_psb_plus(struct pd_pt_decoder *d)
{
    for (;;) {
        int error = walk_next_packet(d);
        if (error)
            return error;
        switch (d->input.packet.kind) {
        case PD_PT_PSBEND: return STEP_DONE;
        case PD_PT_PSB: break;
        case PD_PT_OVF: return walk_overflow(d);
        case PD_PT_FUP:
            d->time.pge = true;
            if (walk_have_ip(d)) {
                walk_set_ip(d);
                d->place.psb_ip = d->place.ip;
            }
            break;
        case PD_PT_TRACESTOP:
        case PD_PT_TNT:
            if (d->input.packet.kind == PD_PT_TRACESTOP)
                trace_stopped(d);
            d->time.ctc.have_tma = false;
            d->walk = d->place.ip ? WALK_IN_SYNC : WALK_RESYNC;
            walk_log(d, "ERROR: Unexpected packet\n");
            return PD_PT_MISMATCH;
        default:
            if (state_packet(d))
                break;
            if (d->input.packet.kind == PD_PT_TIP_PGD)
                d->period.continuous = false;
            walk_log(d, "ERROR: Unexpected packet\n");
            return PD_PT_MISMATCH;
        }
    }
}

static int begin_at_psb(struct pd_pt_decoder *d)
{
    return report_psb(d, begin_psb_plus);
}

int walk_sync(struct pd_pt_decoder *d)
{
    d->place.have_last_ip = false;
    d->place.last_ip = d->place.ip = 0;
    walk_forget_node(d);
    walk_reset_returns(d);
    d->events.overflow = false;
    d->events.emulated_ptwrite = false;
    d->period.continuous = false;
    walk_clear_pending(d);
    int error = walk_find_psb(d);
    if (error)
        return error;
    error = begin_at_psb(d);
    if (error)
        return error;
    d->walk = d->quick.on && d->place.ip ? WALK_RESAMPLE : WALK_IN_SYNC;
    return STEP_DONE;
}

/* ---- after an error: any packet with an address ---- */

static int scan_for_ip(struct pd_pt_decoder *d)
{
    for (;;) {
        int error = walk_next_packet(d);
        if (error)
            return error;
        switch (d->input.packet.kind) {
        case PD_PT_TIP_PGD: walk_trace_off(d); break;
        case PD_PT_TIP_PGE:
            d->time.pge = true;
            pd_pt_time_rebase_cycles(&d->time);
            break;
        case PD_PT_TIP: d->time.pge = true; break;
        case PD_PT_FUP: break;
        case PD_PT_OVF: return walk_overflow(d);
        case PD_PT_TRACESTOP:
            trace_stopped(d);
            d->time.ctc.have_tma = false;
            continue;
        case PD_PT_PSB: walk_note_psb(d); return begin_at_psb(d);
        default: state_packet(d); continue;
        }
        if (walk_have_ip(d))
            walk_set_ip(d);
        if (!d->place.ip)
            continue;
        if (d->input.packet.kind == PD_PT_TIP_PGD)
            d->state.type |= PD_PT_TRACE_END;
        if (d->input.packet.kind == PD_PT_TIP_PGE)
            d->state.type |= PD_PT_TRACE_BEGIN;
        return STEP_DONE;
    }
}

int walk_sync_ip(struct pd_pt_decoder *d)
{
    walk_clear_pending(d);
    d->events.overflow = false;
    d->events.emulated_ptwrite = false;
    if (!d->config.branches) {
        d->walk = WALK_IN_SYNC;
        return walk_report(d, 0);
    }
    walk_log(d, "Scanning for full IP\n");
    int error = scan_for_ip(d);
    if (!error && d->place.ip)
        walk_log_at(d, "Setting IP to", d->place.ip);
    if (error || (d->state.type & PD_PT_PSB_EVENT && !d->place.ip))
        return error;
    d->walk = d->quick.on ? WALK_RESAMPLE : WALK_IN_SYNC;
    d->state.from_ip = 0;
    d->state.to_ip = d->place.ip;
    return STEP_DONE;
}

/* ---- fast forward ---- */

enum { LONGEST_PACKET = 16 }; /* what is bad may be cut when fewer bytes are left */

int pd_pt_psb_tsc(const uint8_t *at, const uint8_t *end, uint64_t *tsc)
{
    enum pd_pt_context context = PD_PT_NO_BLOCK;
    struct pd_pt_packet packet;
    for (at += 16; at < end; at += packet.size) {
        pd_pt_packet_decode(at, (size_t)(end - at), &context, &packet);
        if (packet.kind == PD_PT_BAD)
            return end - at < LONGEST_PACKET ? -1 : 0;
        if (packet.kind == PD_PT_PSBEND)
            return 0;
        if (packet.kind == PD_PT_TSC) {
            *tsc = packet.payload;
            return 1;
        }
    }
    return -1;
}

int pd_pt_first_tsc(const uint8_t *bytes, size_t size, uint64_t *tsc)
{
    for (size_t at = 0; (at = pd_pt_find_psb(bytes, size, at)) < size; at += 16) {
        int got = pd_pt_psb_tsc(bytes + at, bytes + size, tsc);
        if (got)
            return got;
    }
    return 0;
}

uint64_t pd_pt_tsc_near(uint64_t tsc, uint64_t reference)
{
    return pd_pt_time_wide(tsc, reference);
}

static void skip_buffers(struct pd_pt_decoder *d, uint64_t tsc)
{
    uint64_t first, reference;
    size_t skip = 0;
    int got;
    for (size_t n = 0; d->config.look_ahead &&
                       (got = d->config.look_ahead(d->config.data, n, &first, &reference)) >= 0;
         n++) {
        if (!got)
            continue;
        uint64_t wide = pd_pt_time_wide(first, reference);
        walk_log(d, "Buffer 1st timestamp 0x%llx ref timestamp 0x%llx\n", (unsigned long long)wide,
                 (unsigned long long)reference);
        if (wide >= tsc)
            break;
        skip = n + 1;
    }
    if (skip && d->config.skip && !d->config.log) { /* the log has each */
        d->config.skip(d->config.data, skip - 1, tsc);
        skip = 1;
    }
    while (skip-- && !d->input.ended)
        walk_next_buffer(d, true);
}

void pd_pt_fast_forward(struct pd_pt_decoder *d, uint64_t tsc)
{
    uint64_t first, wide;
    walk_log_at(d, "Fast forward towards timestamp", tsc);
    d->quick.psb_jumps.list = NULL;
    skip_buffers(d, tsc);
    if (!d->input.next && !d->input.ended)
        walk_next_buffer(d, true);
    size_t size = d->input.next ? (size_t)(d->input.end - d->input.next) : 0;
    const uint8_t *base = d->input.next, *target = NULL;
    for (size_t at = 0; size && (at = pd_pt_find_psb(base, size, at)) < size; at += 16) {
        if (pd_pt_psb_tsc(base + at, base + size, &first) <= 0)
            break;
        wide = pd_pt_time_wide(first, d->time.buffer_reference);
        if (wide >= tsc)
            break;
        walk_log_at(d, "Fast forward to next PSB timestamp", wide);
        target = base + at;
    }
    if (!target)
        return;
    d->input.next = target;
    d->place.ip = 0;
    walk_forget_node(d);
    d->walk = WALK_NO_PSB;
    pd_pt_time_reposition(&d->time, d->time.buffer_reference);
}
