/* SPDX-License-Identifier: MIT */
/* An ELF file that is put together of pieces, each at its offset. */
#ifndef PD_ELF_OUT_H
#define PD_ELF_OUT_H
#include "base/text.h"
#include "base/vec.h"
#include "object/elf/file.h"

struct pd_elf_piece {
    uint64_t offset;
    const void *bytes; /* borrowed */
    size_t size;
};

struct pd_elf_out_section {
    GElf_Shdr header;  /* sh_name is made */
    const char *name;  /* borrowed */
    const void *bytes; /* what it holds, placed behind all others; NULL: it has no bytes, or they
                          lie at its offset as pieces, or */
    const struct pd_elf_piece
        *parts; /* what it holds of sh_size, from its begin, likewise placed */
    size_t part_count;
};

/* A header has no room for the number of more, .shstrtab among them. */
enum { PD_ELF_OUT_SECTIONS_MAX = SHN_LORESERVE - 1 };

struct pd_elf_out {
    const struct pd_elf *like; /* whose class, byte order and first header it has */
    PD_VEC(struct pd_elf_piece) pieces;
    PD_VEC(struct pd_elf_out_section) sections; /* with the empty first one */
};

/* Numbers of an ELF file, in its byte order. */
void pd_elf_put(struct pd_text *out, const struct pd_elf *like, uint64_t value, unsigned size);
/* One as large as an address. */
void pd_elf_put_word(struct pd_text *out, const struct pd_elf *like, uint64_t value);
void pd_elf_put_symbol(struct pd_text *out, const struct pd_elf *like, const GElf_Sym *symbol);

bool pd_elf_out_piece(struct pd_elf_out *out, uint64_t offset, uint64_t size);
/* Appends .shstrtab to fewer than PD_ELF_OUT_SECTIONS_MAX sections, places what has bytes, writes
 * it all. `*bytes`: how many were written. False: no memory, or errno says why not. */
bool pd_elf_out_write(struct pd_elf_out *out, int fd, uint64_t *bytes);
void pd_elf_out_free(struct pd_elf_out *out);

#endif
