/* SPDX-License-Identifier: MIT */
/* What `trace` keeps while it runs, and the parts of lines that calls and page faults share. */
#ifndef PD_TRACE_TRACE_H
#define PD_TRACE_TRACE_H
#include "analyse/spread.h"
#include "analyse/tracepoints.h"
#include "render/trace/settings.h"
#include "render/trace/syscall.h"
#include "select/event_switch.h"
#include "select/filter.h"

/* A system call of a thread. */
struct pd_trace_call {
    uint32_t number, thread;
    uint64_t failures;
    struct pd_spread durations;
    uint32_t errors; /* number + 1 of its counts in `errors`; 0: none */
};

struct pd_trace_task {
    const struct pd_thread *thread; /* NULL: not seen */
    uint64_t events, entered, runtime;
    uint64_t major_faults, minor_faults; /* of memory */
    bool pending;                        /* a call that has begun and is not printed */
    uint32_t stats;                      /* of the call counted last, + 1; 0: none */
    uint64_t values[PD_SYSCALL_ARGUMENTS];
    struct pd_text entry;
};

struct pd_trace_errors {
    PD_VEC(uint32_t) of; /* by number */
};

struct pd_trace {
    const struct perfdata_syscalls_options *options;
    struct pd_trace_settings settings;
    struct pd_tp tp;
    struct pd_syscalls *syscalls;
    struct pd_filter filter, without;
    struct pd_event_switch event_switch;
    PD_VEC(struct pd_frame) frames;
    PD_VEC(struct pd_trace_task) tasks; /* by the thread's index */
    PD_VEC(struct pd_trace_call) stats;
    PD_VEC(struct pd_trace_errors) errors;
    struct pd_map64 stats_at; /* by thread and number */
    uint64_t base, events, unknown, lines;
    uint32_t current; /* index of the thread that entered last, + 1; 0: none */
    struct pd_syscall_text scratch;
};

PD_INLINE bool pd_trace_has(const struct pd_trace *trace, uint64_t flag)
{
    return trace->options->flags & flag;
}

/* Whether as many lines are printed as were asked for. */
PD_INLINE bool pd_trace_is_full(const struct pd_trace *trace)
{
    return trace->options->max_events && trace->lines >= trace->options->max_events;
}

/* The thread of a sample; counts the event. NULL: no memory. */
struct pd_trace_task *pd_trace_task(struct pd_trace *trace, const struct pd_tp_sample *sample,
                                    struct pd_thread **thread);
/* Time, duration and thread; `time` 0: it is not known. */
void pd_trace_put_head(struct pd_trace *trace, const struct pd_tp_sample *sample,
                       const struct pd_thread *thread, uint64_t time, bool timed,
                       uint64_t duration);
/* Resolves the sample's chain; false: no memory. */
bool pd_trace_chain(struct pd_trace *trace, const struct pd_tp_sample *sample,
                    const struct pd_thread *thread, size_t *count);
/* The frames resolved last, a line each. */
void pd_trace_put_chain(struct pd_trace *trace, size_t count);

/* The handler of an event that counts page faults; NULL: it counts something else. */
const struct pd_tp_handler *pd_trace_fault_handler(const struct pd_event *event);

#endif
