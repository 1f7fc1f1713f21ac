/* SPDX-License-Identifier: MIT */
/* Bytes of a trace, in windows -> its packets, one by one. */
#include "render/aux/scan.h"
#include <stdlib.h>

/* A packet is decoded once BEHIND bytes after its start are known, or the end of the trace is. */
enum { WINDOW = 1 << 20, BEHIND = 4096 };

struct place {
    uint64_t offset;
    enum pd_pt_context context;
};

/* Passes on the packets that begin before `until`. *used: how many bytes these have. */
static int scan_some(const struct pd_scan *scan, struct place *place, const uint8_t *bytes,
                     size_t size, size_t until, size_t *used)
{
    struct pd_scan_packet at;
    int result = 0;
    *used = 0;
    while (*used < until && !result) {
        at.bytes = bytes + *used;
        at.left = size - *used;
        at.offset = place->offset;
        at.before = place->context;
        at.own_size = pd_pt_packet_decode(at.bytes, at.left, &place->context, &at.packet);
        at.after = place->context;
        *used += at.packet.size;
        place->offset += at.packet.size;
        result = scan->each(scan->data, &at);
    }
    return result;
}

int pd_scan_bytes(const struct pd_scan *scan, const uint8_t *bytes, size_t size)
{
    struct place place = { 0, PD_PT_NO_BLOCK };
    size_t used;
    return scan_some(scan, &place, bytes, size, size, &used);
}

int pd_scan_run(struct pd_context *context, const struct pd_scan *scan)
{
    struct place place = { 0, PD_PT_NO_BLOCK };
    uint8_t *window = malloc(WINDOW);
    size_t have = 0, got, used;
    uint64_t read = 0;
    int result = 0;
    if (!window)
        return pd_no_memory(context, NULL);
    for (bool end = false; !result && !end;) {
        size_t want = (size_t)PD_MIN((uint64_t)(WINDOW - have), scan->size - read);
        result = scan->read(scan->read_data, read, window + have, want, &got);
        if (result < 0)
            break;
        read += got;
        have += got;
        end = got < want || read == scan->size;
        size_t until = end ? have : have - BEHIND;
        result = scan_some(scan, &place, window, have, until, &used);
        memmove(window, window + used, have - used);
        have -= used;
    }
    free(window);
    return result;
}

struct buffer_bytes {
    const struct pd_aux *aux;
    const struct pd_aux_buffer *buffer;
};

static perfdata_status read_buffer(void *data, uint64_t from, void *to, size_t size, size_t *got)
{
    const struct buffer_bytes *bytes = data;
    return pd_aux_read(bytes->aux, bytes->buffer, from, to, size, got);
}

static int scan_pieces(const struct pd_aux *aux, const struct pd_aux_queue *queue,
                       const struct pd_scan_all *all)
{
    struct pd_aux_reader *reader;
    struct pd_aux_piece piece;
    int result = pd_aux_reader_open(aux, queue->number, &reader);
    while (!result && (result = pd_aux_reader_next(reader, &piece)) > 0) {
        result = all->begin(all->scan.data, queue, &piece);
        if (!result)
            result = pd_scan_bytes(&all->scan, piece.data, piece.size);
    }
    pd_aux_reader_close(reader);
    return result;
}

int pd_scan_queue(const struct pd_aux *aux, uint32_t number, const struct pd_scan_all *all)
{
    const struct pd_aux_queue *queue = &aux->queues.data[number];
    uint64_t position = 0;
    int result = 0;
    if (all->cut)
        return scan_pieces(aux, queue, all);
    for (size_t i = 0; i < queue->buffers.count && !result; i++) {
        struct buffer_bytes bytes = { aux, &aux->buffers.data[queue->buffers.data[i]] };
        struct pd_aux_piece piece = { .size = (size_t)bytes.buffer->size,
                                      .reference = bytes.buffer->reference,
                                      .trace_number = bytes.buffer->number,
                                      .position = position,
                                      .consecutive = i > 0,
                                      .buffer = bytes.buffer };
        struct pd_scan scan = all->scan;
        scan.read = read_buffer;
        scan.read_data = &bytes;
        scan.size = bytes.buffer->size;
        position += bytes.buffer->size;
        result = all->begin(scan.data, queue, &piece);
        if (!result)
            result = pd_scan_run(&aux->recording->context, &scan);
    }
    return result;
}
