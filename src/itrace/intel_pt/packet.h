/* SPDX-License-Identifier: MIT */
/* Bytes -> Intel PT packets, one at a time; usable by itself, on a bare trace. No state but the
 * block context. */
#ifndef PD_INTEL_PT_PACKET_H
#define PD_INTEL_PT_PACKET_H
#include "base/base.h"
#include "base/text.h"

enum pd_pt_kind {
#define PT(kind, text, keeps) PD_PT_##kind,
#include "itrace/intel_pt/packets.def"
    PD_PT_KINDS
};

/* Inside BBP ... BEP a byte xxxxx100 is an item, not a short TNT. */
enum pd_pt_context { PD_PT_NO_BLOCK, PD_PT_BLOCK_4, PD_PT_BLOCK_8 };

struct pd_pt_packet {
    uint8_t kind; /* enum pd_pt_kind */
    uint8_t size; /* bytes, with zeros that perf counts as part of it (up to 8); BAD: 1 */
    /* TNT: outcomes; TIP*, FUP: IPBytes (0: no ip); BIP: item; BBP: bytes of an item; CFE, EVD:
     * type */
    uint8_t count;
    bool ip;        /* the IP bit: a FUP follows; MODE.Exec: IF; MODE.TSX: TXAbort */
    uint32_t extra; /* TMA: FastCounter; BBP: type */
    /* TNT: outcomes from bit 63 down, oldest first, 1 = taken; TIP*, FUP: the compressed IP;
     * MODE.Exec: 16, 32, 64; MODE.TSX: InTX; others: their payload */
    uint64_t payload;
};

/* Decodes the packet at `bytes`, of which `left` > 0 are readable; a packet that is cut by the end
 * is BAD. Its size without the zeros behind it. */
unsigned pd_pt_packet_decode(const uint8_t *bytes, size_t left, enum pd_pt_context *context,
                             struct pd_pt_packet *out);

/* A CYC that begins at `p` and has one byte or two: its size; 0: it is longer. Two bytes are
 * readable. */
PD_INLINE unsigned pd_pt_short_cyc(const uint8_t *p, uint64_t *cycles)
{
    const unsigned two = *p >> 2 & 1;
    *cycles = *p >> 3 | (two ? (p[1] & 0xfeu) << 4 : 0);
    return two && p[1] & 1 ? 0 : 1 + two;
}

/* The place of the next PSB at or behind `from`, `size` when there is none. At memory speed. */
size_t pd_pt_find_psb(const uint8_t *bytes, size_t size, size_t from);

/* Expands a TIP's or FUP's IP by the last IP; false: it carries none. */
bool pd_pt_ip(const struct pd_pt_packet *packet, uint64_t *last_ip);

const char *pd_pt_kind_name(unsigned kind);
/* The description that perf's raw dump shows. */
void pd_pt_packet_text(const struct pd_pt_packet *packet, struct pd_text *out);
/* Appends "%08x:  bytes ", the bytes in a column of 16. */
void pd_pt_put_bytes(struct pd_text *out, uint64_t at, const uint8_t *bytes, unsigned size);
/* Appends one line of that dump. */
void pd_pt_dump_packet(uint64_t offset, const uint8_t *bytes, const struct pd_pt_packet *packet,
                       struct pd_text *out);
/* The dump of a trace as perf has it: ".  %08x:  bytes description" lines. */
void pd_pt_dump(const uint8_t *bytes, size_t size, struct pd_text *out);

#endif
