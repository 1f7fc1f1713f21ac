/* SPDX-License-Identifier: MIT */
#include "itrace/synth_parts.h"
#include "itrace/intel_pt/mark.h"
#include "resolve/guests.h"
#include <pthread.h>

enum {
    LEAST_PART = 32 << 10, /* bytes of a part */
    MOST_PART = 128 << 10,
    WARM_UP = 4096, /* so many before it a decoder begins, or a little later */
    WINDOW = 64,    /* parts that others may be ahead */
    TRIES = 16,     /* that may fail before it is seen that it is in vain */
    TAILS = 8,      /* of a part */
    FETCHES = 4     /* buffers read before their time, of all queues */
};

/* No code ran between a step of a time above `from` and one of the time `to`. */
struct zone {
    uint64_t from, to;
};

enum how { PART_FREE, PART_OWN, PART_RUNNING, PART_DONE, PART_FAILED };

struct part {
    uint64_t begin,
        end; /* positions of PSBs; the end may come to lie before where the next one begins */
    uint64_t reached; /* how far a worker came */
    enum how how;     /* with the pool's lock */
    struct pd_pt_mark *entry, *exit;
    struct pd_synth_clock clock;
    uint64_t latest;   /* the greatest time of a step */
    bool off_at_entry; /* the first zone begins with the part */
    PD_VEC(struct zone) zones;
    struct pd_pt_cycles cycles;
    struct part *tail;   /* what could be walked behind something that is told; NULL: nothing */
    bool is_tail, empty; /* empty: something is told at once, there is but a tail */
};

/* What a view shows. */
struct stamp {
    uint64_t user, kernel;
    size_t pokes;
};

struct pd_synth_parts {
    struct pd_synth_pool *pool;
    struct pd_synth_queue *queue;
    size_t part_size;
    PD_VEC(struct part) list; /* of the buffer under way; empty: not cut yet */
    const uint8_t *data;      /* of list.data[0].begin */
    struct pd_pt_mark *seed;  /* where it was cut */
    struct pd_thread *thread; /* whose code is walked, as of: */
    uint64_t number;
    struct stamp stamp;
    size_t next;  /* where the queue is, or comes to next */
    size_t claim; /* free from here on; with the lock */
    unsigned running;
    _Atomic bool dropped;
    bool tried;       /* to cut the buffer */
    bool here;        /* the queue is where list.data[next] begins */
    struct part over; /* the last one that the queue went over */
    /* Ahead: over that part, from where `own` says. */
    bool ahead;
    struct pd_pt_mark *own;
    uint64_t time, checked; /* the queue's there; up to where it has been seen to be right */
    size_t zone;
    unsigned hits, misses;
    bool vain;
    uint64_t tried_bytes, done_bytes; /* of the buffer's parts, those that the queue went over */
};

struct worker {
    struct pd_synth_pool *pool;
    pthread_t thread;
    struct pd_code_reader *reader;
    struct pd_pt_decoder *decoder;
};

/* The buffer that comes behind the one that a queue is in; read when no part is left to be walked. With the pool's lock. */
struct fetch {
    const struct pd_synth_parts *parts; /* NULL: of no queue */
    enum how how;                       /* PART_FREE: yet to be read */
    struct pd_aux_fetch bytes;
};

struct pd_synth_pool {
    struct pd_synth *synth;
    struct pd_pt_config config; /* of the workers' decoders */
    unsigned threads;           /* the caller's included */
    unsigned started;           /* others */
    struct worker *workers;     /* 0 is the caller's */
    bool begun;
    size_t pokes; /* that the queue sees which is being run */
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    bool stop;
    struct fetch fetches[FETCHES];
};

/* ---- a worker: one part ---- */

static int no_buffer(void *data, struct pd_pt_buffer *out)
{
    (void)data;
    (void)out;
    return 0;
}

/* Others look into the kernel once its symbols have been read: when they are matters. */
static struct pd_code_node *known_at(struct pd_code_view *view, uint64_t ip,
                                     enum pd_code_error *error)
{
    if (ip < view->kernel_start || pd_code_has_kernel(view))
        return pd_code_at(view, ip, error);
    *error = PD_CODE_NO_MAP;
    return NULL;
}

static struct pd_code_node *known_link(struct pd_code_view *view, struct pd_code_node *node,
                                       bool taken, enum pd_code_error *error)
{
    if ((taken ? node->target : node->next_ip) < view->kernel_start || pd_code_has_kernel(view))
        return pd_code_link(view, node, taken, error);
    *error = PD_CODE_NO_MAP;
    return NULL;
}

static struct stamp stamp_of(const struct pd_code_view *view)
{
    return (struct stamp){ view->user_stamp, view->kernel_stamp, view->pokes };
}

static bool has_stamp(const struct pd_code_view *view, const struct stamp *stamp)
{
    return view && view->user_stamp == stamp->user && view->kernel_stamp == stamp->kernel &&
           view->pokes == stamp->pokes;
}

/* The caller's shares what the queues' decoders know of the code. */
static bool set_up(struct worker *worker)
{
    struct pd_synth_pool *pool = worker->pool;
    struct pd_synth *synth = pool->synth;
    const bool own = worker == pool->workers;
    if (!worker->decoder) {
        struct pd_pt_config config = pool->config;
        config.tables = own ? synth->tables : NULL;
        worker->decoder = pd_pt_decoder_new(&config);
    }
    if (!worker->reader)
        worker->reader = own ? synth->code_reader : pd_code_reader_new(synth->code);
    if (!worker->decoder || !worker->reader)
        return false;
    if (!own && pd_code_reader_trim(worker->reader))
        pd_pt_forget_code(worker->decoder);
    return true;
}

static bool make_ready(struct worker *worker, const struct pd_synth_parts *parts)
{
    struct pd_synth *synth = worker->pool->synth;
    /* To look at what patches have changed since would change it for the queue. */
    if (worker == worker->pool->workers && parts->stamp.pokes != worker->pool->pokes)
        return false;
    if (!set_up(worker))
        return false;
    struct pd_code_view *view = pd_code_view(worker->reader, parts->thread, parts->number,
                                             PD_CODE_HOST);
    if (!has_stamp(view, &parts->stamp))
        return false;
    pd_pt_set_code(worker->decoder, view, NULL);
    pd_pt_set_wanted(worker->decoder, synth->mask);
    pd_pt_watch(worker->decoder, PD_PT_PSB_EVENT | PD_PT_TRACE_END, 0);
    return true;
}

/* The last PSB that is far enough before the part, or another one. */
static bool warm_place(const struct pd_synth_parts *parts, const struct part *part, uint64_t *place)
{
    uint64_t first = parts->list.data[0].begin;
    size_t end = (size_t)(part->begin - first);
    bool found = false;
    for (size_t back = WARM_UP; !found && back / 2 < end; back *= 2) {
        size_t at = end > back ? end - back : 0;
        at = pd_pt_find_psb(parts->data, end, at);
        found = at < end;
        *place = first + at;
    }
    return found;
}

static bool is_dropped(const struct pd_synth_parts *parts)
{
    return atomic_load_explicit(&parts->dropped, memory_order_relaxed);
}

/* To the PSB that a part begins with. */
static bool warm_up(struct worker *worker, const struct pd_synth_parts *parts, struct part *part)
{
    uint64_t place;
    if (!warm_place(parts, part, &place))
        return false;
    pd_pt_mark_begin(worker->decoder, parts->seed, place);
    const struct pd_pt_state *state;
    do {
        state = pd_pt_decode(worker->decoder, UINT64_MAX);
        if (!state || is_dropped(parts))
            return false;
    } while (state->error || !(state->type & PD_PT_PSB_EVENT) || state->psb_offset < part->begin);
    return state->psb_offset == part->begin && pd_pt_mark_take(part->entry, worker->decoder);
}

/* A worker on a part. */
struct walk {
    struct worker *worker;
    struct part *part;
    struct pd_synth_clock clock;
    uint64_t latest; /* the greatest time */
    bool off;        /* since zone.from, when so many instructions had been walked */
    uint64_t insns;
    struct zone zone;
    struct pd_pt_mark *spare;
    size_t changes; /* of the cycles' count, up to part->exit */
    struct pd_pt_pauses pauses;
    bool told; /* it ended where something is to be told, and may go on behind it */
};

/* The part may end here. */
static bool note_exit(struct walk *w, uint64_t position)
{
    struct part *part = w->part;
    struct pd_pt_mark *exit = w->spare;
    if (!pd_pt_mark_take(exit, w->worker->decoder))
        return false;
    w->spare = part->exit;
    part->exit = exit;
    part->reached = position;
    part->clock = w->clock;
    part->latest = w->latest;
    w->changes = part->cycles.fixed = part->cycles.list.count;
    return true;
}

static bool end_zone(struct walk *w, uint64_t time, uint64_t insns)
{
    bool empty = w->off && insns == w->insns;
    w->off = false;
    w->zone.to = time;
    return !empty || pd_vec_push(&w->part->zones, w->zone);
}

static void begin_zone(struct walk *w, uint64_t insns)
{
    w->off = true;
    w->zone.from = w->latest;
    w->insns = insns;
}

/* What was no step of its own. */
static bool take_pauses(struct walk *w)
{
    struct pd_pt_pauses *pauses = &w->pauses;
    bool good = !pauses->failed;
    for (size_t i = 0; good && i < pauses->list.count; i++) {
        const struct pd_pt_pause *pause = &pauses->list.data[i];
        if (pause->off) {
            w->clock.time = PD_MAX(w->clock.time, pause->off);
            w->latest = PD_MAX(w->latest, w->clock.time);
            begin_zone(w, pause->insns);
        }
        if (pause->on) {
            good = end_zone(w, pause->on, pause->insns);
            w->clock = (struct pd_synth_clock){ .time = pause->on, .set = true };
            w->latest = PD_MAX(w->latest, w->clock.time);
        }
    }
    pauses->list.count = 0;
    pauses->open = false;
    return good;
}

static bool note_zone(struct walk *w, const struct pd_pt_state *state, bool ends)
{
    if (w->off && (ends || !(state->type & PD_PT_PSB_EVENT)) &&
        !end_zone(w, w->clock.time, state->tot_insn_cnt))
        return false;
    if (state->type & PD_PT_TRACE_END)
        begin_zone(w, state->tot_insn_cnt);
    return true;
}

/* Up to the end, or to what is to be told. Where a sample is near no part begins or ends, since all steps up to it are to be
 * made in order; it goes on where none came of it. */
static void walk_to_end(struct walk *w, const struct pd_synth_parts *parts)
{
    const struct pd_synth *synth = w->worker->pool->synth;
    struct pd_pt_decoder *decoder = w->worker->decoder;
    struct part *part = w->part;
    const struct pd_pt_state *state;
    for (bool ends = false; !ends;) {
        state = pd_pt_decode(decoder, UINT64_MAX);
        if (!state || is_dropped(parts) || state->error)
            return;
        w->told = state->type & synth->mask;
        if (w->told || !take_pauses(w))
            return;
        pd_synth_clock_step(&w->clock, synth, state);
        w->latest = PD_MAX(w->latest, w->clock.time);
        bool psb = state->type & PD_PT_PSB_EVENT;
        ends = psb && state->psb_offset >= part->end;
        if (!note_zone(w, state, ends) || (ends && state->psb_offset > part->end))
            return;
        if (psb && (ends || state->psb_offset - part->reached >= parts->part_size / 8) &&
            !pd_pt_is_near(decoder) && !note_exit(w, state->psb_offset))
            return;
    }
}

static bool walk_from_entry(struct walk *w, const struct pd_synth_parts *parts)
{
    struct pd_pt_decoder *decoder = w->worker->decoder;
    struct part *part = w->part;
    struct pd_pt_rest rest;
    pd_pt_rest(decoder, &rest);
    pd_pt_note_cycles(decoder, &part->cycles);
    pd_pt_note_pauses(decoder, &w->pauses);
    part->off_at_entry = w->off = !rest.tracing;
    w->insns = rest.insns;
    part->reached = part->begin;
    walk_to_end(w, parts);
    pd_pt_note_cycles(decoder, NULL);
    pd_pt_note_pauses(decoder, NULL);
    pd_vec_free(&w->pauses.list);
    part->end = part->reached;
    part->cycles.list.count = w->changes;
    return part->end > part->begin && !part->cycles.failed &&
           pd_pt_mark_counts(part->entry, part->exit);
}

static void free_part(struct part *part)
{
    for (struct part *next, *tail = part->tail; tail; tail = next) {
        next = tail->tail;
        tail->tail = NULL;
        free_part(tail);
        free(tail);
    }
    free(part->entry);
    free(part->exit);
    part->entry = part->exit = NULL;
    part->tail = NULL;
    pd_vec_free(&part->zones);
    pd_vec_free(&part->cycles.list);
}

static bool has_marks(struct part *part)
{
    part->entry = pd_pt_mark_new();
    part->exit = pd_pt_mark_new();
    return part->entry && part->exit;
}

/* Where a sample is near no part begins. */
static bool walk_one(struct walk *w, const struct pd_synth_parts *parts, struct part *part)
{
    *w = (struct walk){ .worker = w->worker, .part = part, .spare = w->spare };
    w->told = pd_pt_is_near(w->worker->decoder);
    return !w->told && walk_from_entry(w, parts);
}

/* To the first PSB behind what is told. */
static bool pass_told(struct walk *w, const struct pd_synth_parts *parts, struct part *tail)
{
    struct pd_pt_decoder *decoder = w->worker->decoder;
    const struct pd_pt_state *state;
    pd_pt_note_pauses(decoder, &w->pauses); /* they are no steps */
    do {
        state = pd_pt_decode(decoder, UINT64_MAX);
        w->pauses.list.count = 0;
        w->pauses.open = false;
    } while (state && !state->error && !is_dropped(parts) &&
             (!(state->type & PD_PT_PSB_EVENT) || pd_pt_is_near(decoder)));
    pd_pt_note_pauses(decoder, NULL);
    pd_vec_free(&w->pauses.list);
    if (!state || state->error || is_dropped(parts))
        return false;
    tail->begin = state->psb_offset;
    return tail->begin < tail->end && pd_pt_mark_take(tail->entry, decoder);
}

/* What comes behind the first of what is told, up to `end`. */
static void walk_tails(struct walk *w, const struct pd_synth_parts *parts, uint64_t end)
{
    struct part **last = &w->part->tail;
    for (unsigned i = 0; w->told && i < TAILS; i++) {
        struct part *tail = calloc(1, sizeof *tail);
        if (!tail)
            return;
        tail->how = PART_DONE;
        tail->is_tail = true;
        tail->end = end;
        bool begins = has_marks(tail) && pass_told(w, parts, tail);
        if (begins && walk_one(w, parts, tail)) {
            *last = tail;
            last = &tail->tail;
        } else {
            free_part(tail);
            free(tail);
        }
        if (!begins)
            return;
    }
}

static bool walk_part(struct worker *worker, const struct pd_synth_parts *parts, struct part *part)
{
    const uint64_t end = part->end;
    struct walk w = { .worker = worker, .spare = pd_pt_mark_new() };
    if (w.spare && has_marks(part) && make_ready(worker, parts) && warm_up(worker, parts, part)) {
        part->empty = !walk_one(&w, parts, part);
        walk_tails(&w, parts, end);
    }
    free(w.spare);
    return w.part && (!part->empty || part->tail);
}

/* With the lock: the queue whose next free part is the least far away from where it is. */
static struct pd_synth_parts *next_queue(struct pd_synth_pool *pool)
{
    struct pd_synth *synth = pool->synth;
    struct pd_synth_parts *best = NULL;
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_parts *parts = synth->queues[i].parts;
        if (parts && parts->claim < parts->list.count && parts->claim - parts->next < WINDOW &&
            (!best || parts->claim - parts->next < best->claim - best->next))
            best = parts;
    }
    return best;
}

/* With the lock. Reads a buffer that will be needed soon; false: there is none. */
static bool fetch_one(struct pd_synth_pool *pool)
{
    struct fetch *fetch = NULL;
    for (unsigned i = 0; !fetch && i < FETCHES; i++)
        if (pool->fetches[i].parts && pool->fetches[i].how == PART_FREE)
            fetch = &pool->fetches[i];
    if (!fetch)
        return false;
    fetch->how = PART_RUNNING;
    pthread_mutex_unlock(&pool->lock);
    bool done = pd_aux_fetch_read(&fetch->bytes);
    pthread_mutex_lock(&pool->lock);
    fetch->how = done ? PART_DONE : PART_FAILED;
    pthread_cond_broadcast(&pool->done);
    return true;
}

/* With the lock. False: there is nothing to do. */
static bool work(struct worker *worker)
{
    struct pd_synth_pool *pool = worker->pool;
    struct pd_synth_parts *parts = next_queue(pool);
    if (!parts)
        return fetch_one(pool);
    struct part *part = &parts->list.data[parts->claim++];
    part->how = PART_RUNNING;
    parts->running++;
    pthread_mutex_unlock(&pool->lock);
    bool done = walk_part(worker, parts, part);
    pthread_mutex_lock(&pool->lock);
    part->how = done ? PART_DONE : PART_FAILED;
    if (!done)
        free_part(part);
    parts->running--;
    pthread_cond_broadcast(&pool->done);
    return true;
}

static void *worker_main(void *data)
{
    struct worker *worker = data;
    struct pd_synth_pool *pool = worker->pool;
    pthread_mutex_lock(&pool->lock);
    while (!pool->stop)
        if (!work(worker))
            pthread_cond_wait(&pool->work, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

/* ---- a queue's parts ---- */

/* False: there are no others. */
static bool start(struct pd_synth_pool *pool)
{
    if (pool->begun)
        return pool->started > 0;
    pool->begun = true;
    for (unsigned i = 1; i < pool->threads; i++) {
        struct worker *worker = &pool->workers[pool->started + 1];
        if (!pthread_create(&worker->thread, NULL, worker_main, worker))
            pool->started++;
    }
    return pool->started > 0;
}

static struct fetch *fetch_of(struct pd_synth_pool *pool, const struct pd_synth_parts *parts)
{
    for (unsigned i = 0; i < FETCHES; i++)
        if (pool->fetches[i].parts == parts)
            return &pool->fetches[i];
    return NULL;
}

/* With the lock: the buffer behind this one is to be read. */
static void ask_for_next(struct pd_synth_parts *parts)
{
    struct fetch *fetch = fetch_of(parts->pool, NULL);
    if (!fetch || !pd_aux_reader_plan(parts->queue->reader, &fetch->bytes))
        return;
    fetch->parts = parts;
    fetch->how = PART_FREE;
}

/* With the lock: nobody reads it any more. NULL: it has not been read. */
static struct pd_aux_fetch *end_fetch(const struct pd_synth_parts *parts)
{
    struct pd_synth_pool *pool = parts->pool;
    struct fetch *fetch = fetch_of(pool, parts);
    if (!fetch)
        return NULL;
    while (fetch->how == PART_RUNNING)
        pthread_cond_wait(&pool->done, &pool->lock);
    fetch->parts = NULL;
    return fetch->how == PART_DONE ? &fetch->bytes : NULL;
}

void pd_synth_parts_next(struct pd_synth_queue *queue)
{
    struct pd_synth_parts *parts = queue->parts;
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
    struct pd_synth_parts *parts = queue->parts;
    if (!parts)
        return;
    pthread_mutex_lock(&parts->pool->lock);
    end_fetch(parts);
    parts->claim = parts->list.count;
    atomic_store_explicit(&parts->dropped, true, memory_order_relaxed);
    while (parts->running)
        pthread_cond_wait(&parts->pool->done, &parts->pool->lock);
    for (size_t i = 0; i < parts->list.count; i++)
        free_part(&parts->list.data[i]);
    free_part(&parts->over);
    parts->list.count = 0;
    parts->next = parts->claim = 0;
    atomic_store_explicit(&parts->dropped, false, memory_order_relaxed);
    pthread_mutex_unlock(&parts->pool->lock);
    parts->here = parts->ahead = parts->tried = false;
    parts->number = UINT64_MAX;
    if (!parts->vain)
        pd_pt_watch(queue->decoder, PD_PT_PSB_EVENT, 0);
    else
        pd_pt_watch(queue->decoder, 0, 0);
}

/* Smaller towards the end, so that nobody waits long for who has the last one. */
static size_t size_of_next(const struct pd_synth_parts *parts, size_t left)
{
    size_t fair = left / (4 * (size_t)parts->pool->threads);
    return PD_MIN(parts->part_size, PD_MAX(fair, (size_t)LEAST_PART));
}

/* Where the parts begin: at PSBs about a part's size from each other, and the last one. */
static bool cut(struct pd_synth_parts *parts, const uint8_t *data, size_t size, uint64_t position)
{
    size_t at = 0, end, step;
    while (size - at > (step = size_of_next(parts, size - at)) &&
           (end = pd_pt_find_psb(data, size, at + step)) < size) {
        struct part part = { .begin = position + at, .end = position + end };
        if (!pd_vec_push(&parts->list, part))
            return false;
        at = end;
    }
    size_t last = at;
    for (end = at; (end = pd_pt_find_psb(data, size, end + 16)) < size;)
        last = end;
    struct part part = { .begin = position + at, .end = position + last };
    return last == at || pd_vec_push(&parts->list, part);
}

/* The more often something is told, the less of a part lies before it. */
static void set_size(struct pd_synth_parts *parts, size_t left)
{
    size_t most = PD_MIN(left / (8 * (size_t)parts->pool->threads), (size_t)MOST_PART);
    size_t size = parts->part_size;
    if (!parts->queue->synth->mask)
        size = most;
    else if (parts->done_bytes >= parts->tried_bytes / 8 * 7)
        size *= 2;
    else if (parts->done_bytes < parts->tried_bytes / 4 * 3)
        size /= 2;
    parts->part_size = PD_MAX(PD_MIN(size, most), (size_t)LEAST_PART);
    parts->tried_bytes = parts->done_bytes = 0;
}

/* The buffer is cut, and its parts are there to be walked. */
static void cut_buffer(struct pd_synth_queue *queue)
{
    struct pd_synth_parts *parts = queue->parts;
    struct pd_pt_rest rest;
    pd_pt_rest(queue->decoder, &rest);
    uint64_t begin = queue->state->psb_offset;
    if (parts->tried || queue->to_start || !rest.tracing || !queue->thread || !queue->view ||
        queue->sync_switch || begin > rest.position)
        return; /* at the next PSB, perhaps */
    parts->tried = true;
    pd_pt_watch(queue->decoder, 0, 0);
    if (rest.size < 2 * LEAST_PART || !start(parts->pool) ||
        !pd_pt_mark_take(parts->seed, queue->decoder))
        return;
    pthread_mutex_lock(&parts->pool->lock);
    set_size(parts, rest.size);
    parts->data = rest.data - (rest.position - begin);
    if (!cut(parts, parts->data, rest.size + (size_t)(rest.position - begin), begin))
        parts->list.count = 0;
    parts->thread = queue->thread;
    parts->number = queue->synth->number;
    parts->stamp = stamp_of(queue->view);
    parts->next = parts->claim = 1; /* the first one is the queue's own */
    if (parts->list.count < 2)
        parts->next = parts->claim = parts->list.count;
    else
        pd_pt_watch(queue->decoder, PD_PT_PSB_EVENT, parts->list.data[1].begin);
    if (parts->list.count)
        ask_for_next(parts);
    pthread_cond_broadcast(&parts->pool->work);
    pthread_mutex_unlock(&parts->pool->lock);
}

/* To the part that begins at the queue's place or, not `here`, behind it. */
static void set_next(struct pd_synth_parts *parts, size_t next)
{
    pthread_mutex_lock(&parts->pool->lock);
    parts->next = next;
    if (parts->claim < next)
        parts->claim = next;
    pthread_cond_broadcast(&parts->pool->work); /* the window has moved */
    pthread_mutex_unlock(&parts->pool->lock);
    if (next < parts->list.count)
        pd_pt_watch(parts->queue->decoder, PD_PT_PSB_EVENT, parts->list.data[next].begin);
    else
        pd_pt_watch(parts->queue->decoder, 0, 0);
}

void pd_synth_parts_psb(struct pd_synth_queue *queue)
{
    struct pd_synth_parts *parts = queue->parts;
    uint64_t position = queue->state->psb_offset;
    if (!parts->list.count) {
        cut_buffer(queue);
        return;
    }
    size_t next = parts->next;
    while (next < parts->list.count && parts->list.data[next].begin < position)
        next++;
    parts->here = next < parts->list.count && parts->list.data[next].begin == position;
    set_next(parts, next);
}

/* ---- going over a part ---- */

/* How the part ended that the queue has come to. Where others are still at it, more is to be done meanwhile. */
static enum how await(struct pd_synth_parts *parts, struct part *part)
{
    struct pd_synth_pool *pool = parts->pool;
    pthread_mutex_lock(&pool->lock);
    if (part->how == PART_FREE) {
        part->how = PART_OWN;
        parts->claim = PD_MAX(parts->claim, parts->next + 1);
    }
    while (part->how == PART_RUNNING)
        if (!work(&pool->workers[0]))
            pthread_cond_wait(&pool->done, &pool->lock);
    enum how how = part->how;
    pthread_mutex_unlock(&pool->lock);
    return how;
}

/* No code runs from `from` to `to`. */
static bool in_zone(const struct pd_synth_parts *parts, const struct part *part, size_t *at,
                    uint64_t from, uint64_t to)
{
    while (*at < part->zones.count && part->zones.data[*at].to < to)
        ++*at;
    return *at < part->zones.count && PD_MAX(part->zones.data[*at].from, parts->time) < from;
}

static bool sees_code(const struct pd_synth_queue *queue)
{
    if (queue->synth->quick) /* no code is walked */
        return true;
    return has_stamp(queue->view, &queue->parts->stamp);
}

/* The queue's thread may be another one at first, if it does not run before the limit. */
static bool may_begin(const struct pd_synth_queue *queue, const struct part *part, uint64_t limit)
{
    return sees_code(queue) || (part->off_at_entry && part->zones.count &&
                                part->zones.data[0].to >= limit && !part->zones.data[0].from);
}

/* All of it lies in the time range that the queue is in. */
static bool in_range(const struct pd_synth_queue *queue, const struct part *part)
{
    return !queue->range_limit || (!queue->to_start && part->latest <= queue->range_limit);
}

static void judge(struct pd_synth_parts *parts, const struct part *part, bool good)
{
    parts->tried_bytes += part->is_tail ? 0 : parts->part_size;
    parts->done_bytes += good ? part->end - part->begin : 0;
    parts->hits += good;
    parts->misses += !good;
    if (parts->misses > TRIES + parts->hits)
        parts->vain = true;
}

/* The part where the queue is has been gone over, or cannot be: its tail comes next, or the next part. */
static void pass_part(struct pd_synth_parts *parts, bool good)
{
    struct part *part = &parts->list.data[parts->next];
    struct part *tail = good || part->empty ? part->tail : NULL;
    const uint64_t end = part->end;
    size_t next = parts->next + 1;
    if (tail)
        part->tail = NULL;
    if (good)
        parts->over = *part; /* the one before has been freed */
    else
        free_part(part);
    *part = (struct part){ 0 };
    if (tail) {
        *part = *tail;
        free(tail);
        next--;
    }
    if (!good && parts->vain)
        next = parts->list.count;
    parts->here = good && next < parts->list.count && parts->list.data[next].begin == end;
    set_next(parts, next);
}

bool pd_synth_parts_jump(struct pd_synth_queue *queue)
{
    struct pd_synth_parts *parts = queue->parts;
    if (PD_LIKELY(!parts->here))
        return false;
    const uint64_t limit = queue->synth->limit;
    struct part *part = &parts->list.data[parts->next];
    parts->pool->pokes = queue->view ? queue->view->pokes : 0;
    enum how how = await(parts, part);
    bool good = how == PART_DONE && !part->empty && may_begin(queue, part, limit) &&
                in_range(queue, part) && !queue->sync_switch &&
                pd_pt_mark_take(parts->own, queue->decoder) &&
                pd_pt_mark_same(parts->own, part->entry);
    if (how != PART_OWN && !part->empty)
        judge(parts, part, good);
    pass_part(parts, good);
    if (!good)
        return false;
    part = &parts->over;
    parts->time = queue->time;
    pd_pt_mark_jump(queue->decoder, parts->own, part->entry, part->exit, &part->cycles);
    queue->time = part->clock.set ? part->clock.time : PD_MAX(queue->time, part->clock.time);
    queue->pending = false;
    parts->ahead = queue->time >= limit && !queue->synth->timeless;
    parts->checked = limit;
    parts->zone = 0;
    if (!parts->ahead)
        free_part(part);
    return true;
}

/* ---- ahead ---- */

/* To where the last run would have ended. */
static void go_back(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    struct pd_synth_parts *parts = queue->parts;
    struct pd_code_view *view = pd_code_view(synth->code_reader, parts->thread, parts->number,
                                             PD_CODE_HOST);
    parts->here = false;
    pd_pt_set_code(queue->decoder, view, NULL);
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
        queue->pending = true;
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
        struct pd_synth_parts *parts = queue->parts;
        if (!parts || !parts->ahead)
            continue;
        pd_synth_set_thread(queue);
        pd_synth_show_code(queue);
        struct part *part = &parts->over;
        bool good = sees_code(queue) || in_zone(parts, part, &parts->zone, parts->checked, limit);
        if (!good)
            go_back(queue);
        else
            parts->checked = limit;
        parts->ahead = good && limit <= queue->time;
        if (!parts->ahead)
            free_part(part);
    }
}

/* ---- life ---- */

/* Whether only what is rare is told, so that most parts have nothing of it. */
static bool is_worth_it(const struct pd_synth *synth)
{
    enum {
        RARE = PD_PT_INSTRUCTION | PD_PT_TRANSACTION | PD_PT_PTW | PD_PT_BLOCK_ITEMS | PD_PT_EVENT |
               PD_PT_IF_CHANGE
    };
    return !(synth->mask & ~(uint32_t)RARE) && !synth->logger &&
           !(synth->quick && synth->mask & PD_PT_INSTRUCTION) && /* each TIP is one */
           synth->quick < 2 && /* PSBs are found as fast as memory is */
           !synth->filters.count && !synth->guest_code &&
           !(synth->guests && synth->guests->wanted) && !synth->aux->modes.sampling &&
           !synth->step_through;
}

/* Samples come so often that no part is without, or all of its steps have to be made in the order of their time over all
 * queues. */
static bool is_vain(const struct pd_synth *synth, const struct pd_synth_queue *queue)
{
    enum { SELDOM = 1 << 16 }; /* ticks, which are some KB of a trace */
    const struct pd_pt_config *config = pd_pt_config_of(queue->decoder);
    if (!(synth->mask & PD_PT_INSTRUCTION))
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
    parts->seed = pd_pt_mark_new();
    parts->own = pd_pt_mark_new();
    queue->parts = parts;
    return parts->seed && parts->own ? parts : NULL;
}

/* They differ from a queue's only in what they ask. */
static void set_config(struct pd_synth_pool *pool, const struct pd_synth_queue *queue)
{
    struct pd_pt_config *config = &pool->config;
    *config = *pd_pt_config_of(queue->decoder);
    config->data = NULL;
    config->buffer = no_buffer;
    config->look_ahead = NULL;
    config->skip = NULL;
    config->code_at = known_at;
    config->code_link = known_link;
}

perfdata_status pd_synth_parts_open(struct pd_synth *synth, unsigned threads)
{
    if (threads < 2 || !is_worth_it(synth))
        return PERFDATA_OK;
    struct pd_synth_pool *pool = synth->pool = calloc(1, sizeof *pool);
    if (pool) {
        pthread_mutex_init(&pool->lock, NULL);
        pthread_cond_init(&pool->work, NULL);
        pthread_cond_init(&pool->done, NULL);
        pool->synth = synth;
        pool->threads = threads;
        pool->workers = calloc(threads, sizeof *pool->workers);
    }
    if (!pool || !pool->workers)
        return PERFDATA_ERROR_MEMORY;
    for (unsigned i = 0; i < threads; i++)
        pool->workers[i].pool = pool;
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_queue *queue = &synth->queues[i];
        if (!queue->decoder || is_vain(synth, queue))
            continue;
        if (!new_parts(pool, queue))
            return PERFDATA_ERROR_MEMORY;
        set_config(pool, queue);
    }
    return PERFDATA_OK;
}

static void stop(struct pd_synth_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i <= pool->started; i++)
        pthread_join(pool->workers[i].thread, NULL);
}

void pd_synth_parts_close(struct pd_synth *synth)
{
    struct pd_synth_pool *pool = synth->pool;
    if (!pool)
        return;
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_parts *parts = synth->queues[i].parts;
        if (!parts)
            continue;
        pd_synth_parts_drop(&synth->queues[i]);
    }
    stop(pool);
    for (size_t i = 0; i < synth->queue_count; i++) {
        struct pd_synth_parts *parts = synth->queues[i].parts;
        if (!parts)
            continue;
        pd_vec_free(&parts->list);
        free(parts->seed);
        free(parts->own);
        free(parts);
        synth->queues[i].parts = NULL;
    }
    for (unsigned i = 0; pool->workers && i < pool->threads; i++) {
        pd_pt_decoder_free(pool->workers[i].decoder);
        if (i)
            pd_code_reader_free(pool->workers[i].reader);
    }
    free(pool->workers);
    for (unsigned i = 0; i < FETCHES; i++)
        free(pool->fetches[i].bytes.data);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->work);
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
        if (synth->queues[i].parts)
            least = PD_MIN(least, synth->queues[i].parts->number);
    return least;
}
