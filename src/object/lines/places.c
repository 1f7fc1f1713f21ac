/* SPDX-License-Identifier: MIT */
/* Places in the source as profiles for compilers count them: from where a function is declared,
 * with the number that tells apart what stands in one line. */
#include "object/lines/internal.h"

#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136
#endif

static unsigned declared_at(Dwarf_Die *function)
{
    int line = 0;
    return dwarf_decl_line(function, &line) || line < 0 ? 0 : (unsigned)line;
}

/* The line that holds at the address itself. */
static void take_line(const struct pd_lines_unit *unit, uint64_t address,
                      struct pd_lines_place *out)
{
    Dwarf_Die die = unit->die;
    Dwarf_Line *row = dwarf_getsrc_die(&die, address);
    int line = 0;
    unsigned discriminator = 0;
    if (!row)
        return;
    (void)dwarf_lineno(row, &line);
    (void)dwarf_linediscriminator(row, &discriminator);
    out->line = line < 0 ? 0 : (unsigned)line;
    out->discriminator = discriminator;
}

/* LLVM packs several numbers into a discriminator, GCC just counts. */
static bool is_of_gcc(Dwarf_Die *unit)
{
    Dwarf_Attribute attribute;
    const char *producer = dwarf_formstring(dwarf_attr(unit, DW_AT_producer, &attribute));
    return producer && !strncmp(producer, "GNU ", 4);
}

/* Places are asked for instruction by instruction, and units without a table of ranges are searched
 * one after the other. */
static const struct pd_lines_body *body_of(struct pd_lines *lines, uint64_t address,
                                           struct pd_lines_unit **unit)
{
    const struct pd_lines_body *last = lines->last_body;
    if (!last || address < last->low || address >= last->high)
        lines->last_body = pd_lines_body_at(lines, address, &lines->last_unit);
    *unit = lines->last_unit;
    return lines->last_body;
}

static size_t list_places(struct pd_lines *lines, uint64_t address, struct pd_lines_place *out)
{
    Dwarf_Die functions[PD_LINES_NESTED_MAX];
    struct pd_lines_unit *unit;
    const struct pd_lines_body *body = body_of(lines, address, &unit);
    size_t count = body ? pd_lines_descend(body, address, functions) : 0;
    for (size_t i = 0; i < count; i++) {
        bool linked;
        out[i] = (struct pd_lines_place){ .name = pd_lines_name_of(&functions[i], &linked),
                                          .declared = declared_at(&functions[i]),
                                          .is_of_gcc = is_of_gcc(&unit->tree) };
        if (!out[i].name)
            return 0;
        if (!i)
            continue;
        struct pd_lines_place *caller = &out[i - 1];
        (void)pd_lines_number_of(&functions[i], DW_AT_call_line, &caller->line);
        (void)pd_lines_number_of(&functions[i], DW_AT_GNU_discriminator, &caller->discriminator);
    }
    if (count)
        take_line(unit, address, &out[count - 1]);
    return count;
}

size_t pd_lines_places(struct pd_lines *lines, uint64_t address, struct pd_lines_place *out)
{
    pthread_mutex_lock(&lines->lock);
    size_t count = lines->dwarf ? list_places(lines, address, out) : 0;
    pthread_mutex_unlock(&lines->lock);
    return count;
}

static size_t list_ranges(const struct pd_lines_body *body, struct pd_lines_range *out, size_t room)
{
    Dwarf_Die die = body->die;
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;
    size_t count = 0;
    while (count < room && (at = dwarf_ranges(&die, at, &base, &low, &high)) > 0)
        if (low < high)
            out[count++] = (struct pd_lines_range){ low, high };
    return count;
}

size_t pd_lines_ranges(struct pd_lines *lines, uint64_t address, struct pd_lines_range *out,
                       size_t room)
{
    struct pd_lines_unit *unit;
    pthread_mutex_lock(&lines->lock);
    const struct pd_lines_body *body = lines->dwarf ? pd_lines_body_at(lines, address, &unit)
                                                    : NULL;
    size_t count = body ? list_ranges(body, out, room) : 0;
    pthread_mutex_unlock(&lines->lock);
    return count;
}

const char *pd_lines_entry(struct pd_lines *lines, uint64_t address)
{
    struct pd_lines_unit *unit;
    const char *name = NULL;
    pthread_mutex_lock(&lines->lock);
    const struct pd_lines_body *body = lines->dwarf ? pd_lines_body_at(lines, address, &unit)
                                                    : NULL;
    if (body) {
        Dwarf_Die die = body->die;
        Dwarf_Addr entry;
        bool linked;
        if (!dwarf_entrypc(&die, &entry) && entry == address)
            name = pd_lines_name_of(&die, &linked);
    }
    pthread_mutex_unlock(&lines->lock);
    return name;
}
