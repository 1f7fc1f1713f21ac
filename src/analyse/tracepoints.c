/* SPDX-License-Identifier: MIT */
/* Samples of tracepoints -> calls of a verb's handlers, with the fields they ask for. */
#include "analyse/tracepoints.h"
#include "base/digits.h"
#include "base/memory.h"
#include "container/handle.h"
#include "format/offsets.h"
#include <stdlib.h>

enum { WRITE_AT = 1 << 16, NS_PER_USEC = 1000 };

bool pd_tp_has_event(const struct pd_recording *recording, const char *name)
{
    for (size_t i = 0; i < recording->event_count; i++)
        if (!strcmp(recording->events[i]->name, name))
            return true;
    return false;
}

#define NO_TRACEPOINTS "No trace sample to read. Did you call 'perf %s'?"

static bool has_tracepoints(const struct pd_recording *recording)
{
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->attr.type == PD_TYPE_TRACEPOINT)
            return true;
    return false;
}

bool pd_tp_has_tracepoints(struct pd_recording *recording, const char *how_to_record)
{
    if (has_tracepoints(recording))
        return true;
    pd_warning(&recording->context, PERFDATA_ISSUE_LOST, -1, NO_TRACEPOINTS "\n", how_to_record);
    return false;
}

perfdata_status pd_tp_need_tracepoints(struct pd_recording *recording, const char *how_to_record)
{
    return has_tracepoints(recording) ? PERFDATA_OK
                                      : pd_fail(&recording->context, PERFDATA_ERROR_NO_DATA, -1,
                                                NO_TRACEPOINTS, how_to_record);
}

perfdata_status pd_tp_no_memory(struct pd_tp *tp)
{
    return pd_no_memory(&tp->recording->context, "what the tracepoints tell");
}

/* ---- plans ---- */

static const struct pd_tp_handler *handler_of(const struct pd_tp *tp, const struct pd_event *event)
{
    if (event->attr.type != PD_TYPE_TRACEPOINT)
        return tp->verb.handler_of ? tp->verb.handler_of(event) : NULL;
    for (const struct pd_tp_handler *row = tp->verb.handlers; row->event; row++)
        if (!strcmp(row->event, event->name))
            return row;
    return NULL;
}

/* Fields that an event lacks count as 0, as with perf; that is told once. */
static perfdata_status plan_event(struct pd_tp *tp, const struct pd_event *event)
{
    struct pd_tp_plan *plan = &tp->plans[event->index];
    plan->handler = handler_of(tp, event);
    if (event->attr.type == PD_TYPE_TRACEPOINT && tp->tracing)
        plan->format = pd_tracing_format(tp->tracing, event->attr.config);
    if (!plan->handler)
        return PERFDATA_OK;
    for (unsigned i = 0; i < PD_TP_FIELDS && plan->handler->fields[i]; i++) {
        const char *name = plan->handler->fields[i];
        plan->fields[i] = plan->format ? pd_trace_field(plan->format, name) : NULL;
        if (plan->fields[i] && pd_trace_is_plain(plan->format, plan->fields[i]))
            plan->places[i] = (struct pd_tp_place){ plan->fields[i]->offset,
                                                    (uint8_t)plan->fields[i]->size,
                                                    plan->fields[i]->kind == PD_TRACE_SIGNED };
        if (plan->fields[i])
            continue;
        perfdata_status status = pd_issue(&tp->recording->context, PERFDATA_ISSUE_UNSUPPORTED, -1,
                                          "the format of %s has no field %s: it counts as 0",
                                          event->name, name);
        if (status < 0)
            return status;
    }
    return PERFDATA_OK;
}

/* Whether samples of the event do nothing here. Those that hold several counters, or half a chain,
 * tell of other records, too. */
static bool is_unheard(const struct pd_tp *tp, const struct pd_event *event)
{
    return !tp->plans[event->index].handler && !tp->verb.before && !tp->verb.drops &&
           !(event->plan.sample_type & PD_SAMPLE_READ) && !event->plan.is_offcpu &&
           !pd_attr_flag(&event->attr, PD_ATTR_DEFER_CALLCHAIN);
}

static perfdata_status plan_events(struct pd_tp *tp)
{
    struct pd_recording *recording = tp->recording;
    const struct pd_span *data = &recording->features.tracing_data.data;
    perfdata_status status = PERFDATA_OK;
    if (recording->features.tracing_data.present && data->size)
        status = pd_tracing_open(&recording->context, data->data, data->size, NULL, &tp->tracing);
    if (status < 0)
        return status;
    tp->plans = calloc(recording->event_count + 1, sizeof *tp->plans);
    tp->unheard = calloc(recording->event_count + 1, sizeof *tp->unheard);
    if (!tp->plans || !tp->unheard)
        return pd_tp_no_memory(tp);
    for (size_t i = 0; i < recording->event_count && status >= 0; i++)
        status = plan_event(tp, recording->events[i]);
    return status;
}

perfdata_status pd_tp_open(struct pd_tp *tp, struct pd_recording *recording,
                           const struct perfdata_symbol_search *search,
                           const struct pd_tp_verb *verb, perfdata_write_fn write, void *data)
{
    *tp = (struct pd_tp){
        .recording = recording, .verb = *verb, .write = write, .write_data = data
    };
    struct pd_object_search places = { 0 };
    if (search)
        places = pd_search_of(recording, search, NULL);
    places.demangle = true;
    tp->sample.tp = tp;
    perfdata_status status = plan_events(tp);
    if (status >= 0)
        status = pd_session_open(recording, search ? &places : NULL, &tp->session);
    return status;
}

perfdata_status pd_tp_close(struct pd_tp *tp, perfdata_status status)
{
    if (tp->session.timeline)
        pd_session_close(&tp->session);
    if (status >= 0 && tp->bad_samples)
        status = pd_issue(&tp->recording->context, PERFDATA_ISSUE_BAD_SAMPLE, -1,
                          "%llu samples say more than they hold: as much as is there counts",
                          (unsigned long long)tp->bad_samples);
    pd_tracing_free(tp->tracing);
    free(tp->plans);
    free(tp->unheard);
    if (status >= 0)
        return pd_api_emit(&tp->recording->context, &tp->out, tp->write, tp->write_data);
    pd_text_free(&tp->out);
    return status;
}

/* ---- the run ---- */

static perfdata_status flush(struct pd_tp *tp)
{
    if (PD_LIKELY(tp->out.length < WRITE_AT))
        return PERFDATA_OK;
    if (tp->out.failed)
        return pd_tp_no_memory(tp);
    bool stopped = tp->write(tp->write_data, tp->out.data, tp->out.length);
    tp->out.length = 0;
    return stopped ? pd_fail(&tp->recording->context, PERFDATA_ERROR_OUTPUT, -1,
                             "the text could not be written")
                   : PERFDATA_OK;
}

PD_INLINE void decode(struct pd_tp *tp, const struct pd_delivered *record)
{
    struct pd_sample *sample = &tp->sample.sample;
    const struct pd_event *event = record->event;
    perfdata_status status = pd_sample_decode_next(event, record->data, record->size, tp->after_raw,
                                                   sample);
    tp->after_raw = event->plan.is_raw && !event->plan.is_offcpu;
    tp->bad_samples += status < 0;
    if (PD_UNLIKELY(record->has_period))
        sample->period = record->period;
}

static perfdata_status take_sample(struct pd_tp *tp, const struct pd_delivered *record)
{
    const struct pd_event *event = record->event;
    if (!event || event->index >= tp->recording->event_count)
        return PERFDATA_OK;
    struct pd_tp_sample *sample = &tp->sample;
    sample->record = record;
    sample->plan = &tp->plans[event->index];
    if (!sample->plan->handler && !tp->verb.before && !tp->verb.drops)
        return PERFDATA_OK;
    decode(tp, record);
    if (!tp->kernel_shown && tp->session.symbols && event->plan.ip)
        tp->kernel_shown = pd_symbols_show_front(tp->session.symbols, sample->sample.cpumode,
                                                 sample->sample.ip, record->number);
    if (tp->verb.drops && tp->verb.drops(tp->verb.data, sample))
        return PERFDATA_OK;
    perfdata_status status = PERFDATA_OK;
    if (tp->verb.before)
        status = tp->verb.before(tp->verb.data, sample);
    if (status >= 0 && sample->plan->handler)
        status = sample->plan->handler->take(tp->verb.data, sample);
    if (PD_UNLIKELY(pd_memory_failed()))
        return pd_tp_no_memory(tp);
    return status < 0 ? status : flush(tp);
}

static int front(void *data, const struct pd_delivered *record)
{
    struct pd_tp *tp = data;
    perfdata_status status = PERFDATA_OK;
    if (record->type == PD_RECORD_SAMPLE) {
        status = take_sample(tp, record);
        return status < 0 ? status : PD_FRONT_IGNORE;
    }
    bool kernels = record->type < 64;
    if (kernels && !(tp->verb.hears & UINT64_C(1) << record->type))
        return PD_FRONT_IGNORE;
    if (tp->verb.other)
        status = tp->verb.other(tp->verb.data, record);
    return status < 0 ? status : PD_FRONT_PASS;
}

static perfdata_status begin(void *data, unsigned worker, struct pd_resolver *resolver,
                             void **state)
{
    struct pd_tp *tp = data;
    *state = NULL;
    if (!worker)
        tp->resolver = resolver;
    return PERFDATA_OK;
}

static void end(void *data, unsigned worker, void *state)
{
    (void)worker, (void)state;
    ((struct pd_tp *)data)->resolver = NULL;
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    (void)data, (void)state, (void)batch;
    return PERFDATA_OK;
}

perfdata_status pd_tp_run(struct pd_tp *tp)
{
    for (size_t i = 0; i < tp->recording->event_count; i++)
        tp->unheard[i] = is_unheard(tp, tp->recording->events[i]);
    struct pd_consumer consumer = { .kind = PD_CONSUME_SEQUENTIAL,
                                    .warns = tp->verb.shows_lost ? PD_WARN_READ_BUT_LOST
                                                                 : PD_WARN_READ,
                                    .data = tp,
                                    .no_samples = true,
                                    .no_threads = true,
                                    .alone = true,
                                    .order = PD_ORDER_DELIVERY,
                                    .unheard = tp->unheard,
                                    .unheard_count = tp->recording->event_count,
                                    .begin = begin,
                                    .work = work,
                                    .end = end,
                                    .front = front };
    return pd_pipeline_run(&tp->session, &consumer, 0);
}

/* ---- fields ---- */

uint64_t pd_tp_any_number(const struct pd_tp_sample *sample, unsigned index)
{
    const struct pd_trace_field *field = sample->plan->fields[index];
    uint64_t value = 0;
    if (!field || !pd_trace_number(sample->plan->format, field, sample->sample.raw,
                                   sample->sample.raw_size, &value))
        return 0;
    return value;
}

const char *pd_tp_text(const struct pd_tp_sample *sample, unsigned index, size_t *length)
{
    const struct pd_trace_field *field = sample->plan->fields[index];
    size_t size = 0;
    const uint8_t *bytes = field ? pd_trace_bytes(sample->plan->format, field, sample->sample.raw,
                                                  sample->sample.raw_size, &size)
                                 : NULL;
    *length = bytes ? strnlen((const char *)bytes, size) : 0;
    return (const char *)bytes;
}

/* ---- threads, names, places ---- */

struct pd_thread *pd_tp_thread(const struct pd_tp_sample *sample, uint32_t pid, uint32_t tid)
{
    struct pd_tp *tp = sample->tp;
    struct pd_thread *thread = pd_timeline_touch(tp->session.timeline, pid, tid,
                                                 sample->record->number);
    if (PD_UNLIKELY(!thread))
        pd_tp_no_memory(tp);
    return thread;
}

const char *pd_tp_comm(const struct pd_tp_sample *sample, const struct pd_thread *thread)
{
    uint64_t number = sample->record->number;
    const struct pd_comm *comm = pd_thread_comm(thread, number);
    return comm ? pd_comm_text(comm, number) : "";
}

const char *pd_tp_final_comm(const struct pd_thread *thread)
{
    const struct pd_comm *comm = pd_thread_comm(thread, UINT64_MAX);
    return comm ? pd_comm_final_text(comm) : "";
}

struct pd_location *pd_tp_resolve_at(const struct pd_tp_sample *sample, struct pd_thread *thread,
                                     uint8_t cpumode, uint64_t ip)
{
    struct pd_tp *tp = sample->tp;
    return tp->resolver ? pd_resolve(tp->resolver, thread, sample->record->number, cpumode, ip)
                        : NULL;
}

struct pd_location *pd_tp_resolve(const struct pd_tp_sample *sample, struct pd_thread *thread)
{
    return pd_tp_resolve_at(sample, thread, sample->sample.cpumode, sample->sample.ip);
}

static int by_bucket(const void *a, const void *b)
{
    const struct pd_thread *x = *(struct pd_thread *const *)a, *y = *(struct pd_thread *const *)b;
    if (x->tid % 256 != y->tid % 256)
        return x->tid % 256 < y->tid % 256 ? -1 : 1;
    int32_t m = (int32_t)x->tid, n = (int32_t)y->tid;
    if (m != n)
        return m < n ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

struct pd_thread **pd_tp_threads(const struct pd_tp *tp, size_t *count)
{
    const struct pd_timeline *timeline = tp->session.timeline;
    size_t all = pd_timeline_thread_count(timeline);
    struct pd_thread **threads = malloc((all + 1) * sizeof(struct pd_thread *));
    *count = 0;
    for (size_t i = 0; threads && i < all; i++) {
        struct pd_thread *thread = pd_timeline_thread(timeline, i);
        if (pd_thread_current(thread))
            threads[(*count)++] = thread;
    }
    if (threads)
        qsort(threads, *count, sizeof(struct pd_thread *), by_bucket);
    return threads;
}

/* ---- what is missing ---- */

bool pd_tp_lost(const struct pd_tp *tp, const struct pd_delivered *record, uint64_t *events)
{
    if (record->type != PD_RECORD_LOST || record->size < sizeof(struct pd_at_lost))
        return false;
    *events = pd_load64(record->data + PD_AT(lost, lost), tp->recording->swap);
    return true;
}

void pd_tp_note_loss(const struct pd_tp *tp, struct pd_tp_losses *losses,
                     const struct pd_delivered *record)
{
    uint64_t events;
    if (!pd_tp_lost(tp, record, &events))
        return;
    losses->events += events;
    losses->chunks++;
}

void pd_tp_put_share(struct pd_text *out, const char *what, uint64_t part, uint64_t whole)
{
    pd_text_format(out, "  INFO: %.3f%% %s (%llu out of %llu", (double)part / (double)whole * 100,
                   what, (unsigned long long)part, (unsigned long long)whole);
}

void pd_tp_put_losses(struct pd_tp *tp, const struct pd_tp_losses *losses)
{
    const uint64_t records = tp->session.order_stats_copy.records;
    if (!losses->events || !records)
        return;
    pd_tp_put_share(&tp->out, "lost events", losses->events, records);
    pd_text_format(&tp->out, ", in %llu chunks)\n", (unsigned long long)losses->chunks);
}

/* ---- times ---- */

static bool read_time(const char *text, size_t length, uint64_t *out)
{
    uint64_t seconds = 0, fraction = 0, unit = 1000000000;
    size_t i = strspn(text, " \t");
    for (; i < length && text[i] != '.'; i++)
        if (text[i] < '0' || text[i] > '9' || pd_mul_overflows(seconds, (uint64_t)10, &seconds) ||
            pd_add_overflows(seconds, (uint64_t)(text[i] - '0'), &seconds))
            return false;
    for (i++; i < length; i++) {
        if (text[i] < '0' || text[i] > '9' || unit == 1)
            return false;
        unit /= 10;
        fraction += unit * (uint64_t)(text[i] - '0');
    }
    return !pd_mul_overflows(seconds, UINT64_C(1000000000), &seconds) &&
           !pd_add_overflows(seconds, fraction, out);
}

bool pd_tp_span(const char *text, uint64_t *from, uint64_t *to)
{
    size_t length = strcspn(text, ",");
    const char *stop = text[length] ? text + length + 1 : "";
    *from = *to = 0;
    return read_time(text, length, from) && read_time(stop, strlen(stop), to) &&
           (!*to || *from <= *to);
}

void pd_tp_time(struct pd_text *out, uint64_t time, size_t width)
{
    enum { DECIMALS = 6 };
    const unsigned left = width > DECIMALS ? (unsigned)width - DECIMALS - 1 : 0;
    char *start = pd_text_room(out, PD_MAX(left, 20U) + 1 + DECIMALS), *to = start;
    if (!start)
        return;
    to = pd_put_u64_right(to, time / 1000000000, left);
    *to++ = '.';
    to = pd_put_fixed(to, (uint32_t)(time % 1000000000 / NS_PER_USEC), DECIMALS);
    out->length += (size_t)(to - start);
}
