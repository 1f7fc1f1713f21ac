/* SPDX-License-Identifier: MIT */
/* The inside of a symbol table being built, for the files of this layer only. */
#ifndef PD_SYMTAB_BUILDER_H
#define PD_SYMTAB_BUILDER_H
#include "object/symtab/symtab.h"

enum pd_name_state { /* of a symbol's name */
                     PD_NAME_READY,
                     PD_NAME_RAW,     /* to be demangled */
                     PD_NAME_RAW_PLT, /* to be demangled and "@plt" added */
};

/* perf took symbol `index` out of its tree when `inserted` symbols were in or had been. */
struct pd_erasure {
    uint32_t index, inserted;
};

struct pd_symtab_builder {
    PD_VEC(struct pd_symbol) all; /* in order of insertion */
    PD_VEC(uint8_t) state;        /* enum pd_name_state */
    PD_VEC(uint32_t)
    order; /* the living symbols by start, equal ones as inserted; valid for the first `sorted` */
    size_t sorted;
    bool moved; /* starts were changed in place: the order may be broken */
    PD_VEC(struct pd_erasure) erased;
    struct pd_arena arena;
    char *pool, *pool_end; /* room for names */
    char *text;            /* that names lie in, or NULL; the builder's */
    size_t text_size;
    size_t demangled; /* bytes */
    enum pd_demangle demangle;
};

/* As pd_symtab_add, with the end instead of the size, and with a PLT entry's name if asked. */
bool pd_symtab_add_range(struct pd_symtab_builder *builder, uint64_t start, uint64_t end,
                         uint8_t binding, uint8_t type, const char *name, size_t name_length,
                         enum pd_name_state state);
/* A symbol of no size whose name lies in the builder's text. */
bool pd_symtab_add_text(struct pd_symtab_builder *builder, uint64_t start, uint8_t binding,
                        uint8_t type, const char *name, size_t name_length);
/* How many bytes the builder holds. */
size_t pd_symtab_builder_memory(const struct pd_symtab_builder *builder);
/* Brings `order` up to date. */
bool pd_symtab_sort(struct pd_symtab_builder *builder);
/* Notes that symbol `index` has left; the caller takes it out of `order`. */
bool pd_symtab_erase(struct pd_symtab_builder *builder, uint32_t index);

#endif
