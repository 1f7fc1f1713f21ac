/* SPDX-License-Identifier: MIT */
/* An x86 instruction as objdump writes it, taken apart as far as perf's browser shows it in another
 * way. */
#ifndef PD_INSTRUCTION_H
#define PD_INSTRUCTION_H
#include "base/text.h"

enum pd_instruction_kind {
    PD_INSTRUCTION_OTHER,
    PD_INSTRUCTION_JUMP,
    PD_INSTRUCTION_CALL,
    PD_INSTRUCTION_RETURN,
    PD_INSTRUCTION_MOVE, /* two operands, either of which may be a name */
    PD_INSTRUCTION_STEP, /* one operand */
    PD_INSTRUCTION_NOP,
    PD_INSTRUCTION_LOCK /* a prefix: another instruction stands behind it */
};

/* Its pointers lead into the text that was parsed. */
struct pd_instruction {
    enum pd_instruction_kind kind;
    const char *name, *operands;
    size_t name_length;
    uint64_t target; /* of jumps and calls; 0: not known */
};

struct pd_instruction pd_instruction_parse(const char *text);

/* What operands are shown with. */
struct pd_instruction_frame {
    size_t name_width;
    uint64_t start, end; /* of the function; a jump to `end` is one within it */
    /* The name of the function at an address, NULL: none. */
    const char *(*symbol)(const void *data, uint64_t address);
    const void *data;
};

PD_INLINE bool pd_instruction_is_outside(const struct pd_instruction *instruction,
                                         const struct pd_instruction_frame *frame)
{
    return instruction->target < frame->start || instruction->target > frame->end;
}

void pd_instruction_put(const struct pd_instruction *instruction,
                        const struct pd_instruction_frame *frame, struct pd_text *out);
/* The same, but with the operands as objdump wrote them. */
void pd_instruction_put_raw(const struct pd_instruction *instruction, size_t name_width,
                            struct pd_text *out);

#endif
