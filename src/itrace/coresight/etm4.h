/* SPDX-License-Identifier: MIT */
/* Bytes of one ETMv4 instruction trace -> packets, one byte at a time. */
#ifndef PD_CORESIGHT_ETM4_H
#define PD_CORESIGHT_ETM4_H
#include "base/base.h"
#include "base/text.h"

enum pd_etm4_kind {
#define ETM4(kind, name, description) PD_ETM4_##kind,
#include "itrace/coresight/etm4.def"
    PD_ETM4_KINDS
};

/* No packet is longer: one that goes on is cut here. */
#define PD_ETM4_LONGEST 64

struct pd_etm4_packet {
    uint8_t kind;         /* enum pd_etm4_kind */
    uint8_t lead;         /* RESERVED_CFG, atoms: what it began with */
    uint8_t address_bits; /* short addresses: how many were given */
    uint8_t context; /* CTXT, ADDR_CTXT_*: the byte of EL, SF, NS; bit 6 VMID, bit 7 CONTEXTID */
    bool is_same_context;   /* no payload */
    bool has_cycles;        /* TIMESTAMP */
    bool is_extension;      /* BAD_SEQUENCE: behind a 0, else inside an A-Sync */
    uint8_t interpretation; /* EXCEPT: of the address behind it; ADDR_MATCH: which */
    uint32_t vmid, context_id;
    uint32_t
        count; /* cycles, commits, cancelled; EXCEPT: type; TRACE_INFO: threshold of cycle counts */
    uint64_t payload; /* an address, a timestamp, TRACE_INFO's INFO */
    uint64_t at;      /* where it began */
};

/* What the trace unit can do: TRCIDR0 to 2. */
struct pd_etm4_config {
    uint64_t idr0, idr1, idr2;
};

struct pd_etm4 {
    struct pd_etm4_config config;
    bool is_synced, told_unsynced;
    bool is_64_bit; /* as the last context said; a 32-bit address leaves the rest */
    uint8_t junk;   /* bytes that are no A-Sync, not told yet */
    uint8_t count;  /* of the packet, or zeros of an A-Sync */
    uint8_t bytes[PD_ETM4_LONGEST];
    uint64_t began;
    uint32_t threshold;      /* what counts of cycles begin with */
    uint32_t told_threshold; /* what OpenCSD goes on printing where there is none */
    uint64_t timestamp, addresses[3];
};

void pd_etm4_init(struct pd_etm4 *etm, const struct pd_etm4_config *config);
/* The next byte, which stands at `at`. True: a packet ends with it. */
bool pd_etm4_byte(struct pd_etm4 *etm, uint8_t byte, uint64_t at, struct pd_etm4_packet *packet);
/* NAME : description and all that it holds, as OpenCSD prints it. */
void pd_etm4_text(const struct pd_etm4_packet *packet, struct pd_text *text);
/* Names the packet that only other trace units know by this lead, to say why it is refused; NULL:
 * no unit knows it. */
const char *pd_etm4_reserved_name(uint8_t lead);

#endif
