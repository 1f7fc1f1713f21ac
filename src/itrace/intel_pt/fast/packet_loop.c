/* SPDX-License-Identifier: MIT */
/* Packet by packet while nobody wants to see branches. What is out of the ordinary is left to
 * walk.c. */
#include "itrace/intel_pt/fast/packet_loop.h"

/* So many bytes may be read without a look at the end. */
enum { LOOP_MARGIN = 16 };

enum {
    LOOP_NOT,
    LOOP_TNT,
    LOOP_TIP,
    LOOP_MTC,
    LOOP_FUP,
    LOOP_PGD, /* without an IP */
    LOOP_PGE,
    LOOP_MODE,
    LOOP_EXTENDED, /* PIP is one of them */
    LOOP_CYC,
    HOT_LONG_CYC
};
#define LOOP_OF(b)                                                                                 \
    (!((b)&1)             ? (b) > 2 ? LOOP_TNT                                                     \
                            : (b)   ? LOOP_EXTENDED                                                \
                                    : LOOP_NOT                                                     \
     : ((b)&3) == 3       ? (b)&4 ? HOT_LONG_CYC : LOOP_CYC                                        \
     : ((b)&0x1f) == 0x0d ? LOOP_TIP                                                               \
     : ((b)&0x1f) == 0x1d ? LOOP_FUP                                                               \
     : ((b)&0x1f) == 0x11 ? LOOP_PGE                                                               \
     : (b) == 0x59        ? LOOP_MTC                                                               \
     : (b) == 0x01        ? LOOP_PGD                                                               \
     : (b) == 0x99        ? LOOP_MODE                                                              \
                          : LOOP_NOT)
#define LOOP4(b) LOOP_OF(b), LOOP_OF((b) + 1), LOOP_OF((b) + 2), LOOP_OF((b) + 3)
#define LOOP16(b) LOOP4(b), LOOP4((b) + 4), LOOP4((b) + 8), LOOP4((b) + 12)
#define LOOP64(b) LOOP16(b), LOOP16((b) + 16), LOOP16((b) + 32), LOOP16((b) + 48)
static const uint8_t loop_kind[256] = { LOOP64(0), LOOP64(64), LOOP64(128), LOOP64(192) };

static bool is_plain(const struct pd_pt_decoder *d)
{
    const uint32_t watched = PD_PT_BRANCH | PD_PT_TRACE_BEGIN | (d->pauses ? 0 : PD_PT_TRACE_END);
    return d->config.branches && !d->config.filtered_out && !d->config.watches_ips &&
           !d->events.overflow && !(d->watch & watched) && !walk_is_pending(&d->pending);
}

PD_INLINE bool loop_begin(struct pd_pt_decoder *d, struct packet_loop *h)
{
    enum pd_code_error error;
    /* With a threshold for CYCs, a count belongs only to the packet behind it. */
    if (d->config.cyc_threshold || walk_marks_step(d) || d->input.context != PD_PT_NO_BLOCK ||
        d->loop.progress_count || d->modes.iflag != d->modes.next_iflag ||
        (d->modes.pip & 1) != d->modes.nr)
        return false;
    /* One by one: the compiler would clear it by a slow instruction first. */
    h->node = d->time.pge ? walk_resolve(d, &error) : NULL;
    if (d->place.index)
        h->node = NULL;
    h->p = d->input.next;
    h->last = NULL;
    h->last_ip = d->place.last_ip;
    h->kind = d->input.packet.kind;
    h->moved = false;
    h->plain = is_plain(d);
    h->step_reference = h->step_least = h->step_cycles = 0;
    h->step_factor = 0;
    loop_take(d, h);
    loop_set_budget(d, h);
    d->modes.next_nr = d->modes.nr;
    return true;
}

PD_INLINE void loop_end(struct pd_pt_decoder *d, const struct packet_loop *h)
{
    loop_put(d, h);
    d->input.next = h->p;
    d->input.packet.kind = (uint8_t)h->kind;
    d->place.last_ip = h->last_ip;
    if (!h->moved)
        return;
    d->place.have_last_ip = true;
    d->loop.direct_count = 0;
    if (h->last)
        walk_set_insn(d, h->last->op, h->last->length, h->last->last_ip);
    d->place.node = h->node;
    d->place.index = 0;
    d->place.from = NULL;
    d->place.ip = h->node ? h->node->ip : h->ip;
}

/* ---- TNT and TIP ---- */

/* Walks the bits that are left, which need a closer look. */
static PD_NOINLINE void loop_tnt_rest(struct pd_pt_decoder *d, const uint8_t *at, unsigned bits,
                                      unsigned count)
{
    d->input.at = at;
    d->unused.tnt = (uint64_t)bits << (64 - count);
    d->unused.tnt_count = count;
    d->walk = WALK_TNT_MORE;
}

PD_INLINE void loop_follow(struct pd_pt_decoder *d, struct packet_loop *h,
                           const struct walk_run *run)
{
    walk_push_calls(d, run);
    h->insns += run->insns;
    h->node = run->end;
    h->moved = true;
    if (run->last)
        h->last = run->last;
}

/* A TNT with returns in it, where what they lead to depends on the calls before, or with too many
 * calls for one run. `run` is its first part. False as loop_tnt(). */
PD_INLINE bool loop_tnt_in_parts(struct pd_pt_decoder *d, struct packet_loop *h,
                                 const struct walk_run *run, unsigned bits, unsigned count)
{
    bool cycles = !run->used || (run->flags & RUN_TAKEN); /* a return is a step */
    unsigned steps = RUN_STEP;                            /* flags of runs that say so */
    bool step = false;
    const unsigned all = count;
    for (;;) {
        loop_follow(d, h, run);
        step |= (run->flags & steps) != 0;
        count -= run->used;
        if (!count)
            break;
        if (!run->used || h->node->branch == PD_BRANCH_INDIRECT) {
            struct pd_code_node *ret = h->node;
            struct pd_code_node *next = walk_unreported_return(d, ret, bits >> (count - 1) & 1);
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
    loop_steps(h, cycles);
    h->kind = PD_PT_TNT;
    h->p++;
    return true;
rest:
    if (count == all)
        return false;
    loop_tnt_rest(d, h->p++, bits, count);
    h->kind = PD_PT_TNT;
    if (step)
        loop_steps(h, cycles);
    else
        h->sample_cyc = false;
    return false;
}

/* A short TNT. False: not done here, or not all of it. */
PD_INLINE bool loop_tnt(struct pd_pt_decoder *d, struct packet_loop *h)
{
    unsigned bits = *h->p >> 1, count = 31 - (unsigned)__builtin_clz(bits);
    const struct walk_run *run = walk_get_run(d, h->node, bits);
    if (PD_UNLIKELY(!run || h->insns + run->insns + run->end_insns >= h->budget))
        return false;
    if (run->used != count)
        return loop_tnt_in_parts(d, h, run, bits, count);
    loop_follow(d, h, run);
    loop_steps(h, run->flags & RUN_TAKEN);
    h->kind = PD_PT_TNT;
    h->p++;
    return true;
}

PD_INLINE bool loop_tip(struct pd_pt_decoder *d, struct packet_loop *h)
{
    uint64_t ip = h->last_ip;
    unsigned size = walk_tip_ip(h->p, &ip);
    const struct walk_run *run = walk_get_run(d, h->node, 1);
    if (!size || !run || run->end->branch != PD_BRANCH_INDIRECT || walk_is_place(d, ip))
        return false;
    struct pd_code_node *branch = run->end;
    uint64_t insns = h->insns + run->insns + branch->insns;
    if (insns >= h->budget || (d->config.timeful && ip < d->config.kernel_start &&
                               branch->last_ip >= d->config.kernel_start))
        return false;
    loop_follow(d, h, run);
    h->insns = insns;
    h->last = branch;
    h->last_ip = h->ip = ip;
    h->node = NULL;
    if (branch->op == PD_INSN_CALL)
        walk_push_return(d, branch);
    else if (branch->op == PD_INSN_RET)
        h->node = walk_return_to(d, ip);
    if (!h->node)
        h->node = walk_known_node(d, ip);
    loop_steps(h, true);
    h->kind = PD_PT_TIP;
    h->p += size;
    return true;
}

/* ---- tracing ends and begins ---- */

/* Whether no sample comes near after so many instructions. What ends or begins may change by a tick
 * when a sample is due. */
PD_INLINE bool loop_is_far(const struct packet_loop *h, uint64_t count)
{
    return h->insns + count + 2 < h->budget;
}

static PD_NOINLINE void note_off(struct pd_pt_decoder *d)
{
    struct pd_pt_pauses *pauses = d->pauses;
    pd_pt_pauses_set(pauses, PD_MAX(pauses->time, d->time.timestamp));
    pd_pt_pauses_off(pauses, d->time.insns);
}

/* walk_tell_skipped() will say when, if it is late. */
static PD_NOINLINE void note_on(struct pd_pt_decoder *d)
{
    struct pd_pt_pauses *pauses = d->pauses;
    pd_pt_pauses_on(pauses, d->untold.time, d->time.insns);
    pd_pt_pauses_set(pauses, d->untold.time);
    pauses->set = pauses->ended = true;
}

/* The step that ends tracing, at `ip`. Its time is told: no calibration looks beyond it. */
PD_INLINE void loop_off(struct pd_pt_decoder *d, struct packet_loop *h, uint64_t ip)
{
    loop_put(d, h);
    if (d->time.max_cycles)
        walk_settle_vain(d);
    walk_take_counts(d);
    if (d->pauses)
        note_off(d);
    walk_put_off(d, false);
    walk_trace_off(d);
    d->state.from_ip = ip;
    d->state.to_ip = 0;
    h->node = NULL;
    h->last = NULL;
    h->ip = ip;
    h->moved = true;
    h->kind = PD_PT_TIP_PGD;
    loop_new_time(d, h);
}

/* Counts the instructions up to `ip`, in a straight line; false: they are not in one. */
PD_INLINE bool count_to(const struct packet_loop *h, uint64_t ip, uint64_t *count)
{
    const struct pd_code_node *node = h->node;
    for (unsigned i = 0; node && i < 8; i++, node = node->fall) {
        if (ip >= node->ip && ip <= node->last_ip) {
            uint64_t at = node->ip;
            for (const uint8_t *length = node->lengths; at < ip; length++, ++*count)
                at += *length;
            return at == ip;
        }
        if (node->branch != PD_BRANCH_NONE)
            return false;
        *count += node->insns;
    }
    return false;
}

/* A FUP, and right behind it a TIP.PGD: it ends there. */
PD_INLINE bool loop_fup(struct pd_pt_decoder *d, struct packet_loop *h)
{
    uint64_t ip = h->last_ip, count = 0;
    const unsigned size = walk_tip_ip(h->p, &ip);
    if (!h->plain || !size || loop_kind[h->p[size]] != LOOP_PGD || !count_to(h, ip, &count) ||
        !loop_is_far(h, count))
        return false;
    h->insns += count;
    h->last_ip = ip;
    loop_off(d, h, ip);
    walk_set_insn(d, PD_INSN_OTHER, 0, ip);
    h->p += size + 1;
    return true;
}

/* A TIP.PGD without an IP at an indirect branch. */
PD_INLINE bool loop_pgd(struct pd_pt_decoder *d, struct packet_loop *h)
{
    const struct walk_run *run = h->plain && h->node ? walk_get_run(d, h->node, 1) : NULL;
    if (!run)
        return false;
    const struct pd_code_node *branch = run->end;
    const uint64_t count = run->insns + branch->insns;
    if (branch->branch != PD_BRANCH_INDIRECT || branch->op == PD_INSN_CALL ||
        branch->op == PD_INSN_RET || !loop_is_far(h, count))
        return false;
    walk_push_calls(d, run);
    h->insns += count;
    loop_off(d, h, branch->last_ip);
    walk_set_insn(d, branch->op, branch->length, branch->last_ip);
    h->p++;
    return true;
}

/* Tracing begins in user space: the caller's time would take the estimate. False: the caller may
 * have to see that step. */
PD_INLINE bool loop_skip(struct pd_pt_decoder *d, const struct packet_loop *h)
{
    const uint64_t insns = h->insns - h->insn_base;
    if (insns >> 16)
        return false;
    const uint64_t ticks = insns ? walk_estimate(d, insns) : 0;
    const bool late = d->time.late || h->counted;
    if (late && !d->config.max_non_turbo_ratio)
        return false;
    /* Cycles are at least as many as instructions twice, as the estimate has it. */
    if (late ? h->total + 2 * insns + 2 >= h->room : d->time.timestamp + ticks >= d->limit)
        return false;
    d->untold.skipped = true;
    d->untold.late = late;
    d->untold.cycles = h->total - h->base;
    d->untold.time = ticks + (late ? 0 : d->time.timestamp);
    return true;
}

/* A TIP.PGE. */
PD_INLINE bool loop_pge(struct pd_pt_decoder *d, struct packet_loop *h, const uint8_t *at)
{
    uint64_t ip = h->last_ip;
    const unsigned size = walk_tip_ip(at, &ip);
    if (!h->plain || !size || d->time.pge || !loop_is_far(h, 0))
        return false;
    const bool returns = d->config.timeful && ip && ip < d->config.kernel_start;
    if (returns && !loop_skip(d, h))
        return false;
    loop_put(d, h);
    d->time.pge = true;
    pd_pt_time_rebase_cycles(&d->time);
    walk_take_counts(d);
    if (returns && d->pauses)
        note_on(d);
    d->state.from_ip = 0;
    d->state.to_ip = ip;
    h->last_ip = h->ip = ip;
    h->node = walk_known_node(d, ip);
    h->moved = true;
    h->kind = PD_PT_TIP_PGE;
    h->p = at + size;
    loop_take(d, h);
    return true;
}

/* MODE.Exec that changes nothing, and right behind it a TIP.PGE. */
PD_INLINE bool loop_mode(struct pd_pt_decoder *d, struct packet_loop *h)
{
    const unsigned mode = h->p[1];
    return (mode & ~4u) <= 1 && !!(mode & 4) == d->modes.iflag && loop_kind[h->p[2]] == LOOP_PGE &&
           loop_pge(d, h, h->p + 2);
}

/* A PIP that leads from host to host, or from guest to guest. It tells nothing of the time, nor
 * ends a calibration. */
PD_INLINE bool loop_pip(struct pd_pt_decoder *d, struct packet_loop *h)
{
    enum { PIP = 0x43, SIZE = 8, UNUSED_BITS = 16 };
    if (h->p[1] != PIP || (h->p[2] & 1) != d->modes.nr)
        return false;
    d->modes.pip = pd_load64(h->p, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) >> UNUSED_BITS;
    h->p += SIZE;
    h->kind = PD_PT_PIP;
    return true;
}

/* ---- several at once ---- */

static PD_NOINLINE bool returns_as_more(const struct pd_pt_decoder *d,
                                        const struct walk_chain *chain)
{
    const struct walk_chain_more *more = &d->learnt.chains->more[chain - d->learnt.chains->slots];
    const size_t here = PD_LENGTH(chain->returns), known = d->stack.count - d->stack.stale;
    for (size_t i = 0; i < PD_LENGTH(more->returns); i++)
        if (more->returns[i] &&
            (known <= here + i ||
             d->stack.returns[d->stack.count - 1 - here - i].call != more->returns[i]))
            return false;
    return true;
}

/* Whether the calls before are those that the chain returns to. */
PD_INLINE bool returns_as(const struct pd_pt_decoder *d, const struct walk_chain *chain)
{
    const size_t count = d->stack.count, known = count - d->stack.stale;
    const struct walk_return *all = d->stack.returns;
    return (!chain->returns[0] || (known > 0 && all[count - 1].call == chain->returns[0])) &&
           (!chain->returns[1] || (known > 1 && all[count - 2].call == chain->returns[1])) &&
           (PD_LIKELY(!chain->more_returns) || returns_as_more(d, chain));
}

/* The packets of a chain, picked from between CYCs. By the place of a packet: */
struct picked {
    struct walk_bytes bytes;
    unsigned size;
    uint32_t timed;                      /* bits: a CYC comes right before it */
    uint32_t cycles[WALK_CHAIN_BYTES];   /* of all CYCs before it */
    uint32_t ends[WALK_CHAIN_BYTES + 1]; /* where the packet ends in the trace that ends there */
    /* What comes behind them: */
    const uint8_t *behind;    /* a CYC, if there is one */
    unsigned cyc, cyc_cycles; /* its size, or 0 */
};

/* Picks the packets that there are, but none behind a second CYC. At least LOOP_MARGIN bytes lie
 * behind `end`. No branches but the one out of the loop, since the processor cannot foresee the
 * kinds of packets. */
PD_INLINE void pick(struct picked *to, const uint8_t *begin, const uint8_t *end)
{
    uint8_t room[WALK_CHAIN_BYTES + 8] = { 0 };
    uint32_t all = 0, timed = 0;
    unsigned size = 0, cyc = 0, cycles = 0;
    const uint8_t *p = begin;
    to->ends[0] = 0;
    while (p <= end) {
        uint64_t bytes = pd_load64(p, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
        const unsigned one = (bytes & 3) == 3, two = one & (unsigned)(bytes >> 2);
        cyc = one + two;
        cycles = ((unsigned)(bytes >> 3 & 0x1f) | ((unsigned)(bytes >> 4 & 0xfe0) & -two)) & -one;
        if (PD_UNLIKELY(two & bytes >> 8)) {
            cyc = 0;
            break;
        }
        bytes >>= 8 * cyc;
        const unsigned byte = bytes & 0xff, behind = size + walk_control_size[byte];
        if (behind > WALK_CHAIN_BYTES)
            break;
        p += cyc;
        memcpy(room + size, p, 8);
        all += cycles;
        timed |= one << size;
        to->cycles[size] = all;
        p += 1 + (byte >> 4 & -(byte & 1)); /* its size, sooner than from the table */
        size = behind;
        to->ends[size] = (uint32_t)(p - begin);
        cyc = 0;
    }
    to->bytes = walk_first(walk_chain_bytes(room), size);
    to->size = size;
    to->timed = timed;
    to->behind = p;
    to->cyc = cyc;
    to->cyc_cycles = cycles;
}

PD_INLINE bool fits(const struct pd_pt_decoder *d, const struct packet_loop *h,
                    const struct walk_chain *chain, struct walk_bytes bytes)
{
    return chain->node == h->node && walk_begins_with(bytes, chain) && chain->size &&
           chain->epoch == d->learnt.chains->epoch &&
           (h->last_ip & walk_ip_kept[chain->keeps]) == chain->ip_before && returns_as(d, chain);
}

static PD_NOINLINE void push_more_calls(struct pd_pt_decoder *d, const struct walk_chain *chain,
                                        unsigned count)
{
    const struct walk_chain_more *more = &d->learnt.chains->more[chain - d->learnt.chains->slots];
    for (unsigned i = 0; i < count; i++)
        walk_push_return(d, more->calls[i]);
}

PD_INLINE void chain_returns(struct pd_pt_decoder *d, const struct walk_chain *chain)
{
    d->stack.count -= PD_MIN(d->stack.count, (size_t)chain->pops);
    d->stack.stale = PD_MIN(d->stack.stale, d->stack.count);
    const unsigned here = PD_LENGTH(chain->calls);
    for (unsigned i = 0; i < PD_MIN(chain->call_count, here); i++)
        walk_push_return(d, chain->calls[i]);
    if (PD_UNLIKELY(chain->call_count > here))
        push_more_calls(d, chain, chain->call_count - here);
}

PD_INLINE unsigned highest(uint32_t bits)
{
    return 31 - (unsigned)__builtin_clz(bits);
}

/* Does what the chain's CYCs and steps do; loop_steps() for all of them. False: there are more CYCs
 * than are known here. */
PD_INLINE bool chain_cycles(struct packet_loop *h, const struct walk_chain *chain,
                            const struct picked *packets)
{
    const uint32_t timed = packets->timed & (0xffffu >> (WALK_CHAIN_BYTES - chain->size));
    const uint64_t total = h->total + packets->cycles[chain->at_last[0]];
    if (PD_LIKELY(timed)) {
        const unsigned at = highest(timed), i = at != chain->at_last[0];
        if (PD_UNLIKELY(at != chain->at_last[i] || chain->insns_last[i] == UINT32_MAX ||
                        total >= h->room))
            return false;
        h->insn_base = h->insns + chain->insns_last[i];
        h->counted = true;
    }
    const uint32_t sampled = chain->takes & (timed | h->sample_cyc);
    if (sampled) {
        h->sample_total = h->total + packets->cycles[highest(sampled)];
        h->sampled = true;
    }
    h->total = total;
    loop_steps(h, false);
    return true;
}

PD_INLINE void loop_chain(struct pd_pt_decoder *d, struct packet_loop *h,
                          const struct walk_chain *chain)
{
    chain_returns(d, chain);
    h->insns += chain->insns;
    h->node = chain->end;
    h->last = chain->last;
    h->last_ip = chain->keeps ? chain->ip_behind : h->last_ip;
    h->kind = chain->last_kind;
    h->moved = true;
}

/* Returns where the packets end that are to be walked one by one, since the chain is new. */
static PD_NOINLINE const uint8_t *new_chain(struct pd_pt_decoder *d, struct walk_chain *set,
                                            struct pd_code_node *node, uint64_t last_ip,
                                            const uint8_t *p, const uint8_t *end)
{
    struct picked packets;
    pick(&packets, p, end);
    d->learnt.chains->missed++;
    walk_learn_chain(d, set, node, &packets.bytes, packets.size, last_ip);
    return p + packets.ends[packets.size];
}

/* Does all of a chain's packets, or as many as the chain has. Returns where the packets end that
 * are to be walked one by one; NULL: there are none. */
PD_INLINE const uint8_t *loop_picked(struct pd_pt_decoder *d, struct packet_loop *h,
                                     const struct picked *packets, const uint8_t *end)
{
    struct walk_chains *chains = d->learnt.chains;
    struct walk_chain *chain = walk_chain_set(chains, h->node, packets->bytes);
    if (PD_UNLIKELY(!fits(d, h, chain, packets->bytes)) &&
        PD_UNLIKELY(!fits(d, h, ++chain, packets->bytes)))
        return new_chain(d, chain - 1, h->node, h->last_ip, h->p, end);
    if (PD_UNLIKELY(h->insns + chain->need >= h->budget) || !chain_cycles(h, chain, packets))
        return h->p + packets->ends[chain->size];
    chains->hit++;
    loop_chain(d, h, chain);
    /* If this branch is foreseen, the processor looks at what comes next before the chain is
     * there. */
    if (PD_UNLIKELY(chain->size != packets->size)) {
        h->p += packets->ends[chain->size];
        return h->p;
    }
    h->p = packets->behind;
    return NULL;
}

/* A CYC and an MTC behind the chain. False: something else is there. */
PD_INLINE bool loop_picked_mtc(struct packet_loop *h, const struct picked *packets)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): packets were picked from somewhere */
    if (!packets->cyc || loop_kind[h->p[packets->cyc]] != LOOP_MTC ||
        h->total + packets->cyc_cycles >= h->room)
        return false;
    loop_count(h, packets->cyc_cycles);
    h->p += packets->cyc;
    return true;
}

/* Goes on as far as chains are known. Returns where the packets end that are to be walked one by
 * one; *go as in walk_unreported(). */
PD_INLINE const uint8_t *loop_chains(struct pd_pt_decoder *d, struct packet_loop *h,
                                     const uint8_t *end, bool *go)
{
    struct picked packets;
    while (h->p <= end) {
        pick(&packets, h->p, end);
        const uint8_t *singly = packets.size ? loop_picked(d, h, &packets, end) : NULL;
        if (PD_UNLIKELY(singly != NULL))
            return singly;
        if (loop_picked_mtc(h, &packets)) {
            *go = loop_mtc(d, h);
            if (!*go)
                break;
        } else if (!packets.size) {
            break;
        }
    }
    return h->p + 1;
}

/* loop_chains() for traces without CYCs: packets are looked up as they lie in the trace, together
 * with what follows them. */
PD_INLINE const uint8_t *loop_chains_alone(struct pd_pt_decoder *d, struct packet_loop *h,
                                           const uint8_t *end)
{
    struct walk_chains *chains = d->learnt.chains;
    while (h->p <= end && walk_control_size[*h->p] <= WALK_CHAIN_BYTES) {
        const struct walk_bytes bytes = walk_chain_bytes(h->p);
        struct walk_chain *chain = walk_chain_set(chains, h->node, walk_without_mtc(bytes));
        if (PD_UNLIKELY(!fits(d, h, chain, bytes)) && PD_UNLIKELY(!fits(d, h, ++chain, bytes)))
            return new_chain(d, chain - 1, h->node, h->last_ip, h->p, end);
        if (PD_UNLIKELY(h->insns + chain->need >= h->budget))
            return h->p + chain->size;
        chains->hit++;
        loop_steps(h, chain->takes & 1);
        loop_chain(d, h, chain);
        h->p += chain->size;
    }
    return h->p + 1;
}

/* ---- the loop ---- */

/* While steps are to be returned: goes over CYCs and MTCs, which are no steps. An idle processor
 * sends many. */
static PD_NOINLINE void loop_times(struct pd_pt_decoder *d)
{
    struct packet_loop h;
    if (d->config.cyc_threshold || d->input.context != PD_PT_NO_BLOCK)
        return;
    h.p = d->input.next;
    h.kind = d->input.packet.kind;
    loop_take(d, &h);
    loop_set_budget(d, &h);
    const uint8_t *end = d->input.end - LOOP_MARGIN;
    while (h.p <= end) {
        const uint8_t *at = h.p;
        uint64_t cycles;
        if (loop_kind[*at] == LOOP_MTC) {
            loop_mtc(d, &h);
        } else if (loop_kind[*at] >= LOOP_CYC && (h.p += pd_pt_short_cyc(at, &cycles)) > at) {
            loop_cyc(d, &h, (unsigned)cycles, at);
        } else {
            break;
        }
    }
    loop_put(d, &h);
    d->input.next = h.p;
    d->input.packet.kind = (uint8_t)h.kind;
}

/* Packets as long as they are ordinary ones. True: the current one is a TNT of which bits are
 * left. */
bool walk_unreported(struct pd_pt_decoder *d)
{
    struct packet_loop h;
    if (d->input.end - d->input.next < LOOP_MARGIN || loop_kind[*d->input.next] == LOOP_NOT)
        return false;
    if (PD_UNLIKELY(d->time.timestamp >= d->limit)) {
        loop_times(d);
        return false;
    }
    if (!loop_begin(d, &h))
        return false;
    const uint8_t *end = d->input.end - LOOP_MARGIN;
    const uint8_t *singly = h.p + PD_MIN(d->learnt.chains->rest, (size_t)(d->input.end - h.p));
    bool go = true;
    while (go && h.p <= end) {
        if (h.p >= singly && h.node) {
            singly = d->time.have_cyc ? loop_chains(d, &h, end, &go)
                                      : loop_chains_alone(d, &h, end);
            if (!go || h.p > end)
                break;
        }
        const uint8_t *p = h.p, *at = p;
        unsigned kind = loop_kind[*p];
        /* Mostly one of them stands before what it times. */
        if (kind >= LOOP_CYC) {
            unsigned cycles = *p++ >> 3;
            if (kind == HOT_LONG_CYC) {
                if (*p & 1)
                    break;
                cycles |= (*p++ & 0xfeu) << 4;
            }
            h.p = p;
            go = loop_cyc(d, &h, cycles, at);
            kind = loop_kind[*p];
            if (!go || kind >= LOOP_CYC)
                continue;
        }
        switch (kind) {
        case LOOP_TNT: go = h.node && loop_tnt(d, &h); break;
        case LOOP_TIP: go = h.node && loop_tip(d, &h); break;
        case LOOP_MTC: go = loop_mtc(d, &h); break;
        case LOOP_FUP: go = loop_fup(d, &h); break;
        case LOOP_PGD: go = loop_pgd(d, &h); break;
        case LOOP_PGE: go = loop_pge(d, &h, h.p); break;
        case LOOP_MODE: go = loop_mode(d, &h); break;
        case LOOP_EXTENDED: go = loop_pip(d, &h); break;
        default: go = false;
        }
    }
    walk_judge_chains(d->learnt.chains, (size_t)(h.p - d->input.next));
    loop_end(d, &h);
    return d->walk == WALK_TNT_MORE;
}
