/* SPDX-License-Identifier: MIT */
/* DWARF cut down: each section has its size, all that stays has its place, so nothing is written
 * anew; what is left out is a hole, and in .debug_info an entry that is skipped. */
#ifndef PD_CUT_DEBUG_H
#define PD_CUT_DEBUG_H
#include "object/cut/internal.h"
#include "object/lines/internal.h"

enum pd_cut_debug_section {
    PD_CUT_INFO,
    PD_CUT_ABBREV,
    PD_CUT_LINE,
    PD_CUT_LINE_STR,
    PD_CUT_STR,
    PD_CUT_RANGES,
    PD_CUT_RNGLISTS,
    PD_CUT_ADDR,
    PD_CUT_STR_OFFSETS,
    PD_CUT_DEBUG_SECTIONS
};

struct pd_cut_part {
    const char *name;
    const uint8_t *bytes; /* of the whole section; NULL: there is none */
    uint64_t size, new_size;
    bool is_whole;
    uint64_t kept;                      /* bytes, each counted as often as it was asked for */
    PD_VEC(struct pd_elf_piece) pieces; /* that are kept, from the section's begin */
};

struct pd_cut_debug {
    const struct pd_elf *like; /* of the byte order */
    bool is_possible;          /* else it has a form that is not cut */
    struct pd_cut_part parts[PD_CUT_DEBUG_SECTIONS];
    struct pd_arena arena;
    pd_cut_list entries;   /* places of entries (DIEs) that are kept; those they lie in are, too */
    PD_VEC(uint8_t) units; /* by their place in lines->units: wanted */
};

/* False: no memory. `addresses` as the file counts, rising. */
bool pd_cut_debug(struct pd_lines *lines, const struct pd_elf *like, const pd_cut_list *addresses,
                  struct pd_cut_debug *out);
void pd_cut_debug_free(struct pd_cut_debug *debug);

/* ---- debug_wanted.c ---- */

/* Finds the entries and units that say something of the addresses. False: no memory. */
bool pd_cut_debug_want(struct pd_lines *lines, const pd_cut_list *addresses,
                       struct pd_cut_debug *out);
/* Whether an entry that is kept lies in [from, to). */
bool pd_cut_debug_has(const struct pd_cut_debug *debug, uint64_t from, uint64_t to);
bool pd_cut_is_code(int tag);

/* ---- debug_kept.c: what an entry that is kept refers to ---- */

/* False: no memory. */
bool pd_cut_debug_keep(struct pd_cut_debug *debug, enum pd_cut_debug_section section,
                       uint64_t offset, uint64_t size);
/* Keeps the strings, lists of ranges and lines that an entry refers to. */
bool pd_cut_debug_refer(struct pd_cut_debug *debug, Dwarf_Die *die, unsigned version,
                        unsigned address_size);

#endif
