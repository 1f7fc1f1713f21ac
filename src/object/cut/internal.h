/* SPDX-License-Identifier: MIT */
/* What the files of object/cut/ share. */
#ifndef PD_CUT_INTERNAL_H
#define PD_CUT_INTERNAL_H
#include "object/cut/cut.h"
#include "object/cut/elf_out.h"
#include "object/elf/symbols.h"

/* ---- names.c ---- */

/* The names that perf gives addresses, raw, by two open files. NULL: no memory. `*text_offset` as
 * in struct pd_object. */
struct pd_symtab *pd_cut_names(const struct pd_elf *symbols, const struct pd_elf *program,
                               bool is_module, uint64_t *text_offset);

/* A cut table of symbols. */
struct pd_cut_table {
    struct pd_text entries, strings;
    size_t locals, count; /* with the empty first one */
};

/* Symbols of `table` that begin at one of the values, rising, with the files that they are of and
 * the sections of `program`. False: no memory. */
bool pd_cut_table(const struct pd_elf *symbols, const struct pd_elf *program,
                  const struct pd_elf_table *table, const pd_cut_list *values,
                  struct pd_cut_table *out);
void pd_cut_table_free(struct pd_cut_table *table);
bool pd_cut_has(const pd_cut_list *list, uint64_t value);

/* ---- check.c ---- */

struct pd_cut_open {
    const struct pd_cut_source *source;
    struct pd_elf program, symbols;
    bool has_symbols; /* else they are the program's */
    struct pd_symtab *names;
    uint64_t text_offset;
    struct pd_lines *lines;       /* NULL: none */
    struct pd_frame_rules *rules; /* NULL: none */
};

/* Whether the file at `path` says the same as the open ones. */
bool pd_cut_check(const struct pd_cut_open *whole, const char *path);

#endif
