/* SPDX-License-Identifier: MIT */
/* The steps and branches that a worker met on its walk over a segment of a buffer
 * (ahead_segments.h), where steps are told one by one. The queue tells them in its turn, each as if
 * its own decoder had come to it. */
#ifndef PD_SYNTH_AHEAD_STEP_LOG_H
#define PD_SYNTH_AHEAD_STEP_LOG_H
#include "itrace/intel_pt/walk/snapshot.h"

/* A branch of which nothing else is to be told. */
struct pd_step_log_branch {
    uint64_t from, to;
    uint32_t ticks, insns; /* since the step log's begin */
    uint32_t
        cycles; /* since the step log's begin; without CYCs: as of so many changes of their count */
    uint8_t insn_op, insn_length;
    bool has_cycles; /* PD_PT_SAMPLE_IPC */
};

/* Any other step. */
struct pd_step_log_step {
    struct pd_pt_state state; /* counted as the worker's decoder counts */
    size_t branches;          /* before it */
    uint64_t cycles;          /* as of a branch */
    bool codeless;            /* no code was walked since the step before it */
};

/* All zero is an empty one. */
struct pd_step_log {
    PD_VEC(struct pd_step_log_branch) branches;
    PD_VEC(struct pd_step_log_step) steps;
    struct pd_pt_counted begin;
    uint64_t timestamp; /* of the first step */
    uint64_t latest;    /* of branches that were put many at a time */
    struct pd_step_log *next;
};

/* ---- any thread: making one ---- */

/* Begins a step log at that place; the decoder has to return all steps. */
void pd_step_log_begin(struct pd_step_log *step_log, const struct pd_pt_snapshot *entry);
/* Appends a step. False: it cannot be kept, or there is no more room. `changes`: of the count of
 * cycles. */
bool pd_step_log_put_step(struct pd_step_log *step_log, const struct pd_pt_state *state,
                          bool codeless, const struct pd_pt_cycles *changes);
/* Appends the branches that come next, as far as they can be had at once. */
bool pd_step_log_put_branches(struct pd_step_log *step_log, struct pd_pt_decoder *decoder,
                              const struct pd_pt_cycles *changes);
void pd_step_log_free(struct pd_step_log *step_log);

/* ---- the queue's thread: telling it ---- */

struct pd_step_log_reader {
    const struct pd_step_log *step_log;
    const struct pd_pt_cycles *changes;
    size_t step, branch;        /* next ones */
    size_t change;              /* up to which cycles are counted, without CYCs */
    struct pd_pt_counted begin; /* as the queue counts */
    struct pd_pt_time counts;   /* without CYCs */
    bool sees_code;             /* the queue sees the code that the worker saw */
    struct pd_pt_state state;   /* of the last step that was one by itself */
};

/* `own`: the queue's at the place where the step log begins. */
void pd_step_log_open(struct pd_step_log_reader *reader, const struct pd_step_log *step_log,
                      const struct pd_pt_cycles *changes, const struct pd_pt_snapshot *own);
/* The next step, whether it is wanted or not. NULL: the queue's decoder has to go on itself, behind
 * pd_step_log_told() steps. */
const struct pd_pt_state *pd_step_log_next(struct pd_step_log_reader *reader);
PD_INLINE bool pd_step_log_is_at_end(const struct pd_step_log_reader *reader)
{
    return reader->step == reader->step_log->steps.count;
}
PD_INLINE uint64_t pd_step_log_told(const struct pd_step_log_reader *reader)
{
    return reader->step + reader->branch;
}

uint64_t pd_step_log_count(struct pd_step_log_reader *reader, uint64_t cycles);
PD_INLINE uint64_t pd_step_log_cycles(struct pd_step_log_reader *reader, uint64_t cycles)
{
    if (reader->begin.have_cyc)
        return reader->begin.told_cycles + cycles;
    return cycles <= reader->change ? reader->counts.tot_cycles : pd_step_log_count(reader, cycles);
}

/* How many branches come next before any other step, at most so many. */
PD_INLINE size_t pd_step_log_ready(const struct pd_step_log_reader *reader, size_t most)
{
    const struct pd_step_log *step_log = reader->step_log;
    size_t end = step_log->steps.data[reader->step].branches;
    return reader->sees_code ? PD_MIN(end - reader->branch, most) : 0;
}
/* The first of these branches, as a step. */
const struct pd_pt_state *pd_step_log_take(struct pd_step_log_reader *reader);

#endif
