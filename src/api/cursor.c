/* SPDX-License-Identifier: MIT */
/* <perfdata/records.h>: the walk, and any record. */
#include "api/cursor.h"
#include "base/memory.h"
#include <stdlib.h>

static void set_search(struct perfdata_cursor *cursor,
                       const struct perfdata_cursor_options *options)
{
    cursor->search = pd_search_of(cursor->recording, &options->search, NULL);
    cursor->search.demangle = !(options->flags & PERFDATA_CURSOR_NO_DEMANGLE);
    cursor->search.force = options->flags & PERFDATA_CURSOR_FORCE;
}

static perfdata_status decode_traces(struct perfdata_cursor *cursor,
                                     const struct perfdata_cursor_options *options)
{
    struct pd_config_places places = PD_CONFIG_PLACES(options);
    struct pd_synth_config config = { .options = &cursor->itrace,
                                      .guest_code = options->flags & PERFDATA_CURSOR_GUEST_CODE,
                                      .threads = 1 };
    if (!options->itrace_count)
        return PERFDATA_OK;
    perfdata_status status = pd_itrace_options_take(&cursor->itrace, PD_ITRACE_SCRIPT,
                                                    &cursor->recording->context, &places,
                                                    options->itrace, options->itrace_count);
    return status < 0 ? status : pd_session_decode(&cursor->session, &config);
}

static perfdata_status open_session(struct perfdata_cursor *cursor,
                                    const struct perfdata_cursor_options *options,
                                    enum pd_order_mode mode)
{
    perfdata_status status = pd_session_open(cursor->recording, &cursor->search, &cursor->session);
    if (status < 0)
        return status;
    pd_session_want_guests(&cursor->session, &options->search);
    if ((status = decode_traces(cursor, options)) < 0)
        return status;
    cursor->consumer = (struct pd_consumer){ .types = { UINT64_MAX, UINT64_MAX },
                                             .unknown_types = true,
                                             .order = mode };
    cursor->job = pd_job_new(NULL);
    cursor->resolver = pd_resolver_new(cursor->session.symbols);
    if (!cursor->job || !cursor->resolver)
        return pd_no_memory(&cursor->recording->context, NULL);
    cursor->filled = 1;
    return pd_front_open(&cursor->session, &cursor->consumer, &cursor->front);
}

perfdata_status perfdata_cursor_open(perfdata_recording *recording,
                                     const struct perfdata_cursor_options *given,
                                     perfdata_cursor **out)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    *out = NULL;
    perfdata_status taken = pd_take_options(&recording->recording.context, &options, sizeof options,
                                            given);
    if (taken < 0)
        return taken;
    if (!recording->open || options.order > PERFDATA_FILE_ORDER)
        return pd_fail(&recording->recording.context, PERFDATA_ERROR_ARGUMENT, -1,
                       "no open recording or no such order");
    if (options.itrace_count &&
        (!(options.flags & PERFDATA_CURSOR_RESOLVE) || options.order == PERFDATA_FILE_ORDER))
        return pd_fail(&recording->recording.context, PERFDATA_ERROR_ARGUMENT, -1,
                       "itrace wants PERFDATA_CURSOR_RESOLVE and delivery order");
    perfdata_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor)
        return pd_no_memory(&recording->recording.context, NULL);
    cursor->recording = &recording->recording;
    cursor->flags = options.flags;
    cursor->record.cursor = cursor;
    cursor->sample.cursor = cursor;
    enum pd_order_mode mode = options.order == PERFDATA_FILE_ORDER ? PD_ORDER_FILE
                                                                   : PD_ORDER_DELIVERY;
    perfdata_status status;
    if (options.flags & PERFDATA_CURSOR_RESOLVE) {
        set_search(cursor, &options);
        status = open_session(cursor, &options, mode);
    } else {
        cursor->record.delivered = &cursor->delivered;
        status = pd_order_open(cursor->recording, mode, &cursor->order);
    }
    if (status < 0)
        perfdata_cursor_close(cursor);
    else
        *out = cursor;
    return status;
}

perfdata_status perfdata_cursor_open_path(const char *path, const struct perfdata_options *how,
                                          const struct perfdata_cursor_options *options,
                                          perfdata_recording **recording, perfdata_cursor **out)
{
    *out = NULL;
    perfdata_status status = perfdata_recording_open(path, how, recording);
    return status < 0 ? status : perfdata_cursor_open(*recording, options, out);
}

void perfdata_cursor_close(perfdata_cursor *cursor)
{
    if (!cursor)
        return;
    if (cursor->order)
        pd_order_close(cursor->order);
    pd_job_free(cursor->job, &cursor->consumer);
    if (cursor->session.recording)
        pd_front_close(&cursor->front);
    if (cursor->resolver)
        pd_resolver_free(cursor->resolver);
    pd_code_reader_free(cursor->code);
    pd_script_source_free(cursor->source);
    pd_session_close(&cursor->session);
    pd_tracing_free(cursor->tracing);
    pd_vec_free(&cursor->frames);
    pd_vec_free(&cursor->batch.given);
    pd_text_free(&cursor->text);
    free(cursor);
}

/* The next batch; versions of the timeline that only the last one needed may go. */
static int next_batch(struct perfdata_cursor *cursor)
{
    if (cursor->filled <= 0)
        return cursor->filled;
    if (cursor->front.number)
        pd_session_retire(&cursor->session, cursor->front.number);
    pd_resolver_trim(cursor->resolver);
    pd_job_reset(cursor->job);
    cursor->next = 0;
    cursor->filled = pd_front_fill(&cursor->front, cursor->job);
    return cursor->job->batch.count ? 1 : cursor->filled;
}

int pd_api_next(struct perfdata_cursor *cursor)
{
    int got = 1;
    if (cursor->order)
        got = pd_order_next(cursor->order, &cursor->delivered);
    else if (cursor->next == cursor->job->batch.count)
        while ((got = next_batch(cursor)) == 1 && !cursor->job->batch.count)
            continue;
    /* This also covers questions about the previous record: without memory they found no
     * symbols. */
    if (cursor->resolver && got >= 0 && pd_memory_failed())
        got = pd_no_memory(&cursor->recording->context, NULL);
    if (got > 0 && !cursor->order)
        cursor->record.delivered = &cursor->job->batch.records[cursor->next++];
    return got;
}

int perfdata_cursor_next(perfdata_cursor *cursor, const perfdata_record **record)
{
    cursor->batch.given.count = 0;
    int got = pd_api_next(cursor);
    *record = got > 0 ? &cursor->record : NULL;
    return got;
}

uint64_t perfdata_cursor_position(const perfdata_cursor *cursor)
{
    return pd_order_position(cursor->order ? cursor->order : cursor->front.order);
}

uint64_t perfdata_cursor_trace_errors(const perfdata_cursor *cursor)
{
    return pd_session_trace_errors(&cursor->session);
}

/* ---- any record ---- */

uint32_t perfdata_record_type(const perfdata_record *record)
{
    return record->delivered->type;
}

const char *perfdata_record_name(const perfdata_record *record)
{
    return pd_record_type_name(record->delivered->type);
}

uint16_t perfdata_record_misc(const perfdata_record *record)
{
    return record->delivered->misc;
}

uint64_t perfdata_record_offset(const perfdata_record *record)
{
    return record->delivered->offset;
}

uint64_t perfdata_record_number(const perfdata_record *record)
{
    return record->delivered->number;
}

uint64_t perfdata_record_time(const perfdata_record *record)
{
    return record->delivered->time;
}

const perfdata_event *perfdata_record_event(const perfdata_record *record)
{
    return pd_public_event(record->delivered->event);
}

const void *perfdata_record_bytes(const perfdata_record *record, size_t *size)
{
    *size = record->delivered->size;
    return record->delivered->data;
}

void perfdata_record_identity(const perfdata_record *record, struct perfdata_identity *out)
{
    const struct pd_delivered *delivered = record->delivered;
    struct pd_identity identity;
    pd_record_identity(delivered->event, delivered->data, delivered->size, delivered->type,
                       &identity);
    struct perfdata_identity result = { .pid = identity.pid,
                                        .tid = identity.tid,
                                        .cpu = identity.cpu,
                                        .time = identity.time,
                                        .id = identity.id,
                                        .stream_id = identity.stream_id };
    pd_give_result(out, &result, sizeof result);
}
