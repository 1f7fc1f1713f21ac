/* SPDX-License-Identifier: MIT */
/* Symbols of ELF files: which of them perf takes, and at which addresses. */
#ifndef PD_ELF_SYMBOLS_H
#define PD_ELF_SYMBOLS_H
#include "object/elf/file.h"
#include "object/symtab/builder.h"

enum pd_elf_kind { PD_ELF_USER, PD_ELF_MODULE, PD_ELF_KERNEL };

/* A section of a vmlinux with its own table; the first one found named ".text" becomes the kernel's
 * map itself. */
struct pd_elf_kernel_section {
    const char *name; /* ".init.text"; lives as long as the ELF file */
    uint64_t address, size, offset;
    struct pd_symtab_builder *builder; /* NULL: the main one */
};

struct pd_elf_load {
    const struct pd_elf *syms;    /* gives names */
    const struct pd_elf *runtime; /* gives sections and segments; may be the same */
    enum pd_elf_kind kind;
    struct pd_symtab_builder *builder;
    const char *ref_reloc_name; /* kernel: NULL none */
    uint64_t ref_reloc_address;
    /* out */
    uint64_t delta;       /* kernel: runtime address = file address + delta */
    uint64_t text_offset; /* of the runtime file's .text: address - file offset */
    bool text_found;
    struct pd_elf_table text;
    PD_VEC(struct pd_elf_kernel_section) sections;
};

/* Adds the symbols of .symtab and .dynsym of `syms` and fixes them up. False: perf fails here, too,
 * or no memory; what was added stays, as in perf. `*count`: symbols added. */
bool pd_elf_load_symbols(struct pd_elf_load *load, size_t *count);
/* Only one of the two, for debug data whose dynamic symbols are elsewhere. */
bool pd_elf_load_table(struct pd_elf_load *load, const struct pd_elf_table *table, size_t *count);
/* Adds `name@plt` symbols of a program or library; false when the system has no memory. */
bool pd_elf_load_plt(const struct pd_elf *elf, struct pd_symtab_builder *builder);
/* The relocations that the PLT's entries are made of. */
struct pd_elf_plt {
    Elf_Data *relocations, *symbols;
    struct pd_elf_names strings;
    uint64_t offset, entry; /* where the first one lies, how long each is */
    size_t count, section;  /* section: of the relocations */
    bool addends;
};

/* False: there is none in a form that perf takes. */
bool pd_elf_plt_find(const struct pd_elf *elf, struct pd_elf_plt *plt);
/* The name of an entry's function; NULL: it has none. False: there is no such entry. */
bool pd_elf_plt_name(struct pd_elf_plt *plt, size_t entry, const char **name, size_t *length);
/* Frees what `sections` still holds. */
void pd_elf_load_free(struct pd_elf_load *load);

#endif
