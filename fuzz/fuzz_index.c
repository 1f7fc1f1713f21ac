/* SPDX-License-Identifier: MIT */
/* Indexes of symbols of any bytes, their sum being right: look-ups stay inside and end. */
#include "object/index/folder.h"
#include "object/symtab/mapped.h"
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/perfdata-fuzz-XXXXXX";

static void look_up(const struct pd_symtab *table)
{
    for (size_t i = 0; i < pd_symtab_count(table); i++) {
        const struct pd_symbol *symbol = pd_symtab_at(table, i);
        if (symbol && strlen(symbol->name) < symbol->name_length)
            abort();
        pd_symtab_find(table, symbol ? symbol->start : i);
        pd_symtab_find(table, symbol ? symbol->end : i);
    }
}

static void take_runs(struct pd_symbol_image *image)
{
    for (uint32_t i = 0; i < image->run_count; i++) {
        const struct pd_symtab_piece piece = { .first = image->runs[i].first,
                                               .count = image->runs[i].count,
                                               .shift = i };
        const char *tag = pd_symbol_image_tag(image, &image->runs[i]);
        bool fits;
        if (tag && strlen(tag) > image->names_size)
            abort();
        struct pd_symtab *table = pd_symtab_map_pieces(image, PD_DEMANGLE_NONE, &piece, 1, &fits);
        if (table)
            look_up(table);
        pd_symtab_free(table);
    }
}

/* The key is of no bytes: whatever the image is of, it is what was asked for. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool made;
    struct pd_symbol_image_key key = pd_symbol_image_key(folder, "fuzz", "", 0);

    if (!made && !mkdtemp(folder))
        return 0;
    made = true;
    uint8_t *image_bytes = malloc(size + 1);
    if (!image_bytes)
        return 0;
    memcpy(image_bytes, data, size);
    pd_symbol_image_seal(image_bytes, size);
    pd_index_write(folder, key.name, image_bytes, size);
    free(image_bytes);
    struct pd_symbol_image *image = pd_symbol_image_open(&key);
    if (!image)
        return 0;
    struct pd_symtab *table = pd_symtab_map(image, PD_DEMANGLE_PLAIN);
    if (table)
        look_up(table);
    take_runs(image);
    pd_symtab_free(table);
    pd_symbol_image_free(image);
    return 0;
}
