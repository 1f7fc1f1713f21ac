/* SPDX-License-Identifier: MIT */
/* Steps that come without a packet being read and differ from the last one in their addresses only: instructions in a
 * straight line, branches that the bits of one TNT packet tell of. They are handed over many at a time. What is not plain
 * ends them; the next step is then made by walk_code.c, which goes on where these have come to. */
#include "itrace/intel_pt/walk.h"

/* No packet has been read since the last step: time, cycles and modes are what they were. */
PD_INLINE bool is_alike(const struct pd_pt_decoder *d)
{
    bool counts = d->time.sample_cyc && d->walk <= WALK_TIMED;
    return d->state.error == PD_PT_OK && !counts && !d->tx_flags && !d->config.log &&
           !d->emulated_ptwrite && d->nr == d->next_nr;
}

/* Where the walk is, as far as it has been there before. */
PD_INLINE struct pd_code_node *known_node(const struct pd_pt_decoder *d)
{
    if (d->node || !d->from || !d->view)
        return d->node;
    return d->from_taken ? d->from->taken : d->from->fall;
}

/* A branch within the kernel, or within user space, which leaves the time alone. */
PD_INLINE bool is_plain(const struct pd_pt_decoder *d, uint64_t from, uint64_t to)
{
    return from && to && (from >= d->config.kernel_start) == (to >= d->config.kernel_start);
}

/* The state of the last of these steps. */
static void finish(struct pd_pt_decoder *d, uint32_t type)
{
    struct pd_pt_state *state = &d->state;
    state->type = type;
    state->flags = d->time.have_cyc ? 0 : PD_PT_SAMPLE_IPC;
    state->from_nr = state->to_nr = d->nr;
    state->from_if = state->to_if = d->iflag;
    state->last_timestamp = d->sample_time;
    state->skipped_timestamp = 0;
}

/* Each instruction is a step. */
PD_INLINE bool samples_all(const struct pd_pt_decoder *d)
{
    return d->config.period_type == PD_PT_PERIOD_INSTRUCTIONS && d->config.period == 1 &&
           d->time.insns == d->period_base;
}

/* ---- instructions ---- */

bool pd_pt_straight(struct pd_pt_decoder *d, size_t most, struct pd_pt_straight *out)
{
    bool walks = d->walk == WALK_TNT || d->walk == WALK_TNT_MORE || d->walk == WALK_TIP ||
                 d->walk == WALK_TIP_PGD;
    if (!walks || !samples_all(d) || !is_alike(d))
        return false;
    struct pd_code_node *node = known_node(d);
    uint32_t index = d->node ? d->index : 0;
    if (!node || index + 1 >= node->insns || !most)
        return false;
    const uint8_t *lengths = node->lengths + index;
    size_t count = PD_MIN((size_t)node->insns - 1 - index, most);
    *out = (struct pd_pt_straight){ d->ip, lengths, count };
    uint64_t last = d->ip, next = d->ip;
    for (size_t i = 0; i < count; i++) {
        last = next;
        next += lengths[i];
    }
    d->node = node;
    d->from = NULL;
    d->index = index + (uint32_t)count;
    d->ip = next;
    d->branch = NULL;
    d->time.insns += count;
    d->period_base = d->time.insns;
    d->progress_count = 0;
    walk_set_insn(d, PD_INSN_OTHER, lengths[count - 1], last);
    d->state.from_ip = last;
    d->state.to_ip = 0;
    d->state.tot_insn_cnt = d->time.insns;
    finish(d, PD_PT_INSTRUCTION);
    return true;
}

/* ---- branches ---- */

/* A walk along TNT bits; what it has come to is the decoder's when it ends. */
struct along {
    struct pd_pt_decoder *d;
    struct pd_code_node *node; /* comes next; NULL: not known */
    uint32_t index;            /* in it */
    uint64_t ip;               /* of that */
    struct pd_code_node *from; /* the last branch; NULL: none yet */
    bool taken, all;           /* all: each instruction is a step */
    uint64_t insns;
    uint64_t tnt;
    unsigned left; /* bits of it */
};

PD_INLINE void go(struct along *a, struct pd_code_node *from, bool taken)
{
    a->from = from;
    a->taken = taken;
    a->node = taken ? from->taken : from->fall;
    a->index = 0;
    a->ip = taken ? from->target : from->next_ip;
}

/* Direct branches behind each other may be a loop that never ends: see walk_code.c. */
PD_INLINE bool goes_round(struct pd_pt_decoder *d, uint64_t to)
{
    if (d->progress_count > 1 || d->direct_count >= walk_direct_max(d))
        return true;
    if (d->progress_count++) {
        d->stuck_ip = to;
        d->stuck_period = d->stuck_left = 1;
    }
    d->direct_count++;
    return false;
}

PD_INLINE void use_bit(struct along *a)
{
    a->tnt <<= 1;
    a->left--;
    a->d->progress_count = 0;
    a->d->direct_count = 0;
}

/* A return that a bit tells of. */
PD_INLINE bool pass_return(struct along *a, const struct pd_code_node *node, uint64_t *to)
{
    struct pd_pt_decoder *d = a->d;
    if (node->op != PD_INSN_RET || !d->config.return_compression || !(a->tnt >> 63) ||
        d->return_count <= d->stale_returns)
        return false;
    struct walk_return top = d->returns[d->return_count - 1];
    if (!top.call || !is_plain(d, node->last_ip, top.ip))
        return false;
    d->returned = top;
    d->return_count--;
    *to = top.ip;
    use_bit(a);
    go(a, top.call, false);
    return true;
}

/* Where a plain branch leads; false: it is none. */
PD_INLINE bool pass(struct along *a, struct pd_code_node *node, uint64_t *to)
{
    struct pd_pt_decoder *d = a->d;
    if (node->branch == PD_BRANCH_INDIRECT)
        return pass_return(a, node, to);
    if (!is_plain(d, node->last_ip, node->target))
        return false;
    bool taken = true;
    if (node->branch == PD_BRANCH_CONDITIONAL) {
        taken = a->tnt >> 63;
        use_bit(a);
    } else {
        if (a->all && a->index + 1 < node->insns)
            d->progress_count = 0;
        if (node->emulated_ptwrite || goes_round(d, node->target))
            return false;
        if (node->op == PD_INSN_CALL && node->target != node->next_ip)
            walk_push_return(d, node);
    }
    *to = taken ? node->target : 0;
    go(a, node, taken);
    return true;
}

/* Over what is no branch. */
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

/* What the walk has come to. */
static void go_on(struct pd_pt_decoder *d, const struct along *a, struct pd_code_node *branch)
{
    d->time.insns = a->insns;
    if (a->all)
        d->period_base = a->insns;
    d->tnt = a->tnt;
    d->tnt_count = a->left;
    d->walk = a->left ? WALK_TNT_MORE : WALK_IN_SYNC;
    d->branch = branch;
    d->index = branch->insns - 1;
    walk_follow(d, a->from, a->taken);
    walk_set_insn(d, branch->op, branch->length, branch->last_ip);
}

/* Whether such steps can come now. */
PD_INLINE bool has_branches(const struct pd_pt_decoder *d)
{
    if (d->walk != WALK_TNT_MORE || !is_alike(d))
        return false;
    return d->config.period_type == PD_PT_PERIOD_NONE ? d->config.wanted & PD_PT_BRANCH
                                                      : samples_all(d);
}

PD_INLINE size_t walk_along(struct pd_pt_decoder *d, bool all, size_t steps,
                            struct pd_pt_branch *out, size_t most)
{
    struct along a = { .d = d, .insns = d->time.insns, .tnt = d->tnt, .left = d->tnt_count };
    a.all = all;
    a.node = known_node(d);
    a.index = d->node ? d->index : 0;
    a.ip = d->ip;
    struct pd_code_node *branch = NULL;
    size_t count = 0;
    while (a.left && count < most) {
        uint64_t insns, to;
        struct pd_code_node *node = next_branch(&a, &insns);
        if (!node)
            break;
        struct pd_pt_straight straight = { a.ip, node->lengths + a.index,
                                           a.all ? node->insns - a.index - 1 : 0 };
        if (steps <= straight.count || !pass(&a, node, &to))
            break;
        a.insns = insns;
        branch = node;
        if (!to && !a.all)
            continue;
        steps -= straight.count + 1;
        out[count++] = (struct pd_pt_branch){ straight, node->last_ip, to,
                                              insns,    node->op,      node->length };
    }
    if (!branch)
        return 0;
    go_on(d, &a, branch);
    if (count) {
        const struct pd_pt_branch *last = &out[count - 1];
        d->state.from_ip = last->from;
        d->state.to_ip = last->to;
        d->state.tot_insn_cnt = last->insns;
        finish(d, (last->to ? PD_PT_BRANCH : 0) | (a.all ? PD_PT_INSTRUCTION : 0));
    }
    return count;
}

size_t pd_pt_branches(struct pd_pt_decoder *d, size_t steps, struct pd_pt_branch *out, size_t most)
{
    if (!has_branches(d))
        return 0;
    return d->config.period_type == PD_PT_PERIOD_NONE ? walk_along(d, false, steps, out, most)
                                                      : walk_along(d, true, steps, out, most);
}
