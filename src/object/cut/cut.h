/* SPDX-License-Identifier: MIT */
/* A program or library -> a small file that says the same of some of its addresses: the symbols
 * there, the code of their functions, the call frame information, source lines and functions put
 * into others. Addresses, offsets, sections and build-id are the whole file's. */
#ifndef PD_OBJECT_CUT_H
#define PD_OBJECT_CUT_H
#include "base/vec.h"
#include "object/frames/rules.h"
#include "object/lines/lines.h"
#include "object/object.h"

/* Addresses. */
typedef PD_VEC(uint64_t) pd_cut_list;
/* Rising, each once. */
void pd_cut_sort(pd_cut_list *list);

struct pd_cut_source {
    const char *program; /* the file with the sections, code and call frame information */
    const char *symbols; /* that with the table of symbols; may be the same */
    const char *lines;   /* that with the source lines; NULL: none is asked */
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
    bool is_whole;             /* it says the same of each address; else it is of no use */
};

/* Writes it into an empty file that is open for reading and writing; where nothing is kept there is
 * a hole. What it says is then compared with what the whole file says. */
perfdata_status pd_cut_write(struct pd_context *context, const struct pd_cut_source *source, int fd,
                             struct pd_cut_result *out);

/* Of a table of the kernel's symbols (kallsyms) the lines that give each of these addresses, rising
 * and as the table counts, its symbol and that symbol's end, and those that say where the kernel
 * and its modules begin and end. */
bool pd_cut_kallsyms(const char *text, size_t size, const uint64_t *addresses, size_t count,
                     struct pd_text *out);

#endif
