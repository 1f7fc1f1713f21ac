/* SPDX-License-Identifier: MIT */
/* .debug_info -> the same with only the wanted entries. An entry that is left out becomes, with
 * those beside it, one whose form of abbreviation says that it is a block of bytes: a hole. */
#include "object/cut/debug.h"
#include "object/frames/bytes.h"
#include <dwarf.h>
#include <stdlib.h>

enum {
    DEPTH_MAX = 64,
    FILLER_TAG = DW_TAG_lo_user,
    FILLER_ATTRIBUTE = DW_AT_lo_user,
    TYPE_UNIT_HEAD = 24, /* bytes of a type unit's header */
    LEAST_UNIT = 32      /* that a unit in a gap has */
};

static const char *const names[PD_CUT_DEBUG_SECTIONS] = {
    [PD_CUT_INFO] = ".debug_info",
    [PD_CUT_ABBREV] = ".debug_abbrev",
    [PD_CUT_LINE] = ".debug_line",
    [PD_CUT_LINE_STR] = ".debug_line_str",
    [PD_CUT_STR] = ".debug_str",
    [PD_CUT_RANGES] = ".debug_ranges",
    [PD_CUT_RNGLISTS] = ".debug_rnglists",
    [PD_CUT_ADDR] = ".debug_addr",
    [PD_CUT_STR_OFFSETS] = ".debug_str_offsets",
};

/* A unit while it is cut. */
struct unit {
    uint64_t start, next;
    size_t head;
    unsigned version, address_size, offset_size;
    uint64_t filler; /* code of its abbreviation with a length of a byte; + 1: of four */
    size_t code_size;
    Dwarf_Die die;
};

struct cutting {
    struct pd_cut_debug *debug;
    Dwarf *dwarf;
    struct pd_text abbrevs;
    struct pd_map64 tables; /* an old place -> `fillers` */
    PD_VEC(uint64_t) fillers;
    PD_VEC(uint64_t) places;
};

static bool keep_info(struct cutting *cutting, uint64_t from, uint64_t to)
{
    return to <= from || pd_cut_debug_keep(cutting->debug, PD_CUT_INFO, from, to - from);
}

/* New bytes at a place of .debug_info. */
static bool put_info(struct cutting *cutting, uint64_t at, const struct pd_text *text)
{
    struct pd_cut_part *part = &cutting->debug->parts[PD_CUT_INFO];
    char *bytes = text->failed ? NULL : pd_arena_alloc(&cutting->debug->arena, text->length + 1);
    if (!bytes)
        return false;
    memcpy(bytes, text->data, text->length);
    const struct pd_elf_piece piece = { at, bytes, text->length };
    return pd_vec_push(&part->pieces, piece);
}

static void put_uleb(struct pd_text *text, uint64_t value)
{
    do {
        pd_text_char(text, (char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0)));
        value >>= 7;
    } while (value);
}

/* ---- abbreviations ---- */

/* Behind the table's last entry; *greatest: code. False: it is damaged. */
static bool skip_table(struct pd_frame_bytes *bytes, uint64_t *greatest)
{
    *greatest = 0;
    for (;;) {
        uint64_t code = pd_frame_uleb(bytes), name, form;
        if (bytes->missing || !code)
            return !bytes->missing;
        *greatest = PD_MAX(*greatest, code);
        (void)pd_frame_uleb(bytes);
        (void)pd_frame_take(bytes, 1);
        do {
            name = pd_frame_uleb(bytes);
            form = pd_frame_uleb(bytes);
            if (form == DW_FORM_implicit_const)
                (void)pd_frame_sleb(bytes);
        } while (!bytes->missing && (name || form));
        if (bytes->missing)
            return false;
    }
}

static void put_filler(struct pd_text *text, uint64_t code, unsigned form)
{
    put_uleb(text, code);
    put_uleb(text, FILLER_TAG);
    pd_text_char(text, DW_CHILDREN_no);
    put_uleb(text, FILLER_ATTRIBUTE);
    put_uleb(text, form);
    pd_text_fill(text, '\0', 2);
}

/* Copies a unit's table, with the fillers. */
static bool take_table(struct cutting *cutting, uint64_t offset, uint64_t *place, uint64_t *filler)
{
    const struct pd_cut_part *part = &cutting->debug->parts[PD_CUT_ABBREV];
    uint32_t known = pd_map64_get(&cutting->tables, offset);
    uint64_t greatest = 0;
    if (!part->bytes) {
        cutting->debug->is_possible = false;
        return true;
    }
    if (known == PD_MAP64_NONE) {
        struct pd_frame_bytes bytes = { part->bytes + PD_MIN(offset, part->size),
                                        part->bytes + part->size, cutting->debug->like->swapped,
                                        false };
        const uint8_t *start = bytes.at;
        /* Tables do not overlap but in hostile files. */
        if (!skip_table(&bytes, &greatest) || greatest >= UINT32_MAX ||
            cutting->abbrevs.length / 2 > part->size) {
            cutting->debug->is_possible = false;
            return true;
        }
        *place = cutting->abbrevs.length;
        *filler = greatest + 1 == 0x7f ? 0x80 : greatest + 1; /* both codes have one length */
        pd_text_bytes(&cutting->abbrevs, start, (size_t)(bytes.at - start) - 1);
        put_filler(&cutting->abbrevs, *filler, DW_FORM_block1);
        put_filler(&cutting->abbrevs, *filler + 1, DW_FORM_block4);
        pd_text_char(&cutting->abbrevs, '\0');
        known = (uint32_t)cutting->places.count;
        if (cutting->abbrevs.failed || !pd_vec_push(&cutting->places, *place) ||
            !pd_vec_push(&cutting->fillers, *filler) ||
            !pd_map64_set(&cutting->tables, offset, known))
            return false;
    }
    *place = cutting->places.data[known];
    *filler = cutting->fillers.data[known];
    return true;
}

/* ---- fillers ---- */

static size_t uleb_size(uint64_t value)
{
    size_t size = 1;
    while (value >>= 7)
        size++;
    return size;
}

/* [from, to) of a unit holds entries that are left out. */
static bool fill(struct cutting *cutting, const struct unit *unit, uint64_t from, uint64_t to)
{
    struct pd_text text = { 0 };
    uint64_t size = to - from;
    if (to <= from)
        return true;
    if (size < unit->code_size + 1 || size > UINT32_MAX)
        return keep_info(cutting, from, to);
    uint64_t rest = size - unit->code_size - 1;
    bool is_short = rest <= UINT8_MAX;
    put_uleb(&text, unit->filler + !is_short);
    pd_elf_put(&text, cutting->debug->like, is_short ? rest : rest - 3, is_short ? 1 : 4);
    bool ok = put_info(cutting, from, &text);
    pd_text_free(&text);
    return ok;
}

/* ---- entries ---- */

struct level {
    Dwarf_Die at; /* the entry that is next */
    uint64_t end; /* behind the list's end mark */
    uint64_t gap; /* where those begin that are left out; 0: there are none */
};

/* An entry that stays: its own bytes, and the list in it becomes the next level. */
static bool stay(struct cutting *cutting, const struct unit *unit, Dwarf_Die *die, uint64_t end,
                 struct level *levels, size_t *depth)
{
    Dwarf_Die child;
    bool has_list = !dwarf_child(die, &child);
    uint64_t start = dwarf_dieoffset(die), inside = has_list ? dwarf_dieoffset(&child) : end;
    if (!pd_cut_debug_refer(cutting->debug, die, unit->version, unit->address_size))
        return false;
    if (inside <= start || inside > end || (has_list && *depth == DEPTH_MAX)) {
        cutting->debug->is_possible = false;
        return true;
    }
    if (has_list)
        levels[(*depth)++] = (struct level){ child, end, 0 };
    return keep_info(cutting, start, inside);
}

static bool cut_entries(struct cutting *cutting, const struct unit *unit)
{
    struct level levels[DEPTH_MAX];
    size_t depth = 0;
    Dwarf_Die die = unit->die;
    bool ok = keep_info(cutting, unit->start + unit->head, dwarf_dieoffset(&die)) &&
              stay(cutting, unit, &die, unit->next, levels, &depth);
    while (ok && depth && cutting->debug->is_possible) {
        struct level *level = &levels[depth - 1];
        Dwarf_Die next;
        die = level->at;
        uint64_t start = dwarf_dieoffset(&die), end = level->end - 1;
        bool more = !dwarf_siblingof(&die, &next);
        if (more)
            end = dwarf_dieoffset(&next);
        if (end <= start || end >= level->end) {
            cutting->debug->is_possible = false;
            break;
        }
        bool stays = pd_cut_debug_has(cutting->debug, start, end);
        if (!stays && !level->gap)
            level->gap = start;
        if (level->gap && (stays || !more)) {
            ok = fill(cutting, unit, level->gap, stays ? start : end);
            level->gap = 0;
        }
        if (more)
            level->at = next;
        else
            depth--; /* the end mark is a zero, as holes are */
        if (ok && stays)
            ok = stay(cutting, unit, &die, end, levels, &depth);
    }
    return ok;
}

/* ---- units ---- */

static bool put_head(struct cutting *cutting, const struct unit *unit, uint64_t abbrevs)
{
    const struct pd_cut_part *part = &cutting->debug->parts[PD_CUT_INFO];
    struct pd_text text = { 0 };
    const size_t at = (unit->offset_size == 8 ? 12u : 4u) + 2 + (unit->version >= 5 ? 2 : 0);
    if (!pd_range_ok(unit->start, unit->head, part->size) || at + unit->offset_size > unit->head) {
        cutting->debug->is_possible = false;
        return true;
    }
    pd_text_bytes(&text, part->bytes + unit->start, at);
    pd_elf_put(&text, cutting->debug->like, abbrevs, unit->offset_size);
    pd_text_bytes(&text, part->bytes + unit->start + at + unit->offset_size,
                  unit->head - at - unit->offset_size);
    bool ok = put_info(cutting, unit->start, &text);
    pd_text_free(&text);
    return ok;
}

/* Units that are left out become one type unit, in which nobody looks for functions; `like`: the
 * unit whose abbreviations it has. */
static bool skip_units(struct cutting *cutting, uint64_t from, uint64_t to, uint64_t abbrevs,
                       const struct unit *like)
{
    struct unit unit = *like;
    struct pd_text text = { 0 };
    const struct pd_elf *elf = cutting->debug->like;
    if (to <= from)
        return true;
    if (to - from < LEAST_UNIT || to - from >= UINT32_MAX - LEAST_UNIT) {
        cutting->debug->is_possible = false;
        return true;
    }
    pd_elf_put(&text, elf, to - from - 4, 4);
    pd_elf_put(&text, elf, 5, 2);
    pd_elf_put(&text, elf, DW_UT_type, 1);
    pd_elf_put(&text, elf, like->address_size, 1);
    pd_elf_put(&text, elf, abbrevs, 4);
    pd_elf_put(&text, elf, from, 8);
    pd_elf_put(&text, elf, TYPE_UNIT_HEAD, 4);
    unit.start = from;
    bool ok = put_info(cutting, from, &text) && fill(cutting, &unit, from + TYPE_UNIT_HEAD, to);
    pd_text_free(&text);
    return ok;
}

static bool is_wanted(const struct pd_lines *lines, const struct pd_cut_debug *debug,
                      const struct unit *unit)
{
    if (pd_cut_debug_has(debug, unit->start, unit->next))
        return true;
    struct pd_lines_unit *known = pd_lines_unit_at((struct pd_lines *)(uintptr_t)lines,
                                                   unit->start + unit->head);
    return known && debug->units.data[known - lines->units.data];
}

/* A gap that is too small for a unit stays, and so do the units in it. */
static bool cut_units(struct cutting *cutting, const struct pd_lines *lines)
{
    struct pd_cut_debug *debug = cutting->debug;
    struct unit unit = { 0 };
    uint64_t gap = 0, gap_size = 0, abbrevs = 0;
    bool ok = true;
    Dwarf_Off at = 0, next, table;
    size_t head;
    Dwarf_Half version;
    uint8_t address_size, offset_size;
    while (ok && debug->is_possible &&
           !dwarf_next_unit(cutting->dwarf, at, &next, &head, &version, &table, &address_size,
                            &offset_size, NULL, NULL)) {
        struct unit new = { at,          next, head, version,         address_size,
                            offset_size, 0,    0,    { .addr = NULL } };
        uint64_t old = at;
        at = next;
        bool stays = is_wanted(lines, debug, &new);
        if (!stays) {
            gap_size += next - old;
            continue;
        }
        ok = take_table(cutting, table, &abbrevs, &new.filler);
        new.code_size = uleb_size(new.filler);
        if (!dwarf_offdie(cutting->dwarf, old + head, &new.die))
            debug->is_possible = false;
        unit = new;
        ok = ok && debug->is_possible && skip_units(cutting, gap, gap + gap_size, abbrevs, &unit) &&
             put_head(cutting, &unit, abbrevs) && cut_entries(cutting, &unit);
        gap = next;
        gap_size = 0;
    }
    ok = ok || !debug->is_possible;
    if (unit.next)
        return ok && skip_units(cutting, gap, gap + gap_size, abbrevs, &unit);
    debug->is_possible = false; /* nothing is there */
    return ok;
}

/* ---- the whole ---- */

static void find_sections(struct pd_cut_debug *debug, Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t strings;
    if (elf_getshdrstrndx(elf, &strings))
        return;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, strings, header.sh_name)
                                                          : NULL;
        for (size_t i = 0; name && i < PD_CUT_DEBUG_SECTIONS; i++) {
            const Elf_Data *data = strcmp(name, names[i]) ? NULL : elf_getdata(section, NULL);
            if (!data || !data->d_buf || header.sh_type == SHT_NOBITS ||
                header.sh_flags & SHF_COMPRESSED)
                continue;
            debug->parts[i].bytes = data->d_buf;
            debug->parts[i].size = debug->parts[i].new_size = data->d_size;
        }
    }
}

static int compare_pieces(const void *left, const void *right)
{
    const struct pd_elf_piece *a = left, *b = right;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->size < b->size) - (a->size > b->size);
}

/* What is referred to again and again is kept once. */
static bool finish_part(struct pd_cut_debug *debug, enum pd_cut_debug_section index)
{
    struct pd_cut_part *part = &debug->parts[index];
    uint64_t end = 0;
    size_t kept = 0;
    if (part->is_whole || index == PD_CUT_LINE_STR) {
        part->pieces.count = 0;
        return pd_cut_debug_keep(debug, index, 0, part->size);
    }
    if (index == PD_CUT_INFO || !part->pieces.count)
        return true;
    qsort(part->pieces.data, part->pieces.count, sizeof *part->pieces.data, compare_pieces);
    for (size_t i = 0; i < part->pieces.count; i++) {
        struct pd_elf_piece piece = part->pieces.data[i];
        if (kept && piece.offset + piece.size <= end)
            continue;
        end = piece.offset + piece.size;
        part->pieces.data[kept++] = piece;
    }
    part->pieces.count = kept;
    return true;
}

bool pd_cut_debug(struct pd_lines *lines, const struct pd_elf *like, const pd_cut_list *addresses,
                  struct pd_cut_debug *out)
{
    struct cutting cutting = { .debug = out, .dwarf = lines->dwarf };
    *out = (struct pd_cut_debug){ .like = like, .is_possible = lines->dwarf != NULL };
    for (size_t i = 0; i < PD_CUT_DEBUG_SECTIONS; i++)
        out->parts[i].name = names[i];
    if (!out->is_possible)
        return true;
    find_sections(out, dwarf_getelf(lines->dwarf));
    bool ok = pd_cut_debug_want(lines, addresses, out) &&
              (!out->is_possible || cut_units(&cutting, lines));
    char *abbrevs = ok ? pd_arena_alloc(&out->arena, cutting.abbrevs.length + 1) : NULL;
    if (abbrevs) {
        memcpy(abbrevs, cutting.abbrevs.data ? cutting.abbrevs.data : "", cutting.abbrevs.length);
        const struct pd_elf_piece piece = { 0, abbrevs, cutting.abbrevs.length };
        out->parts[PD_CUT_ABBREV].new_size = cutting.abbrevs.length;
        ok = pd_vec_push(&out->parts[PD_CUT_ABBREV].pieces, piece);
    } else {
        ok = false;
    }
    for (size_t i = 0; i < PD_CUT_DEBUG_SECTIONS && ok; i++)
        ok = i == PD_CUT_ABBREV || finish_part(out, (enum pd_cut_debug_section)i);
    pd_text_free(&cutting.abbrevs);
    pd_map64_free(&cutting.tables);
    pd_vec_free(&cutting.fillers);
    pd_vec_free(&cutting.places);
    return ok;
}

void pd_cut_debug_free(struct pd_cut_debug *debug)
{
    for (size_t i = 0; i < PD_CUT_DEBUG_SECTIONS; i++)
        pd_vec_free(&debug->parts[i].pieces);
    pd_arena_free(&debug->arena);
    pd_vec_free(&debug->entries);
    pd_vec_free(&debug->units);
}
