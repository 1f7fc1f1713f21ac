/* SPDX-License-Identifier: MIT */
/* Legacy encodings are measured here, by tables, since a walk through damaged traces must take what
 * is no instruction for as long as perf takes it; VEX and EVEX encodings are left to Zydis. */
#include "itrace/code/insn.h"
#include "itrace/code/insn_tables.h"
#include <Zydis/Zydis.h>

/* What follows an opcode. */
enum operand {
    NOTHING = '.',
    MODRM = 'm',
    IMM8 = 'b',
    IMM16 = 'w',
    IMM_Z = 'z', /* 2 or 4, by operand size */
    IMM_V = 'v', /* 2, 4 or 8 */
    MODRM_IMM8 = 'M',
    MODRM_IMM_Z = 'Z',
    REL_Z = 'J',       /* 2 or 4; in 64 bits always 4 */
    FAR = 'p',         /* a far pointer */
    OFFSET = 'o',      /* by address size */
    ENTER = 'e',       /* 2 and 1 */
    TEST8 = 'g',       /* MODRM and for reg 0 and 1: IMM8 */
    TEST_Z = 'G',      /* MODRM and for reg 0 and 1: IMM_Z */
    SHIFT = 'i',       /* MODRM and for some regs: IMM8 */
    VECTOR_ONLY = 'x', /* no such opcode without VEX or EVEX */
};

/* Prefixes have no letters of their own: where an opcode is expected they are taken as opcodes
 * without operands. */
static const char one_byte[256 + 1] = "mmmmbz..mmmmbz.."
                                      "mmmmbz..mmmmbz.."
                                      "mmmmbz..mmmmbz.."
                                      "mmmmbz..mmmmbz.."
                                      "................"
                                      "................"
                                      "..mm....zZbM...."
                                      "bbbbbbbbbbbbbbbb"
                                      "MZMMmmmmmmmmmmmm"
                                      "..........p....."
                                      "oooo....bz......"
                                      "bbbbbbbbvvvvvvvv"
                                      "MMw.mmMZe.w..b.."
                                      "mmmmbb..mmmmmmmm"
                                      "bbbbbbbbJJpb...."
                                      "......gG......mm";

enum map { ONE_BYTE, TWO_BYTE, MAP_0F38, MAP_0F3A, VECTOR };

struct parts {
    const uint8_t *bytes;
    size_t size, at;
    bool is_64_bit;
    uint8_t operand_size, address_size, opcode, modrm;
    enum map map;
    uint8_t last_prefix;
    int64_t immediate;
};

/* ---- prefixes ---- */

static bool is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf0:
    case 0xf2:
    case 0xf3: return true;
    default: return false;
    }
}

static void take_prefixes(struct parts *parts)
{
    enum { MOST = 4 }; /* different ones */
    uint8_t seen[MOST];
    size_t count = 0;

    for (; parts->at < parts->size && is_prefix(parts->bytes[parts->at]); parts->at++) {
        uint8_t byte = parts->last_prefix = parts->bytes[parts->at];
        if (count && memchr(seen, byte, count))
            continue;
        if (count == MOST)
            break;
        seen[count++] = byte;
        if (byte == 0x66)
            parts->operand_size = 2;
        if (byte == 0x67)
            parts->address_size /= 2;
    }
    if (parts->is_64_bit && parts->at < parts->size && parts->bytes[parts->at] >> 4 == 4)
        if (parts->bytes[parts->at++] & 8)
            parts->operand_size = 8;
}

/* In 32 bits these are LES, LDS and BOUND unless what follows would be a register. */
static bool is_vector(const struct parts *parts)
{
    uint8_t byte = parts->bytes[parts->at];

    if (byte != 0xc4 && byte != 0xc5 && byte != 0x62)
        return false;
    return parts->is_64_bit || (parts->at + 1 < parts->size && parts->bytes[parts->at + 1] >= 0xc0);
}

/* ---- opcode and operands ---- */

static bool take(struct parts *parts, size_t count)
{
    parts->at += count;
    return parts->at <= parts->size;
}

static bool take_opcode(struct parts *parts)
{
    const uint8_t *bytes = parts->bytes;

    if (parts->at >= parts->size)
        return false;
    if (is_vector(parts)) {
        parts->map = VECTOR;
        return true;
    }
    parts->opcode = bytes[parts->at++];
    if (parts->opcode != 0x0f)
        return true;
    if (parts->at >= parts->size)
        return false;
    parts->map = TWO_BYTE;
    parts->opcode = bytes[parts->at++];
    if (parts->opcode != 0x38 && parts->opcode != 0x3a)
        return true;
    if (parts->at >= parts->size)
        return false;
    parts->map = parts->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
    parts->opcode = bytes[parts->at++];
    return true;
}

static bool take_modrm(struct parts *parts)
{
    if (parts->at >= parts->size)
        return false;
    uint8_t modrm = parts->modrm = parts->bytes[parts->at++];
    unsigned mod = modrm >> 6, rm = modrm & 7;
    if (mod == 3)
        return true;
    if (parts->address_size == 2)
        return take(parts, mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0);
    bool far = mod == 2 || (mod == 0 && rm == 5);
    if (rm == 4) {
        if (parts->at >= parts->size)
            return false;
        far |= mod == 0 && (parts->bytes[parts->at] & 7) == 5;
        parts->at++;
    }
    return take(parts, mod == 1 ? 1 : far ? 4 : 0);
}

/* Signed, little-endian. */
static bool take_immediate(struct parts *parts, unsigned count)
{
    const uint8_t *from = parts->bytes + parts->at;
    uint64_t value = 0;

    if (!take(parts, count))
        return false;
    for (unsigned i = count; i-- > 0;)
        value = value << 8 | from[i];
    unsigned unused = 64 - 8 * count;
    parts->immediate = (int64_t)(value << unused) >> unused;
    return true;
}

/* Shifts of vectors by a number. */
static bool shift_has_immediate(const struct parts *parts)
{
    static const uint8_t regs[3][2] = { { 0x54, 0x54 }, { 0x54, 0x57 }, { 0x44, 0xcc } };
    unsigned row = parts->opcode - 0x71u;

    return row < PD_LENGTH(regs) &&
           (regs[row][parts->last_prefix == 0x66] >> (parts->modrm >> 3 & 7) & 1);
}

static bool take_operands(struct parts *parts, char operand)
{
    unsigned z = parts->operand_size == 2 ? 2 : 4;

    switch ((enum operand)operand) {
    case NOTHING: return true;
    case MODRM: return take_modrm(parts);
    case IMM8: return take_immediate(parts, 1);
    case IMM16: return take_immediate(parts, 2);
    case IMM_Z: return take_immediate(parts, z);
    case IMM_V: return take_immediate(parts, parts->operand_size);
    case MODRM_IMM8: return take_modrm(parts) && take_immediate(parts, 1);
    case MODRM_IMM_Z: return take_modrm(parts) && take_immediate(parts, z);
    case REL_Z: return take_immediate(parts, parts->is_64_bit ? 4 : z);
    case FAR: return parts->operand_size != 8 && take(parts, z + 2);
    case OFFSET: return take(parts, parts->address_size);
    case ENTER: return take(parts, 3);
    case TEST8:
        return take_modrm(parts) && ((parts->modrm >> 3 & 7) > 1 || take_immediate(parts, 1));
    case TEST_Z:
        return take_modrm(parts) && ((parts->modrm >> 3 & 7) > 1 || take_immediate(parts, z));
    case SHIFT: return take_modrm(parts) && (!shift_has_immediate(parts) || take(parts, 1));
    case VECTOR_ONLY: break;
    }
    return false;
}

/* ---- kinds ---- */

struct kind {
    uint8_t op, branch;
};

#define KIND(op, branch) ((struct kind){ PD_INSN_##op, PD_BRANCH_##branch })

/* FF: the middle bits of ModRM say which. */
static struct kind of_group_5(uint8_t modrm)
{
    switch (modrm >> 3 & 7) {
    case 2:
    case 3: return KIND(CALL, INDIRECT);
    case 4:
    case 5: return KIND(JMP, INDIRECT);
    default: return KIND(OTHER, NONE);
    }
}

static struct kind of_one_byte(const struct parts *parts)
{
    switch (parts->opcode) {
    case 0xe3: return KIND(JCC, CONDITIONAL);
    case 0xe0:
    case 0xe1:
    case 0xe2: return KIND(LOOP, CONDITIONAL);
    case 0xe8: return KIND(CALL, UNCONDITIONAL);
    case 0xe9:
    case 0xeb: return KIND(JMP, UNCONDITIONAL);
    case 0x9a: return KIND(CALL, INDIRECT);
    case 0xea: return KIND(JMP, INDIRECT);
    case 0xc2:
    case 0xc3:
    case 0xca:
    case 0xcb: return KIND(RET, INDIRECT);
    case 0xcc:
    case 0xcd:
    case 0xce: return KIND(INT, INDIRECT);
    case 0xcf: return KIND(IRET, INDIRECT);
    case 0xff: return of_group_5(parts->modrm);
    default: break;
    }
    return parts->opcode >> 4 == 7 ? KIND(JCC, CONDITIONAL) : KIND(OTHER, NONE);
}

static struct kind of_two_byte(const struct parts *parts)
{
    switch (parts->opcode) {
    case 0x01: /* VMLAUNCH, VMRESUME */
        return parts->modrm == 0xc2 || parts->modrm == 0xc3 ? KIND(VMENTRY, INDIRECT)
                                                            : KIND(OTHER, NONE);
    case 0x05:
    case 0x34: return KIND(SYSCALL, INDIRECT);
    case 0x07:
    case 0x35: return KIND(SYSRET, INDIRECT);
    default: break;
    }
    return parts->opcode >> 4 == 8 ? KIND(JCC, CONDITIONAL) : KIND(OTHER, NONE);
}

/* ---- */

static unsigned zydis_length(const struct parts *parts)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;

    ZydisDecoderInit(
        &decoder, parts->is_64_bit ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
        parts->is_64_bit ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
    bool ok = ZYAN_SUCCESS(
        ZydisDecoderDecodeInstruction(&decoder, NULL, parts->bytes, parts->size, &insn));
    return ok ? insn.length : 0;
}

static char operand_of(const struct parts *parts)
{
    if (parts->map == ONE_BYTE)
        return one_byte[parts->opcode];
    unsigned prefix = parts->last_prefix == 0x66   ? 1
                      : parts->last_prefix == 0xf3 ? 2
                      : parts->last_prefix == 0xf2 ? 3
                                                   : 0;
    return insn_tables[parts->map - TWO_BYTE][prefix][parts->opcode];
}

bool pd_insn_decode(const uint8_t *bytes, size_t size, bool is_64_bit, struct pd_insn *out)
{
    struct parts parts = { .bytes = bytes,
                           .size = PD_MIN(size, (size_t)PD_INSN_MAX),
                           .is_64_bit = is_64_bit,
                           .operand_size = 4,
                           .address_size = is_64_bit ? 8 : 4 };

    take_prefixes(&parts);
    if (!take_opcode(&parts))
        return false;
    *out = (struct pd_insn){ 0 };
    if (parts.map == VECTOR) {
        out->length = (uint8_t)zydis_length(&parts);
        return out->length > 0;
    }
    char operand = operand_of(&parts);
    if (!take_operands(&parts, operand))
        return false;
    struct kind kind = parts.map == ONE_BYTE   ? of_one_byte(&parts)
                       : parts.map == TWO_BYTE ? of_two_byte(&parts)
                                               : KIND(OTHER, NONE);
    out->op = kind.op;
    out->branch = kind.branch;
    out->length = (uint8_t)parts.at;
    if (operand == NOTHING && parts.map != ONE_BYTE) { /* newer than perf 6.1, if it is anything */
        unsigned length = zydis_length(&parts);
        out->length = length ? (uint8_t)length : out->length;
    }
    if (kind.branch == PD_BRANCH_CONDITIONAL || kind.branch == PD_BRANCH_UNCONDITIONAL)
        out->rel = (int32_t)parts.immediate;
    return true;
}
