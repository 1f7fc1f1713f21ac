/* SPDX-License-Identifier: MIT */
/* Addresses -> the entries of .debug_info that say which functions are there. */
#include "object/cut/debug.h"
#include <dwarf.h>

struct wanting {
    struct pd_cut_debug *debug;
    struct pd_map64 seen;
    PD_VEC(Dwarf_Die) inside; /* functions and blocks whose insides are still to be seen */
    PD_VEC(Dwarf_Die) named;  /* entries whose name may stand in another */
};

bool pd_cut_is_code(int tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block: return true;
    default: return false;
    }
}

static bool want(struct wanting *wanting, const Dwarf_Die *die, bool has_inside)
{
    Dwarf_Off place = dwarf_dieoffset((Dwarf_Die *)(uintptr_t)die);
    if (pd_map64_get(&wanting->seen, place) != PD_MAP64_NONE)
        return true;
    return pd_map64_set(&wanting->seen, place, 1) && pd_vec_push(&wanting->debug->entries, place) &&
           pd_vec_push(&wanting->named, *die) &&
           (!has_inside || pd_vec_push(&wanting->inside, *die));
}

static bool want_inside(struct wanting *wanting, Dwarf_Die *die)
{
    Dwarf_Die child;
    bool more = !dwarf_child(die, &child), ok = true;
    Dwarf_Off last = dwarf_dieoffset(die);
    while (more && ok) {
        Dwarf_Die at = child;
        if (dwarf_dieoffset(&at) <= last) /* a damaged file could lead in circles */
            break;
        last = dwarf_dieoffset(&at);
        if (pd_cut_is_code(dwarf_tag(&at)))
            ok = want(wanting, &at, true);
        more = !dwarf_siblingof(&at, &child);
    }
    return ok;
}

static bool want_names(struct wanting *wanting, Dwarf_Die *die)
{
    static const unsigned kinds[] = { DW_AT_abstract_origin, DW_AT_specification };
    for (size_t i = 0; i < PD_LENGTH(kinds); i++) {
        Dwarf_Attribute attribute;
        Dwarf_Die other;
        if (dwarf_attr(die, kinds[i], &attribute) && dwarf_formref_die(&attribute, &other) &&
            !want(wanting, &other, false))
            return false;
    }
    return true;
}

static bool follow(struct wanting *wanting)
{
    while (wanting->inside.count || wanting->named.count) {
        Dwarf_Die die;
        if (wanting->inside.count) {
            die = wanting->inside.data[--wanting->inside.count];
            if (!want_inside(wanting, &die))
                return false;
            continue;
        }
        die = wanting->named.data[--wanting->named.count];
        if (!want_names(wanting, &die))
            return false;
    }
    return true;
}

static void want_unit(struct pd_lines *lines, const struct pd_lines_unit *unit,
                      struct pd_cut_debug *debug)
{
    debug->units.data[unit - lines->units.data] = 1;
    if (unit->has_bodies && unit->tree.addr != unit->die.addr)
        debug->is_possible = false; /* its functions are in another file */
}

bool pd_cut_debug_want(struct pd_lines *lines, const pd_cut_list *addresses,
                       struct pd_cut_debug *out)
{
    struct wanting wanting = { .debug = out };
    bool ok = pd_vec_widen_to(&out->units, lines->units.count);
    pthread_mutex_lock(&lines->lock);
    for (size_t i = 0; i < addresses->count && ok; i++) {
        struct pd_lines_unit *unit;
        const struct pd_lines_body *body = pd_lines_body_at(lines, addresses->data[i], &unit);
        if (body) {
            want_unit(lines, unit, out);
            ok = want(&wanting, &body->die, true) && follow(&wanting);
        }
        if (pd_lines_row_at(lines, addresses->data[i], &unit))
            want_unit(lines, unit, out);
    }
    pthread_mutex_unlock(&lines->lock);
    pd_cut_sort(&out->entries);
    pd_map64_free(&wanting.seen);
    pd_vec_free(&wanting.inside);
    pd_vec_free(&wanting.named);
    return ok;
}

bool pd_cut_debug_has(const struct pd_cut_debug *debug, uint64_t from, uint64_t to)
{
    const uint64_t *all = debug->entries.data;
    size_t low = 0, high = debug->entries.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (all[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < debug->entries.count && all[low] < to;
}
