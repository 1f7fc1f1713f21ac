/* SPDX-License-Identifier: MIT */
/* Tables whose symbols stay in an image until somebody asks for one. */
#ifndef PD_SYMTAB_MAPPED_H
#define PD_SYMTAB_MAPPED_H
#include "object/symtab/image.h"

/* A part of an image's symbols, moved: the image's address less `shift` is the table's. */
struct pd_symtab_piece {
    uint32_t first, count;
    uint64_t shift;
    uint64_t start;  /* of its first symbol, in the table */
    uint32_t before; /* symbols of the table in front of it */
};

/* A table of all of an image's symbols. It keeps the image, whose use by the caller goes on. NULL:
 * no memory. */
struct pd_symtab *pd_symtab_map(struct pd_symbol_image *image, enum pd_demangle demangle);
/* A table of some of its symbols, in the order of their places in the table; `start` and `before`
 * are filled in here. *fits false: they overlap, or a move breaks their order, and there is no
 * table. */
struct pd_symtab *pd_symtab_map_pieces(struct pd_symbol_image *image, enum pd_demangle demangle,
                                       const struct pd_symtab_piece *pieces, size_t count,
                                       bool *fits);
/* Writes an image of a table that was built and that nobody else has seen yet. */
void pd_symtab_save(const struct pd_symtab *table, const struct pd_symbol_image_key *key,
                    const uint64_t facts[PD_SYMBOL_IMAGE_FACTS]);

#endif
