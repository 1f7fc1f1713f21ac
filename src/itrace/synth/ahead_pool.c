/* SPDX-License-Identifier: MIT */
/* Segments and buffers that wait -> work for threads: which is walked or read next. */
#include "itrace/synth/ahead_segments.h"
#include "itrace/synth/ahead_worker.h"

enum { WINDOW = 64 /* segments without step logs that others may be ahead */ };

/* With the lock: the queue whose next free segment is the least far away from where it is. */
static struct pd_synth_segments *next_queue(struct pd_synth_pool *pool)
{
    struct pd_synth *synth = pool->synth;
    struct pd_synth_segments *best = NULL;
    const size_t step_logs = 2 * pd_synth_pool_threads(pool) + 2,
                 window = pool->step_logs ? step_logs : WINDOW;
    if (atomic_load_explicit(&pool->step_logs_used, memory_order_relaxed) >
        step_logs + synth->queue_count)
        return NULL; /* for the memory's sake */
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_segments *segments = synth->queues[i].ahead.segments;
        if (segments && segments->claim < segments->list.count &&
            segments->claim - segments->next < window &&
            (!best || segments->claim - segments->next < best->claim - best->next))
            best = segments;
    }
    return best;
}

/* With the lock: a buffer that will be needed soon; NULL: there is none. */
static struct pd_segment_fetch *next_fetch(struct pd_synth_pool *pool)
{
    for (unsigned i = 0; i < PD_LENGTH(pool->fetches); i++)
        if (pool->fetches[i].segments && pool->fetches[i].how == SEGMENT_FREE)
            return &pool->fetches[i];
    return NULL;
}

/* With the lock: whether the queue would have to wait for the buffer if it were read only after the
 * segments that are left of the buffer before. */
static bool is_urgent(const struct pd_segment_fetch *fetch)
{
    enum { FASTER = 16 }; /* so much is read while one byte is walked */
    const struct pd_synth_segments *segments = fetch->segments;
    if (segments->claim >= segments->list.count)
        return true;
    const uint64_t end = segments->list.data[segments->list.count - 1].end;
    return end - segments->list.data[segments->claim].begin < fetch->fetch.size / FASTER;
}

bool pd_synth_pool_set_waits(struct pd_synth_pool *pool)
{
    bool waits = next_queue(pool) || next_fetch(pool);
    atomic_store_explicit(&pool->waits, waits, memory_order_relaxed);
    return waits;
}

void pd_synth_pool_offer(struct pd_synth_pool *pool)
{
    const bool waited = pool->waits, waits = pd_synth_pool_set_waits(pool);
    pthread_mutex_unlock(&pool->lock);
    if (waits && !waited)
        pool->wake(pool->wake_data);
}

/* With the lock. Reads a buffer; false: there is none. */
static bool fetch_one(struct pd_synth_pool *pool, struct pd_segment_fetch *fetch)
{
    if (!fetch)
        return false;
    fetch->how = SEGMENT_RUNNING;
    pd_synth_pool_set_waits(pool);
    pthread_mutex_unlock(&pool->lock);
    bool done = pd_aux_fetch_read(&fetch->fetch);
    pthread_mutex_lock(&pool->lock);
    fetch->how = done ? SEGMENT_DONE : SEGMENT_FAILED;
    pthread_cond_broadcast(&pool->done);
    return true;
}

bool pd_synth_pool_work(struct pd_segment_worker *worker)
{
    struct pd_synth_pool *pool = worker->pool;
    struct pd_synth_segments *segments = next_queue(pool);
    struct pd_segment_fetch *fetch = next_fetch(pool);
    if (!segments || (fetch && is_urgent(fetch)))
        return fetch_one(pool, fetch);
    struct pd_segment *segment = &segments->list.data[segments->claim++];
    segment->how = SEGMENT_RUNNING;
    segments->running++;
    pd_synth_pool_set_waits(pool);
    pthread_mutex_unlock(&pool->lock);
    bool done = pd_synth_walk_segment(worker, segments, segment);
    pthread_mutex_lock(&pool->lock);
    segment->how = done ? SEGMENT_DONE : SEGMENT_FAILED;
    if (!done)
        pd_synth_free_segment(pool, segment);
    segments->running--;
    pthread_cond_broadcast(&pool->done);
    return true;
}

void pd_synth_take_help(struct pd_synth *synth, unsigned helpers, void (*wake)(void *data),
                        void *data)
{
    struct pd_synth_pool *pool = synth->pool;
    if (!pool)
        return;
    pool->workers = calloc((size_t)helpers + 1, sizeof *pool->workers);
    if (!pool->workers) /* then there are none */
        return;
    for (unsigned i = 0; i <= helpers; i++)
        pool->workers[i].pool = pool;
    pool->helpers = helpers;
    pool->wake = wake;
    pool->wake_data = data;
}

bool pd_synth_waits(const struct pd_synth *synth)
{
    return synth && synth->pool && atomic_load_explicit(&synth->pool->waits, memory_order_relaxed);
}

void pd_synth_help(struct pd_synth *synth, unsigned helper)
{
    struct pd_synth_pool *pool = synth->pool;
    pthread_mutex_lock(&pool->lock);
    pd_synth_pool_work(&pool->workers[helper]);
    pd_synth_pool_set_waits(pool);
    pthread_mutex_unlock(&pool->lock);
}
