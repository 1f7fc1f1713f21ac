/* SPDX-License-Identifier: MIT */
/* A worker on a segment. */
#include "itrace/synth/ahead_worker.h"

enum {
    TAILS = 8,              /* of a segment */
    SNAPSHOT_EACH = 4 << 10 /* bytes of it */
};

static int no_buffer(void *data, struct pd_pt_buffer *out)
{
    (void)data;
    (void)out;
    return 0;
}

/* When the kernel's symbols are read matters, so workers look into the kernel only once they have
 * been. */
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

/* The workers' decoders differ from a queue's only in what they ask. */
void pd_synth_segment_config(struct pd_synth_pool *pool, const struct pd_synth_queue *queue)
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

/* The caller's worker shares what the queues' decoders know of the code. */
static bool set_up(struct pd_segment_worker *worker)
{
    struct pd_synth_pool *pool = worker->pool;
    struct pd_synth *synth = pool->synth;
    const bool own = worker == pool->workers;
    if (!worker->decoder) {
        struct pd_pt_config config = pool->config;
        config.tables = own ? synth->tables : NULL;
        worker->decoder = pd_pt_decoder_new(&config);
        if (worker->decoder && synth->switches.switch_ip)
            pd_pt_watch_ips(worker->decoder, synth->switches.switch_ip, synth->switches.ptss_ip);
    }
    if (!worker->spare)
        worker->spare = pd_pt_snapshot_new();
    if (!worker->reader)
        worker->reader = own ? synth->code_reader : pd_code_reader_new(synth->code);
    if (!worker->decoder || !worker->reader || !worker->spare)
        return false;
    if (!own && pd_code_reader_trim(worker->reader))
        pd_pt_forget_code(worker->decoder);
    return true;
}

static bool make_ready(struct pd_segment_worker *worker, const struct pd_synth_segments *segments)
{
    struct pd_synth *synth = worker->pool->synth;
    /* To look at what patches have changed since would change it for the queue. */
    if (worker == worker->pool->workers && segments->stamp.pokes != worker->pool->pokes)
        return false;
    if (!set_up(worker))
        return false;
    struct pd_code_view *view = pd_code_view(worker->reader, segments->thread, segments->number,
                                             PD_CODE_HOST);
    if (!pd_synth_has_stamp(view, &segments->stamp))
        return false;
    pd_pt_set_code(worker->decoder, view, NULL);
    pd_pt_set_wanted(worker->decoder, worker->pool->step_logs ? 0 : synth->plan.mask);
    pd_pt_watch(worker->decoder, PD_PT_PSB_EVENT | PD_PT_TRACE_END, 0);
    return true;
}

/* The last PSB that is far enough before the segment, or another one. */
static bool warm_place(const struct pd_synth_segments *segments, struct pd_segment *segment,
                       uint64_t *place)
{
    uint64_t first = segments->list.data[0].begin;
    size_t end = (size_t)(segment->begin - first);
    bool found = false;
    segment->warm_up = atomic_load_explicit(&segments->warm_up, memory_order_relaxed);
    for (size_t back = segment->warm_up; !found && back / 2 < end; back *= 2) {
        size_t at = end > back ? end - back : 0;
        at = pd_pt_find_psb(segments->data, end, at);
        found = at < end;
        *place = first + at;
    }
    return found;
}

static bool is_dropped(const struct pd_synth_segments *segments)
{
    return atomic_load_explicit(&segments->dropped, memory_order_relaxed);
}

/* Walks to the PSB that a segment begins with. */
static bool warm_up(struct pd_segment_worker *worker, const struct pd_synth_segments *segments,
                    struct pd_segment *segment)
{
    uint64_t place;
    if (!warm_place(segments, segment, &place))
        return false;
    pd_pt_snapshot_begin(worker->decoder, segments->seed, place);
    const struct pd_pt_state *state;
    do {
        state = pd_pt_decode(worker->decoder, UINT64_MAX);
        if (!state || is_dropped(segments))
            return false;
    } while (state->error || !(state->type & PD_PT_PSB_EVENT) ||
             state->psb_offset < segment->begin);
    return state->psb_offset == segment->begin &&
           pd_pt_snapshot_take(segment->notes->entry, worker->decoder);
}

/* ---- memory of segments ---- */

/* Step logs that were used before have memory already. */
static struct pd_step_log *take_step_log(struct pd_synth_pool *pool)
{
    pthread_mutex_lock(&pool->free_lock);
    struct pd_step_log *step_log = pool->free_step_logs;
    if (step_log)
        pool->free_step_logs = step_log->next;
    pthread_mutex_unlock(&pool->free_lock);
    step_log = step_log ? step_log : calloc(1, sizeof *step_log);
    if (step_log)
        atomic_fetch_add_explicit(&pool->step_logs_used, 1, memory_order_relaxed);
    return step_log;
}

static void free_notes(struct pd_segment_notes *notes)
{
    free(notes->entry);
    free(notes->exit);
    pd_vec_free(&notes->pauses.list);
    pd_vec_free(&notes->cycles.list);
    free(notes);
}

static struct pd_segment_notes *new_notes(void)
{
    struct pd_segment_notes *notes = calloc(1, sizeof *notes);
    if (!notes)
        return NULL;
    notes->entry = pd_pt_snapshot_new();
    notes->exit = pd_pt_snapshot_new();
    if (notes->entry && notes->exit)
        return notes;
    free_notes(notes);
    return NULL;
}

/* Notes that are as good as new; NULL without memory. */
static struct pd_segment_notes *take_notes(struct pd_synth_pool *pool)
{
    pthread_mutex_lock(&pool->free_lock);
    struct pd_segment_notes *notes = pool->free_notes;
    if (notes)
        pool->free_notes = notes->next;
    pthread_mutex_unlock(&pool->free_lock);
    if (!notes)
        return new_notes();
    pd_pt_pauses_clear(&notes->pauses);
    pd_pt_cycles_clear(&notes->cycles);
    return notes;
}

/* Gives back a segment's memory. With the lock for that. */
static void give_back(struct pd_synth_pool *pool, const struct pd_segment *segment)
{
    if (segment->step_log) {
        segment->step_log->next = pool->free_step_logs;
        pool->free_step_logs = segment->step_log;
        atomic_fetch_sub_explicit(&pool->step_logs_used, 1, memory_order_relaxed);
    }
    if (segment->notes) {
        segment->notes->next = pool->free_notes;
        pool->free_notes = segment->notes;
    }
}

void pd_synth_free_segment(struct pd_synth_pool *pool, struct pd_segment *segment)
{
    pthread_mutex_lock(&pool->free_lock);
    for (const struct pd_segment *at = segment; at; at = at->tail)
        give_back(pool, at);
    /* a tail lies in the notes that another thread may take from here on */
    segment->step_log = NULL;
    segment->notes = NULL;
    segment->tail = NULL;
    pthread_mutex_unlock(&pool->free_lock);
}

void pd_synth_free_unused(struct pd_synth_pool *pool)
{
    for (struct pd_step_log *next, *step_log = pool->free_step_logs; step_log; step_log = next) {
        next = step_log->next;
        pd_step_log_free(step_log);
    }
    for (struct pd_segment_notes *next, *notes = pool->free_notes; notes; notes = next) {
        next = notes->next;
        free_notes(notes);
    }
}

/* ---- the walk ---- */

/* A worker on a segment. */
struct walk {
    struct pd_segment_worker *worker;
    struct pd_segment *segment;
    size_t branches, steps; /* in its step log, up to its exit */
    size_t changes;         /* of the cycles' count, up to there */
    bool told;              /* it ended where something is to be told, and may go on behind it */
};

/* Notes that the segment may end here. */
static bool note_exit(struct walk *w, uint64_t position)
{
    struct pd_segment *segment = w->segment;
    struct pd_segment_notes *notes = segment->notes;
    struct pd_pt_snapshot *exit = w->worker->spare;
    if (!pd_pt_snapshot_take(exit, w->worker->decoder))
        return false;
    w->worker->spare = notes->exit;
    notes->exit = exit;
    segment->reached = position;
    segment->clock = (struct pd_synth_clock){ notes->pauses.time, notes->pauses.set };
    segment->latest = notes->pauses.latest;
    w->changes = notes->cycles.fixed = notes->cycles.list.count;
    if (segment->step_log) {
        segment->latest = PD_MAX(segment->latest, segment->step_log->latest);
        w->branches = segment->step_log->branches.count;
        w->steps = segment->step_log->steps.count;
    }
    return true;
}

/* The time of a step. */
static void take_time(struct pd_pt_pauses *pauses, const struct pd_synth *synth,
                      const struct pd_pt_state *state)
{
    struct pd_synth_clock clock = { .time = pauses->time, .set = pauses->set };
    pd_synth_clock_step(&clock, synth, state);
    pd_pt_pauses_set(pauses, clock.time);
    pauses->set = clock.set;
}

/* A step as the end of a pause, and as the begin of one. */
static void take_pause(struct pd_pt_pauses *pauses, const struct pd_pt_state *state, bool ends)
{
    if (pauses->off && (ends || !(state->type & PD_PT_PSB_EVENT)))
        pd_pt_pauses_on(pauses, pauses->time, state->tot_insn_cnt);
    if (state->type & PD_PT_TRACE_END)
        pd_pt_pauses_off(pauses, state->tot_insn_cnt);
}

/* Up to the end, or to what is to be told. Where a sample is near no segment begins or ends, since
 * all steps up to it are to be made in order; it goes on where none came of it. */
static void walk_to_end(struct walk *w, const struct pd_synth_segments *segments)
{
    const struct pd_synth *synth = w->worker->pool->synth;
    struct pd_pt_decoder *decoder = w->worker->decoder;
    struct pd_segment *segment = w->segment;
    struct pd_pt_pauses *pauses = &segment->notes->pauses;
    const struct pd_pt_state *state;
    /* What lies between the last snapshot and something that is told is walked again. */
    const uint64_t between = synth->plan.mask ? SNAPSHOT_EACH : segments->segment_size / 8;
    for (bool ends = false; !ends;) {
        state = pd_pt_decode(decoder, UINT64_MAX);
        if (!state || is_dropped(segments) || state->error)
            return;
        w->told = state->type & synth->plan.mask || pd_pt_is_at_place(decoder);
        if (w->told)
            return;
        pauses->ended = false;
        take_time(pauses, synth, state);
        bool psb = state->type & PD_PT_PSB_EVENT;
        ends = psb && state->psb_offset >= segment->end;
        take_pause(pauses, state, ends);
        if (pauses->failed || (ends && state->psb_offset > segment->end))
            return;
        if (psb && (ends || state->psb_offset - segment->reached >= between) &&
            !pd_pt_is_near(decoder) && !note_exit(w, state->psb_offset))
            return;
    }
}

/* Walks to the end and puts each step in the step log, since all of them are told. */
static void log_to_end(struct walk *w, const struct pd_synth_segments *segments)
{
    const struct pd_synth *synth = w->worker->pool->synth;
    struct pd_pt_decoder *decoder = w->worker->decoder;
    struct pd_segment *segment = w->segment;
    struct pd_step_log *step_log = segment->step_log;
    struct pd_pt_pauses *pauses = &segment->notes->pauses;
    struct pd_pt_cycles *cycles = &segment->notes->cycles;
    pd_pt_set_wanted(decoder, synth->plan.mask);
    pd_pt_watch(decoder, PD_PT_ALL_STEPS, 0);
    do {
        const struct pd_pt_state *state = pd_pt_decode(decoder, UINT64_MAX);
        /* The queue may find more code than there is now, once it comes there. */
        if (!state || is_dropped(segments) || state->error == PD_PT_NO_INSN)
            return;
        const bool psb = !state->error && state->type & PD_PT_PSB_EVENT;
        const bool codeless = pauses->off && !state->error && state->tot_insn_cnt == pauses->insns;
        if (!pd_step_log_put_step(step_log, state, codeless, cycles))
            return;
        take_time(pauses, synth, state);
        pauses->off = !state->error && (state->type & PD_PT_TRACE_END || (pauses->off && psb));
        pauses->insns = state->tot_insn_cnt;
        if (psb && !note_exit(w, state->psb_offset))
            return;
        if (psb && state->psb_offset >= segment->end)
            return;
    } while (pd_step_log_put_branches(step_log, decoder, cycles));
}

static bool walk_from_entry(struct walk *w, const struct pd_synth_segments *segments)
{
    struct pd_pt_decoder *decoder = w->worker->decoder;
    struct pd_segment *segment = w->segment;
    struct pd_segment_notes *notes = segment->notes;
    struct pd_pt_rest rest;
    pd_pt_rest(decoder, &rest);
    pd_pt_note_cycles(decoder, &notes->cycles);
    segment->off_at_entry = notes->pauses.off = !rest.tracing;
    notes->pauses.insns = rest.insns;
    segment->reached = segment->begin;
    if (segment->step_log) {
        notes->cycles.each = true;
        pd_step_log_begin(segment->step_log, notes->entry);
        log_to_end(w, segments);
        segment->step_log->branches.count = w->branches;
        segment->step_log->steps.count = w->steps;
    } else {
        pd_pt_note_pauses(decoder, &notes->pauses);
        walk_to_end(w, segments);
        pd_pt_note_pauses(decoder, NULL);
    }
    pd_pt_note_cycles(decoder, NULL);
    segment->end = segment->reached;
    notes->cycles.list.count = w->changes;
    return segment->end > segment->begin && !notes->cycles.failed &&
           pd_pt_snapshot_counts(notes->entry, notes->exit);
}

/* Where a sample is near no segment begins. */
static bool walk_one(struct walk *w, const struct pd_synth_segments *segments,
                     struct pd_segment *segment)
{
    *w = (struct walk){ .worker = w->worker, .segment = segment };
    w->told = pd_pt_is_near(w->worker->decoder);
    return !w->told && walk_from_entry(w, segments);
}

/* Walks to the first PSB behind what is told. */
static bool pass_told(struct walk *w, const struct pd_synth_segments *segments,
                      struct pd_segment *tail)
{
    struct pd_pt_decoder *decoder = w->worker->decoder;
    struct pd_pt_pauses *pauses = &tail->notes->pauses;
    const struct pd_pt_state *state;
    pd_pt_note_pauses(decoder, pauses); /* they are no steps */
    do {
        state = pd_pt_decode(decoder, UINT64_MAX);
        pauses->ended = false;
    } while (state && !state->error && !is_dropped(segments) &&
             (!(state->type & PD_PT_PSB_EVENT) || pd_pt_is_near(decoder)));
    pd_pt_note_pauses(decoder, NULL);
    pd_pt_pauses_clear(pauses);
    if (!state || state->error || is_dropped(segments))
        return false;
    tail->begin = state->psb_offset;
    return tail->begin < tail->end && pd_pt_snapshot_take(tail->notes->entry, decoder);
}

/* Walks what comes behind the first of what is told, up to `end`. */
static void walk_tails(struct walk *w, const struct pd_synth_segments *segments, uint64_t end)
{
    struct pd_segment **last = &w->segment->tail;
    for (unsigned i = 0; w->told && i < TAILS; i++) {
        struct pd_segment_notes *notes = take_notes(w->worker->pool);
        if (!notes)
            return;
        struct pd_segment *tail = &notes->tail;
        *tail = (struct pd_segment){
            .end = end, .how = SEGMENT_DONE, .is_tail = true, .notes = notes
        };
        bool begins = pass_told(w, segments, tail);
        if (begins && walk_one(w, segments, tail)) {
            *last = tail;
            last = &tail->tail;
        } else {
            pd_synth_free_segment(w->worker->pool, tail);
        }
        if (!begins)
            return;
    }
}

bool pd_synth_walk_segment(struct pd_segment_worker *worker,
                           const struct pd_synth_segments *segments, struct pd_segment *segment)
{
    const uint64_t end = segment->end;
    struct walk w = { .worker = worker };
    if (worker->pool->step_logs)
        segment->step_log = take_step_log(worker->pool);
    segment->notes = take_notes(worker->pool);
    const bool ready = segment->notes && (segment->step_log || !worker->pool->step_logs);
    if (!ready || !make_ready(worker, segments) || !warm_up(worker, segments, segment))
        return false;
    segment->empty = !walk_one(&w, segments, segment);
    walk_tails(&w, segments, end);
    return !segment->empty || segment->tail;
}
