/* SPDX-License-Identifier: MIT */
/* Kernel symbol tables and perf maps of any bytes. The first byte says which. */
#include "object/object.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct pd_symtab *table)
{
    for (size_t i = 0; i < pd_symtab_count(table); i++) {
        const struct pd_symbol *symbol = pd_symtab_at(table, i);
        if (symbol->name_length != strlen(symbol->name) ||
            (i && symbol->start < pd_symtab_at(table, i - 1)->start))
            abort();
        pd_symtab_find(table, symbol->start);
        pd_symtab_find(table, symbol->end - 1);
    }
}

static void kernel(const struct pd_object_search *search, const char *text, size_t size)
{
    static const struct pd_kernel_map maps[] = {
        { .start = 0x1000, .end = UINT64_MAX, .pgoff = 0x1000 },
        { .name = "[m]", .start = 0x100000, .end = 0x110000, .is_module = true },
        { .name = "[n]",
          .start = 0x200000,
          .end = 0x210000,
          .is_module = true,
          .loaded_before = true },
    };
    struct pd_kernel_request request = { .ref_reloc_name = "_text",
                                         .ref_reloc_address = 0x1000,
                                         .kallsyms_text = text,
                                         .kallsyms_size = size,
                                         .maps = maps,
                                         .map_count = PD_LENGTH(maps),
                                         .is_x86_64 = true };
    struct pd_kernel *kernel;

    if (pd_kernel_load(search, &request, &kernel) != PERFDATA_OK)
        return;
    for (size_t i = 0; i < kernel->map_count; i++)
        if (kernel->maps[i].symtab)
            check(kernel->maps[i].symtab);
    pd_kernel_free(kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pd_object_search search = { .demangle = true, .demangle_kernel = true };
    struct pd_object *object;

    if (!size)
        return 0;
    if (data[0] & 1) {
        kernel(&search, (const char *)data + 1, size - 1);
    } else if (pd_object_load_perf_map_memory(&search, data + 1, size - 1, &object) ==
               PERFDATA_OK) {
        check(object->symtab);
        pd_object_free(object);
    }
    return 0;
}
