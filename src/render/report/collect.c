/* SPDX-License-Identifier: MIT */
/* Samples into tables: each worker counts for itself. */
#include "render/report/collect.h"
#include "format/offsets.h"
#include <stdlib.h>

/* Chains of callers that a worker remembers, and the bytes of them. */
#define CALLERS_KEPT 65536
#define CALLERS_MEMORY (UINT64_C(16) << 20)

enum { UNWOUND_LIMIT = 8192 }; /* frames of a copied stack, whatever --max-stack says */

/* Whether the callers' part of a chain counts for the same cell whenever it occurs: that is so if a
 * chain depends on its frames alone. */
static bool remembers_callers(const struct pd_report_plan *plan)
{
    bool wants_parent = pd_hist_key_at(&plan->hist, PD_KEY_PARENT);
    return (plan->hist.use_chains || plan->hist.children) && !wants_parent &&
           !plan->patterns.has_ignore && plan->chains.max_stack;
}

/* Whether processes may share what is known of an object's addresses: nothing in the report tells a
 * map, or where it lies. */
static bool is_by_object(const struct pd_report_collecting *shared)
{
    const struct pd_report_plan *plan = shared->plan;
    return plan->mode == PD_REPORT_NORMAL && !plan->hist.keeps_addresses &&
           !plan->chains.shows_ends && !plan->filter.address_count && !shared->session->synth &&
           !pd_hist_key_at(&plan->hist, PD_KEY_DSO_SIZE);
}

struct pd_report_state *pd_report_state_new(struct pd_report_collecting *shared,
                                            struct pd_resolver *resolver)
{
    struct pd_report_state *state = calloc(1, sizeof *state);
    if (!state)
        return NULL;
    state->shared = shared;
    state->resolver = resolver;
    pd_resolver_from_caller(resolver, shared->plan->hist.caller_order);
    pd_resolver_join_branches(resolver, shared->plan->chains.with_branches);
    pd_resolver_no_host(resolver, shared->plan->no_host);
    pd_resolver_by_object(resolver, is_by_object(shared));
    /* A tracepoint's text tells how far into a function an address lies, so functions are not
     * enough then. */
    state->by_spots = pd_resolver_by_function(resolver, !shared->wants_chain &&
                                                            !shared->plan->payloads.formats);
    state->by_name = shared->plan->code_symbol != NULL;
    pd_resolver_join_outside(resolver, state->by_name);
    state->last_cell = PD_HIST_NONE;
    pd_hist_init(&state->hist, &shared->plan->hist);
    if (remembers_callers(shared->plan) &&
        (!pd_chain_memo_init(&state->callers, CALLERS_KEPT, CALLERS_MEMORY) ||
         !pd_report_stacks_init(&state->stacks))) {
        pd_chain_memo_free(&state->callers);
        pd_report_stacks_free(&state->stacks);
        free(state);
        return NULL;
    }
    return state;
}

/* ---- one sample ---- */

/* Compares here, since keys are a few words only: a call would cost more. */
PD_INLINE bool same_key(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint64_t differ = 0;
    for (size_t i = 0; i < words; i++)
        differ |= a[i] ^ b[i]; /* NOLINT: pd_report_fill_key() has set as many words as there are */
    return !differ;
}

/* The entry that the location counted for last is nearly always this sample's, too: no hashing
 * then. It stands in the upper half of memo[0]. */
static uint32_t entry_of(struct pd_report_state *state, struct pd_location *location,
                         const uint64_t *key)
{
    uint32_t last = (uint32_t)(location->memo[0] >> 32);
    if (last && same_key(pd_hist_key_of(&state->hist, last - 1), key, state->hist.words))
        return last - 1;
    uint32_t id = pd_hist_entry_id(&state->hist, key);
    if (id != PD_HIST_NONE)
        location->memo[0] = (uint64_t)(id + 1) << 32 | (uint32_t)location->memo[0];
    return id;
}

/* ---- chains ---- */

static PD_NOINLINE uint32_t new_frame(struct pd_report_state *state, const struct pd_frame *frame)
{
    struct pd_location *location = frame->location;
    bool sized = pd_hist_key_at(&state->hist.options, PD_KEY_DSO_SIZE);
    struct pd_hist_frame made = {
        .dso = location->dso,
        .symbol = location->sym,
        .ip = frame->ip,
        .place = location->sym ? location->sym->start : location->addr,
        .map_bias = location->map ? location->ip - location->addr : 0,
        .map_size = sized && location->map ? location->map->end - location->map->start : 0,
        .kernel = location->is_kernel_map,
        .has_map = location->map != NULL,
        .is_data = location->sym && pd_symbol_is_data(location->sym),
    };
    if (state->hist.options.keeps_addresses) {
        made.map = location->map;
        made.addr = location->addr;
        made.line = made.file = PD_HIST_NONE;
        made.nested = location->is_nested;
        made.call_file = location->is_nested ? pd_nested_of(location)->file : NULL;
        made.call_line = location->is_nested ? pd_nested_of(location)->line : 0;
        if (pd_hist_key_at(&state->hist.options, PD_KEY_SRCLINE))
            made.line = pd_report_frame_word(state, frame, PD_KEY_SRCLINE);
        if (pd_hist_key_at(&state->hist.options, PD_KEY_SRCFILE))
            made.file = pd_report_frame_word(state, frame, PD_KEY_SRCFILE);
    }
    uint32_t id = pd_hist_frame_id(&state->hist, &made);
    if (id != PD_HIST_NONE)
        location->memo[1] = (uint64_t)id + 1;
    if (location->of_object)
        location->ip = frame->ip;
    return id;
}

/* Frames that share a location take the least address that any of them was seen with. */
static PD_NOINLINE void lower(struct pd_report_state *state, const struct pd_frame *frame,
                              uint32_t id)
{
    struct pd_hist_frame *known = &state->hist.frames.data[id];
    known->ip = PD_MIN(known->ip, frame->ip);
    frame->location->ip = frame->ip;
}

/* The frame of the same place as an end of a branch. */
static PD_NOINLINE uint32_t end_of(struct pd_report_state *state, uint32_t frame_id, uint64_t end)
{
    if (frame_id == PD_HIST_NONE || !state->shared->plan->chains.shows_ends)
        return frame_id;
    struct pd_hist_frame frame = state->hist.frames.data[frame_id];
    frame.end = end;
    return pd_hist_frame_id(&state->hist, &frame);
}

PD_INLINE uint32_t frame_of(struct pd_report_state *state, const struct pd_frame *frame)
{
    uint64_t known = frame->location->memo[1];
    uint32_t id = PD_LIKELY(known) ? (uint32_t)known - 1 : new_frame(state, frame);
    if (PD_UNLIKELY(known && frame->location->of_object && frame->ip < frame->location->ip))
        lower(state, frame, id);
    return PD_LIKELY(!frame->end) ? id : end_of(state, id, frame->end);
}

uint32_t pd_report_frame_id(struct pd_report_state *state, const struct pd_frame *frame)
{
    return frame_of(state, frame);
}

static bool matches(const regex_t *pattern, const struct pd_location *location)
{
    return location->sym && !regexec(pattern, location->sym->name, 0, NULL, 0);
}

/* Without --parent perf looks for ^sys_|^do_page_fault. */
static bool is_parent(const struct pd_report_plan *plan, const struct pd_location *location)
{
    if (plan->patterns.has_parent)
        return matches(&plan->patterns.parent, location);
    return location->sym &&
           (!strncmp(location->sym->name, "sys_", strlen("sys_")) ||
            !strncmp(location->sym->name, "do_page_fault", strlen("do_page_fault")));
}

/* Looks for the parent and for functions whose callees are ignored, in the order of the chain,
 * among the first `recorded` frames, as perf does not look at frames that it unwinds. Returns how
 * many frames of `frames` (callee first) are left; *skip of them are left out at the beginning. */
static size_t look_for_parent(const struct pd_report_plan *plan, struct pd_report_facts *facts,
                              const struct pd_frame *frames, size_t count, size_t recorded,
                              size_t *skip)
{
    bool wants_parent = pd_hist_key_at(&plan->hist, PD_KEY_PARENT),
         caller = plan->hist.caller_order;
    size_t begin = 0, end = count;
    for (size_t i = 0; (wants_parent || plan->patterns.has_ignore) && i < recorded; i++) {
        size_t at = caller ? recorded - 1 - i : i;
        struct pd_location *location = frames[at].location;
        if (wants_parent && !facts->parent && is_parent(plan, location)) {
            facts->parent = location->sym;
        } else if (plan->patterns.has_ignore && matches(&plan->patterns.ignore, location)) {
            facts->location = location;
            facts->ignores_callees = true;
            if (caller)
                end = at + 1;
            else
                begin = at;
        }
    }
    *skip = begin;
    return end - begin;
}

/* Puts a frame before the stack of its callers. False: no memory. */
static bool add_frame(struct pd_report_state *state, const struct pd_frame *frame, uint32_t *cell)
{
    if (state->hist.options.hide_unresolved && !frame->location->sym)
        return true;
    uint32_t id = frame_of(state, frame);
    if (id == PD_HIST_NONE)
        return false;
    *cell = pd_hist_cell_id(&state->hist, id, *cell);
    return true;
}

static void keep_callers(struct pd_report_state *state, const struct pd_chain_key *key,
                         uint32_t cell)
{
    pd_chain_memo_keep(&state->callers, key, &cell, sizeof cell);
}

static bool resolve_chain(struct pd_report_state *state, struct pd_report_facts *facts,
                          const struct pd_chain_key *known)
{
    const struct pd_report_plan *plan = state->shared->plan;
    unsigned max_stack = plan->chains.max_stack;
    const struct pd_sample *sample = facts->sample;
    /* A leaf's caller may be added to the chain, and so may the processor's call stack or its
     * branches, which have two ends each. */
    size_t want = PD_MIN((size_t)sample->callchain_count + 2, (size_t)max_stack) +
                  2 * ((size_t)sample->branch_count + 1);
    if (sample->stack_dynamic_size)
        want += PD_MIN(max_stack, (uint32_t)UNWOUND_LIMIT);
    if (want > state->frame_capacity) {
        struct pd_frame *grown = realloc(state->frames, (want + 64) * sizeof *grown);
        if (!grown)
            return false;
        state->frames = grown;
        state->frame_capacity = want + 64;
    }
    bool invalid = false;
    size_t count = pd_resolve_chain(state->resolver, sample, facts->thread, facts->number,
                                    max_stack, state->frames, state->frame_capacity, &invalid);
    struct pd_frame *frames = state->frames;
    if (!(plan->options->flags & PERFDATA_REPORT_NO_INLINE) &&
        !(frames = pd_chain_inlined(state->resolver, frames, &count)))
        return false;
    size_t skip = 0;
    count = look_for_parent(plan, facts, frames, count, count - pd_chain_unwound(state->resolver),
                            &skip);
    if (!plan->hist.use_chains && !plan->hist.children)
        return true;
    frames += skip;
    bool caller = plan->hist.caller_order;
    facts->cell = PD_HIST_NONE;
    for (size_t i = 0; i < count; i++) {
        if (known && !caller && i + 1 == count)
            keep_callers(state, known, facts->cell);
        if (!add_frame(state, &frames[caller ? i : count - 1 - i], &facts->cell))
            return false;
    }
    if (known && caller && count)
        keep_callers(state, known, facts->cell);
    return true;
}

/* The same callers come again and again while the leaf's address differs. So the cell of the
 * callers' part is remembered, which in the tree lies below the leaf or on top of it. */

static bool take_chain(struct pd_report_state *state, struct pd_report_facts *facts)
{
    const struct pd_report_plan *plan = state->shared->plan;
    bool caller = plan->hist.caller_order;
    if (state->callers.slots && !pd_chain_has_more(facts->sample) &&
        pd_report_stack_of(state, facts, &facts->cell))
        return true;
    const struct pd_chain_entries chain = pd_chain_entries_of(facts->sample);
    struct pd_chain_parts parts;
    if (!state->callers.slots || pd_chain_has_more(facts->sample) ||
        !pd_chain_split(&chain, &parts) ||
        (caller && facts->sample->callchain_count > plan->chains.max_stack))
        return resolve_chain(state, facts, NULL);
    struct pd_frame leaf = { .ip = parts.ip,
                             .location = pd_resolve_leaf(state->resolver, facts->thread,
                                                         facts->number, &parts) };
    if (!leaf.location || (caller && !add_frame(state, &leaf, &facts->cell)))
        return false;
    struct pd_chain_key key = { pd_resolver_stamp(state->resolver, facts->thread, facts->number),
                                (uint64_t)facts->cell << 8 | parts.cpumode, parts.callers,
                                parts.caller_count };
    uint32_t size;
    const uint32_t *cell = pd_chain_memo_find(&state->callers, &key, &size);
    if (!cell)
        return resolve_chain(state, facts, &key);
    facts->cell = *cell;
    return caller || add_frame(state, &leaf, &facts->cell);
}

/* ---- counting ---- */

/* Whether the sample has anything that makes a chain. Branches alone do only where they are
 * shown. */
static bool has_chain(const struct pd_report_plan *plan, const struct pd_sample *sample)
{
    return sample->callchain_count || sample->stack_dynamic_size ||
           (sample->branch_count && plan->chains.with_branches &&
            (sample->callchain || plan->chains.shows_ends));
}

bool pd_report_take_chain(struct pd_report_state *state, struct pd_report_facts *facts)
{
    return !has_chain(state->shared->plan, facts->sample) || take_chain(state, facts);
}

static perfdata_status count_row(struct pd_report_state *state, const struct pd_report_facts *facts,
                                 uint8_t filtered)
{
    uint64_t
        key[PD_HIST_WORDS]; /* all of its words are set below: clearing them first would be felt */
    pd_report_fill_key(state, facts, key);
    return pd_report_count_entry(state, facts, entry_of(state, facts->location, key), filtered);
}

static perfdata_status count_sample(struct pd_report_state *state, struct pd_report_facts *facts)
{
    const struct pd_report_collecting *shared = state->shared;
    const struct pd_report_plan *plan = shared->plan;
    const struct pd_filter *filter = &plan->filter;
    const struct pd_sample *sample = facts->sample;
    if (!pd_filter_time(filter, sample->time) || !pd_filter_cpu(filter, sample->cpu))
        return 0;
    if (!facts->location)
        facts->location = pd_resolve(state->resolver, facts->thread, facts->number, sample->cpumode,
                                     sample->ip);
    if (!facts->location)
        return PERFDATA_ERROR_MEMORY;
    if (plan->hist.hide_unresolved && !facts->location->sym)
        return 0;
    uint8_t filtered = pd_report_filtered(shared, facts);
    if (PD_UNLIKELY(plan->counts_code) && !pd_report_wants_code(plan, facts->location, filtered))
        return 0;
    struct pd_location *location = facts->location;
    facts->cell = PD_HIST_NONE;
    if (shared->wants_chain && !pd_report_take_chain(state, facts))
        return PERFDATA_ERROR_MEMORY;
    if (plan->mode == PD_REPORT_BRANCH) {
        facts->location = location; /* whatever its callees are ignored for */
        if (plan->exclude_other && !facts->parent)
            filtered |= PD_FILTERED_OTHER;
        return pd_report_count_branches(state, facts, filtered);
    }
    /* perf then goes by the function's place, which it has not filtered by the options. */
    if (PD_UNLIKELY(facts->ignores_callees))
        filtered &= PD_FILTERED_SOCKET;
    if (plan->chains.shows_ends || pd_event_fields(facts->event) & PD_SAMPLE_CALLCHAIN)
        state->last_cell = facts->cell;
    else if (plan->hist.children && shared->sequential)
        facts->cell = state->last_cell; /* perf still has the chain of the sample before */
    if (PD_UNLIKELY(plan->exclude_other) && !facts->parent)
        filtered |= PD_FILTERED_OTHER;
    return plan->mode == PD_REPORT_MEMORY ? pd_report_take_access(state, facts, filtered)
                                          : count_row(state, facts, filtered);
}

/* ---- batches ---- */

static void keep_first(struct pd_report_trace *first, struct pd_report_trace trace)
{
    if (trace.known && (!first->known || trace.number < first->number))
        *first = trace;
}

/* Takes the type of the events that record a trace, which is the first word told of the trace. */
static void take_trace_info(struct pd_report_state *state, const struct pd_delivered *record)
{
    enum { WORDS = sizeof(struct pd_at_auxtrace_info) };
    bool swap = state->shared->session->recording->swap;
    if (record->size < WORDS + 8 ||
        pd_load32(record->data + PD_AT(auxtrace_info, auxtrace_type), swap) != PD_AUXTRACE_INTEL_PT)
        return;
    keep_first(&state->trace, (struct pd_report_trace){ true, record->number,
                                                        pd_load64(record->data + WORDS, swap) });
}

/* What a BPF filter dropped is not lost. perf 6.1 does not know the mark that tells the two
 * apart. */
static void take_lost(struct pd_report_state *state, const struct pd_delivered *record)
{
    const struct pd_recording *recording = state->shared->session->recording;
    uint64_t count = pd_load64(record->data + PD_AT(lost_samples, lost), recording->swap);
    if (record->misc & PD_MISC_LOST_SAMPLES_BPF && !recording->like_perf)
        state->dropped_samples += count;
    else
        state->lost_samples += count;
}

static bool is_of_running(const struct pd_delivered *record)
{
    return record->type == PD_RECORD_SWITCH || record->type == PD_RECORD_SWITCH_CPU_WIDE ||
           record->type == PD_RECORD_EXIT;
}

/* `location` is that of the sample, and `addr` where it was looked up; NULL: it is yet to be looked
 * up. */
static perfdata_status take_record(struct pd_report_state *state, const struct pd_delivered *record,
                                   struct pd_location *location, uint64_t addr)
{
    struct pd_report_collecting *shared = state->shared;
    bool latency = shared->plan->counts_latency;
    if (PD_UNLIKELY(latency && is_of_running(record)))
        return pd_report_running_take(&shared->running, record) ? 0 : PERFDATA_ERROR_MEMORY;
    if (record->type == PD_RECORD_LOST_SAMPLES && record->size >= 16)
        take_lost(state, record);
    if (PD_UNLIKELY(record->type == PD_RECORD_AUXTRACE_INFO))
        take_trace_info(state, record);
    if (record->type != PD_RECORD_SAMPLE || !record->event)
        return 0;
    if (state->by_name && location && pd_code_hist_is_unwanted(location) &&
        pd_sample_is_whole(&record->event->plan, record->data, record->size))
        return 0;
    struct pd_sample sample;
    if (pd_delivered_sample(record, &sample) < 0)
        return pd_issue(&shared->session->recording->context, PERFDATA_ISSUE_BAD_SAMPLE,
                        (int64_t)record->offset, "sample left out: its content exceeds its size");
    /* All members are named: to clear them first would be felt. */
    struct pd_report_facts facts = {
        .event = pd_delivered_event(shared->session->recording, record),
        .sample = &sample,
        .thread = record->thread,
        .number = record->number,
        .period = sample.period,
        .location = location,
        .addr = addr,
        .parent = NULL,
        .cell = PD_HIST_NONE,
        .cpumode = sample.cpumode,
        .ignores_callees = false,
        .parallelism = 0,
        .access = NULL,
    };
    if (PD_UNLIKELY(latency) &&
        !(facts.parallelism = pd_report_parallelism(&shared->running, sample.tid)))
        return PERFDATA_ERROR_MEMORY;
    return count_sample(state, &facts);
}

static perfdata_status take_batch(struct pd_report_state *state, const struct pd_batch *batch)
{
    perfdata_status status = 0;
    struct pd_report_ahead ahead = { .count = 0 };
    for (size_t i = 0; i < batch->count && status == 0; i++) {
        struct pd_location *location = pd_report_look_ahead(state, batch, i, &ahead);
        status = take_record(state, &batch->records[i], location,
                             location ? ahead.addrs[i - ahead.from] : 0);
    }
    return status == 0 ? pd_report_count_accesses(state) : status;
}

static perfdata_status begin_worker(void *data, unsigned worker, struct pd_resolver *resolver,
                                    void **state)
{
    (void)worker;
    *state = pd_report_state_new(data, resolver);
    return *state ? 0 : PERFDATA_ERROR_MEMORY;
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    (void)data;
    return take_batch(state, batch);
}

static perfdata_status leave_to_order(void *data, void *state, struct pd_batch *batch)
{
    (void)data, (void)state, (void)batch;
    return 0;
}

static perfdata_status in_order(void *data, struct pd_batch *batch)
{
    struct pd_report_collecting *shared = data;
    return take_batch(shared->sequential, batch);
}

void pd_report_state_free(struct pd_report_state *state)
{
    if (!state)
        return;
    pd_hist_free(&state->hist);
    pd_code_hist_free(&state->code);
    pd_chain_memo_free(&state->callers);
    pd_report_stacks_free(&state->stacks);
    pd_report_scratch_free(&state->scratch);
    free(state->frames);
    free(state->accesses);
    free(state);
}

/* The tables of the first worker are kept, and those of the others are added to them. */
static perfdata_status give(struct pd_report_collecting *shared, struct pd_report_state *state)
{
    perfdata_status status = state->hist.failed ? PERFDATA_ERROR_MEMORY : 0;
    pthread_mutex_lock(&shared->lock);
    shared->out->lost_samples += state->lost_samples;
    shared->out->dropped_samples += state->dropped_samples;
    keep_first(&shared->out->trace, state->trace);
    if (!shared->has_first) {
        shared->has_first = true;
        shared->out->hist = state->hist;
        shared->out->code = state->code;
        memset(&state->hist, 0, sizeof state->hist);
        memset(&state->code, 0, sizeof state->code);
    } else if (pd_hist_merge(&shared->out->hist, &state->hist) < 0 ||
               !pd_code_hist_merge(&shared->out->code, &state->code)) {
        status = PERFDATA_ERROR_MEMORY;
    }
    if (status < 0)
        shared->out->hist.failed = true;
    pthread_mutex_unlock(&shared->lock);
    pd_report_state_free(state);
    return status;
}

static void end_worker(void *data, unsigned worker, void *state)
{
    (void)worker;
    if (state)
        give(data, state);
}

/* Whether samples must be counted in order, since what one counts for depends on earlier records:
 * in children mode, a sample without a chain takes that of the sample before; its latency depends
 * on earlier context switches. */
static bool is_sequential(const struct pd_recording *recording, const struct pd_report_plan *plan)
{
    uint64_t all = 0, common = UINT64_MAX;
    for (size_t i = 0; i < recording->event_count; i++) {
        /* The trace does not add to its own PEBS records what it adds to other events. */
        all |= pd_event_fields(recording->events[i]) | recording->events[i]->added_type;
        common &= pd_event_fields(recording->events[i]);
    }
    return plan->counts_latency || plan->hist.keeps_log ||
           (plan->hist.children && !plan->chains.shows_ends &&
            (all & ~common) & PD_SAMPLE_CALLCHAIN);
}

/* Works in delivery order, since a sample of one event can switch off those that follow. Times are
 * looked at first, as perf does. */
static int front(void *data, const struct pd_delivered *record)
{
    struct pd_report_collecting *shared = data;
    const struct pd_event *event = record->event;
    if (shared->plan->layout.thread_counts)
        pd_report_reads_add(&shared->out->reads, &shared->session->recording->context, record);
    if (record->type != PD_RECORD_SAMPLE || !event || !pd_event_switch_any(&shared->event_switch))
        return PD_FRONT_PASS;
    uint64_t time = UINT64_MAX;
    if (event->plan.time && event->plan.time + 8u <= record->size)
        time = pd_load64(record->data + event->plan.time, event->plan.swap);
    return pd_filter_time(&shared->plan->filter, time) &&
                   !pd_event_switch_drops(&shared->event_switch, event)
               ? PD_FRONT_PASS
               : PD_FRONT_IGNORE;
}

static perfdata_status fail_without_switches(struct pd_session *session)
{
    return pd_fail(&session->recording->context, PERFDATA_ERROR_NO_DATA, -1,
                   "No context switches were recorded, which tell how many threads ran: "
                   "record --switch-events");
}

static bool wants_chain(const struct pd_report_plan *plan)
{
    return plan->hist.use_chains || plan->hist.children ||
           pd_hist_key_at(&plan->hist, PD_KEY_PARENT);
}

/* The only function whose samples are needed, where nothing else hangs on others; NULL: all are. */
static const char *only_symbol(const struct pd_report_collecting *shared)
{
    const struct pd_report_plan *plan = shared->plan;
    return is_by_object(shared) && !shared->wants_chain && !plan->payloads.formats &&
                   !plan->no_host && !is_sequential(shared->session->recording, plan)
               ? plan->code_symbol
               : NULL;
}

perfdata_status pd_report_collect(struct pd_session *session, const struct pd_report_plan *plan,
                                  unsigned threads, struct pd_report_counts *out)
{
    struct pd_report_collecting shared = { .plan = plan,
                                           .session = session,
                                           .out = out,
                                           .wants_chain = wants_chain(plan),
                                           .event_switch = plan->event_switch };
    struct pd_consumer consumer = {
        .kind = PD_CONSUME_COMMUTATIVE,
        .warns = PD_WARN_READ,
        .data = &shared,
        .types = { [PD_RECORD_LOST_SAMPLES / 64] = UINT64_C(1) << PD_RECORD_LOST_SAMPLES % 64,
                   [PD_RECORD_AUXTRACE_INFO / 64] = UINT64_C(1) << PD_RECORD_AUXTRACE_INFO % 64 },
        .order = PD_ORDER_DELIVERY,
        .begin = begin_worker,
        .work = work,
        .end = end_worker,
        .front = pd_event_switch_any(&plan->event_switch) || plan->layout.thread_counts ? front
                                                                                        : NULL,
        .no_chains = !shared.wants_chain,
        .only_symbol = only_symbol(&shared),
    };
    struct pd_resolver *resolver = NULL;
    memset(out, 0, sizeof *out);
    if (plan->counts_latency)
        consumer.types[0] |= UINT64_C(1) << PD_RECORD_SWITCH |
                             UINT64_C(1) << PD_RECORD_SWITCH_CPU_WIDE |
                             UINT64_C(1) << PD_RECORD_EXIT;
    if (is_sequential(session->recording, plan)) {
        consumer.kind = PD_CONSUME_SEQUENTIAL;
        consumer.begin = NULL;
        consumer.end = NULL;
        consumer.work = leave_to_order;
        consumer.in_order = in_order;
        resolver = pd_resolver_new(session->symbols);
        shared.sequential = resolver ? pd_report_state_new(&shared, resolver) : NULL;
        if (!shared.sequential) {
            pd_resolver_free(resolver);
            return PERFDATA_ERROR_MEMORY;
        }
    }
    pthread_mutex_init(&shared.lock, NULL);
    perfdata_status status = pd_pipeline_run(session, &consumer, threads);
    if (shared.sequential) {
        perfdata_status given = give(&shared, shared.sequential);
        status = status < 0 ? status : given;
        pd_resolver_free(resolver);
    }
    if (status == 0 && plan->counts_latency && !shared.running.has_switches)
        status = fail_without_switches(session);
    pd_map64_free(&shared.running.threads);
    if (!shared.has_first)
        pd_hist_init(&out->hist, &plan->hist);
    pd_hist_settle(&out->hist);
    if (status == 0 && (out->hist.failed || out->reads.failed || out->code.failed))
        status = PERFDATA_ERROR_MEMORY;
    pthread_mutex_destroy(&shared.lock);
    return status;
}
