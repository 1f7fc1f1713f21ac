/* SPDX-License-Identifier: MIT */
/* Functions with the source file that the symbol table puts them in, for programs built without
 * debug data; and rows of the DWARF line programs, each unit's read when an address first lies in
 * it: a library has thousands of units, a recording meets ten of them. */
#include "object/lines/internal.h"
#include "base/memory.h"
#include "object/elf/file.h"
#include "object/lines/unpack.h"
#include <errno.h>
#include <dwarf.h>
#include <stdio.h>
#include <unistd.h>

#define DEBUG_ROOT "/usr/lib/debug"

/* ---- functions ---- */

static int compare_functions(const void *left, const void *right)
{
    const struct pd_lines_symbol *a = left, *b = right;
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

/* Equal ones keep their order, which qsort does not promise; they are few, so merge by hand. */
static bool sort_functions(struct pd_lines *lines)
{
    size_t count = lines->functions.count;
    struct pd_lines_symbol *from = lines->functions.data, *spare = NULL;
    if (count > 1 && !(spare = pd_memory_noted(malloc(count * sizeof *spare))))
        return false;
    struct pd_lines_symbol *to = spare;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t start = 0; start < count; start += 2 * width) {
            size_t middle = PD_MIN(start + width, count), end = PD_MIN(start + 2 * width, count);
            size_t left = start, right = middle;
            for (size_t i = start; i < end; i++) {
                bool take_left = left < middle &&
                                 (right >= end ||
                                  compare_functions(&from[left], &from[right]) <= 0);
                to[i] = from[take_left ? left++ : right++];
            }
        }
        struct pd_lines_symbol *swap = from;
        from = to;
        to = swap;
    }
    if (from != lines->functions.data && count)
        memcpy(lines->functions.data, from, count * sizeof *from);
    free(spare);
    return true;
}

/* A symbol that addr2line may name an address by. */
static bool is_candidate(const GElf_Sym *symbol)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info), bind = GELF_ST_BIND(symbol->st_info);
    if (type == STT_OBJECT || type == STT_SECTION || type == STT_TLS || type == STT_COMMON ||
        symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= SHN_LORESERVE)
        return false;
    /* marks that compilers leave for tools */
    return symbol->st_size || bind != STB_LOCAL || type != STT_NOTYPE ||
           GELF_ST_VISIBILITY(symbol->st_other) != STV_HIDDEN;
}

static bool add_functions(struct pd_lines *lines, const struct pd_elf *elf,
                          const struct pd_elf_table *table)
{
    if (lines->no_functions)
        return true;
    Elf_Data *data = pd_elf_data(elf, table->section);
    struct pd_elf_names names;
    enum { FRESH, SYMBOL_SEEN, FILE_AFTER_SYMBOL } state = FRESH;
    size_t count = table->header.sh_entsize && data ? data->d_size / table->header.sh_entsize : 0;
    uint32_t file = PD_LINES_NO_FILE;

    (void)pd_elf_names_open(elf, table->header.sh_link, &names);
    for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            break;
        if (GELF_ST_TYPE(symbol.st_info) == STT_FILE) {
            size_t length;
            const char *name = pd_elf_names_take(&names, symbol.st_name, &length);
            file = name ? pd_intern(&lines->files, name, length) : PD_LINES_NO_FILE;
            if (name && file == PD_INTERN_NONE)
                return false;
            if (state == SYMBOL_SEEN)
                state = FILE_AFTER_SYMBOL;
            continue;
        }
        if (state == FRESH)
            state = SYMBOL_SEEN;
        if (!is_candidate(&symbol))
            continue;
        /* Global ones stand behind all files: theirs is known only where there is but one. */
        size_t length;
        const char *text = pd_elf_names_take(&names, symbol.st_name, &length);
        uint32_t name = pd_intern(&lines->files, text ? text : "", text ? length : 0);
        if (name == PD_INTERN_NONE)
            return false;
        bool placed = GELF_ST_BIND(symbol.st_info) == STB_LOCAL || state != FILE_AFTER_SYMBOL;
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        struct pd_lines_symbol function = {
            .value = symbol.st_value,
            .size = symbol.st_size ? symbol.st_size : 1,
            .section = symbol.st_shndx,
            .file = placed ? file : PD_LINES_NO_FILE,
            .name = name,
            .is_function = type == STT_FUNC || type == STT_GNU_IFUNC,
            .is_untyped = type == STT_NOTYPE,
        };
        if (!pd_vec_push(&lines->functions, function))
            return false;
    }
    return sort_functions(lines);
}

static bool add_sections(struct pd_lines *lines, const struct pd_elf *elf)
{
    for (size_t i = 1; i < elf->section_count; i++) {
        Elf_Scn *section = elf_getscn(elf->elf, i);
        GElf_Shdr header;
        if (!section || !gelf_getshdr(section, &header))
            break;
        if (header.sh_flags & SHF_ALLOC && header.sh_size &&
            !pd_vec_push(&lines->sections,
                         (struct pd_lines_section){ header.sh_addr, header.sh_size, (uint32_t)i }))
            return false;
    }
    return true;
}

/* ---- lines ---- */

/* Where the names of files in a unit begin; NULL: nobody says. */
static const char *folder_of(struct pd_lines_unit *unit)
{
    Dwarf_Attribute attribute;
    if (!unit->has_folder)
        unit->folder = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
    unit->has_folder = true;
    return unit->folder;
}

/* Before version 5 libdw puts it before names that have no other folder, later before none. */
static bool has_folder(const struct pd_lines_unit *unit, const char *name, const char *folder)
{
    const size_t length = strlen(folder);
    return *name == '/' ||
           (!unit->is_version_5 && !strncmp(name, folder, length) && name[length] == '/');
}

uint32_t pd_lines_add_file(struct pd_lines *lines, struct pd_lines_unit *unit, const char *name)
{
    char joined[4096];
    const char *folder = folder_of(unit);
    int length = folder && !has_folder(unit, name, folder)
                     ? snprintf(joined, sizeof joined, "%s/%s", folder, name)
                     : -1;
    if (length > 0 && (size_t)length < sizeof joined)
        name = joined;
    return pd_intern(&lines->files, name, strlen(name));
}

/* A row's file. A program begins with file 1; binutils takes the unit's own, 0, until it is set,
 * where files are counted from 0. */
static const char *row_file(const struct pd_lines_unit *unit, Dwarf_Line *line, bool *fresh)
{
    Dwarf_Files *files;
    size_t index;
    const char *name = NULL;

    if (unit->is_version_5 && *fresh && !dwarf_line_file(line, &files, &index)) {
        *fresh = index == 1;
        if (*fresh)
            name = dwarf_filesrc(files, 0, NULL, NULL);
    }
    return name ? name : dwarf_linesrc(line, NULL, NULL);
}

/* The names of libdw's file table stay the same while it lives. */
static bool add_rows(struct pd_lines *lines, struct pd_lines_unit *unit, Dwarf_Lines *program,
                     size_t count)
{
    const char *last = NULL;
    uint32_t file = PD_LINES_NO_FILE;
    bool fresh = true;

    if (!pd_vec_reserve(&unit->rows, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        Dwarf_Line *line = dwarf_onesrcline(program, i);
        Dwarf_Addr address;
        bool ends;
        int number = 0;
        if (!line || dwarf_lineaddr(line, &address) || dwarf_lineendsequence(line, &ends))
            continue;
        const char *name = ends ? NULL : row_file(unit, line, &fresh);
        fresh = fresh || ends;
        if (name && name != last) {
            file = pd_lines_add_file(lines, unit, name);
            if (file == PD_INTERN_NONE)
                return false;
            last = name;
        }
        dwarf_lineno(line, &number);
        unit->rows.data[unit->rows.count++] = (struct pd_lines_row){ address,
                                                                     name ? file : PD_LINES_NO_FILE,
                                                                     (uint32_t)number };
    }
    return true;
}

/* By address; what ends there before what begins there. Units give their rows in order, so that
 * equal addresses are rare, and of those the later row holds. */
struct sorting {
    struct pd_lines_row row;
    size_t order;
};

static int compare_rows(const void *left, const void *right)
{
    const struct sorting *a = left, *b = right;
    if (a->row.address != b->row.address)
        return a->row.address < b->row.address ? -1 : 1;
    if ((a->row.file == PD_LINES_NO_FILE) != (b->row.file == PD_LINES_NO_FILE))
        return a->row.file == PD_LINES_NO_FILE ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static bool sort_rows(struct pd_lines_unit *unit)
{
    size_t count = unit->rows.count, bytes, sorted = 1;
    struct pd_lines_row *rows = unit->rows.data;

    while (sorted < count && rows[sorted - 1].address < rows[sorted].address)
        sorted++;
    if (sorted >= count)
        return true;
    if (pd_mul_overflows(count, sizeof(struct sorting), &bytes))
        return false;
    struct sorting *all = pd_memory_noted(malloc(bytes));
    if (!all)
        return false;
    for (size_t i = 0; i < count; i++)
        all[i] = (struct sorting){ rows[i], i };
    qsort(all, count, sizeof *all, compare_rows);
    for (size_t i = 0; i < count; i++)
        rows[i] = all[i].row;
    free(all);
    return true;
}

/* Without memory a unit stays as if it had no lines. */
static void read_unit(struct pd_lines *lines, struct pd_lines_unit *unit)
{
    Dwarf_Lines *program;
    size_t count;

    if (unit->is_read)
        return;
    unit->is_read = true;
    errno = 0;
    if (!dwarf_getsrclines(&unit->die, &program, &count) &&
        !(add_rows(lines, unit, program, count) && sort_rows(unit)))
        unit->rows.count = 0;
    pd_memory_note_errno();
}

/* The unit whose DIE lies there. */
struct pd_lines_unit *pd_lines_unit_at(struct pd_lines *lines, Dwarf_Off place)
{
    size_t low = 0, high = lines->units.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct pd_lines_unit *unit = &lines->units.data[middle];
        Dwarf_Off at = dwarf_dieoffset(&unit->die);
        if (at == place)
            return unit;
        if (at < place)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static void list_units(struct pd_lines *lines)
{
    size_t count = 0;
    if (dwarf_getaranges(lines->dwarf, &lines->ranges, &count))
        lines->ranges = NULL;
    for (size_t i = 0; lines->ranges && i < count; i++) {
        Dwarf_Arange *range = dwarf_onearange(lines->ranges, i);
        Dwarf_Off place;
        struct pd_lines_unit *unit = range && !dwarf_getarangeinfo(range, NULL, NULL, &place)
                                         ? pd_lines_unit_at(lines, place)
                                         : NULL;
        if (unit)
            unit->is_listed = true;
    }
}

/* libdw goes on without a section for whose unpacking there was no memory, and does not say so: we
 * ask libelf before. */
static void unpack_sections(Elf *elf)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section)) != NULL) {
        GElf_Shdr header;
        errno = 0;
        if (gelf_getshdr(section, &header) && header.sh_flags & SHF_COMPRESSED)
            (void)elf_compress(section, 0, 0);
        pd_memory_note_errno();
    }
}

/* libdw gets a file of its own: it writes into what it unpacks. What it cannot unpack, or should
 * not, we do. */
static void open_dwarf(struct pd_lines *lines, const struct pd_elf *elf, const char *path)
{
    switch (pd_debug_packed(elf)) {
    case PD_PACKED_PLAIN:
        lines->fd = pd_file_open(path);
        lines->elf = lines->fd >= 0 ? elf_begin(lines->fd, ELF_C_READ_MMAP_PRIVATE, NULL) : NULL;
        if (lines->elf)
            unpack_sections(lines->elf);
        lines->dwarf = lines->elf ? dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL) : NULL;
        break;
    case PD_PACKED_ZSTD:
        if (!pd_debug_unpack(elf, &lines->unpacked)) {
            lines->problem = "its debug sections cannot be unpacked";
            return;
        }
        lines->elf = elf_memory((char *)lines->unpacked.data, lines->unpacked.size);
        lines->dwarf = lines->elf ? dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL) : NULL;
        break;
    case PD_PACKED_TOO_BIG:
        lines->problem = "its debug sections are packed so that they would fill the memory";
        return;
    case PD_PACKED_UNKNOWN:
        lines->problem = "its debug sections are packed in an unknown way";
        return;
    }
    if (!lines->dwarf)
        lines->problem = "its debug sections cannot be read";
}

static bool add_lines(struct pd_lines *lines, const struct pd_elf *elf, const char *path)
{
    Dwarf_CU *at = NULL;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die die;

    errno = 0;
    open_dwarf(lines, elf, path);
    pd_memory_note_errno();
    errno = 0;
    if (lines->problem && !(lines->problem_path = pd_memory_noted(strdup(path))))
        return false;
    while (lines->dwarf && !dwarf_get_units(lines->dwarf, at, &at, &version, &type, &die, NULL)) {
        struct pd_lines_unit unit = { .die = die, .is_version_5 = version >= 5 };
        if (type != DW_UT_type && !pd_vec_push(&lines->units, unit))
            return false;
    }
    if (lines->dwarf)
        list_units(lines);
    pd_memory_note_errno();
    return true;
}

static bool has_lines(const struct pd_elf *elf)
{
    struct pd_elf_table info;
    return pd_elf_section(elf, ".debug_info", &info) || pd_elf_section(elf, ".zdebug_info", &info);
}

/* The lines of another file, if it has any: then true in `*done`. */
static bool add_other(struct pd_lines *lines, const char *path, bool *done)
{
    struct pd_elf other;
    bool ok = true;

    if (*done || !pd_elf_open(&other, path))
        return true;
    if (has_lines(&other)) {
        ok = add_lines(lines, &other, path);
        /* It has more symbols than what was left behind. */
        if (ok && other.symtab.section) {
            lines->functions.count = 0;
            ok = add_functions(lines, &other, &other.symtab);
        }
        *done = true;
    }
    pd_elf_close(&other);
    return ok;
}

/* Where distributions put what they strip: by build-id, then by the name that the file holds. */
static bool follow_links(struct pd_lines *lines, const struct pd_elf *elf, const char *path)
{
    char name[512], other[4096], hex[2 * PD_BUILD_ID_MAX + 1];
    struct pd_build_id id = { 0 };
    bool done = false, ok = true;

    if (pd_elf_build_id(elf, &id) && pd_build_id_text(&id, hex) > 2) {
        snprintf(other, sizeof other, DEBUG_ROOT "/.build-id/%.2s/%s.debug", hex, hex + 2);
        ok = add_other(lines, other, &done);
    }
    if (!ok || done || !pd_elf_debuglink(elf, name, sizeof name))
        return ok;
    char *real = realpath(path, NULL);
    char *slash = real ? strrchr(real, '/') : NULL;
    static const char *const places[] = { "", "/.debug", NULL };
    for (size_t i = 0; ok && slash && i < PD_LENGTH(places); i++) {
        const char *root = places[i] ? "" : DEBUG_ROOT;
        int length = snprintf(other, sizeof other, "%s%.*s%s/%s", root, (int)(slash - real), real,
                              places[i] ? places[i] : "", name);
        if (length > 0 && (size_t)length < sizeof other && strcmp(other, real) != 0)
            ok = add_other(lines, other, &done);
    }
    free(real);
    return ok;
}

/* ---- the whole ---- */

static bool fill(struct pd_lines *lines, const struct pd_elf *elf, const char *path)
{
    const struct pd_elf_table *table = elf->symtab.section ? &elf->symtab : &elf->dynsym;
    if (!add_sections(lines, elf) || (table->section && !add_functions(lines, elf, table)))
        return false;
    if (elf->header.e_type == ET_REL) /* its lines are not yet at their addresses */
        return true;
    return has_lines(elf) ? add_lines(lines, elf, path) : follow_links(lines, elf, path);
}

static struct pd_lines *open_lines(const char *path, bool no_functions)
{
    struct pd_lines *lines = pd_memory_noted(calloc(1, sizeof *lines));
    struct pd_elf elf;

    if (!lines)
        return NULL;
    lines->fd = -1;
    lines->no_functions = no_functions;
    pthread_mutex_init(&lines->lock, NULL);
    if (!pd_elf_open(&elf, path))
        return lines;
    if (!fill(lines, &elf, path)) {
        pd_lines_free(lines);
        lines = NULL;
    }
    pd_elf_close(&elf);
    return lines;
}

struct pd_lines *pd_lines_open(const char *path)
{
    return open_lines(path, false);
}

struct pd_lines *pd_lines_probe(const char *path)
{
    return open_lines(path, true);
}

const char *pd_lines_problem(const struct pd_lines *lines, const char **path)
{
    *path = lines->problem_path ? lines->problem_path : "";
    return lines->problem;
}

static void free_asked(struct pd_lines_asked *asked)
{
    pd_map64_free(&asked->functions);
    pd_map64_free(&asked->addresses);
    pd_vec_free(&asked->lists);
    pd_arena_free(&asked->arena);
}

void pd_lines_free(struct pd_lines *lines)
{
    if (!lines)
        return;
    for (size_t i = 0; i < lines->units.count; i++) {
        pd_vec_free(&lines->units.data[i].rows);
        pd_vec_free(&lines->units.data[i].bodies);
    }
    pd_vec_free(&lines->units);
    dwarf_end(lines->dwarf);
    elf_end(lines->elf);
    free(lines->problem_path);
    pd_bytes_free(&lines->unpacked);
    if (lines->fd >= 0)
        close(lines->fd);
    pthread_mutex_destroy(&lines->lock);
    pd_intern_free(&lines->files);
    pd_vec_free(&lines->functions);
    pd_vec_free(&lines->sections);
    free_asked(&lines->asked);
    free(lines);
}

static const struct pd_lines_section *find_section(const struct pd_lines *lines, uint64_t address)
{
    for (size_t i = 0; i < lines->sections.count; i++)
        if (address - lines->sections.data[i].start < lines->sections.data[i].size)
            return &lines->sections.data[i];
    return NULL;
}

/* The last row at or below the address, if a line holds there. */
static const struct pd_lines_row *find_row(const struct pd_lines_unit *unit, uint64_t address)
{
    size_t upto = pd_upto(unit->rows.data, unit->rows.count, address, address);
    return upto && unit->rows.data[upto - 1].file != PD_LINES_NO_FILE ? &unit->rows.data[upto - 1]
                                                                      : NULL;
}

/* In the unit that the table of ranges names, else in those that it does not know. */
const struct pd_lines_row *pd_lines_row_at(struct pd_lines *lines, uint64_t address,
                                           struct pd_lines_unit **unit)
{
    Dwarf_Arange *range = lines->ranges ? dwarf_getarange_addr(lines->ranges, address) : NULL;
    const struct pd_lines_row *row = NULL;
    Dwarf_Off place;

    if (range && !dwarf_getarangeinfo(range, NULL, NULL, &place)) {
        *unit = pd_lines_unit_at(lines, place);
        if (*unit) {
            read_unit(lines, *unit);
            row = find_row(*unit, address);
        }
    }
    for (size_t i = 0; !row && lines->units.data && i < lines->units.count; i++) {
        *unit = &lines->units.data[i];
        if ((*unit)->is_listed)
            continue;
        read_unit(lines, *unit);
        row = find_row(*unit, address);
    }
    return row;
}

/* Which of two symbols that begin at the same address is taken. */
static bool is_better(const struct pd_lines_symbol *other, const struct pd_lines_symbol *best,
                      uint64_t address)
{
    if (address - best->value >= best->size)
        return other->size > best->size;
    if (address - other->value >= other->size)
        return false;
    if (other->is_function != best->is_function)
        return other->is_function;
    if (other->is_untyped != best->is_untyped)
        return best->is_untyped;
    return other->size < best->size;
}

static const struct pd_lines_symbol *find_function(const struct pd_lines *lines, uint32_t section,
                                                   uint64_t address)
{
    const struct pd_lines_symbol *all = lines->functions.data;
    size_t low = 0, high = lines->functions.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pd_lines_symbol *at = &all[middle];
        if (at->section < section || (at->section == section && at->value <= address))
            low = middle + 1;
        else
            high = middle;
    }
    size_t end = low;
    if (!end || all[end - 1].section != section)
        return NULL;
    for (low = end - 1;
         low && all[low - 1].section == section && all[low - 1].value == all[end - 1].value;)
        low--;
    const struct pd_lines_symbol *best = &all[low];
    for (size_t i = low + 1; i < end; i++)
        if (is_better(&all[i], best, address))
            best = &all[i];
    return best;
}

const struct pd_lines_symbol *pd_lines_symbol_at(const struct pd_lines *lines, uint64_t address)
{
    const struct pd_lines_section *section = find_section(lines, address);
    return section ? find_function(lines, section->index, address) : NULL;
}

enum pd_lines_answer pd_lines_find(struct pd_lines *lines, uint64_t address, const char **file,
                                   unsigned *line)
{
    const struct pd_lines_section *section = find_section(lines, address);
    if (!section)
        return PD_LINES_NOTHING;
    pthread_mutex_lock(&lines->lock);
    struct pd_lines_unit *unit;
    const struct pd_lines_row *row = lines->dwarf ? pd_lines_row_at(lines, address, &unit) : NULL;
    if (row) {
        *file = pd_intern_text(&lines->files, row->file);
        *line = row->line;
    }
    pthread_mutex_unlock(&lines->lock);
    if (row)
        return PD_LINES_FOUND;
    const struct pd_lines_symbol *function = find_function(lines, section->index, address);
    if (!function)
        return PD_LINES_NOTHING;
    if (function->file == PD_LINES_NO_FILE)
        return PD_LINES_NAMELESS;
    pthread_mutex_lock(&lines->lock); /* the table of texts may move */
    *file = pd_intern_text(&lines->files, function->file);
    pthread_mutex_unlock(&lines->lock);
    *line = 0;
    return PD_LINES_FOUND;
}
