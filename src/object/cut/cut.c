/* SPDX-License-Identifier: MIT */
/* A whole file and addresses -> what of it is kept. */
#include "object/cut/debug.h"
#include "base/memory.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAGE = 4096, SEGMENTS_MAX = 256, SECTIONS_MAX = 4096 };

struct range {
    uint64_t start, end;
};

struct cutting {
    const struct pd_cut_source *source;
    struct pd_cut_result *result;
    struct pd_cut_open whole;
    struct pd_elf_out out;
    pd_cut_list values; /* of symbols that are kept, as their table has them */
    pd_cut_list places; /* addresses as the file counts, with those right before them */
    pd_cut_list plt;    /* its entries */
    PD_VEC(struct range) code;
    struct pd_cut_table symtab, dynsym;
    struct pd_text plt_entries;
    struct pd_frame_cut frames;
    struct pd_cut_debug debug;
};

/* ---- what is wanted ---- */

static const struct pd_elf *symbols_of(const struct cutting *cutting)
{
    return cutting->whole.has_symbols ? &cutting->whole.symbols : &cutting->whole.program;
}

static bool want_value(struct cutting *cutting, uint64_t value)
{
    if (cutting->whole.program.header.e_machine == EM_ARM &&
        !pd_vec_push(&cutting->values, value | 1)) /* the mark of Thumb code */
        return false;
    return pd_vec_push(&cutting->values, value);
}

/* Keeps what begins at an offset of the file, in the addresses of symbols: by the segments, or for
 * a module by its sections. Keeping more than there is does no harm. */
static bool want_start(struct cutting *cutting, uint64_t start)
{
    const struct pd_elf *elf = &cutting->whole.program;
    size_t count;
    if (elf_getphdrnum(elf->elf, &count) || elf->header.e_type == ET_REL)
        count = 0;
    for (size_t i = 0; i < count && i < SEGMENTS_MAX; i++) {
        GElf_Phdr segment;
        if (!gelf_getphdr(elf->elf, (int)i, &segment))
            break;
        uint64_t size = PD_MAX(segment.p_memsz, segment.p_filesz);
        if (segment.p_type == PT_LOAD && start - segment.p_offset < size &&
            !want_value(cutting, start - segment.p_offset + segment.p_vaddr))
            return false;
    }
    for (size_t i = 1; !count && i < elf->section_count && i < SECTIONS_MAX; i++) {
        GElf_Shdr header;
        Elf_Scn *section = elf_getscn(elf->elf, i);
        if (section && gelf_getshdr(section, &header) && header.sh_flags & SHF_ALLOC &&
            start - header.sh_offset < header.sh_size &&
            !want_value(cutting, start - header.sh_offset + header.sh_addr))
            return false;
    }
    return true;
}

/* Whether a section is code that the file has bytes of. */
static bool is_code(const struct pd_elf *elf, const GElf_Shdr *header)
{
    return header->sh_flags & SHF_EXECINSTR && header->sh_type == SHT_PROGBITS && header->sh_size &&
           pd_range_ok(header->sh_offset, header->sh_size, elf->bytes.size);
}

/* The section of code that an offset lies in. */
static bool code_at(const struct cutting *cutting, uint64_t offset, struct range *out)
{
    const struct pd_elf *elf = &cutting->whole.program;
    for (size_t i = 1; i < elf->section_count && i < SECTIONS_MAX; i++) {
        GElf_Shdr header;
        Elf_Scn *section = elf_getscn(elf->elf, i);
        if (section && gelf_getshdr(section, &header) && is_code(elf, &header) &&
            offset - header.sh_offset < header.sh_size) {
            *out = (struct range){ header.sh_offset, header.sh_offset + header.sh_size };
            return true;
        }
    }
    return false;
}

/* Keeps the function at an address, or else the page. */
static bool want_code(struct cutting *cutting, uint64_t address, const struct pd_symbol *symbol)
{
    struct range section, range = { address & ~(uint64_t)(PAGE - 1), 0 };
    if (!code_at(cutting, address, &section))
        return true;
    range.end = range.start + PAGE;
    if (symbol)
        range = (struct range){ symbol->start, PD_MAX(symbol->end, symbol->start + 1) };
    range.start = PD_MAX(range.start, section.start);
    range.end = PD_MIN(range.end, section.end);
    return range.start >= range.end || pd_vec_push(&cutting->code, range);
}

static bool want_plt(struct cutting *cutting, const struct pd_symbol *symbol,
                     const struct pd_elf_plt *plt)
{
    static const char mark[] = "@plt";
    const size_t length = sizeof mark - 1;
    uint64_t at = symbol->start - plt->offset;
    if (!plt->entry || symbol->name_length < length || at % plt->entry ||
        at / plt->entry >= plt->count ||
        strcmp(symbol->name + symbol->name_length - length, mark) != 0)
        return true;
    return pd_vec_push(&cutting->plt, at / plt->entry);
}

/* The symbol that addr2line names an address by may begin elsewhere. */
static bool want_line_symbol(struct cutting *cutting, uint64_t address)
{
    const struct pd_lines_symbol *symbol = cutting->whole.lines
                                               ? pd_lines_symbol_at(cutting->whole.lines, address)
                                               : NULL;
    return !symbol || pd_vec_push(&cutting->values, symbol->value);
}

static bool want_all(struct cutting *cutting)
{
    const struct pd_cut_source *source = cutting->source;
    struct pd_elf_plt plt;
    if (!pd_elf_plt_find(&cutting->whole.program, &plt))
        plt.count = 0;
    for (size_t i = 0; i < source->count; i++) {
        uint64_t address = source->addresses[i], place = address + cutting->whole.text_offset;
        const struct pd_symbol *symbol = pd_symtab_find(cutting->whole.names, address);
        if (!pd_vec_push(&cutting->places, place - 1) || !pd_vec_push(&cutting->places, place) ||
            !want_code(cutting, address, symbol) || !want_line_symbol(cutting, place))
            return false;
        if (symbol && (!want_start(cutting, symbol->start) || !want_plt(cutting, symbol, &plt)))
            return false;
    }
    pd_cut_sort(&cutting->places);
    pd_cut_sort(&cutting->values);
    pd_cut_sort(&cutting->plt);
    return true;
}

/* A symbol of no size ends where the next one begins, so that one is kept, too. */
static bool want_ends(struct cutting *cutting, const struct pd_elf_table *table)
{
    const struct pd_elf *elf = symbols_of(cutting);
    Elf_Data *data = table->section ? pd_elf_data(elf, table->section) : NULL;
    size_t count = table->header.sh_entsize && data ? data->d_size / table->header.sh_entsize : 0;
    pd_cut_list open = { 0 };
    bool ok = true;
    for (size_t i = 1; i < count && i <= INT32_MAX && ok; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            break;
        if (!symbol.st_size && pd_cut_has(&cutting->values, symbol.st_value))
            ok = pd_vec_push(&open, symbol.st_value);
    }
    pd_cut_sort(&open);
    for (size_t i = 0; i < cutting->source->count && open.count && ok; i++) {
        const struct pd_symbol *symbol = pd_symtab_find(cutting->whole.names,
                                                        cutting->source->addresses[i]);
        if (symbol && symbol->end > symbol->start)
            ok = want_start(cutting, symbol->end);
    }
    pd_vec_free(&open);
    pd_cut_sort(&cutting->values);
    return ok;
}

/* ---- tables ---- */

/* Full tables go before dynamic ones, which stand in for them where there is none. */
static bool cut_tables(struct cutting *cutting)
{
    const struct pd_elf *from = symbols_of(cutting), *to = &cutting->whole.program;
    const struct pd_elf_table *full = from->symtab.section ? &from->symtab : &from->dynsym;
    const GElf_Sym none = { .st_name = 0 };
    if (full->section && !(want_ends(cutting, full) &&
                           pd_cut_table(from, to, full, &cutting->values, &cutting->symtab)))
        return false;
    if (full == &from->symtab && from->dynsym.section && from == to)
        return want_ends(cutting, &from->dynsym) &&
               pd_cut_table(from, to, &from->dynsym, &cutting->values, &cutting->dynsym);
    pd_text_char(&cutting->dynsym.strings, '\0');
    pd_elf_put_symbol(&cutting->dynsym.entries, to, &none);
    cutting->dynsym.locals = cutting->dynsym.count = 1;
    return true;
}

/* As many entries as lead to the last one that is wanted; the others have no name. */
static bool cut_plt(struct cutting *cutting)
{
    const struct pd_elf *elf = &cutting->whole.program;
    struct pd_cut_table *names = &cutting->dynsym;
    struct pd_elf_plt plt;
    if (!cutting->plt.count || !pd_elf_plt_find(elf, &plt))
        return true;
    for (size_t i = 0, next = 0; next < cutting->plt.count; i++) {
        uint64_t symbol = 0;
        const char *name = NULL;
        size_t length = 0;
        bool is_wanted = cutting->plt.data[next] == i;
        next += is_wanted;
        if (is_wanted && pd_elf_plt_name(&plt, i, &name, &length) && name) {
            symbol = names->count++;
            const GElf_Sym entry = { .st_name = (GElf_Word)names->strings.length,
                                     .st_info = GELF_ST_INFO(STB_GLOBAL, STT_FUNC) };
            pd_text_bytes(&names->strings, name, length + 1);
            pd_elf_put_symbol(&names->entries, elf, &entry);
        }
        pd_elf_put_word(&cutting->plt_entries, elf, 0);
        pd_elf_put_word(&cutting->plt_entries, elf, symbol << (elf->is_64_bit ? 32 : 8));
        if (plt.addends)
            pd_elf_put_word(&cutting->plt_entries, elf, 0);
    }
    return !cutting->plt_entries.failed && !names->strings.failed && !names->entries.failed;
}

/* ---- sections ---- */

static void replace(struct pd_elf_out_section *section, const struct pd_text *bytes)
{
    section->bytes = bytes->data;
    section->header.sh_size = bytes->length;
    section->header.sh_flags &= ~(uint64_t)SHF_COMPRESSED;
}

/* What of a section of the program is kept. */
static void keep_section(struct cutting *cutting, struct pd_elf_out_section *section, size_t index)
{
    const struct pd_elf *elf = &cutting->whole.program;
    GElf_Shdr *header = &section->header;
    const bool has_names = cutting->dynsym.count > 1;
    if (!(header->sh_flags & SHF_ALLOC)) {
        *section = (struct pd_elf_out_section){ .name = "" };
        if (index)
            header->sh_type = SHT_NULL;
        return;
    }
    if (elf->dynsym.section && index == elf->dynsym.index && has_names) {
        replace(section, &cutting->dynsym.entries);
        header->sh_info = (GElf_Word)PD_MAX(cutting->dynsym.locals, (size_t)1);
    } else if (elf->dynsym.section && index == elf->dynsym.header.sh_link && has_names) {
        replace(section, &cutting->dynsym.strings);
    } else if (cutting->plt_entries.length &&
               (!strcmp(section->name, ".rela.plt") || !strcmp(section->name, ".rel.plt"))) {
        replace(section, &cutting->plt_entries);
    } else if (!strcmp(section->name, ".eh_frame") && cutting->frames.eh.length) {
        replace(section, &cutting->frames.eh);
    } else if (header->sh_type != SHT_NOTE && !is_code(elf, header)) {
        header->sh_type = SHT_NOBITS;
    }
}

static bool take_sections(struct cutting *cutting)
{
    const struct pd_elf *elf = &cutting->whole.program;
    for (size_t i = 0; i < elf->section_count; i++) {
        struct pd_elf_out_section section = { .name = "" };
        Elf_Scn *from = elf_getscn(elf->elf, i);
        if (!from || !gelf_getshdr(from, &section.header))
            return false;
        section.name = i ? pd_elf_section_name(elf, &section.header) : "";
        if (i)
            keep_section(cutting, &section, i);
        else
            section.header = (GElf_Shdr){ .sh_type = SHT_NULL };
        bool is_note = section.header.sh_type == SHT_NOTE &&
                       pd_range_ok(section.header.sh_offset, section.header.sh_size,
                                   elf->bytes.size);
        if (section.header.sh_type == SHT_NOTE && !is_note)
            section.header.sh_type = SHT_NOBITS;
        if (!pd_vec_push(&cutting->out.sections, section) ||
            (is_note &&
             !pd_elf_out_piece(&cutting->out, section.header.sh_offset, section.header.sh_size)))
            return false;
    }
    return true;
}

static bool add_section(struct cutting *cutting, const char *name, uint32_t type,
                        const struct pd_text *bytes)
{
    const struct pd_elf_out_section section = {
        .name = name,
        .bytes = bytes->data,
        .header = { .sh_type = type, .sh_size = bytes->length, .sh_addralign = 1 }
    };
    return !bytes->length || pd_vec_push(&cutting->out.sections, section);
}

static bool add_symtab(struct cutting *cutting)
{
    struct pd_cut_table *table = &cutting->symtab;
    const bool is_64_bit = cutting->whole.program.is_64_bit;
    if (!table->count)
        return true;
    if (!add_section(cutting, ".strtab", SHT_STRTAB, &table->strings) ||
        !add_section(cutting, ".symtab", SHT_SYMTAB, &table->entries))
        return false;
    GElf_Shdr *header = &cutting->out.sections.data[cutting->out.sections.count - 1].header;
    header->sh_link = (GElf_Word)(cutting->out.sections.count - 2);
    header->sh_info = (GElf_Word)table->locals;
    header->sh_entsize = is_64_bit ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
    header->sh_addralign = is_64_bit ? 8 : 4;
    return true;
}

static bool add_debug(struct cutting *cutting)
{
    if (!cutting->debug.is_possible)
        return true;
    for (size_t i = 0; i < PD_CUT_DEBUG_SECTIONS; i++) {
        const struct pd_cut_part *part = &cutting->debug.parts[i];
        const struct pd_elf_out_section section = {
            .name = part->name,
            .parts = part->pieces.data,
            .part_count = part->pieces.count,
            .header = { .sh_type = SHT_PROGBITS, .sh_size = part->new_size, .sh_addralign = 1 }
        };
        if (part->pieces.count && !pd_vec_push(&cutting->out.sections, section))
            return false;
    }
    return true;
}

/* ---- code ---- */

static int compare_ranges(const void *left, const void *right)
{
    const struct range *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return (a->end > b->end) - (a->end < b->end);
}

/* Makes one piece of ranges that touch. */
static bool take_code(struct cutting *cutting)
{
    const struct range *all = cutting->code.data;
    size_t count = cutting->code.count;
    if (count)
        qsort(cutting->code.data, count, sizeof *all, compare_ranges);
    for (size_t i = 0; i < count;) {
        struct range range = all[i++];
        for (; i < count && all[i].start <= range.end; i++)
            range.end = PD_MAX(range.end, all[i].end);
        if (!pd_elf_out_piece(&cutting->out, range.start, range.end - range.start))
            return false;
        cutting->result->code += range.end - range.start;
    }
    return true;
}

static bool take_program_headers(struct cutting *cutting)
{
    const struct pd_elf *elf = &cutting->whole.program;
    size_t count;
    if (elf_getphdrnum(elf->elf, &count))
        return true;
    return pd_elf_out_piece(&cutting->out, elf->header.e_phoff,
                            count * (elf->is_64_bit ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr)));
}

/* ---- the whole ---- */

static bool cut(struct cutting *cutting)
{
    struct pd_cut_open *whole = &cutting->whole;
    cutting->out.like = &whole->program;
    if (!want_all(cutting) || !cut_tables(cutting) || !cut_plt(cutting))
        return false;
    if (whole->rules && !pd_frame_rules_cut(whole->rules, cutting->places.data,
                                            cutting->places.count, &cutting->frames))
        return false;
    if (whole->lines &&
        !pd_cut_debug(whole->lines, &whole->program, &cutting->places, &cutting->debug))
        return false;
    cutting->result->symbols = cutting->symtab.count ? cutting->symtab.count - 1 : 0;
    cutting->result->functions = cutting->frames.functions;
    return take_program_headers(cutting) && take_sections(cutting) &&
           add_section(cutting, ".debug_frame", SHT_PROGBITS, &cutting->frames.debug) &&
           add_debug(cutting) && add_symtab(cutting) && take_code(cutting) &&
           cutting->out.sections.count < PD_ELF_OUT_SECTIONS_MAX;
}

static void close_all(struct cutting *cutting)
{
    pd_elf_out_free(&cutting->out);
    pd_vec_free(&cutting->values);
    pd_vec_free(&cutting->places);
    pd_vec_free(&cutting->plt);
    pd_vec_free(&cutting->code);
    pd_cut_table_free(&cutting->symtab);
    pd_cut_table_free(&cutting->dynsym);
    pd_text_free(&cutting->plt_entries);
    pd_cut_debug_free(&cutting->debug);
    pd_text_free(&cutting->frames.eh);
    pd_text_free(&cutting->frames.debug);
    pd_symtab_free(cutting->whole.names);
    pd_lines_free(cutting->whole.lines);
    pd_frame_rules_free(cutting->whole.rules);
    if (cutting->whole.has_symbols)
        pd_elf_close(&cutting->whole.symbols);
    pd_elf_close(&cutting->whole.program);
}

/* False: it is no ELF file any more, or no memory. */
static bool open_all(struct cutting *cutting)
{
    const struct pd_cut_source *source = cutting->source;
    struct pd_cut_open *whole = &cutting->whole;
    bool (*open)(struct pd_elf *, const char *) = source->is_module ? pd_elf_open_packed
                                                                    : pd_elf_open;
    if (!open(&whole->program, source->program))
        return false;
    if (source->symbols && strcmp(source->symbols, source->program) != 0) {
        whole->has_symbols = open(&whole->symbols, source->symbols);
        if (!whole->has_symbols)
            return false;
    }
    whole->source = source;
    whole->names = pd_cut_names(symbols_of(cutting), &whole->program, source->is_module,
                                &whole->text_offset);
    if (source->lines && !(whole->lines = pd_lines_open(source->lines)))
        return false;
    if (!source->is_module &&
        !(whole->rules = pd_frame_rules_open(source->program, source->machine)))
        return false;
    return whole->names != NULL;
}

perfdata_status pd_cut_write(struct pd_context *context, const struct pd_cut_source *source, int fd,
                             struct pd_cut_result *out)
{
    struct cutting cutting = { .source = source, .result = out };
    char path[32];
    perfdata_status status = PERFDATA_OK;
    *out = (struct pd_cut_result){ 0 };
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    errno = 0;
    if (open_all(&cutting) && cut(&cutting)) {
        if (!pd_elf_out_write(&cutting.out, fd, &out->bytes))
            status = errno ? pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "%s", strerror(errno))
                           : pd_no_memory(context, "a bundle");
        out->is_whole = !status && pd_cut_check(&cutting.whole, path);
    }
    close_all(&cutting);
    if (!status && pd_memory_failed())
        status = pd_no_memory(context, "a bundle");
    return status;
}
