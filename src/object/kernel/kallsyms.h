/* SPDX-License-Identifier: MIT */
/* The kernel's own symbol table: lines "ADDRESS TYPE name[\t[module]]". */
#ifndef PD_KALLSYMS_H
#define PD_KALLSYMS_H
#include "object/symtab/builder.h"

/* Adds the symbols that perf keeps, names with their module behind a tab. False: no memory. The
 * names stay in the text, into which their NULs are written, perhaps one behind its last byte; the
 * text is from malloc and becomes the table's. */
bool pd_kallsyms_parse(struct pd_symtab_builder *builder, char *text, size_t size);
/* The address of a function, or of an absolute symbol. */
bool pd_kallsyms_function(const char *text, size_t size, const char *name, uint64_t *address);

/* What perf leaves out on x86-64. */
PD_INLINE bool pd_kernel_is_trampoline(const struct pd_symbol *symbol)
{
    static const char name[] = "__entry_SYSCALL_64_trampoline";
    return symbol->name_length == sizeof name - 1 && !memcmp(symbol->name, name, sizeof name - 1);
}

struct pd_kallsyms_line {
    uint64_t address;
    char type;
    const char *name; /* with the module's behind a tab, without a NUL */
    size_t length;
};

/* Goes to the next line in [*at, end); false at the end. A line that is no symbol's gets type 0. */
bool pd_kallsyms_next(const char **at, const char *end, struct pd_kallsyms_line *line);

#endif
