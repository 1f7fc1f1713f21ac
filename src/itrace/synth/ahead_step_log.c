/* SPDX-License-Identifier: MIT */
/* Steps of a segment -> a log that the queue reads later, and back. */
#include "itrace/synth/ahead_step_log.h"

/* A step log ends there: how many branches a trace has does not depend on its size. */
enum { MOST_BRANCHES = 1 << 17, MOST_STEPS = 1 << 14 };

/* ---- making one ---- */

void pd_step_log_begin(struct pd_step_log *step_log, const struct pd_pt_snapshot *entry)
{
    step_log->branches.count = step_log->steps.count = 0;
    step_log->timestamp = step_log->latest = 0;
    pd_pt_snapshot_counted(entry, &step_log->begin);
}

void pd_step_log_free(struct pd_step_log *step_log)
{
    if (!step_log)
        return;
    pd_vec_free(&step_log->branches);
    pd_vec_free(&step_log->steps);
    free(step_log);
}

PD_INLINE uint64_t cycles_of(const struct pd_step_log *step_log, uint64_t tot_cycles,
                             const struct pd_pt_cycles *changes)
{
    return step_log->begin.have_cyc ? tot_cycles - step_log->begin.told_cycles : changes->taken;
}

static bool is_plain(const struct pd_pt_state *state, const struct pd_pt_state *before)
{
    const uint64_t side = UINT64_C(1) << 63;
    return state->type == PD_PT_BRANCH && !state->error &&
           !(state->flags & ~(uint32_t)PD_PT_SAMPLE_IPC) && state->from_ip && state->to_ip &&
           state->insn_ip == state->from_ip && !((state->from_ip ^ state->to_ip) & side) &&
           !state->from_nr && !state->to_nr && state->from_if == before->to_if &&
           state->to_if == before->to_if && state->cbr == before->cbr &&
           state->trace_nr == before->trace_nr && state->psb_offset == before->psb_offset &&
           state->last_timestamp <= state->timestamp && !state->skipped_timestamp;
}

/* There has to be room for the branch. False: its numbers do not fit. */
PD_INLINE bool put_branch(struct pd_step_log *step_log, const struct pd_pt_branch *branch,
                          uint64_t cycles)
{
    uint64_t ticks = branch->timestamp - step_log->timestamp;
    uint64_t insns = branch->insns - step_log->begin.insns;
    if (PD_UNLIKELY((ticks | insns | cycles) > UINT32_MAX))
        return false;
    struct pd_step_log_branch *out = &step_log->branches.data[step_log->branches.count++];
    out->from = branch->from;
    out->to = branch->to;
    out->ticks = (uint32_t)ticks;
    out->insns = (uint32_t)insns;
    out->cycles = (uint32_t)cycles;
    out->insn_op = branch->insn_op;
    out->insn_length = branch->insn_length;
    out->has_cycles = branch->has_cycles;
    return true;
}

static bool put_plain(struct pd_step_log *step_log, const struct pd_pt_state *state,
                      uint64_t cycles)
{
    struct pd_pt_branch branch = { .from = state->from_ip,
                                   .to = state->to_ip,
                                   .insns = state->tot_insn_cnt,
                                   .timestamp = state->timestamp,
                                   .insn_op = state->insn_op,
                                   .insn_length = state->insn_length,
                                   .has_cycles = state->flags & PD_PT_SAMPLE_IPC };
    return pd_vec_reserve(&step_log->branches, step_log->branches.count + 1) &&
           put_branch(step_log, &branch, cycles);
}

bool pd_step_log_put_step(struct pd_step_log *step_log, const struct pd_pt_state *state,
                          bool codeless, const struct pd_pt_cycles *changes)
{
    const uint64_t cycles = cycles_of(step_log, state->tot_cyc_cnt, changes);
    if (state->type & (PD_PT_BLOCK_ITEMS | PD_PT_EVENT)) /* they hold more */
        return false;
    if (!step_log->steps.count)
        step_log->timestamp = state->timestamp;
    else if (is_plain(state, &step_log->steps.data[step_log->steps.count - 1].state) &&
             put_plain(step_log, state, cycles))
        return true;
    struct pd_step_log_step step = { *state, step_log->branches.count, cycles, codeless };
    return step_log->steps.count < MOST_STEPS && pd_vec_push(&step_log->steps, step);
}

enum { MOST = 32 };

bool pd_step_log_put_branches(struct pd_step_log *step_log, struct pd_pt_decoder *decoder,
                              const struct pd_pt_cycles *changes)
{
    struct pd_pt_branch branches[MOST];
    size_t count, most;
    do {
        /* All branches that are had at once have the count of the last one. */
        most = !step_log->begin.have_cyc && pd_pt_counts_wait(decoder) ? 1 : MOST;
        count = pd_pt_branches(decoder, most, branches, most);
        if (step_log->branches.count + count > MOST_BRANCHES ||
            !pd_vec_reserve(&step_log->branches, step_log->branches.count + count))
            return false;
        for (size_t i = 0; i < count; i++)
            if (!put_branch(step_log, &branches[i],
                            cycles_of(step_log, branches[i].tot_cycles, changes)))
                return false;
        if (count)
            step_log->latest = PD_MAX(step_log->latest, branches[count - 1].timestamp);
    } while (count == most);
    return true;
}

/* ---- telling it ---- */

void pd_step_log_open(struct pd_step_log_reader *reader, const struct pd_step_log *step_log,
                      const struct pd_pt_cycles *changes, const struct pd_pt_snapshot *own)
{
    *reader = (struct pd_step_log_reader){ .step_log = step_log, .changes = changes };
    pd_pt_snapshot_counted(own, &reader->begin);
    pd_pt_snapshot_cycles(own, &reader->counts);
}

/* Without CYCs: the count after so many changes, which is what the queue's own count would be
 * then. */
uint64_t pd_step_log_count(struct pd_step_log_reader *reader, uint64_t changes)
{
    pd_pt_time_recount(&reader->counts, reader->changes, reader->change, (size_t)changes);
    reader->change = (size_t)changes;
    return reader->counts.tot_cycles;
}

/* The state as of a branch: what is not set here stays as it was. */
static void show_branch(struct pd_step_log_reader *reader, const struct pd_step_log_branch *branch)
{
    struct pd_pt_state *state = &reader->state;
    state->type = PD_PT_BRANCH;
    state->error = PD_PT_OK;
    state->flags = branch->has_cycles ? PD_PT_SAMPLE_IPC : 0;
    state->from_ip = state->insn_ip = branch->from;
    state->to_ip = branch->to;
    state->insn_op = branch->insn_op;
    state->insn_length = branch->insn_length;
    state->from_nr = state->to_nr = false;
    state->from_if = state->to_if;
    state->timestamp = state->last_timestamp = reader->step_log->timestamp + branch->ticks;
    state->est_timestamp = state->skipped_timestamp = 0;
    state->tot_insn_cnt = reader->begin.insns + branch->insns;
    state->tot_cyc_cnt = pd_step_log_cycles(reader, branch->cycles);
}

static void show_step(struct pd_step_log_reader *reader, const struct pd_step_log_step *step)
{
    reader->state = step->state;
    reader->state.items = NULL;
    reader->state.cfe.data = NULL;
    reader->state.tot_insn_cnt += reader->begin.insns - reader->step_log->begin.insns;
    reader->state.tot_cyc_cnt = pd_step_log_cycles(reader, step->cycles);
}

const struct pd_pt_state *pd_step_log_take(struct pd_step_log_reader *reader)
{
    show_branch(reader, &reader->step_log->branches.data[reader->branch++]);
    return &reader->state;
}

const struct pd_pt_state *pd_step_log_next(struct pd_step_log_reader *reader)
{
    const struct pd_step_log_step *step = &reader->step_log->steps.data[reader->step];
    const bool branch = reader->branch < step->branches;
    if (!reader->sees_code && (branch || !step->codeless))
        return NULL;
    if (branch)
        return pd_step_log_take(reader);
    reader->step++;
    show_step(reader, step);
    return &reader->state;
}
