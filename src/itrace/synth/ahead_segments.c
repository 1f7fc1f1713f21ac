/* SPDX-License-Identifier: MIT */
/* The buffer of a queue -> segments that other threads decode ahead; the queue goes over each that
 * was right. */
#include "itrace/synth/ahead_segments.h"
#include "itrace/synth/ahead_worker.h"
#include "resolve/guests.h"

enum {
    LEAST_SEGMENT = 32 << 10, /* bytes of a segment */
    MOST_PART = 128 << 10,
    LEAST_LOGGED = 16 << 10, /* the same of segments with step logs, */
    MOST_LOGGED = 64 << 10,
    BRANCHES = 32 << 10, /* of which one has about so many */
    WARM_UP = 512,       /* before the first ones: mostly the PSB before the segment */
    MOST_WARM_UP = 16 << 10,
    TRIES = 16 /* segments that may fail before the attempt is given up */
};

/* ---- a queue's segments ---- */

static struct pd_segment_fetch *fetch_of(struct pd_synth_pool *pool,
                                         const struct pd_synth_segments *segments)
{
    for (unsigned i = 0; i < PD_LENGTH(pool->fetches); i++)
        if (pool->fetches[i].segments == segments)
            return &pool->fetches[i];
    return NULL;
}

/* With the lock: asks for the buffer behind this one to be read. */
static void ask_for_next(struct pd_synth_segments *segments)
{
    struct pd_segment_fetch *fetch = fetch_of(segments->pool, NULL);
    if (!fetch || !pd_aux_reader_plan(segments->queue->reader, &fetch->fetch))
        return;
    fetch->segments = segments;
    fetch->how = SEGMENT_FREE;
}

/* With the lock: nobody reads the buffer any more. NULL: it has not been read. */
static struct pd_aux_fetch *end_fetch(const struct pd_synth_segments *segments)
{
    struct pd_synth_pool *pool = segments->pool;
    struct pd_segment_fetch *fetch = fetch_of(pool, segments);
    if (!fetch)
        return NULL;
    while (fetch->how == SEGMENT_RUNNING)
        pthread_cond_wait(&pool->done, &pool->lock);
    fetch->segments = NULL;
    return fetch->how == SEGMENT_DONE ? &fetch->fetch : NULL;
}

void pd_synth_segments_next(struct pd_synth_queue *queue)
{
    struct pd_synth_segments *segments = queue->ahead.segments;
    if (!segments)
        return;
    pthread_mutex_lock(&segments->pool->lock);
    struct pd_aux_fetch *fetch = end_fetch(segments);
    pthread_mutex_unlock(&segments->pool->lock);
    pd_synth_segments_drop(queue);
    if (fetch) /* nobody reads the buffer before any more */
        pd_aux_reader_take(queue->reader, fetch);
}

void pd_synth_segments_drop(struct pd_synth_queue *queue)
{
    struct pd_synth_segments *segments = queue->ahead.segments;
    if (!segments)
        return;
    pthread_mutex_lock(&segments->pool->lock);
    end_fetch(segments);
    segments->claim = segments->list.count;
    atomic_store_explicit(&segments->dropped, true, memory_order_relaxed);
    while (segments->running)
        pthread_cond_wait(&segments->pool->done, &segments->pool->lock);
    for (size_t i = 0; i < segments->list.count; i++)
        pd_synth_free_segment(segments->pool, &segments->list.data[i]);
    pd_synth_free_segment(segments->pool, &segments->over);
    segments->list.count = 0;
    segments->next = segments->claim = 0;
    pd_synth_pool_set_waits(segments->pool);
    atomic_store_explicit(&segments->dropped, false, memory_order_relaxed);
    pthread_mutex_unlock(&segments->pool->lock);
    segments->here = segments->ahead = segments->tried = queue->ahead.waits = false;
    queue->ahead.step_log = NULL;
    segments->number = UINT64_MAX;
    if (!segments->gain.vain)
        pd_pt_watch(queue->decoder, PD_PT_PSB_EVENT, 0);
    else
        pd_pt_watch(queue->decoder, 0, 0);
}

static size_t least_of(const struct pd_synth_pool *pool)
{
    return pool->step_logs ? LEAST_LOGGED : LEAST_SEGMENT;
}

/* Sizes get smaller towards the end, so that nobody waits long for whoever has the last segment. */
static size_t size_of_next(const struct pd_synth_segments *segments, size_t left)
{
    size_t fair = left / (4 * pd_synth_pool_threads(segments->pool));
    return PD_MIN(segments->segment_size, PD_MAX(fair, least_of(segments->pool)));
}

/* Where the segments begin: at PSBs about a segment's size from each other, and the last one. */
static bool cut(struct pd_synth_segments *segments, const uint8_t *data, size_t size,
                uint64_t position)
{
    size_t at = 0, end, step;
    while (size - at > (step = size_of_next(segments, size - at)) &&
           (end = pd_pt_find_psb(data, size, at + step)) < size) {
        struct pd_segment segment = { .begin = position + at,
                                      .end = position + end,
                                      .size = end - at };
        if (!pd_vec_push(&segments->list, segment))
            return false;
        at = end;
    }
    size_t last = at;
    for (end = at; (end = pd_pt_find_psb(data, size, end + 16)) < size;)
        last = end;
    struct pd_segment segment = { .begin = position + at,
                                  .end = position + last,
                                  .size = last - at };
    return last == at || pd_vec_push(&segments->list, segment);
}

static size_t size_of_step_log(const struct pd_synth_segments *segments)
{
    if (!segments->logged_branches)
        return MOST_LOGGED / 2;
    uint64_t size = segments->logged_bytes * BRANCHES / segments->logged_branches;
    return (size_t)PD_MIN(size, (uint64_t)MOST_LOGGED);
}

/* The more often something is told, the less of a segment lies before it. */
static void set_size(struct pd_synth_segments *segments, size_t left)
{
    size_t most = PD_MIN(left / (8 * pd_synth_pool_threads(segments->pool)), (size_t)MOST_PART);
    size_t size = segments->segment_size;
    if (!segments->queue->synth->plan.mask)
        size = most;
    else if (segments->pool->step_logs)
        size = size_of_step_log(segments);
    else if (segments->gain.done_bytes >= segments->gain.tried_bytes / 8 * 7)
        size *= 2;
    else if (segments->gain.done_bytes < segments->gain.tried_bytes / 4 * 3)
        size /= 2;
    segments->segment_size = PD_MAX(PD_MIN(size, most), least_of(segments->pool));
    segments->gain.tried_bytes = segments->gain.done_bytes = 0;
}

/* Cuts the buffer from the PSB where the queue is; its segments can then be walked. */
static void cut_buffer(struct pd_synth_queue *queue, uint64_t begin)
{
    struct pd_synth_segments *segments = queue->ahead.segments;
    struct pd_pt_rest rest;
    pd_pt_rest(queue->decoder, &rest);
    if (segments->tried || queue->span.to_start || !rest.tracing || !queue->runner.thread ||
        !queue->code.view || queue->switches.sync || begin > rest.position)
        return; /* at the next PSB, perhaps */
    segments->tried = true;
    pd_pt_watch(queue->decoder, 0, 0);
    if (rest.size < 2 * least_of(segments->pool) || !segments->pool->helpers ||
        !pd_pt_snapshot_take(segments->seed, queue->decoder))
        return;
    pthread_mutex_lock(&segments->pool->lock);
    set_size(segments, rest.size);
    segments->data = rest.data - (rest.position - begin);
    if (!cut(segments, segments->data, rest.size + (size_t)(rest.position - begin), begin))
        segments->list.count = 0;
    segments->thread = queue->runner.thread;
    segments->number = queue->synth->number;
    segments->stamp = pd_synth_stamp_of(queue->code.view);
    segments->next = segments->claim = 1; /* the first one is the queue's own */
    if (segments->list.count < 2)
        segments->next = segments->claim = segments->list.count;
    else
        pd_pt_watch(queue->decoder, PD_PT_PSB_EVENT, segments->list.data[1].begin);
    if (segments->list.count)
        ask_for_next(segments);
    pd_synth_pool_offer(segments->pool);
}

/* Goes to the segment that begins at the queue's place or, not `here`, behind it. */
static void set_next(struct pd_synth_segments *segments, size_t next)
{
    pthread_mutex_lock(&segments->pool->lock);
    segments->next = next;
    if (segments->claim < next)
        segments->claim = next;
    pd_synth_pool_offer(segments->pool); /* the window has moved */
    if (next < segments->list.count)
        pd_pt_watch(segments->queue->decoder, PD_PT_PSB_EVENT, segments->list.data[next].begin);
    else
        pd_pt_watch(segments->queue->decoder, 0, 0);
}

void pd_synth_segments_psb(struct pd_synth_queue *queue, uint64_t position)
{
    struct pd_synth_segments *segments = queue->ahead.segments;
    if (!segments->list.count) {
        cut_buffer(queue, position);
        return;
    }
    size_t next = segments->next;
    while (next < segments->list.count && segments->list.data[next].begin < position)
        next++;
    segments->here = next < segments->list.count && segments->list.data[next].begin == position;
    set_next(segments, next);
}

/* ---- going over a segment ---- */

/* How the segment ended that the queue has come to. While others are still walking it, does other
 * work. */
static enum pd_segment_how await(struct pd_synth_segments *segments, struct pd_segment *segment)
{
    struct pd_synth_pool *pool = segments->pool;
    pthread_mutex_lock(&pool->lock);
    if (segment->how == SEGMENT_FREE) {
        segment->how = SEGMENT_OWN;
        segments->claim = PD_MAX(segments->claim, segments->next + 1);
    }
    while (segment->how == SEGMENT_RUNNING)
        if (!pd_synth_pool_work(&pool->workers[0]))
            pthread_cond_wait(&pool->done, &pool->lock);
    enum pd_segment_how how = segment->how;
    pthread_mutex_unlock(&pool->lock);
    return how;
}

/* Whether no code runs from `from` to `to`. */
static bool in_pause(const struct pd_synth_segments *segments, const struct pd_segment *segment,
                     size_t *at, uint64_t from, uint64_t to)
{
    const struct pd_pt_pauses *pauses = &segment->notes->pauses;
    while (*at < pauses->list.count && pauses->list.data[*at].to < to)
        ++*at;
    return *at < pauses->list.count && PD_MAX(pauses->list.data[*at].from, segments->time) < from;
}

static bool sees_code(const struct pd_synth_queue *queue)
{
    if (queue->synth->plan.quick) /* no code is walked */
        return true;
    return pd_synth_has_stamp(queue->code.view, &queue->ahead.segments->stamp);
}

/* Whether the queue's thread may be another one at first, because it does not run before the
 * limit. */
static bool may_begin(const struct pd_synth_queue *queue, const struct pd_segment *segment,
                      uint64_t limit)
{
    const struct pd_pt_pauses *pauses = &segment->notes->pauses;
    const struct pd_pt_pause *first = pauses->list.data;
    return sees_code(queue) ||
           (segment->off_at_entry && pauses->list.count && first->to >= limit && !first->from);
}

/* Whether all of the segment lies in the time range that the queue is in. */
static bool in_range(const struct pd_synth_queue *queue, const struct pd_segment *segment)
{
    return !queue->span.limit || (!queue->span.to_start && segment->latest <= queue->span.limit);
}

static void judge(struct pd_synth_segments *segments, const struct pd_segment *segment, bool good)
{
    if (!good && segment->warm_up < segments->warm_up && !segment->is_tail)
        return; /* later ones have been begun earlier */
    segments->gain.tried_bytes += segment->size;
    segments->gain.done_bytes += good ? segment->end - segment->begin : 0;
    segments->gain.hits += good;
    segments->gain.misses += !good;
    if (segments->gain.misses > TRIES + segments->gain.hits)
        segments->gain.vain = true;
}

/* Whether the queue's decoder is in the state that the segment began with. If not, the segment's
 * decoder was begun too late. */
static bool is_same(struct pd_synth_segments *segments, const struct pd_segment *segment)
{
    const bool same = pd_pt_snapshot_same(segments->own, segment->notes->entry);
    const size_t warm_up = segment->warm_up;
    if (!same && warm_up && warm_up < MOST_WARM_UP && warm_up == segments->warm_up)
        segments->warm_up = 2 * warm_up;
    return same;
}

/* The segment where the queue is has been gone over, or cannot be: its tail comes next, or the next
 * segment. */
static void pass_segment(struct pd_synth_segments *segments, bool good)
{
    struct pd_segment *segment = &segments->list.data[segments->next];
    struct pd_segment *tail = good || segment->empty ? segment->tail : NULL;
    const uint64_t end = segment->end;
    size_t next = segments->next + 1;
    if (tail)
        segment->tail = NULL;
    if (good)
        segments->over = *segment; /* the one before has been freed */
    else
        pd_synth_free_segment(segments->pool, segment);
    *segment = (struct pd_segment){ 0 };
    if (tail) {
        *segment = *tail;
        next--;
    }
    if (!good && segments->gain.vain)
        next = segments->list.count;
    segments->here = good && next < segments->list.count && segments->list.data[next].begin == end;
    set_next(segments, next);
}

/* Moves the queue's decoder from where the segment begins to where it ends. */
static void take_over(struct pd_synth_queue *queue, const struct pd_segment *segment)
{
    const struct pd_segment_notes *notes = segment->notes;
    pd_pt_snapshot_jump(queue->decoder, queue->ahead.segments->own, notes->entry, notes->exit,
                        &notes->cycles);
}

/* ---- in a step log ---- */

static void begin_step_log(struct pd_synth_queue *queue)
{
    struct pd_synth_segments *segments = queue->ahead.segments;
    pd_step_log_open(&segments->reader, segments->over.step_log, &segments->over.notes->cycles,
                     segments->own);
    segments->reader.sees_code = sees_code(queue);
    queue->ahead.step_log = &segments->reader;
    segments->here_behind = segments->here;
    segments->here = false;
}

void pd_synth_segments_look(struct pd_synth_queue *queue)
{
    queue->ahead.step_log->sees_code = sees_code(queue);
}

static void end_step_log(struct pd_synth_queue *queue)
{
    struct pd_synth_segments *segments = queue->ahead.segments;
    struct pd_segment *segment = &segments->over;
    take_over(queue, segment);
    segments->logged_bytes += segment->end - segment->begin;
    segments->logged_branches += segment->step_log->branches.count;
    queue->ahead.step_log = NULL;
    segments->here = segments->here_behind;
    pd_synth_free_segment(segments->pool, segment);
    pthread_mutex_lock(&segments->pool->lock);
    pd_synth_pool_offer(segments->pool); /* there is a step log again */
}

/* Shows the queue's decoder the code that the workers saw. */
static void show_walked(struct pd_synth_queue *queue)
{
    const struct pd_synth_segments *segments = queue->ahead.segments;
    struct pd_code_view *view = pd_code_view(queue->synth->code_reader, segments->thread,
                                             segments->number, PD_CODE_HOST);
    pd_pt_set_code(queue->decoder, view, NULL);
}

/* The queue's decoder goes where the step log is, by the code that the worker saw. */
static void leave_step_log(struct pd_synth_queue *queue)
{
    enum { MOST = 32 };
    struct pd_synth_segments *segments = queue->ahead.segments;
    struct pd_pt_branch branches[MOST];
    show_walked(queue);
    pd_pt_watch(queue->decoder, PD_PT_ALL_STEPS, 0);
    for (uint64_t left = pd_step_log_told(&segments->reader); left;) {
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
    queue->ahead.step_log = NULL;
    set_next(segments, segments->next);
    pd_synth_show_code(queue);
    pd_synth_free_segment(segments->pool, &segments->over);
}

const struct pd_pt_state *pd_synth_segments_step(struct pd_synth_queue *queue)
{
    struct pd_step_log_reader *reader = queue->ahead.step_log;
    const struct pd_pt_state *state = pd_step_log_next(reader);
    if (!state)
        leave_step_log(queue);
    else if (pd_step_log_is_at_end(reader))
        end_step_log(queue);
    return state;
}

bool pd_synth_segments_jump(struct pd_synth_queue *queue)
{
    struct pd_synth_segments *segments = queue->ahead.segments;
    if (PD_LIKELY(!segments->here))
        return false;
    const uint64_t limit = queue->synth->scheduler.limit;
    struct pd_segment *segment = &segments->list.data[segments->next];
    segments->pool->pokes = queue->code.view ? queue->code.view->pokes : 0;
    enum pd_segment_how how = await(segments, segment);
    bool good = how == SEGMENT_DONE && !segment->empty &&
                (segment->step_log || may_begin(queue, segment, limit)) &&
                in_range(queue, segment) && !queue->switches.sync &&
                pd_pt_snapshot_take(segments->own, queue->decoder) && is_same(segments, segment);
    if (how != SEGMENT_OWN && !segment->empty)
        judge(segments, segment, good);
    pass_segment(segments, good);
    if (!good)
        return false;
    segment = &segments->over;
    if (segment->step_log) {
        begin_step_log(queue);
        return true;
    }
    segments->time = queue->time;
    take_over(queue, segment);
    queue->time = segment->clock.set ? segment->clock.time
                                     : PD_MAX(queue->time, segment->clock.time);
    queue->step.pending = false;
    segments->ahead = queue->time >= limit && !queue->synth->plan.timeless;
    segments->checked = limit;
    segments->pause = 0;
    if (!segments->ahead)
        pd_synth_free_segment(segments->pool, segment);
    return true;
}

/* ---- ahead ---- */

/* Goes back to where the last run would have ended. */
static void go_back(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    struct pd_synth_segments *segments = queue->ahead.segments;
    segments->here = false;
    show_walked(queue);
    pd_pt_snapshot_back(queue->decoder, segments->own);
    queue->time = segments->time;
    set_next(segments, segments->next);
    while (queue->time < segments->checked) {
        const struct pd_pt_state *state = pd_pt_decode(queue->decoder, segments->checked);
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

void pd_synth_segments_check(struct pd_synth *synth, uint64_t limit)
{
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_queue *queue = &synth->queues[i];
        struct pd_synth_segments *segments = queue->ahead.segments;
        if (!segments || !segments->ahead)
            continue;
        pd_synth_set_thread(queue);
        pd_synth_show_code(queue);
        struct pd_segment *segment = &segments->over;
        bool good = sees_code(queue) ||
                    in_pause(segments, segment, &segments->pause, segments->checked, limit);
        if (!good)
            go_back(queue);
        else
            segments->checked = limit;
        segments->ahead = good && limit <= queue->time;
        if (!segments->ahead)
            pd_synth_free_segment(segments->pool, segment);
    }
}

/* ---- life ---- */

static bool tells_branches(const struct pd_synth *synth)
{
    return synth->plan.mask & PD_PT_BRANCH && !synth->options.approximate_ipc;
}

/* Whether only what is rare is told, so that most segments have nothing of it. */
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

/* Whether segments are in vain: samples come so often that no segment is without one, or all steps
 * have to be made in the order of their time over all queues. */
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

static struct pd_synth_segments *new_segments(struct pd_synth_pool *pool,
                                              struct pd_synth_queue *queue)
{
    struct pd_synth_segments *segments = calloc(1, sizeof *segments);
    if (!segments)
        return NULL;
    segments->pool = pool;
    segments->queue = queue;
    segments->number = UINT64_MAX;
    segments->warm_up = WARM_UP;
    segments->seed = pd_pt_snapshot_new();
    segments->own = pd_pt_snapshot_new();
    queue->ahead.segments = segments;
    return segments->seed && segments->own ? segments : NULL;
}

perfdata_status pd_synth_segments_open(struct pd_synth *synth, unsigned threads)
{
    if (threads < 2 || !is_worth_it(synth))
        return PERFDATA_OK;
    struct pd_synth_pool *pool = synth->pool = calloc(1, sizeof *pool);
    if (!pool)
        return PERFDATA_ERROR_MEMORY;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_mutex_init(&pool->free_lock, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->step_logs = tells_branches(synth);
    pool->synth = synth;
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_queue *queue = &synth->queues[i];
        if (!queue->decoder || is_vain(synth, queue))
            continue;
        if (!new_segments(pool, queue))
            return PERFDATA_ERROR_MEMORY;
        pd_synth_segment_config(pool, queue);
    }
    return PERFDATA_OK;
}

void pd_synth_segments_close(struct pd_synth *synth)
{
    struct pd_synth_pool *pool = synth->pool;
    if (!pool)
        return;
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_segments *segments = synth->queues[i].ahead.segments;
        if (!segments)
            continue;
        pd_synth_segments_drop(&synth->queues[i]);
        pd_vec_free(&segments->list);
        free(segments->seed);
        free(segments->own);
        free(segments);
        synth->queues[i].ahead.segments = NULL;
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

uint64_t pd_synth_segments_need(const struct pd_synth *synth)
{
    uint64_t least = UINT64_MAX;
    if (!synth->pool)
        return least;
    for (size_t i = 0; i < synth->queue_count; i++)
        if (synth->queues[i].ahead.segments)
            least = PD_MIN(least, synth->queues[i].ahead.segments->number);
    return least;
}
