/* SPDX-License-Identifier: MIT */
#include "itrace/insn.h"
#include <Zydis/Zydis.h>

struct kind {
    uint8_t op, branch;
};

#define KIND(op, branch) ((struct kind){ PD_INSN_##op, PD_BRANCH_##branch })

/* FF: the middle bits of ModRM say which. */
static struct kind of_group_5(const ZydisDecodedInstruction *insn)
{
    switch (insn->raw.modrm.reg) {
    case 2:
    case 3: return KIND(CALL, INDIRECT);
    case 4:
    case 5: return KIND(JMP, INDIRECT);
    default: return KIND(OTHER, NONE);
    }
}

static struct kind of_one_byte(const ZydisDecodedInstruction *insn)
{
    switch (insn->opcode) {
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
    case 0xff: return of_group_5(insn);
    default: break;
    }
    return insn->opcode >= 0x70 && insn->opcode <= 0x7f ? KIND(JCC, CONDITIONAL)
                                                        : KIND(OTHER, NONE);
}

static struct kind of_two_byte(const ZydisDecodedInstruction *insn)
{
    switch (insn->opcode) {
    case 0x01: { /* VMLAUNCH, VMRESUME */
        bool entry = insn->raw.modrm.mod == 3 && insn->raw.modrm.reg == 0 &&
                     (insn->raw.modrm.rm == 2 || insn->raw.modrm.rm == 3);
        return entry ? KIND(VMENTRY, INDIRECT) : KIND(OTHER, NONE);
    }
    case 0x05:
    case 0x34: return KIND(SYSCALL, INDIRECT);
    case 0x07:
    case 0x35: return KIND(SYSRET, INDIRECT);
    default: break;
    }
    return insn->opcode >= 0x80 && insn->opcode <= 0x8f ? KIND(JCC, CONDITIONAL)
                                                        : KIND(OTHER, NONE);
}

bool pd_insn_decode(const uint8_t *bytes, size_t size, bool is_64_bit, struct pd_insn *out)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction insn;

    ZydisDecoderInit(&decoder,
                     is_64_bit ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LONG_COMPAT_32,
                     is_64_bit ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32);
    ZydisDecoderEnableMode(&decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE);
    if (ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &insn)))
        return false;
    struct kind kind = KIND(OTHER, NONE);
    if (insn.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY) {
        if (insn.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
            kind = of_one_byte(&insn);
        else if (insn.opcode_map == ZYDIS_OPCODE_MAP_0F)
            kind = of_two_byte(&insn);
    }
    bool direct = kind.branch == PD_BRANCH_CONDITIONAL || kind.branch == PD_BRANCH_UNCONDITIONAL;
    *out = (struct pd_insn){ .op = kind.op,
                             .branch = kind.branch,
                             .length = insn.length,
                             .rel = direct ? (int32_t)insn.raw.imm[0].value.s : 0 };
    return true;
}
