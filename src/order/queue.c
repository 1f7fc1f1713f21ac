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

bool pd_queue_grow(struct pd_queue *queue)
{
    size_t size = queue->size ? queue->size * 2 : 4096, bytes;
    if (pd_mul_overflows(size, sizeof *queue->ring, &bytes))
        return false;
    struct pd_queue_entry *ring = pd_large_alloc(bytes);
    if (!ring)
        return false;
    for (uint64_t p = queue->head; p != queue->tail; p++)
        ring[p & (size - 1)] = *pd_queue_at(queue, p);
    free(queue->ring);
    queue->ring = ring;
    queue->size = size;
    return true;
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
        uint64_t time = pd_queue_at(queue, queue->runs.data[i].begin)->time;
        if (time <= queue->limit)
            queue->heap.data[queue->heap.count++] = (struct pd_queue_head){ time, i };
    }
    queue->lets_out = queue->heap.count != 0;
    for (size_t i = queue->heap.count / 2; i-- > 0;)
        pd_queue_sift(queue->heap.data, queue->heap.count, i, queue->heap.data[i]);
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

void pd_queue_finish(struct pd_queue *queue)
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
