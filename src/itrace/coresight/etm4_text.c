/* SPDX-License-Identifier: MIT */
/* ETMv4 packets as OpenCSD prints them, which perf's raw dump shows. */
#include "itrace/coresight/etm4.h"

static const struct {
    const char *name, *description;
} kinds[PD_ETM4_KINDS] = {
#define ETM4(kind, name, description) [PD_ETM4_##kind] = { name, description },
#include "itrace/coresight/etm4.def"
};

const char *pd_etm4_reserved_name(uint8_t lead)
{
    static const struct {
        uint8_t first, last;
        const char *name;
    } rows[] = {
        { 0x20, 0x27, "I_NUM_DS_MKR" },  { 0x28, 0x2c, "I_UNNUM_DS_MKR" },
        { 0x40, 0x42, "I_COND_I_F2" },   { 0x43, 0x43, "I_COND_FLUSH" },
        { 0x44, 0x46, "I_COND_RES_F4" }, { 0x48, 0x4a, "I_COND_RES_F2" },
        { 0x4c, 0x4e, "I_COND_RES_F2" }, { 0x50, 0x5f, "I_COND_RES_F3" },
        { 0x68, 0x6b, "I_COND_RES_F1" }, { 0x6c, 0x6c, "I_COND_I_F1" },
        { 0x6d, 0x6d, "I_COND_I_F3" },   { 0x6e, 0x6f, "I_COND_RES_F1" },
    };
    for (size_t i = 0; i < PD_LENGTH(rows); i++)
        if (lead >= rows[i].first && lead <= rows[i].last)
            return rows[i].name;
    return NULL;
}

/* ---- atoms ---- */

static void put_atoms(const char *atoms, unsigned count, struct pd_text *text)
{
    pd_text_string(text, "; ");
    pd_text_bytes(text, atoms, count);
}

/* As many bits of the lead as there are atoms, from the lowest on. */
static void put_bit_atoms(uint8_t bits, unsigned count, struct pd_text *text)
{
    pd_text_string(text, "; ");
    for (unsigned i = 0; i < count; i++)
        pd_text_char(text, bits >> i & 1 ? 'E' : 'N');
}

static void put_long_atoms(uint8_t lead, struct pd_text *text)
{
    pd_text_string(text, "; ");
    for (unsigned i = 0; i < (lead & 0x1fu) + 3; i++)
        pd_text_char(text, 'E');
    pd_text_char(text, lead & 0x20 ? 'N' : 'E');
}

static void put_atom_packet(const struct pd_etm4_packet *packet, struct pd_text *text)
{
    static const char four[][5] = { "NEEE", "NNNN", "NENE", "ENEN" };
    static const char five[][6] = { "", "NNNNN", "NENEN", "ENENE" };
    uint8_t lead = packet->lead;
    switch (packet->kind) {
    case PD_ETM4_ATOM_F1: put_bit_atoms(lead, 1, text); break;
    case PD_ETM4_ATOM_F2: put_bit_atoms(lead, 2, text); break;
    case PD_ETM4_ATOM_F3: put_bit_atoms(lead, 3, text); break;
    case PD_ETM4_ATOM_F4: put_atoms(four[lead & 3], 4, text); break;
    case PD_ETM4_ATOM_F5: put_atoms(lead == 0xf5 ? "NEEEE" : five[lead & 3], 5, text); break;
    default: put_long_atoms(lead, text); break;
    }
}

/* ---- the others ---- */

static void put_context(const struct pd_etm4_packet *packet, struct pd_text *text)
{
    enum { IS_64 = 1 << 4, IS_NON_SECURE = 1 << 5, HAS_VMID = 1 << 6, HAS_CONTEXT_ID = 1 << 7 };
    uint8_t context = packet->context;
    if (packet->is_same_context) {
        pd_text_string(text, "Ctxt: Same");
        return;
    }
    pd_text_format(text, "Ctxt: %sEL%d, %s; ", context & IS_64 ? "AArch64," : "AArch32, ",
                   context & 3, context & IS_NON_SECURE ? "NS" : "S");
    if (context & HAS_CONTEXT_ID)
        pd_text_format(text, "CID=0x%08x; ", packet->context_id);
    if (context & HAS_VMID)
        pd_text_format(text, "VMID=0x%04x; ", packet->vmid);
}

static void put_address(const struct pd_etm4_packet *packet, struct pd_text *text)
{
    unsigned bits = packet->address_bits;
    pd_text_format(text, "; Addr=0x%016llX", (unsigned long long)packet->payload);
    if (bits)
        pd_text_format(text, " ~[0x%llX]",
                       (unsigned long long)(packet->payload & ((UINT64_C(1) << bits) - 1)));
    else
        pd_text_string(text, "; ");
}

static void put_exception(const struct pd_etm4_packet *packet, struct pd_text *text)
{
    static const char *const names[] = {
        "PE Reset",   "Debug Halt", "Call",     "Trap",     "System Error", "Reserved",
        "Inst Debug", "Data Debug", "Reserved", "Reserved", "Alignment",    "Inst Fault",
        "Data Fault", "Reserved",   "IRQ",      "FIQ",
    };
    pd_text_format(text, ";  %s;",
                   packet->count < PD_LENGTH(names) ? names[packet->count] : "Reserved");
    if (packet->interpretation == 1)
        pd_text_string(text, " Ret Addr Follows;");
    else if (packet->interpretation == 2)
        pd_text_string(text, " Ret Addr Follows, Match Prev;");
}

static void put_trace_info(const struct pd_etm4_packet *packet, struct pd_text *text)
{
    pd_text_format(text, "; INFO=0x%llx { CC.%d }", (unsigned long long)packet->payload,
                   (int)(packet->payload & 1));
    if (packet->payload & 1)
        pd_text_format(text, "; CC_THRESHOLD=0x%x", packet->count);
}

/* Cancelled and mispredicted: with the atoms that come first. */
static void put_speculation(const struct pd_etm4_packet *packet, struct pd_text *text)
{
    static const char *const atoms[] = { "", "Atom: E, ", "Atom: EE, ", "Atom: N, " };
    uint8_t lead = packet->lead;
    pd_text_string(text, "; ");
    if (packet->kind == PD_ETM4_CANCEL_F3)
        pd_text_string(text, atoms[lead & 1]);
    else if (lead >= 0x30)
        pd_text_string(text, atoms[lead & 3]);
    if (packet->kind != PD_ETM4_MISPREDICT)
        pd_text_format(text, "%s(%u)", packet->kind == PD_ETM4_COMMIT ? "Commit" : "Cancel",
                       packet->count);
    if (packet->kind == PD_ETM4_COMMIT || packet->kind == PD_ETM4_CANCEL_F1)
        return;
    pd_text_string(text, packet->kind == PD_ETM4_MISPREDICT ? "Mispredict" : ", Mispredict");
}

void pd_etm4_text(const struct pd_etm4_packet *packet, struct pd_text *text)
{
    const char *refused = packet->kind == PD_ETM4_RESERVED ? pd_etm4_reserved_name(packet->lead)
                                                           : NULL;
    if (refused) {
        pd_text_format(text, "I_RESERVED_CFG : Reserved header for current configuration.[%s]",
                       refused);
        return;
    }
    pd_text_format(text, "%s : %s", kinds[packet->kind].name, kinds[packet->kind].description);
    switch (packet->kind) {
    case PD_ETM4_BAD_SEQUENCE:
        pd_text_string(text, packet->is_extension ? "[I_EXTENSION]" : "[I_ASYNC]");
        break;
    case PD_ETM4_TRACE_INFO: put_trace_info(packet, text); break;
    case PD_ETM4_TIMESTAMP:
        pd_text_format(text, "; Updated val = 0x%llx", (unsigned long long)packet->payload);
        if (packet->has_cycles)
            pd_text_format(text, "; CC=0x%x", packet->count);
        break;
    case PD_ETM4_EXCEPT: put_exception(packet, text); break;
    case PD_ETM4_CCNT_F1:
    case PD_ETM4_CCNT_F2:
    case PD_ETM4_CCNT_F3: pd_text_format(text, "; Count=0x%x", packet->count); break;
    case PD_ETM4_COMMIT:
    case PD_ETM4_CANCEL_F1:
    case PD_ETM4_CANCEL_F1_MISPRED:
    case PD_ETM4_CANCEL_F2:
    case PD_ETM4_CANCEL_F3:
    case PD_ETM4_MISPREDICT: put_speculation(packet, text); break;
    case PD_ETM4_CTXT:
        pd_text_string(text, "; ");
        put_context(packet, text);
        break;
    case PD_ETM4_ADDR_MATCH:
        pd_text_format(text, ", [%d]", packet->interpretation);
        put_address(packet, text);
        break;
    default:
        if (packet->kind >= PD_ETM4_ATOM_F1) {
            put_atom_packet(packet, text);
        } else if (packet->kind >= PD_ETM4_ADDR_S_IS0) {
            put_address(packet, text);
            if (packet->kind >= PD_ETM4_ADDR_CTXT_L_32IS0)
                put_context(packet, text);
        }
        break;
    }
}
