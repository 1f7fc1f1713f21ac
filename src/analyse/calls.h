/* SPDX-License-Identifier: MIT */
/* Branches of a thread, in order -> its calls: which function was entered and left when, below
 * which path of callers. The pairing is perf's, with its guesses where a call or a return is
 * missing (reference intel-pt 13). */
#ifndef PD_CALLS_H
#define PD_CALLS_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"

/* A chain of functions from the outermost on; one node for each that was met. */
struct pd_call_path {
    const struct pd_call_path *parent; /* NULL: the root, which is no function */
    uint64_t ip;                       /* of code without symbol, else 0 */
    uint32_t symbol;                   /* the caller's number for it; 0: none */
    uint32_t index;                    /* dense, the root is 0 */
    uint32_t number;                   /* the consumer's, 0 when made */
    bool in_kernel;
};

struct pd_branch_step {
    uint64_t ip, addr, time;
    uint64_t reference;     /* the consumer's name for the step: its sample */
    uint64_t insns, cycles; /* since the step before; 0: unknown */
    uint64_t trace;         /* another number than the step before: what ran between is unknown */
    uint32_t from, to;      /* symbols; 0: none */
    uint32_t flags;         /* enum pd_ip_flag */
    uint8_t insn_length;
    bool at_start, from_is_thunk; /* `addr` is where its symbol starts; `from` is a retpoline */
};

enum pd_call_flag {
    PD_CALL_NO_CALL = 1,   /* entered before the trace, or by a return */
    PD_CALL_NO_RETURN = 2, /* not seen to be left */
    PD_CALL_BY_JUMP = 4
};

struct pd_call {
    struct pd_call_path *path;
    uint64_t call_time, return_time, call_reference, return_reference;
    uint64_t branches, insns, cycles;
    uint64_t number, parent; /* from 1; parent 0: none */
    uint32_t flags;          /* enum pd_call_flag */
    uint32_t comm;           /* of the stack */
    const void *thread;
};

struct pd_calls;

/* `put` takes calls as they end, inner ones first; < 0 stops. `kernel_start`: the first address of
 * the kernel's half. */
struct pd_calls *pd_calls_new(uint64_t kernel_start,
                              perfdata_status (*put)(void *data, const struct pd_call *call),
                              void *data);
void pd_calls_free(struct pd_calls *calls);

/* One branch. `key`: which stack, a thread's, or for idle tasks a CPU's; `order`: stacks end in
 * this order; `comm` of the process: when the main thread's changes, the program is another one. */
struct pd_calls_thread {
    uint64_t key, order;
    const void *thread;
    uint32_t comm;
    bool is_main;
};
perfdata_status pd_calls_branch(struct pd_calls *calls, const struct pd_calls_thread *thread,
                                const struct pd_branch_step *step);
/* All that is still on a stack ends without return. */
perfdata_status pd_calls_end(struct pd_calls *calls);

const struct pd_call_path *pd_calls_root(const struct pd_calls *calls);
/* The path with one more function; NULL without memory. */
struct pd_call_path *pd_calls_below(struct pd_calls *calls, const struct pd_call_path *parent,
                                    uint32_t symbol, uint64_t ip);

#endif
