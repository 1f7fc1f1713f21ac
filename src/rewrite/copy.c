/* SPDX-License-Identifier: MIT */
/* A recording -> its copy, record by record, through a writer. */
#include "format/fields.h"
#include "format/offsets.h"
#include "rewrite/describe.h"
#include "rewrite/rewrite.h"
#include <stdlib.h>

enum { COPY_BLOCK = 256 * 1024, FEATURE_HEAD = 16 };

static bool host_is_big(void)
{
    return pd_is_big_endian(false);
}

/* ---- events and features ---- */

static bool wanted_order(const struct pd_recording *recording, uint32_t order)
{
    switch (order) {
    case PERFDATA_BYTE_ORDER_NATIVE: return host_is_big();
    case PERFDATA_BYTE_ORDER_LITTLE: return false;
    case PERFDATA_BYTE_ORDER_BIG: return true;
    default: return recording->big_endian;
    }
}

/* What tells of the file itself is made anew. */
static bool is_copied(const struct pd_copy *copy, unsigned feature)
{
    const struct pd_feature_bytes *bytes = &copy->recording->feature_table.bytes[feature];
    if (copy->whole && copy->recording->feature_table.bad[feature])
        return false;
    switch (feature) {
    case PD_FEATURE_AUXTRACE: return false;
    case PD_FEATURE_BUILD_ID: /* perf inject writes no record of it */
        return bytes->data && !((copy->recording->like_perf || copy->no_ids) &&
                                copy->output.kind == PD_WRITE_PIPE);
    case PD_FEATURE_DIR_FORMAT: return copy->directory && bytes->data;
    case PD_FEATURE_COMPRESSED: /* perf sets the bit even where nothing is compressed */
        return bytes->data && (copy->closed || !copy->recording->features.compressed.type);
    default: return bytes->data != NULL;
    }
}

void pd_feature_convert(const struct pd_feature_bytes *bytes, unsigned feature, bool swap,
                        bool big_endian, uint32_t cpus, struct pd_arena *arena, uint8_t *out)
{
    memcpy(out, bytes->data, bytes->size);
    uint8_t *record = feature == PD_FEATURE_TRACING_DATA || bytes->size > UINT32_MAX / 4
                          ? NULL /* the data say themselves in which order they are */
                          : pd_arena_alloc(arena, 2 * (bytes->size + FEATURE_HEAD));
    if (!record)
        return;
    uint32_t size = (uint32_t)(bytes->size + FEATURE_HEAD);
    pd_store32(record, PD_RECORD_HEADER_FEATURE, swap);
    pd_store16(record + 4, 0, swap);
    pd_store16(record + 6, (uint16_t)PD_MIN(size, (uint32_t)UINT16_MAX), swap);
    pd_store64(record + PD_AT(header_feature, feat_id), feature, swap);
    memcpy(record + FEATURE_HEAD, bytes->data, bytes->size);
    struct pd_fields_input input = { NULL, record, size, swap, cpus };
    pd_record_encode(&input, big_endian, record + size);
    memcpy(out, record + size + FEATURE_HEAD, bytes->size);
}

static perfdata_status copy_feature(struct pd_copy *copy, unsigned feature)
{
    struct pd_recording *recording = copy->recording;
    struct pd_feature_bytes bytes = recording->feature_table.bytes[feature];
    if (copy->convert && bytes.size) {
        uint8_t *converted = pd_arena_alloc(&recording->arena, bytes.size);
        if (!converted)
            return pd_no_memory(&recording->context, NULL);
        pd_feature_convert(&bytes, feature, recording->swap, copy->big_endian, copy->cpus,
                           &recording->arena, converted);
        bytes.data = converted;
    }
    return pd_copy_set_feature(copy, feature, bytes.data, bytes.size);
}

perfdata_status pd_copy_set_feature(struct pd_copy *copy, unsigned feature, const void *payload,
                                    size_t size)
{
    copy->has_feature[feature] = true;
    return pd_writer_set_feature(copy->writer, feature, payload, size);
}

perfdata_status pd_copy_give_feature(struct pd_copy *copy, unsigned feature, struct pd_text *bytes)
{
    perfdata_status status = bytes->failed
                                 ? pd_no_memory(&copy->recording->context, NULL)
                                 : pd_copy_set_feature(copy, feature, bytes->data, bytes->length);
    pd_text_free(bytes);
    return status;
}

perfdata_status pd_copy_describe_events(struct pd_copy *copy)
{
    const struct pd_recording *recording = copy->recording;
    const bool swap = copy->big_endian != host_is_big();
    struct pd_text out = { 0 };
    pd_describe_begin(&out, recording->event_count, swap);
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_event *event = recording->events[i];
        pd_describe_event(&out, event->name, &event->attr, event->ids, event->id_count, swap);
    }
    return pd_copy_give_feature(copy, PD_FEATURE_EVENT_DESC, &out);
}

/* In a pipe, perf stat's events have no sample type: with one, perf would take them for events with
 * samples. */
static struct pd_attr attr_for(const struct pd_copy *copy, const struct pd_event *event)
{
    struct pd_attr attr = event->attr;
    if (copy->output.kind == PD_WRITE_PIPE && attr.sample_type == PD_SAMPLE_IDENTIFIER &&
        pd_recording_has_feature(copy->recording, PD_FEATURE_STAT) &&
        !pd_attr_flag(&attr, PD_ATTR_SAMPLE_ID_ALL))
        attr.sample_type = 0;
    return attr;
}

/* Gives the writer the events and features that the recording has by now and the writer lacks. */
static perfdata_status give_head(struct pd_copy *copy)
{
    struct pd_recording *recording = copy->recording;
    perfdata_status status = PERFDATA_OK;
    bool branches = false;
    for (size_t i = 0; i < recording->event_count; i++)
        branches |= recording->events[i]->attr.sample_type & PD_SAMPLE_BRANCH_STACK;
    for (; copy->events < recording->event_count && status == PERFDATA_OK; copy->events++) {
        const struct pd_event *event = recording->events[copy->events];
        const struct pd_attr attr = attr_for(copy, event);
        status = pd_writer_add_event(copy->writer, &attr, event->ids, event->id_count);
    }
    for (unsigned i = 0; i < 256 && status == PERFDATA_OK; i++)
        if (!copy->has_feature[i] && is_copied(copy, i))
            status = copy_feature(copy, i);
    /* a pipe has no record for it */
    if (status == PERFDATA_OK && recording->kind == PD_CONTAINER_PIPE && branches &&
        !copy->has_feature[PD_FEATURE_BRANCH_STACK] && copy->output.kind == PD_WRITE_FILE)
        status = pd_copy_set_feature(copy, PD_FEATURE_BRANCH_STACK, "", 0);
    return status;
}

static perfdata_status set_directory(struct pd_copy *copy)
{
    uint8_t version[8];
    pd_store64(version, 1, copy->big_endian != host_is_big());
    return pd_copy_set_feature(copy, PD_FEATURE_DIR_FORMAT, version, sizeof version);
}

perfdata_status pd_copy_open(struct pd_recording *recording, const struct perfdata_output *output,
                             unsigned flags, struct pd_copy *out)
{
    memset(out, 0, sizeof *out);
    out->recording = recording;
    out->output.fd = out->output.folder = out->parts.folder = -1;
    perfdata_status status = pd_output_open(&recording->context, output, &out->output);
    if (status < 0)
        return status;
    const struct perfdata_output *options = &out->output.options;
    out->whole = flags & PD_COPY_WHOLE;
    out->directory = flags & PD_COPY_DIRECTORY;
    out->no_ids = flags & PD_COPY_NO_IDS;
    out->big_endian = wanted_order(recording, options->byte_order);
    out->convert = out->big_endian != recording->big_endian;
    out->cpus = recording->features.nrcpus.present ? recording->features.nrcpus.available : 0;
    bool directory = options->flags & PERFDATA_OUTPUT_DIRECTORY;
    out->no_rounds = (flags & (PD_COPY_REORDER | PD_COPY_ROUNDS)) == PD_COPY_REORDER ||
                     recording->parts.count || directory;
    out->closed = !(flags & (PD_COPY_OPEN | PD_COPY_REORDER)) && !out->convert &&
                  !recording->parts.count && !options->compression && !directory;
    struct pd_writer_options writer = { .kind = out->output.kind,
                                        .swap = out->big_endian != host_is_big(),
                                        .level = options->compression };
    status = pd_writer_open_fd(&recording->context, out->output.fd, &writer, &out->writer);
    out->into = out->writer;
    out->parts.folder = out->output.folder;
    out->parts.options = writer;
    if (status == PERFDATA_OK && !(flags & PD_COPY_NO_EVENTS))
        status = give_head(out);
    return status < 0 || !directory ? status : set_directory(out);
}

/* perf names a pipe's events before it reads their description, and so by their attributes
 * alone. */
static perfdata_status put_name(struct pd_copy *copy, const struct pd_event *event)
{
    enum { NAME_AT = 24 };
    bool swap = copy->big_endian != host_is_big();
    size_t length = event->name_length, size = (size_t)pd_align8(NAME_AT + length + 1);
    struct pd_text usual = { 0 };
    pd_attr_name(&event->attr, &usual);
    bool differs = usual.length != length || memcmp(usual.data, event->name, length) != 0;
    pd_text_free(&usual);
    if (!differs || !event->id_count || event->attr.type == PD_TYPE_TRACEPOINT || size > UINT16_MAX)
        return PERFDATA_OK;
    uint8_t *record = calloc(1, size);
    if (!record)
        return pd_no_memory(&copy->recording->context, NULL);
    pd_store32(record, PD_RECORD_EVENT_UPDATE, swap);
    pd_store16(record + 6, (uint16_t)size, swap);
    pd_store64(record + PD_AT(event_update, update_type), PD_EVENT_UPDATE_NAME, swap);
    pd_store64(record + PD_AT(event_update, id), event->ids[0], swap);
    memcpy(record + NAME_AT, event->name, length);
    perfdata_status status = pd_writer_put_record(copy->writer, record, size);
    free(record);
    return status;
}

perfdata_status pd_copy_begin(struct pd_copy *copy)
{
    const struct pd_recording *recording = copy->recording;
    perfdata_status status = pd_writer_begin(copy->writer);
    bool names = copy->output.options.flags & PERFDATA_OUTPUT_NAMES && copy->events != SIZE_MAX &&
                 copy->output.kind == PD_WRITE_PIPE && recording->kind != PD_CONTAINER_PIPE;
    for (size_t i = 0; names && i < recording->event_count && status == PERFDATA_OK; i++)
        status = put_name(copy, recording->events[i]);
    return status;
}

perfdata_status pd_copy_close(struct pd_copy *copy, perfdata_status status)
{
    struct pd_context *context = &copy->recording->context;
    if (status == PERFDATA_OK && copy->output.kind == PD_WRITE_FILE)
        status = give_head(copy);
    if (status == PERFDATA_OK && copy->parts.folder >= 0 && !copy->parts.list.count)
        status = pd_parts_writer(&copy->parts, context, 0, &copy->into); /* perf wants one */
    status = pd_parts_finish(&copy->parts, context, status);
    if (status == PERFDATA_OK)
        status = pd_writer_finish(copy->writer);
    pd_writer_close(copy->writer);
    free(copy->scratch);
    return pd_output_close(context, &copy->output, status);
}

/* ---- records ---- */

perfdata_status pd_take_records(struct pd_recording *recording, unsigned flags,
                                pd_take_record_fn take, void *data)
{
    struct pd_walk *walk;
    struct pd_raw raw;
    int got = pd_walk_open(recording, &walk);
    if (got < 0)
        return got;
    pd_walk_set(walk, flags);
    while ((got = pd_walk_next(walk, &raw)) > 0) {
        if (pd_walk_doubts(walk, &raw))
            continue;
        got = take(data, walk, &raw);
        if (got < 0)
            break;
    }
    pd_walk_close(walk);
    return got;
}

perfdata_status pd_copy_take_records(struct pd_copy *copy, pd_take_record_fn take, void *data)
{
    bool stream = pd_source_is_stream(copy->recording->source);
    unsigned flags = (copy->closed ? PD_WALK_CLOSED : 0) | (stream ? PD_WALK_PAYLOADS : 0);
    return pd_take_records(copy->recording, flags, take, data);
}

perfdata_status pd_copy_record(struct pd_copy *copy, const struct pd_event *event,
                               const uint8_t *record, uint32_t size)
{
    if (!copy->convert)
        return pd_writer_put_record(copy->into, record, size);
    if (size > copy->room) {
        size_t room = PD_MAX(2 * (size_t)size, (size_t)UINT16_MAX + 1);
        uint8_t *scratch = realloc(copy->scratch, room);
        if (!scratch)
            return pd_no_memory(&copy->recording->context, NULL);
        copy->scratch = scratch;
        copy->room = room;
    }
    struct pd_fields_input input = { event, record, size, copy->recording->swap, copy->cpus };
    pd_record_encode(&input, copy->big_endian, copy->scratch); /* damaged parts stay as they are */
    return pd_writer_put_record(copy->into, copy->scratch, size);
}

/* What follows a record: trace data, whose order is its own. */
static perfdata_status put_payload(struct pd_copy *copy, const struct pd_raw *raw)
{
    struct pd_recording *recording = copy->recording;
    if (raw->payload)
        return pd_writer_put(copy->writer, raw->payload, (size_t)raw->payload_size);
    struct pd_source *source = raw->part ? recording->parts.sources[raw->part - 1]
                                         : recording->source;
    uint8_t *block = malloc(COPY_BLOCK);
    perfdata_status status = PERFDATA_OK;
    if (!block)
        return pd_no_memory(&recording->context, NULL);
    for (uint64_t done = 0; done < raw->payload_size && status == PERFDATA_OK;) {
        size_t got = 0, want = (size_t)PD_MIN(raw->payload_size - done, (uint64_t)COPY_BLOCK);
        status = pd_source_read(source, raw->offset + raw->size + done, block, want, &got);
        if (status == PERFDATA_OK && !got)
            status = pd_fail(&recording->context, PERFDATA_ERROR_TRUNCATED, (int64_t)raw->offset,
                             "the bytes behind a record are gone");
        if (status == PERFDATA_OK)
            status = pd_writer_put(copy->writer, block, got);
        done += got;
    }
    free(block);
    return status;
}

/* Records that the writer makes itself, or that have no place in the output. */
static bool is_left_out(struct pd_copy *copy, const struct pd_raw *raw)
{
    bool from_pipe = copy->recording->kind == PD_CONTAINER_PIPE;
    bool late = raw->offset >= copy->recording->head.end &&
                copy->output.kind == PD_WRITE_PIPE; /* a second stream behind the first */
    switch (raw->type) {
    case PD_RECORD_HEADER_ATTR:
    case PD_RECORD_HEADER_FEATURE: return from_pipe && !late;
    case PD_RECORD_HEADER_TRACING_DATA: return from_pipe;
    case PD_RECORD_FINISHED_ROUND: return copy->no_rounds;
    case PD_RECORD_COMPRESSED:
    case PD_RECORD_COMPRESSED2: return !copy->closed;
    default: return false;
    }
}

/* In a directory the kernel's records lie in a file for each CPU; a directory that is read is kept
 * as it is. */
static perfdata_status choose_part(struct pd_copy *copy, const struct pd_raw *raw)
{
    struct pd_identity identity;
    if (copy->parts.folder < 0 || raw->type >= PD_RECORD_KERNEL_END || !raw->event)
        return PERFDATA_OK;
    uint64_t key = raw->part;
    if (!copy->recording->parts.count) {
        pd_record_identity(raw->event, raw->data, raw->size, raw->type, &identity);
        if (identity.cpu == UINT32_MAX && raw->type != PD_RECORD_SAMPLE)
            return PERFDATA_OK;
        key = identity.cpu + UINT64_C(1); /* those of no known CPU lie in one file, too */
    }
    return key ? pd_parts_writer(&copy->parts, &copy->recording->context, key, &copy->into)
               : PERFDATA_OK;
}

/* perf stat's records. In a pipe, nothing but these tells that it is perf stat's. */
static bool is_of_stat(uint32_t type)
{
    return type == PD_RECORD_STAT_CONFIG || type == PD_RECORD_STAT || type == PD_RECORD_STAT_ROUND;
}

perfdata_status pd_copy_raw(struct pd_copy *copy, const struct pd_raw *raw)
{
    if (is_left_out(copy, raw))
        return PERFDATA_OK;
    perfdata_status status = choose_part(copy, raw);
    if (status == PERFDATA_OK)
        status = pd_copy_record(copy, raw->event, raw->data, raw->size);
    copy->into = copy->writer;
    bool within = raw->payload && raw->payload >= raw->data && raw->payload < raw->data + raw->size;
    if (status == PERFDATA_OK && raw->payload_size && !within)
        status = put_payload(copy, raw);
    if (status == PERFDATA_OK && is_of_stat(raw->type) && copy->output.kind == PD_WRITE_FILE &&
        !copy->has_feature[PD_FEATURE_STAT])
        status = pd_copy_set_feature(copy, PD_FEATURE_STAT, "", 0);
    return status;
}

perfdata_status pd_copy_delivered(struct pd_copy *copy, const struct pd_delivered *record,
                                  const uint8_t *payload)
{
    struct pd_raw raw = { .data = record->data,
                          .size = record->size,
                          .type = record->type,
                          .misc = record->misc,
                          .offset = record->offset,
                          .part = record->part,
                          .event = record->event };
    if (raw.type == PD_RECORD_AUXTRACE && raw.size >= 16) {
        raw.payload_size = pd_load64(raw.data + PD_AT(auxtrace, data_size), copy->recording->swap);
        raw.payload = payload;
        if (!payload && pd_source_is_stream(copy->recording->source))
            return pd_fail(&copy->recording->context, PERFDATA_ERROR_UNSUPPORTED,
                           (int64_t)raw.offset,
                           "trace data from a pipe cannot be put in another order");
    }
    return pd_copy_raw(copy, &raw);
}
