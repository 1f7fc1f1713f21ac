/* SPDX-License-Identifier: MIT */
/* What the tables leave to code, as rows: attrs, samples, trailers, read values. */
#include "textrec/pdt.h"

static struct pd_row *add(struct pd_row *row, const char *name, enum pd_kind kind)
{
    *row = (struct pd_row){ .name = name,
                            .kind = (uint8_t)kind,
                            .least = pd_kinds[kind].shape == PD_SHAPE_NUMBER ? pd_kinds[kind].least
                                                                             : 0,
                            .value = !strcmp(name, "id") || !strcmp(name, "identifier") };
    return row + 1;
}

/* A number that says how many items or bytes the next row has. */
static struct pd_row *add_counted(struct pd_row *row, const char *count, const char *name,
                                  enum pd_kind kind, unsigned reg)
{
    row = add(row, count, PD_KIND_n64);
    row[-1].save = (uint8_t)reg;
    row = add(row, name, kind);
    row[-1].count = PD_COUNT_REGISTER;
    row[-1].count_register = (uint8_t)reg;
    return row;
}

static struct pd_row *add_read(struct pd_row *row, const struct pd_plan *plan)
{
    bool group = plan->read_format & PD_READ_GROUP;
    row = add(row, group ? "read_nr" : "read_value", PD_KIND_n64);
    if (plan->read_format & PD_READ_TOTAL_TIME_ENABLED)
        row = add(row, "time_enabled", PD_KIND_u64);
    if (plan->read_format & PD_READ_TOTAL_TIME_RUNNING)
        row = add(row, "time_running", PD_KIND_u64);
    if (group)
        return add(row, "read_values", PD_KIND_u64s);
    if (plan->read_format & PD_READ_ID)
        row = add(row, "read_id", PD_KIND_u64);
    if (plan->read_format & PD_READ_LOST)
        row = add(row, "read_lost", PD_KIND_n64);
    return row;
}

static struct pd_row *add_callchain(struct pd_row *row, const struct pd_plan *plan)
{
    (void)plan;
    return add_counted(row, "callchain_nr", "ips", PD_KIND_x64s, 1);
}

static struct pd_row *add_raw(struct pd_row *row, const struct pd_plan *plan)
{
    (void)plan;
    row = add(row, "raw", PD_KIND_raw);
    row[-1].least = PD_LEAST_raw;
    return row;
}

static struct pd_row *add_branch_stack(struct pd_row *row, const struct pd_plan *plan)
{
    (void)plan;
    row = add(row, "branch_nr", PD_KIND_n64);
    row[-1].save = 2;
    row = add(row, "hw_idx", PD_KIND_s64);
    row[-1].least = 0;
    row = add(row, "branches", PD_KIND_branches);
    row[-1].count = PD_COUNT_REGISTER;
    row[-1].count_register = 2;
    return add(row, "branch_counters", PD_KIND_x64s);
}

/* Vector registers, where the abi in the register says that there are some. */
static struct pd_row *add_simd(struct pd_row *row, unsigned reg, const char *const names[4],
                               const char *values)
{
    for (unsigned i = 0; i < 4; i++) {
        row = add(row, names[i], PD_KIND_u16);
        row[-1].when = PD_WHEN_GE;
        row[-1].when_register = (uint8_t)reg;
        row[-1].value = PD_REGS_ABI_SIMD;
    }
    return add(row, values, PD_KIND_x64s);
}

/* Registers of user space or of the kernel: the abi, which register `reg` keeps, decides what
 * follows it. */
#define ADD_REGS(PREFIX, reg)                                                                      \
    static struct pd_row *add_regs_##PREFIX(struct pd_row *row, const struct pd_plan *plan)        \
    {                                                                                              \
        static const char *const names[] = { #PREFIX "_vectors", #PREFIX "_vector_words",          \
                                             #PREFIX "_predicates", #PREFIX "_predicate_words" };  \
        (void)plan;                                                                                \
        row = add(row, #PREFIX "_abi", PD_KIND_n64);                                               \
        row[-1].save = reg;                                                                        \
        row = add(row, #PREFIX "_regs", PD_KIND_regs_##PREFIX);                                    \
        return add_simd(row, reg, names, #PREFIX "_simd");                                         \
    }

ADD_REGS(user, 6)
ADD_REGS(intr, 7)

static struct pd_row *add_stack_user(struct pd_row *row, const struct pd_plan *plan)
{
    (void)plan;
    row = add_counted(row, "stack_size", "stack", PD_KIND_sized, 4);
    row = add(row, "stack_dynamic_size", PD_KIND_n64);
    row[-1].when = PD_WHEN_GE;
    row[-1].when_register = 4;
    row[-1].value = 1;
    return row;
}

static struct pd_row *add_aux(struct pd_row *row, const struct pd_plan *plan)
{
    (void)plan;
    return add_counted(row, "aux_size", "aux", PD_KIND_sized, 5);
}

static void make_sample(struct pd_row *row, const struct pd_plan *plan)
{
    uint64_t type = plan->sample_type;
#define SAMPLE_WORD(NAME, bit, name, kind)                                                         \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        row = add(row, #name, PD_KIND_##kind);
#define SAMPLE_PAIR(NAME, bit, low, low_kind, high, high_kind)                                     \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        row = add(add(row, #low, PD_KIND_##low_kind), #high, PD_KIND_##high_kind);
#define SAMPLE_PART(NAME, bit, function)                                                           \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        row = add_##function(row, plan);
#define SAMPLE_TAIL(NAME, bit, name, kind)                                                         \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        row = add(row, #name, PD_KIND_##kind);
#include "format/sample.def"
    row->name = NULL;
}

static void make_trailer(struct pd_row *row, const struct pd_plan *plan)
{
    uint64_t type = plan->trailer_size ? plan->sample_type : 0;
#define TRAILER_WORD(NAME, name, kind)                                                             \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        row = add(row, #name, PD_KIND_##kind);
#define TRAILER_PAIR(NAME, low, low_kind, high, high_kind)                                         \
    if (type & PD_SAMPLE_##NAME)                                                                   \
        row = add(add(row, #low, PD_KIND_##low_kind), #high, PD_KIND_##high_kind);
#include "format/sample.def"
    row->name = NULL;
}

void pdt_event_rows(struct pdt_event *event, bool swap)
{
    pd_plan_make(&event->event.attr, swap, &event->event.plan);
    make_sample(event->sample, &event->event.plan);
    make_trailer(event->trailer, &event->event.plan);
    struct pd_row *row = add_read(event->read, &event->event.plan);
    add(row, "words", PD_KIND_u64s)->name = NULL;
}

const struct pd_row *pdt_row_by_name(const struct pd_row *rows, const char *name, size_t length)
{
    for (; rows && rows->name; rows++)
        if (!strncmp(rows->name, name, length) && !rows->name[length])
            return rows;
    return NULL;
}

bool pdt_row_required(const struct pd_row *row)
{
    switch ((enum pd_when)row->when) {
    case PD_WHEN_ALWAYS: return row->least > 0 || row->kind == PD_KIND_window;
    case PD_WHEN_EQ:
    case PD_WHEN_LE:
    case PD_WHEN_GE:
    case PD_WHEN_EQ2:
    case PD_WHEN_MISC:
    case PD_WHEN_NOT_MISC: return true;
    default: return false;
    }
}

const struct pd_row *pdt_row_counted(const struct pd_row *row)
{
    unsigned reg = row->save;
    if (!reg)
        return NULL;
    for (row++; row->name; row++) {
        if (row->count == PD_COUNT_REGISTER && row->count_register == reg)
            return row->kind == PD_KIND_attr ? NULL : row;
        if (row->save == reg)
            break;
    }
    return NULL;
}

bool pdt_row_is_id(const struct pd_row *row)
{
    return row->when == PD_WHEN_ALWAYS && row->value; /* only rows made here have both */
}
