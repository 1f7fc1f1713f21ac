/* SPDX-License-Identifier: MIT */
/* From an address of an ELF file to the file and line of its source, as binutils' addr2line says it, which perf asks. */
#ifndef PD_LINES_H
#define PD_LINES_H
#include "base/base.h"

/* Shared by threads: it reads more of the file on first need, under its own lock. Callers keep what they were told. */
struct pd_lines;

enum pd_lines_answer {
    PD_LINES_NOTHING,  /* neither a symbol nor a line there */
    PD_LINES_NAMELESS, /* a function, but its file is not known */
    PD_LINES_FOUND     /* the file; line 0 where only the symbol table tells it */
};

/* Opens the DWARF lines and the functions of the file, or those of the debug file that it names. A file that
 * cannot be read gives an index that knows nothing. NULL when the system has no memory. */
struct pd_lines *pd_lines_open(const char *path);
void pd_lines_free(struct pd_lines *lines);

/* `address` as the file itself counts. `*file` lives as long as the index. */
enum pd_lines_answer pd_lines_find(struct pd_lines *lines, uint64_t address, const char **file,
                                   unsigned *line);

#endif
