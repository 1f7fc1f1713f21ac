/* SPDX-License-Identifier: MIT */
/* Steps of a segment -> a log that the queue reads later, and back. */
#include "itrace/synth/ahead_step_log.h"

/* A tape ends there: how many branches a trace has does not depend on its size. */
enum { MOST_BRANCHES = 1 << 17, MOST_STEPS = 1 << 14 };

/* ---- making one ---- */

void pd_tape_begin(struct pd_tape *tape, const struct pd_pt_mark *entry)
{
    tape->branches.count = tape->steps.count = 0;
    tape->timestamp = tape->latest = 0;
    pd_pt_mark_counted(entry, &tape->begin);
}

void pd_tape_free(struct pd_tape *tape)
{
    if (!tape)
        return;
    pd_vec_free(&tape->branches);
    pd_vec_free(&tape->steps);
    free(tape);
}

PD_INLINE uint64_t cycles_of(const struct pd_tape *tape, uint64_t tot_cycles,
                             const struct pd_pt_cycles *changes)
{
    return tape->begin.have_cyc ? tot_cycles - tape->begin.told_cycles : changes->taken;
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

/* There has to be room for it. False: its numbers do not fit. */
PD_INLINE bool put_branch(struct pd_tape *tape, const struct pd_pt_branch *branch, uint64_t cycles)
{
    uint64_t ticks = branch->timestamp - tape->timestamp;
    uint64_t insns = branch->insns - tape->begin.insns;
    if (PD_UNLIKELY((ticks | insns | cycles) > UINT32_MAX))
        return false;
    struct pd_tape_branch *out = &tape->branches.data[tape->branches.count++];
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

static bool put_plain(struct pd_tape *tape, const struct pd_pt_state *state, uint64_t cycles)
{
    struct pd_pt_branch branch = { .from = state->from_ip,
                                   .to = state->to_ip,
                                   .insns = state->tot_insn_cnt,
                                   .timestamp = state->timestamp,
                                   .insn_op = state->insn_op,
                                   .insn_length = state->insn_length,
                                   .has_cycles = state->flags & PD_PT_SAMPLE_IPC };
    return pd_vec_reserve(&tape->branches, tape->branches.count + 1) &&
           put_branch(tape, &branch, cycles);
}

bool pd_tape_put_step(struct pd_tape *tape, const struct pd_pt_state *state, bool codeless,
                      const struct pd_pt_cycles *changes)
{
    const uint64_t cycles = cycles_of(tape, state->tot_cyc_cnt, changes);
    if (state->type & (PD_PT_BLOCK_ITEMS | PD_PT_EVENT)) /* they hold more */
        return false;
    if (!tape->steps.count)
        tape->timestamp = state->timestamp;
    else if (is_plain(state, &tape->steps.data[tape->steps.count - 1].state) &&
             put_plain(tape, state, cycles))
        return true;
    struct pd_tape_step step = { *state, tape->branches.count, cycles, codeless };
    return tape->steps.count < MOST_STEPS && pd_vec_push(&tape->steps, step);
}

enum { MOST = 32 };

bool pd_tape_put_branches(struct pd_tape *tape, struct pd_pt_decoder *decoder,
                          const struct pd_pt_cycles *changes)
{
    struct pd_pt_branch branches[MOST];
    size_t count, most;
    do {
        /* All branches that are had at once have the count of the last one. */
        most = !tape->begin.have_cyc && pd_pt_counts_wait(decoder) ? 1 : MOST;
        count = pd_pt_branches(decoder, most, branches, most);
        if (tape->branches.count + count > MOST_BRANCHES ||
            !pd_vec_reserve(&tape->branches, tape->branches.count + count))
            return false;
        for (size_t i = 0; i < count; i++)
            if (!put_branch(tape, &branches[i], cycles_of(tape, branches[i].tot_cycles, changes)))
                return false;
        if (count)
            tape->latest = PD_MAX(tape->latest, branches[count - 1].timestamp);
    } while (count == most);
    return true;
}

/* ---- telling it ---- */

void pd_tape_open(struct pd_tape_reader *reader, const struct pd_tape *tape,
                  const struct pd_pt_cycles *changes, const struct pd_pt_mark *own)
{
    *reader = (struct pd_tape_reader){ .tape = tape, .changes = changes };
    pd_pt_mark_counted(own, &reader->begin);
    pd_pt_mark_cycles(own, &reader->counts);
}

/* Without CYCs: as of so many changes, which is what the queue's own count would be then. */
uint64_t pd_tape_count(struct pd_tape_reader *reader, uint64_t changes)
{
    pd_pt_time_recount(&reader->counts, reader->changes, reader->change, (size_t)changes);
    reader->change = (size_t)changes;
    return reader->counts.tot_cycles;
}

/* The state as of a branch: of what was told with it all but this is as it was. */
static void show_branch(struct pd_tape_reader *reader, const struct pd_tape_branch *branch)
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
    state->timestamp = state->last_timestamp = reader->tape->timestamp + branch->ticks;
    state->est_timestamp = state->skipped_timestamp = 0;
    state->tot_insn_cnt = reader->begin.insns + branch->insns;
    state->tot_cyc_cnt = pd_tape_cycles(reader, branch->cycles);
}

static void show_step(struct pd_tape_reader *reader, const struct pd_tape_step *step)
{
    reader->state = step->state;
    reader->state.items = NULL;
    reader->state.cfe.data = NULL;
    reader->state.tot_insn_cnt += reader->begin.insns - reader->tape->begin.insns;
    reader->state.tot_cyc_cnt = pd_tape_cycles(reader, step->cycles);
}

const struct pd_pt_state *pd_tape_take(struct pd_tape_reader *reader)
{
    show_branch(reader, &reader->tape->branches.data[reader->branch++]);
    return &reader->state;
}

const struct pd_pt_state *pd_tape_next(struct pd_tape_reader *reader)
{
    const struct pd_tape_step *step = &reader->tape->steps.data[reader->step];
    const bool branch = reader->branch < step->branches;
    if (!reader->sees_code && (branch || !step->codeless))
        return NULL;
    if (branch)
        return pd_tape_take(reader);
    reader->step++;
    show_step(reader, step);
    return &reader->state;
}
