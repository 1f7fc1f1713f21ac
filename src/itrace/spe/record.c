/* SPDX-License-Identifier: MIT */
/* Packets of a queue of Arm SPE, one after the other, to records. */
#include "itrace/spe/record.h"
#include "itrace/spe/packet.h"
#include <stdlib.h>

enum { CHUNK = 256 << 10 };

void pd_spe_reader_init(struct pd_spe_reader *reader, const struct pd_aux *aux, uint32_t queue)
{
    *reader = (struct pd_spe_reader){ .aux = aux, .queue = queue };
}

/* Reads more of the buffer behind what is left of it. */
static perfdata_status read_more(struct pd_spe_reader *reader)
{
    size_t left = reader->size - reader->at, got = 0;
    memmove(reader->bytes, reader->bytes + reader->at, left);
    perfdata_status status = pd_aux_read(reader->aux, reader->buffer, reader->from,
                                         reader->bytes + left, CHUNK - left, &got);
    reader->at = 0;
    reader->size = left + got;
    reader->from += got;
    if (status == PERFDATA_OK && !got) /* the file ends early */
        reader->from = reader->buffer->size;
    return status;
}

/* 1: there are bytes, and of a packet all that the buffer has of it; 0: no more; < 0: status. */
static int fill(struct pd_spe_reader *reader)
{
    const struct pd_aux_queue *queue = &reader->aux->queues.data[reader->queue];
    if (!reader->bytes && !(reader->bytes = malloc(CHUNK)))
        return pd_no_memory(&reader->aux->recording->context, "an AUX area");
    for (;;) {
        size_t left = reader->size - reader->at;
        if (left >= PD_SPE_LONGEST)
            return 1;
        if (reader->buffer && reader->from < reader->buffer->size) {
            perfdata_status status = read_more(reader);
            if (status < 0)
                return status;
        } else if (left) {
            return 1;
        } else if (reader->next < queue->buffers.count) {
            reader->buffer = &reader->aux->buffers.data[queue->buffers.data[reader->next++]];
            reader->from = 0;
        } else {
            return 0;
        }
    }
}

static void take_address(struct pd_spe_reader *reader, const struct pd_spe_packet *packet,
                         struct pd_spe_record *out)
{
    switch (packet->index) {
    case PD_SPE_PC: out->ip = pd_spe_code_address(packet->payload); break;
    case PD_SPE_TARGET: out->to = pd_spe_code_address(packet->payload); break;
    case PD_SPE_DATA: out->data = pd_spe_data_address(packet->payload); break;
    case PD_SPE_PHYSICAL: out->physical = pd_spe_physical_address(packet->payload); break;
    default: reader->unknown++; break;
    }
}

/* perf takes the whole record for broken if it has an operation of a reserved class. */
static enum pd_spe_got take_operation(struct pd_spe_reader *reader,
                                      const struct pd_spe_packet *packet, struct pd_spe_record *out)
{
    out->loads |= pd_spe_is_load(packet);
    out->stores |= pd_spe_is_store(packet);
    if (packet->index <= PD_SPE_BRANCH)
        return PD_SPE_NOTHING;
    reader->unknown++;
    return PD_SPE_BROKEN;
}

/* PD_SPE_NOTHING: more of the record follows. */
static enum pd_spe_got take(struct pd_spe_reader *reader, const struct pd_spe_packet *packet,
                            struct pd_spe_record *out)
{
    switch (packet->kind) {
    case PD_SPE_TIMESTAMP: out->time = packet->payload; return PD_SPE_WHOLE;
    case PD_SPE_END: return PD_SPE_WHOLE;
    case PD_SPE_BAD: reader->bad++; return PD_SPE_BROKEN;
    case PD_SPE_ADDRESS: take_address(reader, packet, out); break;
    case PD_SPE_COUNTER:
        if (packet->index == PD_SPE_TOTAL)
            out->latency = (uint32_t)packet->payload;
        break;
    case PD_SPE_CONTEXT: out->context = packet->payload; break;
    case PD_SPE_OPERATION: return take_operation(reader, packet, out);
    case PD_SPE_EVENTS: out->events |= packet->payload; break;
    case PD_SPE_SOURCE: out->source = (uint16_t)packet->payload; break;
    case PD_SPE_PADDING: break;
    }
    return PD_SPE_NOTHING;
}

int pd_spe_read(struct pd_spe_reader *reader, struct pd_spe_record *out)
{
    *out = (struct pd_spe_record){ .context = PD_SPE_NO_CONTEXT };
    for (;;) {
        struct pd_spe_packet packet;
        int got = fill(reader);
        if (got <= 0)
            return got;
        size_t left = reader->size - reader->at;
        uint64_t position = reader->buffer->offset + reader->from - left;
        pd_spe_packet(reader->bytes + reader->at, left, position, &packet);
        reader->at += packet.length;
        if ((got = take(reader, &packet, out)) != PD_SPE_NOTHING)
            return got;
    }
}
