/* SPDX-License-Identifier: MIT */
/* A sample's and a trailer's fields in order, as code that is inlined into its user: the walk for
 * any sink and the checksum, which needs its speed, are this one body. */
#ifndef PD_SAMPLE_VISIT_H
#define PD_SAMPLE_VISIT_H
#include "format/fields.h"

typedef void (*pd_emit_fn)(void *data, const struct pd_field *field);

PD_INLINE void emit_number(pd_emit_fn emit, void *data, const char *name, enum pd_kind kind,
                           const uint8_t *at, bool swap)
{
    struct pd_field field = { .name = name, .kind = (uint8_t)kind, .swap = swap };
    field.value = kind == PD_KIND_pid || kind == PD_KIND_res32 ? pd_load32(at, swap)
                                                               : pd_load64(at, swap);
    emit(data, &field);
}

PD_INLINE void emit_value(pd_emit_fn emit, void *data, const char *name, enum pd_kind kind,
                          uint64_t value)
{
    struct pd_field field = { .name = name, .kind = (uint8_t)kind, .value = value };
    emit(data, &field);
}

PD_INLINE void emit_array(pd_emit_fn emit, void *data, const char *name, enum pd_kind kind,
                          const uint8_t *at, uint64_t count, unsigned each, bool swap,
                          uint64_t mask)
{
    struct pd_field field = { .name = name,
                              .kind = (uint8_t)kind,
                              .swap = swap,
                              .data = at,
                              .size = count * each,
                              .length = (uint32_t)count,
                              .mask = mask };
    emit(data, &field);
}

PD_INLINE void visit_read(pd_emit_fn emit, void *data, const struct pd_sample *sample)
{
    const struct pd_plan *plan = &sample->event->plan;
    const uint8_t *at = sample->read;
    bool swap = sample->swap;
    bool group = plan->read_format & PD_READ_GROUP;
    emit_number(emit, data, group ? "read_nr" : "read_value", PD_KIND_n64, at, swap);
    if (plan->read_format & PD_READ_TOTAL_TIME_ENABLED)
        emit_number(emit, data, "time_enabled", PD_KIND_u64, at += 8, swap);
    if (plan->read_format & PD_READ_TOTAL_TIME_RUNNING)
        emit_number(emit, data, "time_running", PD_KIND_u64, at += 8, swap);
    at += 8;
    if (group) {
        uint64_t words = (uint64_t)(sample->read + sample->read_size - at) / 8;
        emit_array(emit, data, "read_values", PD_KIND_u64s, at, words, 8, swap, 0);
        return;
    }
    if (plan->read_format & PD_READ_ID) {
        emit_number(emit, data, "read_id", PD_KIND_u64, at, swap);
        at += 8;
    }
    if (plan->read_format & PD_READ_LOST)
        emit_number(emit, data, "read_lost", PD_KIND_n64, at, swap);
}

PD_INLINE void visit_callchain(pd_emit_fn emit, void *data, const struct pd_sample *sample)
{
    emit_value(emit, data, "callchain_nr", PD_KIND_n64, sample->callchain_count);
    emit_array(emit, data, "ips", PD_KIND_x64s, sample->callchain, sample->callchain_count, 8,
               sample->swap, 0);
}

PD_INLINE void visit_raw(pd_emit_fn emit, void *data, const struct pd_sample *sample)
{
    emit_array(emit, data, "raw", PD_KIND_raw, sample->raw, sample->raw_size, 1, sample->swap, 0);
}

PD_INLINE void visit_branch_stack(pd_emit_fn emit, void *data, const struct pd_sample *sample)
{
    uint32_t count = sample->branch_count;
    emit_value(emit, data, "branch_nr", PD_KIND_n64, count);
    if (sample->has_hw_index)
        emit_value(emit, data, "hw_idx", PD_KIND_s64, sample->branch_hw_index);
    emit_array(emit, data, "branches", PD_KIND_branches, sample->branches, count, 24, sample->swap,
               0);
    if (sample->branch_counters)
        emit_array(emit, data, "branch_counters", PD_KIND_x64s, sample->branch_counters, count, 8,
                   sample->swap, 0);
}

PD_INLINE void emit_regs(pd_emit_fn emit, void *data, const char *name, enum pd_kind kind,
                         const uint8_t *at, uint64_t abi, bool swap, uint64_t mask)
{
    uint32_t count = (uint32_t)__builtin_popcountll(mask);
    struct pd_field field = { .name = name,
                              .kind = (uint8_t)kind,
                              .swap = swap,
                              .value = abi,
                              .data = at,
                              .size = count * (size_t)8,
                              .length = count,
                              .mask = mask };
    emit(data, &field);
}

PD_INLINE void visit_simd(pd_emit_fn emit, void *data, bool user, const uint8_t *at, bool swap)
{
    struct pd_simd simd = pd_simd(at, swap);
    emit_value(emit, data, user ? "user_vectors" : "intr_vectors", PD_KIND_u16, simd.vectors);
    emit_value(emit, data, user ? "user_vector_words" : "intr_vector_words", PD_KIND_u16,
               simd.vector_words);
    emit_value(emit, data, user ? "user_predicates" : "intr_predicates", PD_KIND_u16,
               simd.predicates);
    emit_value(emit, data, user ? "user_predicate_words" : "intr_predicate_words", PD_KIND_u16,
               simd.predicate_words);
    emit_array(emit, data, user ? "user_simd" : "intr_simd", PD_KIND_x64s, simd.values, simd.count,
               8, swap, 0);
}

/* The registers of one side: their ABI, those that the mask names, and the wide ones. */
PD_INLINE void visit_regs(pd_emit_fn emit, void *data, const struct pd_sample *sample, bool user)
{
    const struct pd_plan *plan = &sample->event->plan;
    uint64_t abi = user ? sample->user_abi : sample->intr_abi;
    const uint8_t *regs = user ? sample->user_regs : sample->intr_regs;
    const uint8_t *simd = user ? sample->user_simd : sample->intr_simd;
    emit_value(emit, data, user ? "user_abi" : "intr_abi", PD_KIND_n64, abi);
    if (regs)
        emit_regs(emit, data, user ? "user_regs" : "intr_regs",
                  user ? PD_KIND_regs_user : PD_KIND_regs_intr, regs, abi, sample->swap,
                  user ? plan->regs_user : plan->regs_intr);
    if (PD_UNLIKELY(simd != NULL))
        visit_simd(emit, data, user, simd, sample->swap);
}

PD_INLINE void visit_regs_user(pd_emit_fn emit, void *data, const struct pd_sample *sample)
{
    visit_regs(emit, data, sample, true);
}

PD_INLINE void visit_regs_intr(pd_emit_fn emit, void *data, const struct pd_sample *sample)
{
    visit_regs(emit, data, sample, false);
}

PD_INLINE void visit_stack_user(pd_emit_fn emit, void *data, const struct pd_sample *sample)
{
    emit_value(emit, data, "stack_size", PD_KIND_n64, sample->stack_size);
    if (sample->stack_size) {
        emit_array(emit, data, "stack", PD_KIND_sized, sample->stack, sample->stack_size, 1,
                   sample->swap, 0);
        emit_value(emit, data, "stack_dynamic_size", PD_KIND_n64, sample->stack_dynamic_size);
    }
}

PD_INLINE void visit_aux(pd_emit_fn emit, void *data, const struct pd_sample *sample)
{
    emit_value(emit, data, "aux_size", PD_KIND_n64, sample->aux_size);
    emit_array(emit, data, "aux", PD_KIND_sized, sample->aux, sample->aux_size, 1, sample->swap, 0);
}

/* The part before the first variable field; the caller has seen that it is there. */
PD_INLINE void visit_fixed(pd_emit_fn emit, void *data, uint64_t type, const uint8_t *at, bool swap)
{
#define SAMPLE_WORD(NAME, bit, name, kind)                                                         \
    if (type & PD_SAMPLE_##NAME) {                                                                 \
        emit_number(emit, data, #name, PD_KIND_##kind, at, swap);                                  \
        at += 8;                                                                                   \
    }
#define SAMPLE_PAIR(NAME, bit, low, low_kind, high, high_kind)                                     \
    if (type & PD_SAMPLE_##NAME) {                                                                 \
        emit_number(emit, data, #low, PD_KIND_##low_kind, at, swap);                               \
        emit_number(emit, data, #high, PD_KIND_##high_kind, at + 4, swap);                         \
        at += 8;                                                                                   \
    }
#include "format/sample.def"
}

/* The variable parts of a sample that was decoded without error. */
PD_INLINE void visit_parts(pd_emit_fn emit, void *data, uint64_t type,
                           const struct pd_sample *sample)
{
#define SAMPLE_PART(NAME, bit, function)                                                           \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        visit_##function(emit, data, sample);
#define SAMPLE_TAIL(NAME, bit, name, kind)                                                         \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        emit_value(emit, data, #name, PD_KIND_##kind, sample->name);
#include "format/sample.def"
}

PD_INLINE void visit_trailer(pd_emit_fn emit, void *data, uint64_t type, const uint8_t *at,
                             bool swap)
{
#define TRAILER_WORD(NAME, name, kind)                                                             \
    if (type & PD_SAMPLE_##NAME) {                                                                 \
        emit_number(emit, data, #name, PD_KIND_##kind, at, swap);                                  \
        at += 8;                                                                                   \
    }
#define TRAILER_PAIR(NAME, low, low_kind, high, high_kind)                                         \
    if (type & PD_SAMPLE_##NAME) {                                                                 \
        emit_number(emit, data, #low, PD_KIND_##low_kind, at, swap);                               \
        emit_number(emit, data, #high, PD_KIND_##high_kind, at + 4, swap);                         \
        at += 8;                                                                                   \
    }
#include "format/sample.def"
}

#endif
