/* SPDX-License-Identifier: MIT */
/* The pool. Workers take filled batches in any order; what is finished is emitted in sequence by
 * whoever finishes the batch whose turn it is. The front helps when all batches are under way, so
 * one thread alone is a plain loop. */
#include "base/memory.h"
#include "base/stream.h"
#include "io/ahead.h"
#include "pipeline/front.h"
#include <sched.h>
#include <time.h>
#include <unistd.h>

#define EXTRA_JOBS 40
#define LOOK_OUT 100000 /* nanoseconds that a worker looks for work before it sleeps */

struct worker {
    struct pool *pool;
    struct pd_resolver *resolver;
    void *state;
    unsigned index;
    bool begun, started;
    uint64_t sequence; /* of the batch that it works on */
    struct pd_lines_turn turn;
    pthread_t thread;
};

struct pool {
    struct pd_session *session;
    const struct pd_consumer *consumer;
    struct worker *workers; /* 0 is the front's own */
    unsigned worker_count, started;

    pthread_mutex_t lock;            /* for all below */
    pthread_cond_t work, room, turn; /* `turn`: what is emitted next has changed */
    struct pd_job **jobs, **done;    /* by slot, NULL: none; `done` by sequence modulo slot_count */
    uint64_t *first_numbers;         /* by sequence modulo slot_count, of those under way */
    size_t slot_count, extra;        /* jobs beyond those that are always there */
    struct pd_delivered *extra_room; /* for the records of these, or NULL */
    struct pd_delivered *aside;      /* the front's: room for a batch's records, or NULL */
    struct pd_job *first, *last, *free; /* filled ones in sequence; empty ones */
    _Atomic size_t filled;              /* how many wait from `first` on; written with the lock */
    uint64_t next_sequence, next_taken, next_emitted;
    bool emitting, finished;
    bool in_turn; /* what is known of inlined functions depends on the order of the samples */
    bool looking; /* a worker has no work and does not sleep yet */
    perfdata_status status; /* the first failure; nothing is worked on or emitted after it */

    struct pd_ahead ahead; /* what the front will read next, with more than one worker */
};

/* Whether the front works on batches all by itself. */
static bool works_alone(const struct pool *pool)
{
    return pool->worker_count == 1 || pool->consumer->alone;
}

/* ---- turns ---- */

/* perf asks addr2line for the functions of addresses that it comes to by unwinding. */
static bool asks_in_turn(const struct pd_session *session)
{
    const struct pd_recording *recording = session->recording;
    bool late = recording->kind == PD_CONTAINER_PIPE; /* its events are not known yet */
    for (size_t i = 0; recording->like_perf && !late && i < recording->event_count; i++)
        if (recording->events[i]->attr.sample_type & PD_SAMPLE_STACK_USER)
            return true;
    return recording->like_perf && late;
}

/* All batches before the worker's are through. They were taken before, so that none of them waits
 * for this one. */
static void wait_for_turn(void *data)
{
    struct worker *worker = data;
    struct pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    while (pool->next_emitted != worker->sequence)
        pthread_cond_wait(&pool->turn, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- workers --------------------------------------------------------------------------------- */

static perfdata_status begin_worker(struct pool *pool, unsigned index)
{
    struct worker *worker = &pool->workers[index];
    const struct pd_consumer *consumer = pool->consumer;
    worker->pool = pool;
    worker->index = index;
    if (index && consumer->alone)
        return 0;
    if (pool->session->symbols) {
        worker->resolver = pd_resolver_new(pool->session->symbols);
        if (!worker->resolver)
            return pd_no_memory(&pool->session->recording->context, "a worker");
        worker->turn = (struct pd_lines_turn){ wait_for_turn, worker };
        if (pool->in_turn)
            pd_resolver_ask_in_turn(worker->resolver, &worker->turn);
    }
    if (consumer->begin) {
        perfdata_status status = consumer->begin(consumer->data, index, worker->resolver,
                                                 &worker->state);
        if (status < 0)
            return status;
    }
    worker->begun = true;
    return 0;
}

static void end_worker(struct pool *pool, unsigned index)
{
    struct worker *worker = &pool->workers[index];
    if (worker->begun && pool->consumer->end)
        pool->consumer->end(pool->consumer->data, index, worker->state);
    if (worker->resolver)
        pd_resolver_free(worker->resolver);
}

static perfdata_status emit(struct pool *pool, struct pd_job *job)
{
    const struct pd_consumer *consumer = pool->consumer;
    struct pd_batch *batch = &job->batch;
    perfdata_status status = job->status;
    if (status >= 0 && consumer->in_order)
        status = consumer->in_order(consumer->data, batch);
    if (batch->text.failed)
        return pd_no_memory(&pool->session->recording->context, "a batch's text");
    if (batch->text.length && consumer->sink) {
        perfdata_status written = consumer->sink(consumer->data, batch->text.data,
                                                 batch->text.length);
        if (written < 0)
            return written;
    }
    return status;
}

/* With the lock: an empty job. Extra jobs are freed as soon as they have been used, and with the
 * last of them their room. */
static void give_back(struct pool *pool, struct pd_job *job)
{
    if (job->slot >= pool->slot_count - EXTRA_JOBS) {
        pool->jobs[job->slot] = NULL;
        pool->extra--;
        pd_job_free(job, pool->consumer);
        if (!pool->extra) {
            free(pool->extra_room);
            pool->extra_room = NULL;
        }
        return;
    }
    job->next = pool->free;
    pool->free = job;
}

/* With the lock: notes a batch whose work is done, and emits all whose turn has come. */
static void complete(struct pool *pool, struct pd_job *job)
{
    pool->done[job->batch.sequence % pool->slot_count] = job;
    if (pool->emitting)
        return;
    pool->emitting = true;
    struct pd_job **turn;
    while (*(turn = &pool->done[pool->next_emitted % pool->slot_count])) {
        job = *turn;
        *turn = NULL;
        bool failed = pool->status < 0;
        pthread_mutex_unlock(&pool->lock);
        perfdata_status status = failed ? 0 : emit(pool, job);
        pd_job_reset(job);
        pthread_mutex_lock(&pool->lock);
        if (status < 0)
            pool->status = status;
        pool->next_emitted++;
        pthread_cond_broadcast(&pool->turn);
        give_back(pool, job);
        pthread_cond_signal(&pool->room);
    }
    pool->emitting = false;
}

static perfdata_status unpack(struct pool *pool, struct pd_job *job)
{
    if (pd_job_unpack(job))
        return PERFDATA_OK;
    return pd_no_memory(&pool->session->recording->context, "a batch");
}

static perfdata_status work_on(struct worker *worker, struct pd_job *job)
{
    const struct pd_consumer *consumer = worker->pool->consumer;
    job->batch.packs = consumer->takes_packs && job->packs.count ? &job->packs : NULL;
    perfdata_status status = job->batch.packs ? PERFDATA_OK : unpack(worker->pool, job);
    if (status < 0)
        return status;
    return consumer->work(consumer->data, worker->state, &job->batch);
}

/* With the lock, and a filled batch in the queue: takes and works on it. */
static void work_on_first(struct pool *pool, struct worker *worker)
{
    struct pd_job *job = pool->first;
    pool->first = job->next;
    if (!pool->first)
        pool->last = NULL;
    atomic_fetch_sub_explicit(&pool->filled, 1, memory_order_relaxed);
    pool->next_taken++;
    worker->sequence = job->batch.sequence;
    bool failed = pool->status < 0 || job->status < 0;
    pthread_mutex_unlock(&pool->lock);
    if (!failed)
        job->status = work_on(worker, job);
    pthread_mutex_lock(&pool->lock);
    complete(pool, job);
}

/* With the lock or without: a batch waits for any worker. */
static bool has_batch(const struct pool *pool)
{
    return atomic_load_explicit(&pool->filled, memory_order_relaxed) && !pool->consumer->alone;
}

/* A batch, or something else that any worker may do, waits. */
static bool has_work(const struct pool *pool)
{
    return has_batch(pool) || pd_ahead_waits(&pool->ahead) || pd_synth_waits(pool->session->synth);
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* With the lock, and no work: looks out for some before the worker sleeps, since to be woken takes
 * longer than the front needs for a batch. One worker at a time does. */
static void look_out(struct pool *pool)
{
    if (pool->looking) {
        pthread_cond_wait(&pool->work, &pool->lock);
        return;
    }
    pool->looking = true;
    pthread_mutex_unlock(&pool->lock);
    uint64_t until = now() + LOOK_OUT;
    bool late = false;
    while (!late && !has_work(pool)) {
        sched_yield(); /* on a busy machine it takes long: then there is no use in it */
        late = now() > until;
    }
    pthread_mutex_lock(&pool->lock);
    pool->looking = false;
    if (late && !has_work(pool) && !pool->finished)
        pthread_cond_wait(&pool->work, &pool->lock);
}

/* With the lock. Walks those parts of a trace that the front will come to. */
static void help(struct worker *worker)
{
    struct pool *pool = worker->pool;
    pthread_mutex_unlock(&pool->lock);
    pd_synth_help(pool->session->synth, worker->index);
    pthread_mutex_lock(&pool->lock);
}

/* Returns not NULL if an allocation has failed on this thread. */
static void *worker_main(void *data)
{
    struct worker *worker = data;
    struct pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        if (pd_ahead_waits(&pool->ahead)) {
            pthread_mutex_unlock(&pool->lock);
            pd_ahead_serve(&pool->ahead);
            pthread_mutex_lock(&pool->lock);
        }
        if (has_batch(pool))
            work_on_first(pool, worker);
        else if (pool->finished)
            break;
        else if (pd_synth_waits(pool->session->synth))
            help(worker);
        else
            look_out(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return pd_memory_failed() ? worker : NULL;
}

/* One more worker, when there is more than one batch: small recordings need no thread. Where the
 * system gives no more threads, the run goes on with those that it has. */
static perfdata_status start_worker(struct pool *pool)
{
    unsigned index = pool->started;
    if (index >= pool->worker_count)
        return 0;
    perfdata_status status = begin_worker(pool, index);
    pool->started = index + 1;
    if (status < 0)
        return status;
    struct worker *worker = &pool->workers[index];
    worker->started = !pthread_create(&worker->thread, NULL, worker_main, worker);
    if (!worker->started)
        pool->worker_count = pool->started;
    return 0;
}

/* Wakes workers when there is something of a trace to walk. */
static void wake_helpers(void *data)
{
    struct pool *pool = data;
    perfdata_status status = PERFDATA_OK;
    while (pool->started < pool->worker_count && status >= 0)
        status = start_worker(pool);
    pthread_mutex_lock(&pool->lock);
    if (status < 0 && pool->status >= 0)
        pool->status = status;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- the front's side ------------------------------------------------------------------------ */

/* While a worker loads the kernel's symbols the others wait for it, and so would the front if it
 * helped: it goes on instead, so that there is plenty to do afterwards; not in a stream, whose
 * memory stays small. Nor does it help before the first batch, the one that loads, is with a
 * worker: threads take a while to begin. */
static bool add_extra(struct pool *pool)
{
    size_t base = pool->slot_count - EXTRA_JOBS;
    const struct pd_symbols *symbols = pool->session->symbols;
    if (works_alone(pool) || !pool->first || pool->extra == EXTRA_JOBS || !symbols ||
        pd_source_is_stream(pool->session->recording->source) ||
        (pool->next_taken && !pd_symbols_loading(symbols)))
        return false;
    if (!pool->extra_room)
        pool->extra_room = pd_large_alloc((size_t)EXTRA_JOBS * PD_JOB_RECORDS *
                                          sizeof *pool->extra_room);
    if (!pool->extra_room)
        return false;
    size_t slot = base;
    while (pool->jobs[slot])
        slot++;
    struct pd_job *job = pd_job_new(pool->extra_room + (slot - base) * PD_JOB_RECORDS);
    if (!job)
        return false;
    pool->jobs[slot] = job;
    job->slot = slot;
    pool->extra++;
    pool->free = job;
    return true;
}

/* With the lock: puts the job back among the filled ones, in sequence. */
static void put_back(struct pool *pool, struct pd_job *job)
{
    struct pd_job **link = &pool->first;
    if (pool->last && pool->last->batch.sequence < job->batch.sequence)
        link = &pool->last->next;
    while (*link && (*link)->batch.sequence < job->batch.sequence)
        link = &(*link)->next;
    job->next = *link;
    *link = job;
    if (!job->next)
        pool->last = job;
    atomic_fetch_add_explicit(&pool->filled, 1, memory_order_relaxed);
    pthread_cond_signal(&pool->work);
}

/* Samples in user space need nothing of the kernel. */
static bool is_user_sample(const struct pd_delivered *record)
{
    return record->type == PD_RECORD_SAMPLE &&
           (record->misc & PD_MISC_CPUMODE_MASK) == PD_CPUMODE_USER;
}

/* Works on the batch's samples in user space, and leaves the rest in it. */
static perfdata_status work_on_user_part(struct pool *pool, struct pd_job *job)
{
    struct pd_batch *batch = &job->batch;
    size_t count = batch->count, user = 0, rest = 0;
    perfdata_status status = unpack(pool, job);
    if (status < 0)
        return status;
    for (size_t i = 0; i < count; i++) {
        const struct pd_delivered *record = &batch->records[i];
        if (!is_user_sample(record))
            pool->aside[rest++] = *record;
        else if (user++ != i)
            batch->records[user - 1] = *record;
    }
    batch->count = user;
    status = pool->consumer->work(pool->consumer->data, pool->workers[0].state, batch);
    memcpy(batch->records, pool->aside, rest * sizeof *pool->aside);
    batch->count = rest;
    return status;
}

/* With the lock. While a worker loads the kernel's symbols the front can do what does not need
 * them, where the order of records does not matter. False: there is nothing of the
 * kind. */
static bool work_meanwhile(struct pool *pool)
{
    if (pool->consumer->kind != PD_CONSUME_COMMUTATIVE || pool->in_turn ||
        !pool->session->symbols || !pd_symbols_loading(pool->session->symbols))
        return false;
    struct pd_job **link = &pool->first, *before = NULL;
    while (*link && (*link)->is_rest) {
        before = *link;
        link = &before->next;
    }
    struct pd_job *job = *link;
    if (!job || (!pool->aside && !(pool->aside = malloc(PD_JOB_RECORDS * sizeof *pool->aside))))
        return false;
    *link = job->next;
    if (pool->last == job)
        pool->last = before;
    atomic_fetch_sub_explicit(&pool->filled, 1, memory_order_relaxed);
    pthread_mutex_unlock(&pool->lock);
    job->status = work_on_user_part(pool, job);
    pthread_mutex_lock(&pool->lock);
    job->is_rest = true;
    put_back(pool, job);
    return true;
}

/* Does something useful until there may be room, or waits for it. */
static void pass_time(struct pool *pool)
{
    if (work_meanwhile(pool))
        return;
    if (pool->first)
        work_on_first(pool, &pool->workers[0]);
    else
        pthread_cond_wait(&pool->room, &pool->lock);
}

/* An empty batch; works itself while there is none. NULL: the run has failed. */
static struct pd_job *acquire(struct pool *pool, uint64_t *oldest)
{
    struct pd_job *job = NULL;
    pthread_mutex_lock(&pool->lock);
    while (pool->status >= 0 && !pool->free) {
        if (add_extra(pool))
            break;
        pass_time(pool);
    }
    if (pool->status >= 0) {
        job = pool->free;
        pool->free = job->next;
        job->next = NULL;
    }
    *oldest = pool->next_emitted == pool->next_sequence
                  ? UINT64_MAX
                  : pool->first_numbers[pool->next_emitted % pool->slot_count];
    pthread_mutex_unlock(&pool->lock);
    return job;
}

static void submit(struct pool *pool, struct pd_job *job)
{
    if (job->packs.streams)
        pd_stream_end();
    pthread_mutex_lock(&pool->lock);
    job->batch.sequence = pool->next_sequence++;
    pool->first_numbers[job->batch.sequence % pool->slot_count] = job->first_number;
    put_back(pool, job);
    pthread_mutex_unlock(&pool->lock);
}

static void wait_for_all(struct pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->next_emitted != pool->next_sequence)
        pass_time(pool);
    pool->finished = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
}

static perfdata_status run_front(struct pool *pool)
{
    struct pd_front front;
    perfdata_status status = pd_front_open(pool->session, pool->consumer, &front);
    if (status < 0)
        return status;
    if (!works_alone(pool))
        pd_order_read_ahead(front.order, &pool->ahead);
    if (!works_alone(pool) || pool->consumer->takes_packs)
        pd_front_pack(&front, !works_alone(pool));
    if (front.synth && pool->worker_count > 1)
        pd_synth_take_help(front.synth, pool->worker_count - 1, wake_helpers, pool);
    int filled = 1;
    while (filled > 0 && status >= 0) {
        uint64_t oldest;
        struct pd_job *job = acquire(pool, &oldest);
        if (!job)
            break;
        pd_session_retire(pool->session, PD_MIN(oldest, front.number + 1));
        filled = pd_front_fill(&front, job);
        if (job->batch.count) {
            submit(pool, job);
            if (filled > 0 && !works_alone(pool))
                status = start_worker(pool);
        } else {
            pd_job_reset(job);
            pthread_mutex_lock(&pool->lock);
            give_back(pool, job);
            pthread_mutex_unlock(&pool->lock);
        }
    }
    wait_for_all(pool);
    pd_front_close(&front);
    if (pool->status < 0)
        return pool->status;
    return status < 0 ? status : filled;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static bool make_pool(struct pool *pool, unsigned threads)
{
    pool->worker_count = threads;
    /* One at work and one waiting for each: the farther the front is ahead, the colder is what it
     * has touched. */
    size_t jobs = works_alone(pool) ? 1 : 2 * (size_t)threads;
    pool->workers = calloc(threads, sizeof *pool->workers);
    pool->slot_count = jobs + EXTRA_JOBS;
    pool->jobs = calloc(pool->slot_count, sizeof(struct pd_job *));
    pool->done = calloc(pool->slot_count, sizeof(struct pd_job *));
    pool->first_numbers = calloc(pool->slot_count, sizeof *pool->first_numbers);
    if (!pool->workers || !pool->jobs || !pool->done || !pool->first_numbers)
        return false;
    for (size_t slot = 0; slot < jobs; slot++) {
        struct pd_job *job = pd_job_new(NULL);
        if (!job)
            return false;
        pool->jobs[slot] = job;
        job->slot = slot;
        job->next = pool->free;
        pool->free = job;
    }
    return true;
}

static void free_pool(struct pool *pool)
{
    for (size_t i = 0; pool->jobs && i < pool->slot_count; i++)
        pd_job_free(pool->jobs[i], pool->consumer);
    free(pool->extra_room);
    free(pool->aside);
    free(pool->workers);
    free(pool->jobs);
    free(pool->done);
    free(pool->first_numbers);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->room);
    pthread_cond_destroy(&pool->turn);
    pthread_mutex_destroy(&pool->lock);
}

perfdata_status pd_pipeline_run(struct pd_session *session, const struct pd_consumer *consumer,
                                unsigned threads)
{
    struct pool pool = { .session = session,
                         .consumer = consumer,
                         .in_turn = asks_in_turn(session) };
    perfdata_status status;
    /* the consumer has made room for the events known by now, so no more may come */
    session->recording->head.events_fixed = true;
    pthread_mutex_init(&pool.lock, NULL);
    pd_ahead_init(&pool.ahead);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.room, NULL);
    pthread_cond_init(&pool.turn, NULL);
    if (make_pool(&pool, pd_pipeline_threads(session, threads))) {
        status = begin_worker(&pool, 0);
        pool.started = 1;
        if (status >= 0)
            status = run_front(&pool);
    } else {
        status = pd_no_memory(&session->recording->context, "batches");
    }
    for (unsigned i = 1; i < pool.started; i++)
        if (pool.workers[i].started) {
            void *no_memory;
            pthread_join(pool.workers[i].thread, &no_memory);
            if (no_memory)
                pd_memory_note();
        }
    pd_ahead_fini(&pool.ahead);
    for (unsigned i = 0; i < pool.started; i++)
        end_worker(&pool, i);
    free_pool(&pool);
    if (status >= 0)
        status = pd_session_warn(session, consumer->warns);
    return pd_analysis_status(&session->recording->context, status);
}
