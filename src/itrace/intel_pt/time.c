/* SPDX-License-Identifier: MIT */
/* TSC, TMA, MTC, CBR and CYC packets -> TSC ticks, to the tick as perf has it. */
#include "itrace/intel_pt/time.h"
#include "itrace/intel_pt/packet.h"

#define TOP_BYTE (UINT64_C(0xff) << 56)

void pd_pt_time_init(struct pd_pt_time *time, uint64_t n, uint64_t d, unsigned mtc_shift,
                     unsigned max_non_turbo)
{
    *time = (struct pd_pt_time){ .rate.tsc_ctc_n = n, .rate.tsc_ctc_d = n ? d : 0 };
    if (time->rate.tsc_ctc_d && n % d == 0)
        time->rate.tsc_ctc_mult = n / d;
    time->rate.mtc_shift = mtc_shift < 31 ? mtc_shift : 31;
    time->rate.ctc_mask = (UINT32_C(1) << time->rate.mtc_shift) - 1;
    time->rate.max_non_turbo = max_non_turbo;
}

void pd_pt_time_reposition(struct pd_pt_time *time, uint64_t reference)
{
    time->timestamp = 0;
    time->ctc.have_tma = false;
    time->reference = reference;
}

uint64_t pd_pt_time_wide(uint64_t payload, uint64_t reference)
{
    const uint64_t half = UINT64_C(1) << 55, whole = UINT64_C(1) << 56;
    uint64_t tsc = payload | (reference & TOP_BYTE);
    if (tsc < reference && reference - tsc > half)
        tsc += whole;
    if (tsc >= reference && tsc - reference > half)
        tsc -= whole;
    return tsc;
}

/* Takes the next TSC packet, 56 bits, as seen from the time before. */
static void advance(struct pd_pt_time *time, uint64_t payload)
{
    uint64_t tsc = pd_pt_time_joined(time, payload);
    time->tsc = tsc;
    if (pd_pt_time_slips(time, tsc))
        tsc = time->timestamp;
    if (tsc < time->timestamp) {
        uint64_t wrapped = tsc + (UINT64_C(1) << 56);
        if (!time->buffer_reference || wrapped < time->buffer_reference)
            time->tsc = tsc = wrapped;
        else
            tsc = time->timestamp;
    }
    time->timestamp = tsc;
    time->insn_base = time->insns;
}

void pd_pt_time_tsc(struct pd_pt_time *time, uint64_t payload, bool after_cyc)
{
    time->ctc.have_tma = false;
    if (time->reference) {
        time->tsc = time->timestamp = pd_pt_time_wide(payload, time->reference);
        time->reference = 0;
        time->insn_base = time->insns;
    } else if (time->timestamp) {
        advance(time, payload);
    }
    if (after_cyc) {
        time->cyc_reference = time->timestamp;
        time->cycles = 0;
        time->have_cyc_to_tsc = false;
    }
}

static void count_to(struct pd_pt_time *time, uint64_t timestamp, double factor)
{
    if (timestamp <= time->base_timestamp)
        return;
    double ticks = (double)(timestamp - time->base_timestamp);
    uint64_t cycles = pd_pt_time_round(ticks * factor + (double)time->base_cycles);
    if (cycles > time->tot_cycles)
        time->tot_cycles = cycles;
}

void pd_pt_pauses_clear(struct pd_pt_pauses *pauses)
{
    struct pd_pt_pauses none = { .list = { pauses->list.data, 0, pauses->list.capacity } };
    *pauses = none;
}

void pd_pt_cycles_clear(struct pd_pt_cycles *changes)
{
    struct pd_pt_cycles none = { .list = { changes->list.data, 0, changes->list.capacity } };
    *changes = none;
}

void pd_pt_time_count_cycles(struct pd_pt_time *time)
{
    if (time->have_cyc)
        return;
    time->sample_cyc = true;
    if (!time->pge)
        return;
    if (PD_UNLIKELY(time->changes != NULL))
        pd_pt_time_note(time, time->tsc_to_cyc);
    count_to(time, time->timestamp, time->tsc_to_cyc);
}

void pd_pt_time_note(struct pd_pt_time *time, double factor)
{
    enum { MOST = 1 << 14 };
    struct pd_pt_cycles *changes = time->changes;
    struct pd_pt_cycles_change change = { time->timestamp, factor }, *last = NULL;
    if (changes->list.count > changes->fixed && !changes->each)
        last = &changes->list.data[changes->list.count - 1];
    /* From one base the count only grows with the time. */
    if (factor > 0 && last && last->factor == factor && last->timestamp <= change.timestamp)
        last->timestamp = change.timestamp;
    /* NOLINTNEXTLINE: where there is room there is data */
    else if (changes->list.count >= MOST || !pd_vec_push(&changes->list, change))
        changes->failed = true;
}

void pd_pt_time_recount(struct pd_pt_time *time, const struct pd_pt_cycles *changes, size_t from,
                        size_t to)
{
    for (size_t i = from; i < to; i++) {
        const struct pd_pt_cycles_change *change = &changes->list.data[i];
        if (change->factor != 0) {
            count_to(time, change->timestamp, change->factor);
        } else {
            time->base_timestamp = change->timestamp;
            time->base_cycles = time->tot_cycles;
        }
    }
}

void pd_pt_time_tma(struct pd_pt_time *time, uint32_t ctc, uint32_t fast_counter, bool in_psb)
{
    if (!time->rate.tsc_ctc_d)
        return;
    if (time->pge && !in_psb)
        pd_pt_time_rebase_cycles(time);
    else
        pd_pt_time_count_cycles(time);
    uint32_t rest = ctc & time->rate.ctc_mask;
    time->ctc.last_mtc = ctc >> time->rate.mtc_shift & 0xff;
    time->ctc.last_ctc = ctc - rest;
    time->ctc.timestamp = time->tsc - fast_counter - pd_pt_time_ctc_ticks(time, rest);
    time->ctc.delta = 0;
    time->ctc.have_tma = true;
    time->ctc.fix_last_mtc = true;
}

/* A TMA holds 16 bits of the CTC: what an MTC has above them is taken from the first MTC. */
void pd_pt_time_fix_mtc(uint32_t *last_mtc, uint32_t mtc, unsigned mtc_shift)
{
    uint32_t missing = mtc_shift < 16 ? UINT32_C(1) << (16 - mtc_shift) : 1;
    *last_mtc |= mtc & ~(missing - 1);
    if (*last_mtc >= mtc)
        *last_mtc = (*last_mtc - missing) & 0xff;
}

void pd_pt_time_cbr(struct pd_pt_time *time, uint32_t payload)
{
    uint32_t cbr = payload & 0xff;
    time->cbr_payload = payload;
    if (cbr == time->cbr)
        return;
    time->cbr = cbr;
    time->cbr_cyc_to_tsc = (double)time->rate.max_non_turbo / cbr;
    time->tsc_to_cyc = cbr / (double)time->rate.max_non_turbo;
    time->least_cycles = 1 / (time->cbr_cyc_to_tsc * 1.26); /* calibration takes 1.25 at most */
    time->cyc_reference = time->timestamp;
    time->cycles = 0;
    if (time->pge)
        pd_pt_time_rebase_cycles(time);
}

/* ---- calibration ---- */

struct calibration {
    uint32_t last_mtc, cbr;
    uint64_t ctc_delta, timestamp, cycles;
    double factor; /* of cbr */
    bool fix_last_mtc;
};

/* Sizes of packets that say nothing of time and whose first byte says how long they are; others
 * 0. */
#define IP_SIZE(b)                                                                                 \
    ((b) >> 5 == 0                    ? 1                                                          \
     : (b) >> 5 == 1                  ? 3                                                          \
     : (b) >> 5 == 2                  ? 5                                                          \
     : (b) >> 5 == 6                  ? 9                                                          \
     : (b) >> 5 == 5 || (b) >> 5 == 7 ? 0                                                          \
                                      : 7)
#define IS_IP(b) (((b)&0x1f) == 0x0d || ((b)&0x1f) == 0x11 || ((b)&0x1f) == 0x1d)
#define SIZE(b) ((b)&1 ? IS_IP(b) ? IP_SIZE(b) : 0 : (b) != 2)
#define SIZES4(b) SIZE(b), SIZE((b) + 1), SIZE((b) + 2), SIZE((b) + 3)
#define SIZES16(b) SIZES4(b), SIZES4((b) + 4), SIZES4((b) + 8), SIZES4((b) + 12)
#define SIZES64(b) SIZES16(b), SIZES16((b) + 16), SIZES16((b) + 32), SIZES16((b) + 48)
static const uint8_t timeless_size[256] = { SIZES64(0), SIZES64(64), SIZES64(128), SIZES64(192) };

static uint64_t next_mtc(const struct pd_pt_time *time, struct calibration *ahead, uint32_t mtc)
{
    if (time->rate.mtc_shift > 8 && ahead->fix_last_mtc) {
        ahead->fix_last_mtc = false;
        pd_pt_time_fix_mtc(&ahead->last_mtc, mtc, time->rate.mtc_shift);
    }
    ahead->ctc_delta += pd_pt_time_mtc_delta(time, ahead->last_mtc, mtc);
    ahead->last_mtc = mtc;
    return time->ctc.timestamp + pd_pt_time_ctc_ticks(time, ahead->ctc_delta);
}

/* The next packet that says anything of time; false: none. */
static bool next_packet(const uint8_t **at, const uint8_t *end, enum pd_pt_context *context,
                        bool *after_cyc, struct pd_pt_packet *out)
{
    const uint8_t *p = *at;
    while (p < end && *context == PD_PT_NO_BLOCK && timeless_size[*p]) {
        if (*p)
            *after_cyc = false;
        p += timeless_size[*p];
    }
    if (p >= end)
        return false;
    unsigned size;
    if (*context == PD_PT_NO_BLOCK && (*p & 3) == 3 && end - p >= 2 &&
        (size = pd_pt_short_cyc(p, &out->payload)) != 0) {
        out->kind = PD_PT_CYC;
        *at = p + size;
        return true;
    }
    pd_pt_packet_decode(p, (size_t)(end - p), context, out);
    *at = p + out->size;
    return true;
}

static void calibrated(struct pd_pt_time *time, struct calibration *ahead, uint64_t timestamp,
                       const uint8_t *at)
{
    if (!ahead->cbr && time->cbr) {
        ahead->cbr = time->cbr;
        ahead->factor = time->cbr_cyc_to_tsc;
    }
    if (time->told && ahead->cycles)
        *time->told = (struct pd_pt_calibration){ .at = at,
                                                  .has_cbr = ahead->cbr != 0,
                                                  .factor = (double)(timestamp - time->timestamp) /
                                                            (double)ahead->cycles,
                                                  .cbr_factor = ahead->factor };
    pd_pt_time_set_cycle(time, ahead->cycles, timestamp, ahead->cbr, ahead->factor);
    if (time->told)
        time->told->too_big = !time->have_cyc_to_tsc;
}

/* False: the search ends. */
static bool look_at(struct pd_pt_time *time, struct calibration *ahead,
                    const struct pd_pt_packet *packet, bool after_cyc, const uint8_t *at)
{
    uint64_t now;
    switch (packet->kind) {
    case PD_PT_CYC: ahead->cycles += packet->payload; return true;
    case PD_PT_CBR:
        if (ahead->cbr && ahead->cbr != packet->payload)
            return false;
        ahead->cbr = (uint32_t)packet->payload;
        ahead->factor = (double)time->rate.max_non_turbo / ahead->cbr;
        return true;
    case PD_PT_MTC:
        if (!time->ctc.have_tma)
            return true;
        now = next_mtc(time, ahead, (uint32_t)packet->payload);
        if (now < ahead->timestamp)
            return false;
        if (after_cyc) {
            calibrated(time, ahead, now, at);
            return false;
        }
        ahead->timestamp = now;
        return true;
    case PD_PT_BAD:
    case PD_PT_TSC:
    case PD_PT_TMA:
    case PD_PT_TIP_PGD:
    case PD_PT_TRACESTOP:
    case PD_PT_EXSTOP:
    case PD_PT_MWAIT:
    case PD_PT_PWRE:
    case PD_PT_PWRX:
    case PD_PT_OVF: return false;
    default: return true;
    }
}

void pd_pt_time_calibrate(struct pd_pt_time *time, const uint8_t *bytes, size_t size,
                          unsigned context_before, bool after_cyc)
{
    enum pd_pt_context context = (enum pd_pt_context)context_before;
    const uint8_t *end = bytes + size;
    struct pd_pt_packet packet = { 0 };
    struct calibration ahead = { .last_mtc = time->ctc.last_mtc,
                                 .ctc_delta = time->ctc.delta,
                                 .timestamp = time->timestamp,
                                 .cycles = time->cycles,
                                 .fix_last_mtc = time->ctc.fix_last_mtc };
    while (next_packet(&bytes, end, &context, &after_cyc, &packet)) {
        if (packet.kind == PD_PT_PAD)
            continue;
        if (!look_at(time, &ahead, &packet, after_cyc, bytes - packet.size))
            return;
        after_cyc = packet.kind == PD_PT_CYC;
    }
}

void pd_pt_time_found(struct pd_pt_time *time, uint32_t mtc)
{
    struct calibration ahead = { .last_mtc = time->ctc.last_mtc,
                                 .ctc_delta = time->ctc.delta,
                                 .cycles = time->cycles,
                                 .fix_last_mtc = time->ctc.fix_last_mtc };
    uint64_t now = next_mtc(time, &ahead, mtc);
    time->uncalibrated = false;
    if (now >= time->timestamp)
        calibrated(time, &ahead, now, NULL);
}
