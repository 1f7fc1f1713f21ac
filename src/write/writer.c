/* SPDX-License-Identifier: MIT */
/* Attrs, records and features -> a recording, file or pipe. */
#include "write/write.h"
#include "base/vec.h"
#include "io/at.h"
#include "write/async.h"
#include "write/pack.h"
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    HEADER_SIZE = 104,
    BUFFER_SIZE = 1 << 20,
    PART_BUFFER = 1 << 16,
    FEATURES = 256,
    LEAST_ATTR_SIZE = 128
};

static const uint64_t magic = UINT64_C(0x32454c4946524550); /* "PERFILE2" */

struct event {
    struct pd_attr attr;
    uint64_t *ids;
    size_t count;
    uint64_t ids_offset;
};

struct feature {
    uint8_t *payload;
    size_t size;
    bool set;
};

struct index_entry {
    uint64_t offset, size;
};

struct pd_writer {
    struct pd_context *context;
    int fd;
    struct pd_writer_options options;
    bool begun, finished, late; /* late: an event came behind the first record */
    bool broken;                /* a write failed: nothing may follow what reached the file */
    struct pd_pack *pack;       /* compression, NULL: none */
    PD_VEC(struct index_entry) aux;
    PD_VEC(struct event) events;
    struct feature features[FEATURES];
    uint64_t position; /* of the next byte, those in the buffer counted */
    uint64_t attrs_offset, data_offset;
    struct pd_async *async; /* NULL: the caller's thread writes */
    size_t buffered, room;
    uint8_t *buffer; /* of `room` bytes */
};

static perfdata_status has_failed(struct pd_writer *writer, int error)
{
    writer->broken |= error != 0;
    return error ? pd_fail(writer->context, PERFDATA_ERROR_OUTPUT, (int64_t)writer->position,
                           "cannot write: %s", strerrordesc_np(error))
                 : PERFDATA_OK;
}

static perfdata_status write_all(struct pd_writer *writer, const uint8_t *bytes, size_t size)
{
    if (writer->broken)
        return PERFDATA_ERROR_OUTPUT; /* told already */
    return has_failed(writer, pd_write_all(writer->fd, bytes, size) ? 0 : errno);
}

static perfdata_status flush(struct pd_writer *writer)
{
    size_t size = writer->buffered;
    writer->buffered = 0;
    if (writer->async)
        return size ? has_failed(writer,
                                 pd_async_write(writer->async, &writer->buffer, size, NULL, 0))
                    : PERFDATA_OK;
    return write_all(writer, writer->buffer, size);
}

perfdata_status pd_writer_wait(struct pd_writer *writer)
{
    return writer->async ? has_failed(writer, pd_async_wait(writer->async)) : PERFDATA_OK;
}

/* Larger than the buffer: written at once, or in blocks of another thread. */
static perfdata_status put_large(struct pd_writer *writer, const uint8_t *bytes, size_t size)
{
    perfdata_status status = flush(writer);
    if (!writer->async)
        return status < 0 ? status : write_all(writer, bytes, size);
    for (; size && status == PERFDATA_OK; status = size ? flush(writer) : status) {
        writer->buffered = PD_MIN(size, writer->room);
        memcpy(writer->buffer, bytes, writer->buffered);
        bytes += writer->buffered;
        size -= writer->buffered;
    }
    return status;
}

perfdata_status pd_writer_put(struct pd_writer *writer, const void *bytes, size_t size)
{
    if (size > writer->room - writer->buffered) {
        perfdata_status status = flush(writer);
        if (status < 0)
            return status;
    }
    writer->position += size;
    if (size > writer->room)
        return put_large(writer, bytes, size);
    if (size)
        memcpy(writer->buffer + writer->buffered, bytes, size);
    writer->buffered += size;
    return PERFDATA_OK;
}

static perfdata_status put_zeros(struct pd_writer *writer, size_t size)
{
    static const uint8_t zeros[8];
    return pd_writer_put(writer, zeros, size);
}

perfdata_status pd_writer_open_fd(struct pd_context *context, int fd,
                                  const struct pd_writer_options *options, struct pd_writer **out)
{
    *out = NULL;
    size_t room = options->kind == PD_WRITE_PART ? PART_BUFFER : BUFFER_SIZE;
    struct pd_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return pd_no_memory(context, NULL);
    writer->room = room;
    writer->context = context;
    writer->fd = fd;
    writer->options = *options;
    *out = writer;
    if (options->blocks)
        writer->async = pd_async_new(fd, options->blocks, room, &writer->buffer);
    else
        writer->buffer = malloc(room);
    if (!writer->buffer)
        return pd_fail(context, PERFDATA_ERROR_MEMORY, -1, "no memory or no thread to write");
    if (options->level && !(writer->pack = pd_pack_new(options->level)))
        return pd_fail(context, PERFDATA_ERROR_MEMORY, -1, "no memory to compress");
    return PERFDATA_OK;
}

uint64_t pd_writer_position(const struct pd_writer *writer)
{
    return writer->position;
}

perfdata_status pd_writer_add_event(struct pd_writer *writer, const struct pd_attr *attr,
                                    const uint64_t *ids, size_t count)
{
    size_t bytes;
    bool too_late = writer->finished || (writer->begun && writer->options.kind == PD_WRITE_PIPE);
    writer->late |= writer->begun;
    if (too_late || pd_mul_overflows(count, sizeof *ids, &bytes))
        return pd_fail(writer->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "an event must come before the first record");
    struct event event = { .attr = *attr, .ids = malloc(bytes ? bytes : 1), .count = count };
    if (!event.ids || !pd_vec_push(&writer->events, event)) {
        free(event.ids);
        return pd_no_memory(writer->context, NULL);
    }
    if (bytes)
        memcpy(event.ids, ids, bytes);
    return PERFDATA_OK;
}

perfdata_status pd_writer_set_feature(struct pd_writer *writer, unsigned feature,
                                      const void *payload, size_t size)
{
    if (feature >= FEATURES || writer->finished ||
        (writer->begun && writer->options.kind == PD_WRITE_PIPE))
        return pd_fail(writer->context, PERFDATA_ERROR_ARGUMENT, -1, "feature %u comes too late",
                       feature);
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        return pd_no_memory(writer->context, NULL);
    if (size)
        memcpy(copy, payload, size);
    free(writer->features[feature].payload);
    writer->features[feature] = (struct feature){ copy, size, true };
    return PERFDATA_OK;
}

/* ---- the parts of a file ---- */

static void choose_attr_size(struct pd_writer *writer)
{
    uint32_t size = PD_MAX(writer->options.attr_size, (uint32_t)LEAST_ATTR_SIZE);
    bool fixed = writer->options.attr_size > LEAST_ATTR_SIZE && !writer->late;
    for (size_t i = 0; i < writer->events.count && !fixed; i++) {
        const struct pd_attr *attr = &writer->events.data[i].attr;
        size = attr->config4                 ? 144
               : attr->config3 && size < 136 ? 136
                                             : size; /* the fields' ends */
    }
    writer->options.attr_size = size;
    for (size_t i = 0; i < writer->events.count; i++)
        writer->events.data[i].attr.size = size;
}

static perfdata_status put_ids(struct pd_writer *writer, struct event *event)
{
    perfdata_status status = PERFDATA_OK;
    event->ids_offset = writer->position;
    for (size_t i = 0; i < event->count && status == PERFDATA_OK; i++) {
        uint8_t id[8];
        pd_store64(id, event->ids[i], writer->options.swap);
        status = pd_writer_put(writer, id, sizeof id);
    }
    return status;
}

static perfdata_status put_attr(struct pd_writer *writer, const struct event *event)
{
    uint8_t bytes[256 + 16] = { 0 };
    uint32_t size = writer->options.attr_size;
    pd_attr_encode(&event->attr, writer->options.swap, bytes, size);
    pd_store64(bytes + size, event->ids_offset, writer->options.swap);
    pd_store64(bytes + size + 8, event->count * 8, writer->options.swap);
    return pd_writer_put(writer, bytes, size + 16);
}

/* The bitmap and its table have no place in a file whose data has no known end: 0 says
 * "unfinished". */
static void put_header(struct pd_writer *writer, uint64_t data_size, bool with_features,
                       uint8_t *header)
{
    bool swap = writer->options.swap;
    uint64_t entry = writer->options.attr_size + 16u;
    const uint64_t words[] = { magic,
                               HEADER_SIZE,
                               entry,
                               writer->attrs_offset,
                               writer->events.count * entry,
                               writer->data_offset,
                               data_size,
                               0,
                               0 };
    memset(header, 0, HEADER_SIZE);
    for (size_t i = 0; i < PD_LENGTH(words); i++)
        pd_store64(header + 8 * i, words[i], swap);
    for (unsigned word = 0; word < 4 && with_features; word++) {
        uint64_t bits = 0;
        for (unsigned bit = 0; bit < 64; bit++)
            bits |= (uint64_t)writer->features[64 * word + bit].set << bit;
        pd_store64(header + 72 + 8 * (size_t)word, bits, swap);
    }
}

static perfdata_status put_events(struct pd_writer *writer)
{
    perfdata_status status = PERFDATA_OK;
    uint64_t ids = 0;
    for (size_t i = 0; i < writer->events.count; i++)
        ids += writer->events.data[i].count * 8;
    writer->attrs_offset = writer->position + ids;
    for (size_t i = 0; i < writer->events.count && status == PERFDATA_OK; i++)
        status = put_ids(writer, &writer->events.data[i]);
    for (size_t i = 0; i < writer->events.count && status == PERFDATA_OK; i++)
        status = put_attr(writer, &writer->events.data[i]);
    return status;
}

static perfdata_status rewrite_header(struct pd_writer *writer, const uint8_t *header)
{
    perfdata_status status = pd_writer_wait(writer);
    if (status < 0 || pd_write_at(writer->fd, 0, header, HEADER_SIZE))
        return status;
    return pd_fail(writer->context, PERFDATA_ERROR_OUTPUT, 0, "cannot write the header: %s",
                   strerrordesc_np(errno));
}

static perfdata_status begin_file(struct pd_writer *writer)
{
    uint8_t header[HEADER_SIZE];
    put_header(writer, 0, false, header);
    perfdata_status status = pd_writer_put(writer, header, sizeof header);
    if (status == PERFDATA_OK)
        status = put_events(writer);
    writer->data_offset = writer->position;
    if (status < 0)
        return status;
    /* once more: now it is known where the events are */
    put_header(writer, 0, false, header);
    if (writer->position == writer->buffered)
        memcpy(writer->buffer, header, sizeof header);
    else
        status = rewrite_header(writer, header);
    return status;
}

/* ---- records ---- */

static perfdata_status put_head(struct pd_writer *writer, uint32_t type, size_t size)
{
    uint8_t head[8];
    pd_store32(head, type, writer->options.swap);
    pd_store16(head + 4, 0, writer->options.swap);
    pd_store16(head + 6, (uint16_t)size, writer->options.swap);
    return pd_writer_put(writer, head, sizeof head);
}

static perfdata_status put_piece(struct pd_writer *writer)
{
    const uint8_t *bytes;
    size_t size;
    if (!pd_pack_flush(writer->pack, &bytes, &size))
        return pd_fail(writer->context, PERFDATA_ERROR_INTERNAL, -1, "zstd failed");
    if (!size)
        return PERFDATA_OK;
    perfdata_status status = put_head(writer, PD_RECORD_COMPRESSED, size + 8);
    return status < 0 ? status : pd_writer_put(writer, bytes, size);
}

static perfdata_status put_packed(struct pd_writer *writer, const uint8_t *bytes, size_t size)
{
    perfdata_status status = PERFDATA_OK;
    while (size && status == PERFDATA_OK) {
        size_t taken = pd_pack_add(writer->pack, bytes, size);
        bytes += taken;
        size -= taken;
        if (pd_pack_full(writer->pack))
            status = put_piece(writer);
    }
    return status;
}

perfdata_status pd_writer_put_record(struct pd_writer *writer, const void *record, size_t size)
{
    uint32_t type = pd_load32(record, writer->options.swap);
    if (writer->pack && type < PD_RECORD_KERNEL_END)
        return put_packed(writer, record, size);
    if (writer->pack) {
        perfdata_status status = put_piece(writer);
        if (status < 0)
            return status;
    }
    struct index_entry entry = { writer->position, size };
    if (type == PD_RECORD_AUXTRACE && !pd_vec_push(&writer->aux, entry))
        return pd_no_memory(writer->context, NULL);
    return pd_writer_put(writer, record, size);
}

perfdata_status pd_writer_put_kernel(struct pd_writer *writer, const void *bytes, size_t size)
{
    enum { LARGE = 1 << 16 }; /* not worth a copy */
    if (writer->pack)
        return put_packed(writer, bytes, size);
    if (size < LARGE || writer->async)
        return pd_writer_put(writer, bytes, size);
    writer->position += size;
    return put_large(writer, bytes, size);
}

perfdata_status pd_writer_sync(struct pd_writer *writer)
{
    uint8_t header[HEADER_SIZE];
    bool patch = writer->options.kind == PD_WRITE_FILE && !writer->late;
    perfdata_status status = writer->pack ? put_piece(writer) : PERFDATA_OK;
    put_header(writer, writer->position - writer->data_offset, false, header);
    if (status == PERFDATA_OK && writer->async) {
        size_t size = writer->buffered;
        writer->buffered = 0;
        return has_failed(writer, pd_async_write(writer->async, &writer->buffer, size, header,
                                                 patch ? sizeof header : 0));
    }
    if (status == PERFDATA_OK)
        status = flush(writer);
    return status < 0 || !patch ? status : rewrite_header(writer, header);
}

void pd_writer_packed(const struct pd_writer *writer, uint64_t *in, uint64_t *out)
{
    *in = *out = 0;
    if (writer->pack)
        pd_pack_totals(writer->pack, in, out);
}

/* ---- the end of a file ---- */

static perfdata_status set_index(struct pd_writer *writer)
{
    size_t size = 8 + 16 * writer->aux.count;
    if (!writer->aux.count)
        return PERFDATA_OK;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return pd_no_memory(writer->context, NULL);
    pd_store64(bytes, writer->aux.count, writer->options.swap);
    for (size_t i = 0; i < writer->aux.count; i++) {
        pd_store64(bytes + 8 + 16 * i, writer->aux.data[i].offset, writer->options.swap);
        pd_store64(bytes + 16 + 16 * i, writer->aux.data[i].size, writer->options.swap);
    }
    perfdata_status status = pd_writer_set_feature(writer, PD_FEATURE_AUXTRACE, bytes, size);
    free(bytes);
    return status;
}

/* The feature says how much perf has to allocate for a compressed record. */
static perfdata_status set_compressed(struct pd_writer *writer)
{
    uint8_t bytes[20];
    const uint32_t words[] = { 1, 1, (uint32_t)writer->options.level,
                               writer->pack ? pd_pack_ratio(writer->pack) : 0, PD_PACK_PIECE };
    if (!writer->pack)
        return PERFDATA_OK;
    for (size_t i = 0; i < PD_LENGTH(words); i++)
        pd_store32(bytes + 4 * i, words[i], writer->options.swap);
    return pd_writer_set_feature(writer, PD_FEATURE_COMPRESSED, bytes, sizeof bytes);
}

static perfdata_status put_features(struct pd_writer *writer)
{
    uint64_t table = 0;
    for (unsigned i = 0; i < FEATURES; i++)
        table += writer->features[i].set ? 16 : 0;
    uint64_t at = writer->position + table;
    perfdata_status status = PERFDATA_OK;
    for (unsigned i = 0; i < FEATURES && status == PERFDATA_OK; i++) {
        if (!writer->features[i].set)
            continue;
        uint8_t entry[16];
        pd_store64(entry, at, writer->options.swap);
        pd_store64(entry + 8, writer->features[i].size, writer->options.swap);
        at += writer->features[i].size;
        status = pd_writer_put(writer, entry, sizeof entry);
    }
    for (unsigned i = 0; i < FEATURES && status == PERFDATA_OK; i++)
        status = pd_writer_put(writer, writer->features[i].payload, writer->features[i].size);
    return status;
}

static perfdata_status finish_file(struct pd_writer *writer)
{
    perfdata_status status = writer->pack ? put_piece(writer) : PERFDATA_OK;
    if (status == PERFDATA_OK && writer->position == writer->data_offset)
        status = put_head(writer, PD_RECORD_FINISHED_ROUND, 8); /* size 0 means "unfinished" */
    uint64_t data_size = writer->position - writer->data_offset;
    if (status == PERFDATA_OK)
        status = set_index(writer);
    if (status == PERFDATA_OK)
        status = set_compressed(writer);
    if (status == PERFDATA_OK)
        status = put_features(writer);
    if (status == PERFDATA_OK && writer->late) {
        choose_attr_size(writer);
        status = put_zeros(writer, (size_t)(0 - writer->position) & 7);
        if (status == PERFDATA_OK)
            status = put_events(writer);
    }
    if (status == PERFDATA_OK)
        status = flush(writer);
    if (status < 0)
        return status;
    uint8_t header[HEADER_SIZE];
    put_header(writer, data_size, true, header);
    return rewrite_header(writer, header);
}

/* ---- the parts of a pipe stream ---- */

static perfdata_status put_attr_record(struct pd_writer *writer, struct event *event)
{
    uint8_t bytes[256] = { 0 };
    uint32_t size = writer->options.attr_size;
    size_t ids = PD_MIN(event->count, (size_t)(UINT16_MAX - 8 - size) / 8);
    if (ids < event->count)
        pd_issue(writer->context, PERFDATA_ISSUE_LIMIT, -1,
                 "an event has more ids than a record holds");
    event->count = ids;
    perfdata_status status = put_head(writer, PD_RECORD_HEADER_ATTR, 8 + size + 8 * ids);
    pd_attr_encode(&event->attr, writer->options.swap, bytes, size);
    if (status == PERFDATA_OK)
        status = pd_writer_put(writer, bytes, size);
    return status < 0 ? status : put_ids(writer, event);
}

static perfdata_status put_feature_record(struct pd_writer *writer, unsigned number,
                                          const struct feature *feature)
{
    if (feature->size > UINT16_MAX - 16)
        return pd_issue(writer->context, PERFDATA_ISSUE_LIMIT, -1,
                        "feature %u is too large for a pipe", number);
    uint8_t id[8];
    pd_store64(id, number, writer->options.swap);
    perfdata_status status = put_head(writer, PD_RECORD_HEADER_FEATURE, 16 + feature->size);
    if (status == PERFDATA_OK)
        status = pd_writer_put(writer, id, sizeof id);
    return status < 0 ? status : pd_writer_put(writer, feature->payload, feature->size);
}

static perfdata_status put_tracing_record(struct pd_writer *writer, const struct feature *feature)
{
    size_t padded = (size_t)pd_align8(feature->size);
    if (padded > UINT32_MAX)
        return pd_issue(writer->context, PERFDATA_ISSUE_LIMIT, -1,
                        "the tracing data is too large for a pipe");
    uint8_t size[4];
    pd_store32(size, (uint32_t)padded, writer->options.swap);
    perfdata_status status = put_head(writer, PD_RECORD_HEADER_TRACING_DATA, 12);
    if (status == PERFDATA_OK)
        status = pd_writer_put(writer, size, sizeof size);
    if (status == PERFDATA_OK)
        status = pd_writer_put(writer, feature->payload, feature->size);
    return status < 0 ? status : put_zeros(writer, padded - feature->size);
}

/* The table's entries are the records' bodies; only the type differs. */
static perfdata_status put_build_id_records(struct pd_writer *writer, const struct feature *feature)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t at = 0; feature->size - at >= 8 && status == PERFDATA_OK;) {
        uint8_t *entry = feature->payload + at;
        size_t size = pd_load16(entry + 6, writer->options.swap);
        if (size < 8 || size > feature->size - at)
            break;
        pd_store32(entry, PD_RECORD_HEADER_BUILD_ID, writer->options.swap);
        status = pd_writer_put(writer, entry, size);
        at += size;
    }
    return status;
}

/* The features that say something about a file's sections have no record. */
static bool has_record(unsigned feature)
{
    switch (feature) {
    case PD_FEATURE_TRACING_DATA:
    case PD_FEATURE_BUILD_ID:
    case PD_FEATURE_BRANCH_STACK:
    case PD_FEATURE_AUXTRACE:
    case PD_FEATURE_STAT:
    case PD_FEATURE_CACHE:
    case PD_FEATURE_DIR_FORMAT:
    case PD_FEATURE_HYBRID_TOPOLOGY: return false;
    default: return true;
    }
}

static perfdata_status begin_pipe(struct pd_writer *writer)
{
    uint8_t header[16];
    perfdata_status status = set_compressed(writer);
    if (status < 0)
        return status;
    pd_store64(header, magic, writer->options.swap);
    pd_store64(header + 8, sizeof header, writer->options.swap);
    status = pd_writer_put(writer, header, sizeof header);
    for (size_t i = 0; i < writer->events.count && status == PERFDATA_OK; i++)
        status = put_attr_record(writer, &writer->events.data[i]);
    for (unsigned i = 0; i < FEATURES && status == PERFDATA_OK; i++)
        /* without payload it would be the end mark */
        if (writer->features[i].size && has_record(i))
            status = put_feature_record(writer, i, &writer->features[i]);
    /* the end mark that perf's report demands: its own last feature */
    static const struct feature nothing;
    enum { END_MARK = 32 };
    if (status == PERFDATA_OK)
        status = put_feature_record(writer, END_MARK, &nothing);
    const struct feature *tracing = &writer->features[PD_FEATURE_TRACING_DATA];
    if (status == PERFDATA_OK && tracing->set)
        status = put_tracing_record(writer, tracing);
    if (status == PERFDATA_OK && writer->features[PD_FEATURE_BUILD_ID].set)
        status = put_build_id_records(writer, &writer->features[PD_FEATURE_BUILD_ID]);
    return status;
}

perfdata_status pd_writer_begin(struct pd_writer *writer)
{
    if (writer->begun || writer->options.attr_size > 256 || writer->options.attr_size % 8)
        return pd_fail(writer->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "the recording has begun, or a bad attr size");
    choose_attr_size(writer);
    perfdata_status status = writer->options.kind == PD_WRITE_FILE   ? begin_file(writer)
                             : writer->options.kind == PD_WRITE_PIPE ? begin_pipe(writer)
                                                                     : PERFDATA_OK;
    writer->begun = true;
    return status;
}

perfdata_status pd_writer_finish(struct pd_writer *writer)
{
    if (!writer->begun || writer->finished)
        return pd_fail(writer->context, PERFDATA_ERROR_ARGUMENT, -1, "nothing was begun");
    perfdata_status status;
    if (writer->options.kind == PD_WRITE_FILE) {
        status = finish_file(writer);
    } else {
        status = writer->pack ? put_piece(writer) : PERFDATA_OK;
        if (status == PERFDATA_OK)
            status = flush(writer);
        if (status == PERFDATA_OK)
            status = pd_writer_wait(writer);
    }
    writer->finished = true;
    return status;
}

/* ---- after a write that failed ---- */

/* The end of the last whole record before `end`, from the start of one; `from` where that cannot be
 * told. */
static uint64_t whole_until(const struct pd_writer *writer, uint64_t from, uint64_t end)
{
    bool swap = writer->options.swap;
    uint64_t at = from, size = 0;
    for (uint8_t head[16]; at < end; at += size) {
        size_t got;
        if (pd_read_at(writer->fd, at, head, sizeof head, &got) || got < 8)
            break;
        size = pd_load16(head + 6, swap);
        bool has_trace = pd_load32(head, swap) == PD_RECORD_AUXTRACE;
        if (size < 8 || (has_trace && (size < sizeof head || got < sizeof head ||
                                       pd_add_overflows(size, pd_load64(head + 8, swap), &size))))
            break;
        if (size > end - at)
            break;
    }
    return at;
}

/* A full disk takes a part of the last write: the header, whose bytes have their place, is to count
 * that too. */
static void keep_what_is_there(struct pd_writer *writer)
{
    uint8_t header[HEADER_SIZE];
    size_t got;
    if (writer->async)
        (void)pd_async_wait(writer->async);
    off_t end = lseek(writer->fd, 0, SEEK_CUR);
    if (writer->options.kind != PD_WRITE_FILE || writer->late || !writer->begun || end < 0 ||
        pd_read_at(writer->fd, 0, header, sizeof header, &got) || got < sizeof header)
        return;
    uint64_t told = pd_load64(header + 48, writer->options.swap);
    uint64_t size = whole_until(writer, writer->data_offset + told, (uint64_t)end);
    size -= writer->data_offset;
    put_header(writer, size, false, header);
    if (size > told)
        (void)pd_write_at(writer->fd, 0, header, sizeof header);
}

void pd_writer_close(struct pd_writer *writer)
{
    if (!writer)
        return;
    if (writer->broken)
        keep_what_is_there(writer);
    for (size_t i = 0; i < writer->events.count; i++)
        free(writer->events.data[i].ids);
    pd_vec_free(&writer->events);
    pd_vec_free(&writer->aux);
    pd_pack_free(writer->pack);
    for (size_t i = 0; i < FEATURES; i++)
        free(writer->features[i].payload);
    pd_async_free(writer->async);
    free(writer->buffer);
    free(writer);
}
