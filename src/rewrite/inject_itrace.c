/* SPDX-License-Identifier: MIT */
/* inject --itrace: the trace decoded, its samples among the records, and no AUX areas any more. */
#include "base/memory.h"
#include "render/raw_dump/trace_log.h"
#include "pipeline/pipeline.h"
#include "rewrite/inject.h"
#include <stdlib.h>

struct traced {
    struct pd_copy copy;
    struct pd_session session;
    struct pd_trace_log log;
    struct pd_itrace_options itrace;
    size_t own_events; /* of the recording, without those of the samples that are made */
    bool early;        /* early records have been written: perf orders all others at the end */
    bool strip, no_index, branches; /* branches: some sample has or could have a stack of them */
    const uint8_t *last;            /* the record before: parts of one sample come one by one */
    uint8_t *scratch;               /* a sample without its trace */
    size_t room;
};

/* ---- the head ---- */

static perfdata_status make_head(struct traced *traced)
{
    perfdata_status status = pd_copy_describe_events(&traced->copy);
    if (status == PERFDATA_OK && traced->branches)
        status = pd_copy_set_feature(&traced->copy, PD_FEATURE_BRANCH_STACK, "", 0);
    return status == PERFDATA_OK ? pd_copy_begin(&traced->copy) : status;
}

/* ---- records ---- */

/* What only told of the AUX areas, and what --strip takes. */
static bool is_dropped(const struct traced *traced, const struct pd_delivered *record)
{
    switch (record->type) {
    case PD_RECORD_AUXTRACE_INFO:
    case PD_RECORD_AUXTRACE:
    case PD_RECORD_ID_INDEX:
    case PD_RECORD_AUX:
    case PD_RECORD_ITRACE_START:
    case PD_RECORD_AUX_OUTPUT_HW_ID: return true;
    case PD_RECORD_SWITCH:
    case PD_RECORD_SWITCH_CPU_WIDE: return traced->strip;
    case PD_RECORD_SAMPLE:
        return traced->strip && (!record->event || record->event->index < traced->own_events);
    default: return false;
    }
}

/* Room for the record made anew. */
static bool make_room(struct traced *traced, size_t size)
{
    if (size <= traced->room)
        return true;
    uint8_t *grown = realloc(traced->scratch, size);
    if (!grown) {
        pd_memory_note();
        return false;
    }
    traced->scratch = grown;
    traced->room = size;
    return true;
}

/* A sample's own trace is cut off, its size becomes 0. */
static perfdata_status put_without_trace(struct traced *traced, const struct pd_delivered *record,
                                         size_t trace)
{
    if (!make_room(traced, record->size))
        return pd_no_memory(&traced->copy.recording->context, NULL);
    bool swap = traced->copy.recording->swap;
    memcpy(traced->scratch, record->data, trace);
    pd_store64(traced->scratch + trace - 8, 0, swap);
    pd_store16(traced->scratch + 6, (uint16_t)trace, swap);
    /* NOLINTNEXTLINE: the room is the structure's, freed at the end */
    return pd_copy_record(&traced->copy, record->event, traced->scratch, (uint32_t)trace);
}

/* A sample that was made holds all fixed fields; the file gets those that its attribute names. */
static perfdata_status put_made(struct traced *traced, const struct pd_delivered *record)
{
    const struct pd_event *event = record->event;
    const struct pd_plan *plan = &event->plan;
    const struct {
        uint64_t bit;
        uint16_t from;
    } words[] = {
        { PD_SAMPLE_IDENTIFIER, plan->id },
        { PD_SAMPLE_IP, plan->ip },
        { PD_SAMPLE_TID, plan->tid },
        { PD_SAMPLE_TIME, plan->time },
        { PD_SAMPLE_ADDR, plan->addr },
        { PD_SAMPLE_ID, plan->id },
        { PD_SAMPLE_STREAM_ID, plan->stream_id },
        { PD_SAMPLE_CPU, plan->cpu },
        { PD_SAMPLE_PERIOD, plan->period },
    };
    struct pd_sample sample;
    size_t size = 8, tail = plan->fixed_size;
    if (!make_room(traced, record->size + 8 * PD_LENGTH(words)))
        return pd_no_memory(&traced->copy.recording->context, NULL);
    memcpy(traced->scratch, record->data, size);
    for (size_t i = 0; i < PD_LENGTH(words); i++)
        if (event->attr.sample_type & words[i].bit) {
            memcpy(traced->scratch + size, record->data + words[i].from, 8);
            size += 8;
        }
    memcpy(traced->scratch + size, record->data + tail, record->size - tail);
    bool index = pd_sample_decode(event, record->data, record->size, &sample) == PERFDATA_OK &&
                 sample.has_hw_index;
    uint8_t *branches = traced->scratch + size + (index ? sample.branches - record->data : 0) -
                        tail;
    size += record->size - tail;
    if (index && traced->no_index) {
        memmove(branches - 8, branches, traced->scratch + size - branches);
        size -= 8;
    } else if (index) { /* made samples have -1 here, and perf writes 0 */
        memset(branches - 8, 0, 8);
    }
    pd_store16(traced->scratch + 6, (uint16_t)size, plan->swap);
    return pd_copy_record(&traced->copy, event, traced->scratch, (uint32_t)size);
}

/* perf writes an error no longer than its message, where it is of no guest. */
static perfdata_status put_error(struct traced *traced, const struct pd_delivered *record)
{
    enum { FORMAT_AT = 28, MESSAGE_AT = 48, MESSAGE = 64 };
    bool swap = traced->copy.recording->swap;
    if (record->size < MESSAGE_AT + MESSAGE || pd_load32(record->data + FORMAT_AT, swap) != 1 ||
        !make_room(traced, record->size))
        return pd_copy_delivered(&traced->copy, record, NULL);
    size_t length = strnlen((const char *)record->data + MESSAGE_AT, MESSAGE - 1) + 1;
    size_t size = MESSAGE_AT + (size_t)pd_align8(length);
    memcpy(traced->scratch, record->data, size);
    pd_store16(traced->scratch + 6, (uint16_t)size, swap);
    /* NOLINTNEXTLINE: as above */
    return pd_copy_record(&traced->copy, NULL, traced->scratch, (uint32_t)size);
}

static perfdata_status put(struct traced *traced, const struct pd_delivered *record)
{
    struct pd_sample sample;
    const struct pd_event *event = record->event;
    bool again = record->type == PD_RECORD_SAMPLE && record->has_period &&
                 record->data == traced->last;
    traced->last = record->data;
    if (again || is_dropped(traced, record))
        return PERFDATA_OK;
    if (record->type == PD_RECORD_SAMPLE && event && event->attr.sample_type & PD_SAMPLE_AUX &&
        pd_sample_decode(event, record->data, record->size, &sample) == PERFDATA_OK &&
        sample.aux_size)
        return put_without_trace(traced, record, (size_t)(sample.aux - record->data));
    if (record->type == PD_RECORD_AUXTRACE_ERROR)
        return put_error(traced, record);
    if (event && event->synthesised)
        return put_made(traced, record);
    return pd_copy_delivered(&traced->copy, record, NULL);
}

/* Records that perf writes when it reads them, in front of all that it orders by time. */
static bool is_early(const struct pd_delivered *record)
{
    return record->chunk && (record->type >= 64 || record->time == PD_NO_TIME);
}

static perfdata_status put_early(struct traced *traced)
{
    struct pd_order *order;
    struct pd_delivered record;
    int got = pd_order_open(traced->copy.recording, PD_ORDER_FILE, &order);
    if (got < 0)
        return got;
    while ((got = pd_order_next(order, &record)) > 0)
        if (is_early(&record) && (got = put(traced, &record)) < 0)
            break;
    pd_order_close(order);
    return got;
}

/* Where all events have times, and the input can be read twice. */
static bool can_be_early(const struct pd_recording *recording, size_t events)
{
    bool times = !pd_source_is_stream(recording->source);
    for (size_t i = 0; i < events; i++)
        times &= (recording->events[i]->attr.sample_type & PD_SAMPLE_TIME) != 0 &&
                 pd_attr_flag(&recording->events[i]->attr, PD_ATTR_SAMPLE_ID_ALL);
    return times;
}

static perfdata_status work(void *data, void *state, struct pd_batch *batch)
{
    (void)data;
    (void)state;
    (void)batch;
    return PERFDATA_OK;
}

static perfdata_status in_order(void *data, struct pd_batch *batch)
{
    const struct traced *traced = data;
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < batch->count && status == PERFDATA_OK; i++)
        if (!traced->early || !is_early(&batch->records[i]))
            status = put(data, &batch->records[i]);
    return status;
}

/* ---- a run ---- */

static perfdata_status read_options(struct traced *traced, struct pd_recording *recording,
                                    const struct perfdata_inject_options *options)
{
    struct pd_config_places places = PD_CONFIG_PLACES(options);
    traced->strip = options->flags & PERFDATA_INJECT_STRIP;
    traced->no_index = options->flags & PERFDATA_INJECT_NO_HW_INDEX;
    perfdata_status status = pd_itrace_options_take(&traced->itrace, PD_ITRACE_INJECT,
                                                    &recording->context, &places, options->itrace,
                                                    options->itrace_count);
    traced->branches = traced->itrace.last_branch || traced->itrace.add_last_branch;
    /* recorded samples are written as they were */
    traced->itrace.add_callchain = traced->itrace.add_last_branch = false;
    return status;
}

static perfdata_status open_session(struct traced *traced, struct pd_recording *recording,
                                    const struct perfdata_inject_options *options)
{
    struct pd_object_search search = pd_search_of(recording, &options->search, &traced->itrace);
    search.ignore_vmlinux = options->flags & PERFDATA_INJECT_IGNORE_VMLINUX;
    struct pd_synth_config config = { .options = &traced->itrace };
    traced->own_events = recording->event_count;
    perfdata_status status = pd_trace_log_open(&traced->log, recording, &traced->itrace,
                                               PD_TRACE_LOG_REFUSED, &config);
    if (status == PERFDATA_OK)
        status = pd_session_open(recording, &search, &traced->session);
    if (status == PERFDATA_OK) {
        pd_session_want_guests(&traced->session, &options->search);
        status = pd_session_decode(&traced->session, &config);
    }
    if (status == PERFDATA_OK && !traced->session.synth)
        status = pd_fail(&recording->context, PERFDATA_ERROR_NO_DATA, -1,
                         "the recording has no trace that can be decoded");
    return status;
}

/* The events of what is made no longer say that there is an index; their samples are made
 * without. */
static void drop_index(struct traced *traced, struct pd_recording *recording)
{
    for (size_t i = traced->own_events; i < recording->event_count; i++)
        recording->events[i]->attr.branch_sample_type &= ~(uint64_t)PD_BRANCH_SAMPLE_HW_INDEX;
}

perfdata_status pd_inject_itrace(struct pd_recording *recording,
                                 const struct perfdata_output *output,
                                 const struct perfdata_inject_options *options, unsigned how)
{
    struct traced traced = { .own_events = 0 };
    perfdata_status status = read_options(&traced, recording, options);
    if (status < 0)
        return status;
    struct pd_consumer consumer = {
        .kind = PD_CONSUME_SEQUENTIAL,
        .warns = PD_WARN_COPY,
        .data = &traced,
        .types = { UINT64_MAX, UINT64_MAX },
        .unknown_types = true,
        .no_threads = true,
        .order = PD_ORDER_DELIVERY,
        .work = work,
        .in_order = in_order,
    };
    status = open_session(&traced, recording, options);
    bool opened = status == PERFDATA_OK;
    if (opened && traced.no_index)
        drop_index(&traced, recording);
    if (opened)
        status = pd_copy_open(recording, output, how | PD_COPY_ROUNDS | PD_COPY_REORDER,
                              &traced.copy);
    if (opened && status == PERFDATA_OK)
        status = make_head(&traced);
    traced.early = can_be_early(recording, traced.own_events);
    if (status == PERFDATA_OK && traced.early)
        status = put_early(&traced);
    if (status == PERFDATA_OK)
        status = pd_pipeline_run(&traced.session, &consumer, 0);
    if (opened)
        status = pd_copy_close(&traced.copy, status);
    if (options->trace_errors)
        *options->trace_errors = pd_session_trace_errors(&traced.session);
    pd_session_close(&traced.session);
    status = pd_trace_log_close(&traced.log, status);
    free(traced.scratch);
    return status;
}
