/* SPDX-License-Identifier: MIT */
/* From an address of an ELF file to the file and line of its source, as binutils' addr2line says
 * it, which perf asks. */
#ifndef PD_LINES_H
#define PD_LINES_H
#include "base/base.h"

/* Shared by threads: it reads more of the file on first need, under its own lock. Callers keep what
 * they were told. */
struct pd_lines;

enum pd_lines_answer {
    PD_LINES_NOTHING,  /* neither a symbol nor a line there */
    PD_LINES_NAMELESS, /* a function, but its file is not known */
    PD_LINES_FOUND     /* the file; line 0 where only the symbol table tells it */
};

/* Opens the DWARF lines and the functions of the file, or those of the debug file that it names. A
 * file that cannot be read gives an index that knows nothing. NULL when the system has no
 * memory. */
struct pd_lines *pd_lines_open(const char *path);
/* Why debug data that the file or its debug file, `*path`, has is not read; NULL: nothing is
 * wrong. */
const char *pd_lines_problem(const struct pd_lines *lines, const char **path);
/* Opens a file only to ask for its problem: functions are not read. */
struct pd_lines *pd_lines_probe(const char *path);
void pd_lines_free(struct pd_lines *lines);

/* `address` as the file itself counts. `*file` lives as long as the index. */
enum pd_lines_answer pd_lines_find(struct pd_lines *lines, uint64_t address, const char **file,
                                   unsigned *line);

/* ---- functions that the compiler has put into others ---- */

enum { PD_LINES_NESTED_MAX = 64 };

/* Both as in the file; file NULL: the line is not known. They live as long as the index. */
struct pd_lines_function {
    const char *name;
    const char *file;
    unsigned line;
};

/* The functions that an address belongs to, as `addr2line -i -f` lists them: the innermost first,
 * where it is called next. Returns how many, at most PD_LINES_NESTED_MAX; without DWARF that of the
 * symbol table. */
size_t pd_lines_functions(struct pd_lines *lines, uint64_t address, struct pd_lines_function *out);

/* Whose turn it is to ask addr2line. */
struct pd_lines_turn {
    void (*wait)(void *data); /* returns once all who come before have asked; NULL: they have */
    void *data;
};

/* The same as perf hears it from a process of addr2line that it asks for each address once, in the
 * order in which the recording's samples lead to them: an answer depends on what was asked before.
 * Waits for its turn where that matters, and holds no lock meanwhile. */
size_t pd_lines_functions_asked(struct pd_lines *lines, uint64_t address,
                                const struct pd_lines_turn *turn, struct pd_lines_function *out);

/* ---- places as profiles for compilers count them (places.c) ---- */

struct pd_lines_place {
    const char *name;       /* the function's, as the linker knows it where DWARF says that */
    unsigned line;          /* where in it the address lies, or the call of the next function */
    unsigned declared;      /* the line where the function is declared */
    unsigned discriminator; /* as DWARF has it */
    bool is_of_gcc;         /* which counts discriminators; LLVM packs several numbers into one */
};

/* The functions that an address lies in, the outermost first: the other way round than
 * pd_lines_functions(). By DWARF alone: 0 where it knows none. Returns how many, at most
 * PD_LINES_NESTED_MAX; names live as long as the index. */
size_t pd_lines_places(struct pd_lines *lines, uint64_t address, struct pd_lines_place *out);

struct pd_lines_range {
    uint64_t low, high; /* behind the last byte */
};

/* The code of the function that an address lies in, at most `room` ranges of it. */
size_t pd_lines_ranges(struct pd_lines *lines, uint64_t address, struct pd_lines_range *out,
                       size_t room);
/* The name of the function that begins there; NULL: none does. */
const char *pd_lines_entry(struct pd_lines *lines, uint64_t address);

#endif
