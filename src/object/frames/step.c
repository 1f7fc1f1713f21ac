/* SPDX-License-Identifier: MIT */
/* One step from a frame to its caller: the registers by their rules, expressions evaluated. */
#include "object/frames/table.h"
#include <dwarf.h>

enum { DEPTH = 32, OPERATIONS_MAX = 1000, ADDRESS_BITS = 48 /* of user space; arm64's */ };

struct machine {
    const struct pd_unwind *frame;
    uint64_t cfa;
    uint64_t stack[DEPTH];
    unsigned depth;
    bool is_value; /* the result is the value itself, not where it lies */
    const uint8_t *begin;
    struct pd_frame_bytes bytes;
};

static bool push(struct machine *m, uint64_t value)
{
    if (m->depth == DEPTH)
        return false;
    m->stack[m->depth++] = value;
    return true;
}

static bool register_of(const struct pd_unwind *frame, uint64_t number, uint64_t *value)
{
    if (number >= PD_UNWIND_REGISTERS || !(frame->known >> number & 1))
        return false;
    *value = frame->registers[number];
    return true;
}

static bool push_register(struct machine *m, uint64_t number, uint64_t offset)
{
    uint64_t value;
    return register_of(m->frame, number, &value) && push(m, value + offset);
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
    case DW_OP_shra: *a = (uint64_t)((int64_t)*a >> PD_MIN(b, UINT64_C(63))); return true;
    case DW_OP_eq: *a = *a == b; return true;
    case DW_OP_ne: *a = *a != b; return true;
    case DW_OP_ge: *a = (int64_t)*a >= (int64_t)b; return true;
    case DW_OP_gt: *a = (int64_t)*a > (int64_t)b; return true;
    case DW_OP_le: *a = (int64_t)*a <= (int64_t)b; return true;
    case DW_OP_lt: *a = (int64_t)*a < (int64_t)b; return true;
    default: return false;
    }
}

static bool push_from_top(struct machine *m, uint64_t at)
{
    return at < m->depth && push(m, m->stack[m->depth - 1 - at]);
}

static bool change_top(struct machine *m, uint8_t operation)
{
    if (!m->depth)
        return false;
    uint64_t *top = &m->stack[m->depth - 1], second = m->depth > 1 ? top[-1] : 0;
    switch (operation) {
    case DW_OP_plus_uconst: *top += pd_frame_uleb(&m->bytes); return true;
    case DW_OP_neg: *top = -*top; return true;
    case DW_OP_not: *top = ~*top; return true;
    case DW_OP_abs: *top = (int64_t)*top < 0 ? -*top : *top; return true;
    case DW_OP_drop: m->depth--; return true;
    case DW_OP_deref: return pd_unwind_read(m->frame, *top, top);
    case DW_OP_swap:
        if (m->depth < 2)
            return false;
        top[-1] = *top;
        *top = second;
        return true;
    default: return combine(m, operation);
    }
}

/* Within the expression. */
static bool jump(struct machine *m, bool taken)
{
    int64_t by = pd_frame_signed(&m->bytes, 2);
    if (taken && (by < m->begin - m->bytes.at || by > m->bytes.end - m->bytes.at))
        return false;
    m->bytes.at += taken ? by : 0;
    return true;
}

static bool operate_more(struct machine *m, uint8_t operation)
{
    struct pd_frame_bytes *bytes = &m->bytes;
    uint64_t number;
    switch (operation) {
    case DW_OP_const1u: return push(m, pd_frame_number(bytes, 1));
    case DW_OP_const1s: return push(m, (uint64_t)pd_frame_signed(bytes, 1));
    case DW_OP_const2u: return push(m, pd_frame_number(bytes, 2));
    case DW_OP_const2s: return push(m, (uint64_t)pd_frame_signed(bytes, 2));
    case DW_OP_const4u: return push(m, pd_frame_number(bytes, 4));
    case DW_OP_const4s: return push(m, (uint64_t)pd_frame_signed(bytes, 4));
    case DW_OP_const8u:
    case DW_OP_const8s: return push(m, pd_frame_number(bytes, 8));
    case DW_OP_constu: return push(m, pd_frame_uleb(bytes));
    case DW_OP_consts: return push(m, (uint64_t)pd_frame_sleb(bytes));
    case DW_OP_bregx:
        number = pd_frame_uleb(bytes);
        return push_register(m, number, (uint64_t)pd_frame_sleb(bytes));
    case DW_OP_regx: m->is_value = true; return push_register(m, pd_frame_uleb(bytes), 0);
    case DW_OP_dup: return push_from_top(m, 0);
    case DW_OP_over: return push_from_top(m, 1);
    case DW_OP_pick: return push_from_top(m, pd_frame_number(bytes, 1));
    case DW_OP_skip: return jump(m, true);
    case DW_OP_bra:
        if (!m->depth)
            return false;
        return jump(m, m->stack[--m->depth] != 0);
    case DW_OP_call_frame_cfa: return push(m, m->cfa);
    case DW_OP_stack_value: m->is_value = true; return true;
    case DW_OP_nop: return true;
    default: return change_top(m, operation);
    }
}

static bool operate(struct machine *m)
{
    uint8_t operation = (uint8_t)pd_frame_number(&m->bytes, 1);
    if (operation >= DW_OP_lit0 && operation <= DW_OP_lit31)
        return push(m, operation - DW_OP_lit0);
    if (operation >= DW_OP_breg0 && operation <= DW_OP_breg31)
        return push_register(m, operation - DW_OP_breg0, (uint64_t)pd_frame_sleb(&m->bytes));
    if (operation >= DW_OP_reg0 && operation <= DW_OP_reg31) {
        m->is_value = true;
        return push_register(m, operation - DW_OP_reg0, 0);
    }
    return operate_more(m, operation);
}

/* The result is on top of the stack, which begins with what is on it. */
static bool evaluate(struct machine *m, const struct pd_frame_step *step,
                     const struct pd_rule *rule)
{
    m->is_value = false;
    m->begin = rule->to.expression;
    m->bytes = (struct pd_frame_bytes){ m->begin, m->begin + rule->size, step->swap, false };
    for (unsigned i = 0; m->bytes.at < m->bytes.end; i++)
        if (i == OPERATIONS_MAX || !operate(m) || m->bytes.missing)
            return false;
    return m->depth != 0;
}

static PD_NOINLINE bool by_expression(struct machine *m, const struct pd_frame_step *step,
                                      const struct pd_rule *rule, uint64_t *value)
{
    m->depth = 1;
    m->stack[0] = m->cfa;
    if (!evaluate(m, step, rule))
        return false;
    *value = m->stack[m->depth - 1];
    return rule->kind == PD_RULE_VALUE || m->is_value || pd_unwind_read(m->frame, *value, value);
}

/* The value of a register, by the rule that says where it is. */
PD_INLINE bool value_of(struct machine *m, const struct pd_frame_step *step,
                        const struct pd_rule *rule, uint64_t *value)
{
    switch (rule->kind) {
    case PD_RULE_AT: return pd_unwind_read(m->frame, m->cfa + (uint64_t)rule->to.offset, value);
    case PD_RULE_SUM: *value = m->cfa + (uint64_t)rule->to.offset; return true;
    case PD_RULE_REGISTER: return register_of(m->frame, rule->other, value);
    default: return by_expression(m, step, rule, value);
    }
}

static bool find_cfa(struct machine *m, const struct pd_frame_step *step)
{
    const struct pd_rule *rule = &step->cfa;
    if (PD_LIKELY(rule->kind == PD_RULE_SUM)) {
        bool known = register_of(m->frame, rule->other, &m->cfa);
        m->cfa += (uint64_t)rule->to.offset;
        return known;
    }
    m->depth = 0;
    if (rule->kind != PD_RULE_VALUE || !evaluate(m, step, rule))
        return false;
    m->cfa = m->stack[m->depth - 1];
    return true;
}

/* Where the caller goes on. The registers are those before the step. */
static enum pd_unwind_result return_address(struct machine *m, const struct pd_frame_step *step,
                                            uint64_t *ip)
{
    bool known;
    switch (step->back.kind) {
    case PD_RULE_GONE: return PD_UNWIND_END;
    case PD_RULE_KEPT: known = register_of(m->frame, step->back.about, ip); break;
    default: known = value_of(m, step, &step->back, ip); break;
    }
    if (known && step->is_signed)
        *ip &= (UINT64_C(1) << ADDRESS_BITS) - 1;
    return known ? PD_UNWIND_STEPPED : PD_UNWIND_LOST;
}

/* All from the copy of the stack, whose bounds are asked once. False: it does not hold all. */
PD_INLINE bool take_plain(const struct pd_frame_step *step, struct pd_unwind *frame, uint64_t cfa)
{
    const uint64_t size = frame->stack_end - frame->stack_start, word = 8;
    const uint64_t first = cfa + (uint64_t)step->least - frame->stack_start;
    if (size <= word || first >= size - word ||
        (uint64_t)(step->greatest - step->least) >= size - word - first)
        return false;
    const uint8_t *bytes = frame->stack + first;
    for (size_t i = 0; i < step->count; i++) {
        const struct pd_rule *rule = &step->saved[i];
        frame->registers[rule->about] = pd_load64(bytes + (rule->to.offset - step->least),
                                                  frame->swap);
    }
    frame->ip = pd_load64(bytes + (step->back.to.offset - step->least), frame->swap);
    frame->known |= step->mask | UINT64_C(1) << frame->stack_pointer;
    frame->cfa = frame->registers[frame->stack_pointer] = cfa;
    return true;
}

enum pd_unwind_result pd_frame_step_take(const struct pd_frame_step *step, struct pd_unwind *frame)
{
    struct machine m;
    if (step->fails)
        return step->fails;
    m.frame = frame;
    m.cfa = 0;
    if (!find_cfa(&m, step))
        return PD_UNWIND_NO_RULES;
    if (PD_LIKELY(step->is_plain) && PD_LIKELY(take_plain(step, frame, m.cfa)))
        return PD_UNWIND_STEPPED;
    uint64_t values[PD_UNWIND_REGISTERS], ip = 0, found = 0;
    for (size_t i = 0; i < step->count; i++)
        found |= (uint64_t)value_of(&m, step, &step->saved[i], &values[i]) << i;
    enum pd_unwind_result result = return_address(&m, step, &ip);
    for (size_t i = 0; i < step->count; i++) {
        unsigned about = step->saved[i].about;
        frame->known &= ~(UINT64_C(1) << about);
        if (!(found >> i & 1))
            continue;
        frame->registers[about] = values[i];
        frame->known |= UINT64_C(1) << about;
    }
    frame->cfa = m.cfa;
    frame->registers[frame->stack_pointer] = m.cfa;
    frame->known |= UINT64_C(1) << frame->stack_pointer;
    if (result == PD_UNWIND_STEPPED)
        frame->ip = ip;
    return result;
}

bool pd_frame_step_is_signal(const struct pd_frame_step *step)
{
    return step->is_signal;
}
