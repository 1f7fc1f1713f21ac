/* SPDX-License-Identifier: MIT */
/* ELF files of any bytes: symbols, PLT, build-id, packed debug data. The table comes out sorted and
 * can be searched. */
#include "object/object.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct pd_symtab *table)
{
    const struct pd_symbol *before = NULL;

    for (size_t i = 0; i < pd_symtab_count(table); i++) {
        const struct pd_symbol *symbol = pd_symtab_at(table, i);
        if (symbol->index != i || symbol->name_length != strlen(symbol->name) ||
            (before && before->start > symbol->start))
            abort();
        const struct pd_symbol *found = pd_symtab_find(table, symbol->start);
        if (found && (found->start > symbol->start ||
                      (found->end <= symbol->start && found->end != found->start)))
            abort();
        pd_symtab_find(table, symbol->end);
        before = symbol;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pd_object_search search = { .demangle = true, .gnu_debugdata = true };
    struct pd_object *object;
    struct pd_build_id id;

    pd_build_id_read_memory(data, size, &id);
    if (pd_object_load_memory(&search, data, size, &object) == PERFDATA_OK)
        check(object->symtab);
    pd_object_free(object);
    return 0;
}
