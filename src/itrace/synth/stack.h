/* SPDX-License-Identifier: MIT */
/* Thread stacks: what each thread has called and not yet returned from, and its last branches, as
 * perf keeps them while it decodes. One owner. */
#ifndef PD_ITRACE_STACK_H
#define PD_ITRACE_STACK_H
#include "base/hash.h"
#include "base/vec.h"
#include "model/model.h"

struct pd_stack_frame {
    uint64_t return_address;
    bool trace_end; /* the trace ended with this call: it will not be seen to return */
};

struct pd_stack_branch {
    uint64_t from, to, flags; /* as a branch stack has them, in our byte order */
};

struct pd_stack {
    PD_VEC(struct pd_stack_frame) frames;
    struct pd_stack_branch *branches; /* a ring, filled downwards; the newest at `position` */
    unsigned branch_count, position;
    uint64_t trace_nr;
};

struct pd_stacks {
    bool calls;            /* keep frames */
    unsigned branch_limit; /* last branches kept; 0: none */
    bool mispredicted;     /* what is said of all branches */
    PD_VEC(struct pd_stack *) stacks;
    struct pd_map64 by_thread; /* index of a thread, or CPU of an idle one -> place in stacks */
    uint64_t last_key;
    struct pd_stack *last;
};

void pd_stacks_free(struct pd_stacks *stacks);
/* The stack of a thread, which is one for each CPU when it is idle (pid and tid 0); NULL: none yet,
 * or no thread. */
struct pd_stack *pd_stacks_find(struct pd_stacks *stacks, const struct pd_thread *thread, bool idle,
                                uint32_t cpu);
/* The same, made when there is none; NULL: no thread or no memory. */
struct pd_stack *pd_stacks_get(struct pd_stacks *stacks, const struct pd_thread *thread, bool idle,
                               uint32_t cpu);

struct pd_stack_step {
    uint32_t flags; /* enum pd_ip_flag */
    uint64_t from, to, trace_nr;
    unsigned length; /* of the instruction */
};
/* A branch. */
void pd_stack_step(const struct pd_stacks *stacks, struct pd_stack *stack,
                   const struct pd_stack_step *step);
/* The next steps are of the trace of this number. Another number than before makes frames and
 * branches be forgotten; as in perf, the first number behind 0, which is none, does not. */
void pd_stack_set_trace(struct pd_stack *stack, uint64_t trace_nr);

/* A call chain of at most `size` words: a context marker, ip, return addresses with a marker where
 * kernel and user space change. `stack` may be NULL. Returns the words written. */
size_t pd_stack_chain(const struct pd_stack *stack, uint64_t ip, uint64_t kernel_start,
                      uint64_t *to, size_t size);
/* The same for a sample that was taken before the trace came to where it is now: what lies above it
 * is left out. */
size_t pd_stack_chain_late(const struct pd_stack *stack, uint64_t ip, uint64_t kernel_start,
                           uint64_t *to, size_t size);
/* The last branches, newest first. */
size_t pd_stack_branches(const struct pd_stacks *stacks, const struct pd_stack *stack,
                         struct pd_stack_branch *to, size_t size);
size_t pd_stack_branches_late(const struct pd_stacks *stacks, const struct pd_stack *stack,
                              uint64_t ip, uint64_t kernel_start, struct pd_stack_branch *to,
                              size_t size);

#endif
