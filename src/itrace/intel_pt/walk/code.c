/* SPDX-License-Identifier: MIT */
/* TNT and TIP packets, and code -> branches and instructions. */
#include "itrace/intel_pt/walk/walk.h"
#include <stdlib.h>

/* ---- where the walk is ---- */

struct pd_code_node *walk_look_up(struct pd_pt_decoder *d, uint64_t ip, enum pd_code_error *error)
{
    struct pd_code_node *node = walk_known_node(d, ip);
    if (node)
        return node;
    node = d->config.code_at(d->code.view, ip, error);
    if (node)
        *walk_known_slot(d, ip) = (struct walk_known){ ip, d->code.view, node };
    return node;
}

/* The node at `ip`; NULL: no code can be had there. */
struct pd_code_node *walk_resolve(struct pd_pt_decoder *d, enum pd_code_error *error)
{
    struct pd_code_node *from = d->place.from, *node = d->place.node;
    if (PD_LIKELY(node != NULL))
        return node;
    *error = PD_CODE_NO_MAP;
    if (!d->code.view)
        return NULL;
    if (!from) {
        node = walk_look_up(d, d->place.ip, error);
    } else {
        node = d->place.from_taken ? from->taken : from->fall;
        if (PD_UNLIKELY(!node))
            node = d->config.code_link(d->code.view, from, d->place.from_taken, error);
    }
    d->place.from = NULL;
    d->place.node = node;
    d->place.index = 0;
    return node;
}

/* ---- returns ---- */

void walk_reset_returns(struct pd_pt_decoder *d)
{
    d->stack.count = d->stack.stale = 0;
}

PD_NOINLINE void walk_more_returns(struct pd_pt_decoder *d)
{
    if (d->stack.count < WALK_MAX_RETURNS) {
        size_t want = d->stack.capacity ? d->stack.capacity * 2 : 1024;
        struct walk_return *grown = realloc(d->stack.returns, want * sizeof *grown);
        if (grown) {
            d->stack.returns = grown;
            d->stack.capacity = want;
            return;
        }
    }
    size_t drop = (d->stack.count + 1) / 2;
    memmove(d->stack.returns, d->stack.returns + drop,
            (d->stack.count - drop) * sizeof *d->stack.returns);
    d->stack.count -= drop;
    d->stack.stale = d->stack.stale > drop ? d->stack.stale - drop : 0;
}

struct walk_return walk_pop_return(struct pd_pt_decoder *d)
{
    struct walk_return none = { 0 };
    if (!d->stack.count)
        return none;
    struct walk_return top = d->stack.returns[--d->stack.count];
    if (d->stack.count < d->stack.stale) {
        d->stack.stale = d->stack.count;
        top.call = NULL;
    }
    return top;
}

/* ---- never-ending loops ---- Of direct branches that use up no packet: an address that is met
 * again means that the loop goes on for ever. Samples of what lies in between hide that, so those
 * branches are counted as well. */

PD_INLINE bool stuck(struct pd_pt_decoder *d, uint64_t to)
{
    uint32_t count = d->loop.progress_count++;
    if (PD_LIKELY(!count))
        return false;
    if (count == 1) {
        d->loop.stuck_ip = to;
        d->loop.stuck_period = d->loop.stuck_left = 1;
        return false;
    }
    if (count > d->config.max_loops || to == d->loop.stuck_ip)
        return true;
    if (!--d->loop.stuck_left) {
        d->loop.stuck_left = ++d->loop.stuck_period;
        d->loop.stuck_ip = to;
    }
    return false;
}

static int loop_error(struct pd_pt_decoder *d)
{
    d->loop.progress_count = 0;
    d->loop.direct_count = 0;
    d->walk = WALK_RESYNC;
    walk_log_at(d, "ERROR: Never-ending loop", d->state.to_ip);
    return PD_PT_LOOP;
}

static int mismatch(struct pd_pt_decoder *d, const char *what)
{
    walk_log_at(d, what, d->place.ip);
    d->walk = WALK_RESYNC;
    return PD_PT_MISMATCH;
}

/* ---- samples of instructions ---- */

/* After how many instructions the next sample is due; 0: never. */
uint64_t walk_next_sample(struct pd_pt_decoder *d)
{
    if (d->config.period_type == PD_PT_PERIOD_INSTRUCTIONS)
        return d->config.period - (d->time.insns - d->period.base);
    if (d->config.period_type != PD_PT_PERIOD_TICKS)
        return 0;
    uint64_t now = walk_time(d), masked = now & d->period.mask;
    if (d->period.continuous) {
        if (masked > d->period.last_masked_time)
            return 1;
    } else {
        masked = ++now & d->period.mask;
        if (masked > d->period.last_masked_time) {
            d->period.last_masked_time = masked;
            d->period.continuous = true;
        }
    }
    if (masked < d->period.last_masked_time)
        return d->period.ticks;
    return d->period.ticks - (now - masked);
}

static void take_sample(struct pd_pt_decoder *d)
{
    if (d->config.period_type == PD_PT_PERIOD_INSTRUCTIONS) {
        d->period.base = d->time.insns;
    } else {
        uint64_t masked = walk_time(d) & d->period.mask;
        d->period.last_masked_time = masked > d->period.last_masked_time
                                         ? masked
                                         : d->period.last_masked_time + d->period.ticks;
    }
    d->state.type |= PD_PT_INSTRUCTION;
}

/* ---- from instruction to instruction ---- */

static int no_insn(struct pd_pt_decoder *d, enum pd_code_error error)
{
    d->loop.progress_count = 0;
    d->walk = WALK_NO_IP;
    d->state.failure.error = error;
    d->state.failure.in_view = d->code.view != NULL;
    d->state.failure.map = d->code.view ? d->code.view->failed_map : NULL;
    return PD_PT_NO_INSN;
}

/* Within a node, one by one: to its last instruction at most, to `to_ip` or the `max`th one of this
 * walk. */
static bool walk_within(struct pd_pt_decoder *d, const struct pd_code_node *node, uint64_t to_ip,
                        uint64_t max, uint64_t *count)
{
    for (; d->place.index + 1 < node->insns; d->place.index++) {
        if (to_ip && d->place.ip == to_ip)
            return true;
        if (max && *count + 1 >= max) {
            ++*count;
            return true;
        }
        d->place.ip += node->lengths[d->place.index];
        ++*count;
    }
    return to_ip && d->place.ip == to_ip;
}

/* Walks to the next branch, or to where a sample is due, or to `to_ip` (0: none). True: d->ip is in
 * d->node; *there: it is `to_ip`. */
static bool walk_to_branch(struct pd_pt_decoder *d, uint64_t to_ip, uint64_t max, uint64_t *count,
                           bool *there, enum pd_code_error *error)
{
    while (!to_ip || d->place.ip != to_ip) {
        struct pd_code_node *node = walk_resolve(d, error);
        if (!node)
            return false;
        uint32_t rest = node->insns - d->place.index;
        if (PD_UNLIKELY((to_ip > d->place.ip && to_ip < node->next_ip) ||
                        (max && *count + rest >= max))) {
            if (walk_within(d, node, to_ip, max, count)) {
                *there = to_ip && d->place.ip == to_ip;
                return true;
            }
            rest = 1;
        }
        *count += rest;
        d->place.index = node->insns - 1;
        d->place.ip = node->last_ip;
        if (node->branch != PD_BRANCH_NONE || (max && *count >= max))
            return true;
        walk_follow(d, node, false);
    }
    *there = true;
    return true;
}

/* The instruction at `ip` is sampled, and it is no branch. */
static int pass_insn(struct pd_pt_decoder *d)
{
    struct pd_code_node *node = d->place.node;
    uint8_t length = d->place.index + 1 < node->insns ? node->lengths[d->place.index]
                                                      : node->length;
    walk_report(d, PD_PT_INSTRUCTION);
    walk_set_insn(d, PD_INSN_OTHER, length, d->place.ip);
    d->loop.progress_count = 0;
    if (d->place.index + 1 < node->insns) {
        d->place.index++;
        d->place.ip += length;
    } else {
        walk_follow(d, node, false);
    }
    return STEP_DONE;
}

static int pass_direct(struct pd_pt_decoder *d, struct pd_code_node *node)
{
    d->state.from_ip = d->place.ip;
    d->state.to_ip = node->target;
    walk_set_insn(d, node->op, node->length, node->last_ip);
    walk_follow(d, node, true);
    if (stuck(d, node->target) || ++d->loop.direct_count > walk_direct_max(d))
        return loop_error(d);
    return STEP_DONE;
}

/* One walk: STEP_DONE (an instruction that is sampled, a direct branch), STEP_THERE (at to_ip),
 * STEP_BRANCH or an error. */
static int walk_insn(struct pd_pt_decoder *d, uint64_t to_ip)
{
    uint64_t max = walk_next_sample(d), count = 0;
    enum pd_code_error error = PD_CODE_OK;
    bool there = false;
    if (PD_UNLIKELY(d->config.log != NULL))
        walk_log_run(d, to_ip, max);
    d->place.branch = NULL;
    if (!walk_to_branch(d, to_ip, max, &count, &there, &error))
        return no_insn(d, error);
    d->time.insns += count;
    if (there) {
        d->loop.progress_count = 0;
        d->loop.direct_count = 0;
        if (count || d->walk != WALK_FUP_IN_PSB)
            walk_set_insn(d, PD_INSN_OTHER, 0, d->place.ip);
        else /* a PSB where the walk is already: perf keeps the instruction walked last */
            walk_set_insn(d, d->state.insn_op, d->state.insn_length, d->state.insn_ip);
        return STEP_THERE;
    }
    if (max && count >= max)
        take_sample(d);
    struct pd_code_node *node = d->place.node;
    if (d->place.index + 1 < node->insns || node->branch == PD_BRANCH_NONE)
        return pass_insn(d);
    d->place.branch = node;
    if (node->op == PD_INSN_CALL) {
        if (node->branch != PD_BRANCH_UNCONDITIONAL || node->target != node->next_ip)
            walk_push_return(d, node);
    }
    if (node->op == PD_INSN_RET)
        d->stack.returned = walk_pop_return(d);
    if (node->branch == PD_BRANCH_UNCONDITIONAL)
        return pass_direct(d, node);
    d->loop.progress_count = 0;
    d->loop.direct_count = 0;
    walk_set_insn(d, node->op, node->length, node->last_ip);
    return STEP_BRANCH;
}

/* ---- TNT ---- */

static int emulated_ptwrite(struct pd_pt_decoder *d)
{
    d->events.emulated_ptwrite = false;
    walk_log(d, "Emulated ptwrite detected\n");
    if (!walk_peek_outcomes(d, &d->state.payload.ptw))
        return PD_PT_BROKEN_PTWRITE;
    d->state.flags &= ~PD_PT_FUP_IP;
    return walk_report(d, PD_PT_PTW);
}

PD_INLINE void use_outcome(struct pd_pt_decoder *d)
{
    d->unused.tnt <<= 1;
    d->walk = --d->unused.tnt_count ? WALK_TNT_MORE : WALK_IN_SYNC;
}

/* A return that TNT covers. */
static int compressed_return(struct pd_pt_decoder *d)
{
    struct walk_return to = d->stack.returned;
    if (!d->config.return_compression || !to.ip)
        return mismatch(d, "ERROR: RET when expecting conditional branch at");
    if (!(d->unused.tnt >> 63))
        return mismatch(d, "ERROR: Bad RET compression (TNT=N) at");
    use_outcome(d);
    d->state.from_ip = d->place.ip;
    d->state.to_ip = to.ip;
    if (to.call) {
        walk_follow(d, to.call, false);
    } else {
        d->place.ip = to.ip;
        walk_forget_node(d);
    }
    return STEP_DONE;
}

static int indirect_to_last_ip(struct pd_pt_decoder *d, bool has_ip)
{
    d->state.from_ip = d->place.ip;
    d->state.to_ip = 0;
    if (has_ip) {
        d->state.to_ip = d->place.ip = d->place.last_ip;
        walk_forget_node(d);
    }
    return STEP_DONE;
}

/* The TIP of an indirect branch may come behind a TNT packet that holds later outcomes. */
static int deferred_tip(struct pd_pt_decoder *d)
{
    if (d->place.branch->op == PD_INSN_RET)
        return compressed_return(d);
    int error = walk_next_packet(d);
    if (error)
        return error;
    if (d->input.packet.kind != PD_PT_TIP || !d->input.packet.count) {
        walk_unread(d);
        return mismatch(d, "ERROR: Missing deferred TIP for indirect branch at");
    }
    walk_set_last_ip(d);
    indirect_to_last_ip(d, true);
    walk_update_nr(d);
    walk_take_iflag(d);
    return STEP_DONE;
}

int walk_tnt(struct pd_pt_decoder *d)
{
    for (;;) {
        if (d->events.emulated_ptwrite)
            return emulated_ptwrite(d);
        int how = walk_insn(d, 0);
        d->events.emulated_ptwrite = how == STEP_DONE && d->place.branch &&
                                     d->place.branch->emulated_ptwrite;
        if (how != STEP_BRANCH)
            return how;
        if (d->place.branch->branch == PD_BRANCH_INDIRECT)
            return deferred_tip(d);
        bool taken = d->unused.tnt >> 63;
        use_outcome(d);
        if (taken) {
            d->state.from_ip = d->place.ip;
            walk_follow(d, d->place.branch, true);
            d->state.to_ip = d->place.ip;
            return STEP_DONE;
        }
        if (d->state.type & PD_PT_INSTRUCTION) {
            walk_report(d, PD_PT_INSTRUCTION);
            walk_follow(d, d->place.branch, false);
            return STEP_DONE;
        }
        d->time.sample_cyc = false;
        walk_follow(d, d->place.branch, false);
        if (!d->unused.tnt_count) {
            walk_take_time(d);
            return STEP_ON;
        }
    }
}

/* ---- TIP ---- */

static int trace_ends(struct pd_pt_decoder *d)
{
    walk_trace_off(d);
    d->walk = WALK_IN_SYNC;
    d->state.type |= PD_PT_TRACE_END;
    return STEP_DONE;
}

static bool leaves_filter(struct pd_pt_decoder *d, uint64_t to)
{
    return d->walk == WALK_TIP_PGD && d->config.filtered_out &&
           d->config.filtered_out(d->config.data, to);
}

int walk_tip(struct pd_pt_decoder *d)
{
    int how = walk_insn(d, 0);
    if (how == STEP_DONE && (d->state.type & PD_PT_BRANCH) && leaves_filter(d, d->state.to_ip)) {
        d->loop.progress_count = 0;
        walk_update_nr(d);
        return trace_ends(d);
    }
    if (how != STEP_BRANCH)
        return how;
    walk_update_nr(d);
    walk_take_iflag(d);
    if (d->place.branch->branch == PD_BRANCH_INDIRECT) {
        if (d->walk == WALK_TIP_PGD)
            trace_ends(d);
        d->walk = WALK_IN_SYNC;
        return indirect_to_last_ip(d, d->unused.tip_has_ip);
    }
    uint64_t to = d->place.branch->target;
    if (leaves_filter(d, to)) {
        walk_follow(d, d->place.branch, true);
        d->state.from_ip = d->state.to_ip = to; /* as perf has it */
        return trace_ends(d);
    }
    return mismatch(d, "ERROR: Conditional branch when expecting indirect branch at");
}

/* ---- FUP ---- */

/* Walks to the FUP's address. STEP_THERE: reached, and no event is to be reported alone. */
int walk_fup(struct pd_pt_decoder *d)
{
    int how = walk_insn(d, d->place.last_ip);
    if (how == STEP_BRANCH && d->config.next_ip_fup &&
        d->place.branch->branch == PD_BRANCH_INDIRECT &&
        d->place.branch->next_ip == d->place.last_ip)
        how = STEP_THERE;
    if (how == STEP_THERE) {
        bool no_tip = d->walk != WALK_FUP;
        if (d->walk != WALK_FUP_IN_PSB)
            d->walk = WALK_IN_SYNC;
        return walk_event(d, no_tip) && no_tip ? STEP_DONE : STEP_THERE;
    }
    if (how == STEP_DONE)
        return how;
    d->pending.tx = false;
    if (how != STEP_BRANCH)
        return how;
    return mismatch(d, d->place.branch->branch == PD_BRANCH_INDIRECT
                           ? "ERROR: Unexpected indirect branch at"
                           : "ERROR: Unexpected conditional branch at");
}

/* The instruction at a FUP whose event needs no TIP is sampled with the event when it would be
 * sampled anyway. */
void walk_sample_at_fup(struct pd_pt_decoder *d)
{
    enum pd_code_error error;
    if (!d->config.branches || !d->time.pge || d->quick.on || d->place.ip != d->place.last_ip ||
        walk_next_sample(d) != 1)
        return;
    struct pd_code_node *node = walk_resolve(d, &error);
    if (!node)
        return; /* the next walk will tell */
    bool last = d->place.index + 1 >= node->insns;
    if (last && node->branch != PD_BRANCH_NONE)
        return;
    d->time.insns++;
    take_sample(d);
    if (last) {
        walk_follow(d, node, false);
        return;
    }
    d->place.ip += node->lengths[d->place.index];
    d->place.index++;
}
