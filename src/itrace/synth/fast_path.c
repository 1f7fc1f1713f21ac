/* SPDX-License-Identifier: MIT */
/* Plain steps: a branch or an instruction of which nothing is to be told but the sample itself.
 * Most steps are, and their samples differ in a few members only: the rest is copied. sample.c
 * tells all others, and says what a sample is. */
#include "itrace/synth/compact_sample.h"
#include "itrace/synth/ahead_step_log.h"

/* ---- which runs ---- */

void pd_synth_fast_open(struct pd_synth *synth)
{
    const struct pd_itrace_options *options = &synth->options;
    const struct pd_event *branches = synth->made.events[PD_SYNTH_BRANCHES],
                          *insns = synth->made.events[PD_SYNTH_INSTRUCTIONS];
    synth->plan.plain = !synth->logger && !synth->plan.step_types && !options->skip &&
                        !synth->plan.uses_stack && !options->power && !synth->plan.quick &&
                        !synth->plan.range_count && !synth->aux->info.pt.cap_event_trace &&
                        !(branches && pd_synth_has_parts(branches)) &&
                        !(insns && pd_synth_has_parts(insns)) && (!options->instructions || insns);
}

static PD_NOINLINE void make_rows(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    struct pd_synth_origin origin = { .thread = queue->runner.shown,
                                      .insn_thread = queue->runner.thread,
                                      .pid = queue->runner.pid,
                                      .tid = queue->runner.tid,
                                      .cpu = queue->runner.cpu };
    origin.event = synth->made.events[PD_SYNTH_BRANCHES];
    queue->plain_branches.origin = origin;
    origin.event = synth->made.events[PD_SYNTH_INSTRUCTIONS];
    queue->plain_insns.origin = origin;
}

/* What samples have in common may have changed since the last run. */
bool pd_synth_fast_begin(struct pd_synth_queue *queue)
{
    struct pd_synth_origin *origin = &queue->plain_branches.origin;
    if (!queue->synth->plan.plain || queue->span.limit)
        return false;
    if (origin->pid != queue->runner.pid || origin->tid != queue->runner.tid ||
        origin->cpu != queue->runner.cpu || origin->insn_thread != queue->runner.thread)
        origin->thread = NULL;
    return true;
}

/* ---- samples ---- */

/* What they differ in. */
struct told {
    uint64_t time, from, to, insns, period;
    uint32_t flags;
    uint8_t insn_length;
};

/* Samples of a row, one after the other. */
struct row {
    struct pd_synth_queue *queue;
    struct pd_synth_fast_row *common;
    struct pd_synth_counts *last;
};

static PD_NOINLINE void note_origin(const struct pd_synth *synth, struct pd_synth_fast_row *common,
                                    uint64_t trace)
{
    struct pd_synth_sink *sink = synth->sink;
    common->origin.base = synth->base;
    common->origin.trace = trace;
    common->packs = sink->packs && pd_synth_pack_origin(sink, &common->place, &common->origin);
}

/* It is the last one noted, in this batch: each has a base of its own. */
PD_INLINE bool has_origin(const struct pd_synth *synth, const struct pd_synth_fast_row *common,
                          uint64_t trace)
{
    return common->origin.base == synth->base && common->origin.trace == trace &&
           (!common->packs || common->place < synth->sink->packs->origins.count);
}

PD_INLINE struct row begin_row(struct pd_synth_queue *queue, bool insn)
{
    const struct pd_synth *synth = queue->synth;
    const uint64_t trace = queue->step.state->trace_nr;
    struct row row = { .queue = queue,
                       .common = insn ? &queue->plain_insns : &queue->plain_branches,
                       .last = insn ? &queue->counts.insns : &queue->counts.branches };
    if (PD_UNLIKELY(!has_origin(synth, row.common, trace)))
        note_origin(synth, row.common, trace);
    return row;
}

PD_INLINE void fill(const struct row *row, const struct told *told, struct pd_synth_packed *out)
{
    out->from = out->insn_ip = told->from;
    out->to = told->to;
    out->time = told->time;
    out->period = told->period;
    out->flags = (uint16_t)told->flags;
    out->insn_length = told->insn_length;
    out->insn_count = out->cycle_count = 0;
    pd_synth_put_ipc(row->queue, row->last, &out->insn_count, &out->cycle_count);
}

PD_INLINE bool put_packed(const struct row *row, const struct told *told)
{
    struct pd_synth_sink *sink = row->queue->synth->sink;
    struct pd_synth_packs *packs = sink->packs;
    if (PD_UNLIKELY(packs->count == packs->capacity))
        return false;
    if (packs->streams) {
        struct pd_synth_packed packed;
        fill(row, told, &packed);
        packed.place = (uint16_t)sink->count++;
        packed.origin = row->common->place;
        pd_synth_pack_stream(&packs->list[packs->count++], &packed);
    } else {
        fill(row, told, pd_synth_pack_next(sink, row->common->place));
    }
    packs->kernel |= told->from >= PD_PT_KERNEL_START;
    return true;
}

static PD_NOINLINE void put_record(const struct row *row, const struct told *told)
{
    struct pd_synth *synth = row->queue->synth;
    struct pd_synth_sink *sink = synth->sink;
    struct pd_synth_unpacked *sample = pd_synth_alloc(synth, sizeof *sample);
    struct pd_synth_packed packed;
    if (PD_UNLIKELY(!sample))
        return;
    fill(row, told, &packed);
    packed.place = (uint16_t)sink->count;
    pd_synth_make_record(&packed, &row->common->origin, sample, &sink->records[sink->count++]);
}

PD_INLINE void put(const struct row *row, const struct told *told)
{
    row->queue->counts.ipc_insns = told->insns;
    if (!row->common->packs || !put_packed(row, told))
        put_record(row, told);
}

PD_INLINE void put_step(struct pd_synth_queue *queue, bool insn, uint32_t flags, uint64_t period)
{
    const struct pd_pt_state *state = queue->step.state;
    struct row row = begin_row(queue, insn);
    put(&row, &(struct told){ .time = pd_synth_time(queue),
                              .from = state->from_ip,
                              .to = state->to_ip,
                              .insns = state->tot_insn_cnt,
                              .period = period,
                              .flags = flags,
                              .insn_length = state->insn_length });
}

bool pd_synth_fast_step(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_state *state = queue->step.state;
    const uint32_t types = PD_PT_BRANCH | PD_PT_INSTRUCTION;
    if (PD_UNLIKELY(state->type & ~types || state->flags & ~(uint32_t)PD_PT_SAMPLE_IPC ||
                    state->from_nr || state->to_nr || !state->from_ip ||
                    state->insn_ip != state->from_ip ||
                    queue->code.walked != queue->runner.thread ||
                    synth->sink->capacity - synth->sink->count < 2))
        return false;
    if (PD_UNLIKELY(queue->plain_branches.origin.thread != queue->runner.shown ||
                    !queue->runner.shown)) {
        if (!queue->runner.shown) /* the first sample looks for it */
            return false;
        make_rows(queue);
    }
    uint32_t flags = synth->plan.op_flags[state->insn_op];
    pd_synth_count(queue);
    if (state->type & PD_PT_INSTRUCTION && synth->options.instructions) {
        put_step(queue, true, flags, state->tot_insn_cnt - queue->counts.last_insns);
        queue->counts.last_insns = state->tot_insn_cnt;
    }
    if (state->type & PD_PT_BRANCH && synth->made.events[PD_SYNTH_BRANCHES] &&
        pd_synth_is_told(synth, flags))
        put_step(queue, false, flags, 1);
    return true;
}

/* ---- many at once ---- */

/* `before`: instructions walked before. */
static void put_straight(struct pd_synth_queue *queue, const struct pd_pt_straight *straight,
                         uint64_t before)
{
    struct row row = begin_row(queue, true);
    queue->counts.has_ipc = queue->synth->options.approximate_ipc || straight->has_cycles;
    struct told told = { .time = pd_synth_time(queue),
                         .from = straight->ip,
                         .flags = queue->synth->plan.op_flags[PD_INSN_OTHER] };
    for (size_t i = 0; i < straight->count; i++) {
        told.insns = ++before;
        told.period = told.insns - queue->counts.last_insns;
        told.insn_length = straight->lengths[i];
        put(&row, &told);
        told.from += told.insn_length;
        queue->counts.last_insns = told.insns;
    }
}

/* Sets the queue's time and cycles to the branch's. */
PD_INLINE struct told told_branch(struct pd_synth_queue *queue, uint64_t from, uint64_t to,
                                  uint64_t insns, uint8_t insn_op, uint8_t insn_length)
{
    return (struct told){ .time = pd_synth_time(queue),
                          .from = from,
                          .to = to,
                          .insns = insns,
                          .period = 1,
                          .flags = queue->synth->plan.op_flags[insn_op],
                          .insn_length = insn_length };
}

/* The time and cycles are the branch's from here on. */
PD_INLINE struct told told_of(struct pd_synth_queue *queue, const struct pd_pt_branch *branch)
{
    const bool approximate = queue->synth->options.approximate_ipc;
    queue->time = PD_MAX(queue->time, branch->timestamp);
    queue->counts.ipc_cycles = approximate ? branch->cycles : branch->tot_cycles;
    queue->counts.has_ipc = approximate || branch->has_cycles;
    return told_branch(queue, branch->from, branch->to, branch->insns, branch->insn_op,
                       branch->insn_length);
}

static void put_branches(struct pd_synth_queue *queue, const struct pd_pt_branch *branches,
                         size_t count)
{
    struct pd_synth *synth = queue->synth;
    if (!count || !synth->made.events[PD_SYNTH_BRANCHES])
        return;
    struct row row = begin_row(queue, false);
    for (size_t i = 0; i < count; i++) {
        struct told told = told_of(queue, &branches[i]);
        if (told.to && pd_synth_is_told(synth, told.flags))
            put(&row, &told);
    }
}

/* Samples of the instructions up to the branch, which is one of them. */
static void put_insns(struct pd_synth_queue *queue, const struct pd_pt_branch *branch)
{
    size_t before = branch->straight.count;
    if (before)
        put_straight(queue, &branch->straight, branch->insns - before - 1);
    struct row row = begin_row(queue, true);
    struct told told = told_of(queue, branch);
    told.period = branch->insns - queue->counts.last_insns;
    put(&row, &told);
    queue->counts.last_insns = branch->insns;
}

enum { MOST = 32 };

/* Tells the next branches, MOST of them at most; how many they were. */
static size_t put_more(struct pd_synth_queue *queue, size_t steps, bool insns)
{
    struct pd_pt_branch branches[MOST];
    size_t count = pd_pt_branches(queue->decoder, steps, branches, MOST);
    for (size_t i = 0; insns && i < count; i++) {
        put_insns(queue, &branches[i]);
        put_branches(queue, &branches[i], 1);
    }
    if (!insns)
        put_branches(queue, branches, count);
    return count;
}

/* ---- in a step log ---- */

PD_INLINE struct told told_in_log(struct pd_synth_queue *queue,
                                  const struct pd_step_log_branch *branch)
{
    struct pd_step_log_reader *reader = queue->ahead.step_log;
    queue->counts.ipc_cycles = pd_step_log_cycles(reader, branch->cycles);
    queue->counts.has_ipc = branch->has_cycles;
    return told_branch(queue, branch->from, branch->to, reader->begin.insns + branch->insns,
                       branch->insn_op, branch->insn_length);
}

/* Tells all branches before the limit. */
static size_t put_step_log(struct pd_synth_queue *queue, const struct pd_step_log_branch *branches,
                           size_t most, uint64_t limit)
{
    const struct pd_synth *synth = queue->synth;
    const uint64_t begin = queue->ahead.step_log->step_log->timestamp;
    struct row row = begin_row(queue, false);
    for (size_t i = 0; i < most; i++) {
        queue->time = PD_MAX(queue->time, begin + branches[i].ticks);
        if (queue->time >= limit) {
            queue->ahead.waits = true;
            return i;
        }
        if (!pd_synth_is_told(synth, synth->plan.op_flags[branches[i].insn_op]))
            continue;
        struct told told = told_in_log(queue, &branches[i]);
        put(&row, &told);
    }
    return most;
}

bool pd_synth_fast_step_log(struct pd_synth_queue *queue, uint64_t limit)
{
    const struct pd_synth_sink *sink = queue->synth->sink;
    struct pd_step_log_reader *reader = queue->ahead.step_log;
    const struct pd_step_log_branch *branches = reader->step_log->branches.data + reader->branch;
    const size_t most = pd_step_log_ready(reader, sink->capacity - sink->count);
    if (!most || !queue->runner.shown)
        return false;
    if (PD_UNLIKELY(queue->plain_branches.origin.thread != queue->runner.shown))
        make_rows(queue);
    size_t count = put_step_log(queue, branches, most, limit);
    queue->code.walked = queue->runner.thread;
    if (count)
        queue->code.walked_insns = reader->begin.insns + branches[count - 1].insns;
    reader->branch += count;
    return true;
}

void pd_synth_fast_wait(struct pd_synth_queue *queue, bool plain)
{
    queue->ahead.waits = false;
    if (plain && queue->ahead.step_log->sees_code && queue->code.walked == queue->runner.thread &&
        queue->runner.shown)
        return;
    queue->step.state = pd_step_log_take(queue->ahead.step_log);
    queue->code.walked_insns = queue->step.state->tot_insn_cnt;
    queue->step.pending = true;
    pd_synth_set_flags(queue);
}

void pd_synth_fast_more(struct pd_synth_queue *queue)
{
    const struct pd_synth *synth = queue->synth;
    const struct pd_synth_sink *sink = synth->sink;
    const struct pd_pt_state *state = queue->step.state;
    const bool insns = state->type & PD_PT_INSTRUCTION && synth->options.instructions;
    const bool both = synth->options.instructions && synth->made.events[PD_SYNTH_BRANCHES];
    struct pd_pt_straight straight;
    size_t count, left;
    do {
        left = sink->capacity - sink->count;
        left = both ? left / 2 : left; /* each step has a sample of each kind at most */
        if (left <= MOST)
            return;
        count = put_more(queue, left, insns);
        queue->code.walked_insns = state->tot_insn_cnt;
    } while (count == MOST);
    if (count || !insns)
        return;
    uint64_t before = state->tot_insn_cnt;
    if (pd_pt_straight(queue->decoder, left, &straight)) {
        queue->code.walked_insns = state->tot_insn_cnt;
        put_straight(queue, &straight, before);
    }
}
