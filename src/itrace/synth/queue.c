/* SPDX-License-Identifier: MIT */
/* Queues: each decoded up to the next one's time, the earliest first. Two queues of equal time go
 * in the order that perf's heap gives them. */
#include "itrace/synth/ahead_segments.h"

/* ---- the heap ---- */

bool pd_synth_heap_add(struct pd_synth *synth, uint32_t queue, uint64_t time)
{
    if (!pd_vec_push(&synth->scheduler.heap, (struct pd_synth_heap_entry){ time, queue }))
        return false;
    struct pd_synth_heap_entry *heap = synth->scheduler.heap.data;
    size_t at = synth->scheduler.heap.count - 1;
    while (at && heap[(at - 1) / 2].time > time) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = (struct pd_synth_heap_entry){ time, queue };
    return true;
}

/* The hole goes down to a leaf, to the right where both are equal; the last entry fills it. */
void pd_synth_heap_pop(struct pd_synth *synth)
{
    struct pd_synth_heap_entry *heap = synth->scheduler.heap.data;
    size_t count = synth->scheduler.heap.count, at = 0;
    if (!count)
        return;
    synth->scheduler.heap.count--;
    for (size_t left; (left = 2 * at + 1) < count;) {
        size_t next = left;
        if (left + 1 < count && heap[left].time >= heap[left + 1].time)
            next = left + 1;
        heap[at] = heap[next];
        at = next;
    }
    struct pd_synth_heap_entry last = heap[count - 1];
    if (at == count - 1)
        return;
    while (at && heap[(at - 1) / 2].time > last.time) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = last;
}

void pd_synth_heap_move(struct pd_synth *synth, uint32_t queue, uint64_t time)
{
    size_t count = synth->scheduler.heap.count;
    synth->scheduler.heap.count = 0;
    for (size_t i = 0; i < count; i++) {
        struct pd_synth_heap_entry entry = synth->scheduler.heap.data[i];
        pd_synth_heap_add(synth, entry.queue, entry.queue == queue ? time : entry.time);
    }
}

/* ---- code ---- */

/* What the queue's thread sees now. */
void pd_synth_show_code(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    struct pd_thread *thread = queue->runner.thread;
    uint32_t tid = thread ? thread->tid : PD_NOBODY;
    uint32_t pid = thread ? pd_thread_pid(thread, synth->number) : PD_NOBODY;
    pd_timeline_touch(synth->timeline, pid, tid, synth->number); /* publishes maps */
    struct pd_code_view *host = synth->plan.no_host ? NULL
                                                    : pd_code_view(synth->code_reader, thread,
                                                                   synth->number, PD_CODE_HOST);
    struct pd_code_view *guest = synth->plan.guest_code
                                     ? pd_code_view(synth->code_reader, thread, synth->number,
                                                    PD_CODE_GUEST_CODE)
                                     : pd_synth_guest_view(queue);
    queue->code.view = host;
    pd_pt_set_code(queue->decoder, host, guest);
}

/* ---- time ranges ---- */

/* False: there is no other. */
static bool next_range(struct pd_synth *synth, struct pd_synth_queue *queue)
{
    if (queue->span.to_start) {
        queue->span.to_start = false;
        queue->span.limit = synth->plan.ranges[queue->span.range].end;
        return true;
    }
    if (queue->span.range + 1 >= synth->plan.range_count)
        return false;
    queue->span.to_start = true;
    queue->span.limit = synth->plan.ranges[++queue->span.range].start;
    return true;
}

static void jump(struct pd_synth_queue *queue, uint64_t *jumped)
{
    queue->step.pending = false;
    if (queue->span.limit <= *jumped)
        return;
    if (queue->switches.sync) {
        pd_synth_next_tid(queue);
        queue->switches.state = PD_SWITCH_UNKNOWN;
    }
    *jumped = queue->span.limit;
    pd_pt_fast_forward(queue->decoder, queue->span.limit);
}

/* False: the queue is behind the last range. */
static bool check_range(struct pd_synth *synth, struct pd_synth_queue *queue)
{
    while (queue->span.limit) {
        if (queue->span.to_start) {
            if (queue->time < queue->span.limit) {
                jump(queue, &queue->span.jumped);
                return true;
            }
            next_range(synth, queue);
        } else if (queue->time > queue->span.limit) {
            if (!next_range(synth, queue)) {
                queue->step.pending = false;
                queue->switches.state = PD_SWITCH_NOT_TRACING;
                return false;
            }
        } else {
            return true;
        }
    }
    return true;
}

/* ---- a run ---- */

enum run { RUN_LIMIT, RUN_STOPPED, RUN_FULL };

static bool is_full(const struct pd_synth *synth)
{
    const struct pd_synth_sink *sink = synth->sink;
    return sink->capacity - sink->count < PD_SYNTH_STEP || sink->room->total >= PD_SYNTH_BYTES ||
           synth->status < 0;
}

static void take_error(struct pd_synth_queue *queue, const struct pd_pt_state *state)
{
    struct pd_synth *synth = queue->synth;
    bool told = state->error != PD_PT_NO_INSN || !state->failure.in_view ||
                pd_code_tell(synth->code, state->failure.map, state->failure.error);
    pd_synth_log_no_code(synth, state, told);
    if (!told)
        return;
    if (queue->switches.sync && state->from_ip >= PD_PT_KERNEL_START) {
        queue->switches.sync = false;
        pd_synth_next_tid(queue);
    }
    queue->time = state->est_timestamp;
    pd_synth_error_of(queue, state);
}

/* Where a switch is not yet known, the estimate counts, too. */
static void take_time(struct pd_synth_queue *queue, const struct pd_pt_state *state)
{
    struct pd_synth *synth = queue->synth;
    struct pd_synth_clock clock = { .time = queue->time };
    pd_synth_clock_step(&clock, synth, state);
    if (PD_UNLIKELY(queue->switches.sync) && queue->switches.state == PD_SWITCH_UNKNOWN &&
        state->to_ip == synth->switches.switch_ip && queue->switches.next_tid == PD_NOBODY) {
        clock.time = state->est_timestamp;
        clock.set = true;
    }
    queue->time = clock.time;
    if (PD_UNLIKELY(synth->logger && clock.set))
        pd_synth_log_text(synth, "TSC %llx est. TSC %llx\n", (unsigned long long)state->timestamp,
                          (unsigned long long)state->est_timestamp);
}

static uint64_t decode_limit(const struct pd_synth_queue *queue, uint64_t limit)
{
    if (PD_LIKELY(!queue->span.limit))
        return limit;
    uint64_t range = queue->span.to_start || queue->span.limit == UINT64_MAX
                         ? queue->span.limit
                         : queue->span.limit + 1;
    return PD_MIN(limit, range);
}

/* The kernel switches at a branch, and the decoder returns branches to the places of switches.
 * While nothing is traced, any branch shows that tracing has begun again. */
static uint32_t wanted_of(const struct pd_synth_queue *queue)
{
    const bool any = queue->switches.sync && queue->switches.state == PD_SWITCH_NOT_TRACING;
    return queue->synth->plan.mask | (any ? PD_PT_BRANCH : 0);
}

/* Whether the step is to be told, or to be seen for the sake of switches. */
static bool is_wanted(const struct pd_synth_queue *queue, const struct pd_pt_state *state)
{
    return state->type & wanted_of(queue) ||
           (queue->switches.sync && pd_pt_is_at_place(queue->decoder));
}

/* Which steps the decoder returns may change with each switch. */
static void set_wanted(struct pd_synth_queue *queue)
{
    const uint32_t wanted = wanted_of(queue);
    if (wanted != pd_pt_config_of(queue->decoder)->wanted)
        pd_pt_set_wanted(queue->decoder, wanted);
}

/* Whether few steps are told: then the others need not be made in the order of their time over all
 * queues, only those. */
static bool tells_few(const struct pd_synth_queue *queue)
{
    uint32_t wanted = wanted_of(queue);
    return !(wanted & PD_PT_BRANCH) &&
           (!(wanted & PD_PT_INSTRUCTION) || (queue->near_ticks && !pd_pt_is_near(queue->decoder)));
}

PD_INLINE const struct pd_pt_state *next_step(struct pd_synth_queue *queue, uint64_t limit)
{
    if (PD_UNLIKELY(queue->ahead.step_log != NULL)) {
        const struct pd_pt_state *state = pd_synth_segments_step(queue);
        if (state)
            return state;
    }
    return pd_pt_decode(queue->decoder, limit);
}

/* Whether only the time of such a step counts: one thread alone would not even ask for the step. */
static bool is_passing(const struct pd_synth_queue *queue, const struct pd_pt_state *state,
                       uint64_t limit)
{
    const bool from_kernel = state->from_ip >= PD_PT_KERNEL_START || !state->from_ip;
    const bool returns = from_kernel && state->to_ip && state->to_ip < PD_PT_KERNEL_START;
    return !state->error && !is_wanted(queue, state) && state->timestamp < limit &&
           !(returns && !queue->synth->plan.timeless) &&
           (queue->ahead.step_log || !pd_pt_is_near(queue->decoder));
}

/* With segments: whether the step is not to be told; others may walk behind it. */
static bool passes(struct pd_synth_queue *queue, const struct pd_pt_state *state, uint64_t limit)
{
    if (state->type & PD_PT_PSB_EVENT && !state->error && !queue->ahead.step_log)
        pd_synth_segments_psb(queue, state->psb_offset);
    if (!is_passing(queue, state, limit))
        return false;
    take_time(queue, state);
    return true;
}

/* An error, which waits. It is told at once, unless a step before it would have ended the run;
 * behind another error there was none. */
static bool error_ends_run(struct pd_synth_queue *queue, const struct pd_pt_state *state,
                           uint64_t limit, uint64_t others)
{
    const bool again = queue->step.after_error && queue->step.error_insns == state->tot_insn_cnt;
    if (state->skipped_timestamp)
        queue->time = state->skipped_timestamp;
    queue->time = PD_MAX(queue->time, state->last_timestamp);
    queue->step.pending_error = queue->step.after_error = true;
    queue->step.error_insns = state->tot_insn_cnt;
    return !again && others != UINT64_MAX && (queue->time > others || queue->time >= limit);
}

/* Tells what waited. False: the queue stops here. */
PD_INLINE bool tell_pending(struct pd_synth_queue *queue)
{
    if (PD_UNLIKELY(queue->step.pending_error)) {
        queue->step.pending_error = false;
        take_error(queue, queue->step.state);
    }
    if (!queue->step.pending)
        return true;
    queue->step.pending = false;
    pd_synth_emit_step(queue);
    return PD_LIKELY(!queue->switches.sync) || !(queue->step.state->type & PD_PT_BRANCH) ||
           pd_synth_sync(queue);
}

/* Whether a step that waits ends a run that goes up to `limit`. */
static bool ends_run(const struct pd_synth_queue *queue, const struct pd_pt_state *state,
                     uint64_t limit, uint64_t others)
{
    const struct pd_synth *synth = queue->synth;
    return !synth->plan.timeless &&
           (queue->time >= limit || (queue->time > others && (state->type & synth->plan.mask)) ||
            (others != UINT64_MAX && pd_pt_is_near(queue->decoder)));
}

/* Nothing but the step's sample is to be told: it may not be one that says who runs. */
PD_INLINE bool is_told_plain(const struct pd_synth_queue *queue)
{
    return PD_LIKELY(!queue->switches.sync) ||
           (queue->switches.state != PD_SWITCH_NOT_TRACING && !pd_pt_is_at_place(queue->decoder));
}

/* What is known ahead is looked at. True: nobody else has to tell before this queue does, so that
 * steps which are nothing but a sample need not wait. */
static bool begin_run(struct pd_synth_queue *queue, uint64_t others)
{
    bool plain = others == UINT64_MAX && pd_synth_fast_begin(queue);
    set_wanted(queue);
    if (PD_UNLIKELY(queue->ahead.step_log != NULL))
        pd_synth_segments_look(queue);
    if (PD_UNLIKELY(queue->ahead.waits))
        pd_synth_fast_wait(queue, plain);
    return plain;
}

/* The step, and what is like it behind it, is told without waiting; false: it was not. */
PD_INLINE bool tell_at_once(struct pd_synth_queue *queue, uint64_t limit)
{
    if ((queue->time >= limit && !queue->synth->plan.timeless) || !is_told_plain(queue) ||
        !pd_synth_fast_step(queue))
        return false;
    if (PD_LIKELY(!queue->ahead.step_log))
        pd_synth_fast_more(queue);
    return true;
}

/* Tells the queue's steps up to the limit. A step behind `others`, where the next queue has to
 * tell, waits. */
static enum run run_queue(struct pd_synth_queue *queue, uint64_t limit, uint64_t others)
{
    struct pd_synth *synth = queue->synth;
    bool plain = begin_run(queue, others);
    for (;;) {
        if (PD_UNLIKELY(synth->logger))
            pd_synth_log_flush(synth);
        if (PD_UNLIKELY(is_full(synth)))
            return RUN_FULL;
        if (!tell_pending(queue))
            return RUN_STOPPED;
        if (PD_UNLIKELY(queue->switches.sync)) { /* another thread may run now */
            set_wanted(queue);
            plain = plain && pd_synth_fast_begin(queue);
        }
        if (PD_UNLIKELY(queue->ahead.segments != NULL) && pd_synth_segments_jump(queue)) {
            if (queue->time >= limit)
                return RUN_LIMIT;
            continue;
        }
        if (PD_UNLIKELY(queue->ahead.step_log != NULL) && plain &&
            pd_synth_fast_step_log(queue, limit)) {
            if (queue->ahead.waits)
                return RUN_LIMIT;
            continue;
        }
        const uint64_t until = decode_limit(queue, limit);
        const struct pd_pt_state *state = next_step(queue, until);
        if (PD_UNLIKELY(!state)) {
            queue->ended = true;
            return RUN_STOPPED;
        }
        if (PD_UNLIKELY(queue->ahead.segments != NULL) && passes(queue, state, until))
            continue;
        pd_synth_take_step(queue, state);
        if (PD_UNLIKELY(state->error)) {
            if (error_ends_run(queue, state, limit, others))
                return RUN_LIMIT;
            continue;
        }
        queue->step.after_error = false;
        take_time(queue, state);
        if (plain && tell_at_once(queue, limit))
            continue;
        queue->step.pending = true;
        pd_synth_set_flags(queue);
        if (PD_UNLIKELY(queue->span.limit) && !check_range(synth, queue)) {
            pd_synth_segments_drop(queue);
            return RUN_STOPPED;
        }
        if (ends_run(queue, state, limit, others))
            return RUN_LIMIT;
    }
}

static void log_who(const struct pd_synth_queue *queue)
{
    pd_synth_log(queue->synth, "queue %u decoding cpu %d pid %d tid %d\n", queue->number,
                 (int32_t)queue->runner.cpu, (int32_t)queue->runner.pid,
                 (int32_t)queue->runner.tid);
}

/* Goes to the first step that has a time; its samples wait. Errors before it are not told. */
static perfdata_status set_up(struct pd_synth *synth, struct pd_synth_queue *queue)
{
    queue->set_up = true;
    pd_pt_log_settings(queue->decoder);
    if (synth->plan.timeless)
        return PERFDATA_OK;
    pd_synth_log(synth, "queue %u getting timestamp\n", queue->number);
    log_who(queue);
    if (queue->span.to_start && queue->span.limit)
        pd_pt_fast_forward(queue->decoder, queue->span.limit);
    const struct pd_pt_state *state;
    while ((state = pd_pt_decode(queue->decoder, 1)) != NULL && (state->error || !state->timestamp))
        pd_synth_log_no_code(synth, state, true);
    if (!state)
        return synth->status;
    pd_synth_log(synth, "queue %u timestamp 0x%llx\n", queue->number,
                 (unsigned long long)state->timestamp);
    queue->time = state->timestamp;
    pd_synth_take_step(queue, state);
    queue->step.pending = !(queue->span.to_start && queue->time < queue->span.limit);
    pd_synth_set_flags(queue);
    queue->on_heap = pd_synth_heap_add(synth, queue->number, queue->time);
    return queue->on_heap ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

perfdata_status pd_synth_set_up(struct pd_synth *synth)
{
    if (synth->scheduler.queues_set_up)
        return PERFDATA_OK;
    synth->scheduler.queues_set_up = true;
    pd_synth_fast_open(synth);
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_queue *queue = &synth->queues[i];
        perfdata_status status = queue->decoder ? set_up(synth, queue) : PERFDATA_OK;
        if (status < 0)
            return synth->status = status;
    }
    return PERFDATA_OK;
}

/* ---- all queues ---- */

static bool finish_run(struct pd_synth *synth, struct pd_synth_queue *queue, enum run run)
{
    if (run == RUN_FULL) {
        synth->scheduler.running = queue;
        return false;
    }
    synth->scheduler.running = NULL;
    queue->on_heap = run == RUN_LIMIT && pd_synth_heap_add(synth, queue->number, queue->time);
    return true;
}

/* Finds who runs on the queue's CPU, and what code that is. Between records only the walk itself
 * can tell of a switch, and a sample can make a thread known. */
static void look_around(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    if (queue->code.seen == synth->scheduler.runs && queue->runner.thread &&
        !synth->switches.switch_ip)
        return;
    queue->code.seen = synth->scheduler.runs;
    pd_synth_set_thread(queue);
    pd_synth_show_code(queue);
}

int pd_synth_run_until(struct pd_synth *synth, uint64_t limit)
{
    if (pd_synth_set_up(synth) < 0)
        return synth->status;
    synth->scheduler.limit = limit;
    synth->scheduler.runs++;
    if (synth->pool)
        pd_synth_segments_check(synth, limit);
    if (synth->scheduler.running &&
        !finish_run(synth, synth->scheduler.running,
                    run_queue(synth->scheduler.running, synth->scheduler.running_limit,
                              synth->scheduler.running_others)))
        return synth->status < 0 ? synth->status : 1;
    while (synth->scheduler.heap.count && synth->scheduler.heap.data[0].time < limit) {
        struct pd_synth_queue *queue = &synth->queues[synth->scheduler.heap.data[0].queue];
        pd_synth_heap_pop(synth);
        pd_synth_log(synth, "queue %u processing 0x%llx to 0x%llx\n", queue->number,
                     (unsigned long long)queue->time, (unsigned long long)limit);
        perfdata_status status = pd_synth_find_switch(synth);
        if (status < 0)
            return status;
        look_around(queue);
        log_who(queue);
        queue->span.jumped = 0; /* each run looks ahead */
        uint64_t next = synth->scheduler.heap.count ? synth->scheduler.heap.data[0].time
                                                    : UINT64_MAX;
        bool few = tells_few(queue);
        synth->scheduler.running_limit = few || next == UINT64_MAX ? limit
                                                                   : PD_MIN(next + 1, limit);
        synth->scheduler.running_others = few ? next : UINT64_MAX;
        if (!finish_run(
                synth, queue,
                run_queue(queue, synth->scheduler.running_limit, synth->scheduler.running_others)))
            return synth->status < 0 ? synth->status : 1;
    }
    return synth->status;
}

int pd_synth_run_thread(struct pd_synth *synth, uint32_t tid, uint64_t time)
{
    (void)time;
    if (pd_synth_set_up(synth) < 0)
        return synth->status;
    for (; synth->scheduler.timeless_next < synth->queue_count; synth->scheduler.timeless_next++) {
        struct pd_synth_queue *queue = &synth->queues[synth->scheduler.timeless_next];
        if (!queue->decoder || (tid != PD_NOBODY && queue->runner.tid != tid))
            continue;
        if (synth->scheduler.running != queue) {
            pd_synth_set_thread(queue);
            pd_synth_show_code(queue);
            log_who(queue);
        }
        if (queue->ended && !synth->plan.step_through) {
            pd_synth_log(synth, "Getting more data\nNo more data\n");
            continue;
        }
        enum run run = run_queue(queue, UINT64_MAX, UINT64_MAX);
        synth->scheduler.running = run == RUN_FULL ? queue : NULL;
        if (run == RUN_FULL)
            return synth->status < 0 ? synth->status : 1;
    }
    synth->scheduler.timeless_next = 0;
    return synth->status;
}

/* The queue whose buffer this sample is. */
static struct pd_synth_queue *queue_of_sample(struct pd_synth *synth,
                                              const struct pd_sample *sample)
{
    uint32_t at = pd_map64_get(&synth->aux->id_index, sample->id);
    if (at == PD_MAP64_NONE || at >= synth->aux->ids.count)
        return NULL;
    uint32_t number = synth->aux->ids.data[at].queue;
    struct pd_synth_queue *queue = number < synth->queue_count ? &synth->queues[number] : NULL;
    return queue && queue->decoder ? queue : NULL;
}

int pd_synth_run_sample(struct pd_synth *synth, const struct pd_delivered *record)
{
    struct pd_sample sample;
    if (pd_synth_set_up(synth) < 0)
        return synth->status;
    if (!synth->scheduler.running) {
        if (!record->event || pd_delivered_sample(record, &sample) < 0 || !sample.aux_size)
            return PERFDATA_OK;
        struct pd_synth_queue *queue = queue_of_sample(synth, &sample);
        if (!queue)
            return PERFDATA_OK;
        queue->runner.pid = sample.pid;
        queue->runner.tid = sample.tid;
        queue->runner.cpu = sample.cpu;
        queue->runner.thread = pd_timeline_find(synth->timeline, sample.tid);
        queue->runner.idle = !sample.pid && !sample.tid;
        queue->runner.shown = NULL;
        queue->runner.stack = NULL;
        queue->given = false;
        pd_synth_show_code(queue);
        synth->scheduler.running = queue;
    }
    if (run_queue(synth->scheduler.running, UINT64_MAX, UINT64_MAX) == RUN_FULL)
        return synth->status < 0 ? synth->status : 1;
    synth->scheduler.running = NULL;
    return synth->status;
}
