/* SPDX-License-Identifier: MIT */
/* A batch of records -> rows of samples with the worker's numbers of their stacks. */
#include "profile/profile.h"
#include "format/offsets.h"
#include "render/raw_dump/record_text.h"
#include "render/script/plan.h"
#include <stdlib.h>

/* How many chains of callers a worker remembers, and how many bytes of them. */
#define CALLERS_KEPT 65536
#define CALLERS_MEMORY (UINT64_C(16) << 20)

/* The most frames of a copied stack, whatever limit the chains of the recording have. */
enum { UNWOUND_LIMIT = 8192 };

struct pd_profile_worker *pd_profile_worker_new(struct pd_profile_shared *shared,
                                                struct pd_resolver *resolver)
{
    struct pd_profile_worker *worker = calloc(1, sizeof *worker);
    if (!worker)
        return NULL;
    worker->shared = shared;
    worker->resolver = resolver;
    pd_resolver_guest_code(resolver, shared->options->flags & PERFDATA_PROFILE_GUEST_CODE);
    pd_resolver_by_object(resolver, shared->by_points);
    if (pd_profile_tables_renew(worker) &&
        pd_chain_memo_init(&worker->callers, CALLERS_KEPT, CALLERS_MEMORY) &&
        (!shared->by_points || pd_profile_points_init(&worker->points)))
        return worker;
    pd_profile_worker_free(worker);
    return NULL;
}

void pd_profile_worker_free(struct pd_profile_worker *worker)
{
    if (!worker)
        return;
    pd_chain_memo_free(&worker->callers);
    pd_profile_points_free(&worker->points);
    pd_profile_tables_leave(worker->tables);
    pd_blocks_free(&worker->functions);
    pd_map64_free(&worker->function_map);
    pd_map64_free(&worker->mapping_map);
    pd_vec_free(&worker->kernel_maps);
    pd_vec_free(&worker->function_ids);
    free(worker->frames);
    free(worker);
}

/* ---- the stack of a sample ---- */

struct facts {
    const struct pd_sample *sample;
    const struct pd_thread *thread;
    uint64_t number;
    struct pd_location *own; /* where the sample was */
};

bool pd_profile_is_stop(const struct pd_profile_worker *worker, const struct pd_location *location)
{
    const struct pd_name_set *stop = &worker->shared->stop;
    return PD_UNLIKELY(stop->count) && location && location->sym &&
           pd_name_set_has(stop, location->sym->name, location->sym->name_length);
}

static bool has_chain(const struct pd_sample *sample)
{
    return sample->callchain_count || sample->stack_dynamic_size ||
           (sample->branch_count && sample->callchain);
}

static bool make_room(struct pd_profile_worker *worker, const struct pd_sample *sample)
{
    size_t max = worker->shared->max_stack;
    /* The caller of a leaf function may be added, and the processor's call stack, with two ends for
     * each branch. */
    size_t want = PD_MIN((size_t)sample->callchain_count + 2, max) +
                  2 * ((size_t)sample->branch_count + 1);
    if (sample->stack_dynamic_size)
        want += PD_MIN(max, (size_t)UNWOUND_LIMIT);
    if (want <= worker->frame_capacity)
        return true;
    struct pd_frame *grown = realloc(worker->frames, (want + 64) * sizeof *grown);
    if (!grown)
        return false;
    worker->frames = grown;
    worker->frame_capacity = want + 64;
    return true;
}

/* The stack of frames[from, count), callees first. False: no memory. */
static bool stack_of(struct pd_profile_worker *worker, const struct pd_frame *frames, size_t from,
                     size_t count, uint32_t *stack)
{
    *stack = PERFDATA_NONE;
    for (size_t i = from; i < count; i++)
        if (pd_profile_is_stop(worker, frames[i].location))
            count = i + 1;
    for (size_t i = count; i-- > from;) {
        uint32_t frame = pd_profile_local_frame(worker, frames[i].location);
        if (frame == PERFDATA_NONE)
            return false;
        *stack = pd_profile_local_stack(worker, frame, *stack);
        if (*stack == PERFDATA_NONE)
            return false;
    }
    return true;
}

/* How many of the first frames say where the sample itself was: its function, and those inlined
 * into it. */
static size_t own_frames(const struct facts *facts, const struct pd_frame *frames, size_t count)
{
    size_t i = 0;
    while (i < count && frames[i].location->sym && frames[i].location->sym->inlined)
        i++;
    const struct pd_location *own = facts->own;
    if (i == count || frames[i].location->dso != own->dso || frames[i].location->sym != own->sym)
        return 0;
    return own->sym || frames[i].location->addr == own->addr ? i + 1 : 0;
}

/* Puts the sample's own place on its callers, which end there if it is a stop. */
static uint32_t finish_stack(struct pd_profile_worker *worker, const struct facts *facts,
                             uint32_t callers)
{
    uint32_t frame = pd_profile_local_frame(worker, facts->own);
    if (frame == PERFDATA_NONE)
        return PERFDATA_NONE;
    return pd_profile_local_stack(worker, frame,
                                  pd_profile_is_stop(worker, facts->own) ? PERFDATA_NONE : callers);
}

/* `key` not NULL: the chain came in two parts, and the stack of the second is to be remembered. */
static uint32_t walk_chain(struct pd_profile_worker *worker, const struct facts *facts,
                           const struct pd_chain_key *key)
{
    bool invalid = false;
    uint32_t callers;
    if (!make_room(worker, facts->sample))
        return PERFDATA_NONE;
    size_t count = pd_resolve_chain(worker->resolver, facts->sample, facts->thread, facts->number,
                                    worker->shared->max_stack, worker->frames,
                                    worker->frame_capacity, &invalid);
    const struct pd_frame *frames = worker->frames;
    if (!(worker->shared->options->flags & PERFDATA_PROFILE_NO_INLINE) &&
        !(frames = pd_chain_inlined(worker->resolver, worker->frames, &count)))
        return PERFDATA_NONE;
    size_t own = own_frames(facts, frames, count);
    if (own > 1) /* functions inlined into the sample's own are its callees */
        return stack_of(worker, frames, 0, count, &callers) ? callers : PERFDATA_NONE;
    if (!stack_of(worker, frames, own, count, &callers))
        return PERFDATA_NONE;
    if (key && own && !invalid)
        pd_chain_memo_keep(&worker->callers, key, &callers, sizeof callers);
    return finish_stack(worker, facts, callers);
}

/* The same callers come again and again while the sample's own address differs, so their stack is
 * remembered. */
static uint32_t resolve_stack(struct pd_profile_worker *worker, const struct facts *facts)
{
    struct pd_chain_parts parts;
    const struct pd_sample *sample = facts->sample;
    if (worker->shared->options->flags & PERFDATA_PROFILE_NO_CALLCHAIN || !has_chain(sample))
        return finish_stack(worker, facts, PERFDATA_NONE);
    const struct pd_chain_entries chain = pd_chain_entries_of(sample);
    if (pd_chain_has_more(sample) || !pd_chain_split(&chain, &parts) || parts.ip != sample->ip ||
        parts.cpumode != sample->cpumode)
        return walk_chain(worker, facts, NULL);
    struct pd_chain_key key = { pd_resolver_stamp(worker->resolver, facts->thread, facts->number),
                                parts.cpumode, parts.callers, parts.caller_count };
    uint32_t size;
    const uint32_t *callers = pd_chain_memo_find(&worker->callers, &key, &size);
    return callers ? finish_stack(worker, facts, *callers) : walk_chain(worker, facts, &key);
}

static uint32_t take_stack(struct pd_profile_worker *worker, const struct pd_delivered *record,
                           const struct pd_profile_taken *taken)
{
    const struct pd_sample *sample = taken->sample;
    struct facts facts = { sample, record->thread, record->number, taken->own };
    uint32_t stack;
    if (worker->shared->by_points && pd_profile_points_stack(worker, record, sample, &stack))
        return stack;
    if (!facts.own && !(facts.own = pd_resolve(worker->resolver, record->thread, record->number,
                                               sample->cpumode, sample->ip)))
        return PERFDATA_NONE;
    return resolve_stack(worker, &facts);
}

/* ---- samples ---- */

static bool is_guest(const struct pd_sample *sample)
{
    return sample->cpumode == PD_CPUMODE_GUEST_KERNEL || sample->cpumode == PD_CPUMODE_GUEST_USER;
}

static bool shows_guests(const struct pd_profile_shared *shared)
{
    return shared->takes_guests || shared->options->flags & PERFDATA_PROFILE_GUEST_CODE ||
           shared->session.guests.wanted;
}

static bool add_values(const struct pd_profile_shared *shared, struct pd_profile_rows *rows,
                       const struct pd_sample *s, const struct pd_synth_facts *f)
{
    static const struct pd_synth_facts nothing;
    if (!pd_vec_reserve(&rows->values, rows->values.count + shared->column_count))
        return false;
    f = f ? f : &nothing;
    for (size_t i = 0; i < shared->column_count; i++) {
        uint64_t value = 0;
        switch (shared->columns[i]) {
#define COLUMN(NAME, name, bits, get)                                                              \
    case PERFDATA_COLUMN_##NAME:                                                                   \
        value = get;                                                                               \
        break;
#include "profile/columns.def"
#undef COLUMN
        default: break;
        }
        rows->values.data[rows->values.count++] = value;
    }
    return true;
}

static const struct pd_sample *decode(struct pd_profile_worker *worker,
                                      const struct pd_delivered *record, struct pd_sample *local)
{
    if (pd_synth_is_fixed(record)) {
        pd_synth_sample(record, &worker->synthesised);
        return &worker->synthesised;
    }
    return pd_delivered_sample(record, local) < 0 ? NULL : local;
}

int pd_profile_take(struct pd_profile_worker *worker, const struct pd_delivered *record,
                    struct pd_profile_taken *out)
{
    struct pd_profile_shared *shared = worker->shared;
    const struct pd_filter *filter = &shared->filter;
    const struct pd_sample *sample = out->sample = decode(worker, record, &out->local);
    if (!sample) {
        perfdata_status status = pd_issue(&shared->recording->context, PERFDATA_ISSUE_BAD_SAMPLE,
                                          (int64_t)record->offset,
                                          "a sample says more than it holds");
        return status < 0 ? (int)status : PD_PROFILE_DROPPED;
    }
    if (PD_UNLIKELY(is_guest(sample)) && !shows_guests(shared))
        return PD_PROFILE_DROPPED;
    if (pd_filter_has_thread(filter) && !pd_filter_thread(filter, record->thread, record->number))
        return PD_PROFILE_DROPPED;
    out->own = NULL;
    if ((shared->without_places || shared->by_points) && !pd_filter_has_location(filter))
        return PD_PROFILE_TAKEN;
    out->own = pd_resolve(worker->resolver, record->thread, record->number, sample->cpumode,
                          sample->ip);
    if (!out->own) {
        (void)pd_no_memory(&worker->shared->recording->context, "the profile");
        return PERFDATA_ERROR_MEMORY;
    }
    return !pd_filter_has_location(filter) ||
                   pd_filter_location(filter, shared->session.symbols, out->own)
               ? PD_PROFILE_TAKEN
               : PD_PROFILE_DROPPED;
}

static bool place_of(struct pd_profile_worker *worker, struct pd_location *location,
                     struct pd_profile_place *out)
{
    *out = (struct pd_profile_place){ .frame = PERFDATA_NONE };
    if (!location)
        return false;
    if (!location->map)
        return true;
    out->address = location->addr;
    out->is_known = location->sym != NULL;
    out->frame = pd_profile_local_frame(worker, location);
    return out->frame != PERFDATA_NONE;
}

/* The program that the process runs, known by the name that it began with. */
static uint32_t program_of(const struct pd_profile_shared *shared, const struct pd_comm *comm)
{
    uint32_t program = PERFDATA_NONE;
    for (; comm; comm = pd_comm_before(comm)) {
        program = comm->index;
        if (!shared->by_exec || (atomic_load(&comm->exec) && !comm->default_text))
            break;
    }
    return program;
}

/* A step of a trace, for calls. */
static bool take_branch(struct pd_profile_worker *worker, const struct pd_delivered *record,
                        const struct pd_profile_taken *taken, const struct pd_comm *comm,
                        struct pd_profile_rows *rows)
{
    const struct pd_sample *sample = taken->sample;
    const struct pd_synth_facts *facts = record->facts;
    const struct pd_symbol *from = taken->own->sym;
    struct pd_location *to = pd_resolve_any(worker->resolver, record->thread, record->number,
                                            sample->cpumode, sample->addr);
    struct pd_profile_branch row = {
        .step = { .ip = sample->ip,
                  .addr = sample->addr,
                  .time = sample->time,
                  .insns = facts->insn_count,
                  .cycles = facts->cycle_count,
                  .trace = record->thread->tid == UINT32_MAX ? 0 : facts->trace,
                  .flags = facts->flags,
                  .insn_length = facts->insn_length,
                  .at_start = to && to->map && (!to->sym || to->addr == to->sym->start),
                  .from_is_thunk = from && !strncmp(from->name, "__x86_indirect_thunk_", 21) },
        .thread = record->thread,
        .comm = comm ? pd_comm_text(comm, record->number) : NULL,
        .pid = sample->pid,
        .cpu = sample->cpu,
        .program = program_of(worker->shared, comm),
    };
    return place_of(worker, taken->own, &row.from) && place_of(worker, to, &row.to) &&
           pd_vec_push(&rows->branches, row);
}

static perfdata_status take_row(struct pd_profile_worker *worker, const struct pd_delivered *record,
                                const struct pd_profile_taken *taken, const char *comm,
                                struct pd_profile_rows *rows)
{
    struct pd_profile_shared *shared = worker->shared;
    const struct pd_sample *sample = taken->sample;
    uint32_t stack = take_stack(worker, record, taken);
    if (stack == PERFDATA_NONE ||
        (shared->column_count && !add_values(shared, rows, sample, record->facts)))
        return pd_no_memory(&worker->shared->recording->context, "the profile");
    struct pd_profile_row row = {
        .time = sample->time,
        .weight = sample->period,
        .thread = record->thread,
        .comm = comm,
        .stack = stack,
        .event = record->event->index,
        .cpu = sample->cpu,
        .pid = sample->pid,
    };
    return pd_vec_push(&rows->rows, row)
               ? PERFDATA_OK
               : pd_no_memory(&worker->shared->recording->context, "the profile");
}

/* Keeps a trace's event that tells of a moment as a mark. */
static bool take_event_mark(const struct pd_sample *sample, struct pd_profile_rows *rows)
{
    struct pd_text *texts = &rows->mark_texts;
    struct perfdata_profile_mark mark = { .time = sample->time,
                                          .kind = PERFDATA_MARK_EVENT,
                                          .cpu = sample->cpu,
                                          .tid = sample->tid,
                                          .reserved = (uint32_t)texts->length + 1,
                                          .count = 1 };
    pd_text_string(texts, sample->event->name);
    if (pd_script_has_values(sample)) {
        pd_text_string(texts, ": ");
        size_t from = texts->length, blanks = 0;
        pd_script_values(sample, texts);
        while (texts->length > from && texts->data[texts->length - 1] == ' ')
            texts->length--;
        while (from + blanks < texts->length && texts->data[from + blanks] == ' ')
            blanks++;
        texts->length -= blanks;
        if (blanks)
            memmove(texts->data + from, texts->data + from + blanks, texts->length - from);
    }
    pd_text_char(texts, '\0');
    return !texts->failed && pd_vec_push(&rows->marks, mark);
}

static perfdata_status take_sample(struct pd_profile_worker *worker,
                                   const struct pd_delivered *record, struct pd_profile_rows *rows)
{
    const struct pd_profile_shared *shared = worker->shared;
    struct pd_profile_taken taken;
    int verdict = pd_profile_take(worker, record, &taken);
    if (verdict != PD_PROFILE_TAKEN)
        return verdict < 0 ? (perfdata_status)verdict : PERFDATA_OK;
    const struct pd_comm *comm = pd_thread_comm(record->thread, record->number);
    const char *text = comm ? pd_comm_text(comm, record->number) : NULL;
    if (PD_UNLIKELY(shared->pairs) && record->facts && !record->facts->recorded &&
        pd_script_address_is_code(record->event)) {
        if (!take_branch(worker, record, &taken, comm, rows))
            return pd_no_memory(&worker->shared->recording->context, "the profile");
        if (shared->options->flags & PERFDATA_PROFILE_NO_BRANCHES)
            return PERFDATA_OK;
    }
    if (PD_UNLIKELY(taken.sample->event->attr.type == (uint32_t)PD_TYPE_SYNTH) &&
        shared->options->flags & PERFDATA_PROFILE_MARKS && !take_event_mark(taken.sample, rows))
        return pd_no_memory(&worker->shared->recording->context, "the profile");
    return take_row(worker, record, &taken, text, rows);
}

/* ---- switches ---- */

static perfdata_status take_switch(struct pd_profile_worker *worker,
                                   const struct pd_delivered *record, struct pd_profile_rows *rows)
{
    const struct pd_profile_shared *shared = worker->shared;
    struct pd_identity identity;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    if (!record->thread || !pd_filter_time(&shared->filter, identity.time) ||
        !pd_filter_cpu(&shared->filter, identity.cpu) ||
        (pd_filter_has_thread(&shared->filter) &&
         !pd_filter_thread(&shared->filter, record->thread, record->number)))
        return PERFDATA_OK;
    const struct pd_comm *comm = pd_thread_comm(record->thread, record->number);
    bool out = record->misc & PD_MISC_SWITCH_OUT, swap = shared->recording->swap;
    bool wide = record->type == PD_RECORD_SWITCH_CPU_WIDE && record->size >= 16;
    struct pd_profile_switch_row row = {
        .given = { .time = identity.time,
                   .cpu = identity.cpu,
                   .flags = (out ? PERFDATA_SWITCH_OUT : 0) |
                            (out && record->misc & PD_MISC_SWITCH_OUT_PREEMPT
                                 ? PERFDATA_SWITCH_PREEMPTED
                                 : 0),
                   .other_pid =
                       wide ? pd_load32(record->data + PD_AT(switch_cpu_wide, next_prev_pid), swap)
                            : UINT32_MAX,
                   .other_tid =
                       wide ? pd_load32(record->data + PD_AT(switch_cpu_wide, next_prev_tid), swap)
                            : UINT32_MAX },
        .thread = record->thread,
        .comm = comm ? pd_comm_text(comm, record->number) : NULL,
        .pid = identity.pid,
    };
    return pd_vec_push(&rows->switches, row)
               ? PERFDATA_OK
               : pd_no_memory(&worker->shared->recording->context, "the profile");
}

/* ---- marks ---- */

/* Fills in the mark of a record that tells of an error. False: it tells of none. */
static bool mark_of(const struct pd_delivered *record, const union pd_any_record *body,
                    struct pd_profile_rows *rows, struct perfdata_profile_mark *out)
{
    struct pd_identity identity = { .time = body->error.time,
                                    .cpu = body->error.cpu,
                                    .tid = body->error.tid };
    *out = (struct perfdata_profile_mark){ .kind = PERFDATA_MARK_LOST, .count = 1 };
    if (record->type == PD_RECORD_AUXTRACE_ERROR) {
        out->kind = PERFDATA_MARK_ERROR;
        out->reserved = (uint32_t)rows->mark_texts.length + 1;
        pd_text_bytes(&rows->mark_texts, body->error.msg.text, body->error.msg.length);
        pd_text_char(&rows->mark_texts, '\0');
    } else {
        pd_record_identity(record->event, record->data, record->size, record->type, &identity);
        if (record->type == PD_RECORD_LOST)
            out->count = body->lost.lost;
        else if (!(body->aux.flags & PD_AUX_TRUNCATED))
            return false;
    }
    out->time = identity.time ? identity.time : UINT64_MAX;
    out->cpu = identity.cpu;
    out->tid = identity.tid;
    return true;
}

/* Keeps a mark for losses and for errors of decoding. */
static perfdata_status take_mark(struct pd_profile_worker *worker,
                                 const struct pd_delivered *record, struct pd_profile_rows *rows)
{
    struct pd_arena arena = { 0 };
    union pd_any_record body;
    struct perfdata_profile_mark mark;
    bool swap = worker->shared->recording->swap, ok = true;
    memset(&body, 0, sizeof body);
    if (pd_record_decode(record->event, record->data, record->size, swap, &arena, &body,
                         pd_any_record_size(record->type)) >= 0 &&
        mark_of(record, &body, rows, &mark) && pd_filter_time(&worker->shared->filter, mark.time))
        ok = !rows->mark_texts.failed && pd_vec_push(&rows->marks, mark);
    pd_arena_free(&arena);
    return ok ? PERFDATA_OK : pd_no_memory(&worker->shared->recording->context, "the profile");
}

/* ---- batches ---- */

/* Begins anew when the tables are large, with whatever else holds their numbers. */
static bool limit_tables(struct pd_profile_worker *worker)
{
    const struct pd_profile_tables *tables = worker->tables;
    const uint32_t most = worker->shared->bounds.numbered;
    if (PD_LIKELY(tables->stacks.count <= most && tables->framelist.count <= most))
        return true;
    pd_chain_memo_forget(&worker->callers);
    pd_profile_points_forget(worker);
    return pd_profile_tables_renew(worker);
}

perfdata_status pd_profile_collect(struct pd_profile_worker *worker, struct pd_batch *batch)
{
    struct pd_profile_rows *rows = batch->result;
    if ((!rows && !(rows = batch->result = calloc(1, sizeof *rows))) || !limit_tables(worker))
        return pd_no_memory(&worker->shared->recording->context, "the profile");
    rows->tables = worker->tables;
    atomic_fetch_add_explicit(&rows->tables->users, 1, memory_order_relaxed);
    rows->rows.count = rows->values.count = rows->switches.count = 0;
    rows->branches.count = rows->marks.count = rows->mark_texts.length = 0;
    pd_resolver_trim(worker->resolver);
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < batch->count && status >= 0; i++) {
        const struct pd_delivered *record = &batch->records[i];
        if (worker->shared->by_points)
            pd_batch_ahead_of_points(batch, i);
        else
            pd_batch_ahead(batch, i, worker->resolver);
        if (PD_LIKELY(record->type == PD_RECORD_SAMPLE)) {
            if (PD_LIKELY(record->event != NULL))
                status = take_sample(worker, record, rows);
        } else if (record->type == PD_RECORD_SWITCH || record->type == PD_RECORD_SWITCH_CPU_WIDE) {
            status = take_switch(worker, record, rows);
        } else if (worker->shared->options->flags & PERFDATA_PROFILE_MARKS) {
            status = take_mark(worker, record, rows);
        }
    }
    return status;
}
