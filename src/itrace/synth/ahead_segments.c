/* SPDX-License-Identifier: MIT */
/* The buffer of a queue -> segments that other threads decode ahead; the queue goes over each that
 * was right. */
#include "itrace/synth/ahead_segments.h"
#include "itrace/synth/ahead_worker.h"
#include "resolve/guests.h"

enum {
    LEAST_PART = 32 << 10, /* bytes of a part */
    MOST_PART = 128 << 10,
    LEAST_TAPED = 16 << 10, /* the same of parts with tapes, */
    MOST_TAPED = 64 << 10,
    BRANCHES = 32 << 10, /* of which one has about so many */
    WARM_UP = 512,       /* before the first ones: the PSB before it, mostly */
    MOST_WARM_UP = 16 << 10,
    TRIES = 16 /* that may fail before it is seen that it is in vain */
};

/* ---- a queue's parts ---- */

static struct pd_part_fetch *fetch_of(struct pd_synth_pool *pool,
                                      const struct pd_synth_parts *parts)
{
    for (unsigned i = 0; i < PD_LENGTH(pool->fetches); i++)
        if (pool->fetches[i].parts == parts)
            return &pool->fetches[i];
    return NULL;
}

/* With the lock: the buffer behind this one is to be read. */
static void ask_for_next(struct pd_synth_parts *parts)
{
    struct pd_part_fetch *fetch = fetch_of(parts->pool, NULL);
    if (!fetch || !pd_aux_reader_plan(parts->queue->reader, &fetch->fetch))
        return;
    fetch->parts = parts;
    fetch->how = PART_FREE;
}

/* With the lock: nobody reads it any more. NULL: it has not been read. */
static struct pd_aux_fetch *end_fetch(const struct pd_synth_parts *parts)
{
    struct pd_synth_pool *pool = parts->pool;
    struct pd_part_fetch *fetch = fetch_of(pool, parts);
    if (!fetch)
        return NULL;
    while (fetch->how == PART_RUNNING)
        pthread_cond_wait(&pool->done, &pool->lock);
    fetch->parts = NULL;
    return fetch->how == PART_DONE ? &fetch->fetch : NULL;
}

void pd_synth_parts_next(struct pd_synth_queue *queue)
{
    struct pd_synth_parts *parts = queue->ahead.parts;
    if (!parts)
        return;
    pthread_mutex_lock(&parts->pool->lock);
    struct pd_aux_fetch *fetch = end_fetch(parts);
    pthread_mutex_unlock(&parts->pool->lock);
    pd_synth_parts_drop(queue);
    if (fetch) /* nobody reads the buffer before any more */
        pd_aux_reader_take(queue->reader, fetch);
}

void pd_synth_parts_drop(struct pd_synth_queue *queue)
{
    struct pd_synth_parts *parts = queue->ahead.parts;
    if (!parts)
        return;
    pthread_mutex_lock(&parts->pool->lock);
    end_fetch(parts);
    parts->claim = parts->list.count;
    atomic_store_explicit(&parts->dropped, true, memory_order_relaxed);
    while (parts->running)
        pthread_cond_wait(&parts->pool->done, &parts->pool->lock);
    for (size_t i = 0; i < parts->list.count; i++)
        pd_synth_free_part(parts->pool, &parts->list.data[i]);
    pd_synth_free_part(parts->pool, &parts->over);
    parts->list.count = 0;
    parts->next = parts->claim = 0;
    pd_synth_pool_set_waits(parts->pool);
    atomic_store_explicit(&parts->dropped, false, memory_order_relaxed);
    pthread_mutex_unlock(&parts->pool->lock);
    parts->here = parts->ahead = parts->tried = queue->ahead.waits = false;
    queue->ahead.tape = NULL;
    parts->number = UINT64_MAX;
    if (!parts->gain.vain)
        pd_pt_watch(queue->decoder, PD_PT_PSB_EVENT, 0);
    else
        pd_pt_watch(queue->decoder, 0, 0);
}

static size_t least_of(const struct pd_synth_pool *pool)
{
    return pool->tapes ? LEAST_TAPED : LEAST_PART;
}

/* Smaller towards the end, so that nobody waits long for who has the last one. */
static size_t size_of_next(const struct pd_synth_parts *parts, size_t left)
{
    size_t fair = left / (4 * pd_synth_pool_threads(parts->pool));
    return PD_MIN(parts->part_size, PD_MAX(fair, least_of(parts->pool)));
}

/* Where the parts begin: at PSBs about a part's size from each other, and the last one. */
static bool cut(struct pd_synth_parts *parts, const uint8_t *data, size_t size, uint64_t position)
{
    size_t at = 0, end, step;
    while (size - at > (step = size_of_next(parts, size - at)) &&
           (end = pd_pt_find_psb(data, size, at + step)) < size) {
        struct pd_part part = { .begin = position + at, .end = position + end, .size = end - at };
        if (!pd_vec_push(&parts->list, part))
            return false;
        at = end;
    }
    size_t last = at;
    for (end = at; (end = pd_pt_find_psb(data, size, end + 16)) < size;)
        last = end;
    struct pd_part part = { .begin = position + at, .end = position + last, .size = last - at };
    return last == at || pd_vec_push(&parts->list, part);
}

static size_t size_of_tape(const struct pd_synth_parts *parts)
{
    if (!parts->taped_branches)
        return MOST_TAPED / 2;
    uint64_t size = parts->taped_bytes * BRANCHES / parts->taped_branches;
    return (size_t)PD_MIN(size, (uint64_t)MOST_TAPED);
}

/* The more often something is told, the less of a part lies before it. */
static void set_size(struct pd_synth_parts *parts, size_t left)
{
    size_t most = PD_MIN(left / (8 * pd_synth_pool_threads(parts->pool)), (size_t)MOST_PART);
    size_t size = parts->part_size;
    if (!parts->queue->synth->plan.mask)
        size = most;
    else if (parts->pool->tapes)
        size = size_of_tape(parts);
    else if (parts->gain.done_bytes >= parts->gain.tried_bytes / 8 * 7)
        size *= 2;
    else if (parts->gain.done_bytes < parts->gain.tried_bytes / 4 * 3)
        size /= 2;
    parts->part_size = PD_MAX(PD_MIN(size, most), least_of(parts->pool));
    parts->gain.tried_bytes = parts->gain.done_bytes = 0;
}

/* From the PSB where the queue is the buffer is cut, and its parts are there to be walked. */
static void cut_buffer(struct pd_synth_queue *queue, uint64_t begin)
{
    struct pd_synth_parts *parts = queue->ahead.parts;
    struct pd_pt_rest rest;
    pd_pt_rest(queue->decoder, &rest);
    if (parts->tried || queue->span.to_start || !rest.tracing || !queue->runner.thread ||
        !queue->code.view || queue->switches.sync || begin > rest.position)
        return; /* at the next PSB, perhaps */
    parts->tried = true;
    pd_pt_watch(queue->decoder, 0, 0);
    if (rest.size < 2 * least_of(parts->pool) || !parts->pool->helpers ||
        !pd_pt_mark_take(parts->seed, queue->decoder))
        return;
    pthread_mutex_lock(&parts->pool->lock);
    set_size(parts, rest.size);
    parts->data = rest.data - (rest.position - begin);
    if (!cut(parts, parts->data, rest.size + (size_t)(rest.position - begin), begin))
        parts->list.count = 0;
    parts->thread = queue->runner.thread;
    parts->number = queue->synth->number;
    parts->stamp = pd_synth_stamp_of(queue->code.view);
    parts->next = parts->claim = 1; /* the first one is the queue's own */
    if (parts->list.count < 2)
        parts->next = parts->claim = parts->list.count;
    else
        pd_pt_watch(queue->decoder, PD_PT_PSB_EVENT, parts->list.data[1].begin);
    if (parts->list.count)
        ask_for_next(parts);
    pd_synth_pool_offer(parts->pool);
}

/* To the part that begins at the queue's place or, not `here`, behind it. */
static void set_next(struct pd_synth_parts *parts, size_t next)
{
    pthread_mutex_lock(&parts->pool->lock);
    parts->next = next;
    if (parts->claim < next)
        parts->claim = next;
    pd_synth_pool_offer(parts->pool); /* the window has moved */
    if (next < parts->list.count)
        pd_pt_watch(parts->queue->decoder, PD_PT_PSB_EVENT, parts->list.data[next].begin);
    else
        pd_pt_watch(parts->queue->decoder, 0, 0);
}

void pd_synth_parts_psb(struct pd_synth_queue *queue, uint64_t position)
{
    struct pd_synth_parts *parts = queue->ahead.parts;
    if (!parts->list.count) {
        cut_buffer(queue, position);
        return;
    }
    size_t next = parts->next;
    while (next < parts->list.count && parts->list.data[next].begin < position)
        next++;
    parts->here = next < parts->list.count && parts->list.data[next].begin == position;
    set_next(parts, next);
}

/* ---- going over a part ---- */

/* How the part ended that the queue has come to. Where others are still at it, more is to be done
 * meanwhile. */
static enum pd_part_how await(struct pd_synth_parts *parts, struct pd_part *part)
{
    struct pd_synth_pool *pool = parts->pool;
    pthread_mutex_lock(&pool->lock);
    if (part->how == PART_FREE) {
        part->how = PART_OWN;
        parts->claim = PD_MAX(parts->claim, parts->next + 1);
    }
    while (part->how == PART_RUNNING)
        if (!pd_synth_pool_work(&pool->workers[0]))
            pthread_cond_wait(&pool->done, &pool->lock);
    enum pd_part_how how = part->how;
    pthread_mutex_unlock(&pool->lock);
    return how;
}

/* No code runs from `from` to `to`. */
static bool in_pause(const struct pd_synth_parts *parts, const struct pd_part *part, size_t *at,
                     uint64_t from, uint64_t to)
{
    const struct pd_pt_pauses *pauses = &part->notes->pauses;
    while (*at < pauses->list.count && pauses->list.data[*at].to < to)
        ++*at;
    return *at < pauses->list.count && PD_MAX(pauses->list.data[*at].from, parts->time) < from;
}

static bool sees_code(const struct pd_synth_queue *queue)
{
    if (queue->synth->plan.quick) /* no code is walked */
        return true;
    return pd_synth_has_stamp(queue->code.view, &queue->ahead.parts->stamp);
}

/* The queue's thread may be another one at first, if it does not run before the limit. */
static bool may_begin(const struct pd_synth_queue *queue, const struct pd_part *part,
                      uint64_t limit)
{
    const struct pd_pt_pauses *pauses = &part->notes->pauses;
    const struct pd_pt_pause *first = pauses->list.data;
    return sees_code(queue) ||
           (part->off_at_entry && pauses->list.count && first->to >= limit && !first->from);
}

/* All of it lies in the time range that the queue is in. */
static bool in_range(const struct pd_synth_queue *queue, const struct pd_part *part)
{
    return !queue->span.limit || (!queue->span.to_start && part->latest <= queue->span.limit);
}

static void judge(struct pd_synth_parts *parts, const struct pd_part *part, bool good)
{
    if (!good && part->warm_up < parts->warm_up && !part->is_tail)
        return; /* later ones have been begun earlier */
    parts->gain.tried_bytes += part->size;
    parts->gain.done_bytes += good ? part->end - part->begin : 0;
    parts->gain.hits += good;
    parts->gain.misses += !good;
    if (parts->gain.misses > TRIES + parts->gain.hits)
        parts->gain.vain = true;
}

/* Its decoder was begun too late where it is not. */
static bool is_same(struct pd_synth_parts *parts, const struct pd_part *part)
{
    const bool same = pd_pt_mark_same(parts->own, part->notes->entry);
    const size_t warm_up = part->warm_up;
    if (!same && warm_up && warm_up < MOST_WARM_UP && warm_up == parts->warm_up)
        parts->warm_up = 2 * warm_up;
    return same;
}

/* The part where the queue is has been gone over, or cannot be: its tail comes next, or the next
 * part. */
static void pass_part(struct pd_synth_parts *parts, bool good)
{
    struct pd_part *part = &parts->list.data[parts->next];
    struct pd_part *tail = good || part->empty ? part->tail : NULL;
    const uint64_t end = part->end;
    size_t next = parts->next + 1;
    if (tail)
        part->tail = NULL;
    if (good)
        parts->over = *part; /* the one before has been freed */
    else
        pd_synth_free_part(parts->pool, part);
    *part = (struct pd_part){ 0 };
    if (tail) {
        *part = *tail;
        next--;
    }
    if (!good && parts->gain.vain)
        next = parts->list.count;
    parts->here = good && next < parts->list.count && parts->list.data[next].begin == end;
    set_next(parts, next);
}

/* The queue's decoder, which is where the part begins, goes where it ends. */
static void take_over(struct pd_synth_queue *queue, const struct pd_part *part)
{
    const struct pd_part_notes *notes = part->notes;
    pd_pt_mark_jump(queue->decoder, queue->ahead.parts->own, notes->entry, notes->exit,
                    &notes->cycles);
}

/* ---- on a tape ---- */

static void begin_tape(struct pd_synth_queue *queue)
{
    struct pd_synth_parts *parts = queue->ahead.parts;
    pd_tape_open(&parts->reader, parts->over.tape, &parts->over.notes->cycles, parts->own);
    parts->reader.sees_code = sees_code(queue);
    queue->ahead.tape = &parts->reader;
    parts->here_behind = parts->here;
    parts->here = false;
}

void pd_synth_parts_look(struct pd_synth_queue *queue)
{
    queue->ahead.tape->sees_code = sees_code(queue);
}

static void end_tape(struct pd_synth_queue *queue)
{
    struct pd_synth_parts *parts = queue->ahead.parts;
    struct pd_part *part = &parts->over;
    take_over(queue, part);
    parts->taped_bytes += part->end - part->begin;
    parts->taped_branches += part->tape->branches.count;
    queue->ahead.tape = NULL;
    parts->here = parts->here_behind;
    pd_synth_free_part(parts->pool, part);
    pthread_mutex_lock(&parts->pool->lock);
    pd_synth_pool_offer(parts->pool); /* there is a tape again */
}

/* By the code that the workers saw. */
static void show_walked(struct pd_synth_queue *queue)
{
    const struct pd_synth_parts *parts = queue->ahead.parts;
    struct pd_code_view *view = pd_code_view(queue->synth->code_reader, parts->thread,
                                             parts->number, PD_CODE_HOST);
    pd_pt_set_code(queue->decoder, view, NULL);
}

/* The queue's decoder goes where the tape is, by the code that the worker saw. */
static void leave_tape(struct pd_synth_queue *queue)
{
    enum { MOST = 32 };
    struct pd_synth_parts *parts = queue->ahead.parts;
    struct pd_pt_branch branches[MOST];
    show_walked(queue);
    pd_pt_watch(queue->decoder, PD_PT_ALL_STEPS, 0);
    for (uint64_t left = pd_tape_told(&parts->reader); left;) {
        if (!pd_pt_decode(queue->decoder, UINT64_MAX))
            break;
        left--;
        size_t most = (size_t)PD_MIN(left, (uint64_t)MOST), count = most;
        while (most && count == most) {
            count = pd_pt_branches(queue->decoder, most, branches, most);
            left -= count;
            most = (size_t)PD_MIN(left, (uint64_t)MOST);
        }
    }
    queue->ahead.tape = NULL;
    set_next(parts, parts->next);
    pd_synth_show_code(queue);
    pd_synth_free_part(parts->pool, &parts->over);
}

const struct pd_pt_state *pd_synth_parts_step(struct pd_synth_queue *queue)
{
    struct pd_tape_reader *reader = queue->ahead.tape;
    const struct pd_pt_state *state = pd_tape_next(reader);
    if (!state)
        leave_tape(queue);
    else if (pd_tape_is_at_end(reader))
        end_tape(queue);
    return state;
}

bool pd_synth_parts_jump(struct pd_synth_queue *queue)
{
    struct pd_synth_parts *parts = queue->ahead.parts;
    if (PD_LIKELY(!parts->here))
        return false;
    const uint64_t limit = queue->synth->scheduler.limit;
    struct pd_part *part = &parts->list.data[parts->next];
    parts->pool->pokes = queue->code.view ? queue->code.view->pokes : 0;
    enum pd_part_how how = await(parts, part);
    bool good = how == PART_DONE && !part->empty && (part->tape || may_begin(queue, part, limit)) &&
                in_range(queue, part) && !queue->switches.sync &&
                pd_pt_mark_take(parts->own, queue->decoder) && is_same(parts, part);
    if (how != PART_OWN && !part->empty)
        judge(parts, part, good);
    pass_part(parts, good);
    if (!good)
        return false;
    part = &parts->over;
    if (part->tape) {
        begin_tape(queue);
        return true;
    }
    parts->time = queue->time;
    take_over(queue, part);
    queue->time = part->clock.set ? part->clock.time : PD_MAX(queue->time, part->clock.time);
    queue->step.pending = false;
    parts->ahead = queue->time >= limit && !queue->synth->plan.timeless;
    parts->checked = limit;
    parts->pause = 0;
    if (!parts->ahead)
        pd_synth_free_part(parts->pool, part);
    return true;
}

/* ---- ahead ---- */

/* To where the last run would have ended. */
static void go_back(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    struct pd_synth_parts *parts = queue->ahead.parts;
    parts->here = false;
    show_walked(queue);
    pd_pt_mark_back(queue->decoder, parts->own);
    queue->time = parts->time;
    set_next(parts, parts->next);
    while (queue->time < parts->checked) {
        const struct pd_pt_state *state = pd_pt_decode(queue->decoder, parts->checked);
        if (!state) {
            queue->ended = true;
            break;
        }
        struct pd_synth_clock clock = { .time = queue->time };
        pd_synth_take_step(queue, state);
        queue->step.pending = true;
        pd_synth_set_flags(queue);
        pd_synth_clock_step(&clock, synth, state);
        queue->time = clock.time;
    }
    pd_synth_heap_move(synth, queue->number, queue->time);
}

void pd_synth_parts_check(struct pd_synth *synth, uint64_t limit)
{
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_queue *queue = &synth->queues[i];
        struct pd_synth_parts *parts = queue->ahead.parts;
        if (!parts || !parts->ahead)
            continue;
        pd_synth_set_thread(queue);
        pd_synth_show_code(queue);
        struct pd_part *part = &parts->over;
        bool good = sees_code(queue) || in_pause(parts, part, &parts->pause, parts->checked, limit);
        if (!good)
            go_back(queue);
        else
            parts->checked = limit;
        parts->ahead = good && limit <= queue->time;
        if (!parts->ahead)
            pd_synth_free_part(parts->pool, part);
    }
}

/* ---- life ---- */

static bool tells_branches(const struct pd_synth *synth)
{
    return synth->plan.mask & PD_PT_BRANCH && !synth->options.approximate_ipc;
}

/* Whether only what is rare is told, so that most parts have nothing of it. */
static bool is_worth_it(const struct pd_synth *synth)
{
    enum {
        RARE = PD_PT_INSTRUCTION | PD_PT_TRANSACTION | PD_PT_PTW | PD_PT_BLOCK_ITEMS | PD_PT_EVENT |
               PD_PT_IF_CHANGE
    };
    const bool told = tells_branches(synth);
    return (told || !(synth->plan.mask & ~(uint32_t)RARE)) && !synth->logger &&
           !(synth->plan.quick && synth->plan.mask & PD_PT_INSTRUCTION) && /* each TIP is one */
           synth->plan.quick < 2 && /* PSBs are found as fast as memory is */
           !synth->filters.count && !synth->plan.guest_code &&
           !(synth->guests && synth->guests->wanted) && !synth->aux->modes.sampling &&
           !synth->plan.step_through;
}

/* Samples come so often that no part is without, or all of its steps have to be made in the order
 * of their time over all queues. */
static bool is_vain(const struct pd_synth *synth, const struct pd_synth_queue *queue)
{
    enum { SELDOM = 1 << 16 }; /* ticks, which are some KB of a trace */
    const struct pd_pt_config *config = pd_pt_config_of(queue->decoder);
    if (synth->plan.mask & PD_PT_BRANCH)
        return config->period_type == PD_PT_PERIOD_INSTRUCTIONS;
    if (!(synth->plan.mask & PD_PT_INSTRUCTION))
        return false;
    return config->period_type != PD_PT_PERIOD_TICKS || config->period < SELDOM ||
           (synth->queue_count > 1 && !queue->near_ticks);
}

static struct pd_synth_parts *new_parts(struct pd_synth_pool *pool, struct pd_synth_queue *queue)
{
    struct pd_synth_parts *parts = calloc(1, sizeof *parts);
    if (!parts)
        return NULL;
    parts->pool = pool;
    parts->queue = queue;
    parts->number = UINT64_MAX;
    parts->warm_up = WARM_UP;
    parts->seed = pd_pt_mark_new();
    parts->own = pd_pt_mark_new();
    queue->ahead.parts = parts;
    return parts->seed && parts->own ? parts : NULL;
}

perfdata_status pd_synth_parts_open(struct pd_synth *synth, unsigned threads)
{
    if (threads < 2 || !is_worth_it(synth))
        return PERFDATA_OK;
    struct pd_synth_pool *pool = synth->pool = calloc(1, sizeof *pool);
    if (!pool)
        return PERFDATA_ERROR_MEMORY;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_mutex_init(&pool->free_lock, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->tapes = tells_branches(synth);
    pool->synth = synth;
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_queue *queue = &synth->queues[i];
        if (!queue->decoder || is_vain(synth, queue))
            continue;
        if (!new_parts(pool, queue))
            return PERFDATA_ERROR_MEMORY;
        pd_synth_part_config(pool, queue);
    }
    return PERFDATA_OK;
}

void pd_synth_parts_close(struct pd_synth *synth)
{
    struct pd_synth_pool *pool = synth->pool;
    if (!pool)
        return;
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_parts *parts = synth->queues[i].ahead.parts;
        if (!parts)
            continue;
        pd_synth_parts_drop(&synth->queues[i]);
        pd_vec_free(&parts->list);
        free(parts->seed);
        free(parts->own);
        free(parts);
        synth->queues[i].ahead.parts = NULL;
    }
    for (unsigned i = 0; pool->workers && i <= pool->helpers; i++) {
        pd_pt_decoder_free(pool->workers[i].decoder);
        free(pool->workers[i].spare);
        if (i)
            pd_code_reader_free(pool->workers[i].reader);
    }
    free(pool->workers);
    for (unsigned i = 0; i < PD_LENGTH(pool->fetches); i++)
        free(pool->fetches[i].fetch.bytes.data);
    pd_synth_free_unused(pool);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->free_lock);
    pthread_cond_destroy(&pool->done);
    free(pool);
    synth->pool = NULL;
}

uint64_t pd_synth_parts_need(const struct pd_synth *synth)
{
    uint64_t least = UINT64_MAX;
    if (!synth->pool)
        return least;
    for (size_t i = 0; i < synth->queue_count; i++)
        if (synth->queues[i].ahead.parts)
            least = PD_MIN(least, synth->queues[i].ahead.parts->number);
    return least;
}
