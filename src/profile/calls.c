/* SPDX-License-Identifier: MIT */
/* Branches of a trace, in delivery order -> calls of functions over time, and what each function's
 * calls add up to. */
#include "profile/profile.h"
#include "analyse/calls.h"
#include <stdlib.h>

enum { MOST_CALLS = 1000000, SEEN_ABOVE = 1024 };
#define RECURSIVE (UINT32_C(1) << 31) /* in a path's number, beside its depth */

/* How much of a call's time those calls took that were made from it and have ended. */
struct below {
    uint64_t owner, time;
};

struct call_stack {
    uint32_t thread; /* the profile's, of its last branch */
    PD_VEC(struct below) below;
};

struct pd_profile_calls {
    struct pd_profile_shared *shared;
    struct pd_calls *pairing;
    PD_VEC(struct call_stack *) stacks;
    struct pd_map64 stack_index;
    PD_VEC(uint32_t) functions;         /* by symbol - 1 */
    struct pd_map64 symbols;            /* of a function, or of an address without one */
    PD_VEC(struct pd_call_path *) path; /* those that have no number yet, innermost first */
};

/* ---- calls that end ---- */

/* Whether the path's function also stands further out in it. */
static bool is_recursive(const struct pd_call_path *path)
{
    const struct pd_call_path *at = path->parent;
    for (uint32_t seen = 0; at->parent && seen < SEEN_ABOVE; at = at->parent, seen++)
        if (at->symbol == path->symbol && at->ip == path->ip)
            return true;
    return false;
}

/* Gives the path, and those above it that have none yet, their number: the depth, 1 and more, with
 * RECURSIVE where it applies. */
static bool number_path(struct pd_profile_calls *calls, struct pd_call_path *path)
{
    struct pd_call_path *at = path;
    calls->path.count = 0;
    for (; at->parent && !at->number; at = (struct pd_call_path *)(uintptr_t)at->parent)
        if (!pd_vec_push(&calls->path, at))
            return false;
    uint32_t depth = at->number & ~RECURSIVE;
    for (size_t i = calls->path.count; i-- > 0;) {
        at = calls->path.data[i];
        depth = PD_MIN(depth + 1, RECURSIVE - 1);
        at->number = depth | (is_recursive(at) ? RECURSIVE : 0);
    }
    return true;
}

/* Takes the time of the inner calls of the call that ends; its own time counts for its caller. */
static bool take_below(struct call_stack *stack, const struct pd_call *call, uint32_t depth,
                       uint64_t time, uint64_t *inner)
{
    enum { DEEPEST = 65536 };
    *inner = 0;
    if (depth >= DEEPEST)
        return true;
    if (!pd_vec_widen_to(&stack->below, (size_t)depth + 2))
        return false;
    struct below *own = &stack->below.data[depth + 1], *outer = &stack->below.data[depth];
    if (own->owner == call->number)
        *inner = own->time;
    if (outer->owner != call->parent)
        *outer = (struct below){ .owner = call->parent };
    outer->time += time;
    return true;
}

static bool add_sum(perfdata_profile *profile, const struct perfdata_profile_call *call,
                    uint64_t inner)
{
    bool recursive = call->flags & PERFDATA_CALL_RECURSIVE;
    if (!pd_vec_widen_to(&profile->call_sums, (size_t)call->function + 1))
        return false;
    struct perfdata_profile_call_sum *sum = &profile->call_sums.data[call->function];
    uint64_t time = call->end - call->start;
    sum->least = sum->count ? PD_MIN(sum->least, time) : time;
    sum->most = PD_MAX(sum->most, time);
    sum->function = call->function;
    sum->count++;
    sum->sum += time;
    sum->self += time > inner ? time - inner : 0;
    sum->total += recursive ? 0 : time;
    sum->insns += recursive ? 0 : call->insns;
    sum->cycles += recursive ? 0 : call->cycles;
    return true;
}

/* Drops the shortest calls when there are too many: they still count in their functions' sums. */
static void thin_out(perfdata_profile *profile)
{
    while (profile->calls.count > MOST_CALLS / 4 * 3) {
        size_t kept = 0;
        profile->shortest_call = PD_MAX(profile->shortest_call * 2, (uint64_t)1);
        for (size_t i = 0; i < profile->calls.count; i++) {
            const struct perfdata_profile_call *call = &profile->calls.data[i];
            if (call->end - call->start >= profile->shortest_call)
                profile->calls.data[kept++] = *call;
        }
        profile->calls_left_out += profile->calls.count - kept;
        profile->calls.count = kept;
    }
}

static perfdata_status put_call(void *data, const struct pd_call *call)
{
    struct pd_profile_calls *calls = data;
    perfdata_profile *profile = calls->shared->profile;
    struct call_stack *stack = (struct call_stack *)(uintptr_t)call->thread;
    uint32_t symbol = call->path->symbol;
    uint64_t inner;
    if (!symbol) /* outside all maps */
        return PERFDATA_OK;
    if (!number_path(calls, call->path))
        return PERFDATA_ERROR_MEMORY;
    uint32_t number = call->path->number;
    struct perfdata_profile_call made = {
        .start = call->call_time,
        .end = PD_MAX(call->return_time, call->call_time),
        .insns = call->insns,
        .cycles = call->cycles,
        .thread = stack->thread,
        .function = calls->functions.data[symbol - 1],
        .depth = (number & ~RECURSIVE) - 1,
        .flags = call->flags | (number & RECURSIVE ? PERFDATA_CALL_RECURSIVE : 0),
    };
    uint64_t time = made.end - made.start;
    if (!take_below(stack, call, made.depth, time, &inner) || !add_sum(profile, &made, inner))
        return PERFDATA_ERROR_MEMORY;
    if (time < profile->shortest_call) {
        profile->calls_left_out++;
        return PERFDATA_OK;
    }
    if (!pd_vec_push(&profile->calls, made))
        return PERFDATA_ERROR_MEMORY;
    if (profile->calls.count >= MOST_CALLS)
        thin_out(profile);
    return PERFDATA_OK;
}

/* ---- branches ---- */

static uint32_t symbol_of(struct pd_profile_calls *calls, struct pd_profile_tables *tables,
                          const struct pd_profile_place *place)
{
    if (place->frame == PERFDATA_NONE)
        return 0;
    uint32_t frame = pd_profile_number_frame(calls->shared, tables, place->frame);
    if (frame == PERFDATA_NONE)
        return PERFDATA_NONE;
    uint32_t function = pd_profile_frame(calls->shared->profile, frame)->function;
    uint64_t key = place->is_known ? function
                                   : pd_hash_pair(function, place->address) | UINT64_C(1) << 63;
    uint32_t symbol = pd_map64_get(&calls->symbols, key);
    if (symbol != PD_MAP64_NONE)
        return symbol;
    symbol = (uint32_t)calls->functions.count + 1;
    return symbol < PERFDATA_NONE && pd_vec_push(&calls->functions, function) &&
                   pd_map64_set(&calls->symbols, key, symbol)
               ? symbol
               : PERFDATA_NONE;
}

static struct call_stack *find_stack(struct pd_profile_calls *calls, uint64_t key, uint32_t thread)
{
    uint32_t at = pd_map64_get(&calls->stack_index, key);
    if (at != PD_MAP64_NONE)
        return calls->stacks.data[at];
    struct call_stack *stack = calloc(1, sizeof *stack);
    if (!stack)
        return NULL;
    stack->thread = thread;
    if (!pd_vec_push(&calls->stacks, stack)) {
        free(stack);
        return NULL;
    }
    return pd_map64_set(&calls->stack_index, key, (uint32_t)(calls->stacks.count - 1)) ? stack
                                                                                       : NULL;
}

static struct pd_profile_calls *begin(struct pd_profile_shared *shared)
{
    struct pd_profile_calls *calls = calloc(1, sizeof *calls);
    if (!calls)
        return NULL;
    calls->shared = shared;
    calls->pairing = pd_calls_new(UINT64_C(1) << 63, put_call, calls);
    if (calls->pairing)
        return calls;
    free(calls);
    return NULL;
}

perfdata_status pd_profile_calls_branch(struct pd_profile_shared *shared,
                                        struct pd_profile_tables *tables,
                                        const struct pd_profile_branch *branch, uint32_t number)
{
    struct pd_profile_calls *calls = shared->calls;
    if (!calls && !(calls = shared->calls = begin(shared)))
        return PERFDATA_ERROR_MEMORY;
    struct pd_branch_step step = branch->step;
    step.from = symbol_of(calls, tables, &branch->from);
    step.to = symbol_of(calls, tables, &branch->to);
    const struct pd_thread *thread = branch->thread;
    bool idle = !thread->tid && !branch->pid;
    struct pd_calls_thread stack = {
        .key = idle ? UINT64_C(1) << 32 | branch->cpu : thread->index,
        .order = (uint64_t)(thread->tid % 256) << 32 | thread->tid,
        .comm = branch->program,
        .is_main = thread->tid == branch->pid,
    };
    struct call_stack *own = find_stack(calls, stack.key, number);
    stack.thread = own;
    if (step.from == PERFDATA_NONE || step.to == PERFDATA_NONE || !own)
        return PERFDATA_ERROR_MEMORY;
    perfdata_status status = pd_calls_branch(calls->pairing, &stack, &step);
    own->thread = number;
    return status;
}

perfdata_status pd_profile_calls_end(struct pd_profile_shared *shared)
{
    perfdata_profile *profile = shared->profile;
    perfdata_status status = shared->calls ? pd_calls_end(shared->calls->pairing) : PERFDATA_OK;
    size_t kept = 0;
    for (size_t i = 0; i < profile->call_sums.count; i++)
        if (profile->call_sums.data[i].count)
            profile->call_sums.data[kept++] = profile->call_sums.data[i];
    profile->call_sums.count = kept;
    return status;
}

void pd_profile_calls_free(struct pd_profile_calls *calls)
{
    if (!calls)
        return;
    for (size_t i = 0; i < calls->stacks.count; i++) {
        pd_vec_free(&calls->stacks.data[i]->below);
        free(calls->stacks.data[i]);
    }
    pd_vec_free(&calls->stacks);
    pd_vec_free(&calls->functions);
    pd_vec_free(&calls->path);
    pd_map64_free(&calls->stack_index);
    pd_map64_free(&calls->symbols);
    pd_calls_free(calls->pairing);
    free(calls);
}

/* ---- what a profile tells of them ---- */

uint64_t perfdata_profile_call_count(const perfdata_profile *profile)
{
    return profile->calls.count;
}

const struct perfdata_profile_call *perfdata_profile_call(const perfdata_profile *profile,
                                                          uint64_t index)
{
    return index < profile->calls.count ? &profile->calls.data[index] : NULL;
}

uint64_t perfdata_profile_calls_left_out(const perfdata_profile *profile, uint64_t *shorter_than)
{
    if (shorter_than)
        *shorter_than = profile->shortest_call;
    return profile->calls_left_out;
}

const struct perfdata_profile_call_sum *perfdata_profile_call_sums(const perfdata_profile *profile,
                                                                   size_t *count)
{
    *count = profile->call_sums.count;
    return profile->call_sums.data;
}

uint64_t perfdata_profile_mark_count(const perfdata_profile *profile)
{
    return profile->marks.count;
}

const struct perfdata_profile_mark *perfdata_profile_mark(const perfdata_profile *profile,
                                                          uint64_t index)
{
    return index < profile->marks.count ? &profile->marks.data[index] : NULL;
}
