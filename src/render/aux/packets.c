/* SPDX-License-Identifier: MIT */
/* <perfdata/itrace.h>: the packets of a bare trace. */
#include "base/text.h"
#include "base/context.h"
#include "itrace/intel_pt/packet.h"
#include <perfdata/itrace.h>
#include <stdlib.h>

struct perfdata_packets {
    const uint8_t *bytes;
    size_t size, at;
    enum pd_pt_context context;
    uint64_t last_ip;
    struct pd_pt_packet packet;
    struct pd_text text;
};

perfdata_status perfdata_packets_open(const void *bytes, size_t size, perfdata_packets **out)
{
    perfdata_packets *packets = *out = calloc(1, sizeof *packets);
    if (!packets)
        return PERFDATA_ERROR_MEMORY;
    packets->bytes = bytes;
    packets->size = size;
    return PERFDATA_OK;
}

void perfdata_packets_close(perfdata_packets *packets)
{
    if (!packets)
        return;
    pd_text_free(&packets->text);
    free(packets);
}

static bool has_ip(unsigned kind)
{
    return kind == PD_PT_TIP || kind == PD_PT_TIP_PGE || kind == PD_PT_TIP_PGD || kind == PD_PT_FUP;
}

int perfdata_packets_next(perfdata_packets *packets, struct perfdata_packet *out)
{
    if (packets->at >= packets->size)
        return 0;
    const uint8_t *bytes = packets->bytes + packets->at;
    size_t left = packets->size - packets->at;
    struct pd_pt_packet *packet = &packets->packet;
    struct perfdata_packet told = {
        .offset = packets->at,
        .own_size = pd_pt_packet_decode(bytes, left, &packets->context, packet),
    };
    if (packet->kind == PD_PT_PSB)
        packets->last_ip = 0;
    else if (has_ip(packet->kind) && pd_pt_ip(packet, &packets->last_ip))
        told.ip = packets->last_ip;
    told.kind = packet->kind;
    told.size = packet->size;
    told.count = packet->count;
    told.flag = packet->ip;
    told.extra = packet->extra;
    told.payload = packet->payload;
    packets->at += packet->size;
    pd_give_result(out, &told, sizeof told);
    return 1;
}

int perfdata_packets_sync(perfdata_packets *packets)
{
    packets->at = pd_pt_find_psb(packets->bytes, packets->size, packets->at);
    packets->context = PD_PT_NO_BLOCK;
    packets->last_ip = 0;
    return packets->at < packets->size;
}

void perfdata_packets_seek(perfdata_packets *packets, uint64_t offset)
{
    packets->at = (size_t)PD_MIN(offset, (uint64_t)packets->size);
    packets->context = PD_PT_NO_BLOCK;
}

const char *perfdata_packets_text(perfdata_packets *packets)
{
    packets->text.length = 0;
    pd_pt_packet_text(&packets->packet, &packets->text);
    pd_text_char(&packets->text, 0);
    return packets->text.failed ? "" : packets->text.data;
}

const char *perfdata_packet_kind_name(uint32_t kind)
{
    return kind < PD_PT_KINDS ? pd_pt_kind_name(kind) : NULL;
}
