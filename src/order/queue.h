/* SPDX-License-Identifier: MIT */
/* The queue of one recording: perf's rounds on ascending runs instead of a sorted list. Knows
 * times, not records. */
#ifndef PD_ORDER_QUEUE_H
#define PD_ORDER_QUEUE_H
#include "base/memory.h"
#include "base/vec.h"

/* A queued record: where it is and what its header says, so that delivery does not touch it. */
struct pd_queue_entry {
    uint64_t time;
    const uint8_t *data;
    uint64_t offset;
    uint32_t event; /* index */
    uint32_t held;  /* the chunk's slot in the order */
    uint32_t type;
    uint16_t size, misc;
};

/* Positions count all entries ever pushed; the ring holds [head, tail). */
struct pd_queue_run {
    uint64_t begin, end;
};

struct pd_queue_head {
    uint64_t time;
    size_t run;
};

/* All zero is an empty queue. One owner. */
struct pd_queue {
    struct pd_queue_entry *ring;
    size_t size; /* of the ring, a power of two, or 0 */
    uint64_t head, tail;
    uint64_t last_time;               /* of the entry pushed last */
    PD_VEC(struct pd_queue_run) runs; /* in order of arrival: a tie goes to the earlier run */
    PD_VEC(struct pd_queue_head) heap;
    uint64_t next_flush, max_timestamp, last_flush;
    uint64_t limit; /* of the flush under way */
    bool final;
    bool elsewhere; /* its owner keeps more of its entries: it is not empty */
    /* Entries that nobody wants leave nothing but their times, and rounds go as if they were here:
     * which entries are late and when a flush lets them out does not depend on what is wanted. */
    bool ghosts;         /* some of them would still wait */
    bool had_left;       /* entries, wanted or not, stayed after the last flush */
    bool lets_out;       /* the flush under way has delivered an entry */
    uint64_t ghost_time; /* of the youngest since then that the next flush would let out; 0: none */
};

void pd_queue_free(struct pd_queue *queue);

PD_INLINE bool pd_queue_empty(const struct pd_queue *queue)
{
    return queue->runs.count == 0 && !queue->elsewhere && !queue->ghosts;
}

/* Whether an entry of this time would come after younger ones have been delivered. */
PD_INLINE bool pd_queue_is_late(const struct pd_queue *queue, uint64_t time)
{
    return time < queue->last_flush;
}

/* Begins what FINISHED_ROUND (or the end: `final`) asks for; then pop until NULL. False: no
 * memory. */
bool pd_queue_flush(struct pd_queue *queue, bool final);
/* The end of a flush whose entries the owner kept elsewhere; `left`: it keeps some still. */
void pd_queue_end_merge(struct pd_queue *queue, bool left);

/* ---- what each record goes through: in the header, since calls would be felt ---------------- */

PD_INLINE struct pd_queue_entry *pd_queue_at(const struct pd_queue *queue, uint64_t position)
{
    return &queue->ring[position & (queue->size - 1)];
}

/* Makes the ring larger; false: no memory. */
bool pd_queue_grow(struct pd_queue *queue);

/* A place for an entry of `time`, which the caller fills (but for the time); NULL: no memory. Not
 * during a flush. */
PD_INLINE struct pd_queue_entry *pd_queue_push(struct pd_queue *queue, uint64_t time)
{
    if (PD_UNLIKELY(queue->tail - queue->head >= queue->size) && !pd_queue_grow(queue))
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
    struct pd_queue_entry *entry = pd_queue_at(queue, queue->tail++);
    entry->time = time;
    return entry;
}

/* An entry of `time` that nobody wants. Not during a flush. */
PD_INLINE void pd_queue_push_ghost(struct pd_queue *queue, uint64_t time)
{
    if (pd_queue_empty(queue) || time >= queue->max_timestamp)
        queue->max_timestamp = time;
    queue->ghosts = true;
    if (time <= queue->next_flush && time > queue->ghost_time)
        queue->ghost_time = time;
}

/* Heaps of runs, for others that merge as the queue does: the least first, equal times by run. */
PD_INLINE bool pd_queue_before(const struct pd_queue_head *a, const struct pd_queue_head *b)
{
    return a->time < b->time || (a->time == b->time && a->run < b->run);
}

/* Puts `value` where it belongs, from place `i` downwards. */
PD_INLINE void pd_queue_sift(struct pd_queue_head *heap, size_t count, size_t i,
                             struct pd_queue_head value)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= count)
            break;
        child += child + 1 < count && pd_queue_before(&heap[child + 1], &heap[child]);
        if (!pd_queue_before(&heap[child], &value))
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = value;
}

/* Drops the runs that were delivered as a whole. */
void pd_queue_finish(struct pd_queue *queue);

/* The next entry of the flush under way, valid until the next push; NULL: the flush is over. */
PD_INLINE const struct pd_queue_entry *pd_queue_pop(struct pd_queue *queue)
{
    enum { AHEAD = 6 };
    struct pd_queue_head *heap = queue->heap.data;
    size_t count = queue->heap.count;
    if (PD_UNLIKELY(!count)) {
        pd_queue_finish(queue);
        return NULL;
    }
    struct pd_queue_head top = heap[0];
    struct pd_queue_run *run = &queue->runs.data[top.run];
    const struct pd_queue_entry *entry = pd_queue_at(queue, run->begin++);
    queue->last_flush = entry->time;
    if (run->begin != run->end) {
        top.time = pd_queue_at(queue, run->begin)->time;
        /* The records lie where the walk has left them, two rounds ago. */
        __builtin_prefetch(pd_queue_at(queue, run->begin + AHEAD)->data);
    }
    if (run->begin == run->end || top.time > queue->limit) {
        queue->heap.count = --count;
        if (!count)
            return entry;
        top = heap[count];
    }
    pd_queue_sift(heap, count, 0, top);
    return entry;
}

#endif
