/* SPDX-License-Identifier: MIT */
/* Packets -> the time at each, without code. */
#include "itrace/intel_pt/clock.h"

void pd_pt_clock_init(struct pd_pt_clock *clock, const struct pd_pt_info *info,
                      const struct pd_pt_modes *modes)
{
    uint64_t ratio = info->max_non_turbo_ratio;
    if (!ratio)
        ratio = (pd_ns_to_ticks(&info->time, 1000000000) + 50000000) / 100000000;
    memset(clock, 0, sizeof *clock);
    pd_pt_time_init(&clock->time, info->tsc_ctc_n, info->tsc_ctc_d, modes->mtc_shift,
                    (unsigned)ratio);
}

void pd_pt_clock_buffer(struct pd_pt_clock *clock, uint64_t reference, bool consecutive)
{
    if (!consecutive) {
        pd_pt_time_reposition(&clock->time, reference);
        clock->in_psb = clock->after_cyc = false;
    }
    clock->time.buffer_reference = reference;
}

void pd_pt_clock_packet(struct pd_pt_clock *clock, const struct pd_pt_packet *packet,
                        const uint8_t *bytes, size_t left, enum pd_pt_context context)
{
    struct pd_pt_time *time = &clock->time;
    switch (packet->kind) {
    case PD_PT_PSB: clock->in_psb = true; break;
    case PD_PT_TSC: pd_pt_time_tsc(time, packet->payload, clock->after_cyc); break;
    case PD_PT_TMA:
        pd_pt_time_tma(time, (uint32_t)packet->payload, packet->extra, clock->in_psb);
        break;
    case PD_PT_CBR: pd_pt_time_cbr(time, (uint32_t)packet->payload); break;
    case PD_PT_CYC: pd_pt_time_cyc(time, packet->payload); break;
    case PD_PT_MTC:
        if (pd_pt_time_mtc(time, (uint32_t)packet->payload, clock->after_cyc))
            pd_pt_time_calibrate(time, bytes, left, context, true);
        break;
    case PD_PT_TIP_PGE: time->pge = true; break;
    case PD_PT_TIP_PGD:
    case PD_PT_TRACESTOP: time->pge = false; break;
    case PD_PT_BAD: time->ctc.have_tma = false; break;
    default: break;
    }
    if (packet->kind == PD_PT_PSBEND || packet->kind == PD_PT_OVF)
        clock->in_psb = false;
    if (packet->kind == PD_PT_TRACESTOP)
        time->ctc.have_tma = false;
    if (packet->kind != PD_PT_PAD)
        clock->after_cyc = packet->kind == PD_PT_CYC;
}
