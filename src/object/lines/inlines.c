/* SPDX-License-Identifier: MIT */
/* The functions that an address lies in, by DWARF's tree: each unit's functions are listed when an
 * address first lies in it, and of one function only what leads to the address is read. */
#include "object/lines/internal.h"
#include <dwarf.h>
#include <stdlib.h>

enum { SCOPES_MAX = 64, OVERLAPS_MAX = 16 };

/* ---- a unit's functions ---- */

/* Their places must rise: a damaged file could lead in circles. */
static bool next_of(Dwarf_Die *at)
{
    Dwarf_Die next;
    if (dwarf_siblingof(at, &next) || dwarf_dieoffset(&next) <= dwarf_dieoffset(at))
        return false;
    *at = next;
    return true;
}

static bool first_in(Dwarf_Die *parent, Dwarf_Die *child)
{
    return !dwarf_child(parent, child) && dwarf_dieoffset(child) > dwarf_dieoffset(parent);
}

static bool holds_functions(int tag)
{
    switch (tag) {
    case DW_TAG_namespace:
    case DW_TAG_module:
    case DW_TAG_class_type:
    case DW_TAG_structure_type:
    case DW_TAG_union_type: return true;
    default: return false;
    }
}

static bool add_bodies(struct pd_lines_unit *unit, Dwarf_Die *die)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
        if (low < high && !pd_vec_push(&unit->bodies, (struct pd_lines_body){
                                                          low, high, dwarf_dieoffset(die), *die }))
            return false;
    return true;
}

static int compare_bodies(const void *left, const void *right)
{
    const struct pd_lines_body *a = left, *b = right;
    if (a->low != b->low)
        return a->low < b->low ? -1 : 1;
    if (a->high != b->high)
        return a->high > b->high ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place; /* addr2line takes the last of aliases */
}

/* The unit's tree of functions: of a split unit that in the .dwo file which it names. Without that
 * file there are no functions. */
static Dwarf_Die tree_of(const struct pd_lines_unit *unit)
{
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die split;
    bool is_split = !dwarf_cu_info(unit->die.cu, &version, &type, NULL, &split, NULL, NULL, NULL) &&
                    type == DW_UT_skeleton && split.addr;
    return is_split ? split : unit->die;
}

static bool list_bodies(struct pd_lines_unit *unit)
{
    Dwarf_Die scopes[SCOPES_MAX], at, child;
    size_t depth = 0;
    unit->tree = tree_of(unit);
    bool more = first_in(&unit->tree, &at);
    while (more) {
        int tag = dwarf_tag(&at);
        if (tag == DW_TAG_subprogram && !add_bodies(unit, &at))
            return false;
        if (holds_functions(tag) && depth < SCOPES_MAX && first_in(&at, &child)) {
            scopes[depth++] = at;
            at = child;
            continue;
        }
        while (!(more = next_of(&at)) && depth)
            at = scopes[--depth];
    }
    if (unit->bodies.count)
        qsort(unit->bodies.data, unit->bodies.count, sizeof *unit->bodies.data, compare_bodies);
    return true;
}

/* Without memory a unit stays as if it had no functions. */
static const struct pd_lines_body *find_body(struct pd_lines_unit *unit, uint64_t address)
{
    if (!unit->has_bodies && !list_bodies(unit))
        unit->bodies.count = 0;
    unit->has_bodies = true;
    size_t low = 0, high = unit->bodies.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (unit->bodies.data[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i && i + OVERLAPS_MAX > low; i--)
        if (address < unit->bodies.data[i - 1].high)
            return &unit->bodies.data[i - 1];
    return NULL;
}

/* In the unit that the table of ranges names, else in those that it does not know. */
const struct pd_lines_body *pd_lines_body_at(struct pd_lines *lines, uint64_t address,
                                             struct pd_lines_unit **unit)
{
    Dwarf_Arange *range = lines->ranges ? dwarf_getarange_addr(lines->ranges, address) : NULL;
    const struct pd_lines_body *body = NULL;
    Dwarf_Off place;
    if (range && !dwarf_getarangeinfo(range, NULL, NULL, &place) &&
        (*unit = pd_lines_unit_at(lines, place)) != NULL)
        body = find_body(*unit, address);
    for (size_t i = 0; !body && i < lines->units.count; i++) {
        *unit = &lines->units.data[i];
        if (!(*unit)->is_listed && dwarf_haspc(&(*unit)->die, address) > 0)
            body = find_body(*unit, address);
    }
    return body;
}

/* ---- what one holds ---- */

static bool holds_address(Dwarf_Die *die, uint64_t address)
{
    switch (dwarf_tag(die)) {
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_subprogram: return dwarf_haspc(die, address) > 0;
    default: return false;
    }
}

/* From the function inwards. Returns how many functions there are. */
size_t pd_lines_descend(const struct pd_lines_body *body, uint64_t address, Dwarf_Die *functions)
{
    Dwarf_Die at = functions[0] = body->die, child;
    size_t count = 1;
    bool more = first_in(&at, &child);
    while (more && count < PD_LINES_NESTED_MAX) {
        if (!holds_address(&child, address)) {
            more = next_of(&child);
            continue;
        }
        if (dwarf_tag(&child) == DW_TAG_subprogram)
            count = 0; /* it is within another, but not put into it */
        if (dwarf_tag(&child) != DW_TAG_lexical_block && dwarf_tag(&child) != DW_TAG_try_block &&
            dwarf_tag(&child) != DW_TAG_catch_block)
            functions[count++] = child;
        at = child;
        more = first_in(&at, &child);
    }
    return count;
}

/* A function's name in these languages is the linker's. */
static bool names_are_plain(Dwarf_Die *unit)
{
    switch (dwarf_srclang(unit)) {
    case DW_LANG_C89:
    case DW_LANG_C:
    case DW_LANG_C99:
    case DW_LANG_C11:
    case DW_LANG_Ada83:
    case DW_LANG_Cobol74:
    case DW_LANG_Cobol85:
    case DW_LANG_Fortran77:
    case DW_LANG_Mips_Assembler:
    case DW_LANG_Pascal83:
    case DW_LANG_PLI:
    case DW_LANG_UPC: return true;
    default: return false;
    }
}

/* The name that the linker knows tells more; `*linked`: it is that one. An empty one is none:
 * functions that have it would all be taken for one. */
const char *pd_lines_name_of(Dwarf_Die *die, bool *linked)
{
    static const unsigned kinds[] = { DW_AT_linkage_name, DW_AT_MIPS_linkage_name, DW_AT_name };
    for (size_t i = 0; i < PD_LENGTH(kinds); i++) {
        Dwarf_Attribute attribute;
        const char *name = dwarf_formstring(dwarf_attr_integrate(die, kinds[i], &attribute));
        *linked = kinds[i] != DW_AT_name;
        if (name && *name)
            return name;
    }
    return NULL;
}

bool pd_lines_number_of(Dwarf_Die *die, unsigned kind, unsigned *out)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    bool known = !dwarf_formudata(dwarf_attr(die, kind, &attribute), &number) &&
                 number <= UINT32_MAX;
    *out = known ? (unsigned)number : 0;
    return known;
}

/* Finds where the function that was put there is called. */
static void take_call(struct pd_lines *lines, struct pd_lines_unit *unit, Dwarf_Die *inlined,
                      struct pd_lines_function *out)
{
    Dwarf_Files *files;
    size_t count;
    unsigned number;
    const char *name = NULL;
    if (pd_lines_number_of(inlined, DW_AT_call_file, &number) && (number || unit->is_version_5) &&
        !dwarf_getsrcfiles(&unit->die, &files, &count) && number < count)
        name = dwarf_filesrc(files, number, NULL, NULL);
    uint32_t file = name ? pd_lines_add_file(lines, unit, name) : PD_INTERN_NONE;
    out->file = file == PD_INTERN_NONE ? NULL : pd_intern_text(&lines->files, file);
    (void)pd_lines_number_of(inlined, DW_AT_call_line, &out->line);
}

/* Where addr2line has the function begin: with the first range that is told, or one that ends
 * there. */
static bool first_low(Dwarf_Die *die, uint64_t *first)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;
    bool found = false;
    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0)
        if (low < high && (!found || high == *first)) {
            *first = low;
            found = true;
        }
    return found;
}

static struct pd_lines_nameless nameless_of(Dwarf_Die *die, const char *name)
{
    uint64_t low = 0;
    bool has_low = first_low(die, &low);
    return (struct pd_lines_nameless){
        .place = dwarf_dieoffset(die), .low = low, .name = name, .has_low = has_low
    };
}

/* A function that has code of its own, but no name in DWARF that the linker knows (lambdas, what is
 * in an unnamed namespace), has that of the symbol that begins where it does. */
static const char *own_name(struct pd_lines *lines, const struct pd_lines_nameless *function,
                            Dwarf_Die *die)
{
    if (dwarf_tag(die) != DW_TAG_subprogram || !function->has_low)
        return function->name;
    const struct pd_lines_symbol *symbol = pd_lines_symbol_at(lines, function->low);
    const char *text = symbol && symbol->value == function->low
                           ? pd_intern_text(&lines->files, symbol->name)
                           : "";
    return *text ? text : function->name;
}

/* addr2line 2.40 does not read ranges that are told by their number, as clang does. */
static bool has_numbered_ranges(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, DW_AT_ranges, &attribute) &&
           dwarf_whatform(&attribute) == DW_FORM_rnglistx;
}

/* `nameless` NULL: as addr2line would answer if it read all and had never been asked before. */
static size_t from_dwarf(struct pd_lines *lines, uint64_t address, struct pd_lines_function *out,
                         struct pd_lines_nameless *nameless)
{
    Dwarf_Die functions[PD_LINES_NESTED_MAX];
    struct pd_lines_unit *unit;
    const struct pd_lines_body *body = pd_lines_body_at(lines, address, &unit);
    size_t count = body ? pd_lines_descend(body, address, functions) : 0;
    while (nameless && count && has_numbered_ranges(&functions[count - 1]))
        count--;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Die *die = &functions[count - 1 - i];
        bool linked;
        out[i] = (struct pd_lines_function){ .name = pd_lines_name_of(die, &linked) };
        if (!out[i].name)
            return 0;
        struct pd_lines_nameless known = { 0 };
        if (!linked && !names_are_plain(&unit->tree))
            known = nameless_of(die, out[i].name);
        if (nameless)
            nameless[i] = known;
        else if (known.name)
            out[i].name = own_name(lines, &known, die);
        if (i)
            take_call(lines, unit, die + 1, &out[i]);
    }
    return count;
}

size_t pd_lines_list(struct pd_lines *lines, uint64_t address, struct pd_lines_function *out,
                     struct pd_lines_nameless *nameless)
{
    size_t count = lines->dwarf ? from_dwarf(lines, address, out, nameless) : 0;
    const struct pd_lines_symbol *symbol = count ? NULL : pd_lines_symbol_at(lines, address);
    if (symbol) {
        const char *name = pd_intern_text(&lines->files, symbol->name);
        out[0] = (struct pd_lines_function){ .name = name };
        if (nameless)
            nameless[0] = (struct pd_lines_nameless){ 0 };
        if (symbol->file != PD_LINES_NO_FILE)
            out[0].file = pd_intern_text(&lines->files, symbol->file);
        count = *name != '\0';
    }
    struct pd_lines_unit *unit;
    const struct pd_lines_row *row = count && lines->dwarf ? pd_lines_row_at(lines, address, &unit)
                                                           : NULL;
    if (row) {
        out[0].file = pd_intern_text(&lines->files, row->file);
        out[0].line = row->line;
    }
    return count;
}

size_t pd_lines_functions(struct pd_lines *lines, uint64_t address, struct pd_lines_function *out)
{
    pthread_mutex_lock(&lines->lock);
    size_t count = pd_lines_list(lines, address, out, NULL);
    pthread_mutex_unlock(&lines->lock);
    return count;
}
