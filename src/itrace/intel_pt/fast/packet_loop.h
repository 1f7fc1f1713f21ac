/* SPDX-License-Identifier: MIT */
/* The loop that most of a trace goes through where nobody wants to see branches
 * (fast/packet_loop.c): what it holds in registers, and what time it is there. */
#ifndef PD_INTEL_PT_PACKET_LOOP_H
#define PD_INTEL_PT_PACKET_LOOP_H
#include "itrace/intel_pt/fast/run.h"

/* What changes with each packet. It is written back at the end. Nothing that is called may see its
 * address: it would not stay in registers. Cycles are counted from where it was taken. */
struct packet_loop {
    const uint8_t *p; /* the next packet */
    struct pd_code_node *node;
    const struct pd_code_node *last; /* walked last; NULL: none here */
    uint64_t insns, budget, last_ip;
    uint64_t ip;   /* where the walk is when there is no node */
    unsigned kind; /* of the packet before */
    bool moved;    /* node or ip has changed */
    bool plain;    /* nothing waits for a FUP or a TIP.PGE, and nobody looks at them */
    /* CYCs that are not in d->time yet. */
    uint64_t total;        /* cycles */
    uint64_t base;         /* of them before time.cyc_reference, less those that d->time knows */
    uint64_t room;         /* so many may be before the time is to be told */
    uint64_t edge;         /* the time at which a sample is near; where samples go by time */
    uint64_t insn_base;    /* instructions at the last one */
    bool counted;          /* there were some since the time was told last */
    bool sample_cyc;       /* as in d->time */
    bool stepped, sampled; /* there was a step, one that has cycles */
    uint64_t step_total, step_base, sample_total; /* as of these */
    /* The step came before the last MTC: what its time will be told from. */
    bool step_timed;
    uint64_t step_reference, step_least, step_cycles;
    double step_factor;
};

/* The next step would be marked: it is in a transaction, or has a new core to bus ratio. */
PD_INLINE bool walk_marks_step(const struct pd_pt_decoder *d)
{
    return d->modes.tx_flags || d->time.cbr != d->modes.cbr_seen;
}

/* How many instructions may be walked without a sample. */
PD_INLINE uint64_t unreported_budget(struct pd_pt_decoder *d)
{
    if (PD_LIKELY(d->config.period_type == PD_PT_PERIOD_NONE))
        return UINT64_MAX;
    if (d->config.period_type != PD_PT_PERIOD_TICKS)
        return walk_next_sample(d);
    if (d->time.max_cycles)
        return d->period.late_insns > d->time.insns ? d->period.late_insns - d->time.insns : 0;
    return walk_ticks_far(d);
}

PD_INLINE void loop_take(const struct pd_pt_decoder *d, struct packet_loop *h)
{
    const struct pd_pt_time *time = &d->time;
    h->total = h->step_total = h->sample_total = 0;
    h->base = -time->cycles;
    h->room = time->max_cycles > time->cycles ? time->max_cycles - time->cycles : 0;
    h->insns = time->insns;
    h->insn_base = h->step_base = time->insn_base;
    h->counted = h->stepped = h->sampled = h->step_timed = false;
    h->sample_cyc = time->sample_cyc;
}

/* The time so many cycles after the reference, but not before `least`. */
PD_INLINE uint64_t loop_at(uint64_t reference, uint64_t least, uint64_t cycles, double factor)
{
    uint64_t now = pd_pt_time_round((double)reference + (double)cycles * factor);
    return PD_MAX(now, least);
}

PD_INLINE void loop_put_step(struct pd_pt_decoder *d, const struct packet_loop *h)
{
    const struct pd_pt_time *time = &d->time;
    d->sample.insn_base = h->step_base;
    d->state.cycles = time->tot_cycles + (time->pge ? h->step_total : 0);
    d->sample.late = !h->step_timed && (time->late || h->counted);
    if (h->step_timed) {
        d->sample.time = loop_at(h->step_reference, h->step_least, h->step_cycles, h->step_factor);
    } else {
        d->sample.time = time->timestamp;
    }
    d->sample.cycles = h->step_timed ? 0 : h->step_total - h->base;
}

/* Puts what has been held back where it belongs; loop_take() has to follow. */
PD_INLINE void loop_put(struct pd_pt_decoder *d, const struct packet_loop *h)
{
    struct pd_pt_time *time = &d->time;
    time->insns = h->insns;
    if (h->stepped)
        loop_put_step(d, h);
    if (h->sampled)
        d->sample.tot_cycles = time->tot_cycles + (time->pge ? h->sample_total : 0);
    time->sample_cyc = h->sample_cyc;
    time->cycles = h->total - h->base;
    time->tot_cycles += time->pge ? h->total : 0;
    time->insn_base = h->insn_base;
    time->late |= h->counted;
}

/* Notes steps at this packet: the first one takes the cycles. */
PD_INLINE void loop_steps(struct packet_loop *h, bool cycles)
{
    if (h->sample_cyc && cycles) {
        h->sample_total = h->total;
        h->sampled = true;
    }
    h->sample_cyc = false;
    h->step_total = h->total;
    h->step_base = h->insn_base;
    h->stepped = true;
    h->step_timed = false;
}

/* Sets when a sample is due. Within a period that does not change: walk_ticks_far() is what is left
 * up to the edge. */
PD_INLINE void loop_set_budget(struct pd_pt_decoder *d, struct packet_loop *h)
{
    const uint64_t budget = unreported_budget(d);
    h->budget = budget == UINT64_MAX ? budget : h->insns + budget;
    h->edge = 0;
    if (d->config.period_type == PD_PT_PERIOD_TICKS)
        h->edge = walk_time(d) + walk_ticks_far(d);
}

/* The time has changed: a sample may be due earlier or later. */
PD_INLINE void loop_new_time(struct pd_pt_decoder *d, struct packet_loop *h)
{
    loop_take(d, h);
    if (PD_UNLIKELY(h->budget != UINT64_MAX))
        loop_set_budget(d, h);
}

PD_INLINE void loop_count(struct packet_loop *h, unsigned cycles)
{
    h->total += cycles;
    h->counted = true;
    h->insn_base = h->insns;
    h->sample_cyc = true;
    h->kind = PD_PT_CYC;
}

/* False: the time has come to where steps are to be returned. */
PD_INLINE bool loop_cyc(struct pd_pt_decoder *d, struct packet_loop *h, unsigned cycles,
                        const uint8_t *at)
{
    unsigned kind = h->kind;
    if (PD_LIKELY(h->total + cycles < h->room)) {
        loop_count(h, cycles);
        return true;
    }
    h->kind = PD_PT_CYC;
    loop_put(d, h);
    d->input.at = at;
    d->input.last_kind = (uint8_t)kind;
    walk_cyc(d, cycles);
    loop_new_time(d, h);
    return d->time.timestamp < d->limit;
}

/* ---- MTCs ---- */

/* Keeps what tells the time of the step before the MTC, which is asked for later. */
PD_INLINE void loop_time_step(const struct pd_pt_time *time, struct packet_loop *h, double factor)
{
    h->step_timed = true;
    h->step_reference = time->cyc_reference;
    h->step_least = time->timestamp;
    h->step_cycles = h->step_total - h->base;
    h->step_factor = factor;
}

/* How many cycles may come behind an MTC of time `now`, at h->insns; 0: it matters what time it
 * is. */
PD_INLINE uint64_t loop_room_at(struct pd_pt_decoder *d, struct packet_loop *h, uint64_t now)
{
    uint64_t limit = walk_late_limit(d, now);
    if (PD_UNLIKELY(d->config.period_type != PD_PT_PERIOD_NONE)) {
        if (d->config.period_type != PD_PT_PERIOD_TICKS)
            return 0;
        const uint64_t half = h->edge > now ? (h->edge - now) / 2 : 0;
        limit = PD_MIN(limit, now + half);
        h->budget = d->period.late_insns = h->insns + half;
    }
    return now < limit ? pd_pt_time_room(&d->time, limit - now) : 0;
}

/* How long a cycle took up to an MTC at `now`, if it was as the core to bus ratio says, or less;
 * else 0. */
PD_INLINE double loop_factor(const struct pd_pt_time *time, uint64_t cycles, uint64_t now)
{
    const double expected = time->cbr_cyc_to_tsc;
    if (!time->uncalibrated)
        return time->have_cyc_to_tsc ? time->cyc_to_tsc : expected;
    const double factor = (double)(now - time->timestamp) / (double)cycles;
    /* Mostly one look will do. */
    return factor < expected * 1.24 || factor <= expected || factor / expected <= 1.25 ? factor : 0;
}

/* The ordinary MTC: it comes behind a CYC, and all CYCs were late. Calibration has waited for it,
 * or there is none, and may wait for the next one. False: it is another kind of MTC, or it matters
 * what time it is. */
PD_INLINE bool loop_mtc_in_line(struct pd_pt_decoder *d, struct packet_loop *h)
{
    struct pd_pt_time *time = &d->time;
    const uint32_t mtc = h->p[1];
    const uint64_t cycles = h->total - h->base, before = time->timestamp;
    if (!time->max_cycles || h->kind != PD_PT_CYC || !time->ctc.have_tma ||
        time->rate.mtc_shift > 8 || !cycles ||
        (time->uncalibrated && before != time->cyc_reference) || (d->sample.late && !h->stepped))
        return false;
    const uint64_t delta = time->ctc.delta + pd_pt_time_mtc_delta(time, time->ctc.last_mtc, mtc);
    const uint64_t now = time->ctc.timestamp + pd_pt_time_ctc_ticks(time, delta);
    if (now < before)
        return false;
    /* What has been calibrated up to `now` does not come behind it, unless it was rounded. */
    const bool sure = time->uncalibrated && !(now >> PD_PT_TIME_EXACT_BITS);
    const double factor = loop_factor(time, cycles, now);
    const uint64_t room = factor > 0 ? loop_room_at(d, h, now) : 0;
    const uint64_t reference = time->cyc_reference;
    if (!room || (!sure && loop_at(reference, before, cycles, factor) > now))
        return false;
    if (h->stepped && !h->step_timed)
        loop_time_step(time, h, factor);
    if (d->untold.late)
        walk_tell_skipped(d, loop_at(reference, before, d->untold.cycles, factor));
    time->ctc.delta = delta;
    time->ctc.last_mtc = mtc;
    time->timestamp = time->cyc_reference = now;
    time->late = false;
    time->max_cycles = room;
    time->uncalibrated = true;
    time->have_cyc_to_tsc = false;
    h->base = h->total;
    h->room = h->total + room;
    h->insn_base = h->insns;
    h->counted = false;
    return true;
}

PD_INLINE bool loop_mtc(struct pd_pt_decoder *d, struct packet_loop *h)
{
    if (PD_UNLIKELY(!loop_mtc_in_line(d, h))) {
        loop_put(d, h);
        d->input.packet.kind = (uint8_t)h->kind;
        walk_read(d, PD_PT_MTC, h->p[1], 0, h->p, 2);
        walk_status(d);
        loop_new_time(d, h);
    }
    h->p += 2;
    h->kind = PD_PT_MTC;
    return d->time.timestamp < d->limit;
}

#endif
