/* SPDX-License-Identifier: MIT */
/* ETMv4 packets. Each byte is added to those before, and the packet is read anew: none is long. */
#include "itrace/coresight/etm4.h"

enum { ASYNC_SIZE = 12, ASYNC_END = 0x80 };

/* What is left of the packet's bytes. */
struct cursor {
    const uint8_t *at, *end;
    bool lacks; /* more is needed */
};

static uint8_t next(struct cursor *cursor)
{
    if (cursor->at < cursor->end)
        return *cursor->at++;
    cursor->lacks = true;
    return 0;
}

static uint64_t little(struct cursor *cursor, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)next(cursor) << 8 * i;
    return value;
}

/* Seven bits a byte while the top bit says so; only those of the first `limit` bytes count. */
static uint32_t number(struct cursor *cursor, unsigned limit)
{
    uint64_t value = 0;
    for (unsigned i = 0;; i++) {
        uint8_t byte = next(cursor);
        if (i < limit)
            value |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (!(byte & 0x80))
            return (uint32_t)value;
    }
}

/* The low `bits` of `value` over what was there. */
static uint64_t overlay(uint64_t old, uint64_t value, unsigned bits)
{
    uint64_t mask = bits >= 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    return (old & ~mask) | (value & mask);
}

/* ---- addresses and contexts ---- */

static void push_address(struct pd_etm4 *etm, uint64_t address)
{
    etm->addresses[2] = etm->addresses[1];
    etm->addresses[1] = etm->addresses[0];
    etm->addresses[0] = address;
}

/* IS0 counts in words, IS1 in halfwords. */
static uint64_t long_address(const struct pd_etm4 *etm, struct cursor *cursor, bool is_is1,
                             bool is_wide)
{
    unsigned shift = is_is1 ? 1 : 2;
    uint64_t value = (uint64_t)(next(cursor) & 0x7f) << shift;
    uint8_t second = next(cursor);
    value |= is_is1 ? (uint64_t)second << 8 : (uint64_t)(second & 0x7f) << 9;
    value |= little(cursor, is_wide ? 6 : 2) << 16;
    return is_wide ? value : etm->is_64_bit ? overlay(etm->addresses[0], value, 32) : value;
}

static uint64_t short_address(const struct pd_etm4 *etm, struct cursor *cursor, bool is_is1,
                              struct pd_etm4_packet *packet)
{
    unsigned shift = is_is1 ? 1 : 2, bits = 7 + shift;
    uint8_t first = next(cursor);
    uint64_t value = (uint64_t)(first & 0x7f) << shift;
    if (first & 0x80) {
        value |= (uint64_t)next(cursor) << bits;
        bits += 8;
    }
    packet->address_bits = (uint8_t)bits;
    return overlay(etm->addresses[0], value, bits);
}

static unsigned id_size(uint64_t idr2, unsigned bit)
{
    unsigned size = idr2 >> bit & 31;
    return size == 1 || size == 2 || size == 4 ? size : 0;
}

static void context(struct pd_etm4 *etm, struct cursor *cursor, struct pd_etm4_packet *packet)
{
    enum { IS_64 = 1 << 4, HAS_VMID = 1 << 6, HAS_CONTEXT_ID = 1 << 7, CIDSIZE = 5, VMIDSIZE = 10 };
    packet->context = next(cursor);
    if (packet->context & HAS_VMID)
        packet->vmid = (uint32_t)little(cursor, id_size(etm->config.idr2, VMIDSIZE));
    if (packet->context & HAS_CONTEXT_ID)
        packet->context_id = (uint32_t)little(cursor, id_size(etm->config.idr2, CIDSIZE));
    if (!cursor->lacks)
        etm->is_64_bit = packet->context & IS_64;
}

/* ---- one packet each ---- */

static void trace_info(struct pd_etm4 *etm, struct cursor *cursor, struct pd_etm4_packet *packet)
{
    enum { INFO = 1, KEY = 2, SPECULATION = 4, THRESHOLD = 8, WINDOW = 16, LIMIT = 5 };
    uint32_t sections = number(cursor, 1), threshold = 0;
    if (sections & INFO)
        packet->payload = number(cursor, LIMIT);
    if (sections & KEY)
        number(cursor, LIMIT);
    if (sections & SPECULATION)
        number(cursor, LIMIT);
    if (sections & THRESHOLD)
        threshold = number(cursor, LIMIT);
    if (sections & WINDOW)
        number(cursor, LIMIT);
    packet->kind = PD_ETM4_TRACE_INFO;
    if (cursor->lacks)
        return;
    if (sections & THRESHOLD)
        etm->told_threshold = threshold;
    etm->threshold = threshold;
    packet->count = etm->told_threshold;
    etm->timestamp = 0;
    memset(etm->addresses, 0, sizeof etm->addresses);
}

/* Seven bits a byte, eight of the ninth. */
static uint64_t time_bits(struct cursor *cursor, unsigned *bits)
{
    enum { LAST = 8 };
    uint64_t value = 0;
    *bits = 0;
    for (unsigned i = 0; i <= LAST; i++) {
        uint8_t byte = next(cursor);
        value |= (uint64_t)(i == LAST ? byte : byte & 0x7f) << *bits;
        *bits += i == LAST ? 8 : 7;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

static void timestamp(struct pd_etm4 *etm, struct cursor *cursor, struct pd_etm4_packet *packet)
{
    enum { CYCLES_LIMIT = 3, CCSIZE = 25, LEAST_CYCLES = 12 };
    unsigned bits;
    uint64_t value = time_bits(cursor, &bits);
    packet->kind = PD_ETM4_TIMESTAMP;
    packet->has_cycles = packet->lead & 1;
    if (packet->has_cycles)
        packet->count = number(cursor, CYCLES_LIMIT) &
                        ((UINT32_C(1) << (LEAST_CYCLES + (etm->config.idr2 >> CCSIZE & 15))) - 1);
    if (!cursor->lacks)
        packet->payload = etm->timestamp = overlay(etm->timestamp, value, bits);
}

static void exception(struct cursor *cursor, struct pd_etm4_packet *packet)
{
    uint8_t first = next(cursor);
    uint8_t second = first & 0x80 ? next(cursor) : 0;
    packet->interpretation = (uint8_t)((first & 0x40) >> 5 | (first & 1));
    packet->count = (first >> 1 & 31u) | (second & 31u) << 5;
    packet->kind = PD_ETM4_EXCEPT;
}

static void cycles(const struct pd_etm4 *etm, struct cursor *cursor, struct pd_etm4_packet *packet)
{
    uint8_t lead = packet->lead;
    uint32_t threshold = etm->threshold;
    if (lead >= 0x10) {
        packet->kind = PD_ETM4_CCNT_F3;
        packet->count = threshold + (lead & 3);
    } else if (lead < 0x0e) {
        packet->kind = PD_ETM4_CCNT_F2;
        packet->count = threshold + (next(cursor) & 15);
    } else {
        packet->kind = PD_ETM4_CCNT_F1;
        if (!(lead & 1))
            packet->count = threshold + number(cursor, 3);
    }
}

static void speculation(struct cursor *cursor, struct pd_etm4_packet *packet)
{
    uint8_t lead = packet->lead;
    switch (lead) {
    case 0x2d: packet->kind = PD_ETM4_COMMIT; break;
    case 0x2e: packet->kind = PD_ETM4_CANCEL_F1; break;
    case 0x2f: packet->kind = PD_ETM4_CANCEL_F1_MISPRED; break;
    default:
        packet->kind = lead < 0x34   ? PD_ETM4_MISPREDICT
                       : lead < 0x38 ? PD_ETM4_CANCEL_F2
                                     : PD_ETM4_CANCEL_F3;
        packet->count = lead < 0x38 ? 1 : (lead >> 1 & 3) + 2u;
        return;
    }
    packet->count = number(cursor, 5);
}

static void extension(struct pd_etm4 *etm, struct cursor *cursor, struct pd_etm4_packet *packet)
{
    uint8_t second = next(cursor);
    if (cursor->lacks)
        return;
    if (second) {
        packet->kind = second == 3   ? PD_ETM4_DISCARD
                       : second == 5 ? PD_ETM4_OVERFLOW
                                     : PD_ETM4_BAD_SEQUENCE;
        packet->is_extension = true;
        return;
    }
    uint8_t last = etm->bytes[etm->count - 1];
    cursor->lacks = etm->count < ASYNC_SIZE && !last;
    packet->kind = etm->count == ASYNC_SIZE && last == ASYNC_END ? PD_ETM4_ASYNC
                                                                 : PD_ETM4_BAD_SEQUENCE;
}

static void address(struct pd_etm4 *etm, struct cursor *cursor, struct pd_etm4_packet *packet)
{
    uint8_t lead = packet->lead;
    bool with_context = lead < 0x90;
    switch (lead) {
    case 0x90:
    case 0x91:
    case 0x92:
        packet->kind = PD_ETM4_ADDR_MATCH;
        packet->interpretation = lead & 3;
        packet->payload = etm->addresses[lead & 3];
        break;
    case 0x95:
    case 0x96:
        packet->kind = lead & 1 ? PD_ETM4_ADDR_S_IS0 : PD_ETM4_ADDR_S_IS1;
        packet->payload = short_address(etm, cursor, !(lead & 1), packet);
        break;
    case 0x82:
    case 0x83:
        packet->kind = lead & 1 ? PD_ETM4_ADDR_CTXT_L_32IS1 : PD_ETM4_ADDR_CTXT_L_32IS0;
        packet->payload = long_address(etm, cursor, lead & 1, false);
        break;
    case 0x9a:
    case 0x9b:
        packet->kind = lead & 1 ? PD_ETM4_ADDR_L_32IS1 : PD_ETM4_ADDR_L_32IS0;
        packet->payload = long_address(etm, cursor, lead & 1, false);
        break;
    case 0x85:
    case 0x86:
        packet->kind = lead & 1 ? PD_ETM4_ADDR_CTXT_L_64IS0 : PD_ETM4_ADDR_CTXT_L_64IS1;
        packet->payload = long_address(etm, cursor, !(lead & 1), true);
        break;
    case 0x9d:
    case 0x9e:
        packet->kind = lead & 1 ? PD_ETM4_ADDR_L_64IS0 : PD_ETM4_ADDR_L_64IS1;
        packet->payload = long_address(etm, cursor, !(lead & 1), true);
        break;
    default: return; /* reserved */
    }
    if (with_context)
        context(etm, cursor, packet);
    if (!cursor->lacks)
        push_address(etm, packet->payload);
}

/* From 0xc0 on all are atoms, none has more than its lead. */
static uint8_t atom_kind(uint8_t lead)
{
    return lead >= 0xf8                   ? PD_ETM4_ATOM_F3
           : lead >= 0xf6                 ? PD_ETM4_ATOM_F1
           : lead == 0xf5                 ? PD_ETM4_ATOM_F5
           : lead >= 0xe0 || lead <= 0xd4 ? PD_ETM4_ATOM_F6
           : lead <= 0xd7                 ? PD_ETM4_ATOM_F5
           : lead <= 0xdb                 ? PD_ETM4_ATOM_F2
                                          : PD_ETM4_ATOM_F4;
}

/* Headers below 0x80 that neither go on nor are reserved, or go on as their kind says. */
static void other(struct pd_etm4 *etm, struct cursor *cursor, struct pd_etm4_packet *packet)
{
    uint8_t lead = packet->lead;
    switch (lead) {
    case 0x00: extension(etm, cursor, packet); return;
    case 0x01: trace_info(etm, cursor, packet); return;
    case 0x02:
    case 0x03: timestamp(etm, cursor, packet); return;
    case 0x04: packet->kind = PD_ETM4_TRACE_ON; return;
    case 0x06: exception(cursor, packet); return;
    case 0x07: packet->kind = PD_ETM4_EXCEPT_RTN; return;
    default: break;
    }
    if (lead >= 0x0c && lead < 0x20)
        cycles(etm, cursor, packet);
    else if (lead >= 0x2d && lead < 0x40)
        speculation(cursor, packet);
    else if (lead > 0x70)
        packet->kind = PD_ETM4_EVENT;
}

/* Reads as much of a packet as there is. False: the packet goes on. */
static bool read_packet(struct pd_etm4 *etm, struct pd_etm4_packet *packet)
{
    struct cursor cursor = { etm->bytes + 1, etm->bytes + etm->count, false };
    uint8_t lead = etm->bytes[0];
    *packet = (struct pd_etm4_packet){ .kind = PD_ETM4_RESERVED, .lead = lead, .at = etm->began };
    if (lead >= 0xc0) {
        packet->kind = atom_kind(lead);
    } else if (lead == 0x80 || lead == 0x81) {
        packet->kind = PD_ETM4_CTXT;
        packet->is_same_context = lead == 0x80;
        if (lead == 0x81)
            context(etm, &cursor, packet);
    } else if (lead >= 0x80) {
        address(etm, &cursor, packet);
    } else {
        other(etm, &cursor, packet);
    }
    return !cursor.lacks || etm->count == PD_ETM4_LONGEST;
}

/* ---- the stream ---- */

void pd_etm4_init(struct pd_etm4 *etm, const struct pd_etm4_config *config)
{
    memset(etm, 0, sizeof *etm);
    etm->config = *config;
}

/* True once: that bytes are not understood is told one time only. */
static bool tells(struct pd_etm4 *etm)
{
    bool told = etm->told_unsynced;
    etm->told_unsynced = true;
    return !told;
}

/* Bytes that are no A-Sync are told as eight or up to a zero, which may begin one. */
static bool skip(struct pd_etm4 *etm, uint8_t byte, uint64_t at)
{
    enum { CHUNK = 8 };
    if (byte) {
        etm->junk = (uint8_t)(etm->junk + etm->count + 1);
        etm->count = 0;
        if (etm->junk < CHUNK)
            return false;
    } else {
        etm->count = 1;
        etm->began = at;
    }
    etm->junk = 0;
    return tells(etm);
}

/* Before the first A-Sync. */
static bool search(struct pd_etm4 *etm, uint8_t byte, uint64_t at, struct pd_etm4_packet *packet)
{
    enum { ZEROS = ASYNC_SIZE - 1 };
    if (!etm->count && !etm->junk)
        etm->began = at;
    *packet = (struct pd_etm4_packet){ .kind = PD_ETM4_NOT_SYNC, .at = etm->began };
    if (byte == ASYNC_END && etm->count == ZEROS) {
        packet->kind = PD_ETM4_ASYNC;
        etm->count = 0;
        etm->is_synced = true;
        return true;
    }
    if (byte || etm->junk)
        return skip(etm, byte, at);
    if (etm->count < ZEROS) {
        etm->count++;
        return false;
    }
    /* OpenCSD takes even too many zeros for an A-Sync, and has one more packet for the bytes that
     * really are one. */
    packet->kind = PD_ETM4_ASYNC;
    return tells(etm);
}

bool pd_etm4_byte(struct pd_etm4 *etm, uint8_t byte, uint64_t at, struct pd_etm4_packet *packet)
{
    if (!etm->is_synced)
        return search(etm, byte, at, packet);
    if (!etm->count)
        etm->began = at;
    etm->bytes[etm->count++] = byte;
    if (!read_packet(etm, packet))
        return false;
    etm->count = 0;
    return true;
}
