/* SPDX-License-Identifier: MIT */
/* Calls, returns and branches of a thread -> its call stack and last branches. */
#include "itrace/synth/stack.h"
#include "itrace/synth.h"

/* Deeper than any program that returns; then it begins anew. */
#define DEPTH_LIMIT ((size_t)4 << 20)

void pd_stacks_free(struct pd_stacks *stacks)
{
    for (size_t i = 0; i < stacks->stacks.count; i++) {
        struct pd_stack *stack = stacks->stacks.data[i];
        pd_vec_free(&stack->frames);
        free(stack->branches);
        free(stack);
    }
    pd_vec_free(&stacks->stacks);
    pd_map64_free(&stacks->by_thread);
}

static uint64_t key_of(const struct pd_thread *thread, bool idle, uint32_t cpu)
{
    return idle ? UINT64_C(1) << 32 | cpu : thread->index;
}

struct pd_stack *pd_stacks_find(struct pd_stacks *stacks, const struct pd_thread *thread, bool idle,
                                uint32_t cpu)
{
    if (!thread)
        return NULL;
    uint64_t key = key_of(thread, idle, cpu);
    if (PD_LIKELY(stacks->last && stacks->last_key == key))
        return stacks->last;
    uint32_t at = pd_map64_get(&stacks->by_thread, key);
    if (at == PD_MAP64_NONE)
        return NULL;
    stacks->last_key = key;
    return stacks->last = stacks->stacks.data[at];
}

struct pd_stack *pd_stacks_get(struct pd_stacks *stacks, const struct pd_thread *thread, bool idle,
                               uint32_t cpu)
{
    struct pd_stack *stack = pd_stacks_find(stacks, thread, idle, cpu);
    if (stack || !thread)
        return stack;
    /* perf finds the stack of an idle task only where it has calls, too. */
    size_t branches = idle && !stacks->calls ? 0 : stacks->branch_limit;
    stack = calloc(1, sizeof *stack);
    if (stack && branches)
        stack->branches = calloc(branches, sizeof *stack->branches);
    if (!stack || (branches && !stack->branches) || !pd_vec_push(&stacks->stacks, stack)) {
        if (stack)
            free(stack->branches);
        free(stack);
        return NULL;
    }
    uint64_t key = key_of(thread, idle, cpu);
    if (!pd_map64_set(&stacks->by_thread, key, (uint32_t)stacks->stacks.count - 1))
        return NULL;
    stacks->last_key = key;
    return stacks->last = stack;
}

/* ---- a branch ---- */

static void add_branch(const struct pd_stacks *stacks, struct pd_stack *stack,
                       const struct pd_stack_step *step)
{
    uint64_t flags = 0;
    if (stacks->mispredicted)
        flags |= UINT64_C(1) << PD_BRANCH_SHIFT_MISPRED;
    if (step->flags & PD_IP_IN_TX)
        flags |= UINT64_C(1) << PD_BRANCH_SHIFT_IN_TX;
    if (step->flags & PD_IP_TX_ABORT)
        flags |= UINT64_C(1) << PD_BRANCH_SHIFT_ABORT;
    if (!stack->position)
        stack->position = stacks->branch_limit;
    stack->branches[--stack->position] = (struct pd_stack_branch){ step->from, step->to, flags };
    if (stack->branch_count < stacks->branch_limit)
        stack->branch_count++;
}

static void push(struct pd_stack *stack, uint64_t address, bool trace_end)
{
    if (stack->frames.count == DEPTH_LIMIT ||
        !pd_vec_push(&stack->frames, (struct pd_stack_frame){ address, trace_end }))
        stack->frames.count = 0;
}

/* What was called behind the frame has returned without a trace of it, as with longjmp(). */
static void pop(struct pd_stack *stack, uint64_t address)
{
    for (size_t i = stack->frames.count; i--;)
        if (stack->frames.data[i].return_address == address) {
            stack->frames.count = i;
            return;
        }
}

static void pop_trace_end(struct pd_stack *stack)
{
    while (stack->frames.count && stack->frames.data[stack->frames.count - 1].trace_end)
        stack->frames.count--;
}

void pd_stack_set_trace(struct pd_stack *stack, uint64_t trace_nr)
{
    if (PD_LIKELY(stack->trace_nr == trace_nr))
        return;
    if (stack->trace_nr) {
        stack->frames.count = 0;
        stack->branch_count = stack->position = 0;
    }
    stack->trace_nr = trace_nr;
}

void pd_stack_step(const struct pd_stacks *stacks, struct pd_stack *stack,
                   const struct pd_stack_step *step)
{
    pd_stack_set_trace(stack, step->trace_nr);
    if (stack->branches)
        add_branch(stacks, stack, step);
    if (!stacks->calls)
        return;
    if (step->flags & PD_IP_CALL) {
        uint64_t behind = step->from + step->length;
        /* A call of the next instruction is only a way to ask for one's own address. */
        if (step->to && behind != step->to)
            push(stack, behind, step->flags & PD_IP_TRACE_END);
    } else if (step->flags & PD_IP_TRACE_BEGIN) {
        /* Tracing may have begun behind a return, and behind the end of a call that ended it. */
        pop(stack, step->to);
        pop_trace_end(stack);
    } else if (step->flags & PD_IP_RETURN && step->from && step->to) {
        pop(stack, step->to);
    }
}

/* ---- what samples get of it ---- */

static uint64_t context_of(uint64_t ip, uint64_t kernel_start)
{
    return ip < kernel_start ? PD_CONTEXT(USER) : PD_CONTEXT(KERNEL);
}

/* Return addresses from the `skip`th frame on, newest first, behind what is already in `to`. */
static size_t put_frames(const struct pd_stack *stack, size_t skip, uint64_t context,
                         uint64_t kernel_start, uint64_t *to, size_t count, size_t size)
{
    for (size_t i = stack->frames.count - skip; i-- && count < size;) {
        uint64_t ip = stack->frames.data[i].return_address;
        uint64_t now = context_of(ip, kernel_start);
        if (now != context) {
            if (count >= size - 1)
                break;
            to[count++] = context = now;
        }
        to[count++] = ip;
    }
    return count;
}

static size_t put_start(uint64_t ip, uint64_t kernel_start, uint64_t *to)
{
    to[0] = context_of(ip, kernel_start);
    to[1] = ip;
    return 2;
}

size_t pd_stack_chain(const struct pd_stack *stack, uint64_t ip, uint64_t kernel_start,
                      uint64_t *to, size_t size)
{
    if (size < 2)
        return 0;
    size_t count = put_start(ip, kernel_start, to);
    return stack ? put_frames(stack, 0, to[0], kernel_start, to, count, size) : count;
}

size_t pd_stack_chain_late(const struct pd_stack *stack, uint64_t ip, uint64_t kernel_start,
                           uint64_t *to, size_t size)
{
    size_t count = 0, skip = 0;
    if (size < 2)
        return 0;
    if (stack) {
        for (; skip < stack->frames.count; skip++) {
            uint64_t frame = stack->frames.data[stack->frames.count - 1 - skip].return_address;
            if (frame < kernel_start || frame == ip)
                break;
        }
        count = put_frames(stack, skip, 0, kernel_start, to, 0, size);
    }
    return count ? count : put_start(ip, kernel_start, to);
}

/* The nth newest branch. */
static const struct pd_stack_branch *branch_at(const struct pd_stacks *stacks,
                                               const struct pd_stack *stack, unsigned nth)
{
    return &stack->branches[(stack->position + nth) % stacks->branch_limit];
}

static size_t put_branches(const struct pd_stacks *stacks, const struct pd_stack *stack,
                           unsigned skip, struct pd_stack_branch *to, size_t size)
{
    size_t count = 0;
    for (unsigned i = skip; i < stack->branch_count && count < size; i++)
        to[count++] = *branch_at(stacks, stack, i);
    return count;
}

size_t pd_stack_branches(const struct pd_stacks *stacks, const struct pd_stack *stack,
                         struct pd_stack_branch *to, size_t size)
{
    return stack ? put_branches(stacks, stack, 0, to, size) : 0;
}

static bool is_user(uint64_t ip, uint64_t kernel_start)
{
    return ip && ip < kernel_start;
}

/* In user space: how many branches come before the newest that led there. */
static unsigned skip_to_user(const struct pd_stacks *stacks, const struct pd_stack *stack,
                             uint64_t kernel_start)
{
    unsigned skip = 0;
    while (skip < stack->branch_count && !is_user(branch_at(stacks, stack, skip)->to, kernel_start))
        skip++;
    return skip;
}

/* In the kernel: the first branch that led to before the sample where the next one left behind it,
 * or that came from or went to user space. */
static unsigned skip_to_kernel(const struct pd_stacks *stacks, const struct pd_stack *stack,
                               uint64_t ip, uint64_t kernel_start)
{
    unsigned skip = 0;
    for (; skip < stack->branch_count; skip++) {
        const struct pd_stack_branch *branch = branch_at(stacks, stack, skip);
        if (branch->from < kernel_start || is_user(branch->to, kernel_start))
            break;
        if (skip && ip >= branch->to && ip <= branch_at(stacks, stack, skip - 1)->from)
            break;
    }
    return skip;
}

size_t pd_stack_branches_late(const struct pd_stacks *stacks, const struct pd_stack *stack,
                              uint64_t ip, uint64_t kernel_start, struct pd_stack_branch *to,
                              size_t size)
{
    if (!stack || !stack->branch_count)
        return 0;
    unsigned skip = ip < kernel_start ? skip_to_user(stacks, stack, kernel_start)
                                      : skip_to_kernel(stacks, stack, ip, kernel_start);
    return put_branches(stacks, stack, skip, to, size);
}
