/* SPDX-License-Identifier: MIT */
/* The symbol tables of an ELF file -> the symbols that perf takes, at perf's addresses. */
#include "object/elf/symbols.h"
#include "base/memory.h"

/* Hostile files: each bounds what one symbol more can cost. */
#define SEGMENTS_MAX 1024
#define KERNEL_SECTIONS_MAX 4096
#define DESCRIPTOR_STEPS_MAX (UINT64_C(1) << 28)

/* A section as symbols need it. */
struct section {
    bool ok, alloc, labels;
    uint64_t address, offset, size;
    const char *name;
    int32_t target; /* kernel: index in load->sections; -1 not yet looked up */
};

struct segment {
    uint64_t address, size, offset;
};

struct walk {
    struct pd_elf_load *load;
    struct section *sections;
    size_t section_count;
    PD_VEC(struct segment) segments;
    const Elf_Data *opd;
    uint64_t descriptor_steps;
};

static void fill_section(struct walk *walk, size_t index)
{
    const struct pd_elf *file = walk->load->syms;
    struct section *to = &walk->sections[index];
    Elf_Scn *section = elf_getscn(file->elf, index);
    GElf_Shdr header;

    *to = (struct section){ .name = "", .target = -1 };
    if (!section || !gelf_getshdr(section, &header))
        return;
    to->ok = true;
    to->alloc = (header.sh_flags & SHF_ALLOC) != 0;
    if (to->alloc && header.sh_type == SHT_NOBITS && walk->load->runtime != file) {
        /* a debug file has no section bytes, so its offsets mean nothing */
        file = walk->load->runtime;
        section = elf_getscn(file->elf, index);
        to->ok = section && gelf_getshdr(section, &header);
        if (!to->ok)
            return;
    }
    to->name = pd_elf_section_name(file, &header);
    to->labels = strstr(to->name, "text") || strstr(to->name, "data");
    to->address = header.sh_addr;
    to->offset = header.sh_offset;
    to->size = header.sh_size;
}

static bool open_walk(struct walk *walk, struct pd_elf_load *load)
{
    size_t count;

    *walk = (struct walk){ .load = load, .section_count = load->syms->section_count };
    walk->sections = pd_memory_noted(
        malloc(PD_MAX(walk->section_count, (size_t)1) * sizeof *walk->sections));
    if (!walk->sections)
        return false;
    for (size_t i = 0; i < walk->section_count; i++)
        fill_section(walk, i);
    if (elf_getphdrnum(load->runtime->elf, &count))
        count = 0;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(load->runtime->elf, (int)i, &header))
            break;
        uint64_t size = PD_MAX(header.p_memsz, header.p_filesz);
        if (header.p_type == PT_LOAD && size && walk->segments.count < SEGMENTS_MAX &&
            !pd_vec_push(&walk->segments,
                         (struct segment){ header.p_vaddr, size, header.p_offset }))
            return false;
    }
    if (load->runtime->opd.section)
        walk->opd = pd_elf_data(load->runtime, load->runtime->opd.section);
    return true;
}

static void close_walk(struct walk *walk)
{
    free(walk->sections);
    pd_vec_free(&walk->segments);
}

/* ---- one symbol ---- */

static bool is_wanted(const GElf_Sym *symbol, bool *label)
{
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    unsigned visibility = GELF_ST_VISIBILITY(symbol->st_other);

    if (!symbol->st_name || symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS)
        return false;
    *label = type == STT_NOTYPE && visibility != STV_HIDDEN && visibility != STV_INTERNAL;
    return *label || type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT;
}

/* ARM's marks of code and data, which name nothing. */
static bool is_mapping_symbol(const struct pd_elf *elf, const char *name)
{
    if (elf->header.e_machine != EM_ARM && elf->header.e_machine != EM_AARCH64)
        return false;
    return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* ppc64 ELFv1: a function's symbol names its descriptor. False: outside of .opd or of all
 * sections. */
static bool follow_descriptor(struct walk *walk, GElf_Sym *symbol)
{
    const struct pd_elf *runtime = walk->load->runtime;
    uint32_t at = (uint32_t)(symbol->st_value - walk->load->syms->opd.header.sh_addr);

    if (!walk->opd || !pd_range_ok(at, 8, walk->opd->d_size))
        return false;
    symbol->st_value = pd_load64((const uint8_t *)walk->opd->d_buf + at, runtime->swapped);
    for (size_t i = 1; i < runtime->section_count && i < SHN_LORESERVE; i++) {
        GElf_Shdr header;
        if (++walk->descriptor_steps > DESCRIPTOR_STEPS_MAX)
            return false;
        Elf_Scn *section = elf_getscn(runtime->elf, i);
        if (section && gelf_getshdr(section, &header) && symbol->st_value >= header.sh_addr &&
            symbol->st_value - header.sh_addr < header.sh_size) {
            symbol->st_shndx = (GElf_Section)i;
            return true;
        }
    }
    return false;
}

static uint64_t file_offset(const struct walk *walk, const struct section *section, uint64_t value)
{
    for (size_t i = 0; i < walk->segments.count; i++) {
        const struct segment *segment = &walk->segments.data[i];
        if (value >= segment->address && value - segment->address < segment->size)
            return value - segment->address + segment->offset;
    }
    return value - section->address + section->offset;
}

/* Which table a kernel symbol goes to; NULL: none (*no_memory says why). */
static struct pd_symtab_builder *kernel_target(struct walk *walk, struct section *section,
                                               bool *no_memory)
{
    struct pd_elf_load *load = walk->load;
    bool is_text = !strcmp(section->name, ".text");

    if (load->kind == PD_ELF_MODULE)
        return is_text ? load->builder : NULL;
    for (size_t i = 0; section->target < 0 && i < load->sections.count; i++)
        if (!strcmp(load->sections.data[i].name, section->name))
            section->target = (int32_t)i;
    if (section->target < 0) {
        if (load->sections.count >= KERNEL_SECTIONS_MAX)
            return NULL;
        struct pd_elf_kernel_section new = { .name = section->name,
                                             .address = section->address,
                                             .size = section->size,
                                             .offset = section->offset };
        if (!is_text)
            new.builder = pd_symtab_builder_new(load->builder->demangle);
        if ((!is_text && !new.builder) || !pd_vec_push(&load->sections, new)) {
            pd_symtab_builder_free(new.builder);
            *no_memory = true;
            return NULL;
        }
        section->target = (int32_t)load->sections.count - 1;
    }
    struct pd_symtab_builder *own = load->sections.data[section->target].builder;
    return own ? own : load->builder;
}

/* False: perf gives up at this symbol, or no memory. `*added`: it was taken. */
static bool add_symbol(struct walk *walk, GElf_Sym symbol, struct pd_elf_names *strings,
                       bool *added)
{
    struct pd_elf_load *load = walk->load;
    struct pd_symtab_builder *builder = load->builder;
    bool label, no_memory = false;
    size_t length;

    if (!is_wanted(&symbol, &label))
        return true;
    const char *name = pd_elf_names_take(strings, symbol.st_name, &length);
    if (!name || is_mapping_symbol(load->syms, name))
        return true;
    if (load->runtime->opd.section && symbol.st_shndx == load->runtime->opd.index &&
        !follow_descriptor(walk, &symbol))
        return false;
    if (symbol.st_shndx >= walk->section_count || !walk->sections[symbol.st_shndx].ok)
        return false;
    struct section *section = &walk->sections[symbol.st_shndx];
    if (!section->alloc || (label && !section->labels))
        return true;
    unsigned type = GELF_ST_TYPE(symbol.st_info);
    if (load->syms->header.e_machine == EM_ARM && type == STT_FUNC)
        symbol.st_value &= ~UINT64_C(1); /* the mark of Thumb code */
    if (load->kind == PD_ELF_USER) {
        symbol.st_value = file_offset(walk, section, symbol.st_value);
    } else {
        symbol.st_value -= section->address - section->offset;
        builder = kernel_target(walk, section, &no_memory);
        if (!builder)
            return !no_memory;
    }
    unsigned binding = PD_MIN(GELF_ST_BIND(symbol.st_info), (unsigned)PD_SYMBOL_OTHER);
    *added = true;
    return pd_symtab_add(builder, symbol.st_value, symbol.st_size, (uint8_t)binding, (uint8_t)type,
                         name, length);
}

/* ---- tables ---- */

static void find_reference(struct pd_elf_load *load, Elf_Data *symbols,
                           const struct pd_elf_names *strings, size_t count)
{
    size_t wanted = load->ref_reloc_name ? strlen(load->ref_reloc_name) + 1 : 0;

    for (size_t i = 0; load->ref_reloc_name && i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(symbols, (int)i, &symbol))
            break;
        if (pd_range_ok(symbol.st_name, wanted, strings->data.d_size) &&
            !memcmp((const char *)strings->data.d_buf + symbol.st_name, load->ref_reloc_name,
                    wanted)) {
            if (symbol.st_value)
                load->delta = load->ref_reloc_address - symbol.st_value;
            break;
        }
    }
}

static bool walk_table(struct walk *walk, const struct pd_elf_table *table, size_t *count)
{
    struct pd_elf_load *load = walk->load;
    Elf_Data *symbols = pd_elf_data(load->syms, table->section);
    struct pd_elf_names strings;

    if (!symbols || !table->header.sh_entsize ||
        !pd_elf_names_open(load->syms, table->header.sh_link, &strings))
        return false;
    size_t total = symbols->d_size / table->header.sh_entsize;
    if (load->kind == PD_ELF_KERNEL)
        find_reference(load, symbols, &strings, total);
    for (size_t i = 0; i < total && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        bool added = false;
        if (!gelf_getsym(symbols, (int)i, &symbol))
            break;
        if (!add_symbol(walk, symbol, &strings, &added))
            return false;
        *count += added;
    }
    return true;
}

bool pd_elf_load_table(struct pd_elf_load *load, const struct pd_elf_table *table, size_t *count)
{
    struct walk walk;
    size_t before = *count;
    bool ok = open_walk(&walk, load) && walk_table(&walk, table, count);

    load->text_found = pd_elf_section(load->runtime, ".text", &load->text);
    if (load->text_found)
        load->text_offset = load->text.header.sh_addr - load->text.header.sh_offset;
    if (ok && *count > before)
        ok = pd_symtab_fix_ends(load->builder, false) && pd_symtab_fix_duplicates(load->builder);
    close_walk(&walk);
    return ok;
}

bool pd_elf_load_symbols(struct pd_elf_load *load, size_t *count)
{
    *count = 0;
    if (load->syms->symtab.section && !pd_elf_load_table(load, &load->syms->symtab, count))
        return false;
    if (!load->syms->symtab.section && load->kind == PD_ELF_KERNEL)
        return false; /* a stripped vmlinux is of no use */
    return !load->syms->dynsym.section || pd_elf_load_table(load, &load->syms->dynsym, count);
}

void pd_elf_load_free(struct pd_elf_load *load)
{
    for (size_t i = 0; i < load->sections.count; i++)
        pd_symtab_builder_free(load->sections.data[i].builder);
    pd_vec_free(&load->sections);
}

/* ---- PLT ---- */

bool pd_elf_plt_find(const struct pd_elf *elf, struct pd_elf_plt *plt)
{
    struct pd_elf_table relocations, code;

    *plt = (struct pd_elf_plt){ 0 };
    if (!elf->dynsym.section || (!pd_elf_section(elf, ".rela.plt", &relocations) &&
                                 !pd_elf_section(elf, ".rel.plt", &relocations)))
        return false;
    if (relocations.header.sh_link != elf->dynsym.index || !relocations.header.sh_entsize ||
        !pd_elf_section(elf, ".plt", &code))
        return false;
    plt->relocations = pd_elf_data(elf, relocations.section);
    plt->symbols = pd_elf_data(elf, elf->dynsym.section);
    if (!plt->relocations || !plt->symbols ||
        !pd_elf_names_open(elf, elf->dynsym.header.sh_link, &plt->strings))
        return false;
    plt->section = relocations.index;
    plt->count = relocations.header.sh_size / relocations.header.sh_entsize;
    plt->addends = relocations.header.sh_type == SHT_RELA;
    uint64_t head = code.header.sh_entsize;
    plt->entry = code.header.sh_entsize;
    switch (elf->header.e_machine) { /* those whose first entry has another size */
    case EM_ARM: head = 20, plt->entry = 12; break;
    case EM_AARCH64: head = 32, plt->entry = 16; break;
    case EM_SPARC: head = 48, plt->entry = 12; break;
    case EM_SPARCV9: head = 128, plt->entry = 32; break;
    default: break;
    }
    plt->offset = code.header.sh_offset + head;
    return plt->addends || relocations.header.sh_type == SHT_REL;
}

bool pd_elf_plt_name(struct pd_elf_plt *plt, size_t entry, const char **name, size_t *length)
{
    GElf_Rela with;
    GElf_Rel without;
    GElf_Sym symbol;

    if (entry >= plt->count || entry >= INT32_MAX ||
        (plt->addends ? !gelf_getrela(plt->relocations, (int)entry, &with)
                      : !gelf_getrel(plt->relocations, (int)entry, &without)))
        return false;
    uint64_t symbol_index = GELF_R_SYM(plt->addends ? with.r_info : without.r_info);
    *name = NULL;
    *length = 0;
    if (symbol_index < INT32_MAX && gelf_getsym(plt->symbols, (int)symbol_index, &symbol))
        *name = pd_elf_names_take(&plt->strings, symbol.st_name, length);
    return true;
}

bool pd_elf_load_plt(const struct pd_elf *elf, struct pd_symtab_builder *builder)
{
    struct pd_elf_plt plt;
    const char *name;
    size_t length;

    if (!pd_elf_plt_find(elf, &plt))
        return true;
    for (size_t i = 0; pd_elf_plt_name(&plt, i, &name, &length); i++) {
        uint64_t start = plt.offset + i * plt.entry;
        if (!pd_symtab_add_range(builder, start, start + plt.entry, PD_SYMBOL_GLOBAL, STT_FUNC,
                                 name ? name : "", name ? length : 0, PD_NAME_RAW_PLT))
            return false;
    }
    return true;
}
