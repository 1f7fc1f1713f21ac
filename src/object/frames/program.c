/* SPDX-License-Identifier: MIT */
/* A function's program of call frame instructions -> the step that holds at an address. */
#include "object/frames/table.h"
#include <dwarf.h>
#include <elf.h>

enum {
    DEPTH = 32,                         /* of remembered states */
    INSTRUCTIONS_MAX = 1 << 20,         /* functions have some hundreds */
    NEGATE_RETURN_ADDRESS_STATE = 0x2d, /* arm64's; SPARC's windows have the same number */
};

struct frame_state {
    struct pd_rule cfa;
    struct pd_rule registers[PD_UNWIND_REGISTERS];
    struct pd_rule back; /* where the return address is in none of those */
    bool is_signed;
};

struct run {
    const struct pd_frame_common *common;
    struct pd_frame_bytes bytes;
    uint64_t at, target; /* addresses: of the state, and the one that is asked for */
    bool is_arm64;
    struct frame_state now, initial;
    struct frame_state *remembered; /* DEPTH of them */
    unsigned depth;
};

enum outcome { GO_ON, REACHED, DAMAGED };

/* NULL: nobody asks for that register. */
static struct pd_rule *rule_of(struct run *run, uint64_t number)
{
    if (number < PD_UNWIND_REGISTERS)
        return &run->now.registers[number];
    return number == run->common->back ? &run->now.back : NULL;
}

static void set(struct run *run, uint64_t number, enum pd_rule_kind kind, int64_t offset)
{
    struct pd_rule *rule = rule_of(run, number);
    if (rule)
        *rule = (struct pd_rule){ .kind = (uint8_t)kind, .to.offset = offset };
}

static int64_t scaled(const struct run *run, uint64_t factor)
{
    return (int64_t)(factor * (uint64_t)run->common->data_unit);
}

static enum outcome advance(struct run *run, uint64_t units)
{
    uint64_t to = run->at + units * run->common->code_unit;
    if (run->bytes.missing)
        return DAMAGED;
    if (to > run->target)
        return REACHED;
    run->at = to;
    return GO_ON;
}

static enum outcome set_address(struct run *run)
{
    uint64_t to = pd_frame_number(&run->bytes, run->common->address_size);
    bool is_plain = !run->common->encoding; /* linkers do not write it otherwise */
    if (run->bytes.missing || !is_plain || to < run->at)
        return DAMAGED;
    if (to > run->target)
        return REACHED;
    run->at = to;
    return GO_ON;
}

static void restore(struct run *run, uint64_t number)
{
    struct pd_rule *rule = rule_of(run, number);
    if (rule)
        *rule = number < PD_UNWIND_REGISTERS ? run->initial.registers[number] : run->initial.back;
}

static enum outcome remember(struct run *run)
{
    if (run->depth == DEPTH)
        return DAMAGED;
    if (!run->remembered) {
        run->remembered = pd_memory_noted(malloc(DEPTH * sizeof *run->remembered));
        if (!run->remembered)
            return DAMAGED;
    }
    run->remembered[run->depth++] = run->now;
    return GO_ON;
}

static enum outcome recall(struct run *run)
{
    if (!run->depth)
        return DAMAGED;
    run->now = run->remembered[--run->depth];
    return GO_ON;
}

static void set_cfa(struct run *run, uint64_t number, int64_t offset)
{
    run->now.cfa = (struct pd_rule){ .kind = PD_RULE_SUM,
                                     .other = (uint16_t)PD_MIN(number, (uint64_t)UINT16_MAX),
                                     .to.offset = offset };
}

/* An instruction that changes only the register, or only the offset, needs a CFA that has both. */
static enum outcome change_cfa(struct run *run, bool offset, uint64_t number)
{
    struct pd_rule *cfa = &run->now.cfa;
    if (cfa->kind != PD_RULE_SUM)
        return DAMAGED;
    if (offset)
        cfa->to.offset = (int64_t)number;
    else
        cfa->other = (uint16_t)PD_MIN(number, (uint64_t)UINT16_MAX);
    return GO_ON;
}

static struct pd_rule expression(struct run *run, enum pd_rule_kind kind)
{
    uint64_t size = pd_frame_uleb(&run->bytes);
    const uint8_t *at = size <= UINT32_MAX ? pd_frame_take(&run->bytes, size) : NULL;
    run->bytes.missing = run->bytes.missing || !at;
    return (struct pd_rule){ .kind = (uint8_t)kind, .size = (uint32_t)size, .to.expression = at };
}

static void set_expression(struct run *run, enum pd_rule_kind kind)
{
    struct pd_rule *rule = rule_of(run, pd_frame_uleb(&run->bytes));
    struct pd_rule made = expression(run, kind);
    if (rule)
        *rule = made;
}

static void set_other(struct run *run)
{
    struct pd_rule *rule = rule_of(run, pd_frame_uleb(&run->bytes));
    uint64_t other = pd_frame_uleb(&run->bytes);
    if (rule)
        *rule = (struct pd_rule){ .kind = PD_RULE_REGISTER,
                                  .other = (uint16_t)PD_MIN(other, (uint64_t)UINT16_MAX) };
}

/* Where the CFA is. */
static enum outcome obey_cfa(struct run *run, uint8_t instruction)
{
    struct pd_frame_bytes *bytes = &run->bytes;
    uint64_t number;
    switch (instruction) {
    case DW_CFA_def_cfa:
        number = pd_frame_uleb(bytes);
        set_cfa(run, number, (int64_t)pd_frame_uleb(bytes));
        return GO_ON;
    case DW_CFA_def_cfa_sf:
        number = pd_frame_uleb(bytes);
        set_cfa(run, number, scaled(run, (uint64_t)pd_frame_sleb(bytes)));
        return GO_ON;
    case DW_CFA_def_cfa_register: return change_cfa(run, false, pd_frame_uleb(bytes));
    case DW_CFA_def_cfa_offset: return change_cfa(run, true, pd_frame_uleb(bytes));
    case DW_CFA_def_cfa_offset_sf:
        return change_cfa(run, true, (uint64_t)scaled(run, (uint64_t)pd_frame_sleb(bytes)));
    case DW_CFA_def_cfa_expression: run->now.cfa = expression(run, PD_RULE_VALUE); return GO_ON;
    default: return DAMAGED;
    }
}

/* Where registers are. */
static enum outcome obey_rule(struct run *run, uint8_t instruction)
{
    struct pd_frame_bytes *bytes = &run->bytes;
    uint64_t number;
    switch (instruction) {
    case DW_CFA_offset_extended:
        number = pd_frame_uleb(bytes);
        set(run, number, PD_RULE_AT, scaled(run, pd_frame_uleb(bytes)));
        return GO_ON;
    case DW_CFA_offset_extended_sf:
        number = pd_frame_uleb(bytes);
        set(run, number, PD_RULE_AT, scaled(run, (uint64_t)pd_frame_sleb(bytes)));
        return GO_ON;
    case DW_CFA_GNU_negative_offset_extended:
        number = pd_frame_uleb(bytes);
        set(run, number, PD_RULE_AT, scaled(run, -pd_frame_uleb(bytes)));
        return GO_ON;
    case DW_CFA_val_offset:
        number = pd_frame_uleb(bytes);
        set(run, number, PD_RULE_SUM, scaled(run, pd_frame_uleb(bytes)));
        return GO_ON;
    case DW_CFA_val_offset_sf:
        number = pd_frame_uleb(bytes);
        set(run, number, PD_RULE_SUM, scaled(run, (uint64_t)pd_frame_sleb(bytes)));
        return GO_ON;
    case DW_CFA_restore_extended: restore(run, pd_frame_uleb(bytes)); return GO_ON;
    case DW_CFA_undefined: set(run, pd_frame_uleb(bytes), PD_RULE_GONE, 0); return GO_ON;
    case DW_CFA_same_value: set(run, pd_frame_uleb(bytes), PD_RULE_KEPT, 0); return GO_ON;
    case DW_CFA_register: set_other(run); return GO_ON;
    case DW_CFA_expression: set_expression(run, PD_RULE_EXPRESSION); return GO_ON;
    case DW_CFA_val_expression: set_expression(run, PD_RULE_VALUE); return GO_ON;
    default: return obey_cfa(run, instruction);
    }
}

static enum outcome obey(struct run *run)
{
    struct pd_frame_bytes *bytes = &run->bytes;
    uint8_t instruction = (uint8_t)pd_frame_number(bytes, 1), low = instruction & 0x3f;
    switch (instruction & 0xc0) {
    case DW_CFA_advance_loc: return advance(run, low);
    case DW_CFA_offset: set(run, low, PD_RULE_AT, scaled(run, pd_frame_uleb(bytes))); return GO_ON;
    case DW_CFA_restore: restore(run, low); return GO_ON;
    default: break;
    }
    switch (instruction) {
    case DW_CFA_nop: return GO_ON;
    case DW_CFA_set_loc: return set_address(run);
    case DW_CFA_advance_loc1: return advance(run, pd_frame_number(bytes, 1));
    case DW_CFA_advance_loc2: return advance(run, pd_frame_number(bytes, 2));
    case DW_CFA_advance_loc4: return advance(run, pd_frame_number(bytes, 4));
    case DW_CFA_remember_state: return remember(run);
    case DW_CFA_restore_state: return recall(run);
    case DW_CFA_GNU_args_size: (void)pd_frame_uleb(bytes); return GO_ON;
    case NEGATE_RETURN_ADDRESS_STATE:
        run->now.is_signed = run->now.is_signed != run->is_arm64;
        return run->is_arm64 ? GO_ON : DAMAGED;
    default: return obey_rule(run, instruction);
    }
}

/* Runs to the end, or to where the next state would hold behind the address. False: damaged. */
static bool execute(struct run *run, const struct pd_frame_bytes *program)
{
    run->bytes = *program;
    for (unsigned i = 0; run->bytes.at < run->bytes.end; i++) {
        enum outcome outcome = i < INSTRUCTIONS_MAX ? obey(run) : DAMAGED;
        if (outcome == DAMAGED || run->bytes.missing)
            return false;
        if (outcome == REACHED)
            break;
    }
    return true;
}

/* ---- the result ---- */

/* Where nothing is said of it, processors that put it into a register have left it there. */
static uint8_t unsaid(uint16_t machine)
{
    return machine == EM_X86_64 || machine == EM_386 ? PD_RULE_GONE : PD_RULE_KEPT;
}

static bool moves(const struct pd_rule *rule)
{
    return rule->kind > PD_RULE_GONE;
}

/* Whether all that the step reads lies at the CFA, and where. */
static void note_extent(struct pd_frame_step *step)
{
    bool plain = !step->is_signed && step->cfa.kind == PD_RULE_SUM && step->back.kind == PD_RULE_AT;
    step->least = step->greatest = step->back.to.offset;
    for (size_t i = 0; plain && i < step->count; i++) {
        const struct pd_rule *rule = &step->saved[i];
        plain = rule->kind == PD_RULE_AT;
        step->least = PD_MIN(step->least, rule->to.offset);
        step->greatest = PD_MAX(step->greatest, rule->to.offset);
        step->mask |= UINT64_C(1) << rule->about;
    }
    step->is_plain = plain && step->least >= INT32_MIN && step->greatest <= INT32_MAX;
}

static const struct pd_frame_step *make_step(struct pd_frame_rules *rules,
                                             const struct pd_frame_section *section,
                                             const struct run *run)
{
    const struct frame_state *now = &run->now;
    size_t count = 0;
    for (size_t i = 0; i < PD_UNWIND_REGISTERS; i++)
        count += moves(&now->registers[i]);
    struct pd_frame_step *step = pd_arena_zalloc(&rules->arena,
                                                 sizeof *step + count * sizeof *step->saved);
    if (!step)
        return NULL;
    uint16_t back = run->common->back;
    step->is_signal = run->common->is_signal;
    step->is_signed = now->is_signed;
    step->swap = section->swap;
    step->cfa = now->cfa;
    step->back = back < PD_UNWIND_REGISTERS ? now->registers[back] : now->back;
    step->back.about = (uint8_t)PD_MIN(back, (uint16_t)UINT8_MAX);
    if (step->back.kind == PD_RULE_NONE)
        step->back.kind = unsaid(rules->machine);
    for (size_t i = 0; i < PD_UNWIND_REGISTERS; i++) {
        if (!moves(&now->registers[i]))
            continue;
        step->saved[step->count] = now->registers[i];
        step->saved[step->count++].about = (uint8_t)i;
    }
    note_extent(step);
    return step;
}

/* Addresses between the same two instructions share a step: a state begins to hold where one entry
 * alone says so. */
static const struct pd_frame_step *
keep_step(struct pd_frame_rules *rules, struct pd_frame_section *section, const struct run *run)
{
    uint32_t known = pd_map64_get(&section->steps_of, run->at);
    if (known != PD_MAP64_NONE)
        return section->steps.data[known];
    const struct pd_frame_step *step = make_step(rules, section, run);
    if (!step || section->steps.count >= PD_MAP64_NONE || !pd_vec_push(&section->steps, step) ||
        !pd_map64_set(&section->steps_of, run->at, (uint32_t)section->steps.count - 1))
        return NULL;
    return step;
}

const struct pd_frame_step *pd_frame_program_run(struct pd_frame_rules *rules,
                                                 struct pd_frame_section *section,
                                                 const struct pd_frame_entry *entry,
                                                 uint64_t address)
{
    struct run run = { .common = &entry->common,
                       .at = entry->start,
                       .target = UINT64_MAX,
                       .is_arm64 = rules->machine == EM_AARCH64 };
    const struct pd_frame_step *step = NULL;
    bool ok = execute(&run, &entry->common.program);
    run.initial = run.now;
    run.at = entry->start;
    run.target = address;
    if (ok && execute(&run, &entry->program))
        step = keep_step(rules, section, &run);
    free(run.remembered);
    return step;
}
