/* SPDX-License-Identifier: MIT */
/* A part of a recording: some samples, and the side-band that all of them may need. */
#include "container/handle.h"
#include "select/filter.h"
#include "pipeline/pipeline.h"
#include "rewrite/rewrite.h"

struct slice {
    struct perfdata_slice_options options;
    struct pd_filter filter;
    PD_VEC(bool) events; /* by index: wanted; empty: all */
    uint64_t end;        /* side-band later than this goes */
    uint64_t total;      /* samples that match, once counted; then those before this one */
    uint64_t from;       /* of `last`: the first to stay */
    uint64_t written, first_time, last_time;
    const uint8_t *last_data; /* a sample that reads counters comes once for each of them */
    uint64_t last_offset;
    bool counting;
    struct pd_copy copy;
};

static bool event_matches(const char *name, const char *wanted, size_t length)
{
    size_t full = strlen(name);
    if (full == length && !memcmp(name, wanted, length))
        return true;
    const char *colon = strrchr(name, ':');
    return colon && (size_t)(colon - name) == length && !memcmp(name, wanted, length);
}

static perfdata_status choose_events(struct slice *slice, struct pd_recording *recording)
{
    const char *list = slice->options.events;
    if (!list)
        return PERFDATA_OK;
    for (size_t i = 0; i < recording->event_count; i++)
        if (!pd_vec_push(&slice->events, false))
            return pd_no_memory(&recording->context, NULL);
    while (*list) {
        size_t length = strcspn(list, ",");
        bool found = false;
        for (size_t i = 0; i < recording->event_count; i++) {
            if (!event_matches(recording->events[i]->name, list, length))
                continue;
            slice->events.data[i] = found = true;
        }
        if (!found)
            return pd_fail(&recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "'%.*s': the recording has no such event", (int)PD_MIN(length, 200u),
                           list);
        list += length + (list[length] == ',');
    }
    return PERFDATA_OK;
}

static perfdata_status make_filter(struct slice *slice, struct pd_recording *recording)
{
    const struct perfdata_slice_options *o = &slice->options;
    struct pd_context *context = &recording->context;
    perfdata_status status = choose_events(slice, recording);
    if (status == PERFDATA_OK && o->comms)
        status = pd_filter_add_comms(&slice->filter, context, o->comms);
    if (status == PERFDATA_OK && o->pids)
        status = pd_filter_add_pids(&slice->filter, context, o->pids);
    if (status == PERFDATA_OK && o->tids)
        status = pd_filter_add_tids(&slice->filter, context, o->tids);
    if (status == PERFDATA_OK && o->cpus)
        status = pd_filter_add_cpus(&slice->filter, recording, o->cpus);
    if (status == PERFDATA_OK && o->time)
        status = pd_filter_add_times(&slice->filter, recording, o->time, false);
    slice->end = slice->filter.span_count ? 0 : UINT64_MAX;
    for (size_t i = 0; i < slice->filter.span_count; i++) {
        uint64_t end = slice->filter.spans[i].end ? slice->filter.spans[i].end : UINT64_MAX;
        slice->end = PD_MAX(slice->end, end);
    }
    return status;
}

/* ---- records ---- */

static bool matches(const struct slice *slice, const struct pd_delivered *record)
{
    const struct pd_event *event = record->event;
    if (!event)
        return false;
    if (slice->events.count &&
        (event->index >= slice->events.count || !slice->events.data[event->index]))
        return false;
    if (record->time != PD_NO_TIME && !pd_filter_time(&slice->filter, record->time))
        return false;
    if (slice->filter.has_cpus && event->plan.cpu && event->plan.cpu + 4u <= record->size &&
        !pd_filter_cpu(&slice->filter, pd_load32(record->data + event->plan.cpu, event->plan.swap)))
        return false;
    return !pd_filter_has_thread(&slice->filter) ||
           pd_filter_thread(&slice->filter, record->thread, record->number);
}

static bool stays(struct slice *slice, const struct pd_delivered *record)
{
    const struct perfdata_slice_options *o = &slice->options;
    if (record->data == slice->last_data && record->offset == slice->last_offset)
        return false; /* another value of the same sample: it has been written */
    slice->last_data = record->data;
    slice->last_offset = record->offset;
    if (!matches(slice, record))
        return false;
    uint64_t number = slice->total++;
    return !slice->counting && number >= slice->from && !(o->every && number % o->every) &&
           !(o->first && slice->written >= o->first);
}

static perfdata_status take(struct slice *slice, const struct pd_delivered *record)
{
    if (record->type != PD_RECORD_SAMPLE) {
        bool late = record->time != PD_NO_TIME && record->time > slice->end;
        return late || slice->counting ? PERFDATA_OK
                                       : pd_copy_delivered(&slice->copy, record, NULL);
    }
    if (!stays(slice, record))
        return PERFDATA_OK;
    if (record->time != PD_NO_TIME) {
        slice->first_time = slice->first_time ? slice->first_time : record->time;
        slice->last_time = record->time;
    }
    slice->written++;
    return pd_copy_delivered(&slice->copy, record, NULL);
}

static perfdata_status no_work(void *data, void *state, struct pd_batch *batch)
{
    (void)data, (void)state, (void)batch;
    return PERFDATA_OK;
}

static perfdata_status take_batch(void *data, struct pd_batch *batch)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < batch->count && status == PERFDATA_OK; i++)
        status = take(data, &batch->records[i]);
    return status;
}

static perfdata_status run(struct slice *slice, struct pd_recording *recording)
{
    struct pd_consumer consumer = { .kind = PD_CONSUME_SEQUENTIAL,
                                    .data = slice,
                                    .types = { UINT64_MAX, UINT64_MAX },
                                    .unknown_types = true,
                                    .order = PD_ORDER_DELIVERY,
                                    .work = no_work,
                                    .in_order = take_batch };
    struct pd_session session;
    perfdata_status status = pd_session_open(recording, NULL, &session);
    if (status < 0)
        return status;
    slice->total = slice->written = 0;
    slice->last_data = NULL;
    status = pd_pipeline_run(&session, &consumer, 1);
    pd_session_close(&session);
    return status;
}

/* Which samples are the last can be told only after all of them were seen. */
static perfdata_status count(struct slice *slice, struct pd_recording *recording)
{
    uint64_t last = slice->options.last;
    if (!last)
        return PERFDATA_OK;
    if (pd_source_is_stream(recording->source))
        return pd_fail(&recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "the last samples of a pipe: write it to a file first");
    slice->counting = true;
    perfdata_status status = run(slice, recording);
    slice->counting = false;
    slice->from = slice->total > last ? slice->total - last : 0;
    return status;
}

static perfdata_status set_times(struct slice *slice)
{
    uint8_t times[16];
    bool swap = slice->copy.big_endian != pd_is_big_endian(false);
    if (slice->copy.output.kind != PD_WRITE_FILE ||
        !slice->copy.has_feature[PD_FEATURE_SAMPLE_TIME])
        return PERFDATA_OK;
    pd_store64(times, slice->first_time, swap);
    pd_store64(times + 8, slice->last_time, swap);
    return pd_copy_set_feature(&slice->copy, PD_FEATURE_SAMPLE_TIME, times, sizeof times);
}

perfdata_status perfdata_slice(perfdata_recording *recording, const struct perfdata_output *output,
                               const struct perfdata_slice_options *options)
{
    struct slice slice = { 0 };
    if (!recording->open || !output || !options)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_recording *inner = &recording->recording;
    perfdata_status status = pd_take_options(&inner->context, &slice.options, sizeof slice.options,
                                             options);
    if (status == PERFDATA_OK)
        status = make_filter(&slice, inner);
    if (status == PERFDATA_OK)
        status = count(&slice, inner);
    if (status == PERFDATA_OK) {
        status = pd_copy_open(inner, output, PD_COPY_REORDER, &slice.copy);
        if (status == PERFDATA_OK)
            status = pd_copy_begin(&slice.copy);
        if (status == PERFDATA_OK)
            status = run(&slice, inner);
        if (status == PERFDATA_OK)
            status = set_times(&slice);
        status = pd_copy_close(&slice.copy, status);
    }
    pd_vec_free(&slice.events);
    pd_filter_free(&slice.filter);
    return status;
}
