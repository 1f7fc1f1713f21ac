/* SPDX-License-Identifier: MIT */
/* Records in file order -> records in delivery order, with their numbers. */
#include "order/order.h"
#include "container/walk.h"
#include "format/offsets.h"
#include "order/queue.h"
#include "order/spill.h"

#define NONE UINT32_MAX
#define DEFAULT_ROOM (UINT64_C(64) << 20)

/* A chunk that queued records lie in: one reference for all of them, so that counting needs no
 * atomics. */
struct held {
    struct pd_chunk *chunk;
    uint32_t queued;
    uint32_t next_free;
    uint32_t part;
};

struct pd_order {
    struct pd_recording *recording;
    struct pd_walk *walk;
    bool sorted; /* delivery order asked for, and possible */
    bool draining, ended;
    bool rounds;            /* FINISHED_ROUND lets records out */
    bool round;             /* the record delivered last was a FINISHED_ROUND that does */
    perfdata_status status; /* of the end */
    uint64_t number;
    struct pd_queue queue;
    PD_VEC(struct held) held;
    uint32_t free_held;
    uint32_t current; /* held slot of the walk's chunk, NONE until one of its records was queued */
    uint32_t to_release; /* slot whose last record is out: given back at the next call */
    struct pd_chunk *walk_chunk;
    uint64_t waiting, room; /* bytes of queued records, and how many there may be */
    struct pd_spill *spill; /* NULL: all are in memory */
    bool merging;           /* the flush under way is of spilled records */
    bool no_spill;          /* there is no place for them */
    const uint8_t *payload; /* behind the record delivered last */
    const bool *unheard;    /* by the event's index: its samples are passed over */
    size_t unheard_count;
    struct pd_order_stats stats;
};

perfdata_status pd_order_open(struct pd_recording *recording, enum pd_order_mode mode,
                              struct pd_order **out)
{
    struct pd_order *order = calloc(1, sizeof *order);
    if (!order)
        return pd_no_memory(&recording->context, "ordering");
    order->recording = recording;
    order->current = order->to_release = order->free_held = NONE;
    order->room = recording->context.limits.memory ? recording->context.limits.memory
                                                   : DEFAULT_ROOM;
    order->room /= 2; /* the queue has room for twice as much when it has grown */
    /* perf falls back to file order when the first event of a file has no times in its other
     * records. */
    order->sorted = mode != PD_ORDER_FILE;
    order->rounds = mode != PD_ORDER_TIME;
    if (recording->kind == PD_CONTAINER_FILE && recording->event_count &&
        !pd_attr_flag(&recording->events[0]->attr, PD_ATTR_SAMPLE_ID_ALL))
        order->sorted = false;
    for (size_t i = 0; i < recording->event_count; i++)
        order->stats.late_is_usual |= pd_attr_flag(&recording->events[i]->attr,
                                                   PD_ATTR_WRITE_BACKWARD);
    perfdata_status status = pd_walk_open(recording, &order->walk);
    if (status < 0) {
        free(order);
        return status;
    }
    if (recording->kind == PD_CONTAINER_PIPE) /* nobody can go back for them */
        pd_walk_set(order->walk, PD_WALK_PAYLOADS);
    *out = order;
    return 0;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static void drop_held(struct pd_order *order, uint32_t slot)
{
    struct held *held = &order->held.data[slot];
    pd_chunk_release(held->chunk);
    held->chunk = NULL;
    held->next_free = order->free_held;
    order->free_held = slot;
}

/* Follows the walk to another chunk. */
static void change_chunk(struct pd_order *order, struct pd_chunk *chunk)
{
    if (order->current != NONE && !order->held.data[order->current].queued)
        drop_held(order, order->current);
    order->current = NONE;
    order->walk_chunk = chunk;
}

static bool hold_current(struct pd_order *order)
{
    uint32_t slot = order->free_held;
    if (slot != NONE) {
        order->free_held = order->held.data[slot].next_free;
    } else {
        slot = (uint32_t)order->held.count;
        if (slot == NONE || !pd_vec_push(&order->held, (struct held){ 0 }))
            return false;
    }
    pd_chunk_hold(order->walk_chunk);
    order->held.data[slot] = (struct held){ order->walk_chunk, 0, NONE, 0 };
    order->current = slot;
    return true;
}

void pd_order_close(struct pd_order *order)
{
    if (!order)
        return;
    for (size_t i = 0; i < order->held.count; i++)
        if (order->held.data[i].chunk)
            pd_chunk_release(order->held.data[i].chunk);
    pd_vec_free(&order->held);
    pd_queue_free(&order->queue);
    pd_spill_free(order->spill);
    pd_walk_close(order->walk);
    free(order);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Not inlined: what is hot is the queue, and copying here would join fields that the walk has just
 * stored singly. */
static PD_NOINLINE int deliver_raw(struct pd_order *order, const struct pd_raw *raw, uint64_t time,
                                   struct pd_delivered *out)
{
    order->payload = raw->payload;
    *out = (struct pd_delivered){
        .data = raw->data,
        .size = raw->size,
        .type = raw->type,
        .misc = raw->misc,
        .offset = raw->offset,
        .time = time,
        .number = ++order->number,
        .event = raw->event,
        .chunk = raw->chunk,
        .part = raw->part,
    };
    return 1;
}

PD_INLINE int deliver_queued(struct pd_order *order, const struct pd_queue_entry *entry,
                             struct pd_delivered *out)
{
    struct held *held = &order->held.data[entry->held];
    order->waiting -= entry->size + sizeof *entry;
    out->data = entry->data;
    out->size = entry->size;
    out->type = entry->type;
    out->misc = entry->misc;
    out->has_period = 0;
    out->counts_for = 0;
    out->is_made = 0;
    out->offset = entry->offset;
    out->part = held->part;
    out->time = entry->time;
    out->number = ++order->number;
    out->event = order->recording->events[entry->event];
    out->chunk = held->chunk;
    out->thread = NULL;
    out->vcpu = 0;
    out->period = 0;
    out->facts = NULL;
    if (!--held->queued && entry->held != order->current)
        order->to_release = entry->held;
    return 1;
}

static perfdata_status note_late(struct pd_order *order, const struct pd_raw *raw)
{
    order->stats.late++;
    if (order->stats.late_is_usual)
        return 0;
    return pd_issue(&order->recording->context, PERFDATA_ISSUE_OUT_OF_ORDER, (int64_t)raw->offset,
                    "record older than what has been delivered");
}

/* ---- more than memory has room for ---- */

/* The whole queue becomes a piece of the spill. */
static perfdata_status spill_queue(struct pd_order *order)
{
    uint64_t last_flush = order->queue.last_flush;
    const struct pd_queue_entry *entry;
    if (!pd_queue_flush(&order->queue, true))
        return pd_no_memory(&order->recording->context, "queued records");
    pd_spill_begin(order->spill);
    while ((entry = pd_queue_pop(&order->queue)) != NULL) {
        struct held *held = &order->held.data[entry->held];
        pd_spill_put(order->spill, entry, held->part);
        order->waiting -= entry->size + sizeof *entry;
        if (!--held->queued && entry->held != order->current)
            drop_held(order, entry->held);
    }
    order->queue.last_flush = last_flush;
    if (!pd_spill_end(order->spill))
        return pd_fail(&order->recording->context, PERFDATA_ERROR_IO, -1,
                       "no room in the folder of temporary files for records that wait");
    order->queue.elsewhere = true;
    return 0;
}

/* When too many bytes wait, moves them to a file, if one can be had. */
static PD_NOINLINE perfdata_status make_room(struct pd_order *order)
{
    if (order->no_spill)
        return 0;
    if (!order->spill) {
        order->spill = pd_spill_new();
        order->no_spill = !order->spill;
    }
    if (order->no_spill)
        return pd_issue(&order->recording->context, PERFDATA_ISSUE_LIMIT, -1,
                        "no temporary file: more than %llu bytes of records wait in memory",
                        (unsigned long long)order->room);
    return spill_queue(order);
}

/* The next record of the merge under way, 0: it is over. */
static int deliver_spilled(struct pd_order *order, struct pd_delivered *out)
{
    struct pd_queue_entry entry;
    struct pd_chunk *chunk;
    uint32_t part;
    int got = pd_spill_next(order->spill, order->queue.limit, &entry, &part, &chunk);
    if (got < 0)
        return pd_fail(&order->recording->context, got, -1,
                       "a temporary file cannot be read any more");
    if (!got) {
        pd_queue_end_merge(&order->queue, pd_spill_left(order->spill) != 0);
        order->merging = false;
        return 0;
    }
    order->queue.last_flush = entry.time;
    order->queue.lets_out = true;
    *out = (struct pd_delivered){
        .data = entry.data,
        .size = entry.size,
        .type = entry.type,
        .misc = entry.misc,
        .offset = entry.offset,
        .time = entry.time,
        .number = ++order->number,
        .event = order->recording->events[entry.event],
        .chunk = chunk,
        .part = part,
    };
    return 1;
}

static perfdata_status begin_merge(struct pd_order *order, bool final)
{
    perfdata_status status = order->queue.runs.count ? spill_queue(order) : 0;
    order->queue.final = final;
    order->queue.lets_out = false;
    order->queue.limit = final ? UINT64_MAX : order->queue.next_flush;
    order->merging = true;
    return status;
}

PD_INLINE bool is_unheard(const struct pd_order *order, const struct pd_raw *raw)
{
    return raw->event && raw->event->index < order->unheard_count &&
           order->unheard[raw->event->index];
}

/* A sample that nobody hears: it counts, and acts on the rounds, like others. */
static perfdata_status pass_over(struct pd_order *order, const struct pd_raw *raw)
{
    uint64_t time = pd_record_time(&raw->event->plan, raw->data, raw->size, raw->type);
    perfdata_status status = PERFDATA_OK;
    order->stats.without_time += time == PD_NO_TIME;
    if (time == PD_NO_TIME || !order->sorted)
        return PERFDATA_OK;
    if (PD_UNLIKELY(pd_queue_is_late(&order->queue, time)))
        status = note_late(order, raw);
    pd_queue_push_ghost(&order->queue, time);
    return status;
}

static perfdata_status enqueue(struct pd_order *order, const struct pd_raw *raw, uint64_t time)
{
    if (PD_UNLIKELY(pd_queue_is_late(&order->queue, time))) {
        perfdata_status status = note_late(order, raw);
        if (status < 0)
            return status;
    }
    order->waiting += raw->size + sizeof(struct pd_queue_entry);
    if (PD_UNLIKELY(order->waiting > order->room && order->queue.runs.count)) {
        perfdata_status status = make_room(order);
        if (status < 0)
            return status;
    }
    if (PD_UNLIKELY(order->current == NONE) && !hold_current(order))
        return pd_no_memory(&order->recording->context, "queued records");
    struct pd_queue_entry *entry = pd_queue_push(&order->queue, time);
    if (!entry)
        return pd_no_memory(&order->recording->context, "queued records");
    entry->data = raw->data;
    entry->offset = raw->offset;
    entry->event = raw->event->index;
    entry->held = order->current;
    entry->type = raw->type;
    entry->size = (uint16_t)raw->size;
    entry->misc = raw->misc;
    order->held.data[order->current].part = raw->part;
    order->held.data[order->current].queued++;
    return 0;
}

static perfdata_status begin_flush(struct pd_order *order, bool final)
{
    order->round = false;
    if (pd_queue_empty(&order->queue))
        return 0;
    if (PD_UNLIKELY(order->queue.elsewhere))
        return begin_merge(order, final);
    if (!pd_queue_flush(&order->queue, final))
        return pd_no_memory(&order->recording->context, "queued records");
    order->draining = true;
    return 0;
}

static void count_aux(struct pd_order_stats *stats, const struct pd_raw *raw, bool swap)
{
    enum { FLAGS = 24 };
    uint64_t flags = raw->size >= FLAGS + 8 ? pd_load64(raw->data + FLAGS, swap) : 0;
    stats->aux++;
    stats->aux_truncated += !!(flags & PD_AUX_TRUNCATED);
    stats->aux_partial += !!(flags & PD_AUX_PARTIAL);
    stats->aux_collision += !!(flags & PD_AUX_COLLISION);
}

/* Counts a record that is no sample in the statistics. */
static PD_NOINLINE void count_other(struct pd_order *order, const struct pd_raw *raw)
{
    struct pd_order_stats *stats = &order->stats;
    bool swap = order->recording->swap;
    switch (raw->type) {
    case PD_RECORD_LOST: stats->lost++; break;
    case PD_RECORD_LOST_SAMPLES:
        if (raw->size >= sizeof(struct pd_at_lost_samples))
            stats->lost_samples += pd_load64(raw->data + PD_AT(lost_samples, lost), swap);
        break;
    case PD_RECORD_THREAD_MAP: stats->thread_maps++; break;
    case PD_RECORD_CPU_MAP: stats->cpu_maps++; break;
    case PD_RECORD_AUX: count_aux(stats, raw, swap); break;
    case PD_RECORD_MMAP2:
        stats->maps_timed_out += !!(raw->misc & PD_MISC_PROC_MAP_PARSE_TIMEOUT);
        break;
    default: stats->unknown_records += raw->type < 64 && !pd_record_type_name(raw->type);
    }
}

/* ---- samples in a row ---- */

/* What they change in the order, and what they are tested for, out of its memory meanwhile. */
struct row {
    struct pdc_row walk;
    struct pd_queue_run *run; /* that ends at `tail`; NULL: none does */
    uint64_t tail, full;      /* where the next one goes, and where there is no more room */
    uint64_t last_time, max_timestamp, ghost_time, waiting;
    size_t unheard_count;
};

PD_INLINE void begin_run(const struct pd_queue *queue, struct row *row)
{
    const size_t runs = queue->runs.count;
    row->run = runs ? &queue->runs.data[runs - 1] : NULL;
    if (row->run && row->run->end != row->tail)
        row->run = NULL;
}

/* Begins another run: the sample is older than the one before. False: no memory. */
static PD_NOINLINE bool change_run(struct pd_queue *queue, struct row *row)
{
    if (row->run)
        row->run->end = row->tail;
    row->run = NULL;
    if (!pd_vec_push(&queue->runs, (struct pd_queue_run){ row->tail, row->tail }))
        return false;
    row->run = &queue->runs.data[queue->runs.count - 1];
    return true;
}

PD_INLINE void pass_over_in_row(struct pd_queue *queue, struct row *row, uint64_t time)
{
    queue->ghosts = true;
    row->max_timestamp = PD_MAX(row->max_timestamp, time);
    if (time <= queue->next_flush)
        row->ghost_time = PD_MAX(row->ghost_time, time);
}

/* Takes the sample at the row's place. False: it is not common in every way. */
PD_INLINE bool take_in_row(struct pd_order *order, struct row *row)
{
    struct pd_queue *queue = &order->queue;
    uint32_t size;
    uint16_t misc;
    const struct pd_event *event = pdc_row_look(order->walk, &row->walk, &size, &misc);
    if (PD_UNLIKELY(!event))
        return false;
    const uint64_t time = pd_record_time(&event->plan, row->walk.next, size, PD_RECORD_SAMPLE);
    if (PD_UNLIKELY(time == PD_NO_TIME || pd_queue_is_late(queue, time)))
        return false;
    if (event->index < row->unheard_count && order->unheard[event->index]) {
        pass_over_in_row(queue, row, time);
        pdc_row_take(&row->walk, size);
        return true;
    }
    const uint64_t waiting = row->waiting + size + sizeof(struct pd_queue_entry);
    if (PD_UNLIKELY(row->tail == row->full || waiting > order->room))
        return false;
    if (PD_UNLIKELY(!row->run || time < row->last_time) && !change_run(queue, row))
        return false;
    *pd_queue_at(queue, row->tail++) = (struct pd_queue_entry){ .time = time,
                                                                .data = row->walk.next,
                                                                .offset = row->walk.offset,
                                                                .event = event->index,
                                                                .held = order->current,
                                                                .type = PD_RECORD_SAMPLE,
                                                                .size = (uint16_t)size,
                                                                .misc = misc };
    row->last_time = time;
    row->max_timestamp = PD_MAX(row->max_timestamp, time);
    row->waiting = waiting;
    pdc_row_take(&row->walk, size);
    return true;
}

/* Takes all samples that are common and follow each other in a chunk that is known: what they are
 * tested for and what becomes of them is as in read_on(), with much less to do for each. */
static PD_NOINLINE void read_row(struct pd_order *order)
{
    struct pd_queue *queue = &order->queue;
    struct row row;
    if (!order->sorted || pd_queue_empty(queue) || order->walk->chunk != order->walk_chunk ||
        !pdc_row_begin(order->walk, &row.walk))
        return;
    const uint64_t left = row.walk.left;
    row.tail = queue->tail;
    row.full = order->current != NONE ? queue->head + queue->size : row.tail;
    row.last_time = queue->last_time;
    row.max_timestamp = queue->max_timestamp;
    row.ghost_time = queue->ghost_time;
    row.waiting = order->waiting;
    row.unheard_count = order->unheard ? order->unheard_count : 0;
    begin_run(queue, &row);
    while (take_in_row(order, &row))
        ;
    const uint64_t taken = left - row.walk.left;
    pdc_row_end(order->walk, &row.walk);
    if (row.run)
        row.run->end = row.tail;
    if (order->current != NONE)
        order->held.data[order->current].queued += (uint32_t)(row.tail - queue->tail);
    queue->tail = row.tail;
    queue->last_time = row.last_time;
    queue->max_timestamp = row.max_timestamp;
    queue->ghost_time = row.ghost_time;
    order->waiting = row.waiting;
    order->stats.records += taken;
    order->stats.samples += taken;
}

/* A failure: what was read before is still delivered. */
static int stop_reading(struct pd_order *order, perfdata_status status)
{
    order->ended = true;
    order->status = status;
    return begin_flush(order, true);
}

/* Reads on until a record can be delivered at once (1), or a flush or the end is due (0). */
static PD_NOINLINE int read_on(struct pd_order *order, struct pd_delivered *out)
{
    struct pd_raw raw;
    for (;;) {
        read_row(order);
        int got = pdc_walk_next(order->walk, &raw);
        if (PD_UNLIKELY(got <= 0))
            return stop_reading(order, got);
        order->stats.records++;
        if (PD_LIKELY(raw.type == PD_RECORD_SAMPLE))
            order->stats.samples++;
        else
            count_other(order, &raw);
        if (PD_UNLIKELY(raw.chunk != order->walk_chunk))
            change_chunk(order, raw.chunk);
        if (order->unheard && raw.type == PD_RECORD_SAMPLE && is_unheard(order, &raw)) {
            perfdata_status status = pass_over(order, &raw);
            if (PD_UNLIKELY(status < 0))
                return stop_reading(order, status);
            continue;
        }
        if (PD_UNLIKELY(raw.type >= 64 || !raw.event)) {
            bool round = raw.type == PD_RECORD_FINISHED_ROUND;
            order->round = round && order->rounds;
            order->stats.rounds += round;
            return deliver_raw(order, &raw, PD_NO_TIME, out);
        }
        uint64_t time = pd_record_time(&raw.event->plan, raw.data, raw.size, raw.type);
        if (time == PD_NO_TIME || !order->sorted) {
            order->stats.without_time += time == PD_NO_TIME;
            return deliver_raw(order, &raw, time, out);
        }
        perfdata_status status = enqueue(order, &raw, time);
        if (PD_UNLIKELY(status < 0))
            return stop_reading(order, status);
    }
}

/* pd_order_next() */
static PD_NOINLINE int next_of_any(struct pd_order *order, struct pd_delivered *out)
{
    if (PD_UNLIKELY(order->to_release != NONE)) {
        drop_held(order, order->to_release);
        order->to_release = NONE;
    }
    for (;;) {
        if (PD_LIKELY(order->draining)) {
            const struct pd_queue_entry *entry = pd_queue_pop(&order->queue);
            if (PD_LIKELY(entry != NULL))
                return deliver_queued(order, entry, out);
            order->draining = false;
        }
        if (PD_UNLIKELY(order->merging)) {
            int got = deliver_spilled(order, out);
            if (got)
                return got;
        }
        if (order->ended)
            return order->status;
        int got = order->round ? begin_flush(order, false) : read_on(order, out);
        if (got)
            return got;
    }
}

int pd_order_next(struct pd_order *order, struct pd_delivered *out)
{
    /* most records, without a call */
    if (PD_LIKELY(order->draining && order->queue.heap.count && order->to_release == NONE))
        return deliver_queued(order, pd_queue_pop(&order->queue), out);
    return next_of_any(order, out);
}

void pd_order_pass_over(struct pd_order *order, const bool *unheard, size_t count)
{
    order->unheard = unheard;
    order->unheard_count = count;
}

const uint8_t *pd_order_payload(const struct pd_order *order)
{
    return order->payload;
}

const struct pd_order_stats *pd_order_statistics(const struct pd_order *order)
{
    return &order->stats;
}

void pd_order_read_ahead(struct pd_order *order, struct pd_ahead *ahead)
{
    pd_walk_read_ahead(order->walk, ahead);
}

uint64_t pd_order_position(const struct pd_order *order)
{
    return pd_walk_position(order->walk);
}
