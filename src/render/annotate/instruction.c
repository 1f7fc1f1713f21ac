/* SPDX-License-Identifier: MIT */
/* x86 instructions with names in place of addresses. */
#include "render/annotate/instruction.h"
#include <ctype.h>
#include <stdlib.h>

static const struct row {
    const char *name;
    enum pd_instruction_kind kind;
} rows[] = {
/* by name */
#define INSTRUCTION(name, kind) { name, PD_INSTRUCTION_##kind },
#include "render/annotate/instructions.def"
};

static enum pd_instruction_kind kind_of(const char *name, size_t length)
{
    size_t low = 0, high = PD_LENGTH(rows);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strncmp(name, rows[middle].name, length);
        if (!order)
            order = rows[middle].name[length] ? -1 : 0;
        if (!order)
            return rows[middle].kind;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return PD_INSTRUCTION_OTHER;
}

/* Where a call leads: directly, or through memory at a fixed address. */
static uint64_t call_target(const char *operands)
{
    if (*operands != '*' || strchr(operands, '<') || strstr(operands, "(%r"))
        return strtoull(operands, NULL, 16);
    return strtoull(operands + 1, NULL, 16);
}

static const char *skip_blanks(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

struct pd_instruction pd_instruction_parse(const char *text)
{
    struct pd_instruction made = { .name = skip_blanks(text) };
    while (made.name[made.name_length] && !isspace((unsigned char)made.name[made.name_length]))
        made.name_length++;
    made.operands = skip_blanks(made.name + made.name_length);
    made.kind = kind_of(made.name, made.name_length);
    if (made.kind == PD_INSTRUCTION_JUMP)
        made.target = strtoull(made.operands, NULL, 16);
    else if (made.kind == PD_INSTRUCTION_CALL)
        made.target = call_target(made.operands);
    return made;
}

static void put_name(const struct pd_instruction *instruction, size_t width, struct pd_text *out)
{
    pd_text_left(out, instruction->name, instruction->name_length, width);
    pd_text_char(out, ' ');
}

void pd_instruction_put_raw(const struct pd_instruction *instruction, size_t name_width,
                            struct pd_text *out)
{
    put_name(instruction, name_width, out);
    pd_text_string(out, instruction->operands);
}

/* Puts the name that a comment "# ADDRESS <NAME>" gives to an operand relative to the instruction;
 * false: there is none. */
static bool put_named(const char *operand, size_t length, const char *comment, struct pd_text *out)
{
    static const char relative[] = "(%rip)";
    bool is_relative = false;
    for (size_t i = 0; i + sizeof relative - 1 <= length; i++)
        is_relative |= !memcmp(operand + i, relative, sizeof relative - 1);
    const char *name = is_relative && comment ? strchr(comment, '<') : NULL;
    const char *end = name ? strchr(name, '>') : NULL;
    if (end)
        pd_text_bytes(out, name + 1, (size_t)(end - name - 1));
    return end != NULL;
}

static void put_operand(const char *operand, size_t length, const char *comment,
                        struct pd_text *out)
{
    while (length && isspace((unsigned char)operand[length - 1]))
        length--;
    if (!put_named(operand, length, comment, out))
        pd_text_bytes(out, operand, length);
}

/* "SOURCE,TARGET # COMMENT" */
static void put_move(const char *operands, struct pd_text *out)
{
    const char *comma = strchr(operands, ',');
    if (!comma) {
        pd_text_string(out, operands);
        return;
    }
    const char *comment = strchr(comma, '#');
    put_operand(operands, (size_t)(comma - operands), comment, out);
    pd_text_char(out, ',');
    put_operand(comma + 1, comment ? (size_t)(comment - comma - 1) : strlen(comma + 1), comment,
                out);
}

static void put_step(const char *operands, struct pd_text *out)
{
    size_t length = strcspn(operands, " \t");
    put_operand(operands, length, strchr(operands, '#'), out);
}

static void put_call(const struct pd_instruction *instruction,
                     const struct pd_instruction_frame *frame, struct pd_text *out)
{
    const char *name = instruction->target ? frame->symbol(frame->data, instruction->target) : NULL;
    const char *told = strchr(instruction->operands, '<'), *end = told ? strchr(told, '>') : NULL;
    if (!instruction->target)
        pd_text_string(out, instruction->operands);
    else if (name)
        pd_text_string(out, name);
    else if (end)
        pd_text_bytes(out, told + 1, (size_t)(end - told - 1));
    else
        pd_text_format(out, "*%llx", (unsigned long long)instruction->target);
}

static void put_jump(const struct pd_instruction *instruction,
                     const struct pd_instruction_frame *frame, struct pd_text *out)
{
    bool outside = pd_instruction_is_outside(instruction, frame);
    const char *name = outside ? frame->symbol(frame->data, instruction->target) : NULL;
    if (!instruction->target || instruction->target < frame->start)
        pd_text_string(out, instruction->operands);
    else if (name)
        pd_text_string(out, name);
    else
        pd_text_hex(out, instruction->target - frame->start, 0, ' ');
}

static void put_operands(const struct pd_instruction *instruction,
                         const struct pd_instruction_frame *frame, struct pd_text *out)
{
    switch (instruction->kind) {
    case PD_INSTRUCTION_MOVE: put_move(instruction->operands, out); break;
    case PD_INSTRUCTION_STEP: put_step(instruction->operands, out); break;
    case PD_INSTRUCTION_CALL: put_call(instruction, frame, out); break;
    case PD_INSTRUCTION_JUMP: put_jump(instruction, frame, out); break;
    default: pd_text_string(out, instruction->operands); break;
    }
}

void pd_instruction_put(const struct pd_instruction *instruction,
                        const struct pd_instruction_frame *frame, struct pd_text *out)
{
    struct pd_instruction inner;
    if (instruction->kind == PD_INSTRUCTION_NOP) {
        pd_text_left(out, "nop", 3, frame->name_width);
        return;
    }
    put_name(instruction, frame->name_width, out);
    if (instruction->kind != PD_INSTRUCTION_LOCK) {
        put_operands(instruction, frame, out);
        return;
    }
    inner = pd_instruction_parse(instruction->operands);
    if (inner.kind == PD_INSTRUCTION_OTHER) {
        pd_text_string(out, instruction->operands);
        return;
    }
    put_name(&inner, frame->name_width, out);
    put_operands(&inner, frame, out);
}
