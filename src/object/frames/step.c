/* SPDX-License-Identifier: MIT */
/* One step from a frame to its caller: libdw finds the rules, their expressions are evaluated
 * here. */
#include "object/frames/table.h"
#include <dwarf.h>
#include <stdlib.h>

enum { DEPTH = 32 };

struct machine {
    const struct pd_unwind *frame;
    uint64_t cfa;
    uint64_t stack[DEPTH];
    unsigned depth;
    bool is_value; /* the result is the value itself, not where it lies */
};

static bool push(struct machine *m, uint64_t value)
{
    if (m->depth == DEPTH)
        return false;
    m->stack[m->depth++] = value;
    return true;
}

static bool push_register(struct machine *m, uint64_t number, uint64_t offset)
{
    const struct pd_unwind *frame = m->frame;
    return number < PD_UNWIND_REGISTERS && frame->known >> number & 1 &&
           push(m, frame->registers[number] + offset);
}

/* Takes two, gives one. */
static bool combine(struct machine *m, uint8_t operation)
{
    if (m->depth < 2)
        return false;
    uint64_t b = m->stack[--m->depth], *a = &m->stack[m->depth - 1];
    switch (operation) {
    case DW_OP_and: *a &= b; return true;
    case DW_OP_or: *a |= b; return true;
    case DW_OP_xor: *a ^= b; return true;
    case DW_OP_plus: *a += b; return true;
    case DW_OP_minus: *a -= b; return true;
    case DW_OP_mul: *a *= b; return true;
    case DW_OP_shl: *a = b < 64 ? *a << b : 0; return true;
    case DW_OP_shr: *a = b < 64 ? *a >> b : 0; return true;
    case DW_OP_eq: *a = *a == b; return true;
    case DW_OP_ne: *a = *a != b; return true;
    case DW_OP_ge: *a = (int64_t)*a >= (int64_t)b; return true;
    case DW_OP_gt: *a = (int64_t)*a > (int64_t)b; return true;
    case DW_OP_le: *a = (int64_t)*a <= (int64_t)b; return true;
    case DW_OP_lt: *a = (int64_t)*a < (int64_t)b; return true;
    default: return false;
    }
}

static bool change_top(struct machine *m, const Dwarf_Op *op)
{
    if (!m->depth)
        return false;
    uint64_t *top = &m->stack[m->depth - 1];
    switch (op->atom) {
    case DW_OP_plus_uconst: *top += op->number; return true;
    case DW_OP_neg: *top = -*top; return true;
    case DW_OP_not: *top = ~*top; return true;
    case DW_OP_dup: return push(m, *top);
    case DW_OP_drop: m->depth--; return true;
    case DW_OP_deref: return m->frame->read(m->frame->data, *top, top);
    default: return combine(m, op->atom);
    }
}

static bool operate(struct machine *m, const Dwarf_Op *op)
{
    if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
        return push(m, op->atom - DW_OP_lit0);
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
        return push_register(m, op->atom - DW_OP_breg0, op->number);
    if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
        m->is_value = true;
        return push_register(m, op->atom - DW_OP_reg0, 0);
    }
    switch (op->atom) {
    case DW_OP_nop: return true;
    case DW_OP_addr:
    case DW_OP_const1u:
    case DW_OP_const1s:
    case DW_OP_const2u:
    case DW_OP_const2s:
    case DW_OP_const4u:
    case DW_OP_const4s:
    case DW_OP_const8u:
    case DW_OP_const8s:
    case DW_OP_constu:
    case DW_OP_consts: return push(m, op->number);
    case DW_OP_bregx: return push_register(m, op->number, op->number2);
    case DW_OP_regx: m->is_value = true; return push_register(m, op->number, 0);
    case DW_OP_call_frame_cfa: return push(m, m->cfa);
    case DW_OP_stack_value: m->is_value = true; return true;
    default: return change_top(m, op);
    }
}

static bool evaluate(struct machine *m, const Dwarf_Op *ops, size_t count)
{
    m->depth = 0;
    m->is_value = false;
    for (size_t i = 0; i < count; i++)
        if (!operate(m, &ops[i]))
            return false;
    return m->depth != 0;
}

enum rule { KEPT, GONE, FOUND, UNREADABLE };

static enum rule value_of(struct machine *m, Dwarf_Frame *rules, int number, uint64_t *value)
{
    Dwarf_Op space[3], *ops = space;
    size_t count = 0;
    if (dwarf_frame_register(rules, number, space, &ops, &count))
        return UNREADABLE;
    if (!count)
        return ops ? GONE : KEPT;
    if (!evaluate(m, ops, count))
        return UNREADABLE;
    *value = m->stack[m->depth - 1];
    return m->is_value || m->frame->read(m->frame->data, *value, value) ? FOUND : UNREADABLE;
}

static enum pd_unwind_result apply(Dwarf_Frame *rules, int return_register, struct pd_unwind *frame)
{
    struct pd_unwind now = *frame;
    struct machine m = { .frame = &now };
    Dwarf_Op *ops;
    size_t count;
    if (dwarf_frame_cfa(rules, &ops, &count) || !evaluate(&m, ops, count))
        return PD_UNWIND_NO_RULES;
    m.cfa = m.stack[m.depth - 1];
    uint64_t value = 0;
    for (int i = 0; i < PD_UNWIND_REGISTERS; i++) {
        enum rule rule = value_of(&m, rules, i, &value);
        if (rule == FOUND) {
            frame->registers[i] = value;
            frame->known |= UINT64_C(1) << i;
        } else if (rule == UNREADABLE) {
            frame->known &= ~(UINT64_C(1) << i);
        }
    }
    frame->cfa = m.cfa;
    frame->registers[frame->stack_pointer] = m.cfa;
    frame->known |= UINT64_C(1) << frame->stack_pointer;
    switch (value_of(&m, rules, return_register, &value)) {
    case GONE: return PD_UNWIND_END;
    case FOUND: frame->ip = value; return PD_UNWIND_STEPPED;
    case KEPT:
        if (return_register < PD_UNWIND_REGISTERS && now.known >> return_register & 1) {
            frame->ip = now.registers[return_register];
            return PD_UNWIND_STEPPED;
        }
        break;
    case UNREADABLE: break;
    }
    return PD_UNWIND_LOST;
}

enum pd_unwind_result pd_frame_rules_step(struct pd_frame_rules *rules, uint64_t address,
                                          struct pd_unwind *frame, bool *is_signal)
{
    Dwarf_Frame *found = NULL;
    enum pd_unwind_result result = PD_UNWIND_NO_RULES;
    *is_signal = false;
    if (!rules->table)
        return PD_UNWIND_NO_TABLE;
    pthread_mutex_lock(&rules->lock);
    if (!dwarf_cfi_addrframe(rules->table, address, &found)) {
        int return_register = dwarf_frame_info(found, NULL, NULL, is_signal);
        if (return_register >= 0)
            result = apply(found, return_register, frame);
        free(found);
    }
    pthread_mutex_unlock(&rules->lock);
    return result;
}
