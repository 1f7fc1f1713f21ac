/* SPDX-License-Identifier: MIT */
/* Chunks of a file, read by another thread before they are asked for. */
#include "io/ahead.h"

static void set(struct pd_ahead *ahead, enum pd_ahead_state state)
{
    atomic_store_explicit(&ahead->state, state, memory_order_relaxed);
}

static int state_of(const struct pd_ahead *ahead)
{
    return atomic_load_explicit(&ahead->state, memory_order_relaxed);
}

void pd_ahead_init(struct pd_ahead *ahead)
{
    *ahead = (struct pd_ahead){ 0 };
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->read, NULL);
}

/* With the lock. No reader is left at it afterwards. */
static void wait_for_reader(struct pd_ahead *ahead)
{
    while (state_of(ahead) == PD_AHEAD_READING)
        pthread_cond_wait(&ahead->read, &ahead->lock);
}

/* With the lock, and no reader. */
static void drop(struct pd_ahead *ahead)
{
    if (ahead->chunk)
        pd_chunk_release(ahead->chunk);
    ahead->chunk = NULL;
    set(ahead, PD_AHEAD_NONE);
}

void pd_ahead_fini(struct pd_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    wait_for_reader(ahead);
    drop(ahead);
    pthread_mutex_unlock(&ahead->lock);
    pthread_cond_destroy(&ahead->read);
    pthread_mutex_destroy(&ahead->lock);
}

void pd_ahead_ask(struct pd_ahead *ahead, struct pd_source *source, uint64_t offset,
                  struct pd_chunk *chunk, size_t at, size_t size)
{
    pthread_mutex_lock(&ahead->lock);
    wait_for_reader(ahead);
    drop(ahead);
    ahead->source = source;
    ahead->offset = offset;
    ahead->chunk = chunk;
    ahead->at = at;
    ahead->size = size;
    ahead->got = 0;
    set(ahead, PD_AHEAD_ASKED);
    pthread_mutex_unlock(&ahead->lock);
}

struct pd_chunk *pd_ahead_take(struct pd_ahead *ahead, const struct pd_source *source,
                               uint64_t offset, size_t *got)
{
    struct pd_chunk *chunk = NULL;
    pthread_mutex_lock(&ahead->lock);
    wait_for_reader(ahead);
    if (state_of(ahead) == PD_AHEAD_READ && ahead->source == source && ahead->offset == offset &&
        ahead->got) {
        chunk = ahead->chunk;
        ahead->chunk = NULL;
        *got = ahead->got;
    }
    drop(ahead);
    pthread_mutex_unlock(&ahead->lock);
    return chunk;
}

void pd_ahead_serve(struct pd_ahead *ahead)
{
    pthread_mutex_lock(&ahead->lock);
    if (state_of(ahead) != PD_AHEAD_ASKED) {
        pthread_mutex_unlock(&ahead->lock);
        return;
    }
    set(ahead, PD_AHEAD_READING);
    pthread_mutex_unlock(&ahead->lock);
    size_t got = 0;
    if (!pd_source_read_quietly(ahead->source, ahead->offset, ahead->chunk->bytes + ahead->at,
                                ahead->size, &got))
        got = 0;
    pthread_mutex_lock(&ahead->lock);
    ahead->got = got;
    set(ahead, PD_AHEAD_READ);
    pthread_cond_signal(&ahead->read);
    pthread_mutex_unlock(&ahead->lock);
}
