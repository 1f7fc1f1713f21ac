/* SPDX-License-Identifier: MIT */
/* Memory for bytes of a source: chunks that are counted, and used again once nobody holds them. */
#include "io/io.h"
#include "base/memory.h"
#include <stdlib.h>

/* Chunks that come back are kept for the next reads, so that memory stays flat; what is beyond goes
 * to the system. */
enum { FREE_MAX = 32, COMMON_CAPACITY = 4 << 20 };
/* Where many are held at a time, those of one size lie side by side in huge pages. */
enum { SINGLE_CHUNKS = 4, SLAB_SIZE = 4 << 20 };

struct pd_chunk_slab {
    uint8_t *bytes;
    size_t next;         /* of the bytes, not handed out */
    atomic_size_t users; /* chunks that lie in it, and the pool while it fills it */
};

struct pd_chunk_pool {
    pthread_mutex_t lock;
    struct pd_chunk *free;
    size_t free_count;
    size_t out; /* chunks that are held */
    bool closed;
    /* Only the one thread that asks for chunks uses these. */
    struct pd_chunk_slab *slab; /* that is being filled, or NULL */
    size_t made;
};

static void leave_slab(struct pd_chunk_slab *slab)
{
    if (!slab || atomic_fetch_sub_explicit(&slab->users, 1, memory_order_acq_rel) != 1)
        return;
    free(slab->bytes);
    free(slab);
}

static void free_chunk(struct pd_chunk *chunk)
{
    if (chunk->slab)
        leave_slab(chunk->slab);
    else if (!chunk->foreign)
        free(chunk->bytes);
    free(chunk);
}

static void free_pool(struct pd_chunk_pool *pool)
{
    leave_slab(pool->slab);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

struct pd_chunk_pool *pd_chunk_pool_new(void)
{
    struct pd_chunk_pool *pool = calloc(1, sizeof *pool);
    if (pool)
        pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void pd_chunk_pool_close(struct pd_chunk_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->closed = true;
    while (pool->free) {
        struct pd_chunk *chunk = pool->free;
        pool->free = chunk->next_free;
        free_chunk(chunk);
    }
    pool->free_count = 0;
    bool last = pool->out == 0;
    pthread_mutex_unlock(&pool->lock);
    if (last)
        free_pool(pool);
}

void pd_chunk_release(struct pd_chunk *chunk)
{
    if (atomic_fetch_sub_explicit(&chunk->references, 1, memory_order_acq_rel) != 1)
        return;
    struct pd_chunk_pool *pool = chunk->pool;
    pthread_mutex_lock(&pool->lock);
    bool keep = !pool->closed && !chunk->foreign && pool->free_count < FREE_MAX &&
                chunk->capacity <= COMMON_CAPACITY;
    if (keep) {
        chunk->next_free = pool->free;
        pool->free = chunk;
        pool->free_count++;
    }
    bool last = --pool->out == 0 && pool->closed;
    pthread_mutex_unlock(&pool->lock);
    if (!keep)
        free_chunk(chunk);
    if (last)
        free_pool(pool);
}

static struct pd_chunk *take_free(struct pd_chunk_pool *pool, size_t capacity)
{
    for (struct pd_chunk **link = &pool->free; *link; link = &(*link)->next_free) {
        struct pd_chunk *chunk = *link;
        if (chunk->capacity < capacity)
            continue;
        *link = chunk->next_free;
        pool->free_count--;
        return chunk;
    }
    return NULL;
}

static struct pd_chunk *hand_out(struct pd_chunk_pool *pool, struct pd_chunk *chunk)
{
    pthread_mutex_lock(&pool->lock);
    pool->out++;
    pthread_mutex_unlock(&pool->lock);
    atomic_init(&chunk->references, 1);
    chunk->mark = 0;
    chunk->pool = pool;
    chunk->next_free = NULL;
    return chunk;
}

static struct pd_chunk_slab *new_slab(void)
{
    struct pd_chunk_slab *slab = calloc(1, sizeof *slab);
    if (!slab)
        return NULL;
    slab->bytes = pd_large_alloc(SLAB_SIZE);
    if (!slab->bytes) {
        free(slab);
        return NULL;
    }
    atomic_init(&slab->users, 1);
    return slab;
}

/* Room in a slab for the chunk's bytes. False: there is none for so many. */
static bool place_in_slab(struct pd_chunk_pool *pool, struct pd_chunk *chunk, size_t capacity)
{
    if (pool->made < SINGLE_CHUNKS || capacity > SLAB_SIZE / 4 || capacity % 64)
        return false;
    if (pool->slab && pool->slab->next + capacity > SLAB_SIZE) {
        leave_slab(pool->slab);
        pool->slab = NULL;
    }
    if (!pool->slab)
        pool->slab = new_slab();
    if (!pool->slab)
        return false;
    chunk->slab = pool->slab;
    chunk->bytes = pool->slab->bytes + pool->slab->next;
    pool->slab->next += capacity;
    atomic_fetch_add_explicit(&pool->slab->users, 1, memory_order_relaxed);
    return true;
}

static struct pd_chunk *make_chunk(struct pd_chunk_pool *pool, size_t capacity)
{
    struct pd_chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk)
        return NULL;
    chunk->capacity = capacity;
    if (!place_in_slab(pool, chunk, capacity))
        chunk->bytes = malloc(capacity ? capacity : 1);
    if (!chunk->bytes) {
        free(chunk);
        return NULL;
    }
    pool->made++;
    return chunk;
}

struct pd_chunk *pd_chunk_new(struct pd_chunk_pool *pool, size_t capacity)
{
    pthread_mutex_lock(&pool->lock);
    struct pd_chunk *chunk = take_free(pool, capacity);
    pthread_mutex_unlock(&pool->lock);
    if (!chunk)
        chunk = make_chunk(pool, capacity);
    if (!chunk)
        return NULL;
    chunk->size = 0;
    return hand_out(pool, chunk);
}

struct pd_chunk *pd_chunk_over(struct pd_chunk_pool *pool, const uint8_t *bytes, size_t size)
{
    struct pd_chunk *chunk = calloc(1, sizeof *chunk);
    if (!chunk)
        return NULL;
    chunk->bytes = (uint8_t *)(uintptr_t)bytes; /* nobody writes into a chunk that is handed out */
    chunk->size = chunk->capacity = size;
    chunk->foreign = true;
    return hand_out(pool, chunk);
}
