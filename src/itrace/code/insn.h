/* SPDX-License-Identifier: MIT */
/* One x86 instruction: how long it is and what kind of branch, as a walk through a trace needs to
 * know. VEX, EVEX and XOP encodings are never branches. */
#ifndef PD_ITRACE_INSN_H
#define PD_ITRACE_INSN_H
#include "base/text.h"

enum {
    PD_INSN_MAX = 15,
    PD_INSN_BUFFER = 16 /* so many bytes are read where an instruction is expected */
};

enum pd_insn_op {
    PD_INSN_OTHER,
    PD_INSN_CALL,
    PD_INSN_RET,
    PD_INSN_JCC,
    PD_INSN_JMP,
    PD_INSN_LOOP,
    PD_INSN_IRET,
    PD_INSN_INT,
    PD_INSN_SYSCALL,
    PD_INSN_SYSRET,
    PD_INSN_VMENTRY
};

enum pd_insn_branch {
    PD_BRANCH_NONE,
    PD_BRANCH_CONDITIONAL,
    PD_BRANCH_UNCONDITIONAL, /* direct */
    PD_BRANCH_INDIRECT
};

struct pd_insn {
    uint8_t op, branch; /* enum pd_insn_op, enum pd_insn_branch */
    uint8_t length;
    int32_t rel; /* of a direct or conditional branch: to its target, from the next instruction */
};

/* False: no instruction, or `size` bytes do not hold it whole. */
bool pd_insn_decode(const uint8_t *bytes, size_t size, bool is_64_bit, struct pd_insn *out);

/* Appends the instruction as xed prints it ("movl %eax, -0x14(%rbp)"), without a newline. False:
 * nothing appended, it is no instruction. */
bool pd_insn_text(const uint8_t *bytes, size_t size, bool is_64_bit, uint64_t ip,
                  struct pd_text *text);

#endif
