/* SPDX-License-Identifier: MIT */
/* <perfdata/export.h>: samples, calls and context switches as rows. Rows refer to others by number,
 * and numbers are given out in the order of the recording, so it is one thread that writes. */
#include "analyse/calls.h"
#include "container/handle.h"
#include "convert/database/entities.h"
#include "convert/database/profile.h"
#include "format/offsets.h"
#include "render/script/plan.h"
#include <perfdata/export.h>

enum { MAX_FRAMES = 1024, PERF_MAX_STACK = 127 };

struct exporter {
    struct pd_recording *recording;
    const struct perfdata_database_options *options;
    struct pd_session session;
    struct pd_trace_log log;
    struct pd_filter filter;
    struct pd_itrace_options itrace;
    struct pd_db_entities entities;
    struct pd_db_writer *writer;
    struct pd_resolver *resolver;
    struct pd_calls *calls; /* NULL: no paths are asked for */
    struct pd_frame frames[MAX_FRAMES];
    bool used[PD_DB_TABLES];
    bool full;
};

/* ---- calls ---- */

static uint32_t put_path(struct exporter *x, struct pd_call_path *path)
{
    /* Those above it first: as many as are new. */
    while (!path->number) {
        struct pd_call_path *next = path;
        while (next->parent && !next->parent->number)
            next = (struct pd_call_path *)(uintptr_t)next->parent;
        next->number = pd_db_next(&x->entities, PD_DB_call_paths);
        pd_db_put(&x->entities, PD_DB_call_paths,
                  (struct pd_db_cell[]){ PD_DB_NUMBER(next->number),
                                         PD_DB_NUMBER(next->parent ? next->parent->number : 0),
                                         PD_DB_NUMBER(next->symbol), PD_DB_NUMBER(next->ip) });
    }
    return path->number;
}

static perfdata_status put_call(void *data, const struct pd_call *call)
{
    struct exporter *x = data;
    uint32_t path = put_path(x, call->path), parent = call->path->parent->number;
    const struct pd_thread *thread = call->thread;
    pd_db_put(&x->entities, PD_DB_calls,
              (struct pd_db_cell[]){
                  PD_DB_NUMBER(call->number), PD_DB_NUMBER(x->entities.threads.data[thread->index]),
                  PD_DB_NUMBER(call->comm), PD_DB_NUMBER(path), PD_DB_NUMBER(call->call_time),
                  PD_DB_NUMBER(call->return_time), PD_DB_NUMBER(call->branches),
                  PD_DB_NUMBER(call->call_reference), PD_DB_NUMBER(call->return_reference),
                  PD_DB_NUMBER(parent), PD_DB_NUMBER(call->flags), PD_DB_NUMBER(call->parent),
                  PD_DB_NUMBER(call->insns), PD_DB_NUMBER(call->cycles) });
    return x->entities.status;
}

static bool is_thunk(const char *name)
{
    return strncmp(name, "__x86_indirect_thunk_", 21) == 0;
}

static void pair(struct exporter *x, const struct pd_delivered *record,
                 const struct pd_sample *sample, const struct pd_db_task *task, uint32_t reference,
                 const struct pd_db_place *from, const struct pd_db_place *to)
{
    static const struct pd_synth_facts nothing;
    const struct pd_synth_facts *facts = record->facts ? record->facts : &nothing;
    struct pd_branch_step step = {
        .ip = sample->ip,
        .addr = sample->addr,
        .time = sample->time,
        .reference = reference,
        .insns = facts->insn_count,
        .cycles = facts->cycle_count,
        .trace = record->thread->tid == UINT32_MAX ? 0 : facts->trace, /* whose, nobody knows */
        .from = from->symbol,
        .to = to->symbol,
        .flags = facts->flags,
        .insn_length = facts->insn_length,
        .at_start = to->symbol && to->at_start,
        .from_is_thunk = is_thunk(from->name),
    };
    const struct pd_thread *thread = record->thread;
    bool idle = !thread->tid && !pd_thread_pid(thread, record->number);
    struct pd_calls_thread stack = {
        .key = idle ? (uint64_t)1 << 32 | sample->cpu : thread->index,
        .order = (uint64_t)(thread->tid % 256) << 32 | thread->tid, /* of perf's table of threads */
        .thread = record->thread,
        .comm = task->comm,
        .is_main = task->is_main,
    };
    perfdata_status status = pd_calls_branch(x->calls, &stack, &step);
    if (status < 0 && x->entities.status >= 0)
        x->entities.status = status;
}

/* ---- samples ---- */

/* The numbers of what a trace says of power and of the program itself; reference 5.8. */
static void put_synth(struct exporter *x, const struct pd_sample *sample, uint32_t id)
{
    struct pd_db_entities *e = &x->entities;
    const uint8_t *raw = sample->raw;
    if (sample->event->attr.type != (uint32_t)PD_TYPE_SYNTH || !raw || sample->raw_size < 4)
        return;
    uint32_t head = pd_load32(raw, false);
    uint64_t payload = sample->raw_size >= 12 ? pd_load64(raw + 4, false) : 0;
    switch (sample->event->attr.config) {
    case PD_SYNTH_CONFIG_PTWRITE:
        pd_db_put(e, PD_DB_ptwrite,
                  (struct pd_db_cell[]){ PD_DB_NUMBER(id), PD_DB_NUMBER(payload),
                                         PD_DB_NUMBER(head & 1) });
        break;
    case PD_SYNTH_CONFIG_MWAIT:
        pd_db_put(e, PD_DB_mwait,
                  (struct pd_db_cell[]){ PD_DB_NUMBER(id), PD_DB_NUMBER(payload & 0xff),
                                         PD_DB_NUMBER(payload >> 32 & 3) });
        break;
    case PD_SYNTH_CONFIG_PWRE:
        pd_db_put(e, PD_DB_pwre,
                  (struct pd_db_cell[]){ PD_DB_NUMBER(id), PD_DB_NUMBER(payload >> 12 & 15),
                                         PD_DB_NUMBER(payload >> 8 & 15),
                                         PD_DB_NUMBER(payload >> 7 & 1) });
        break;
    case PD_SYNTH_CONFIG_EXSTOP:
        pd_db_put(e, PD_DB_exstop,
                  (struct pd_db_cell[]){ PD_DB_NUMBER(id), PD_DB_NUMBER(head & 1) });
        break;
    case PD_SYNTH_CONFIG_PWRX:
        pd_db_put(e, PD_DB_pwrx,
                  (struct pd_db_cell[]){ PD_DB_NUMBER(id), PD_DB_NUMBER(payload & 15),
                                         PD_DB_NUMBER(payload >> 4 & 15),
                                         PD_DB_NUMBER(payload >> 8 & 15) });
        break;
    case PD_SYNTH_CONFIG_CBR: {
        uint32_t cbr = head & 0xff, most = head >> 16 & 0xff, khz = (uint32_t)payload;
        double share = most ? (cbr * 1000.0 / most + 5) / 10 : 0;
        pd_db_put(e, PD_DB_cbr,
                  (struct pd_db_cell[]){ PD_DB_NUMBER(id), PD_DB_NUMBER(cbr),
                                         PD_DB_REAL((khz + 500) / 1000.0), PD_DB_REAL(share) });
        break;
    }
    default: break;
    }
}

static uint32_t chain_path(struct exporter *x, const struct pd_delivered *record,
                           const struct pd_sample *sample)
{
    bool invalid = false;
    size_t count = pd_resolve_chain(x->resolver, sample, record->thread, record->number,
                                    PERF_MAX_STACK, x->frames, MAX_FRAMES, &invalid);
    if (!count)
        return 0;
    struct pd_call_path *path = (struct pd_call_path *)(uintptr_t)pd_calls_root(x->calls);
    for (size_t i = count; i-- && path;) {
        struct pd_db_place place = pd_db_place(&x->entities, x->frames[i].location);
        path = pd_calls_below(x->calls, path, place.symbol, x->frames[i].ip);
    }
    return path ? put_path(x, path) : 0;
}

#define BRANCH_FLAGS                                                                               \
    (PD_IP_BRANCH | PD_IP_CALL | PD_IP_RETURN | PD_IP_CONDITIONAL | PD_IP_SYSCALLRET |             \
     PD_IP_ASYNC | PD_IP_INTERRUPT | PD_IP_TX_ABORT | PD_IP_TRACE_BEGIN | PD_IP_TRACE_END |        \
     PD_IP_VMENTRY | PD_IP_VMEXIT)

static void put_sample(struct exporter *x, const struct pd_delivered *record,
                       const struct pd_sample *sample)
{
    struct pd_db_entities *e = &x->entities;
    uint64_t number = record->number;
    const struct pd_synth_facts *facts = record->facts;
    uint32_t id = pd_db_next(e, PD_DB_samples), path = 0;
    uint32_t event = pd_db_event(e, record->event), machine = pd_db_machine(e);
    struct pd_db_task task = pd_db_task(e, record->thread, number);
    struct pd_db_place from = pd_db_place(
        e, pd_resolve(x->resolver, record->thread, number, sample->cpumode, sample->ip));
    struct pd_db_place to = { .name = "" };
    if (x->options->flags & PERFDATA_DATABASE_CALLCHAINS && sample->callchain_count)
        path = chain_path(x, record, sample);
    if (pd_script_address_is_code(record->event)) {
        to = pd_db_place(
            e, pd_resolve_any(x->resolver, record->thread, number, sample->cpumode, sample->addr));
        if (x->options->flags & PERFDATA_DATABASE_CALLS)
            pair(x, record, sample, &task, id, &from, &to);
    }
    uint32_t flags = facts ? facts->flags : 0;
    struct pd_db_cell cells[PD_DB_CELLS_MAX];
    size_t count = 0;
#define CELL(value) cells[count++] = PD_DB_NUMBER(value)
    CELL(id), CELL(event), CELL(machine), CELL(task.thread), CELL(task.comm), CELL(from.dso);
    CELL(from.symbol), CELL(from.offset), CELL(sample->ip), CELL(sample->time);
    CELL((int32_t)sample->cpu), CELL(to.dso), CELL(to.symbol), CELL(to.offset);
    CELL(facts ? facts->to : sample->addr);
    if (x->full) {
        CELL(sample->period), CELL(sample->weight), CELL(sample->transaction);
        CELL(record->facts ? 0 : sample->data_src);
    }
    CELL(flags & BRANCH_FLAGS), CELL((flags & PD_IP_IN_TX) != 0), CELL(path);
    CELL(facts ? facts->insn_count : 0), CELL(facts ? facts->cycle_count : 0), CELL(flags);
#undef CELL
    pd_db_put(e, PD_DB_samples, cells);
    put_synth(x, sample, id);
}

/* ---- context switches ---- */

struct side {
    uint32_t thread, comm;
    bool is_idle;
};

static struct side side_of(struct exporter *x, const struct pd_thread *thread, uint64_t number)
{
    struct side side = { .is_idle = true };
    if (!thread || !pd_db_is_named(thread, number))
        return side;
    struct pd_db_task task = pd_db_task(&x->entities, thread, number);
    side.thread = task.thread;
    side.comm = task.comm;
    side.is_idle = !thread->tid && !pd_thread_pid(thread, number);
    return side;
}

static void put_switch(struct exporter *x, const struct pd_delivered *record)
{
    struct pd_db_entities *e = &x->entities;
    bool out = record->misc & PD_MISC_SWITCH_OUT, swap = x->recording->swap;
    bool preempt = record->misc & PD_MISC_SWITCH_OUT_PREEMPT;
    struct pd_identity identity;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    uint32_t machine = pd_db_machine(e);
    struct side here = side_of(x, record->thread, record->number), other = { .is_idle = true };
    if (record->type == PD_RECORD_SWITCH_CPU_WIDE && record->size >= 16)
        other = side_of(
            x,
            pd_db_find_thread(
                e, pd_load32(record->data + PD_AT(switch_cpu_wide, next_prev_tid), swap)),
            record->number);
    if (here.is_idle && other.is_idle)
        return;
    struct side from = out ? here : other, into = out ? other : here;
    uint32_t id = pd_db_next(e, PD_DB_context_switches);
    pd_db_put(e, PD_DB_context_switches,
              (struct pd_db_cell[]){
                  PD_DB_NUMBER(id), PD_DB_NUMBER(machine), PD_DB_NUMBER(identity.time),
                  PD_DB_NUMBER((int32_t)identity.cpu), PD_DB_NUMBER(from.thread),
                  PD_DB_NUMBER(from.comm), PD_DB_NUMBER(into.thread), PD_DB_NUMBER(into.comm),
                  PD_DB_NUMBER((out ? 1 : 0) | (out && preempt ? 2 : 0)) });
}

/* ---- the run ---- */

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    (void)data;
    (void)state;
    (void)batch;
    return PERFDATA_OK;
}

static void put_record(struct exporter *x, const struct pd_delivered *record)
{
    struct pd_sample sample;
    if (record->type == PD_RECORD_SWITCH || record->type == PD_RECORD_SWITCH_CPU_WIDE)
        put_switch(x, record);
    if (record->type != PD_RECORD_SAMPLE || !record->event ||
        pd_delivered_sample(record, &sample) < 0)
        return;
    /* perf's exporters have no table for what tracepoints hold. */
    if (record->event->attr.type != PD_TYPE_TRACEPOINT && pd_filter_cpu(&x->filter, sample.cpu) &&
        (!pd_filter_has_thread(&x->filter) ||
         pd_filter_thread(&x->filter, record->thread, record->number)))
        put_sample(x, record, &sample);
}

static perfdata_status in_order(void *data, struct pd_batch *batch)
{
    struct exporter *x = data;
    pd_resolver_trim(x->resolver);
    for (size_t i = 0; i < batch->count && x->entities.status >= 0; i++) {
        pd_db_see(&x->entities, &batch->records[i]);
        put_record(x, &batch->records[i]);
    }
    return x->entities.status;
}

static int front(void *data, const struct pd_delivered *record)
{
    const struct exporter *x = data;
    if (record->type != PD_RECORD_SAMPLE || !x->filter.span_count)
        return PD_FRONT_PASS;
    return pd_filter_time(&x->filter, record->time) ? PD_FRONT_PASS : PD_FRONT_IGNORE;
}

static perfdata_status take_options(struct exporter *x)
{
    const struct perfdata_database_options *options = x->options;
    struct pd_context *context = &x->recording->context;
    struct pd_config_places places = PD_CONFIG_PLACES(options);
    perfdata_status status = pd_itrace_options_take(&x->itrace, PD_ITRACE_SCRIPT, context, &places,
                                                    options->itrace, options->itrace_count);
    const struct pd_filter_lists lists = { .comms = options->comms,
                                           .pids = options->pids,
                                           .tids = options->tids };
    if (status >= 0)
        status = pd_filter_add_lists(&x->filter, context, &lists, NULL);
    if (status >= 0 && options->cpus)
        status = pd_filter_add_cpus(&x->filter, x->recording, options->cpus);
    if (status >= 0 && options->time)
        status = pd_filter_add_times(&x->filter, x->recording, options->time, false);
    return status;
}

static perfdata_status open_session(struct exporter *x)
{
    const struct perfdata_database_options *options = x->options;
    struct pd_object_search search = pd_search_of(x->recording, &options->search, &x->itrace);
    search.demangle = true;
    struct pd_synth_config config = {
        .options = &x->itrace,
        .guest_code = options->flags & PERFDATA_DATABASE_GUEST_CODE,
    };
    pd_filter_trace(&x->filter, &config);
    perfdata_status status = pd_trace_log_open(&x->log, x->recording, &x->itrace,
                                               PD_TRACE_LOG_REFUSED, &config);
    if (status >= 0)
        status = pd_session_open(x->recording, &search, &x->session);
    if (status >= 0)
        status = pd_session_decode(&x->session, &config);
    if (status < 0)
        return status;
    x->resolver = pd_resolver_new(x->session.symbols);
    if (options->flags & (PERFDATA_DATABASE_CALLS | PERFDATA_DATABASE_CALLCHAINS))
        x->calls = pd_calls_new(UINT64_C(1) << 63, put_call, x);
    bool no_calls = options->flags & (PERFDATA_DATABASE_CALLS | PERFDATA_DATABASE_CALLCHAINS) &&
                    !x->calls;
    return x->resolver && !no_calls ? PERFDATA_OK : pd_no_memory(&x->recording->context, NULL);
}

static perfdata_status run(struct exporter *x)
{
    struct pd_consumer consumer = {
        .kind = PD_CONSUME_SEQUENTIAL,
        .warns = PD_WARN_READ,
        .data = x,
        .types = { UINT64_C(1) << PD_RECORD_COMM | UINT64_C(1) << PD_RECORD_FORK |
                   UINT64_C(1) << PD_RECORD_SWITCH | UINT64_C(1) << PD_RECORD_SWITCH_CPU_WIDE },
        .work = work,
        .in_order = in_order,
        .front = front,
        .alone = true,
        .order = PD_ORDER_DELIVERY,
    };
    struct pd_db_entities *e = &x->entities;
    bool calls = x->options->flags & PERFDATA_DATABASE_CALLS;
    *e = (struct pd_db_entities){ .writer = x->writer, .session = &x->session, .used = x->used };
    for (size_t i = 0; i < x->recording->event_count; i++)
        e->by_exec |= pd_attr_flag(&x->recording->events[i]->attr, PD_ATTR_COMM_EXEC);
    struct pd_delivered idle = { .thread = pd_timeline_find(x->session.timeline, 0) };
    pd_db_see(e, &idle);
    pd_db_put_unknown(e, x->full, x->calls != NULL);
    pd_db_put_branch_types(e);
    perfdata_status status = e->status < 0 ? e->status : pd_pipeline_run(&x->session, &consumer, 0);
    if (status >= 0 && calls)
        status = pd_calls_end(x->calls);
    if (status >= 0)
        status = e->status;
    return pd_analysis_status(&x->recording->context, status);
}

/* A recording has one run at a time, and its events of traces are of that. */
static void close_run(struct exporter *x)
{
    pd_db_entities_free(&x->entities);
    pd_calls_free(x->calls);
    x->calls = NULL;
    if (x->resolver)
        pd_resolver_free(x->resolver);
    x->resolver = NULL;
    if (x->session.recording && x->options->trace_errors)
        *x->options->trace_errors = pd_session_trace_errors(&x->session);
    if (x->session.recording)
        pd_session_close(&x->session);
    x->session.recording = NULL;
}

static perfdata_status finish(struct exporter *x)
{
    perfdata_status status = x->writer->rows_end(x->writer);
    for (unsigned table = 0; table < PD_DB_TABLES; table++)
        x->used[table] |= !pd_db_layouts[table].unless_empty && table != PD_DB_calls &&
                          table != PD_DB_call_paths;
    return status < 0 ? status : pd_db_finish_schema(x->writer, x->used);
}

static perfdata_status export_to(struct exporter *x, perfdata_recording *recording,
                                 const char *path)
{
    struct pd_context *context = &x->recording->context;
    x->full = !(x->options->flags & PERFDATA_DATABASE_BRANCHES);
    perfdata_status status = take_options(x);
    if (status >= 0)
        status = open_session(x);
    if (status < 0)
        return status;
    x->writer = x->options->form == PERFDATA_DATABASE_SQLITE
                    ? pd_db_sqlite_open(context, path, x->full)
                    : pd_db_psql_open(context, path, x->full);
    if (!x->writer)
        return PERFDATA_ERROR_OUTPUT;
    status = pd_db_create_tables(x->writer, x->full);
    if (status >= 0)
        status = run(x);
    close_run(x);
    if (status >= 0 && x->options->flags & PERFDATA_DATABASE_PROFILE)
        status = pd_db_profile(recording, x->options, x->writer, x->used);
    if (status >= 0)
        status = finish(x);
    perfdata_status closed = x->writer->close(x->writer, status >= 0);
    return status < 0 ? status : closed;
}

perfdata_status perfdata_export_database(perfdata_recording *recording,
                                         const struct perfdata_database_options *given)
{
    struct perfdata_database_options options = { 0 };
    struct pd_context *context = &recording->recording.context;
    perfdata_status taken = pd_take_options(context, &options, sizeof options, given);
    if (taken < 0)
        return taken;
    if (!recording->open || !options.path || options.form > PERFDATA_DATABASE_POSTGRESQL)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "no open recording, no path or no such form");
    struct exporter *x = calloc(1, sizeof *x);
    if (!x)
        return pd_no_memory(context, NULL);
    x->recording = &recording->recording;
    x->options = &options;
    perfdata_status status = export_to(x, recording, options.path);
    close_run(x);
    status = pd_trace_log_close(&x->log, status);
    pd_filter_free(&x->filter);
    free(x);
    return status;
}
