/* SPDX-License-Identifier: MIT */
/* What time it is in a trace: TSC, TMA, MTC, CBR and CYC packets -> TSC ticks, to the tick as perf
 * has it (reference 2). Doubles are IEEE without contraction; the build says -ffp-contract=off. */
#ifndef PD_INTEL_PT_TIME_H
#define PD_INTEL_PT_TIME_H
#include "base/vec.h"

/* A TSC packet that is behind the time by less than this much is late, not another time. */
enum { PD_PT_TSC_SLIP = 0x10000 };

/* How a calibration ended, for those who want to tell. */
struct pd_pt_calibration {
    const uint8_t *at; /* the packet that ended it; NULL: it found nothing */
    bool has_cbr, too_big;
    double factor, cbr_factor;
};

/* What changed the count of cycles where no CYC packets do, so that the count can be worked out
 * again from another start. */
struct pd_pt_cycles {
    PD_VEC(struct pd_pt_cycles_change) list;
    size_t fixed; /* so many stay as they are */
    bool each;    /* none of them goes up in another */
    size_t taken; /* how many there were when a step took the count last */
    bool failed;  /* not all of it is there */
};
struct pd_pt_cycles_change {
    uint64_t timestamp;
    double factor; /* ticks since the base to cycles; 0: a new base */
};
void pd_pt_cycles_clear(struct pd_pt_cycles *changes);

/* A pause: no code ran between a step of a time above `from` and one of the time `to`. */
struct pd_pt_pause {
    uint64_t from, to;
};
/* The pauses of a trace, and the time as whoever goes from step to step would have it, though no
 * step is made where tracing ends, or begins again in user space. */
struct pd_pt_pauses {
    PD_VEC(struct pd_pt_pause) list;
    uint64_t time, latest; /* now; the greatest of all */
    bool set;              /* the time does not depend on what it was at first */
    bool off;              /* since `from`, when so many instructions had been walked */
    uint64_t from, insns;
    bool ended;  /* without a step behind it */
    bool listed; /* the one that has ended is the last of the list */
    bool failed; /* not all of them are there */
};
void pd_pt_pauses_clear(struct pd_pt_pauses *pauses);
PD_INLINE void pd_pt_pauses_set(struct pd_pt_pauses *pauses, uint64_t time)
{
    pauses->time = time;
    pauses->latest = PD_MAX(pauses->latest, time);
}
PD_INLINE void pd_pt_pauses_off(struct pd_pt_pauses *pauses, uint64_t insns)
{
    pauses->off = true;
    pauses->from = pauses->latest;
    pauses->insns = insns;
}
PD_INLINE void pd_pt_pauses_on(struct pd_pt_pauses *pauses, uint64_t time, uint64_t insns)
{
    pauses->listed = pauses->off && insns == pauses->insns;
    pauses->off = false;
    if (!pauses->listed)
        return;
    if (!pd_vec_reserve(&pauses->list, pauses->list.count + 1)) {
        pauses->listed = false;
        pauses->failed = true;
        return;
    }
    /* Member by member: one that has just been put together is slow to read as a whole. */
    struct pd_pt_pause *pause = &pauses->list.data[pauses->list.count++];
    pause->from = pauses->from;
    pause->to = time;
}

struct pd_pt_time {
    struct pd_pt_calibration *told; /* NULL: nobody asks */
    struct pd_pt_cycles *changes;   /* NULL: nobody asks */
    /* Set once, see pd_pt_time_init(). */
    struct {
        uint64_t tsc_ctc_n, tsc_ctc_d, tsc_ctc_mult; /* mult: n / d where that is whole, else 0 */
        unsigned mtc_shift, max_non_turbo;
        uint32_t ctc_mask; /* bits of the CTC that no MTC holds */
    } rate;

    uint64_t timestamp; /* now, as far as known; 0: unknown */
    uint64_t tsc;       /* of the last TSC packet */
    uint64_t reference; /* of the buffer, until the first TSC packet has used it; else 0 */
    uint64_t buffer_reference;
    /* The crystal clock: how far it is, as MTC and TMA packets say. */
    struct {
        uint64_t timestamp, delta; /* the TSC at last_ctc; ticks since */
        uint32_t last_mtc, last_ctc;
        bool have_tma, fix_last_mtc;
    } ctc;

    bool have_cyc, have_cyc_to_tsc;
    uint32_t cbr, cbr_payload;
    uint64_t cycles, cyc_reference; /* counted since, and the time then; 0: unknown */
    double cyc_to_tsc, cbr_cyc_to_tsc, tsc_to_cyc;
    double least_cycles; /* of a tick, whatever calibration says */

    /* CYCs may count cycles and be turned into time later: as long as nobody asks what time it is,
     * the last one says it all. Calibration may be put off with them, up to a packet that is not of
     * their kind. */
    uint64_t max_cycles; /* up to so many; 0: none */
    bool late;           /* there were such CYCs */
    bool uncalibrated;   /* calibration is put off */

    bool pge;        /* packets are being generated: cycles count */
    bool sample_cyc; /* tot_cycles has been brought up to date by the packet before */
    uint64_t tot_cycles, base_cycles, base_timestamp;

    uint64_t insns;     /* walked; kept by the walk */
    uint64_t insn_base; /* their number when `timestamp` was last set */
};

void pd_pt_time_init(struct pd_pt_time *time, uint64_t n, uint64_t d, unsigned mtc_shift,
                     unsigned max_non_turbo);
/* A buffer that does not go on where the one before ended: nothing is known but its reference. */
void pd_pt_time_reposition(struct pd_pt_time *time, uint64_t reference);

/* Each packet. `after_cyc`: the packet right before it was a CYC. */
void pd_pt_time_tsc(struct pd_pt_time *time, uint64_t payload, bool after_cyc);
void pd_pt_time_tma(struct pd_pt_time *time, uint32_t ctc, uint32_t fast_counter, bool in_psb);
void pd_pt_time_cbr(struct pd_pt_time *time, uint32_t payload);
/* The 56 bits of a TSC packet as 64 bits near `reference`. */
uint64_t pd_pt_time_wide(uint64_t payload, uint64_t reference);

/* The same near the time that is known, which it may be behind. */
PD_INLINE uint64_t pd_pt_time_joined(const struct pd_pt_time *time, uint64_t payload)
{
    return payload | (time->timestamp & UINT64_C(0xff) << 56);
}
PD_INLINE bool pd_pt_time_slips(const struct pd_pt_time *time, uint64_t tsc)
{
    return tsc < time->timestamp && time->timestamp - tsc < PD_PT_TSC_SLIP;
}

void pd_pt_time_note(struct pd_pt_time *time, double factor);
/* Makes the changes [from, to) again, starting from the count that `time` has. */
void pd_pt_time_recount(struct pd_pt_time *time, const struct pd_pt_cycles *changes, size_t from,
                        size_t to);

/* Counts cycles from here where no CYC packets do. */
PD_INLINE void pd_pt_time_rebase_cycles(struct pd_pt_time *time)
{
    if (time->have_cyc)
        return;
    if (PD_UNLIKELY(time->changes != NULL))
        pd_pt_time_note(time, 0);
    time->base_timestamp = time->timestamp;
    time->base_cycles = time->tot_cycles;
}

PD_INLINE uint64_t pd_pt_time_ctc_ticks(const struct pd_pt_time *time, uint64_t ctc)
{
    if (time->rate.tsc_ctc_mult)
        return ctc * time->rate.tsc_ctc_mult;
    return ctc / time->rate.tsc_ctc_d * time->rate.tsc_ctc_n +
           ctc % time->rate.tsc_ctc_d * time->rate.tsc_ctc_n / time->rate.tsc_ctc_d;
}

/* Converts as x86 does, also what does not fit. */
PD_INLINE uint64_t pd_pt_time_round(double ticks)
{
    if (PD_LIKELY(ticks >= 0 && ticks < 9223372036854775808.0))
        return (uint64_t)(int64_t)ticks;
    return ticks >= 0 && ticks < 18446744073709551616.0 ? (uint64_t)ticks : 0;
}

void pd_pt_time_count_cycles(struct pd_pt_time *time);
void pd_pt_time_fix_mtc(uint32_t *last_mtc, uint32_t mtc, unsigned mtc_shift);

/* Ticks of the CTC from the last MTC to this one. */
PD_INLINE uint32_t pd_pt_time_mtc_delta(const struct pd_pt_time *time, uint32_t last_mtc,
                                        uint32_t mtc)
{
    return (mtc > last_mtc ? mtc - last_mtc : mtc + 256 - last_mtc) << time->rate.mtc_shift;
}

PD_INLINE void pd_pt_time_set_reference(struct pd_pt_time *time)
{
    time->cyc_reference = time->timestamp;
    time->cycles = 0;
    time->have_cyc_to_tsc = false;
}

/* What an MTC means; not without a TMA before it. True when it was the right moment to calibrate
 * cycles: have_cyc_to_tsc is then false until pd_pt_time_calibrate(). */
PD_INLINE bool pd_pt_time_mtc(struct pd_pt_time *time, uint32_t mtc, bool after_cyc)
{
    if (!time->ctc.have_tma)
        return false;
    if (PD_UNLIKELY(time->rate.mtc_shift > 8 && time->ctc.fix_last_mtc)) {
        time->ctc.fix_last_mtc = false;
        pd_pt_time_fix_mtc(&time->ctc.last_mtc, mtc, time->rate.mtc_shift);
    }
    time->ctc.delta += pd_pt_time_mtc_delta(time, time->ctc.last_mtc, mtc);
    uint64_t now = time->ctc.timestamp + pd_pt_time_ctc_ticks(time, time->ctc.delta);
    if (now >= time->timestamp)
        time->timestamp = now;
    if (!time->have_cyc)
        pd_pt_time_count_cycles(time);
    time->insn_base = time->insns;
    time->ctc.last_mtc = mtc;
    if (!after_cyc)
        return false;
    pd_pt_time_set_reference(time);
    return true;
}

/* Sets how long a cycle is: `cycles` of them took up to `timestamp`. `cbr`: the ratio, by which a
 * cycle takes `expected`; one that took much longer is not believed. 0: there is no ratio. */
PD_INLINE void pd_pt_time_set_cycle(struct pd_pt_time *time, uint64_t cycles, uint64_t timestamp,
                                    uint32_t cbr, double expected)
{
    if (!cycles)
        return;
    double factor = (double)(timestamp - time->timestamp) / (double)cycles;
    if (cbr && factor > expected && factor / expected > 1.25)
        return;
    time->cyc_to_tsc = factor;
    time->have_cyc_to_tsc = true;
}

PD_INLINE void pd_pt_time_cyc(struct pd_pt_time *time, uint64_t cycles)
{
    time->have_cyc = true;
    time->cycles += cycles;
    if (time->pge)
        time->tot_cycles += cycles;
    time->sample_cyc = true;
    if (!time->cyc_reference || (!time->have_cyc_to_tsc && !time->cbr))
        return;
    double factor = time->have_cyc_to_tsc ? time->cyc_to_tsc : time->cbr_cyc_to_tsc;
    uint64_t now = pd_pt_time_round((double)time->cyc_reference + (double)time->cycles * factor);
    if (now >= time->timestamp)
        time->timestamp = now;
    time->insn_base = time->insns;
}

/* Finds how many ticks a cycle takes: looks through the bytes behind an MTC for the next MTC that
 * follows a CYC. What lies between the MTC and the bytes are CYCs (time->cycles) and packets that
 * say nothing of time, the last one a CYC or not. `context`: the bytes begin in a block (enum
 * pd_pt_context). */
void pd_pt_time_calibrate(struct pd_pt_time *time, const uint8_t *bytes, size_t size,
                          unsigned context, bool after_cyc);

/* ---- calibration put off ---- */

enum { PD_PT_TIME_MOST_CYCLES = 1 << 22 };
/* Times below it are exact as doubles, with their halves. A processor of 3 GHz gets there in 17
 * days. */
enum { PD_PT_TIME_EXACT_BITS = 52 };

/* How many cycles take less than these ticks, whatever calibration says; 0: not known. Needs a core
 * to bus ratio. */
PD_INLINE uint64_t pd_pt_time_room(const struct pd_pt_time *time, uint64_t ticks)
{
    /* Mostly there is much time: so many ticks are more cycles than that. */
    if (PD_LIKELY(ticks > UINT64_C(1) << 40 && time->least_cycles > 1 / 65536.0))
        return PD_PT_TIME_MOST_CYCLES;
    const uint64_t rounded = time->timestamp >>
                             PD_PT_TIME_EXACT_BITS; /* to so many ticks, or less */
    if (PD_UNLIKELY(rounded))
        ticks -= PD_MIN(ticks, 2 * rounded);
    double cycles = (double)ticks * time->least_cycles;
    if (!(cycles >= 3))
        return 0;
    return cycles < PD_PT_TIME_MOST_CYCLES ? (uint64_t)(int64_t)cycles - 2 : PD_PT_TIME_MOST_CYCLES;
}

/* Lets CYCs be late from here on, as many as keep the time below `limit`, and calibration, too, if
 * asked. False: not possible here. */
PD_INLINE bool pd_pt_time_put_off(struct pd_pt_time *time, bool calibration, uint64_t limit)
{
    time->max_cycles = 0;
    if (!time->cbr || !time->cyc_reference || !time->have_cyc || time->timestamp >= limit)
        return false;
    time->max_cycles = pd_pt_time_room(time, limit - time->cyc_reference);
    if (!time->max_cycles)
        return false;
    time->uncalibrated = calibration;
    return true;
}

/* The MTC has come that calibration would look for. */
void pd_pt_time_found(struct pd_pt_time *time, uint32_t mtc);
/* The time when so many cycles had been counted, once calibration is no longer put off. */
PD_INLINE uint64_t pd_pt_time_by_cycles(const struct pd_pt_time *time, uint64_t cycles)
{
    double factor = time->have_cyc_to_tsc ? time->cyc_to_tsc : time->cbr_cyc_to_tsc;
    return pd_pt_time_round((double)time->cyc_reference + (double)cycles * factor);
}
PD_INLINE uint64_t pd_pt_time_at(const struct pd_pt_time *time, uint64_t cycles)
{
    uint64_t now = pd_pt_time_by_cycles(time, cycles);
    return PD_MAX(now, time->timestamp);
}

PD_INLINE void pd_pt_time_cyc_late(struct pd_pt_time *time, uint64_t cycles)
{
    time->cycles += cycles;
    if (time->pge)
        time->tot_cycles += cycles;
    time->sample_cyc = true;
    time->insn_base = time->insns;
    time->late = true;
}

#endif
