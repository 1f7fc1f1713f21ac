/* SPDX-License-Identifier: MIT */
/* Symbols of a table as a file that is mapped and used as it lies: an index (object/index).
 *
 * An image belongs to a key, bytes that say of what it was made; with another key it is none. Its
 * bytes are summed up before they are used, so that damage makes it none as well; who forges sum
 * and all gets wrong names, never an access outside of the file. Numbers are in the machine's own
 * byte order. */
#ifndef PD_SYMBOL_IMAGE_H
#define PD_SYMBOL_IMAGE_H
#include "object/file.h"
#include "object/symtab/builder.h"
#include <stdatomic.h>

enum { PD_SYMBOL_IMAGE_FACTS = 4, PD_SYMBOL_IMAGE_NAME = 48 };

/* Where it lies and of what it is made. */
struct pd_symbol_image_key {
    const char *folder; /* NULL: there are no images */
    char name[PD_SYMBOL_IMAGE_NAME];
    const void *bytes;
    size_t size;
};

/* `kind`: letters, what the file's name begins with. The bytes are borrowed. */
struct pd_symbol_image_key pd_symbol_image_key(const char *folder, const char *kind,
                                               const void *bytes, size_t size);

struct pd_symbol_image_run { /* of symbols with one tag: what stands in the name behind a tab */
    uint32_t first, count;
};

struct pd_symbol_image {
    struct pd_bytes bytes;
    _Atomic unsigned users;
    uint32_t count, run_count;
    uint32_t root; /* of the tree, 0: none overlap */
    const uint64_t *starts, *ends;
    const uint64_t *reach;        /* as in struct pd_symtab */
    const uint32_t *left, *right; /* in perf's tree, index + 1 */
    const uint32_t *names_at, *kinds;
    const struct pd_symbol_image_run *runs;
    const char *names;
    uint64_t names_size;
    uint64_t facts[PD_SYMBOL_IMAGE_FACTS]; /* the maker's */
};

/* NULL: there is none that can be used. */
struct pd_symbol_image *pd_symbol_image_open(const struct pd_symbol_image_key *key);
void pd_symbol_image_free(struct pd_symbol_image *image); /* for one of its users */

/* Fills in one symbol, whose name lies in the image. Returns its state. */
enum pd_name_state pd_symbol_image_symbol(const struct pd_symbol_image *image, size_t index,
                                          struct pd_symbol *out);
/* What stands behind the tab in the run's names; NULL: they have none. */
const char *pd_symbol_image_tag(const struct pd_symbol_image *image,
                                const struct pd_symbol_image_run *run);
/* How many symbols of [first, first + count) start at or before the address. */
size_t pd_symbol_image_upto(const struct pd_symbol_image *image, size_t first, size_t count,
                            uint64_t address);

/* The length of what kallsyms has behind a symbol's name, a tab and its module in brackets; 0:
 * nothing. */
PD_INLINE size_t pd_symbol_tag(const struct pd_symbol *symbol)
{
    if (!symbol->name_length || symbol->name[symbol->name_length - 1] != ']')
        return 0;
    const char *tab = memchr(symbol->name, '\t', symbol->name_length);
    return tab ? symbol->name_length - (size_t)(tab - symbol->name) : 0;
}

struct pd_symbol_image_source {
    const struct pd_symbol *symbols;
    const uint8_t *states; /* enum pd_name_state; as `symbols` */
    const uint32_t *order; /* of both; NULL: as they stand */
    size_t count;
    bool tagged; /* names may have tags */
    const uint64_t *reach;
    const uint32_t *left, *right;
    uint32_t root;
    uint64_t facts[PD_SYMBOL_IMAGE_FACTS];
};

/* Writes an image; does nothing where it would be too large or there is no memory or room for
 * it. */
void pd_symbol_image_write(const struct pd_symbol_image_key *key,
                           const struct pd_symbol_image_source *source);

/* Makes bytes pass for an image of their size and of this build, with the right sum, as far as the
 * head goes; for tests, which change the rest. */
void pd_symbol_image_seal(uint8_t *bytes, size_t size);

#endif
