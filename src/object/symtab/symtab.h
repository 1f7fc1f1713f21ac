/* SPDX-License-Identifier: MIT */
/* A table of symbols with perf's fix-ups and perf's lookups.
 *
 * perf keeps symbols in a red-black tree and takes the first symbol that a descent meets. Where
 * symbols do not overlap a binary search gives the same; for addresses that lie in several symbols
 * the tree is rebuilt, on first need, by replaying perf's insertions and erasures. */
#ifndef PD_SYMTAB_H
#define PD_SYMTAB_H
#include "base/arena.h"
#include "base/vec.h"
#include <elf.h>

enum pd_symbol_binding { PD_SYMBOL_LOCAL, PD_SYMBOL_GLOBAL, PD_SYMBOL_WEAK, PD_SYMBOL_OTHER };

struct pd_symbol {
    uint64_t start,
        end;          /* as perf has them after its fix-ups; end is exclusive unless start == end */
    const char *name; /* NUL-terminated, demangled if that was asked; lives as long as the table */
    uint32_t name_length;
    uint32_t index;         /* in address order */
    uint8_t binding;        /* enum pd_symbol_binding */
    uint8_t type;           /* STT_*: NOTYPE 0, OBJECT 1, FUNC 2, GNU_IFUNC 10 */
    bool inlined;           /* in no table: a function within the one whose range this is */
    uint16_t module_length; /* length of what kallsyms has behind the name: a tab and its module */
};

/* Whether it is no function. perf shows an offset with it, which depends on where its map lies. */
PD_INLINE bool pd_symbol_is_data(const struct pd_symbol *symbol)
{
    return symbol->type == STT_OBJECT;
}

/* How many characters the name takes in a column as perf counts them: with the module, which perf
 * does not print. */
PD_INLINE uint32_t pd_symbol_width(const struct pd_symbol *symbol)
{
    return symbol->name_length + symbol->module_length;
}

/* All is const for the caller and safe from any thread; names are demangled inside on first
 * need. */
struct pd_symtab;

/* NULL: no symbol there. */
const struct pd_symbol *pd_symtab_find(const struct pd_symtab *table, uint64_t address);
/* What is found at an address, and addresses around it where the same is: all of the symbol, or of
 * the gap between two, except where symbols overlap. */
struct pd_symbol_span {
    const struct pd_symbol *symbol; /* NULL: none */
    uint64_t from, size;            /* of addresses; at least the one that was asked for */
};
struct pd_symbol_span pd_symtab_find_span(const struct pd_symtab *table, uint64_t address);
/* Whether a look-up of any address from `first` to `last` may give a symbol of this name. Where
 * many symbols overlap it may say so though none does. */
bool pd_symtab_may_find(const struct pd_symtab *table, uint64_t first, uint64_t last,
                        const char *name);
size_t pd_symtab_count(const struct pd_symtab *table);
/* In address order. */
const struct pd_symbol *pd_symtab_at(const struct pd_symtab *table, size_t index);
/* Bytes that the table holds. */
size_t pd_symtab_memory(const struct pd_symtab *table);
void pd_symtab_free(struct pd_symtab *table);

/* ---- building: one owner, then pd_symtab_finish ---- */

struct pd_symtab_builder;

enum pd_demangle { PD_DEMANGLE_NONE, PD_DEMANGLE_PLAIN, PD_DEMANGLE_VERBOSE };

/* NULL when the system has no memory. */
struct pd_symtab_builder *pd_symtab_builder_new(enum pd_demangle demangle);
void pd_symtab_builder_free(struct pd_symtab_builder *builder);

/* Makes room for so many more symbols; they can be added without it, too. */
void pd_symtab_reserve(struct pd_symtab_builder *builder, size_t count);
/* In perf's order of insertion; the name is copied. */
bool pd_symtab_add(struct pd_symtab_builder *builder, uint64_t start, uint64_t size,
                   uint8_t binding, uint8_t type, const char *name, size_t name_length);
/* Zero-size symbols end where the next one starts; kallsyms: kernel and modules do not touch. */
bool pd_symtab_fix_ends(struct pd_symtab_builder *builder, bool kallsyms);
/* Keeps only the best of symbols that have one start. */
bool pd_symtab_fix_duplicates(struct pd_symtab_builder *builder);
/* Consumes the builder; NULL when the system has no memory. */
struct pd_symtab *pd_symtab_finish(struct pd_symtab_builder *builder);

#endif
