/* SPDX-License-Identifier: MIT */
/* The inside of a finished table, for the files of object/symtab/ only. */
#ifndef PD_SYMTAB_TABLE_H
#define PD_SYMTAB_TABLE_H
#include "object/symtab/builder.h"
#include "object/symtab/image.h"
#include "object/symtab/mapped.h"
#include <pthread.h>
#include <stdatomic.h>

/* perf's tree after all is done, by final index + 1. */
struct pd_symtab_tree {
    struct pd_rb_node *nodes; /* by number of insertion + 1 */
    uint32_t *final;          /* number of insertion + 1 to final index */
    uint32_t root;
};

/* What it takes to make the tree. */
struct pd_symtab_history {
    uint64_t *starts; /* of all ever inserted, from 1 */
    uint32_t *final;  /* as in the tree; PD_SYMBOL_ERASED */
    struct pd_erasure *erased;
    size_t inserted, erased_count;
};

#define PD_SYMBOL_ERASED UINT32_MAX

/* Symbols of an image that were asked for; NULL: not yet. They are few, and lie together, so that
 * little memory is touched for them. */
enum { PD_SYMTAB_PAGE = 64 };
struct pd_symtab_page {
    const struct pd_symbol *_Atomic symbols[PD_SYMTAB_PAGE];
};

struct pd_symtab {
    struct pd_symbol *symbols; /* NULL: of an image, in `pages` */
    struct pd_symtab_page *_Atomic *pages;
    uint64_t *starts;
    uint64_t *reach; /* the largest end before each symbol; NULL: none overlap */
    _Atomic uint8_t *state;
    size_t count;
    enum pd_demangle demangle;
    struct pd_arena arena;
    char *text; /* that names lie in, or NULL */
    size_t text_size;
    pthread_mutex_t lock; /* of arena, tree building, names */
    struct pd_symtab_history history;
    struct pd_symtab_tree *_Atomic tree;
    struct pd_symbol_image *image; /* NULL: the table was built */
    struct pd_symtab_piece *pieces;
    size_t piece_count;
};

/* The address behind a symbol; one without a size is found at its very start. */
PD_INLINE uint64_t pd_symbol_reach(uint64_t start, uint64_t end)
{
    if (end == start)
        return start == UINT64_MAX ? UINT64_MAX : start + 1;
    return end < start ? start : end;
}

/* Whether the address, which is not before the symbol's start, lies behind the symbol. */
PD_INLINE bool pd_symbol_is_before(uint64_t start, uint64_t end, uint64_t address)
{
    return address > end || (address == end && end != start);
}

/* Addresses around one that lies in the symbol or between it and the next one, where no other
 * symbol reaches. */
PD_INLINE struct pd_symbol_span pd_symbol_span_at(uint64_t start, uint64_t end, uint64_t next,
                                                  uint64_t address)
{
    const uint64_t reach = pd_symbol_reach(start, end);
    const bool before = pd_symbol_is_before(start, end, address);
    const uint64_t from = before ? reach : start, until = before ? next : PD_MIN(reach, next);
    if (from > address || address >= until)
        return (struct pd_symbol_span){ NULL, address, 1 };
    return (struct pd_symbol_span){ NULL, from, until - from };
}

/* Look-ups in a table that is mapped from an image. */
const struct pd_symbol *pd_symtab_find_mapped(const struct pd_symtab *table, uint64_t address);
struct pd_symbol_span pd_symtab_find_span_mapped(const struct pd_symtab *table, uint64_t address);
bool pd_symtab_may_find_mapped(const struct pd_symtab *table, uint64_t first, uint64_t last,
                               const char *name);
/* Symbols that pd_symtab_may_find() looks at. */
enum { PD_SYMTAB_MAY_STEPS = 128 };
const struct pd_symbol *pd_symtab_at_mapped(const struct pd_symtab *table, size_t index);
/* Gives a symbol its readable name, under the table's lock. */
void pd_symtab_make_name(struct pd_symtab *table, struct pd_symbol *symbol,
                         enum pd_name_state state);
/* perf's tree; NULL: no memory. Only of a table with `reach` that was built. */
const struct pd_symtab_tree *pd_symtab_tree(const struct pd_symtab *table);

#endif
