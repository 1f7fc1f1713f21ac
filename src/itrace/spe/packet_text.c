/* SPDX-License-Identifier: MIT */
/* Packets of Arm SPE in the words of perf's raw dump. */
#include "itrace/spe/packet.h"
#include <inttypes.h>

#define IS_SVE(payload) (((payload)&0x0a) == 0x08)
#define IS_ATOMIC(payload) (((payload)&0xe2) == 0x02)

static void put_events(uint64_t events, struct pd_text *text)
{
    static const struct {
        uint32_t event;
        const char *name;
    } rows[] = {
        { PD_SPE_EXCEPTION, "EXCEPTION-GEN" },
        { PD_SPE_RETIRED, "RETIRED" },
        { PD_SPE_L1D_ACCESS, "L1D-ACCESS" },
        { PD_SPE_L1D_REFILL, "L1D-REFILL" },
        { PD_SPE_TLB_ACCESS, "TLB-ACCESS" },
        { PD_SPE_TLB_WALK, "TLB-REFILL" },
        { PD_SPE_NOT_TAKEN, "NOT-TAKEN" },
        { PD_SPE_MISPREDICTED, "MISPRED" },
        { PD_SPE_LLC_ACCESS, "LLC-ACCESS" },
        { PD_SPE_LLC_REFILL, "LLC-REFILL" },
        { PD_SPE_REMOTE, "REMOTE-ACCESS" },
        { PD_SPE_ALIGNMENT, "ALIGNMENT" },
        { PD_SPE_PARTIAL_PREDICATE, "SVE-PARTIAL-PRED" },
        { PD_SPE_EMPTY_PREDICATE, "SVE-EMPTY-PRED" },
    };
    pd_text_string(text, "EV");
    for (size_t i = 0; i < PD_LENGTH(rows); i++)
        if (events & rows[i].event)
            pd_text_format(text, " %s", rows[i].name);
}

static void put_if(uint64_t bits, const char *word, struct pd_text *text)
{
    if (bits)
        pd_text_string(text, word);
}

/* The vector's length in bits. */
static void put_sve_length(uint64_t payload, struct pd_text *text)
{
    pd_text_format(text, " EVLEN %u", 32u << (payload >> 4 & 7));
}

static void put_other(uint64_t payload, struct pd_text *text)
{
    if (!PD_SPE_IS_SVE_OTHER(payload)) {
        pd_text_string(text, payload & 1 ? "OTHER COND-SELECT" : "OTHER INSN-OTHER");
        return;
    }
    pd_text_string(text, "SVE-OTHER");
    put_sve_length(payload, text);
    put_if(payload & 2, " FP", text);
    put_if(payload & 4, " PRED", text);
}

static void put_load_store(uint64_t payload, struct pd_text *text)
{
    pd_text_string(text, payload & 1 ? "ST" : "LD");
    if (IS_ATOMIC(payload)) {
        put_if(payload & 0x04, " AT", text);
        put_if(payload & 0x08, " EXCL", text);
        put_if(payload & 0x10, " AR", text);
    }
    if (IS_SVE(payload)) {
        put_sve_length(payload, text);
        put_if(payload & 0x04, " PRED", text);
        put_if(payload & 0x80, " SG", text);
    }
    switch (payload & 0xfe) {
    case 0x00: pd_text_string(text, " GP-REG"); break;
    case 0x04: pd_text_string(text, " SIMD-FP"); break;
    case 0x10: pd_text_string(text, " UNSPEC-REG"); break;
    case 0x30: pd_text_string(text, " NV-SYSREG"); break;
    default: break;
    }
}

static void put_operation(const struct pd_spe_packet *packet, struct pd_text *text)
{
    uint64_t payload = packet->payload;
    switch (packet->index) {
    case PD_SPE_OTHER: put_other(payload, text); break;
    case PD_SPE_LOAD_STORE: put_load_store(payload, text); break;
    case PD_SPE_BRANCH:
        pd_text_string(text, "B");
        put_if(payload & 1, " COND", text);
        put_if((payload & 0xfe) == 0x02, " IND", text);
        break;
    default: pd_text_format(text, "OP-TYPE 0x%x (%u)", (unsigned)payload, packet->index); break;
    }
}

static void put_address(const struct pd_spe_packet *packet, struct pd_text *text)
{
    uint64_t payload = packet->payload;
    unsigned top = (unsigned)(payload >> 56);
    switch (packet->index) {
    case PD_SPE_PC:
    case PD_SPE_TARGET:
        pd_text_format(text, "%s 0x%" PRIx64 " el%u ns=%u",
                       packet->index == PD_SPE_PC ? "PC" : "TGT", pd_spe_physical_address(payload),
                       top >> 5 & 3, top >> 7);
        break;
    case PD_SPE_DATA: pd_text_format(text, "VA 0x%" PRIx64, payload); break;
    case PD_SPE_PHYSICAL:
        pd_text_format(text, "PA 0x%" PRIx64 " ns=%u ch=%u pat=%x",
                       pd_spe_physical_address(payload), top >> 7, top >> 6 & 1, top & 0xf);
        break;
    default: pd_text_format(text, "ADDR 0x%" PRIx64 " (%u)", payload, packet->index); break;
    }
}

static void put_counter(const struct pd_spe_packet *packet, struct pd_text *text)
{
    static const char *const names[] = { "TOT", "ISSUE", "XLAT" };
    pd_text_format(text, "LAT %u %s", (unsigned)packet->payload,
                   packet->index < PD_LENGTH(names) ? names[packet->index] : "");
}

static void put_packet(const struct pd_spe_packet *packet, struct pd_text *text)
{
    switch (packet->kind) {
    case PD_SPE_BAD: pd_text_string(text, "Bad packet!"); break;
    case PD_SPE_PADDING: pd_text_string(text, "PAD"); break;
    case PD_SPE_END: pd_text_string(text, "END"); break;
    case PD_SPE_TIMESTAMP: pd_text_format(text, "TS %" PRId64, (int64_t)packet->payload); break;
    case PD_SPE_EVENTS: put_events(packet->payload, text); break;
    case PD_SPE_SOURCE:
        pd_text_format(text, "DATA-SOURCE %" PRId64, (int64_t)packet->payload);
        break;
    case PD_SPE_CONTEXT:
        pd_text_format(text, "CONTEXT 0x%x el%u", (unsigned)packet->payload, packet->index + 1u);
        break;
    case PD_SPE_OPERATION: put_operation(packet, text); break;
    case PD_SPE_ADDRESS: put_address(packet, text); break;
    case PD_SPE_COUNTER: put_counter(packet, text); break;
    }
}

void pd_spe_dump(const uint8_t *bytes, size_t size, struct pd_text *text)
{
    struct pd_spe_packet packet;
    for (size_t at = 0; at < size; at += packet.length) {
        pd_spe_packet(bytes + at, size - at, at, &packet);
        pd_text_format(text, ".  %08zx: ", at);
        for (size_t i = 0; i < PD_SPE_LONGEST; i++)
            if (i < packet.length)
                pd_text_format(text, " %02x", bytes[at + i]);
            else
                pd_text_string(text, "   ");
        pd_text_char(text, ' ');
        put_packet(&packet, text);
        pd_text_char(text, '\n');
    }
}
