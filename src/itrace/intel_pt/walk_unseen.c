/* SPDX-License-Identifier: MIT */
/* The walk while nobody wants to see branches: what a few TNT bits do from a node on is found out once and then a look-up.
 * All that others can see stays as if each step had been made: counts, times, the returns to come. Whatever is out of the
 * ordinary is left to the ordinary walk. */
#include "itrace/intel_pt/walk_run.h"

/* ---- TNT ---- */

/* What the steps that were not made would have done. */
enum {
    SEEN_USED = 1,   /* bits of this packet */
    SEEN_STEP = 2,   /* a step that takes the time */
    SEEN_CYCLES = 4, /* ... and the cycles, since nothing came before it */
    SEEN_NOT_TAKEN = 8
};

/* `seen` before and the run's flags -> seen behind it. */
PD_INLINE unsigned see_run(unsigned seen, const struct walk_run *run)
{
    unsigned flags = run->flags;
    bool direct = (flags & RUN_DIRECT) && (seen & SEEN_USED);
    if (!(seen & (SEEN_STEP | SEEN_NOT_TAKEN)) && (direct || (flags & RUN_TAKEN)))
        seen |= SEEN_CYCLES;
    if (direct || (flags & RUN_STEP))
        seen |= SEEN_STEP;
    if (flags & RUN_NOT_TAKEN)
        seen |= SEEN_NOT_TAKEN;
    if (run->used)
        seen |= SEEN_USED;
    return seen;
}

PD_INLINE unsigned see_return(unsigned seen)
{
    if (!(seen & (SEEN_STEP | SEEN_NOT_TAKEN)))
        seen |= SEEN_CYCLES;
    return seen | SEEN_STEP | SEEN_USED;
}

PD_INLINE void push_calls(struct pd_pt_decoder *d, const struct walk_run *run)
{
    for (unsigned i = 0; i < run->call_count; i++)
        walk_push_return(d, run->calls[i]);
}

/* A return that TNT covers; NULL: it takes a closer look. */
PD_INLINE struct pd_code_node *unseen_return(struct pd_pt_decoder *d,
                                             const struct pd_code_node *node, bool taken)
{
    if (node->op != PD_INSN_RET || node->branch != PD_BRANCH_INDIRECT || !taken ||
        !d->config.return_compression || d->return_count <= d->stale_returns)
        return NULL;
    struct pd_code_node *next = d->returns[d->return_count - 1].call->fall;
    if (next)
        d->return_count--;
    return next;
}

PD_INLINE void unseen_done(struct pd_pt_decoder *d, uint64_t insns, uint64_t bits, unsigned left,
                           unsigned seen, const struct pd_code_node *last,
                           struct pd_code_node *node)
{
    if (!last)
        return;
    d->time.insns += insns;
    d->node = node;
    d->index = 0;
    d->ip = node->ip;
    walk_set_insn(d, last->op, last->length, last->last_ip);
    if (d->time.sample_cyc && (seen & (SEEN_CYCLES | SEEN_NOT_TAKEN))) {
        if (seen & SEEN_CYCLES)
            d->sample_tot_cycles = d->time.tot_cycles;
        d->time.sample_cyc = false;
    }
    d->tnt = bits;
    d->tnt_count = left;
    d->direct_count = 0;
    if (seen & SEEN_USED)
        d->walk = left ? WALK_TNT_MORE : WALK_IN_SYNC;
    if ((seen & SEEN_STEP) || !left)
        walk_take_time(d);
}

/* The next step would be marked: it is in a transaction, or has a new core to bus ratio. */
PD_INLINE bool walk_marks_step(const struct pd_pt_decoder *d)
{
    return d->tx_flags || d->time.cbr != d->cbr_seen;
}

/* How many instructions may be walked without a sample. */
PD_INLINE uint64_t unseen_budget(struct pd_pt_decoder *d)
{
    if (PD_LIKELY(d->config.period_type == PD_PT_PERIOD_NONE))
        return UINT64_MAX;
    if (d->config.period_type != PD_PT_PERIOD_TICKS)
        return walk_next_sample(d);
    if (d->time.max_cycles)
        return d->late_insns > d->time.insns ? d->late_insns - d->time.insns : 0;
    return walk_ticks_far(d);
}

void walk_tnt_unseen(struct pd_pt_decoder *d)
{
    enum pd_code_error error;
    struct pd_code_node *node = walk_resolve(d, &error);
    if (!node || d->index || d->progress_count || walk_marks_step(d))
        return;
    const struct pd_code_node *last = NULL;
    uint64_t budget = unseen_budget(d), insns = 0, bits = d->tnt;
    unsigned left = d->tnt_count, seen = d->walk == WALK_TNT_MORE ? SEEN_USED : 0;
    while (left) {
        unsigned count = PD_MIN(left, (unsigned)WALK_RUN_BITS);
        const struct walk_run *run = walk_get_run(d, node,
                                                  1u << count | (unsigned)(bits >> (64 - count)));
        if (!run || insns + run->insns + run->end_insns >= budget)
            break;
        seen = see_run(seen, run);
        push_calls(d, run);
        insns += run->insns;
        bits <<= run->used;
        left -= run->used;
        last = run->last ? run->last : last;
        node = run->end;
        if (run->used == count || (run->used && node->branch != PD_BRANCH_INDIRECT))
            continue;
        /* What follows depends on the calls before. */
        struct pd_code_node *next = unseen_return(d, node, bits >> 63);
        if (!next)
            break;
        insns += node->insns;
        bits <<= 1;
        left--;
        seen = see_return(seen);
        last = node;
        node = next;
    }
    unseen_done(d, insns, bits, left, seen, last, node);
}

/* ---- packet by packet ----
 * The loop that most of a trace goes through. What changes with each packet is held here, in registers, and put back at its
 * end: nothing that is called may see the address of it. */

struct hot {
    const uint8_t *p; /* the next packet */
    struct pd_code_node *node;
    const struct pd_code_node *last; /* walked last; NULL: none here */
    uint64_t insns, budget, last_ip;
    unsigned kind; /* of the packet before */
    /* CYCs that are not in d->time yet. */
    uint64_t cycles, room; /* so many may be */
    uint64_t insn_base;    /* instructions at the last one */
    uint64_t step_cycles, step_base,
        sample_cycles; /* as of the last step, of the last one that has cycles */
    bool counted, stepped, sampled, sample_cyc;
};

PD_INLINE void hot_take(const struct pd_pt_decoder *d, struct hot *h)
{
    const struct pd_pt_time *time = &d->time;
    h->cycles = h->step_cycles = h->sample_cycles = 0;
    h->room = time->max_cycles > time->cycles ? time->max_cycles - time->cycles : 0;
    h->insns = time->insns;
    h->insn_base = h->step_base = time->insn_base;
    h->counted = h->stepped = h->sampled = false;
    h->sample_cyc = time->sample_cyc;
}

/* What has been held back goes to where it belongs; hot_take() is to follow. */
PD_INLINE void hot_put(struct pd_pt_decoder *d, const struct hot *h)
{
    struct pd_pt_time *time = &d->time;
    time->insns = h->insns;
    if (h->stepped) {
        d->sample_insn_base = h->step_base;
        d->state.cycles = time->tot_cycles + (time->pge ? h->step_cycles : 0);
        d->sample_time = time->timestamp;
        d->sample_late = time->late || h->counted;
        d->sample_cycles = time->cycles + h->step_cycles;
    }
    if (h->sampled)
        d->sample_tot_cycles = time->tot_cycles + (time->pge ? h->sample_cycles : 0);
    time->sample_cyc = h->sample_cyc;
    if (h->counted) {
        time->cycles += h->cycles;
        time->tot_cycles += time->pge ? h->cycles : 0;
        time->insn_base = h->insn_base;
        time->late = true;
    }
}

PD_INLINE bool hot_begin(struct pd_pt_decoder *d, struct hot *h)
{
    enum pd_code_error error;
    /* With a threshold for CYCs, a count belongs only to the packet behind it. */
    if (d->config.cyc_threshold || walk_marks_step(d) || d->context != PD_PT_NO_BLOCK ||
        d->progress_count || d->iflag != d->next_iflag || (d->pip & 1) != d->nr ||
        d->time.timestamp >= d->limit)
        return false;
    /* One by one: the compiler would clear it by a slow instruction first. */
    h->node = d->time.pge ? walk_resolve(d, &error) : NULL;
    if (d->index)
        h->node = NULL;
    h->p = d->next;
    h->last = NULL;
    h->last_ip = d->last_ip;
    h->kind = d->packet.kind;
    uint64_t budget = unseen_budget(d);
    hot_take(d, h);
    h->budget = budget == UINT64_MAX ? budget : h->insns + budget;
    d->next_nr = d->nr;
    return true;
}

PD_INLINE void hot_end(struct pd_pt_decoder *d, const struct hot *h)
{
    hot_put(d, h);
    d->next = h->p;
    d->packet.kind = (uint8_t)h->kind;
    d->last_ip = h->last_ip;
    if (!h->last)
        return;
    d->have_last_ip = true;
    d->direct_count = 0;
    walk_set_insn(d, h->last->op, h->last->length, h->last->last_ip);
    d->node = h->node;
    d->index = 0;
    d->from = NULL;
    d->ip = h->node ? h->node->ip : h->last_ip;
}

/* Steps at this packet: the first one takes the cycles. */
PD_INLINE void hot_steps(struct hot *h, bool cycles)
{
    if (h->sample_cyc && cycles) {
        h->sample_cycles = h->cycles;
        h->sampled = true;
    }
    h->sample_cyc = false;
    h->step_cycles = h->cycles;
    h->step_base = h->insn_base;
    h->stepped = true;
}

/* Bits are left that take a closer look. */
static PD_NOINLINE void hot_tnt_rest(struct pd_pt_decoder *d, const uint8_t *at, unsigned bits,
                                     unsigned count)
{
    d->at = at;
    d->tnt = (uint64_t)bits << (64 - count);
    d->tnt_count = count;
    d->walk = WALK_TNT_MORE;
}

PD_INLINE void hot_follow(struct pd_pt_decoder *d, struct hot *h, const struct walk_run *run)
{
    push_calls(d, run);
    h->insns += run->insns;
    h->node = run->end;
    if (run->last)
        h->last = run->last;
}

/* A TNT with returns in it, where what they lead to depends on the calls before, or with too many calls for one run. `run`
 * is its first part. False as hot_tnt(). */
PD_INLINE bool hot_tnt_in_parts(struct pd_pt_decoder *d, struct hot *h, const struct walk_run *run,
                                unsigned bits, unsigned count)
{
    bool cycles = !run->used || (run->flags & RUN_TAKEN); /* a return is a step */
    unsigned steps = RUN_STEP;                            /* flags of runs that say so */
    bool step = false;
    const unsigned all = count;
    for (;;) {
        hot_follow(d, h, run);
        step |= (run->flags & steps) != 0;
        count -= run->used;
        if (!count)
            break;
        if (!run->used || h->node->branch == PD_BRANCH_INDIRECT) {
            struct pd_code_node *ret = h->node;
            struct pd_code_node *next = unseen_return(d, ret, bits >> (count - 1) & 1);
            if (PD_UNLIKELY(!next))
                goto rest;
            step = true;
            h->insns += ret->insns;
            h->last = ret;
            h->node = next;
            if (!--count)
                break;
        }
        steps = RUN_STEP | RUN_DIRECT;
        run = walk_get_run(d, h->node, (bits & ((1u << count) - 1)) | 1u << count);
        if (PD_UNLIKELY(!run || h->insns + run->insns + run->end_insns >= h->budget))
            goto rest;
    }
    hot_steps(h, cycles);
    h->kind = PD_PT_TNT;
    h->p++;
    return true;
rest:
    if (count == all)
        return false;
    hot_tnt_rest(d, h->p++, bits, count);
    h->kind = PD_PT_TNT;
    if (step)
        hot_steps(h, cycles);
    else
        h->sample_cyc = false;
    return false;
}

/* A short TNT. False: not done here, or not all of it. */
PD_INLINE bool hot_tnt(struct pd_pt_decoder *d, struct hot *h)
{
    unsigned bits = *h->p >> 1, count = 31 - (unsigned)__builtin_clz(bits);
    const struct walk_run *run = walk_get_run(d, h->node, bits);
    if (PD_UNLIKELY(!run || h->insns + run->insns + run->end_insns >= h->budget))
        return false;
    if (run->used != count)
        return hot_tnt_in_parts(d, h, run, bits, count);
    hot_follow(d, h, run);
    hot_steps(h, run->flags & RUN_TAKEN);
    h->kind = PD_PT_TNT;
    h->p++;
    return true;
}

/* The size of a TIP, 0: not here. */
PD_INLINE unsigned tip_ip(const uint8_t *p, uint64_t *ip)
{
    uint64_t bytes = pd_load64(p + 1, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    switch (*p >> 5) {
    case 1: *ip = (*ip & ~UINT64_C(0xffff)) | (bytes & 0xffff); return 3;
    case 2: *ip = (*ip & ~UINT64_C(0xffffffff)) | (bytes & 0xffffffff); return 5;
    case 3: *ip = (uint64_t)((int64_t)(bytes << 16) >> 16); return 7;
    default: return 0;
    }
}

/* A return to where the TIP says; NULL: the call is not known that belongs to it. */
PD_INLINE struct pd_code_node *return_to(struct pd_pt_decoder *d, uint64_t ip)
{
    const struct walk_return back = walk_pop_return(d);
    return back.ip == ip && back.call ? back.call->fall : NULL;
}

PD_INLINE bool hot_tip(struct pd_pt_decoder *d, struct hot *h)
{
    uint64_t ip = h->last_ip;
    unsigned size = tip_ip(h->p, &ip);
    const struct walk_run *run = walk_get_run(d, h->node, 1);
    if (!size || !run || run->end->branch != PD_BRANCH_INDIRECT)
        return false;
    struct pd_code_node *branch = run->end;
    uint64_t insns = h->insns + run->insns + branch->insns;
    if (insns >= h->budget || (d->config.timeful && ip < d->config.kernel_start &&
                               branch->last_ip >= d->config.kernel_start))
        return false;
    hot_follow(d, h, run);
    h->insns = insns;
    h->last = branch;
    h->last_ip = ip;
    h->node = NULL;
    if (branch->op == PD_INSN_CALL)
        walk_push_return(d, branch);
    else if (branch->op == PD_INSN_RET)
        h->node = return_to(d, ip);
    if (!h->node) {
        const struct walk_known *known = walk_known_slot(d, ip);
        h->node = known->ip == ip && known->view == d->view ? known->node : NULL;
    }
    hot_steps(h, true);
    h->kind = PD_PT_TIP;
    h->p += size;
    return true;
}

/* The time has changed: a sample may be due earlier or later. */
PD_INLINE void hot_new_time(struct pd_pt_decoder *d, struct hot *h)
{
    hot_take(d, h);
    if (PD_UNLIKELY(h->budget != UINT64_MAX))
        h->budget = h->insns + unseen_budget(d);
}

/* False: the time has come to where steps are to be returned. */
PD_INLINE bool hot_cyc(struct pd_pt_decoder *d, struct hot *h, unsigned cycles, const uint8_t *at)
{
    unsigned kind = h->kind;
    h->kind = PD_PT_CYC;
    if (PD_LIKELY(h->cycles + cycles < h->room)) {
        h->cycles += cycles;
        h->counted = true;
        h->insn_base = h->insns;
        h->sample_cyc = true;
        return true;
    }
    hot_put(d, h);
    d->at = at;
    d->last_kind = (uint8_t)kind;
    walk_cyc(d, cycles);
    hot_new_time(d, h);
    return d->time.timestamp < d->limit;
}

/* The MTC that calibration waits for; pd_pt_time_found() and pd_pt_time_mtc() at once. */
PD_INLINE void hot_mtc_found(struct pd_pt_decoder *d, uint32_t mtc)
{
    struct pd_pt_time *time = &d->time;
    time->ctc_delta += pd_pt_time_mtc_delta(time, time->last_mtc, mtc);
    time->last_mtc = mtc;
    time->uncalibrated = false;
    time->max_cycles = 0;
    uint64_t now = time->ctc_timestamp + pd_pt_time_ctc_ticks(time, time->ctc_delta);
    if (now >= time->timestamp)
        pd_pt_time_set_cycle(time, time->cycles, now, time->cbr, time->cbr_cyc_to_tsc);
    walk_apply_late(d);
    if (now >= time->timestamp)
        time->timestamp = now;
    time->insn_base = time->insns;
    pd_pt_time_set_reference(time);
}

PD_INLINE bool hot_mtc(struct pd_pt_decoder *d, struct hot *h)
{
    const struct pd_pt_time *time = &d->time;
    hot_put(d, h);
    d->packet.kind = (uint8_t)h->kind;
    walk_read(d, PD_PT_MTC, h->p[1], 0, h->p, 2);
    if (PD_LIKELY(time->uncalibrated && h->kind == PD_PT_CYC && time->have_tma && time->have_cyc &&
                  time->mtc_shift <= 8)) {
        hot_mtc_found(d, h->p[1]);
        if (!walk_may_be_late(d) || !walk_put_off(d, true))
            pd_pt_time_calibrate(&d->time, d->next, (size_t)(d->end - d->next), PD_PT_NO_BLOCK,
                                 true);
    } else {
        walk_status(d);
    }
    hot_new_time(d, h);
    h->p += 2;
    h->kind = PD_PT_MTC;
    return d->time.timestamp < d->limit;
}

/* So many bytes may be read without a look at the end. */
enum { HOT_MARGIN = 16 };

enum { HOT_NOT, HOT_TNT, HOT_TIP, HOT_MTC, HOT_CYC, HOT_LONG_CYC };
#define HOT_OF(b)                                                                                  \
    (!((b)&1)             ? (b) > 2 ? HOT_TNT : HOT_NOT                                            \
     : ((b)&3) == 3       ? (b)&4 ? HOT_LONG_CYC : HOT_CYC                                         \
     : ((b)&0x1f) == 0x0d ? HOT_TIP                                                                \
     : (b) == 0x59        ? HOT_MTC                                                                \
                          : HOT_NOT)
#define HOT4(b) HOT_OF(b), HOT_OF((b) + 1), HOT_OF((b) + 2), HOT_OF((b) + 3)
#define HOT16(b) HOT4(b), HOT4((b) + 4), HOT4((b) + 8), HOT4((b) + 12)
#define HOT64(b) HOT16(b), HOT16((b) + 16), HOT16((b) + 32), HOT16((b) + 48)
static const uint8_t hot_kind[256] = { HOT64(0), HOT64(64), HOT64(128), HOT64(192) };

/* ---- several at once ---- */

/* The calls before are those that it returns to. */
PD_INLINE bool returns_as(const struct pd_pt_decoder *d, const struct walk_chain *chain)
{
    const size_t known = d->return_count - d->stale_returns;
    const struct walk_return *top = d->returns + d->return_count;
    return (!chain->returns[0] || (known > 0 && top[-1].call == chain->returns[0])) &&
           (!chain->returns[1] || (known > 1 && top[-2].call == chain->returns[1]));
}

PD_INLINE bool fits(const struct pd_pt_decoder *d, const struct hot *h,
                    const struct walk_chain *chain, struct walk_bytes bytes)
{
    return chain->node == h->node && (bytes.low & chain->mask.low) == chain->bytes.low &&
           (bytes.high & chain->mask.high) == chain->bytes.high && chain->size &&
           chain->epoch == d->chains.epoch &&
           (h->last_ip & walk_ip_kept[chain->keeps]) == chain->ip_before && returns_as(d, chain);
}

PD_INLINE void chain_returns(struct pd_pt_decoder *d, const struct walk_chain *chain)
{
    d->return_count -= PD_MIN(d->return_count, (size_t)chain->pops);
    d->stale_returns = PD_MIN(d->stale_returns, d->return_count);
    for (unsigned i = 0; i < chain->call_count; i++)
        walk_push_return(d, chain->calls[i]);
}

PD_INLINE void hot_chain(struct pd_pt_decoder *d, struct hot *h, const struct walk_chain *chain)
{
    hot_steps(h, chain->takes);
    chain_returns(d, chain);
    h->insns += chain->insns;
    h->node = chain->end;
    h->last = chain->last;
    h->last_ip = chain->keeps ? chain->ip_behind : h->last_ip;
    h->p += chain->size;
    h->kind = chain->last_kind;
}

/* As far as chains are known. Where the packets end that are to be walked one by one. */
PD_INLINE const uint8_t *hot_chains(struct pd_pt_decoder *d, struct hot *h, const uint8_t *end)
{
    struct walk_chains *chains = &d->chains;
    while (h->p <= end && walk_control_bits[*h->p] != WALK_NO_CONTROL) {
        const struct walk_bytes bytes = walk_chain_bytes(h->p);
        struct walk_chain *chain = walk_chain_set(chains, h->node, bytes);
        if (PD_UNLIKELY(!fits(d, h, chain, bytes)) && PD_UNLIKELY(!fits(d, h, ++chain, bytes))) {
            chains->missed++;
            return walk_learn_chain(d, chain - 1, h->node, h->p, h->last_ip);
        }
        if (PD_UNLIKELY(h->insns + chain->need >= h->budget))
            return h->p + chain->size;
        chains->hit++;
        hot_chain(d, h, chain);
    }
    return h->p + 1;
}

/* Packets as long as they are ordinary ones. True: the current one is a TNT of which bits are left. */
bool walk_unseen(struct pd_pt_decoder *d)
{
    struct hot h;
    if (d->end - d->next < HOT_MARGIN || hot_kind[*d->next] == HOT_NOT || !hot_begin(d, &h))
        return false;
    const uint8_t *end = d->end - HOT_MARGIN;
    /* With CYCs in between there are no chains. */
    const uint8_t *singly = d->time.have_cyc ? d->end
                                             : h.p + PD_MIN(d->chains.rest, (size_t)(d->end - h.p));
    bool go = true;
    while (go && h.p <= end) {
        if (h.p >= singly && h.node) {
            singly = hot_chains(d, &h, end);
            if (h.p > end)
                break;
        }
        const uint8_t *p = h.p, *at = p;
        unsigned kind = hot_kind[*p];
        /* Mostly one of them stands before what it times. */
        if (kind >= HOT_CYC) {
            unsigned cycles = *p++ >> 3;
            if (kind == HOT_LONG_CYC) {
                if (*p & 1)
                    break;
                cycles |= (*p++ & 0xfeu) << 4;
            }
            h.p = p;
            go = hot_cyc(d, &h, cycles, at);
            kind = hot_kind[*p];
            if (!go || kind >= HOT_CYC)
                continue;
        }
        switch (kind) {
        case HOT_TNT: go = h.node && hot_tnt(d, &h); break;
        case HOT_TIP: go = h.node && hot_tip(d, &h); break;
        case HOT_MTC: go = hot_mtc(d, &h); break;
        default: go = false;
        }
    }
    walk_judge_chains(&d->chains, (size_t)(h.p - d->next));
    hot_end(d, &h);
    return d->walk == WALK_TNT_MORE;
}
