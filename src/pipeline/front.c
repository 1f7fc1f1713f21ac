/* SPDX-License-Identifier: MIT */
/* Records in delivery order -> the timeline, and batches for workers. */
#include "pipeline/front.h"
#include "base/stream.h"
#include "format/offsets.h"

struct pd_job *pd_job_new(struct pd_delivered *room)
{
    struct pd_job *job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->given_room = room != NULL;
    job->batch.records = room ? room : malloc(PD_JOB_RECORDS * sizeof *room);
    if (!job->batch.records) {
        free(job);
        return NULL;
    }
    return job;
}

void pd_job_reset(struct pd_job *job)
{
    for (size_t i = 0; i < job->chunks.count; i++)
        pd_chunk_release(job->chunks.data[i]);
    job->chunks.count = 0;
    pd_synth_room_reset(&job->room);
    pd_synth_packs_reset(&job->packs);
    job->batch.count = 0;
    job->batch.text.length = 0;
    job->status = 0;
    job->is_rest = false;
}

void pd_job_free(struct pd_job *job, const struct pd_consumer *consumer)
{
    if (!job)
        return;
    pd_job_reset(job);
    if (consumer->drop)
        consumer->drop(consumer->data, &job->batch);
    pd_text_free(&job->batch.text);
    pd_vec_free(&job->chunks);
    pd_synth_room_free(&job->room);
    pd_synth_packs_free(&job->packs);
    free(job->unpacked);
    if (!job->given_room)
        free(job->batch.records);
    free(job);
}

bool pd_job_unpack(struct pd_job *job)
{
    if (!job->packs.count)
        return true;
    if (!job->unpacked)
        job->unpacked = malloc(PD_JOB_RECORDS * sizeof *job->unpacked);
    if (job->unpacked)
        pd_synth_unpack(&job->packs, job->unpacked, job->batch.records);
    return job->unpacked != NULL;
}

perfdata_status pd_front_open(struct pd_session *session, const struct pd_consumer *consumer,
                              struct pd_front *front)
{
    *front = (struct pd_front){ .session = session, .consumer = consumer, .synth = session->synth };
    pd_split_init(&front->split, session->recording);
    pd_deferred_init(&front->deferred, session->recording, &front->made);
    front->completes = !consumer->no_chains || pd_deferred_any(session->recording);
    if (consumer->only_symbol && session->symbols && !session->jit && !session->synth &&
        !session->guests.wanted)
        front->elsewhere = pd_elsewhere_new(session->symbols, consumer->only_symbol);
    perfdata_status status = pd_deferred_prepare(session->recording);
    if (status >= 0)
        status = pd_order_open(session->recording, consumer->order, &front->order);
    if (status >= 0 && !session->jit && !session->synth)
        pd_order_pass_over(front->order, consumer->unheard, consumer->unheard_count);
    return status;
}

void pd_front_pack(struct pd_front *front, bool streams)
{
    front->streams = streams;
    front->packs = front->synth && !front->consumer->front && !front->consumer->no_samples;
}

void pd_front_close(struct pd_front *front)
{
    front->session->unknown_ids = front->split.unknown_ids;
    pd_split_free(&front->split);
    pd_deferred_free(&front->deferred);
    pd_made_free(&front->made);
    pd_elsewhere_free(front->elsewhere);
    if (!front->order)
        return;
    front->session->order_stats_copy = *pd_order_statistics(front->order);
    pd_order_close(front->order);
    front->order = NULL;
}

/* Where a record's own pid and tid stand; false: it has none, the trailer's count. */
static bool body_ids(uint32_t type, uint32_t *pid, uint32_t *tid)
{
    switch (type) {
    case PD_RECORD_MMAP:
    case PD_RECORD_MMAP2:
    case PD_RECORD_COMM:
    case PD_RECORD_NAMESPACES:
        *pid = 8;
        *tid = 12;
        return true;
    case PD_RECORD_FORK:
    case PD_RECORD_EXIT:
        *pid = 8;
        *tid = 16;
        return true;
    default: return false;
    }
}

/* The machine of a record that says that it is a guest's. */
static PD_NOINLINE struct pd_timeline *guest_of(struct pd_front *front, struct pd_delivered *record)
{
    enum { PID = 8 };
    struct pd_guests *guests = &front->session->guests;
    struct pd_identity identity;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    const struct pd_guest_cpu *cpu = pd_guests_cpu(guests, identity.id);
    bool is_map = record->type == PD_RECORD_MMAP || record->type == PD_RECORD_MMAP2;
    uint32_t pid = identity.pid;
    if (is_map && record->size >= PID + 4)
        pid = pd_load32(record->data + PID, guests->swap);
    if (cpu) {
        pid = cpu->machine_pid;
        record->vcpu = cpu->vcpu + 1;
    }
    return pd_guests_timeline(guests, pid);
}

/* The timeline that the record acts on; NULL without memory. */
PD_INLINE struct pd_timeline *timeline_of(struct pd_front *front, struct pd_delivered *record)
{
    unsigned mode = record->misc & PD_MISC_CPUMODE_MASK;
    bool guest = mode == PD_CPUMODE_GUEST_KERNEL || mode == PD_CPUMODE_GUEST_USER;
    if (PD_LIKELY(!guest || !front->session->guests.wanted))
        return front->session->timeline;
    return guest_of(front, record);
}

/* The thread that perf shows with a record that is no sample; made when unseen, as perf does when
 * it prints one. */
static struct pd_thread *shown_thread(struct pd_front *front, struct pd_delivered *record)
{
    const struct pd_event *event = record->event;
    bool swap = front->session->recording->swap;
    uint32_t pid = UINT32_MAX, tid = UINT32_MAX, pid_at, tid_at;
    if (body_ids(record->type, &pid_at, &tid_at)) {
        if (tid_at + 4 <= record->size) {
            pid = pd_load32(record->data + pid_at, swap);
            tid = pd_load32(record->data + tid_at, swap);
        }
    } else if (event && event->plan.trailer_tid && record->size >= 8u + event->plan.trailer_tid) {
        const uint8_t *at = record->data + record->size - event->plan.trailer_tid;
        pid = pd_load32(at, swap);
        tid = pd_load32(at + 4, swap);
    }
    struct pd_timeline *timeline = timeline_of(front, record);
    return timeline ? pd_timeline_touch(timeline, pid, tid, record->number) : NULL;
}

/* The first sample in the kernel. */
PD_INLINE bool is_new_kernel(const struct pd_front *front, const struct pd_delivered *record)
{
    return PD_UNLIKELY(!front->kernel_shown &&
                       (record->misc & PD_MISC_CPUMODE_MASK) == PD_CPUMODE_KERNEL);
}

/* Which sample comes first in the kernel decides what its symbol table is made from. */
static PD_NOINLINE void show_kernel(struct pd_front *front, const struct pd_delivered *record)
{
    const struct pd_event *event = record->event;
    struct pd_symbols *symbols = front->session->symbols;
    if (!symbols || !event || !event->plan.ip || event->plan.ip + 8u > record->size)
        return;
    uint64_t ip = pd_load64(record->data + event->plan.ip, event->plan.swap);
    front->kernel_shown = pd_symbols_show_front(symbols, PD_CPUMODE_KERNEL, ip, record->number);
    if (!front->kernel_shown || !front->consumer->prints || !front->synth)
        return;
    const struct pd_map *map = pd_timeline_kernel_map(front->session->timeline, record->number, ip);
    if (map)
        pd_code_see(front->session->code, map);
}

PD_INLINE void touch_sample(struct pd_front *front, struct pd_delivered *record)
{
    uint32_t pid = UINT32_MAX, tid = UINT32_MAX;
    const struct pd_event *event = record->event;
    if (PD_UNLIKELY(front->consumer->no_threads))
        return;
    if (PD_LIKELY(event && event->plan.tid && event->plan.tid + 8u <= record->size)) {
        pid = pd_load32(record->data + event->plan.tid, event->plan.swap);
        tid = pd_load32(record->data + event->plan.tid + 4, event->plan.swap);
    }
    struct pd_timeline *timeline = timeline_of(front, record);
    if (PD_UNLIKELY(timeline != front->session->timeline) && front->session->guests.code) {
        tid = pid; /* who shows all of a guest */
        pid = UINT32_MAX;
    }
    if (PD_LIKELY(timeline != NULL))
        record->thread = pd_timeline_touch(timeline, pid, tid, record->number);
    if (is_new_kernel(front, record))
        show_kernel(front, record);
}

static bool wanted(const struct pd_consumer *consumer, uint32_t type)
{
    if (type == PD_RECORD_SAMPLE)
        return !consumer->no_samples;
    return type < 128 ? consumer->types[type / 64] >> type % 64 & 1 : consumer->unknown_types;
}

/* Tells the session's code reader of a vdso that is mapped. */
static void see_vdso(struct pd_session *session, const struct pd_delivered *record)
{
    static const char name[] = "[vdso]";
    size_t at = PD_AT(mmap, filename);
    if (record->type == PD_RECORD_MMAP2)
        at = PD_AT(mmap2, filename);
    else if (PD_LIKELY(record->type != PD_RECORD_MMAP))
        return;
    if (record->size < at + sizeof name || memcmp(record->data + at, name, sizeof name) != 0)
        return;
    uint32_t tid = pd_load32(record->data + PD_AT(mmap, tid), session->recording->swap);
    const struct pd_thread *thread = pd_timeline_find(session->timeline, tid);
    if (thread)
        pd_code_see_vdso(session->code, thread);
}

static perfdata_status apply(struct pd_front *front, struct pd_delivered *record)
{
    struct pd_session *session = front->session;
    if (record->type == PD_RECORD_FINISHED_ROUND)
        return 0;
    if (PD_UNLIKELY(session->code != NULL))
        see_vdso(session, record);
    if (PD_UNLIKELY(record->type == PD_RECORD_AUXTRACE_INFO) && session->decodes &&
        pd_source_is_stream(session->recording->source)) {
        perfdata_status status = pd_issue(
            &session->recording->context, PERFDATA_ISSUE_UNSUPPORTED, (int64_t)record->offset,
            "the trace is not decoded: it comes through a pipe; write it to a file");
        if (status < 0)
            return status;
    }
    if (PD_UNLIKELY(record->type == PD_RECORD_ID_INDEX)) {
        perfdata_status status = pd_guests_index(&session->guests, record->data, record->size);
        if (status < 0)
            return status;
    }
    struct pd_timeline *timeline = timeline_of(front, record);
    if (!timeline)
        return pd_no_memory(&front->session->recording->context, "threads and batches");
    if (PD_UNLIKELY(record->type == PD_RECORD_TEXT_POKE) && session->code &&
        timeline == session->timeline &&
        pd_code_poke(session->code, record->event, record->data, record->size,
                     session->recording->swap, record->number) < 0)
        return pd_no_memory(&front->session->recording->context, "threads and batches");
    return pd_timeline_apply(timeline, record->event, record->data, record->size, record->number);
}

static perfdata_status act(struct pd_front *front, struct pd_delivered *record, bool batched,
                           bool acts)
{
    bool show = batched && record->type < 64 && !front->consumer->no_threads;
    /* An EXIT is shown with the thread that it ends. */
    if (show && record->type == PD_RECORD_EXIT) {
        record->thread = shown_thread(front, record);
        return record->thread
                   ? apply(front, record)
                   : pd_no_memory(&front->session->recording->context, "threads and batches");
    }
    perfdata_status status = acts ? apply(front, record) : PERFDATA_OK;
    if (show && status >= 0) {
        record->thread = shown_thread(front, record);
        if (!record->thread)
            return pd_no_memory(&front->session->recording->context, "threads and batches");
    }
    return status;
}

/* The front alone sets marks, so a chunk is held once per batch without asking. */
PD_INLINE bool hold_chunk(struct pd_front *front, struct pd_job *job, struct pd_chunk *chunk)
{
    if (PD_LIKELY(chunk->mark == front->serial))
        return true;
    if (!pd_vec_push(&job->chunks, chunk))
        return false;
    chunk->mark = front->serial;
    pd_chunk_hold(chunk);
    return true;
}

/* Completes samples whose bytes do not yet say what they are about. */
static PD_NOINLINE perfdata_status complete(struct pd_front *front, struct pd_delivered *record)
{
    if (!record->event->plan.is_offcpu)
        return pd_deferred_complete(&front->deferred, record);
    return pd_offcpu_show(&front->made, record) < 0
               ? pd_no_memory(&front->session->recording->context, "threads and batches")
               : PERFDATA_OK;
}

/* The next record, or part of a sample that counts for several events. */
PD_INLINE int next_record(struct pd_front *front, struct pd_delivered *record)
{
    for (;;) {
        if (PD_UNLIKELY(front->split.left)) {
            int got = pd_split_next(&front->split, record);
            if (got)
                return got < 0 ? pd_no_memory(&front->session->recording->context,
                                              "threads and batches")
                               : got;
        }
        int got = pd_order_next(front->order, record);
        if (PD_UNLIKELY(got <= 0) || record->type != PD_RECORD_SAMPLE || !record->event)
            return got;
        const struct pd_plan *plan = &record->event->plan;
        if (PD_UNLIKELY(plan->is_offcpu || (front->completes && pd_deferred_waits(record)))) {
            perfdata_status status = complete(front, record);
            if (status < 0)
                return status;
        }
        if (PD_LIKELY(!(plan->sample_type & PD_SAMPLE_READ)))
            return got;
        pd_split_begin(&front->split, record);
    }
}

/* ---- samples made of a trace ----------------------------------------------------------------- */

/* Room for packed samples; NULL: there is none, or they do not come packed. */
static struct pd_synth_packs *packs_of(const struct pd_front *front, struct pd_job *job)
{
    if (!front->packs)
        return NULL;
    if (!pd_synth_packs_make(&job->packs, PD_JOB_RECORDS))
        return NULL;
    job->packs.streams = PD_STREAMS && front->streams;
    return &job->packs;
}

/* Numbers the new samples of a batch, of which `packed` are packed and know their numbers already.
 * False: some are to be left out, or looked at, so that they go one by one. */
static bool number_all(const struct pd_front *front, struct pd_job *job, size_t from, size_t packed)
{
    const struct pd_batch *batch = &job->batch;
    size_t next = job->packs.count - packed;
    if (!front->kernel_shown && job->packs.kernel)
        return false;
    if (packed == batch->count - from)
        return true;
    for (size_t i = from; i < batch->count; i++) {
        struct pd_delivered *record = &batch->records[i];
        if (next < job->packs.count && job->packs.list[next].place == i) {
            next++;
            continue;
        }
        if (!wanted(front->consumer, record->type) || is_new_kernel(front, record))
            return false;
        record->number = front->number + 1 + (i - from);
    }
    return true;
}

/* Numbers them and leaves out those that the consumer does not want. */
static perfdata_status take_samples(struct pd_front *front, struct pd_job *job, size_t from,
                                    size_t packed)
{
    const struct pd_consumer *consumer = front->consumer;
    struct pd_batch *batch = &job->batch;
    size_t to = from;
    if (!consumer->front && number_all(front, job, from, packed)) {
        front->number += batch->count - from;
        return PERFDATA_OK;
    }
    if (packed && !pd_job_unpack(job))
        return pd_no_memory(&front->session->recording->context, "threads and batches");
    for (size_t i = from; i < batch->count; i++) {
        struct pd_delivered *record = &batch->records[i];
        record->number = ++front->number;
        int verdict = consumer->front ? consumer->front(consumer->data, record) : PD_FRONT_PASS;
        if (verdict < 0)
            return verdict;
        if (verdict != PD_FRONT_PASS || !wanted(consumer, record->type))
            continue;
        if (is_new_kernel(front, record))
            show_kernel(front, record);
        if (to != i)
            batch->records[to] = *record;
        to++;
    }
    batch->count = to;
    return PERFDATA_OK;
}

/* The next record, which comes after all that the trace shows before it. 2: the batch is full. */
static int next_traced(struct pd_front *front, struct pd_job *job, struct pd_delivered **record)
{
    struct pd_batch *batch = &job->batch;
    struct pd_synth_sink sink = { .records = batch->records,
                                  .count = batch->count,
                                  .capacity = PD_JOB_RECORDS,
                                  .room = &job->room };
    if (!front->is_waiting && !front->at_end) {
        int got = next_record(front, &front->waiting);
        if (got < 0)
            return got;
        front->at_end = !got;
        front->is_waiting = true;
    }
    if (!front->is_waiting)
        return 0;
    sink.packs = packs_of(front, job);
    size_t from = batch->count, packed = job->packs.count;
    int got = pd_synth_before(front->synth, front->at_end ? NULL : &front->waiting, front->number,
                              &sink);
    batch->count = sink.count;
    if (!from && batch->count)
        job->first_number = front->number + 1;
    perfdata_status status = take_samples(front, job, from, job->packs.count - packed);
    if (status < 0 || got < 0)
        return status < 0 ? status : got;
    if (got)
        return 2;
    front->is_waiting = false;
    if (front->at_end)
        return 0;
    *record = &batch->records[batch->count];
    **record = front->waiting;
    (*record)->number = ++front->number;
    return 1;
}

/* ---- a batch --------------------------------------------------------------------------------- */

/* *record: the batch's next place, in which it is put at once: to copy what was stored member by
 * member would wait for each of these stores. */
PD_INLINE int take_next(struct pd_front *front, struct pd_job *job, struct pd_delivered **record)
{
    *record = &job->batch.records[job->batch.count];
    if (PD_LIKELY(!front->synth)) {
        int got = next_record(front, *record);
        front->number = got > 0 ? (*record)->number : front->number;
        return got;
    }
    return next_traced(front, job, record);
}

/* The room for a record may lie in the cache of the worker that last read it, and a store would
 * wait for it: so it is prefetched for writing. */
PD_INLINE void fetch_room(const struct pd_delivered *record)
{
    enum { AHEAD = 16, LINE = 64 };
    const char *at = (const char *)(record + AHEAD);
    __builtin_prefetch(at, 1);
    __builtin_prefetch(at + LINE, 1);
}

/* Whether a sample, whose thread is known, is none that the consumer asks for. */
PD_INLINE bool is_elsewhere(const struct pd_front *front, const struct pd_delivered *record)
{
    const struct pd_event *event = record->event;
    if (!event || !event->plan.ip || !pd_sample_is_whole(&event->plan, record->data, record->size))
        return false;
    return pd_elsewhere_is(front->elsewhere, record->thread, record->number,
                           record->misc & PD_MISC_CPUMODE_MASK,
                           pd_load64(record->data + event->plan.ip, event->plan.swap));
}

/* Samples that a batch passes over: until it ends, maps that hold no more are kept. */
enum { ELSEWHERE_MOST = 16 * PD_BATCH_RECORDS };

static int fill(struct pd_front *front, struct pd_job *job)
{
    const struct pd_consumer *consumer = front->consumer;
    struct pd_batch *batch = &job->batch;
    uint64_t bytes = 0;
    unsigned left = ELSEWHERE_MOST;
    front->serial++;
    while (batch->count < PD_BATCH_RECORDS && bytes < PD_BATCH_BYTES && left) {
        struct pd_delivered *record;
        fetch_room(&batch->records[batch->count]);
        int got = take_next(front, job, &record);
        if (PD_UNLIKELY(got <= 0 || got == 2))
            return got <= 0 ? got : 1;
        if (consumer->front) {
            int verdict = consumer->front(consumer->data, record);
            if (verdict < 0)
                return verdict;
            if (verdict == PD_FRONT_IGNORE)
                continue;
            got = verdict == PD_FRONT_PASS;
        }
        bool batched = got && wanted(consumer, record->type), acts = true;
        if (PD_UNLIKELY(front->session->jit != NULL)) {
            got = pd_jit_deliver(front->session->jit, record->data, record->size, record->type,
                                 record->time, record->number);
            if (got < 0)
                return got;
            acts = !got;
        }
        if (PD_LIKELY(record->type == PD_RECORD_SAMPLE)) {
            touch_sample(front, record);
            if (PD_UNLIKELY(!record->thread && !consumer->no_threads))
                return pd_no_memory(&front->session->recording->context, "threads and batches");
            if (front->elsewhere && is_elsewhere(front, record)) {
                left--;
                continue;
            }
        } else {
            perfdata_status status = act(front, record, batched, acts);
            if (status < 0)
                return status;
        }
        if (!batched)
            continue;
        if (!hold_chunk(front, job, record->chunk))
            return pd_no_memory(&front->session->recording->context, "threads and batches");
        if (!batch->count)
            job->first_number = record->number;
        bytes += record->size;
        batch->count++;
    }
    return 1;
}

int pd_front_fill(struct pd_front *front, struct pd_job *job)
{
    int got = fill(front, job);
    pd_timeline_settle(front->session->timeline, front->number);
    pd_guests_settle(&front->session->guests, front->number);
    return got;
}
