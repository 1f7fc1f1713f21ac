/* SPDX-License-Identifier: MIT */
/* Which traces a recording has: from its index, from a walk, or as a stream brings them. */
#include "itrace/aux/index.h"
#include "format/structs.h"
#include <stdlib.h>

/* Queue numbers are those of mmaps: one a CPU or thread. A hostile one must not cost memory. */
enum { QUEUES_MAX = 1 << 20 };
#define NO_ID UINT32_MAX

perfdata_status pd_aux_open(struct pd_recording *recording, const struct pd_aux_options *options,
                            struct pd_aux **out)
{
    struct pd_aux *aux = *out = calloc(1, sizeof *aux);
    if (!aux)
        return pd_no_memory(&recording->context, "AUX areas");
    aux->recording = recording;
    if (options)
        aux->options = *options;
    aux->info.pt.time.mult = 1;
    return PERFDATA_OK;
}

void pd_aux_close(struct pd_aux *aux)
{
    if (!aux)
        return;
    for (size_t i = 0; i < aux->buffers.count; i++)
        free(aux->buffers.data[i].memory);
    for (size_t i = 0; i < aux->queues.count; i++)
        pd_vec_free(&aux->queues.data[i].buffers);
    pd_aux_index_free(aux->index);
    pd_vec_free(&aux->buffers);
    pd_vec_free(&aux->queues);
    pd_vec_free(&aux->ids);
    pd_vec_free(&aux->records);
    pd_map64_free(&aux->id_index);
    pd_arena_free(&aux->arena);
    free(aux);
}

/* ---- buffers ---- */

static struct pd_aux_queue *queue_of(struct pd_aux *aux, uint32_t number)
{
    while (aux->queues.count <= number) {
        struct pd_aux_queue queue = { .number = (uint32_t)aux->queues.count,
                                      .cpu = NO_ID,
                                      .tid = NO_ID };
        if (!pd_vec_push(&aux->queues, queue))
            return NULL;
    }
    return &aux->queues.data[number];
}

/* Takes over buffer->memory. */
static perfdata_status add_buffer(struct pd_aux *aux, struct pd_aux_buffer *buffer, uint32_t tid)
{
    struct pd_context *context = &aux->recording->context;
    bool wanted = buffer->cpu == NO_ID || !aux->options.cpu_wanted ||
                  aux->options.cpu_wanted(aux->options.data, buffer->cpu);
    if (!wanted || buffer->queue >= QUEUES_MAX) {
        aux->dropped += !wanted;
        if (!wanted && buffer->cpu < PD_AUX_CPUS)
            aux->dropped_cpus[buffer->cpu / 64] |= UINT64_C(1) << buffer->cpu % 64;
        free(buffer->memory);
        return wanted ? pd_issue(context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)buffer->record_offset,
                                 "an AUX area of queue %u", buffer->queue)
                      : PERFDATA_OK;
    }
    struct pd_aux_queue *queue = queue_of(aux, buffer->queue);
    buffer->number = aux->buffers.count + 1 + (aux->options.count_all ? aux->dropped : 0);
    if (!queue || !pd_vec_push(&queue->buffers, (uint32_t)aux->buffers.count) ||
        !pd_vec_push(&aux->buffers, *buffer)) {
        free(buffer->memory);
        return pd_no_memory(&aux->recording->context, "AUX areas");
    }
    if (!queue->set) {
        queue->set = true;
        queue->cpu = buffer->cpu;
        queue->tid = tid;
    }
    return PERFDATA_OK;
}

/* A copy of bytes that the recording will not give again. */
static uint8_t *copy_of(const uint8_t *bytes, uint64_t size)
{
    uint8_t *copy = malloc(size ? (size_t)size : 1);
    if (copy && size)
        memcpy(copy, bytes, (size_t)size);
    return copy;
}

/* Makes a buffer of an AUXTRACE record, without its memory. False: the record is broken, which the
 * walk has reported. */
static bool buffer_of(const struct pd_recording *recording, const struct pd_raw *record,
                      struct pd_aux_buffer *out)
{
    struct pd_record_auxtrace body;
    if (pd_record_decode(NULL, record->data, record->size, recording->swap, NULL, &body,
                         sizeof body) < 0)
        return false;
    *out = (struct pd_aux_buffer){
        .size = body.data_size,
        .offset = body.offset,
        .reference = body.reference,
        .file_offset = record->offset + record->size,
        .record_offset = record->offset,
        .part = record->part,
        .queue = body.idx,
        .pid = NO_ID,
        .tid = body.tid,
        .cpu = body.cpu,
    };
    return true;
}

static perfdata_status add_trace(struct pd_aux *aux, const struct pd_raw *record)
{
    struct pd_aux_buffer buffer;
    if (!buffer_of(aux->recording, record, &buffer))
        return PERFDATA_OK;
    if (pd_source_is_stream(aux->recording->source)) {
        if (!record->payload && buffer.size)
            return pd_issue(&aux->recording->context, PERFDATA_ISSUE_TRUNCATED,
                            (int64_t)record->offset, "the AUX area's bytes are not there");
        buffer.memory = copy_of(record->payload, buffer.size);
        buffer.file_offset = UINT64_MAX;
        if (!buffer.memory)
            return pd_no_memory(&aux->recording->context, "AUX areas");
    }
    return add_buffer(aux, &buffer, buffer.tid);
}

/* `inside`: what held the record is compressed. */
static perfdata_status add_sample(struct pd_aux *aux, const struct pd_raw *record, bool inside)
{
    struct pd_sample sample;
    const struct pd_event *event = record->event;
    if (!event || !(event->attr.sample_type & PD_SAMPLE_AUX) ||
        pd_sample_decode(event, record->data, record->size, &sample) < 0 || !sample.aux_size)
        return PERFDATA_OK;
    uint32_t index = pd_map64_get(&aux->id_index, sample.id);
    struct pd_aux_id id = { .cpu = sample.cpu, .tid = NO_ID };
    if (index != PD_MAP64_NONE)
        id = aux->ids.data[index];
    struct pd_aux_buffer buffer = {
        .size = sample.aux_size,
        .reference = pd_time_to_tsc(&aux->info.pt.time, sample.time),
        .file_offset = record->offset + (uint64_t)(sample.aux - record->data),
        .record_offset = record->offset,
        .part = record->part,
        .queue = id.queue,
        .pid = sample.pid,
        .tid = sample.tid,
        .cpu = id.cpu,
        .sample = true,
    };
    if (inside || pd_source_is_stream(aux->recording->source)) {
        buffer.memory = copy_of(sample.aux, sample.aux_size);
        buffer.file_offset = UINT64_MAX;
        if (!buffer.memory)
            return pd_no_memory(&aux->recording->context, "AUX areas");
    }
    return add_buffer(aux, &buffer, id.tid);
}

static perfdata_status take_id_index(struct pd_aux *aux, const struct pd_raw *record)
{
    struct pd_record_id_index body;
    struct pd_arena arena = { 0 };
    bool stored = true;
    (void)pd_record_decode(NULL, record->data, record->size, aux->recording->swap, &arena, &body,
                           sizeof body);
    for (uint32_t i = 0; i < body.entries_count && stored; i++) {
        const struct pd_part_id_index_entry *entry = &body.entries[i];
        struct pd_aux_id id = { (uint32_t)PD_MIN(entry->idx, (uint64_t)NO_ID), (uint32_t)entry->cpu,
                                (uint32_t)entry->tid };
        stored = pd_map64_set(&aux->id_index, entry->id, (uint32_t)aux->ids.count) &&
                 pd_vec_push(&aux->ids, id);
    }
    pd_arena_free(&arena);
    return stored ? PERFDATA_OK : pd_no_memory(&aux->recording->context, "AUX areas");
}

static perfdata_status add_record(struct pd_aux *aux, const struct pd_raw *raw)
{
    struct pd_record_aux body;
    struct pd_identity identity;
    (void)pd_record_decode(raw->event, raw->data, raw->size, aux->recording->swap, NULL, &body,
                           sizeof body);
    pd_record_identity(raw->event, raw->data, raw->size, raw->type, &identity);
    struct pd_aux_record record = { body.aux_offset, body.aux_size, body.flags,  identity.time,
                                    identity.pid,    identity.tid,  identity.cpu };
    return pd_vec_push(&aux->records, record) ? PERFDATA_OK
                                              : pd_no_memory(&aux->recording->context, "AUX areas");
}

/* ---- a file's ---- */

/* The buffer of the AUXTRACE record that an entry names; false: it names none. */
static bool read_entry(const struct pd_recording *recording,
                       const struct pd_part_auxtrace_entry *entry, struct pd_aux_buffer *out,
                       perfdata_status *status)
{
    uint8_t head[64];
    struct pd_raw record = { .offset = entry->offset,
                             .data = head,
                             .type = PD_RECORD_AUXTRACE,
                             .size = pd_record_min_size(PD_RECORD_AUXTRACE) };
    size_t got = 0;
    *status = pd_source_read(recording->source, entry->offset, head, record.size, &got);
    if (*status < 0 || got < record.size)
        return false;
    struct pd_record_header header = pd_record_header(head, recording->swap);
    return header.type == record.type && header.size == record.size && entry->size == record.size &&
           buffer_of(recording, &record, out);
}

/* Queues what the index names: each AUXTRACE record. False: the index is wrong somewhere, and
 * nothing has been queued. */
static bool read_index(struct pd_aux *aux, perfdata_status *status)
{
    const struct pd_feature_auxtrace *index = &aux->recording->features.auxtrace;
    PD_VEC(struct pd_aux_buffer) buffers = { 0 };
    struct pd_aux_buffer buffer;
    bool right = true;
    for (uint32_t i = 0; right && i < index->entries_count; i++) {
        right = read_entry(aux->recording, &index->entries[i], &buffer, status);
        if (right && !pd_vec_push(&buffers, buffer))
            *status = pd_no_memory(&aux->recording->context, "AUX areas");
        right &= *status == PERFDATA_OK;
    }
    for (size_t i = 0; right && i < buffers.count && *status == PERFDATA_OK; i++)
        *status = add_buffer(aux, &buffers.data[i], buffers.data[i].tid);
    pd_vec_free(&buffers);
    return right && *status == PERFDATA_OK;
}

static perfdata_status walk_all(struct pd_aux *aux, bool quiet)
{
    struct pd_walk *walk;
    struct pd_raw record;
    perfdata_status status = pd_walk_open(aux->recording, &walk);
    if (status < 0)
        return status;
    pd_walk_set(walk, quiet ? PD_WALK_QUIET : 0);
    while (status == PERFDATA_OK && pd_walk_next(walk, &record) > 0) {
        if (record.type == PD_RECORD_AUXTRACE && !pd_walk_doubts(walk, &record))
            status = add_trace(aux, &record);
        else if (record.type == PD_RECORD_SAMPLE && aux->modes.sampling)
            status = add_sample(aux, &record, pd_walk_inside(walk));
        else if (record.type == PD_RECORD_ID_INDEX)
            status = take_id_index(aux, &record);
    }
    pd_walk_close(walk);
    return status < 0 ? status : PERFDATA_OK;
}

/* Takes a file's index. Where it has none, or samples have traces too, takes all of its records. */
static perfdata_status queue_file(struct pd_aux *aux)
{
    const struct pd_feature_auxtrace *index = &aux->recording->features.auxtrace;
    perfdata_status status = PERFDATA_OK;
    aux->queued = true;
    if (!aux->modes.sampling && index->present && index->entries_count &&
        aux->recording->kind == PD_CONTAINER_FILE && read_index(aux, &status))
        return PERFDATA_OK;
    return status < 0 ? status : walk_all(aux, true);
}

static perfdata_status take_info(struct pd_aux *aux, const struct pd_raw *record)
{
    if (aux->info.present) /* one counts */
        return PERFDATA_OK;
    perfdata_status status = pd_aux_info_decode(&aux->recording->context, record->data,
                                                record->size, aux->recording->swap, &aux->arena,
                                                &aux->info);
    if (status < 0)
        return status;
    if (aux->info.type == PD_AUXTRACE_INTEL_PT)
        pd_pt_modes_find(aux->recording, &aux->info.pt, &aux->modes);
    else
        for (size_t i = 0; i < aux->recording->event_count; i++)
            aux->modes.sampling |= (aux->recording->events[i]->attr.sample_type & PD_SAMPLE_AUX) !=
                                   0;
    return pd_source_is_stream(aux->recording->source) ? PERFDATA_OK : queue_file(aux);
}

perfdata_status pd_aux_take(struct pd_aux *aux, const struct pd_raw *record)
{
    if (PD_LIKELY(record->type == PD_RECORD_SAMPLE))
        return !aux->queued && aux->modes.sampling ? add_sample(aux, record, false) : PERFDATA_OK;
    switch (record->type) {
    case PD_RECORD_AUXTRACE_INFO: return take_info(aux, record);
    case PD_RECORD_TIME_CONV:
        aux->has_clock |= pd_tsc_conversion_read(record->data, record->size, aux->recording->swap,
                                                 &aux->clock);
        return PERFDATA_OK;
    case PD_RECORD_AUXTRACE: return aux->queued ? PERFDATA_OK : add_trace(aux, record);
    case PD_RECORD_ID_INDEX: return aux->queued ? PERFDATA_OK : take_id_index(aux, record);
    default: return PERFDATA_OK;
    }
}

perfdata_status pd_aux_load(struct pd_aux *aux)
{
    struct pd_walk *walk;
    struct pd_raw record;
    perfdata_status status = pd_walk_open(aux->recording, &walk);
    if (status < 0)
        return status;
    bool stream = pd_source_is_stream(aux->recording->source);
    bool all = stream || aux->options.records;
    pd_walk_set(walk, stream ? PD_WALK_PAYLOADS : all ? 0 : PD_WALK_QUIET);
    int got = 0;
    while (status == PERFDATA_OK && (all || !aux->queued) &&
           (got = pd_walk_next(walk, &record)) > 0) {
        if (record.type == PD_RECORD_AUX && aux->options.records)
            status = add_record(aux, &record);
        else if (stream || record.type == PD_RECORD_AUXTRACE_INFO ||
                 record.type == PD_RECORD_TIME_CONV)
            status = pd_aux_take(aux, &record);
    }
    pd_walk_close(walk);
    if (status == PERFDATA_OK && !stream && !aux->queued) { /* traces of an unknown kind */
        aux->queued = true;
        status = walk_all(aux, true);
    }
    return got < 0 ? got : status;
}
