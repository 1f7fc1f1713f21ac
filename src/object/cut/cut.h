/* SPDX-License-Identifier: MIT */
/* A program or library -> a small file that says the same about some of its addresses: the symbols
 * there, the code of their functions, the call frame information, source lines and functions put
 * into others. Addresses, offsets, sections and build-id are the whole file's. */
#ifndef PD_OBJECT_CUT_H
#define PD_OBJECT_CUT_H
#include "base/vec.h"
#include "object/frames/rules.h"
#include "object/lines/lines.h"
#include "object/object.h"

/* Addresses, as a list. */
typedef PD_VEC(uint64_t) pd_cut_list;
/* Rising, each once. */
void pd_cut_sort(pd_cut_list *list);

struct pd_cut_source {
    const char *program; /* the file with the sections, code and call frame information */
    const char *symbols; /* that with the table of symbols; may be the same */
    const char *lines;   /* the file with the source lines; NULL: none are asked for */
    uint16_t machine;
    bool is_module;
    const uint64_t *addresses; /* as the table of symbols counts, rising, each once */
    size_t count;
};

/* What went into it. */
struct pd_cut_result {
    size_t symbols, functions; /* of these with call frame information */
    uint64_t code;             /* bytes */
    uint64_t bytes;            /* of the file, without its holes */
    bool is_whole; /* it says the same of each address as the whole file; else it is of no use */
};

/* Writes the cut file into an empty file that is open for reading and writing, with holes where
 * nothing is kept. Then compares what it says with what the whole file says. */
perfdata_status pd_cut_write(struct pd_context *context, const struct pd_cut_source *source, int fd,
                             struct pd_cut_result *out);

/* Finds the lines of a table of the kernel's symbols (kallsyms) that give each of these addresses
 * its symbol and that symbol's end, and those that say where the kernel and its modules begin and
 * end. Addresses rise and are as the table counts. */
bool pd_cut_kallsyms(const char *text, size_t size, const uint64_t *addresses, size_t count,
                     struct pd_text *out);

#endif
