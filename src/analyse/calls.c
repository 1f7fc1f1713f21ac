/* SPDX-License-Identifier: MIT */
/* Branches of a thread, in their order -> its calls, each below its path of callers. */
#include "analyse/calls.h"
#include "itrace/synth.h" /* enum pd_ip_flag */

/* A function that was entered. */
struct frame {
    struct pd_call_path *path;
    uint64_t return_to, time, reference; /* of its call */
    uint64_t branches, insns, cycles;    /* of the thread until then */
    uint64_t number;                     /* of the call, 0: none yet */
    bool no_call, by_jump, trace_end;
};

struct stack {
    struct pd_calls_thread thread;
    PD_VEC(struct frame) frames;
    uint64_t branches, insns, cycles, last_time, trace;
    bool in_thunk, was_in_thunk; /* the last branch, and the one before it, may begin a retpoline */
};

struct pd_calls {
    uint64_t kernel_start;
    perfdata_status (*put)(void *data, const struct pd_call *call);
    void *data;
    struct pd_arena arena;
    PD_VEC(struct pd_call_path *) paths;
    struct pd_map64 path_index; /* hash -> first path with it */
    PD_VEC(uint32_t) next_path; /* by index: another one with the same hash, 0 none */
    PD_VEC(struct stack *) stacks;
    struct pd_map64 stack_index;
    uint64_t last_number;
};

/* ---- paths ---- */

static struct pd_call_path *add_path(struct pd_calls *calls, const struct pd_call_path *parent,
                                     uint32_t symbol, uint64_t ip)
{
    struct pd_call_path *path = pd_arena_zalloc(&calls->arena, sizeof *path);
    if (!path || calls->paths.count >= UINT32_MAX - 1 || !pd_vec_push(&calls->paths, path) ||
        !pd_vec_push(&calls->next_path, 0))
        return NULL;
    *path = (struct pd_call_path){ .parent = parent,
                                   .ip = symbol ? 0 : ip,
                                   .symbol = symbol,
                                   .index = (uint32_t)(calls->paths.count - 1),
                                   .in_kernel = ip >= calls->kernel_start };
    return path;
}

struct pd_call_path *pd_calls_below(struct pd_calls *calls, const struct pd_call_path *parent,
                                    uint32_t symbol, uint64_t ip)
{
    uint64_t place = symbol ? 0 : ip;
    uint64_t hash = pd_hash_pair((uint64_t)parent->index << 32 | symbol, place);
    uint32_t first = pd_map64_get(&calls->path_index, hash), at = first;
    while (at && at != PD_MAP64_NONE) {
        struct pd_call_path *path = calls->paths.data[at];
        if (path->parent == parent && path->symbol == symbol && path->ip == place)
            return path;
        at = calls->next_path.data[at];
    }
    struct pd_call_path *path = add_path(calls, parent, symbol, ip);
    if (!path || !pd_map64_set(&calls->path_index, hash, path->index))
        return NULL;
    if (first != PD_MAP64_NONE)
        calls->next_path.data[path->index] = first;
    return path;
}

const struct pd_call_path *pd_calls_root(const struct pd_calls *calls)
{
    return calls->paths.data[0];
}

struct pd_calls *pd_calls_new(uint64_t kernel_start,
                              perfdata_status (*put)(void *data, const struct pd_call *call),
                              void *data)
{
    struct pd_calls *calls = calloc(1, sizeof *calls);
    if (!calls)
        return NULL;
    *calls = (struct pd_calls){ .kernel_start = kernel_start, .put = put, .data = data };
    if (!add_path(calls, NULL, 0, 0)) {
        pd_calls_free(calls);
        return NULL;
    }
    return calls;
}

void pd_calls_free(struct pd_calls *calls)
{
    if (!calls)
        return;
    for (size_t i = 0; i < calls->stacks.count; i++) {
        pd_vec_free(&calls->stacks.data[i]->frames);
        free(calls->stacks.data[i]);
    }
    pd_vec_free(&calls->stacks);
    pd_vec_free(&calls->paths);
    pd_vec_free(&calls->next_path);
    pd_map64_free(&calls->path_index);
    pd_map64_free(&calls->stack_index);
    pd_arena_free(&calls->arena);
    free(calls);
}

/* ---- a stack ---- */

struct push {
    uint64_t return_to;
    bool no_call, by_jump, trace_end;
};

static perfdata_status push(struct stack *stack, const struct pd_branch_step *step,
                            struct pd_call_path *path, struct push how)
{
    struct frame frame = { .path = path,
                           .return_to = how.return_to,
                           .time = step->time,
                           .reference = step->reference,
                           .branches = stack->branches,
                           .insns = stack->insns,
                           .cycles = stack->cycles,
                           .no_call = how.no_call,
                           .by_jump = how.by_jump,
                           .trace_end = how.trace_end };
    return path && pd_vec_push(&stack->frames, frame) ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

PD_INLINE struct frame *top_of(const struct stack *stack)
{
    return &stack->frames.data[stack->frames.count - 1];
}

/* The innermost function ends. A call gets its number when it ends or, before that, when one below
 * it does. */
static perfdata_status pop(struct pd_calls *calls, struct stack *stack, uint64_t time,
                           uint64_t reference, bool no_return)
{
    struct frame *frame = top_of(stack);
    stack->frames.count--;
    if (!frame->number)
        frame->number = ++calls->last_number;
    struct frame *parent = stack->frames.count ? top_of(stack) : NULL;
    if (parent && !parent->number)
        parent->number = ++calls->last_number;
    struct pd_call call = {
        .path = frame->path,
        .call_time = frame->time,
        .return_time = time,
        .call_reference = frame->reference,
        .return_reference = reference,
        .branches = stack->branches - frame->branches,
        .insns = stack->insns - frame->insns,
        .cycles = stack->cycles - frame->cycles,
        .number = frame->number,
        .parent = parent ? parent->number : 0,
        .flags = (frame->no_call ? PD_CALL_NO_CALL : 0u) | (no_return ? PD_CALL_NO_RETURN : 0u) |
                 (frame->by_jump ? PD_CALL_BY_JUMP : 0u),
        .comm = stack->thread.comm,
        .thread = stack->thread.thread,
    };
    return calls->put(calls->data, &call);
}

static perfdata_status pop_all(struct pd_calls *calls, struct stack *stack)
{
    perfdata_status status = PERFDATA_OK;
    while (stack->frames.count && status >= 0)
        status = pop(calls, stack, stack->last_time, 0, true);
    return status;
}

static perfdata_status pop_kernel(struct pd_calls *calls, struct stack *stack,
                                  const struct pd_branch_step *step)
{
    perfdata_status status = PERFDATA_OK;
    while (stack->frames.count && top_of(stack)->path->in_kernel && status >= 0)
        status = pop(calls, stack, step->time, step->reference, true);
    return status;
}

/* ---- what a branch does ---- */

/* Puts on the stack what ran when the trace began. */
static perfdata_status begin(struct pd_calls *calls, struct stack *stack,
                             const struct pd_branch_step *step)
{
    uint64_t ip = step->ip ? step->ip : step->addr;
    if (!ip)
        return PERFDATA_OK;
    return push(stack, step,
                pd_calls_below(calls, calls->paths.data[0], step->ip ? step->from : step->to, ip),
                (struct push){ .return_to = ip, .no_call = true });
}

static struct pd_call_path *below_top(struct pd_calls *calls, const struct stack *stack,
                                      uint32_t symbol, uint64_t ip)
{
    const struct pd_call_path *parent = stack->frames.count ? top_of(stack)->path
                                                            : calls->paths.data[0];
    return pd_calls_below(calls, parent, symbol, ip);
}

static perfdata_status enter(struct pd_calls *calls, struct stack *stack,
                             const struct pd_branch_step *step)
{
    uint64_t return_to = step->ip + step->insn_length;
    if (!step->ip || !step->addr || return_to == step->addr)
        return PERFDATA_OK;
    perfdata_status status = push(
        stack, step, below_top(calls, stack, step->to, step->addr),
        (struct push){ .return_to = return_to, .trace_end = step->flags & PD_IP_TRACE_END });
    /* A call within one function, not to its start, is how a retpoline begins. */
    stack->in_thunk = !stack->was_in_thunk && step->to && step->from == step->to && !step->at_start;
    return status;
}

/* 1: no call on the stack goes on there. */
static int pop_to(struct pd_calls *calls, struct stack *stack, const struct pd_branch_step *step)
{
    size_t at = stack->frames.count;
    if (at == 1 && stack->frames.data[0].path->symbol == step->from)
        return pop(calls, stack, step->time, step->reference, false);
    while (at && (stack->frames.data[at - 1].return_to != step->addr ||
                  stack->frames.data[at - 1].by_jump))
        at--;
    if (!at)
        return 1;
    perfdata_status status = PERFDATA_OK;
    while (stack->frames.count > at && status >= 0)
        status = pop(calls, stack, step->time, step->reference, true);
    return status < 0 ? status : pop(calls, stack, step->time, step->reference, false);
}

/* Handles a return that no call belongs to. */
static perfdata_status leave_unknown(struct pd_calls *calls, struct stack *stack,
                                     const struct pd_branch_step *step)
{
    perfdata_status status = PERFDATA_OK;
    bool kernel = step->ip >= calls->kernel_start;
    bool to_user = kernel && step->addr < calls->kernel_start;
    if (to_user || (!kernel && stack->frames.count && top_of(stack)->path->in_kernel))
        status = pop_kernel(calls, stack, step);
    if (status >= 0 && to_user && !stack->frames.count)
        return push(stack, step, below_top(calls, stack, step->to, step->addr),
                    (struct push){ .no_call = true });
    uint32_t current = stack->frames.count ? top_of(stack)->path->symbol : 0;
    if (status >= 0 && current == step->from) {
        /* At the bottom its call lies before the trace; elsewhere the return is a jump. */
        if (stack->frames.count == 1)
            status = pop(calls, stack, step->time, step->reference, false);
        bool bottom = !stack->frames.count;
        if (status < 0)
            return status;
        return push(stack, step, below_top(calls, stack, step->to, step->addr),
                    (struct push){ .return_to = bottom ? step->addr : 0,
                                   .no_call = true,
                                   .by_jump = !bottom });
    }
    /* The function on top has not returned: it has called the one that is returned to. */
    if (status >= 0)
        status = push(stack, step, below_top(calls, stack, step->to, step->addr),
                      (struct push){ .return_to = step->addr, .no_call = true });
    if (status >= 0)
        status = push(stack, step, below_top(calls, stack, step->from, step->ip),
                      (struct push){ .return_to = step->ip, .no_call = true });
    return status < 0 ? status : pop(calls, stack, step->time, step->reference, false);
}

/* A return that goes elsewhere than its call: the jump of a retpoline, whose call was to the line
 * before. The frame of that call becomes the target's; a thunk's own frame goes. Where the target
 * is the function that jumped, nothing is left. */
static perfdata_status leave_thunk(struct pd_calls *calls, struct stack *stack,
                                   const struct pd_branch_step *step)
{
    bool is_thunk = step->from_is_thunk && top_of(stack)->path->symbol == step->from;
    if (is_thunk)
        stack->frames.count--;
    struct frame *frame = top_of(stack);
    uint32_t jumper = is_thunk ? frame[-1].path->symbol : frame->path->symbol;
    if (jumper && jumper == step->to && !(is_thunk && step->at_start)) {
        stack->frames.count--;
        return PERFDATA_OK;
    }
    struct pd_call_path *path = pd_calls_below(calls, frame[-1].path, step->to, step->addr);
    if (!path)
        return PERFDATA_ERROR_MEMORY;
    frame->path = path;
    return PERFDATA_OK;
}

static perfdata_status leave(struct pd_calls *calls, struct stack *stack,
                             const struct pd_branch_step *step)
{
    if (!step->addr)
        return step->flags & (PD_IP_SYSCALLRET | PD_IP_INTERRUPT) ? pop_kernel(calls, stack, step)
                                                                  : PERFDATA_OK;
    if (!step->ip)
        return PERFDATA_OK;
    if (stack->was_in_thunk && stack->frames.count > 2 && top_of(stack)->return_to != step->addr)
        return leave_thunk(calls, stack, step);
    int popped = pop_to(calls, stack, step);
    return popped > 0 ? leave_unknown(calls, stack, step) : popped;
}

static perfdata_status trace_begins(struct pd_calls *calls, struct stack *stack,
                                    const struct pd_branch_step *step)
{
    if (!stack->frames.count || !top_of(stack)->trace_end)
        return PERFDATA_OK;
    return pop(calls, stack, step->time, step->reference, false);
}

/* What runs unseen stands on the stack as a function without name. */
static perfdata_status trace_ends(struct pd_calls *calls, struct stack *stack,
                                  const struct pd_branch_step *step)
{
    size_t count = stack->frames.count;
    if (!count || (count == 1 && stack->frames.data[0].reference == step->reference))
        return PERFDATA_OK;
    return push(stack, step, below_top(calls, stack, 0, 0),
                (struct push){ .return_to = step->ip + step->insn_length, .trace_end = true });
}

static perfdata_status act(struct pd_calls *calls, struct stack *stack,
                           const struct pd_branch_step *step)
{
    if (step->flags & PD_IP_CALL)
        return enter(calls, stack, step);
    if (step->flags & PD_IP_RETURN)
        return leave(calls, stack, step);
    if (step->flags & PD_IP_TRACE_BEGIN)
        return trace_begins(calls, stack, step);
    if (step->flags & PD_IP_TRACE_END)
        return trace_ends(calls, stack, step);
    /* A jump to another function's start is a call whose return the compiler has left to its
     * caller. */
    if (step->flags & PD_IP_BRANCH && step->from != step->to && step->to && step->at_start)
        return push(stack, step, below_top(calls, stack, step->to, step->addr),
                    (struct push){ .by_jump = true });
    return PERFDATA_OK;
}

static struct stack *find_stack(struct pd_calls *calls, const struct pd_calls_thread *thread,
                                const struct pd_branch_step *step)
{
    uint32_t at = pd_map64_get(&calls->stack_index, thread->key);
    if (at != PD_MAP64_NONE)
        return calls->stacks.data[at];
    struct stack *stack = calloc(1, sizeof *stack);
    if (!stack)
        return NULL;
    stack->thread = *thread;
    stack->trace = step->trace;
    if (!pd_vec_push(&calls->stacks, stack)) {
        free(stack);
        return NULL;
    }
    return pd_map64_set(&calls->stack_index, thread->key, (uint32_t)(calls->stacks.count - 1))
               ? stack
               : NULL;
}

perfdata_status pd_calls_branch(struct pd_calls *calls, const struct pd_calls_thread *thread,
                                const struct pd_branch_step *step)
{
    struct stack *stack = find_stack(calls, thread, step);
    perfdata_status status = PERFDATA_OK;
    if (!stack)
        return PERFDATA_ERROR_MEMORY;
    /* One that was entered in its middle has no number, and ends with none. */
    bool other_trace = stack->trace && stack->trace != step->trace;
    stack->trace = step->trace;
    if (other_trace || (stack->thread.comm != thread->comm && thread->is_main)) {
        status = pop_all(calls, stack);
        if (thread->is_main)
            stack->thread.comm = thread->comm;
    }
    if (status >= 0 && !stack->frames.count)
        status = begin(calls, stack, step);
    stack->was_in_thunk = stack->in_thunk;
    stack->in_thunk = false;
    stack->branches++;
    stack->insns += step->insns;
    stack->cycles += step->cycles;
    stack->last_time = step->time;
    return status < 0 ? status : act(calls, stack, step);
}

static int by_order(const void *left, const void *right)
{
    const struct stack *const *a = left, *const *b = right;
    uint64_t x = (*a)->thread.order, y = (*b)->thread.order;
    return x < y ? -1 : x > y;
}

perfdata_status pd_calls_end(struct pd_calls *calls)
{
    perfdata_status status = PERFDATA_OK;
    if (calls->stacks.count)
        qsort(calls->stacks.data, calls->stacks.count, sizeof(struct stack *), by_order);
    for (size_t i = 0; i < calls->stacks.count && status >= 0; i++)
        status = pop_all(calls, calls->stacks.data[i]);
    return status;
}
