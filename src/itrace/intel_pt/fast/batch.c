/* SPDX-License-Identifier: MIT */
/* Steps that differ from the last one in their addresses and times only: instructions in a straight
 * line, branches that TNTs and TIPs tell of, with nothing but CYCs in between. They are handed over
 * many at a time. What is not plain ends them; the next step is then made by code.c, which goes on
 * where these have come to. */
#include "itrace/intel_pt/walk/walk.h"

/* Whether the modes are what they were, and nothing waits to be told with the next step. */
PD_INLINE bool is_alike(const struct pd_pt_decoder *d)
{
    bool counts = d->time.sample_cyc && d->walk == WALK_TNT_MORE;
    return d->state.error == PD_PT_OK && !counts && !d->modes.tx_flags && !d->config.log &&
           !d->events.emulated_ptwrite && d->modes.nr == d->modes.next_nr;
}

/* Where the walk is, as far as it has been there before. */
PD_INLINE struct pd_code_node *known_node(const struct pd_pt_decoder *d)
{
    if (d->place.node || !d->code.view)
        return d->place.node;
    if (!d->place.from)
        return walk_known_node(d, d->place.ip);
    return d->place.from_taken ? d->place.from->taken : d->place.from->fall;
}

/* Whether a branch stays within the kernel or within user space, leaves the time alone, and does
 * not lead to where the caller looks closer. */
PD_INLINE bool is_plain(const struct pd_pt_decoder *d, uint64_t from, uint64_t to)
{
    return from && to && (from >= d->config.kernel_start) == (to >= d->config.kernel_start) &&
           !walk_is_place(d, to);
}

/* The state of the last of these steps. */
static void finish(struct pd_pt_decoder *d, uint32_t type, bool has_cycles)
{
    struct pd_pt_state *state = &d->state;
    state->type = type;
    state->flags = has_cycles ? PD_PT_SAMPLE_IPC : 0;
    state->from_nr = state->to_nr = d->modes.nr;
    state->from_if = state->to_if = d->modes.iflag;
    state->last_timestamp = d->sample.time;
    state->skipped_timestamp = 0;
}

/* Whether each instruction is a step. */
PD_INLINE bool samples_all(const struct pd_pt_decoder *d)
{
    return d->config.period_type == PD_PT_PERIOD_INSTRUCTIONS && d->config.period == 1 &&
           d->time.insns == d->period.base;
}

/* ---- instructions ---- */

bool pd_pt_straight(struct pd_pt_decoder *d, size_t most, struct pd_pt_straight *out)
{
    bool walks = d->walk == WALK_TNT || d->walk == WALK_TNT_MORE || d->walk == WALK_TIP ||
                 d->walk == WALK_TIP_PGD;
    if (!walks || !samples_all(d) || !is_alike(d))
        return false;
    struct pd_code_node *node = known_node(d);
    uint32_t index = d->place.node ? d->place.index : 0;
    if (!node || index + 1 >= node->insns || !most)
        return false;
    const uint8_t *lengths = node->lengths + index;
    size_t count = PD_MIN((size_t)node->insns - 1 - index, most);
    *out = (struct pd_pt_straight){ d->place.ip, lengths, count, !d->time.have_cyc };
    uint64_t last = d->place.ip, next = d->place.ip;
    for (size_t i = 0; i < count; i++) {
        last = next;
        next += lengths[i];
    }
    d->place.node = node;
    d->place.from = NULL;
    d->place.index = index + (uint32_t)count;
    d->place.ip = next;
    d->place.branch = NULL;
    d->time.insns += count;
    d->period.base = d->time.insns;
    d->loop.progress_count = 0;
    walk_set_insn(d, PD_INSN_OTHER, lengths[count - 1], last);
    d->state.from_ip = last;
    d->state.to_ip = 0;
    d->state.tot_insn_cnt = d->time.insns;
    finish(d, PD_PT_INSTRUCTION, out->has_cycles);
    return true;
}

/* ---- branches ---- */

/* A walk over ordinary packets; what it has come to is the decoder's when it ends. */
struct along {
    struct pd_pt_decoder *d;
    struct pd_code_node *node;   /* comes next; NULL: not known */
    uint32_t index;              /* in it */
    uint64_t ip;                 /* of that */
    struct pd_code_node *from;   /* the last branch, if it leads there; NULL: a TIP does */
    struct pd_code_node *branch; /* the last one; NULL: none yet */
    bool taken, all;             /* all: each instruction is a step */
    uint64_t insns;
    uint64_t tnt;
    unsigned left; /* bits of it */
    enum walk walk;
    const uint8_t *p, *at; /* not read yet; the last packet, NULL: none yet */
    unsigned kind;         /* of that */
};

PD_INLINE void go(struct along *a, struct pd_code_node *from, bool taken)
{
    a->from = from;
    a->taken = taken;
    a->node = taken ? from->taken : from->fall;
    a->index = 0;
    a->ip = taken ? from->target : from->next_ip;
}

/* Whether direct branches behind each other may be a loop that never ends: see code.c. */
PD_INLINE bool goes_round(struct pd_pt_decoder *d, uint64_t to)
{
    if (d->loop.progress_count > 1 || d->loop.direct_count >= walk_direct_max(d))
        return true;
    if (d->loop.progress_count++) {
        d->loop.stuck_ip = to;
        d->loop.stuck_period = d->loop.stuck_left = 1;
    }
    d->loop.direct_count++;
    return false;
}

PD_INLINE void use_bit(struct along *a)
{
    a->tnt <<= 1;
    a->walk = --a->left ? WALK_TNT_MORE : WALK_IN_SYNC;
    a->d->loop.progress_count = 0;
    a->d->loop.direct_count = 0;
}

/* A return that a bit tells of. */
PD_INLINE bool pass_return(struct along *a, const struct pd_code_node *node, uint64_t *to)
{
    struct pd_pt_decoder *d = a->d;
    if (node->op != PD_INSN_RET || !d->config.return_compression || !(a->tnt >> 63) ||
        d->stack.count <= d->stack.stale)
        return false;
    struct walk_return top = d->stack.returns[d->stack.count - 1];
    if (!top.call || !is_plain(d, node->last_ip, top.ip))
        return false;
    d->stack.returned = top;
    d->stack.count--;
    *to = top.ip;
    use_bit(a);
    go(a, top.call, false);
    return true;
}

/* An indirect branch to where a TIP says. */
PD_INLINE bool pass_tip(struct along *a, struct pd_code_node *node, uint64_t *to)
{
    struct pd_pt_decoder *d = a->d;
    struct pd_code_node *next = NULL;
    *to = d->place.last_ip;
    if (!is_plain(d, node->last_ip, *to))
        return false;
    if (node->op == PD_INSN_CALL)
        walk_push_return(d, node);
    if (node->op == PD_INSN_RET)
        next = walk_return_to(d, *to);
    d->loop.progress_count = 0;
    d->loop.direct_count = 0;
    a->walk = WALK_IN_SYNC;
    a->node = next ? next : walk_known_node(d, *to);
    a->from = NULL;
    a->index = 0;
    a->ip = *to;
    return true;
}

PD_INLINE bool pass_direct(struct along *a, struct pd_code_node *node)
{
    struct pd_pt_decoder *d = a->d;
    if (a->all && a->index + 1 < node->insns)
        d->loop.progress_count = 0;
    if (node->emulated_ptwrite || goes_round(d, node->target))
        return false;
    if (node->op == PD_INSN_CALL && node->target != node->next_ip)
        walk_push_return(d, node);
    go(a, node, true);
    return true;
}

/* Follows a plain branch to where it leads; false: it is not plain. */
PD_INLINE bool pass(struct along *a, struct pd_code_node *node, uint64_t *to)
{
    const bool tip = a->walk == WALK_TIP;
    if (node->branch == PD_BRANCH_INDIRECT)
        return tip ? pass_tip(a, node, to) : pass_return(a, node, to);
    if (!is_plain(a->d, node->last_ip, node->target))
        return false;
    *to = node->target;
    if (node->branch != PD_BRANCH_CONDITIONAL)
        return pass_direct(a, node);
    if (tip)
        return false;
    const bool taken = a->tnt >> 63;
    *to = taken ? node->target : 0;
    use_bit(a);
    go(a, node, taken);
    return true;
}

/* Goes over nodes that end without a branch. */
PD_INLINE struct pd_code_node *next_branch(const struct along *a, uint64_t *insns)
{
    struct pd_code_node *node = a->node;
    if (!node)
        return NULL;
    *insns = a->insns + node->insns - a->index;
    while (PD_UNLIKELY(node->branch == PD_BRANCH_NONE)) {
        node = a->all ? NULL : node->fall;
        if (!node)
            return NULL;
        *insns += node->insns;
    }
    return node;
}

PD_INLINE void read_as(struct along *a, unsigned kind, unsigned size)
{
    a->kind = kind;
    a->at = a->p;
    a->p += size;
}

/* A CYC of one byte or two. False: a longer one. */
PD_INLINE bool read_cyc(struct along *a)
{
    uint64_t cycles;
    const unsigned size = pd_pt_short_cyc(a->p, &cycles);
    if (!size)
        return false;
    a->d->time.insns = a->insns;
    pd_pt_time_cyc(&a->d->time, cycles);
    read_as(a, PD_PT_CYC, size);
    return true;
}

/* Reads the next TNT or TIP, and the CYCs before it. False: another packet comes first, or the
 * limit. */
PD_INLINE bool read_packet(struct along *a)
{
    struct pd_pt_decoder *d = a->d;
    while (a->p < d->input.fast_end && (*a->p & 3) == 3)
        if (!read_cyc(a))
            return false;
    if (a->p >= d->input.fast_end || d->time.timestamp >= d->limit)
        return false;
    const unsigned byte = *a->p;
    if (!(byte & 1) && byte > 2) {
        a->left = 30 - (unsigned)__builtin_clz(byte);
        a->tnt = (uint64_t)(byte >> 1) << (64 - a->left);
        a->walk = WALK_TNT;
        read_as(a, PD_PT_TNT, 1);
        return true;
    }
    uint64_t ip = d->place.last_ip;
    const unsigned size = (byte & 0x1f) == 0x0d ? walk_tip_ip(a->p, &ip) : 0;
    if (!size)
        return false;
    d->place.last_ip = ip;
    d->place.have_last_ip = d->unused.tip_has_ip = true;
    a->walk = WALK_TIP;
    read_as(a, PD_PT_TIP, size);
    return true;
}

/* Gives the decoder what the walk has come to. */
static void go_on(struct pd_pt_decoder *d, const struct along *a)
{
    d->time.insns = a->insns;
    if (a->all)
        d->period.base = a->insns;
    d->unused.tnt = a->tnt;
    d->unused.tnt_count = a->left;
    d->walk = a->walk;
    if (a->at) {
        d->input.next = a->p;
        d->input.at = a->at;
        d->input.packet.kind = (uint8_t)a->kind;
    }
    if (!a->branch)
        return;
    d->place.branch = a->branch;
    d->place.index = 0;
    if (a->from) {
        walk_follow(d, a->from, a->taken);
    } else {
        d->place.ip = a->ip;
        d->place.node = a->node;
        d->place.from = NULL;
    }
    walk_set_insn(d, a->branch->op, a->branch->length, a->branch->last_ip);
}

/* Whether packets may be read here. With a threshold for CYCs a count belongs only to the packet
 * behind it. */
PD_INLINE bool may_read(const struct pd_pt_decoder *d)
{
    return d->config.branches && !d->config.cyc_threshold && !d->quick.on && !d->quick.unreported &&
           d->time.pge && !d->time.max_cycles && d->input.context == PD_PT_NO_BLOCK &&
           d->modes.iflag == d->modes.next_iflag && (d->modes.pip & 1) == d->modes.nr;
}

/* Whether such steps can come now. */
PD_INLINE bool has_branches(const struct pd_pt_decoder *d, bool reads)
{
    const bool packet = d->time.timestamp < d->limit &&
                        (d->walk == WALK_IN_SYNC || d->walk == WALK_TNT ||
                         (d->walk == WALK_TIP && d->unused.tip_has_ip));
    if ((d->walk != WALK_TNT_MORE && !(reads && packet)) || !is_alike(d))
        return false;
    return d->config.period_type == PD_PT_PERIOD_NONE ? d->config.wanted & PD_PT_BRANCH
                                                      : samples_all(d);
}

/* The step of a branch. One that a packet is yet to tell of has the time of the step before. */
PD_INLINE void put_branch(struct along *a, const struct pd_code_node *node, uint64_t to,
                          struct pd_pt_branch *out)
{
    struct pd_pt_decoder *d = a->d;
    const bool counts = a->walk <= WALK_TIMED && walk_take_counts(d);
    out->from = node->last_ip;
    out->to = to;
    out->insns = a->insns;
    out->timestamp = d->sample.time;
    out->tot_cycles = d->sample.tot_cycles;
    out->cycles = d->state.cycles;
    out->insn_op = node->op;
    out->insn_length = node->length;
    out->has_cycles = counts || !d->time.have_cyc;
}

/* Passes a branch that is not taken, which is no step. */
PD_INLINE void skip_branch(const struct along *a)
{
    a->d->time.sample_cyc = false;
    if (a->walk == WALK_IN_SYNC)
        walk_take_time(a->d);
}

static void finish_branches(struct pd_pt_decoder *d, bool all, const struct pd_pt_branch *last)
{
    struct pd_pt_state *state = &d->state;
    state->from_ip = last->from;
    state->to_ip = last->to;
    state->tot_insn_cnt = last->insns;
    state->tot_cyc_cnt = last->tot_cycles;
    state->timestamp = last->timestamp;
    state->est_timestamp = 0;
    finish(d, (last->to ? PD_PT_BRANCH : 0) | (all ? PD_PT_INSTRUCTION : 0), last->has_cycles);
}

PD_INLINE size_t walk_along(struct pd_pt_decoder *d, bool reads, bool all, size_t steps,
                            struct pd_pt_branch *out, size_t most)
{
    struct along a = { .d = d, .insns = d->time.insns, .tnt = d->unused.tnt, .p = d->input.next };
    a.all = all;
    a.walk = d->walk;
    a.left = d->unused.tnt_count;
    a.node = known_node(d);
    a.index = d->place.node ? d->place.index : 0;
    a.ip = d->place.ip;
    size_t count = 0;
    while (count < most && (a.walk != WALK_IN_SYNC || (reads && read_packet(&a)))) {
        uint64_t insns, to;
        struct pd_code_node *node = next_branch(&a, &insns);
        if (!node)
            break;
        struct pd_pt_straight straight = { a.ip, node->lengths + a.index,
                                           a.all ? node->insns - a.index - 1 : 0,
                                           !d->time.have_cyc };
        if (steps <= straight.count || !pass(&a, node, &to))
            break;
        a.insns = insns;
        a.branch = node;
        if (!to && !a.all) {
            skip_branch(&a);
            continue;
        }
        steps -= straight.count + 1;
        if (a.all)
            out[count].straight = straight;
        else
            out[count].straight.count = 0;
        put_branch(&a, node, to, &out[count++]);
    }
    if (a.branch || a.at)
        go_on(d, &a);
    if (count)
        finish_branches(d, all, &out[count - 1]);
    return count;
}

size_t pd_pt_branches(struct pd_pt_decoder *d, size_t steps, struct pd_pt_branch *out, size_t most)
{
    const bool reads = may_read(d);
    if (!has_branches(d, reads))
        return 0;
    return d->config.period_type == PD_PT_PERIOD_NONE
               ? walk_along(d, reads, false, steps, out, most)
               : walk_along(d, reads, true, steps, out, most);
}
