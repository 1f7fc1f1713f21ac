/* SPDX-License-Identifier: MIT */
/* Steps -> sample records. */
#include "itrace/synth/compact_sample.h"

/* ---- a step ---- */

static uint32_t async_flags(const struct pd_pt_state *state)
{
    if (!state->to_ip)
        return PD_IP_BRANCH | PD_IP_ASYNC | PD_IP_TRACE_END;
    if (state->from_nr && !state->to_nr)
        return PD_IP_BRANCH | PD_IP_CALL | PD_IP_ASYNC | PD_IP_VMEXIT;
    return PD_IP_BRANCH | PD_IP_CALL | PD_IP_ASYNC | PD_IP_INTERRUPT;
}

void pd_synth_set_flags(struct pd_synth_queue *queue)
{
    const struct pd_pt_state *state = queue->step.state;
    uint32_t flags = 0;
    queue->step.insn_length = 0;
    if (PD_UNLIKELY(state->flags & PD_PT_ABORT_TX)) {
        flags = PD_IP_BRANCH | PD_IP_TX_ABORT;
    } else if (PD_UNLIKELY(state->flags & PD_PT_ASYNC)) {
        flags = async_flags(state);
    } else {
        flags = state->from_ip ? queue->synth->plan.op_flags[state->insn_op]
                               : PD_IP_BRANCH | PD_IP_TRACE_BEGIN;
        if (state->flags & PD_PT_IN_TX)
            flags |= PD_IP_IN_TX;
        queue->step.insn_length = state->insn_length;
    }
    if (state->type & PD_PT_TRACE_BEGIN)
        flags |= PD_IP_TRACE_BEGIN;
    if (state->type & PD_PT_TRACE_END)
        flags |= PD_IP_TRACE_END;
    if (PD_UNLIKELY(queue->synth->aux->info.pt.cap_event_trace)) {
        if (!state->from_if)
            flags |= PD_IP_INTR_DISABLE;
        if (state->type & PD_PT_IF_CHANGE && state->from_if != state->to_if)
            flags |= PD_IP_INTR_TOGGLE;
    }
    queue->step.flags = flags;
}

/* ---- samples ---- */

struct sample {
    struct pd_delivered *record;
    struct pd_synth_fixed *fixed;
    struct pd_synth_facts *facts;
    uint8_t *parts; /* behind the fixed part */
};

PD_INLINE void show_thread(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    if (PD_UNLIKELY(!queue->runner.shown))
        queue->runner.shown = pd_timeline_touch(synth->timeline, queue->runner.pid,
                                                queue->runner.tid, synth->number);
}

/* What all samples have. `room`: bytes behind the fixed part, at most. */
PD_INLINE bool begin_sample(struct pd_synth_queue *queue, enum pd_synth_kind kind, uint64_t from,
                            uint64_t to, size_t room, struct sample *out)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_state *state = queue->step.state;
    const struct pd_event *event = synth->made.events[kind];
    if (PD_UNLIKELY(synth->logger != NULL))
        pd_synth_log_flush(synth);
    struct pd_synth_facts *facts = pd_synth_alloc(synth, sizeof *facts +
                                                             sizeof(struct pd_synth_fixed) + room);
    if (PD_UNLIKELY(!facts))
        return false;
    struct pd_synth_fixed *fixed = (struct pd_synth_fixed *)(facts + 1);
    uint64_t time = pd_synth_time(queue), id = event->ids[0];
    bool guest = from ? state->from_nr : state->to_nr;
    uint16_t misc = pd_synth_mode(from || synth->bts ? from : to, guest); /* as perf */
    *fixed = (struct pd_synth_fixed){ .type = PD_RECORD_SAMPLE,
                                      .misc = misc,
                                      .size = sizeof *fixed,
                                      .ip = from,
                                      .pid = queue->runner.pid,
                                      .tid = queue->runner.tid,
                                      .time = time,
                                      .addr = to,
                                      .id = id,
                                      .stream_id = id,
                                      .cpu = queue->runner.cpu,
                                      .period = 1 };
    *facts = (struct pd_synth_facts){ .flags = queue->step.flags,
                                      .to = to,
                                      .trace = state->trace_nr,
                                      .insn_ip = state->insn_ip,
                                      .insn_thread = queue->code.walked,
                                      .insn_length = queue->step.insn_length };
    if (synth->stacks.calls && !queue->runner.stack)
        queue->runner.stack = pd_stacks_find(&synth->stacks, queue->runner.thread,
                                             queue->runner.idle, queue->runner.cpu);
    /* perf keeps the calls of a guest with its hypervisor and tells no depth of them. */
    if (synth->stacks.calls && queue->runner.stack && PD_LIKELY(!guest)) {
        facts->depth = (uint32_t)queue->runner.stack->frames.count;
        facts->has_depth = true;
    }
    show_thread(queue);
    struct pd_delivered *record = &synth->sink->records[synth->sink->count++];
    struct pd_thread *of_guest = PD_UNLIKELY(guest) ? pd_synth_guest_thread(queue) : NULL;
    pd_synth_record(fixed, facts, event, of_guest ? of_guest : queue->runner.shown, record);
    *out = (struct sample){ record, fixed, facts, (uint8_t *)(fixed + 1) };
    return true;
}

static void grow(struct sample *sample, size_t size)
{
    sample->parts += size;
    sample->record->size += (uint32_t)size;
    sample->fixed->size = (uint16_t)sample->record->size;
}

/* `s`: the first samples are swallowed. */
PD_INLINE bool is_skipped(struct pd_synth *synth)
{
    return PD_UNLIKELY(synth->options.skip) && synth->plan.skipped++ < synth->options.skip;
}

/* NULL: a record is to be made. */
PD_INLINE struct pd_synth_packed *pack(struct pd_synth_queue *queue, enum pd_synth_kind kind,
                                       uint64_t from, uint64_t to, uint64_t period)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_state *state = queue->step.state;
    if (!synth->sink->packs || synth->stacks.calls || state->from_nr || state->to_nr ||
        (synth->bts && !from))
        return NULL;
    show_thread(queue);
    const struct pd_synth_origin origin = { .event = synth->made.events[kind],
                                            .thread = queue->runner.shown,
                                            .insn_thread = queue->code.walked,
                                            .trace = state->trace_nr,
                                            .base = synth->base,
                                            .pid = queue->runner.pid,
                                            .tid = queue->runner.tid,
                                            .cpu = queue->runner.cpu };
    if (!pd_synth_pack_origin(synth->sink, &queue->origin, &origin))
        return NULL;
    struct pd_synth_packed *packed = pd_synth_pack_next(synth->sink, queue->origin);
    if (PD_UNLIKELY(!packed))
        return NULL;
    packed->from = from;
    packed->to = to;
    packed->time = pd_synth_time(queue);
    packed->insn_ip = state->insn_ip;
    packed->period = period;
    packed->flags = (uint16_t)queue->step.flags;
    packed->insn_length = queue->step.insn_length;
    synth->sink->packs->kernel |= (from ? from : to) >= PD_PT_KERNEL_START;
    return packed;
}

static void put_branch(struct pd_synth_queue *queue, uint64_t from, uint64_t to)
{
    struct pd_synth *synth = queue->synth;
    struct sample sample;
    if (is_skipped(synth))
        return;
    struct pd_synth_packed *packed = pack(queue, PD_SYNTH_BRANCHES, from, to, 1);
    if (packed)
        pd_synth_put_ipc(queue, &queue->counts.branches, &packed->insn_count, &packed->cycle_count);
    else if (begin_sample(queue, PD_SYNTH_BRANCHES, from, to, 0, &sample))
        pd_synth_put_ipc(queue, &queue->counts.branches, &sample.facts->insn_count,
                         &sample.facts->cycle_count);
}

/* Chain and branches that samples of all kinds but branches have, and in front of the branches the
 * payload. */
static size_t parts_room(const struct pd_synth *synth, size_t raw)
{
    return raw + (synth->plan.chains ? 8 * (size_t)(synth->options.callchain_size + 2) : 0) +
           (synth->plan.last_branches ? 16 + 24 * (size_t)synth->options.last_branch_size : 0);
}

static PD_NOINLINE void put_some_parts(struct pd_synth_queue *queue, struct sample *sample,
                                       const void *raw, size_t raw_size)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_event *event = sample->record->event;
    uint64_t *to;
    if (event->attr.sample_type & PD_SAMPLE_CALLCHAIN) {
        to = (uint64_t *)(void *)sample->parts;
        size_t count = pd_stack_chain(pd_synth_stack(queue), sample->fixed->ip, PD_PT_KERNEL_START,
                                      to + 1, synth->options.callchain_size + 1);
        to[0] = count;
        grow(sample, 8 + 8 * count);
    }
    if (event->attr.sample_type & PD_SAMPLE_RAW) {
        uint32_t size = (uint32_t)raw_size;
        memcpy(sample->parts, &size, 4);
        if (raw_size)
            memcpy(sample->parts + 4, raw, raw_size);
        grow(sample, 4 + raw_size);
    }
    if (event->attr.sample_type & PD_SAMPLE_BRANCH_STACK) {
        struct pd_stack_branch branches[1024];
        size_t count = pd_stack_branches(&synth->stacks, pd_synth_stack(queue), branches,
                                         synth->options.last_branch_size);
        uint64_t head[2] = { count, UINT64_MAX };
        memcpy(sample->parts, head, sizeof head);
        memcpy(sample->parts + sizeof head, branches, count * sizeof *branches);
        grow(sample, sizeof head + count * sizeof *branches);
    }
}

PD_INLINE void put_parts(struct pd_synth_queue *queue, struct sample *sample, const void *raw,
                         size_t raw_size)
{
    if (pd_synth_has_parts(sample->record->event))
        put_some_parts(queue, sample, raw, raw_size);
}

PD_INLINE bool begin_full(struct pd_synth_queue *queue, enum pd_synth_kind kind, size_t raw,
                          struct sample *out)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_state *state = queue->step.state;
    return synth->made.events[kind] && begin_sample(queue, kind, state->from_ip, state->to_ip,
                                                    parts_room(synth, raw + 16), out);
}

static void put_instruction(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_state *state = queue->step.state;
    uint64_t insns = state->tot_insn_cnt;
    uint64_t period = synth->options.quick ? 1 : insns - queue->counts.last_insns;
    const struct pd_event *event = synth->made.events[PD_SYNTH_INSTRUCTIONS];
    struct pd_synth_packed *packed = NULL;
    struct sample sample;
    if (is_skipped(synth) || !event)
        return;
    if (!pd_synth_has_parts(event))
        packed = pack(queue, PD_SYNTH_INSTRUCTIONS, state->from_ip, state->to_ip, period);
    if (packed) {
        pd_synth_put_ipc(queue, &queue->counts.insns, &packed->insn_count, &packed->cycle_count);
    } else {
        if (!begin_full(queue, PD_SYNTH_INSTRUCTIONS, 0, &sample))
            return;
        sample.fixed->period = period;
        pd_synth_put_ipc(queue, &queue->counts.insns, &sample.facts->insn_count,
                         &sample.facts->cycle_count);
        put_parts(queue, &sample, NULL, 0);
    }
    queue->counts.last_insns = insns;
}

static void put_transaction(struct pd_synth_queue *queue)
{
    struct sample sample;
    if (!is_skipped(queue->synth) && begin_full(queue, PD_SYNTH_TRANSACTIONS, 0, &sample))
        put_parts(queue, &sample, NULL, 0);
}

/* What happened outside of code (ip 0) gets no flags: else it would show those of a trace's
 * beginning. */
static void put_synth(struct pd_synth_queue *queue, enum pd_synth_kind kind, const void *raw,
                      size_t size)
{
    struct sample sample;
    if (is_skipped(queue->synth) || !begin_full(queue, kind, size, &sample))
        return;
    if (!sample.fixed->ip && kind != PD_SYNTH_IFLAG)
        sample.facts->flags = 0;
    if (kind == PD_SYNTH_PSB)
        sample.facts->flags = 0;
    put_parts(queue, &sample, raw, size);
}

/* The payloads as the kernel's header lays them out: a word of flags, then what it is. */
struct raw_words {
    uint32_t flags, low, high;
};

static void put_word(struct pd_synth_queue *queue, enum pd_synth_kind kind, uint32_t flags,
                     uint64_t word)
{
    struct raw_words raw = { flags, (uint32_t)word, (uint32_t)(word >> 32) };
    put_synth(queue, kind, &raw, sizeof raw);
}

static void put_cbr(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    uint32_t cbr = queue->step.state->cbr;
    /* One that comes while samples are skipped waits: it is told as soon as only four are left. */
    if (synth->options.skip && synth->plan.skipped + 4 < synth->options.skip)
        return;
    queue->counts.cbr_seen = cbr;
    uint64_t skip = synth->options.skip;
    synth->options.skip = 0;
    put_word(queue, PD_SYNTH_CBR, (cbr & 0xff) | (synth->plan.max_non_turbo & 0xff) << 16,
             (uint32_t)(cbr * synth->plan.cbr_to_khz));
    synth->options.skip = skip;
}

static void put_event(struct pd_synth_queue *queue)
{
    const struct pd_pt_state *state = queue->step.state;
    uint8_t raw[4 + 16 * PD_PT_MAX_EVENT_DATA];
    uint32_t count = PD_MIN(state->cfe.data_count, (uint32_t)PD_PT_MAX_EVENT_DATA);
    uint32_t head = (state->cfe.type & 0x1fu) | (state->flags & PD_PT_FUP_IP ? 0x80u : 0) |
                    (uint32_t)state->cfe.vector << 8 | count << 16;
    memcpy(raw, &head, 4);
    if (count)
        memcpy(raw + 4, state->cfe.data, 16 * (size_t)count);
    put_synth(queue, PD_SYNTH_EVT, raw, 4 + 16 * (size_t)count);
}

static void put_iflag(struct pd_synth_queue *queue)
{
    const struct pd_pt_state *state = queue->step.state;
    bool via_branch = state->type & PD_PT_BRANCH;
    put_word(queue, PD_SYNTH_IFLAG, (uint32_t)state->to_if | (uint32_t)via_branch << 1,
             via_branch ? state->to_ip : 0);
}

static void put_power(struct pd_synth_queue *queue)
{
    const struct pd_pt_state *state = queue->step.state;
    bool ip = state->flags & PD_PT_FUP_IP;
    if (state->type & PD_PT_PSB_EVENT)
        put_word(queue, PD_SYNTH_PSB, 0, state->psb_offset);
    if (state->cbr != queue->counts.cbr_seen)
        put_cbr(queue);
    if (state->type & PD_PT_MWAIT_OP)
        put_word(queue, PD_SYNTH_MWAIT, 0, state->payload.mwait);
    if (state->type & PD_PT_PWR_ENTRY)
        put_word(queue, PD_SYNTH_PWRE, 0, state->payload.pwre);
    if (state->type & PD_PT_EX_STOP) {
        uint32_t flags = ip;
        put_synth(queue, PD_SYNTH_EXSTOP, &flags, sizeof flags);
    }
    if (state->type & PD_PT_PWR_EXIT)
        put_word(queue, PD_SYNTH_PWRX, 0, state->payload.pwrx);
}

/* ---- a branch ---- */

static void step_stack(struct pd_synth_queue *queue)
{
    const struct pd_pt_state *state = queue->step.state;
    struct pd_synth *synth = queue->synth;
    struct pd_stack *stack = pd_synth_stack(queue);
    struct pd_stack_step step = { queue->step.flags, state->from_ip, state->to_ip, state->trace_nr,
                                  queue->step.insn_length };
    if (stack)
        pd_stack_step(&synth->stacks, stack, &step);
}

static void put_branches(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_state *state = queue->step.state;
    if (PD_UNLIKELY(synth->plan.uses_stack))
        step_stack(queue);
    if (!synth->made.events[PD_SYNTH_BRANCHES] || !pd_synth_is_told(synth, queue->step.flags))
        return;
    if (PD_UNLIKELY(state->from_nr != state->to_nr && state->from_ip && state->to_ip)) {
        put_branch(queue, state->from_ip, 0);
        put_branch(queue, 0, state->to_ip);
    } else {
        put_branch(queue, state->from_ip, state->to_ip);
    }
}

#define RARE                                                                                       \
    (PD_PT_TRANSACTION | PD_PT_PTW | PD_PT_MWAIT_OP | PD_PT_PWR_ENTRY | PD_PT_EX_STOP |            \
     PD_PT_PWR_EXIT | PD_PT_CBR_CHANGE | PD_PT_BLOCK_ITEMS | PD_PT_PSB_EVENT | PD_PT_EVENT |       \
     PD_PT_IF_CHANGE)

/* Gives out the step as it is, which was asked for in place of samples. */
static void put_step(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    struct pd_pt_step *step = pd_synth_alloc(synth, sizeof *step);
    if (!step)
        return;
    *step = pd_pt_step_of(queue->step.state);
    step->tsc = synth->plan.timeless ? 0 : queue->time;
    step->time = pd_synth_time(queue);
    step->pid = queue->runner.pid;
    step->tid = queue->runner.tid;
    step->cpu = queue->runner.cpu;
    synth->stats.errors += step->error != PD_PT_OK;
    synth->sink->records[synth->sink->count++] = (struct pd_delivered){
        .data = (const uint8_t *)step,
        .size = sizeof *step,
        .type = PD_SYNTH_STEP_RECORD,
        .time = PD_NO_TIME
    };
}

void pd_synth_emit_step(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    const struct pd_pt_state *state = queue->step.state;
    const struct pd_itrace_options *options = &synth->options;
    if (PD_UNLIKELY(synth->plan.step_types)) {
        if (state->type & synth->plan.step_types)
            put_step(queue);
        return;
    }
    pd_synth_count(queue);
    if (PD_UNLIKELY(state->type & RARE || state->cbr != queue->counts.cbr_seen)) {
        if (synth->pebs && state->type & PD_PT_BLOCK_ITEMS)
            pd_pebs_emit(queue);
        if (state->type & PD_PT_EVENT && options->intr_events)
            put_event(queue);
        if (state->type & PD_PT_IF_CHANGE && options->intr_events)
            put_iflag(queue);
        if (options->power)
            put_power(queue);
    }
    if (state->type & PD_PT_INSTRUCTION && options->instructions)
        put_instruction(queue);
    if (PD_UNLIKELY(state->type & PD_PT_TRANSACTION) && options->transactions)
        put_transaction(queue);
    if (PD_UNLIKELY(state->type & PD_PT_PTW) && options->ptwrites)
        put_word(queue, PD_SYNTH_PTWRITE, state->flags & PD_PT_FUP_IP ? 1 : 0, state->payload.ptw);
    if (state->type & PD_PT_BRANCH)
        put_branches(queue);
}

/* ---- errors ---- */

static bool error_wanted(const struct pd_itrace_options *options, uint32_t code)
{
    if (!options->errors)
        return false;
    if (code == PD_PT_OVERFLOW && options->error_minus & PD_ITRACE_FLAG('o'))
        return false;
    return code != PD_PT_LOST || !(options->error_minus & PD_ITRACE_FLAG('l'));
}

/* An AUXTRACE_ERROR record, as perf makes one. */
void pd_synth_emit_error(struct pd_synth *synth, const struct pd_synth_error *error)
{
    enum { SIZE = 120, MESSAGE = 48, MESSAGE_SIZE = 64, GUEST = 112 };
    if (!error_wanted(&synth->options, error->code))
        return;
    uint8_t *at = pd_synth_alloc(synth, SIZE);
    bool swap = synth->recording->swap;
    if (!at)
        return;
    memset(at, 0, SIZE);
    pd_store32(at, PD_RECORD_AUXTRACE_ERROR, swap);
    pd_store16(at + 6, SIZE, swap);
    const uint32_t words[] = { 1,          error->code, error->cpu,
                               error->pid, error->tid,  error->machine_pid ? 2 : 1 };
    for (size_t i = 0; i < PD_LENGTH(words); i++)
        pd_store32(at + 8 + 4 * i, words[i], swap);
    pd_store64(at + 32, error->ip, swap);
    pd_store64(at + 40, error->time, swap);
    const char *message = pd_pt_error_text(error->code);
    for (size_t i = 0; message[i] && i < MESSAGE_SIZE - 1; i++) /* zeros follow */
        at[MESSAGE + i] = (uint8_t)message[i];
    pd_store32(at + GUEST, error->machine_pid, swap);
    pd_store32(at + GUEST + 4, error->vcpu, swap);
    synth->stats.errors++;
    struct pd_delivered record = {
        .data = at, .size = SIZE, .type = PD_RECORD_AUXTRACE_ERROR, .time = PD_NO_TIME
    };
    pd_synth_log_error(synth, &record, error->code == PD_PT_LOST);
    synth->sink->records[synth->sink->count++] = record;
}

void pd_synth_error_of(struct pd_synth_queue *queue, const struct pd_pt_state *state)
{
    if (queue->synth->plan.step_types) {
        put_step(queue);
        return;
    }
    struct pd_synth_error error = { .code = state->error,
                                    .cpu = queue->runner.cpu,
                                    .pid = queue->runner.pid,
                                    .tid = queue->runner.tid,
                                    .ip = state->from_ip,
                                    .time = pd_synth_time(queue) };
    pd_synth_emit_error(queue->synth, &error);
}

/* ---- G and L ---- */

static void put_bytes(uint8_t **to, const void *bytes, size_t size)
{
    memcpy(*to, bytes, size);
    *to += size;
}

static void put_u64(uint8_t **to, uint64_t value, bool swap)
{
    pd_store64(*to, value, swap);
    *to += 8;
}

static void put_late_chain(struct pd_synth *synth, const struct pd_stack *stack,
                           const struct pd_sample *sample, uint8_t **to)
{
    uint64_t ips[1024 + 2];
    size_t count = pd_stack_chain_late(stack, sample->ip, PD_PT_KERNEL_START, ips,
                                       synth->options.callchain_size + 1);
    put_u64(to, count, sample->swap);
    for (size_t i = 0; i < count; i++)
        put_u64(to, ips[i], sample->swap);
}

static void put_late_branches(struct pd_synth *synth, const struct pd_stack *stack,
                              const struct pd_sample *sample, uint8_t **to)
{
    struct pd_stack_branch branches[1024];
    size_t count = pd_stack_branches_late(&synth->stacks, stack, sample->ip, PD_PT_KERNEL_START,
                                          branches, synth->options.last_branch_size);
    bool big = pd_is_big_endian(sample->swap);
    put_u64(to, count, sample->swap);
    put_u64(to, UINT64_MAX, sample->swap);
    for (size_t i = 0; i < count; i++) {
        put_u64(to, branches[i].from, sample->swap);
        put_u64(to, branches[i].to, sample->swap);
        put_u64(to, big ? pd_branch_flags_to_big(branches[i].flags) : branches[i].flags,
                sample->swap);
    }
}

/* Finds behind which parts of a sample a chain and branches belong. */
static void find_gaps(const struct pd_event *event, const struct pd_sample *sample,
                      uint32_t *chain_at, uint32_t *branches_at)
{
    uint32_t at = event->plan.fixed_size;
    if (sample->read)
        at = (uint32_t)(sample->read - sample->record) + sample->read_size;
    *chain_at = at;
    if (event->attr.sample_type & PD_SAMPLE_CALLCHAIN)
        at = (uint32_t)(sample->callchain - sample->record) + 8 * sample->callchain_count;
    if (event->attr.sample_type & PD_SAMPLE_RAW && sample->raw)
        at = (uint32_t)(sample->raw - sample->record) + sample->raw_size;
    *branches_at = at;
}

perfdata_status pd_synth_add_depth(struct pd_synth *synth, struct pd_delivered *record)
{
    struct pd_sample sample;
    if (!synth->options.thread_stack || !record->event || record->facts ||
        pd_sample_decode(record->event, record->data, record->size, &sample) < 0)
        return PERFDATA_OK;
    const struct pd_thread *thread = pd_timeline_touch(synth->timeline, sample.pid, sample.tid,
                                                       synth->number);
    const struct pd_stack *stack = pd_stacks_find(&synth->stacks, thread,
                                                  !sample.pid && !sample.tid, sample.cpu);
    if (!stack)
        return PERFDATA_OK;
    struct pd_synth_facts *facts = pd_synth_alloc(synth, sizeof *facts);
    if (!facts)
        return synth->status;
    *facts = (struct pd_synth_facts){ .depth = (uint32_t)stack->frames.count,
                                      .has_depth = true,
                                      .recorded = true };
    record->facts = facts;
    return PERFDATA_OK;
}

perfdata_status pd_synth_enrich(struct pd_synth *synth, struct pd_delivered *record)
{
    const struct pd_event *event = record->event;
    if (!event || event->index >= synth->made.own_count || !event->added_type)
        return PERFDATA_OK;
    struct pd_sample sample;
    if (pd_sample_decode(event, record->data, record->size, &sample) < 0)
        return PERFDATA_OK;
    const struct pd_thread *thread = pd_timeline_touch(synth->timeline, sample.pid, sample.tid,
                                                       synth->number);
    struct pd_stack *stack = pd_stacks_find(&synth->stacks, thread, !sample.pid && !sample.tid,
                                            sample.cpu);
    uint32_t chain_at, branches_at;
    find_gaps(event, &sample, &chain_at, &branches_at);
    size_t room = record->size + parts_room(synth, 64) + 8 * (size_t)synth->options.callchain_size +
                  16 + 24 * (size_t)synth->options.last_branch_size;
    uint8_t *at = room < UINT16_MAX ? pd_synth_alloc(synth, room) : NULL, *to = at;
    if (!at)
        return synth->status;
    put_bytes(&to, record->data, chain_at);
    if (event->added_type & PD_SAMPLE_CALLCHAIN)
        put_late_chain(synth, stack, &sample, &to);
    put_bytes(&to, record->data + chain_at, branches_at - chain_at);
    if (event->added_type & PD_SAMPLE_BRANCH_STACK)
        put_late_branches(synth, stack, &sample, &to);
    put_bytes(&to, record->data + branches_at, record->size - branches_at);
    record->data = at;
    record->size = (uint32_t)(to - at);
    pd_store16(at + 6, (uint16_t)record->size, sample.swap);
    record->event = synth->made.twins[event->index];
    return PERFDATA_OK;
}
