/* SPDX-License-Identifier: MIT */
/* jitdump files of any bytes: every entry, its image, and that image read as the ELF file that it
 * is to be. */
#include "object/jit/jitdump.h"
#include "object/object.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The code is found where it was put, under its name. */
static void check_image(const struct pd_jit_entry *entry, const struct pd_text *image)
{
    struct pd_object_search search = { 0 };
    struct pd_object *object;
    if (pd_object_load_memory(&search, image->data, image->length, &object) == PERFDATA_OK) {
        const struct pd_symbol *symbol = pd_symtab_find(object->symtab, PD_JIT_TEXT_AT);
        if (symbol && (symbol->name_length > entry->name_length || symbol->start != PD_JIT_TEXT_AT))
            abort();
    }
    pd_object_free(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pd_jitdump dump;
    struct pd_jit_entry entry;
    struct pd_text image = { 0 }, path = { 0 };
    struct pd_build_id id;
    if (!pd_jitdump_open_memory(&dump, data, size))
        return 0;
    while (pd_jitdump_next(&dump, &entry)) {
        volatile uint64_t mapped = pd_jit_mapped_size(&entry);
        (void)mapped;
        path.length = 0;
        pd_jit_path("/a/b.dump", 9, &entry, &path);
        if (entry.kind == PD_JIT_LOAD && pd_jit_image(&dump, &entry, &image, &id))
            check_image(&entry, &image);
    }
    pd_text_free(&image);
    pd_text_free(&path);
    pd_jitdump_close(&dump);
    return 0;
}
