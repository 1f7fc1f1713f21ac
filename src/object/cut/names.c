/* SPDX-License-Identifier: MIT */
/* A table of symbols -> those of some addresses, in a form in which both perf's rules and
 * addr2line's give the same names. */
#include "object/cut/internal.h"
#include <stdlib.h>

static int compare_values(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

void pd_cut_sort(pd_cut_list *list)
{
    size_t kept = 0;
    if (list->count)
        qsort(list->data, list->count, sizeof *list->data, compare_values);
    for (size_t i = 0; i < list->count; i++)
        if (!kept || list->data[kept - 1] != list->data[i])
            list->data[kept++] = list->data[i];
    list->count = kept;
}

bool pd_cut_has(const pd_cut_list *list, uint64_t value)
{
    return list->count &&
           bsearch(&value, list->data, list->count, sizeof *list->data, compare_values);
}

struct pd_symtab *pd_cut_names(const struct pd_elf *symbols, const struct pd_elf *program,
                               bool is_module, uint64_t *text_offset)
{
    struct pd_elf_load load = { .syms = symbols,
                                .runtime = program,
                                .kind = is_module ? PD_ELF_MODULE : PD_ELF_USER,
                                .builder = pd_symtab_builder_new(PD_DEMANGLE_NONE) };
    size_t count = 0;
    if (!load.builder)
        return NULL;
    (void)pd_elf_load_symbols(&load,
                              &count); /* what was added before it failed stays, as in perf */
    *text_offset = load.text_offset;
    bool ok = !count || pd_elf_load_plt(program, load.builder);
    struct pd_symtab *table = pd_symtab_finish(load.builder);
    pd_elf_load_free(&load);
    if (ok)
        return table;
    pd_symtab_free(table);
    return NULL;
}

/* ---- the table ---- */

/* As addr2line reads it: which file a global symbol is of depends on where files stand. */
enum files { NO_SYMBOL, SYMBOL_SEEN, FILE_AFTER_SYMBOL };

/* A mark, where what a kept symbol names has its end, or where a section begins. objdump names an
 * address by the last symbol before it, whatever that one's size: without marks it would give wrong
 * names. Our readers, as perf and addr2line, take no notice of local, hidden, untyped ones. */
struct mark {
    uint64_t value;
    uint32_t section;
};

struct cutting {
    const struct pd_elf *from, *to;
    PD_VEC(struct mark) marks;
    bool has_put_marks;
    struct pd_elf_names names;
    struct pd_cut_table *out;
    PD_VEC(uint32_t) sections; /* of `from`: the same one of `to`; 0: none */
    GElf_Sym file;             /* the last one that was met */
    bool has_file, has_put_file;
    enum files read, put;
};

static bool map_sections(struct cutting *cutting)
{
    const struct pd_elf *from = cutting->from, *to = cutting->to;
    if (!pd_vec_widen_to(&cutting->sections, from->section_count))
        return false;
    for (size_t i = 1; i < from->section_count; i++) {
        GElf_Shdr header, other;
        Elf_Scn *same = from == to ? NULL : elf_getscn(to->elf, i);
        struct pd_elf_table found;
        if (from == to) {
            cutting->sections.data[i] = (uint32_t)i;
            continue;
        }
        if (!gelf_getshdr(elf_getscn(from->elf, i), &header))
            continue;
        const char *name = pd_elf_section_name(from, &header);
        if (i < to->section_count && same && gelf_getshdr(same, &other) &&
            !strcmp(pd_elf_section_name(to, &other), name))
            cutting->sections.data[i] = (uint32_t)i;
        else if (*name && pd_elf_section(to, name, &found))
            cutting->sections.data[i] = (uint32_t)found.index;
    }
    return true;
}

static enum files next_state(enum files state, bool is_file)
{
    if (is_file)
        return state == SYMBOL_SEEN ? FILE_AFTER_SYMBOL : state;
    return state == NO_SYMBOL ? SYMBOL_SEEN : state;
}

static bool put(struct cutting *cutting, GElf_Sym symbol)
{
    struct pd_cut_table *out = cutting->out;
    size_t length = 0;
    const char *name = pd_elf_names_take(&cutting->names, symbol.st_name, &length);
    symbol.st_name = 0;
    if (name && length && out->strings.length < UINT32_MAX / 2) {
        symbol.st_name = (GElf_Word)out->strings.length;
        pd_text_bytes(&out->strings, name, length + 1);
    }
    if (GELF_ST_BIND(symbol.st_info) == STB_LOCAL && out->locals == out->count)
        out->locals++;
    out->count++;
    pd_elf_put_symbol(&out->entries, cutting->to, &symbol);
    return !out->entries.failed && !out->strings.failed;
}

/* Puts in front of the symbol what makes it belong to the same file. */
static bool put_file(struct cutting *cutting)
{
    const GElf_Sym mark = { .st_info = GELF_ST_INFO(STB_LOCAL, STT_SECTION) };
    if (!cutting->has_file)
        return true;
    bool marks = cutting->read == FILE_AFTER_SYMBOL && cutting->put == NO_SYMBOL;
    if (marks && !put(cutting, mark))
        return false;
    if (marks)
        cutting->put = next_state(cutting->put, false);
    bool again = cutting->read == FILE_AFTER_SYMBOL && cutting->put != FILE_AFTER_SYMBOL;
    if (cutting->has_put_file && !again)
        return true;
    cutting->has_put_file = true;
    cutting->put = next_state(cutting->put, true);
    return put(cutting, cutting->file);
}

static bool is_wanted(const struct cutting *cutting, const GElf_Sym *symbol,
                      const pd_cut_list *values)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx >= cutting->sections.count ||
        type == STT_SECTION || type == STT_TLS || !cutting->sections.data[symbol->st_shndx])
        return false;
    return pd_cut_has(values, symbol->st_value);
}

/* ---- marks ---- */

static int compare_marks(const void *left, const void *right)
{
    const struct mark *a = left, *b = right;
    if (a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return (a->section > b->section) - (a->section < b->section);
}

static bool find_marks(struct cutting *cutting, Elf_Data *data, size_t count,
                       const pd_cut_list *values)
{
    for (size_t i = 1; i < cutting->to->section_count && i < SHN_LORESERVE; i++) {
        GElf_Shdr header;
        Elf_Scn *section = elf_getscn(cutting->to->elf, i);
        if (section && gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC &&
            !pd_vec_push(&cutting->marks, (struct mark){ header.sh_addr, (uint32_t)i }))
            return false;
    }
    for (size_t i = 1; i < count && i <= INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            break;
        if (symbol.st_size && is_wanted(cutting, &symbol, values) &&
            !pd_vec_push(&cutting->marks, (struct mark){ symbol.st_value + symbol.st_size,
                                                         cutting->sections.data[symbol.st_shndx] }))
            return false;
    }
    if (cutting->marks.count)
        qsort(cutting->marks.data, cutting->marks.count, sizeof *cutting->marks.data,
              compare_marks);
    return true;
}

/* Puts the marks among the last local symbols, where they no longer touch the rules of files. */
static bool put_marks(struct cutting *cutting, const pd_cut_list *values)
{
    static const char name[] = "(not in the bundle)";
    struct pd_cut_table *out = cutting->out;
    const GElf_Word at = (GElf_Word)out->strings.length;
    cutting->has_put_marks = true;
    if (!cutting->marks.count)
        return true;
    pd_text_bytes(&out->strings, name, sizeof name);
    for (size_t i = 0; i < cutting->marks.count; i++) {
        const struct mark *mark = &cutting->marks.data[i];
        const GElf_Sym symbol = { .st_name = at,
                                  .st_info = GELF_ST_INFO(STB_LOCAL, STT_NOTYPE),
                                  .st_other = STV_HIDDEN,
                                  .st_shndx = (GElf_Section)mark->section,
                                  .st_value = mark->value };
        if (pd_cut_has(values, mark->value) || (i && !compare_marks(mark - 1, mark)))
            continue;
        cutting->put = next_state(cutting->put, false);
        out->locals += out->locals == out->count;
        out->count++;
        pd_elf_put_symbol(&out->entries, cutting->to, &symbol);
    }
    return true;
}

/* ---- the whole ---- */

static bool take(struct cutting *cutting, GElf_Sym symbol, const pd_cut_list *values)
{
    bool is_file = GELF_ST_TYPE(symbol.st_info) == STT_FILE;
    cutting->read = next_state(cutting->read, is_file);
    if (is_file) {
        cutting->file = symbol;
        cutting->has_file = true;
        cutting->has_put_file = false;
        return true;
    }
    if (!is_wanted(cutting, &symbol, values))
        return true;
    symbol.st_shndx = (GElf_Section)cutting->sections.data[symbol.st_shndx];
    if (!put_file(cutting) ||
        (!cutting->has_put_marks && GELF_ST_BIND(symbol.st_info) != STB_LOCAL &&
         !put_marks(cutting, values)))
        return false;
    cutting->put = next_state(cutting->put, false);
    return put(cutting, symbol);
}

bool pd_cut_table(const struct pd_elf *symbols, const struct pd_elf *program,
                  const struct pd_elf_table *table, const pd_cut_list *values,
                  struct pd_cut_table *out)
{
    struct cutting cutting = { .from = symbols, .to = program, .out = out };
    const GElf_Sym none = { .st_name = 0 };
    Elf_Data *data = pd_elf_data(symbols, table->section);
    size_t count = table->header.sh_entsize && data ? data->d_size / table->header.sh_entsize : 0;
    pd_text_char(&out->strings, '\0');
    bool ok = map_sections(&cutting) && put(&cutting, none);
    if (!pd_elf_names_open(symbols, table->header.sh_link, &cutting.names))
        count = 0;
    ok = ok && find_marks(&cutting, data, count, values);
    for (size_t i = 1; i < count && i <= INT32_MAX && ok; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            break;
        ok = take(&cutting, symbol, values);
    }
    ok = ok && (cutting.has_put_marks || put_marks(&cutting, values));
    pd_vec_free(&cutting.sections);
    pd_vec_free(&cutting.marks);
    return ok && !out->entries.failed && !out->strings.failed;
}

void pd_cut_table_free(struct pd_cut_table *table)
{
    pd_text_free(&table->entries);
    pd_text_free(&table->strings);
}
