/* SPDX-License-Identifier: MIT */
/* Branches of Intel BTS -> samples: what instruction each was, and whose. */
#include "itrace/synth/bts.h"
#include "itrace/bts/branch.h"
#include "itrace/synth/turns.h"
#include <inttypes.h>
#include <stdlib.h>

enum { MEMO = 4096 }; /* instructions, by their address; a power of two */

/* What was at an address where a branch came from. */
struct instruction {
    uint64_t ip; /* 0: none */
    uint8_t op, length;
    bool known; /* false: there is no code */
};

struct queue {
    struct pd_synth_queue at; /* whose code and samples it is; with the reader */
    struct pd_pt_state state; /* the branch as a step */
    struct pd_aux_piece piece;
    size_t used; /* of the piece */
};

struct pd_synth_bts {
    struct queue *queues; /* by number */
    struct pd_turns turns;
    struct pd_tsc_conversion clock;
    struct pd_code_view *seen; /* whose instructions are in the memo */
    uint64_t seen_user, seen_kernel, seen_generation;
    struct instruction *memo;
    uint64_t cut; /* bytes at the end of buffers that are no whole branch, not told yet */
};

/* ---- instructions ---- */

/* Forgets what was read where other code may be seen now. */
static void show_code(struct pd_synth *synth, struct queue *queue)
{
    struct pd_synth_bts *bts = synth->bts;
    struct pd_thread *thread = queue->at.runner.thread;
    pd_timeline_touch(synth->timeline, queue->at.runner.pid, queue->at.runner.tid, synth->number);
    struct pd_code_view *view = thread ? pd_code_view(synth->code_reader, thread, synth->number,
                                                      PD_CODE_HOST)
                                       : NULL;
    if (thread && !view)
        synth->status = PERFDATA_ERROR_MEMORY;
    queue->at.code.view = view;
    queue->at.code.walked = thread;
    if (view == bts->seen &&
        (!view || (view->user_stamp == bts->seen_user && view->kernel_stamp == bts->seen_kernel &&
                   view->generation == bts->seen_generation)))
        return;
    memset(bts->memo, 0, MEMO * sizeof *bts->memo);
    bts->seen = view;
    if (!view)
        return;
    bts->seen_user = view->user_stamp;
    bts->seen_kernel = view->kernel_stamp;
    bts->seen_generation = view->generation;
}

static struct instruction read_instruction(struct pd_code_view *view, uint64_t ip)
{
    struct instruction out = { .ip = ip };
    uint8_t bytes[PD_INSN_BUFFER];
    struct pd_insn insn;
    bool is_64_bit = true;
    size_t size = view ? pd_code_bytes(view, ip, bytes, &is_64_bit) : 0;
    if (size && pd_insn_decode(bytes, size, is_64_bit, &insn)) {
        out.op = insn.op;
        out.length = insn.length;
        out.known = true;
    }
    return out;
}

static const struct instruction *instruction_at(struct pd_synth *synth, struct queue *queue,
                                                uint64_t ip)
{
    struct instruction *at = &synth->bts->memo[(ip ^ ip >> 12) & (MEMO - 1)];
    if (at->ip != ip)
        *at = read_instruction(queue->at.code.view, ip);
    return at;
}

/* ---- branches ---- */

static void tell_no_code(struct pd_synth *synth, const struct queue *queue, uint64_t ip)
{
    pd_synth_emit_error(synth, &(struct pd_synth_error){ .code = PD_PT_NO_INSN,
                                                         .cpu = queue->at.runner.cpu,
                                                         .pid = queue->at.runner.pid,
                                                         .tid = queue->at.runner.tid,
                                                         .ip = ip });
}

/* What the branch was. One that leads into the kernel is a system call or else an interrupt,
 * whatever the instruction; perf takes an interrupt that a program asks for (int) for a system
 * call, too. */
static uint32_t flags_of(struct pd_synth *synth, struct queue *queue,
                         const struct pd_bts_branch *branch)
{
    if (!branch->from)
        return PD_IP_BRANCH | PD_IP_TRACE_BEGIN;
    const struct instruction *insn = instruction_at(synth, queue, branch->from);
    queue->at.step.insn_length = insn->length;
    if (!branch->to)
        return PD_IP_BRANCH | PD_IP_TRACE_END;
    if (!insn->known) {
        tell_no_code(synth, queue, branch->from);
        return 0;
    }
    bool enters = branch->from < PD_PT_KERNEL_START && branch->to >= PD_PT_KERNEL_START;
    if (enters && insn->op != PD_INSN_SYSCALL)
        return PD_IP_BRANCH | PD_IP_CALL | PD_IP_ASYNC | PD_IP_INTERRUPT;
    return synth->plan.op_flags[insn->op];
}

static void put_branch(struct pd_synth *synth, struct queue *queue,
                       const struct pd_bts_branch *branch)
{
    if (!branch->from && !branch->to)
        return;
    queue->state = (struct pd_pt_state){ .type = PD_PT_BRANCH,
                                         .from_ip = branch->from,
                                         .to_ip = branch->to,
                                         .insn_ip = branch->from,
                                         .trace_nr = queue->piece.trace_number };
    queue->at.step.insn_length = 0;
    queue->at.step.state = &queue->state;
    queue->at.step.flags = flags_of(synth, queue, branch);
    pd_synth_emit_step(&queue->at);
}

/* ---- queues ---- */

/* False: there is none. */
static bool next_piece(struct pd_synth *synth, struct queue *queue)
{
    int got = pd_aux_reader_next(queue->at.reader, &queue->piece);
    if (got < 0)
        synth->status = got;
    queue->used = 0;
    return got > 0;
}

static bool begin(struct pd_synth *synth, size_t number)
{
    struct queue *queue = &synth->bts->queues[number];
    return synth->made.events[PD_SYNTH_BRANCHES] && queue->at.reader && next_piece(synth, queue);
}

static uint64_t time_of(const struct pd_synth *synth, size_t number)
{
    return synth->bts->queues[number].piece.reference;
}

static uint32_t tid_of(const struct pd_synth *synth, size_t number)
{
    return synth->bts->queues[number].at.recorded_tid;
}

static void enter(struct pd_synth *synth, size_t number)
{
    struct queue *queue = &synth->bts->queues[number];
    struct pd_synth_queue *at = &queue->at;
    if (!at->runner.thread && at->recorded_tid != PD_NOBODY)
        at->runner.thread = pd_timeline_find(synth->timeline, at->recorded_tid);
    if (at->runner.thread)
        at->runner.pid = pd_thread_pid(at->runner.thread, synth->number);
    at->runner.shown = NULL;
    show_code(synth, queue);
}

/* perf 6.1 leaves out a branch that nothing follows in its buffer. */
static bool is_left_out(const struct pd_synth *synth, const struct queue *queue)
{
    const struct pd_aux_piece *piece = &queue->piece;
    return synth->recording->like_perf && queue->used == piece->size &&
           piece->from + piece->size == piece->buffer->size;
}

/* Takes a whole buffer, whatever the time: its branches have none. */
static enum pd_turn run(struct pd_synth *synth, size_t number, uint64_t limit)
{
    struct queue *queue = &synth->bts->queues[number];
    (void)limit;
    do {
        while (queue->piece.size - queue->used >= PD_BTS_SIZE) {
            if (pd_turns_is_full(synth))
                return PD_TURN_FULL;
            struct pd_bts_branch branch = pd_bts_branch(queue->piece.data + queue->used);
            queue->used += PD_BTS_SIZE;
            if (!is_left_out(synth, queue))
                put_branch(synth, queue, &branch);
        }
        synth->bts->cut += queue->piece.size - queue->used;
        if (!next_piece(synth, queue))
            return synth->status < 0 ? PD_TURN_FULL : PD_TURN_ENDED;
    } while (queue->piece.inside);
    return PD_TURN_LIMIT;
}

static const struct pd_turn_ways ways = { begin, time_of, tid_of, enter, run };

/* ---- opening ---- */

static perfdata_status add_event(struct pd_synth *synth)
{
    const struct pd_itrace_options *options = &synth->options;
    perfdata_status status = pd_synth_own_events(synth, 1);
    const struct pd_event *trace = pd_synth_trace_event(synth,
                                                        synth->aux->info.words[PD_BTS_PMU_TYPE]);
    if (status)
        return status;
    if (!trace)
        return pd_synth_no_event(synth);
    if (!options->branches && !options->calls && !options->returns)
        return PERFDATA_OK;
    struct pd_attr attr = pd_synth_common_attr(synth, &trace->attr);
    attr.type = PD_TYPE_HARDWARE;
    attr.config = PD_HW_BRANCH_INSTRUCTIONS;
    attr.sample_period = 1;
    attr.sample_type |= PD_SAMPLE_ADDR;
    attr.sample_type &= ~(uint64_t)PD_SAMPLE_CPU;
    synth->made.events[PD_SYNTH_BRANCHES] = pd_synth_add_event(synth, &attr, NULL,
                                                               pd_synth_first_id(trace));
    return synth->made.events[PD_SYNTH_BRANCHES] ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

static perfdata_status make_queues(struct pd_synth *synth)
{
    struct pd_synth_bts *bts = synth->bts;
    size_t count = synth->aux->queues.count;
    bts->queues = calloc(count + 1, sizeof *bts->queues);
    if (!bts->queues || pd_turns_open(&bts->turns, count) < 0)
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct pd_aux_queue *from = &synth->aux->queues.data[i];
        struct pd_synth_queue *at = &bts->queues[i].at;
        if (from->set && pd_aux_reader_open(synth->aux, (uint32_t)i, &at->reader) < 0)
            return PERFDATA_ERROR_MEMORY;
        at->synth = synth;
        at->number = (uint32_t)i;
        at->recorded_tid = at->runner.tid = from->tid;
        at->recorded_cpu = at->runner.cpu = from->cpu;
        at->runner.pid = PD_NOBODY;
    }
    bts->turns.ways = &ways;
    bts->turns.at_record = true;
    return PERFDATA_OK;
}

/* The clock is the machine's TSC. Where perf could not get its parameters it wrote zeros: then a
 * thread's buffers are taken where the thread ends. */
static void set_clock(struct pd_synth *synth)
{
    const uint64_t *words = synth->aux->info.words;
    struct pd_tsc_conversion *clock = &synth->bts->clock;
    clock->zero = words[PD_BTS_TIME_ZERO];
    clock->shift = words[PD_BTS_TIME_SHIFT] & 63;
    clock->mult = (uint32_t)words[PD_BTS_TIME_MULT];
    synth->bts->turns.clock = clock;
    synth->bts->turns.timeless = !clock->mult;
    clock->mult += !clock->mult;
}

perfdata_status pd_bts_open(struct pd_synth *synth)
{
    struct pd_synth_bts *bts = synth->bts = calloc(1, sizeof *bts);
    if (!bts || !(bts->memo = calloc(MEMO, sizeof *bts->memo)))
        return PERFDATA_ERROR_MEMORY;
    if (synth->aux->info.word_count < PD_BTS_WORDS)
        return pd_fail(&synth->recording->context, PERFDATA_ERROR_BAD_RECORD, -1,
                       "what AUXTRACE_INFO says of Intel BTS is cut");
    synth->code_reader = pd_code_reader_new(synth->code);
    if (!synth->code_reader)
        return PERFDATA_ERROR_MEMORY;
    synth->plan.timeless = true; /* its samples are */
    if (!synth->options.set)
        synth->options.branches = true; /* whatever the verb; script asks for calls only */
    pd_synth_plan_branches(synth);
    synth->options.skip += synth->options.skip != 0; /* so many and one, as in perf */
    synth->stacks.calls = synth->plan.uses_stack = synth->options.thread_stack;
    set_clock(synth);
    perfdata_status status = add_event(synth);
    return status == PERFDATA_OK ? make_queues(synth) : status;
}

void pd_bts_close(struct pd_synth *synth)
{
    struct pd_synth_bts *bts = synth->bts;
    if (!bts)
        return;
    for (size_t i = 0; bts->queues && i < bts->turns.count; i++)
        pd_aux_reader_close(bts->queues[i].at.reader);
    free(bts->queues);
    pd_turns_close(&bts->turns);
    free(bts->memo);
    free(bts);
}

/* Reports, once, what no samples could be made of. */
static perfdata_status tell_end(struct pd_synth *synth)
{
    uint64_t cut = synth->bts->cut;
    if (!cut)
        return PERFDATA_OK;
    synth->bts->cut = 0;
    return pd_issue(&synth->recording->context, PERFDATA_ISSUE_TRACE_ERROR, -1,
                    "%" PRIu64 " bytes at the end of buffers of the trace are no whole branch",
                    cut);
}

int pd_bts_before(struct pd_synth *synth, const struct pd_delivered *record)
{
    int got = pd_turns_before(synth, &synth->bts->turns, record);
    return got || record ? got : tell_end(synth);
}
