/* SPDX-License-Identifier: MIT */
/* The walk while nobody wants to see branches: what a few TNT bits do from a node on is found out
 * once and then a look-up. All that others can see stays as if each step had been made: counts,
 * times, the returns to come. Whatever is out of the ordinary is left to the ordinary walk. */
#include "itrace/intel_pt/fast/packet_loop.h"

/* ---- TNT ---- */

/* What the steps that were not made would have done. */
enum {
    SEEN_USED = 1,   /* bits of this packet */
    SEEN_STEP = 2,   /* a step that takes the time */
    SEEN_CYCLES = 4, /* that step takes the cycles, too, since nothing came before it */
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

PD_INLINE void unreported_done(struct pd_pt_decoder *d, uint64_t insns, uint64_t bits,
                               unsigned left, unsigned seen, const struct pd_code_node *last,
                               struct pd_code_node *node)
{
    if (!last)
        return;
    d->time.insns += insns;
    d->place.node = node;
    d->place.index = 0;
    d->place.ip = node->ip;
    walk_set_insn(d, last->op, last->length, last->last_ip);
    if (d->time.sample_cyc && (seen & (SEEN_CYCLES | SEEN_NOT_TAKEN))) {
        if (seen & SEEN_CYCLES)
            d->sample.tot_cycles = d->time.tot_cycles;
        d->time.sample_cyc = false;
    }
    d->unused.tnt = bits;
    d->unused.tnt_count = left;
    d->loop.direct_count = 0;
    if (seen & SEEN_USED)
        d->walk = left ? WALK_TNT_MORE : WALK_IN_SYNC;
    if ((seen & SEEN_STEP) || !left)
        walk_take_time(d);
}

void walk_tnt_unreported(struct pd_pt_decoder *d)
{
    enum pd_code_error error;
    struct pd_code_node *node = walk_resolve(d, &error);
    if (!node || d->place.index || d->loop.progress_count || walk_marks_step(d))
        return;
    const struct pd_code_node *last = NULL;
    uint64_t budget = unreported_budget(d), insns = 0, bits = d->unused.tnt;
    unsigned left = d->unused.tnt_count, seen = d->walk == WALK_TNT_MORE ? SEEN_USED : 0;
    while (left) {
        unsigned count = PD_MIN(left, (unsigned)WALK_RUN_BITS);
        const struct walk_run *run = walk_get_run(d, node,
                                                  1u << count | (unsigned)(bits >> (64 - count)));
        if (!run || insns + run->insns + run->end_insns >= budget)
            break;
        seen = see_run(seen, run);
        walk_push_calls(d, run);
        insns += run->insns;
        bits <<= run->used;
        left -= run->used;
        last = run->last ? run->last : last;
        node = run->end;
        if (run->used == count || (run->used && node->branch != PD_BRANCH_INDIRECT))
            continue;
        /* What follows depends on the calls before. */
        struct pd_code_node *next = walk_unreported_return(d, node, bits >> 63);
        if (!next)
            break;
        insns += node->insns;
        bits <<= 1;
        left--;
        seen = see_return(seen);
        last = node;
        node = next;
    }
    unreported_done(d, insns, bits, left, seen, last, node);
}
