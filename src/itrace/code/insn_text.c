/* SPDX-License-Identifier: MIT */
/* Instructions in the AT&T style of Intel's xed, as `perf script --xed` shows them: a suffix says
 * how large what is read or written in memory is, with two blanks behind; instructions of registers
 * only have none and one blank. */
#include "itrace/code/insn.h"
#include <Zydis/Zydis.h>

struct writer {
    const ZydisDecodedInstruction *insn;
    const ZydisDecodedOperand *operands;
    uint64_t ip;
    struct pd_text *text;
};

/* The first that is in memory, the stack of a call or push included; NULL: none. */
static const ZydisDecodedOperand *memory_of(const struct writer *writer)
{
    for (unsigned i = 0; i < writer->insn->operand_count; i++)
        if (writer->operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return &writer->operands[i];
    return NULL;
}

static char suffix_of(const struct writer *writer, const ZydisDecodedOperand *memory)
{
    unsigned bits = memory->mem.type == ZYDIS_MEMOP_TYPE_AGEN ? writer->insn->operand_width
                                                              : memory->size;
    switch (bits) {
    case 8: return 'b';
    case 16: return 'w';
    case 32: return 'l';
    case 64: return 'q';
    case 80: return 't';
    case 128: return 'x';
    case 256: return 'y';
    case 512: return 'z';
    default: return '\0';
    }
}

static void put_prefixes(const struct writer *writer)
{
    static const struct {
        ZydisInstructionAttributes attribute;
        const char *text;
    } prefixes[] = {
        { ZYDIS_ATTRIB_HAS_XACQUIRE, "xacquire " }, { ZYDIS_ATTRIB_HAS_XRELEASE, "xrelease " },
        { ZYDIS_ATTRIB_HAS_LOCK, "lock " },         { ZYDIS_ATTRIB_HAS_REP, "rep " },
        { ZYDIS_ATTRIB_HAS_REPE, "rep " },          { ZYDIS_ATTRIB_HAS_REPNE, "repne " },
        { ZYDIS_ATTRIB_HAS_BND, "bnd " },           { ZYDIS_ATTRIB_HAS_NOTRACK, "notrack " },
    };
    for (size_t i = 0; i < PD_LENGTH(prefixes); i++)
        if (writer->insn->attributes & prefixes[i].attribute)
            pd_text_string(writer->text, prefixes[i].text);
    bool plain_nop = writer->insn->mnemonic == ZYDIS_MNEMONIC_NOP && writer->insn->opcode == 0x90;
    if (plain_nop && writer->insn->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE)
        pd_text_string(writer->text, "data16 ");
}

static void put_mnemonic(const struct writer *writer, bool operands)
{
    const ZydisDecodedOperand *memory = memory_of(writer);
    char suffix = memory ? suffix_of(writer, memory) : '\0';

    put_prefixes(writer);
    pd_text_string(writer->text, ZydisMnemonicGetString(writer->insn->mnemonic));
    if (suffix)
        pd_text_char(writer->text, suffix);
    if (operands)
        pd_text_string(writer->text, suffix ? "  " : " ");
}

static void put_register(const struct writer *writer, ZydisRegister which)
{
    pd_text_char(writer->text, '%');
    pd_text_string(writer->text, ZydisRegisterGetString(which));
}

static void put_hex(const struct writer *writer, uint64_t value)
{
    pd_text_string(writer->text, "0x");
    pd_text_hex(writer->text, value, 0, ' ');
}

static void put_memory(const struct writer *writer, const ZydisDecodedOperand *operand)
{
    ZydisRegister base = operand->mem.base, index = operand->mem.index;
    bool has_index = index != ZYDIS_REGISTER_NONE && operand->mem.type != ZYDIS_MEMOP_TYPE_MIB;
    int64_t offset = operand->mem.disp.value;

    if (writer->insn->attributes & ZYDIS_ATTRIB_HAS_SEGMENT &&
        operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN) {
        put_register(writer, operand->mem.segment);
        pd_text_char(writer->text, ':');
    }
    bool placed = base != ZYDIS_REGISTER_NONE || has_index;
    if (offset < 0 && placed)
        pd_text_char(writer->text, '-');
    if (offset || !placed)
        put_hex(writer, offset < 0 && placed ? 0 - (uint64_t)offset : (uint64_t)offset);
    if (!placed)
        return;
    pd_text_char(writer->text, '(');
    if (base != ZYDIS_REGISTER_NONE)
        put_register(writer, base);
    if (has_index) {
        pd_text_char(writer->text, ',');
        put_register(writer, index);
        pd_text_format(writer->text, ",%u", operand->mem.scale ? operand->mem.scale : 1u);
    }
    pd_text_char(writer->text, ')');
}

/* As wide as the operation, sign and all. */
static void put_immediate(const struct writer *writer, const ZydisDecodedOperand *operand)
{
    uint64_t value = operand->imm.value.u;
    unsigned width = operand->imm.is_signed ? writer->insn->operand_width : operand->size;

    if (operand->imm.is_relative) {
        ZyanU64 target;
        if (ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(writer->insn, operand, writer->ip, &target)))
            put_hex(writer, target);
        return;
    }
    if (width && width < 64)
        value &= (UINT64_C(1) << width) - 1;
    pd_text_char(writer->text, '$');
    put_hex(writer, value);
}

static void put_operand(const struct writer *writer, const ZydisDecodedOperand *operand)
{
    switch (operand->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER: put_register(writer, operand->reg.value); break;
    case ZYDIS_OPERAND_TYPE_MEMORY: put_memory(writer, operand); break;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE: put_immediate(writer, operand); break;
    case ZYDIS_OPERAND_TYPE_POINTER:
        pd_text_format(writer->text, "$0x%x, $0x%x", operand->ptr.segment, operand->ptr.offset);
        break;
    case ZYDIS_OPERAND_TYPE_UNUSED: break;
    }
}

/* "{%k1}{z}" behind the destination. */
static void put_mask(const struct writer *writer)
{
    if (!writer->insn->avx.mask.reg || writer->insn->avx.mask.reg == ZYDIS_REGISTER_K0)
        return;
    pd_text_char(writer->text, '{');
    put_register(writer, writer->insn->avx.mask.reg);
    pd_text_char(writer->text, '}');
    if (writer->insn->avx.mask.mode == ZYDIS_MASK_MODE_ZEROING ||
        writer->insn->avx.mask.mode == ZYDIS_MASK_MODE_CONTROL_ZEROING)
        pd_text_string(writer->text, "{z}");
}

static bool is_shown(const struct writer *writer, unsigned index)
{
    const ZydisDecodedOperand *operand = &writer->operands[index];
    bool is_mask = operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
                   operand->encoding == ZYDIS_OPERAND_ENCODING_MASK;

    return operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && !is_mask;
}

static void put_operands(const struct writer *writer)
{
    bool first = true;

    for (unsigned i = writer->insn->operand_count; i-- > 0;) {
        if (!is_shown(writer, i))
            continue;
        if (!first)
            pd_text_string(writer->text, ", ");
        first = false;
        put_operand(writer, &writer->operands[i]);
        if (i == 0)
            put_mask(writer);
    }
}

bool pd_insn_text(const uint8_t *bytes, size_t size, bool is_64_bit, uint64_t ip,
                  struct pd_text *text)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct writer writer = { &insn, operands, ip, text };
    bool shown = false;

    ZydisDecoderInit(&decoder,
                     is_64_bit ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
                     is_64_bit ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    if (ZYAN_FAILED(ZydisDecoderDecodeFull(&decoder, bytes, size, &insn, operands)))
        return false;
    for (unsigned i = 0; i < insn.operand_count; i++)
        shown |= is_shown(&writer, i);
    put_mnemonic(&writer, shown);
    put_operands(&writer);
    return true;
}
