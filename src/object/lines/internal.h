/* SPDX-License-Identifier: MIT */
/* What lines.c and inlines.c share. */
#ifndef PD_LINES_INTERNAL_H
#define PD_LINES_INTERNAL_H
#include "base/arena.h"
#include "base/hash.h"
#include "base/intern.h"
#include "object/file.h"
#include "object/lines/lines.h"
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <pthread.h>

#define PD_LINES_NO_FILE UINT32_MAX /* of a row: no line begins here; of a function: none known */

struct pd_lines_row {
    uint64_t address;
    uint32_t file, line;
};

/* What the symbol table names. */
struct pd_lines_symbol {
    uint64_t value, size; /* size 0 counts as 1 */
    uint32_t section, file, name;
    bool is_function, is_untyped;
};

struct pd_lines_section {
    uint64_t start, size;
    uint32_t index;
};

/* A range of a function's code. */
struct pd_lines_body {
    uint64_t low, high;
    Dwarf_Off place; /* of its DIE */
    Dwarf_Die die;
};

struct pd_lines_unit {
    Dwarf_Die die;
    bool is_version_5;
    bool is_listed; /* the file's table of ranges leads to it */
    bool is_read, has_folder;
    const char *folder;               /* once asked for */
    PD_VEC(struct pd_lines_row) rows; /* by address; a row holds up to the next one */
    bool has_bodies;
    Dwarf_Die tree; /* with its functions, when those are known: of a split unit not `die` */
    PD_VEC(struct pd_lines_body) bodies; /* by their begin */
};

struct pd_lines_list {
    struct pd_lines_function *functions;
    size_t count;
};

/* asked.c: what perf's process of addr2line would know by now. All zero: nothing. */
struct pd_lines_asked {
    struct pd_map64 functions; /* by the place of their DIE: a name of `lines->files`, or */
    struct pd_map64 addresses; /* that were asked for: their place in `lists` */
    PD_VEC(struct pd_lines_list) lists;
    struct pd_arena arena; /* of these */
};

struct pd_lines {
    struct pd_intern files; /* and names of symbols */
    pthread_mutex_t lock;   /* of files and units */
    Dwarf *dwarf;           /* NULL: no lines */
    int fd;                 /* its file, or */
    Elf *elf;               /* what was unpacked of it */
    struct pd_bytes unpacked;
    bool no_functions;     /* nobody will ask for them */
    const char *problem;   /* why there are no lines though there should be some; NULL: none */
    char *problem_path;    /* of that file */
    Dwarf_Aranges *ranges; /* NULL: none */
    PD_VEC(struct pd_lines_unit) units; /* by the place of their DIE */
    PD_VEC(struct pd_lines_symbol)
    functions; /* by section and value, equal ones in the file's order */
    PD_VEC(struct pd_lines_section) sections; /* those that are loaded, in the file's order */
    struct pd_lines_asked asked;
    const struct pd_lines_body *last_body; /* of places.c, and its unit; NULL: none */
    struct pd_lines_unit *last_unit;
};

/* A function whose name in DWARF the linker does not know, among those of an address. */
struct pd_lines_nameless {
    uint64_t place;   /* of its DIE */
    uint64_t low;     /* where it begins */
    const char *name; /* in DWARF; NULL: the linker knows the function's name */
    bool has_low;
};

/* lines.c; all under the lock */

/* The line that holds at an address, and the unit whose line program has it; NULL: none. */
const struct pd_lines_row *pd_lines_row_at(struct pd_lines *lines, uint64_t address,
                                           struct pd_lines_unit **unit);
/* The symbol that addr2line names an address by; NULL: none. */
const struct pd_lines_symbol *pd_lines_symbol_at(const struct pd_lines *lines, uint64_t address);
/* The unit whose DIE lies there; NULL: none. */
struct pd_lines_unit *pd_lines_unit_at(struct pd_lines *lines, Dwarf_Off place);
/* A file of a unit as libdw names it, with the unit's folder where it has none; PD_INTERN_NONE: no
 * memory. */
uint32_t pd_lines_add_file(struct pd_lines *lines, struct pd_lines_unit *unit, const char *name);

/* inlines.c, under the lock: pd_lines_functions(); with `nameless` those that addr2line knows of,
 * by their names in DWARF, and of each whether the linker knows that name. */
size_t pd_lines_list(struct pd_lines *lines, uint64_t address, struct pd_lines_function *out,
                     struct pd_lines_nameless *nameless);

/* The function's code that an address lies in; NULL: none. */
const struct pd_lines_body *pd_lines_body_at(struct pd_lines *lines, uint64_t address,
                                             struct pd_lines_unit **unit);
/* Goes from that function inwards, to those that the compiler put there. Returns how many functions
 * there are. */
size_t pd_lines_descend(const struct pd_lines_body *body, uint64_t address, Dwarf_Die *functions);
/* The name of a function; NULL: it has none. `*linked`: it is the name that the linker knows. */
const char *pd_lines_name_of(Dwarf_Die *die, bool *linked);
/* An attribute that is a number; 0 in `*out`: there is none. */
bool pd_lines_number_of(Dwarf_Die *die, unsigned kind, unsigned *out);

#endif
