/* SPDX-License-Identifier: MIT */
/* Records and samples -> the lines of script, made by several workers and put in order. */
#include "base/digits.h"
#include "base/memory.h"
#include "container/handle.h"
#include "render/about/header.h"
#include "render/script/json.h"
#include <unistd.h>

/* More addresses than a record of 64 KiB can hold. */
#define MAX_FRAMES 8192
#define CALL_STACK 128 /* entries of a processor's stack, which --max-stack does not limit */

/* ---- workers ---- */

static bool shows_source(const struct pd_script *script)
{
    if (script->options->flags & PERFDATA_SCRIPT_PT_SOURCE)
        return true;
    for (size_t i = 0; i < script->recording->event_count; i++)
        if (script->events[i].fields & PD_FIELD(SRCCODE))
            return true;
    return false;
}

/* The fields that tell no more of an address than its object, its function and its line. */
#define OBJECT_FIELDS                                                                              \
    (PD_FIELD(COMM) | PD_FIELD(TID) | PD_FIELD(PID) | PD_FIELD(TIME) | PD_FIELD(CPU) |             \
     PD_FIELD(EVENT) | PD_FIELD(TRACE) | PD_FIELD(IP) | PD_FIELD(SYM) | PD_FIELD(DSO) |            \
     PD_FIELD(SYMOFF) | PD_FIELD(SRCLINE) | PD_FIELD(PERIOD) | PD_FIELD(MISC) | PD_FIELD(TOD) |    \
     PD_FIELD(ADDR) | PD_FIELD(DATA_SRC) | PD_FIELD(WEIGHT) | PD_FIELD(INS_LAT) |                  \
     PD_FIELD(BPF_OUTPUT) | pd_word_fields)

/* Whether processes may share the texts of an object's addresses. */
static bool is_by_object(const struct pd_script *script)
{
    const uint32_t others = PERFDATA_SCRIPT_JSON | PERFDATA_SCRIPT_PT_EVENTS | PERFDATA_SCRIPT_DUMP;
    for (size_t i = 0; i < script->recording->event_count; i++)
        if (script->events[i].fields & ~OBJECT_FIELDS || script->events[i].event->synthesised)
            return false;
    return !script->dlfilter && !script->filter.address_count && !script->session.synth &&
           !(script->options->flags & others);
}

static perfdata_status begin(void *data, unsigned index, struct pd_resolver *resolver, void **state)
{
    struct pd_script *script = data;
    struct pd_script_worker *worker = calloc(1, sizeof *worker);
    (void)index;
    *state = worker;
    if (worker) {
        worker->script = script;
        worker->resolver = resolver;
        pd_resolver_guest_code(resolver, script->options->flags & PERFDATA_SCRIPT_GUEST_CODE);
        pd_resolver_by_object(resolver, is_by_object(script));
        /* A chain may consist of the recorded one, the unwound one and the processor's. */
        worker->frame_capacity = PD_MIN(2 * (size_t)script->form.max_stack + CALL_STACK,
                                        MAX_FRAMES);
        worker->frames = calloc(worker->frame_capacity + 1, sizeof *worker->frames);
        if (script->is_stat)
            worker->stat = pd_script_stat_new();
        if (shows_source(script))
            worker->source = pd_script_source_new();
        if (script->session.code)
            worker->code = pd_code_reader_new(script->session.code);
        if (pd_chain_memo_init(&worker->texts.chains, PD_CHAIN_TEXTS, PD_CHAIN_MEMORY) &&
            pd_chain_memo_init(&worker->texts.kernel_chains, PD_KERNEL_TEXTS, PD_KERNEL_MEMORY) &&
            worker->frames && (worker->stat || !script->is_stat) &&
            (worker->source || !shows_source(script)) && (worker->code || !script->session.code))
            return PERFDATA_OK;
        pd_code_reader_free(worker->code);
        pd_script_stat_free(worker->stat);
        pd_script_source_free(worker->source);
        pd_chain_memo_free(&worker->texts.chains);
        pd_chain_memo_free(&worker->texts.kernel_chains);
        free(worker->frames);
        free(worker);
        *state = NULL;
    }
    return pd_no_memory(&script->recording->context, "a worker");
}

static void end(void *data, unsigned index, void *state)
{
    struct pd_script *script = data;
    struct pd_script_worker *worker = state;
    (void)index;
    if (!worker)
        return;
    script->samples += worker->samples;
    pd_code_reader_free(worker->code);
    script->errors += worker->errors;
    pd_map64_free(&worker->traced.graph_depths);
    pd_script_pt_free(worker);
    pd_map64_free(&worker->guests.at);
    pd_vec_free(&worker->guests.names);
    pd_vec_free(&worker->texts.insns);
    pd_arena_free(&worker->guests.arena);
    pd_arena_free(&worker->texts.places);
    pd_text_free(&worker->line);
    pd_chain_memo_free(&worker->texts.chains);
    pd_chain_memo_free(&worker->texts.kernel_chains);
    pd_script_points_free(worker);
    pd_script_stat_free(worker->stat);
    pd_script_source_free(worker->source);
    pd_script_series_free(worker);
    free(worker->frames);
    free(worker);
}

/* Puts an error of the trace as JSON. */
static PD_NOINLINE void put_json_record(struct pd_script_worker *worker,
                                        const struct pd_delivered *record, struct pd_text *text)
{
    struct pd_text made = { 0 };
    pd_script_record(worker, record, &made);
    pd_script_json_other(&made, text);
}

PD_INLINE void put_record(struct pd_script_worker *worker, const struct pd_delivered *record,
                          struct pd_text *text)
{
    worker->errors += record->type == PD_RECORD_AUXTRACE_ERROR;
    if (PD_LIKELY(record->type == PD_RECORD_SAMPLE))
        pd_script_sample(worker, record, text);
    else if (record->type == PD_SYNTH_LOG)
        pd_text_bytes(text, record->data, record->size);
    else if (worker->script->options->flags & PERFDATA_SCRIPT_JSON)
        put_json_record(worker, record, text);
    else if (worker->script->options->flags & PERFDATA_SCRIPT_PT_EVENTS)
        pd_script_pt_record(worker, record, text);
    else if (!worker->stat ||
             !pd_script_stat_record(worker->stat, worker->script->recording, record, text))
        pd_script_record(worker, record, text);
}

/* Addresses are looked up this many samples before they are printed, since their texts come from
 * far in memory. */
#define AHEAD 8

PD_INLINE void look_ahead(struct pd_script_worker *worker, const struct pd_batch *batch, size_t i,
                          struct pd_script_ahead ahead[AHEAD])
{
    if (worker->script->form.use_callchain) {
        const struct pd_location *leaf = pd_batch_ahead(batch, i, worker->resolver);
        if (leaf)
            __builtin_prefetch((const void *)(uintptr_t)leaf->memo[0]);
    } else {
        pd_batch_fetch(batch, i + AHEAD + AHEAD / 2, worker->resolver);
    }
    if (PD_LIKELY(i + AHEAD - 1 < batch->count))
        pd_script_look_ahead(worker, &batch->records[i + AHEAD - 1],
                             &ahead[(i + AHEAD - 1) % AHEAD]);
    const struct pd_script_ahead *soon = &ahead[(i + AHEAD / 2) % AHEAD];
    if (soon->point.near)
        pd_script_point_fetch(&soon->point);
    else if (soon->location)
        __builtin_prefetch((const void *)(uintptr_t)soon->location->memo[0]);
}

/* Makes lines of a series, from record `i` on. Returns how many; 0: the line of record `i` has to
 * be made alone. `pack` is the first packed sample that has no line yet. */
static size_t put_series(struct pd_script_worker *worker, struct pd_batch *batch, size_t i,
                         size_t *pack)
{
    const struct pd_synth_packs *packs = batch->packs;
    size_t until = batch->count;
    while (packs && *pack < packs->count && packs->list[*pack].unpacked)
        ++*pack;
    if (packs && *pack < packs->count)
        until = packs->list[*pack].place;
    if (until > i)
        return pd_script_series_lines(worker, &batch->records[i], until - i, &batch->text);
    size_t done = i < batch->count ? pd_script_series_packed(worker, packs, *pack, &batch->text)
                                   : 0;
    *pack += done;
    return done;
}

/* Makes the full record of a packed sample. */
static void unpack(struct pd_script_worker *worker, struct pd_batch *batch, size_t i, size_t *pack)
{
    struct pd_synth_packs *packs = batch->packs;
    if (!packs || *pack == packs->count || packs->list[*pack].place != i)
        return;
    const struct pd_synth_packed *packed = &packs->list[(*pack)++];
    pd_synth_unpack_one(packed, &packs->origins.data[packed->origin], &worker->unpacked,
                        &batch->records[i]);
}

/* Makes the lines of a trace's samples, most of whose addresses were met just before. */
static void work_near(struct pd_script_worker *worker, struct pd_batch *batch)
{
    size_t pack = 0, done;
    for (size_t i = 0; i < batch->count; i++) {
        while (!worker->marks && (done = put_series(worker, batch, i, &pack)))
            i += done;
        if (i == batch->count)
            break;
        const struct pd_delivered *record = &batch->records[i];
        unpack(worker, batch, i, &pack);
        worker->location = pd_script_ahead(worker, record);
        worker->point = NULL;
        put_record(worker, record, &batch->text);
        if (PD_UNLIKELY(worker->marks) && !pd_script_mark_end(worker, record, &batch->text))
            batch->text.failed = true;
        if (record->facts)
            pd_script_series_begin(worker, record);
    }
}

/* A dump shows samples that are dropped otherwise before anything is done with them. */
static bool is_dropped(const struct pd_script *script, const struct pd_delivered *record)
{
    return record->type == PD_RECORD_SAMPLE && record->event && !pd_dlfilter_is_early(script) &&
           !pd_filter_early(&script->filter, record);
}

static void work_far(struct pd_script_worker *worker, struct pd_batch *batch)
{
    struct pd_script_ahead ahead[AHEAD] = { 0 };
    struct pd_script *script = worker->script;
    for (size_t i = 0; i < PD_MIN(batch->count, AHEAD - 1); i++)
        pd_script_look_ahead(worker, &batch->records[i], &ahead[i]);
    for (size_t i = 0; i < batch->count; i++) {
        const struct pd_script_ahead *here = &ahead[i % AHEAD];
        look_ahead(worker, batch, i, ahead);
        worker->location = here->location;
        worker->point = here->point.near ? &here->point : NULL;
        if (script->raw.dump)
            pd_raw_dump_record(script->raw.dump, worker->resolver, &batch->records[i],
                               i && batch->records[i].data == batch->records[i - 1].data,
                               &batch->text);
        if (!script->raw.dump || (pd_raw_dump_has_line(script->raw.dump, batch->records[i].type) &&
                                  !is_dropped(script, &batch->records[i])))
            put_record(worker, &batch->records[i], &batch->text);
        if (PD_UNLIKELY(worker->marks) &&
            !pd_script_mark_end(worker, &batch->records[i], &batch->text))
            batch->text.failed = true;
        if (script->raw.dump)
            pd_raw_dump_behind(script->raw.dump, &batch->records[i], &batch->text);
    }
    worker->point = NULL;
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    struct pd_script *script = data;
    struct pd_script_worker *worker = state;
    if (pd_resolver_trim(worker->resolver))
        pd_script_forget(worker);
    pd_script_points_trim(worker);
    if (worker->code)
        pd_code_reader_trim(worker->code);
    if (script->order.sequential || script->options->write_event) {
        if (!batch->result)
            batch->result = calloc(1, sizeof(struct pd_time_gaps));
        if (!batch->result)
            return pd_no_memory(&script->recording->context, "a batch");
        worker->gaps = batch->result;
        worker->gaps->gaps.count = worker->gaps->marks.count = 0;
        worker->marks = script->options->write_event;
    }
    if (!script->raw.dump && (batch->packs || (batch->count && batch->records[0].facts)))
        work_near(worker, batch);
    else
        work_far(worker, batch);
    if (script->filter_failed)
        return PERFDATA_ERROR_ARGUMENT;
    return PERFDATA_OK;
}

static perfdata_status sink(void *data, const char *text, size_t length)
{
    struct pd_script *script = data;
    if (!script->write(script->write_data, text, length))
        return PERFDATA_OK;
    return pd_fail(&script->recording->context, PERFDATA_ERROR_OUTPUT, -1,
                   "the text could not be written");
}

/* ---- the front: what perf skips before it looks for threads ---- */

static int front(void *data, const struct pd_delivered *record)
{
    struct pd_script *script = data;
    if (script->options->flags & PERFDATA_SCRIPT_CHECK_ORDER)
        return pd_script_check_order(script, record);
    if (script->raw.dump) {
        pd_raw_dump_front(script->raw.dump, record);
        return PD_FRONT_PASS;
    }
    return is_dropped(script, record) ? PD_FRONT_IGNORE : PD_FRONT_PASS;
}

/* ---- a run ---- */

static void want(struct pd_consumer *consumer, unsigned type)
{
    consumer->types[type / 64] |= UINT64_C(1) << type % 64;
}

static void want_shown(struct pd_consumer *consumer, uint32_t show)
{
    static const struct {
        uint32_t show;
        unsigned type;
    } rows[] = {
        { PERFDATA_SCRIPT_SHOW_TASKS, PD_RECORD_COMM },
        { PERFDATA_SCRIPT_SHOW_TASKS, PD_RECORD_FORK },
        { PERFDATA_SCRIPT_SHOW_TASKS, PD_RECORD_EXIT },
        { PERFDATA_SCRIPT_SHOW_MMAPS, PD_RECORD_MMAP },
        { PERFDATA_SCRIPT_SHOW_MMAPS, PD_RECORD_MMAP2 },
        { PERFDATA_SCRIPT_SHOW_SWITCHES, PD_RECORD_SWITCH },
        { PERFDATA_SCRIPT_SHOW_SWITCHES, PD_RECORD_SWITCH_CPU_WIDE },
        { PERFDATA_SCRIPT_SHOW_NAMESPACES, PD_RECORD_NAMESPACES },
        { PERFDATA_SCRIPT_SHOW_LOST, PD_RECORD_LOST },
        { PERFDATA_SCRIPT_SHOW_BPF, PD_RECORD_BPF_EVENT },
        { PERFDATA_SCRIPT_SHOW_BPF, PD_RECORD_KSYMBOL },
        { PERFDATA_SCRIPT_SHOW_CGROUPS, PD_RECORD_CGROUP },
        { PERFDATA_SCRIPT_SHOW_TEXT_POKES, PD_RECORD_TEXT_POKE },
        { PERFDATA_SCRIPT_SHOW_TEXT_POKES, PD_RECORD_KSYMBOL }, /* code that is moved, too */
        { PERFDATA_SCRIPT_SHOW_ROUNDS, PD_RECORD_FINISHED_ROUND },
    };
    want(consumer, PD_RECORD_AUXTRACE_ERROR);
    want(consumer, PD_SYNTH_LOG);
    for (size_t i = 0; i < PD_LENGTH(rows); i++)
        if (show & rows[i].show)
            want(consumer, rows[i].type);
}

/* Whether what a line looks like depends on lines before it. */
static bool one_by_one(const struct pd_script *script)
{
    bool padded = false;
    for (size_t i = 0; i < script->recording->event_count; i++)
        padded |= (script->events[i].fields & PD_FIELD(DATA_SRC)) != 0;
    return script->is_stat || padded || shows_source(script) || script->dlfilter ||
           pd_event_switch_any(&script->event_switch) ||
           script->options->flags & PERFDATA_SCRIPT_PT_EVENTS || script->options->graph_functions ||
           pd_script_shows_calls(script);
}

/* Samples made of the trace come among the others. */
static perfdata_status decode(struct pd_script *script)
{
    const struct perfdata_script_options *options = script->options;
    struct pd_itrace_options *itrace = &script->itrace;
    /* -D shows packets, not what they say. */
    if (options->flags & (PERFDATA_SCRIPT_NO_ITRACE | PERFDATA_SCRIPT_DUMP) ||
        options->show & PERFDATA_SCRIPT_SHOW_ROUNDS)
        return PERFDATA_OK;
    itrace->thread_stack |= options->graph_functions || pd_script_shows_calls(script);
    if (itrace->callchain)
        script->form.max_stack = PD_MAX(script->form.max_stack, itrace->callchain_size);
    struct pd_synth_config config = {
        .options = itrace,
        .guest_code = options->flags & PERFDATA_SCRIPT_GUEST_CODE,
        .threads = options->threads,
    };
    pd_filter_trace(&script->filter, &config);
    return pd_trace_log_decode(&script->raw.log, &script->session, PD_TRACE_LOG_RECORDS, &config);
}

/* Warns that only the first maps of threads and of CPUs count. */
static perfdata_status warn_of_maps(struct pd_script *script)
{
    const struct pd_order_stats *counts = script->session.order_stats;
    struct pd_context *context = &script->recording->context;
    perfdata_status status = PERFDATA_OK;
    if (counts->thread_maps > 1)
        status = pd_warning(context, PERFDATA_ISSUE_EXTRA_RECORD, -1,
                            "Extra thread map event, ignoring.\n");
    if (status == PERFDATA_OK && counts->cpu_maps > 1)
        status = pd_warning(context, PERFDATA_ISSUE_EXTRA_RECORD, -1,
                            "Extra cpu map event, ignoring.\n");
    return status;
}

/* Opens the session and everything that needs it before the first record. */
static perfdata_status open_session(struct pd_script *script)
{
    const struct perfdata_script_options *options = script->options;
    struct pd_object_search search = pd_search_of(script->recording, &options->search,
                                                  &script->itrace);
    PD_SEARCH_BY_FLAGS(&search, options->flags, PERFDATA_SCRIPT, VERBOSE_NAMES);
    perfdata_status status = pd_session_open(script->recording, &search, &script->session);
    if (!status)
        pd_session_want_guests(&script->session, &options->search);
    if (!status)
        status = decode(script);
    if (!status)
        status = pd_script_plan_events(script);
    if (!status)
        status = pd_dlfilter_open(script);
    if (!status)
        status = pd_script_open_code(script);
    return status;
}

/* -D: every record is dumped before its lines. */
static void begin_dump(struct pd_script *script, struct pd_consumer *consumer,
                       struct pd_raw_dump *dump)
{
    const struct perfdata_script_options *options = script->options;
    pd_raw_dump_init(dump, script->recording, PD_RAW_DUMP_SCRIPT);
    dump->symbols = script->session.symbols;
    dump->colored = options->flags & PERFDATA_SCRIPT_COLOR;
    dump->filter = &script->filter;
    dump->drops_cpus = true;
    dump->no_packets = options->flags & PERFDATA_SCRIPT_NO_ITRACE;
    dump->unsorted = options->flags & PERFDATA_SCRIPT_UNSORTED;
    script->raw.dump = dump;
    want(consumer, PD_RECORD_SAMPLE);
    memcpy(script->raw.line_types, consumer->types, sizeof script->raw.line_types);
    dump->line_types = script->raw.line_types;
    pd_raw_dump_want(consumer);
    consumer->front = front;
}

static perfdata_status run(struct pd_script *script)
{
    const struct perfdata_script_options *options = script->options;
    bool unsorted = options->flags & PERFDATA_SCRIPT_UNSORTED ||
                    options->show & PERFDATA_SCRIPT_SHOW_ROUNDS;
    bool keeps_order = script->order.sequential || options->write_event;
    struct pd_consumer consumer = {
        .kind = keeps_order ? PD_CONSUME_SEQUENTIAL : PD_CONSUME_ORDERED,
        .warns = PD_WARN_READ,
        .data = script,
        .order = unsorted ? PD_ORDER_FILE : PD_ORDER_DELIVERY,
        .prints = true,
        .begin = begin,
        .work = work,
        .in_order = keeps_order ? pd_script_in_order : NULL,
        .sink = sink,
        .end = end,
        .drop = pd_script_drop,
        .front = script->filter.has_cpus || script->filter.span_count ||
                         options->flags & PERFDATA_SCRIPT_CHECK_ORDER
                     ? front
                     : NULL,
    };
    bool switches = options->flags & PERFDATA_SCRIPT_PT_EVENTS;
    want_shown(&consumer, options->show | (switches ? PERFDATA_SCRIPT_SHOW_SWITCHES : 0));
    if (script->is_stat)
        for (unsigned type = PD_RECORD_THREAD_MAP; type <= PD_RECORD_STAT_ROUND; type++)
            want(&consumer, type);
    perfdata_status status = open_session(script);
    if (status) {
        status = pd_dlfilter_close(script, status);
        pd_session_close(&script->session);
        return pd_trace_log_close(&script->raw.log, status);
    }
    struct pd_raw_dump dump;
    if (options->flags & PERFDATA_SCRIPT_DUMP)
        begin_dump(script, &consumer, &dump);
    consumer.takes_packs = pd_script_any_series(script) && !options->write_event;
    consumer.alone = one_by_one(script);
    status = pd_pipeline_run(&script->session, &consumer, options->threads);
    if (!status)
        status = warn_of_maps(script);
    status = pd_dlfilter_close(script, status);
    pd_session_close(&script->session);
    return pd_trace_log_close(&script->raw.log, status);
}

/* ---- options ---- */

/* perf's exit code for a failing list or option. */
static perfdata_status failed(struct pd_script *script, perfdata_status status, int perf_exit)
{
    if (status)
        script->perf_exit = perf_exit;
    return status;
}

static perfdata_status make_filter(struct pd_script *script)
{
    const struct perfdata_script_options *options = script->options;
    const struct pd_filter_lists lists = PD_FILTER_LISTS(options);
    /* perf ends with 0 when a list does not parse. */
    return failed(
        script,
        pd_filter_add_lists(&script->filter, &script->recording->context, &lists, &script->stop),
        0);
}

static perfdata_status make_late_filter(struct pd_script *script)
{
    const struct perfdata_script_options *options = script->options;
    perfdata_status status = PERFDATA_OK;
    if (options->cpus)
        status = failed(script,
                        pd_filter_add_cpus(&script->filter, script->recording, options->cpus), 255);
    if (!status && options->time)
        status = failed(script,
                        pd_filter_add_times(&script->filter, script->recording, options->time,
                                            options->flags & PERFDATA_SCRIPT_RELTIME),
                        234);
    if (!status)
        status = failed(
            script,
            pd_event_switch_init(&script->event_switch, script->recording, &options->event_switch),
            254);
    return status;
}

static perfdata_status refuse(struct pd_script *script, perfdata_status status, const char *text,
                              const char *value)
{
    script->perf_exit = 255;
    return pd_fail(&script->recording->context, status, -1, "%s%s", text, value);
}

static perfdata_status check_options(struct pd_script *script)
{
    const struct perfdata_script_options *options = script->options;
    uint32_t both = PERFDATA_SCRIPT_RELTIME | PERFDATA_SCRIPT_DELTATIME;
    for (size_t i = 0; i < options->field_count; i++) {
        perfdata_status status = pd_script_parse_fields(script, options->fields[i]);
        if (status)
            return status;
    }
    struct pd_config_places places = PD_CONFIG_PLACES(options);
    perfdata_status taken = pd_itrace_options_take(&script->itrace, PD_ITRACE_SCRIPT,
                                                   &script->recording->context, &places,
                                                   options->itrace, options->itrace_count);
    if (taken == PERFDATA_ERROR_ARGUMENT)
        script->perf_exit = 129;
    if (taken < 0)
        return taken;
    if ((options->flags & both) == both)
        return refuse(script, PERFDATA_ERROR_ARGUMENT,
                      "reltime and deltatime - the two don't get along well. "
                      "Please limit to --reltime or --deltatime.",
                      "");
    if (options->write_event && options->flags & (both | PERFDATA_SCRIPT_DUMP))
        return refuse(script, PERFDATA_ERROR_ARGUMENT,
                      "text by event is not there with relative times, nor with -D", "");
    if (options->flags & PERFDATA_SCRIPT_JSON) {
        perfdata_status status = pd_script_json_check(script);
        if (status)
            return status;
    }
    if (options->search.kallsyms && access(options->search.kallsyms, R_OK))
        return refuse(script, PERFDATA_ERROR_NOT_FOUND, "Invalid file: ", options->search.kallsyms);
    if (options->search.vmlinux && access(options->search.vmlinux, R_OK))
        return refuse(script, PERFDATA_ERROR_NOT_FOUND, "Invalid file: ", options->search.vmlinux);
    return PERFDATA_OK;
}

/* A stream does not tell that it is of perf stat, but then its events only count and never
 * sample. */
static bool is_stat(const struct pd_recording *recording)
{
    if (recording->kind != PD_CONTAINER_PIPE)
        return pd_recording_has_feature(recording, PD_FEATURE_STAT);
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->attr.sample_type & ~(uint64_t)PD_SAMPLE_IDENTIFIER ||
            recording->events[i]->attr.sample_period)
            return false;
    return recording->event_count > 0;
}

static void init(struct pd_script *script)
{
    const struct perfdata_script_options *options = script->options;
    const struct pd_features *features = &script->recording->features;
    pd_script_defaults(script);
    script->form.use_callchain = !(options->flags & PERFDATA_SCRIPT_NO_CALLCHAIN);
    script->form.latency = options->flags & PERFDATA_SCRIPT_LATENCY;
    script->form.full_source_path = options->flags & PERFDATA_SCRIPT_FULL_SOURCE_PATH;
    script->form.kernel_path = options->flags & PERFDATA_SCRIPT_KERNEL_PATH;
    script->order.sequential = options->flags &
                               (PERFDATA_SCRIPT_RELTIME | PERFDATA_SCRIPT_DELTATIME);
    script->form.time = options->flags & PERFDATA_SCRIPT_NS ? PD_TIME_NSEC : PD_TIME_USEC;
    script->is_stat = is_stat(script->recording);
    script->form.max_stack = options->max_stack;
    script->clock.known = features->clock_data.present;
    script->clock.time = features->clock_data.clock_time;
    script->clock.wall = features->clock_data.wall_clock;
}

static perfdata_status put_header(struct pd_script *script)
{
    struct pd_text text = { 0 };
    bool full = script->options->flags & PERFDATA_SCRIPT_HEADER_FULL;
    if (!(script->options->flags & (PERFDATA_SCRIPT_HEADER | PERFDATA_SCRIPT_HEADER_ONLY)))
        pd_header_features(script->recording, full, &text); /* -I alone */
    else if (script->options->flags & PERFDATA_SCRIPT_HEADER_ONLY)
        pd_header_before_records(script->recording, full, &text);
    else
        pd_header_text(script->recording, full, &text);
    return pd_api_emit(&script->recording->context, &text, script->write, script->write_data);
}

static perfdata_status put_warning(struct pd_script *script)
{
    struct pd_text text = { 0 };
    pd_raw_dump_warning(script->recording, &text);
    return pd_api_emit(&script->recording->context, &text, script->write, script->write_data);
}

static perfdata_status put_frame(struct pd_script *script, bool end)
{
    struct pd_text text = { 0 };
    pd_script_pt_frame(script, end, &text);
    return pd_api_emit(&script->recording->context, &text, script->write, script->write_data);
}

static perfdata_status run_all(struct pd_script *script)
{
    uint64_t flags = script->options->flags;
    perfdata_status status = check_options(script);
    if (!status && flags & PERFDATA_SCRIPT_DUMP && !(flags & PERFDATA_SCRIPT_UNSORTED))
        status = put_warning(script);
    bool features = flags & PERFDATA_SCRIPT_HEADER_FULL && !(flags & PERFDATA_SCRIPT_DUMP) &&
                    script->recording->kind == PD_CONTAINER_PIPE;
    if (!status && (features || flags & (PERFDATA_SCRIPT_HEADER | PERFDATA_SCRIPT_HEADER_ONLY)))
        status = put_header(script);
    if (status || flags & PERFDATA_SCRIPT_HEADER_ONLY)
        return status;
    if (flags & PERFDATA_SCRIPT_PT_EVENTS)
        status = put_frame(script, false);
    if (!status)
        status = make_filter(script);
    if (!status)
        status = pd_script_check_fields(script);
    if (!status)
        status = make_late_filter(script);
    if (!status)
        status = run(script);
    if (!status && flags & PERFDATA_SCRIPT_PT_EVENTS)
        status = put_frame(script, true);
    return status;
}

perfdata_status perfdata_script_run(perfdata_recording *recording,
                                    const struct perfdata_script_options *options,
                                    perfdata_write_fn write, void *data,
                                    struct perfdata_script_result *result)
{
    struct perfdata_script_options known = { 0 };
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status < 0)
        return status;
    struct pd_script script = { .recording = &recording->recording,
                                .options = &known,
                                .write = write,
                                .write_data = data,
                                .perf_exit = -1 };
    init(&script);
    status = run_all(&script);
    struct perfdata_script_result out = { .perf_exit = script.perf_exit,
                                          .samples = script.samples,
                                          .trace_errors = script.errors,
                                          .misordered = script.order.misordered };
    pd_give_result(result, &out, sizeof out);
    pd_tracing_free(script.tracing);
    pd_filter_free(&script.filter);
    pd_arena_free(&script.arena);
    return status;
}
