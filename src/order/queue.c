/* SPDX-License-Identifier: MIT */
/* Times of records -> perf's order, by rounds of ascending runs. */
#include "order/queue.h"

void pd_queue_free(struct pd_queue *queue)
{
    free(queue->ring);
    pd_vec_free(&queue->runs);
    pd_vec_free(&queue->heap);
    memset(queue, 0, sizeof *queue);
}

PD_INLINE struct pd_queue_entry *at(const struct pd_queue *queue, uint64_t position)
{
    return &queue->ring[position & (queue->size - 1)];
}

static bool grow(struct pd_queue *queue)
{
    size_t size = queue->size ? queue->size * 2 : 4096, bytes;
    if (pd_mul_overflows(size, sizeof *queue->ring, &bytes))
        return false;
    struct pd_queue_entry *ring = pd_large_alloc(bytes);
    if (!ring)
        return false;
    for (uint64_t p = queue->head; p != queue->tail; p++)
        ring[p & (size - 1)] = *at(queue, p);
    free(queue->ring);
    queue->ring = ring;
    queue->size = size;
    return true;
}

struct pd_queue_entry *pd_queue_push(struct pd_queue *queue, uint64_t time)
{
    if (PD_UNLIKELY(queue->tail - queue->head >= queue->size) && !grow(queue))
        return NULL;
    /* While the queue is not empty its greatest time is max_timestamp: the entry becomes the last
     * one or not. */
    size_t count = queue->runs.count;
    if (pd_queue_empty(queue) || time >= queue->max_timestamp)
        queue->max_timestamp = time;
    struct pd_queue_run *last = count ? &queue->runs.data[count - 1] : NULL;
    if (PD_LIKELY(last && last->end == queue->tail && time >= queue->last_time))
        last->end++;
    else if (!pd_vec_push(&queue->runs, (struct pd_queue_run){ queue->tail, queue->tail + 1 }))
        return NULL;
    queue->last_time = time;
    struct pd_queue_entry *entry = at(queue, queue->tail++);
    entry->time = time;
    return entry;
}

void pd_queue_push_ghost(struct pd_queue *queue, uint64_t time)
{
    if (pd_queue_empty(queue) || time >= queue->max_timestamp)
        queue->max_timestamp = time;
    queue->ghosts = true;
    if (time <= queue->next_flush && time > queue->ghost_time)
        queue->ghost_time = time;
}

PD_INLINE bool before(const struct pd_queue_head *a, const struct pd_queue_head *b)
{
    return a->time < b->time || (a->time == b->time && a->run < b->run);
}

PD_INLINE void sift(struct pd_queue_head *heap, size_t count, size_t i, struct pd_queue_head value)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= count)
            break;
        child += child + 1 < count && before(&heap[child + 1], &heap[child]);
        if (!before(&heap[child], &value))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = value;
}

void pd_queue_sift(struct pd_queue_head *heap, size_t count, size_t i, struct pd_queue_head value)
{
    sift(heap, count, i, value);
}

bool pd_queue_before(const struct pd_queue_head *a, const struct pd_queue_head *b)
{
    return before(a, b);
}

bool pd_queue_flush(struct pd_queue *queue, bool final)
{
    queue->final = final;
    queue->limit = final ? UINT64_MAX : queue->next_flush;
    queue->heap.count = 0;
    if (!pd_vec_reserve(&queue->heap, queue->runs.count))
        return false;
    /* A limit of 0, at the first round, delivers nothing: no entry has time 0. */
    for (size_t i = 0; i < queue->runs.count; i++) {
        uint64_t time = at(queue, queue->runs.data[i].begin)->time;
        if (time <= queue->limit)
            queue->heap.data[queue->heap.count++] = (struct pd_queue_head){ time, i };
    }
    queue->lets_out = queue->heap.count != 0;
    for (size_t i = queue->heap.count / 2; i-- > 0;)
        sift(queue->heap.data, queue->heap.count, i, queue->heap.data[i]);
    return true;
}

/* What would be different now if the entries that nobody wants had been delivered, too. What stayed
 * after the flush before went up to this one's limit, since that is the youngest of them. */
static void pass_ghosts(struct pd_queue *queue, uint64_t limit)
{
    if (queue->had_left)
        queue->last_flush = limit;
    else if (queue->ghost_time)
        queue->last_flush = queue->lets_out ? PD_MAX(queue->last_flush, queue->ghost_time)
                                            : queue->ghost_time;
    queue->ghost_time = 0;
    queue->ghosts &= queue->max_timestamp > limit;
    queue->had_left = !pd_queue_empty(queue);
}

void pd_queue_end_merge(struct pd_queue *queue, bool left)
{
    queue->elsewhere = left;
    if (queue->final)
        return;
    queue->next_flush = queue->max_timestamp;
    pass_ghosts(queue, queue->limit);
}

/* Drops the runs that were delivered as a whole. */
static void finish(struct pd_queue *queue)
{
    uint64_t limit = queue->limit;
    if (!pd_queue_empty(queue) && !queue->final)
        queue->next_flush = queue->max_timestamp;
    size_t kept = 0;
    for (size_t i = 0; i < queue->runs.count; i++)
        if (queue->runs.data[i].begin != queue->runs.data[i].end)
            queue->runs.data[kept++] = queue->runs.data[i];
    queue->runs.count = kept;
    queue->head = kept ? queue->runs.data[0].begin : queue->tail;
    queue->limit = 0;
    if (!queue->final)
        pass_ghosts(queue, limit);
}

const struct pd_queue_entry *pd_queue_pop(struct pd_queue *queue)
{
    struct pd_queue_head *heap = queue->heap.data;
    size_t count = queue->heap.count;
    if (PD_UNLIKELY(!count)) {
        finish(queue);
        return NULL;
    }
    struct pd_queue_head top = heap[0];
    struct pd_queue_run *run = &queue->runs.data[top.run];
    const struct pd_queue_entry *entry = at(queue, run->begin++);
    queue->last_flush = entry->time;
    if (run->begin != run->end) {
        top.time = at(queue, run->begin)->time;
        /* The records lie where the walk has left them, two rounds ago. */
        __builtin_prefetch(at(queue, run->begin + 6)->data);
    }
    if (run->begin == run->end || top.time > queue->limit) {
        queue->heap.count = --count;
        if (!count)
            return entry;
        top = heap[count];
    }
    sift(heap, count, 0, top);
    return entry;
}
