/* SPDX-License-Identifier: MIT */
/* Packets as perf's raw dump prints them. */
#include "itrace/intel_pt/packet.h"

static const char *const names[PD_PT_KINDS] = {
#define PT(kind, text, keeps) [PD_PT_##kind] = text,
#include "itrace/intel_pt/packets.def"
};

const char *pd_pt_kind_name(unsigned kind)
{
    return kind < PD_PT_KINDS ? names[kind] : names[PD_PT_BAD];
}

static void put_hex(struct pd_text *out, const char *before, uint64_t value, unsigned digits)
{
    pd_text_string(out, before);
    pd_text_bytes(out, "0x", 2);
    pd_text_hex(out, value, digits, '0');
}

static void put_number(struct pd_text *out, const char *before, uint64_t value)
{
    pd_text_string(out, before);
    pd_text_u64(out, value, 0, ' ');
}

static void put_outcomes(const struct pd_pt_packet *packet, struct pd_text *out)
{
    pd_text_char(out, ' ');
    for (unsigned i = 0; i < packet->count; i++)
        pd_text_char(out, packet->payload << i >> 63 ? 'T' : 'N');
    put_number(out, " (", packet->count);
    pd_text_char(out, ')');
}

static void put_power(const struct pd_pt_packet *packet, struct pd_text *out)
{
    uint64_t value = packet->payload;
    put_hex(out, " ", value, 0);
    if (packet->kind == PD_PT_MWAIT) {
        put_hex(out, " Hints ", value & 0xff, 0);
        put_hex(out, " Extensions ", value >> 32 & 3, 0);
    } else if (packet->kind == PD_PT_PWRE) {
        put_number(out, " HW:", value >> 7 & 1);
        put_number(out, " CState:", value >> 12 & 15);
        put_number(out, " Sub-CState:", value >> 8 & 15);
    } else {
        put_number(out, " Last CState:", value >> 4 & 15);
        put_number(out, " Deepest CState:", value & 15);
        put_hex(out, " Wake Reason ", value >> 8 & 15, 0);
    }
}

/* Packets of events and of power, and what programs write into the trace. */
static void put_event(const struct pd_pt_packet *packet, struct pd_text *out)
{
    const char *ip = packet->ip ? " IP:1" : " IP:0";
    uint64_t value = packet->payload;
    switch (packet->kind) {
    case PD_PT_PTWRITE:
        put_hex(out, " ", value, 0);
        pd_text_string(out, ip);
        break;
    case PD_PT_EXSTOP:
    case PD_PT_BEP: pd_text_string(out, ip); break;
    case PD_PT_MWAIT:
    case PD_PT_PWRE:
    case PD_PT_PWRX: put_power(packet, out); break;
    case PD_PT_BBP:
        put_number(out, " SZ ", packet->count);
        put_hex(out, "-byte Type ", packet->extra, 0);
        break;
    case PD_PT_BIP:
        put_hex(out, " ID ", packet->count, 2);
        put_hex(out, " Value ", value, 0);
        break;
    case PD_PT_CFE:
        pd_text_string(out, ip);
        put_hex(out, " Type ", packet->count, 2);
        put_hex(out, " Vector ", value, 0);
        break;
    case PD_PT_EVD:
        put_hex(out, " Type ", packet->count, 2);
        put_hex(out, " Payload ", value, 0);
        break;
    default: break;
    }
}

void pd_pt_packet_text(const struct pd_pt_packet *packet, struct pd_text *out)
{
    uint64_t value = packet->payload;
    pd_text_string(out, pd_pt_kind_name(packet->kind));
    switch (packet->kind) {
    case PD_PT_TNT: put_outcomes(packet, out); break;
    case PD_PT_TIP:
    case PD_PT_TIP_PGD:
    case PD_PT_TIP_PGE:
    case PD_PT_FUP:
        if (packet->count)
            put_hex(out, " ", value, 0);
        else
            pd_text_string(out, " no ip");
        break;
    case PD_PT_CYC:
    case PD_PT_VMCS:
    case PD_PT_MTC:
    case PD_PT_MNT:
    case PD_PT_CBR:
    case PD_PT_TSC: put_hex(out, " ", value, 0); break;
    case PD_PT_TMA:
        put_hex(out, " CTC ", value, 0);
        put_hex(out, " FC ", packet->extra, 0);
        break;
    case PD_PT_MODE_EXEC:
        put_number(out, " IF:", packet->ip);
        put_number(out, " ", value);
        break;
    case PD_PT_MODE_TSX:
        put_number(out, " TXAbort:", packet->ip);
        put_number(out, " InTX:", value);
        break;
    case PD_PT_PIP:
        put_hex(out, " ", value >> 1, 0);
        put_number(out, " (NR=", value & 1);
        pd_text_char(out, ')');
        break;
    default: put_event(packet, out); break;
    }
}

void pd_pt_put_bytes(struct pd_text *out, uint64_t at, const uint8_t *bytes, unsigned size)
{
    pd_text_hex(out, at, 8, '0');
    pd_text_bytes(out, ": ", 2);
    for (unsigned i = 0; i < 16; i++) {
        if (i < size) {
            pd_text_char(out, ' ');
            pd_text_hex(out, bytes[i], 2, '0');
        } else {
            pd_text_bytes(out, "   ", 3);
        }
    }
    pd_text_char(out, ' ');
}

void pd_pt_dump_packet(uint64_t offset, const uint8_t *bytes, const struct pd_pt_packet *packet,
                       struct pd_text *out)
{
    pd_text_bytes(out, ".  ", 3);
    pd_pt_put_bytes(out, offset, bytes, packet->size);
    pd_pt_packet_text(packet, out);
    pd_text_char(out, '\n');
}

void pd_pt_dump(const uint8_t *bytes, size_t size, struct pd_text *out)
{
    enum pd_pt_context context = PD_PT_NO_BLOCK;
    struct pd_pt_packet packet;
    for (size_t at = 0; at < size; at += packet.size) {
        pd_pt_packet_decode(bytes + at, size - at, &context, &packet);
        pd_pt_dump_packet(at, bytes + at, &packet, out);
    }
}
