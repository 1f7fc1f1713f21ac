/* SPDX-License-Identifier: MIT */
/* Programs of any bytes, cut down to some of their addresses as a bundle has them: the parts that
 * are kept, the cut debug information, and the comparison of both files. */
#include "object/cut/cut.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SYMBOLS_MAX = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The begin of each symbol and what lies within. False: no memory. */
static bool choose(const uint8_t *data, size_t size, pd_cut_list *addresses)
{
    const struct pd_object_search search = { 0 };
    struct pd_object *object;
    bool ok = true;
    if (pd_object_load_memory(&search, data, size, &object) == PERFDATA_OK)
        for (size_t i = 0; i < pd_symtab_count(object->symtab) && i < SYMBOLS_MAX && ok; i++) {
            const struct pd_symbol *symbol = pd_symtab_at(object->symtab, i);
            ok = pd_vec_push(addresses, symbol->start) &&
                 pd_vec_push(addresses, symbol->start + (symbol->end - symbol->start) / 2);
        }
    pd_object_free(object);
    pd_cut_sort(addresses);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pd_cut_list addresses = { 0 };
    struct pd_context context;
    struct pd_cut_result result;
    char path[32];
    int whole = memfd_create("whole", MFD_CLOEXEC), small = memfd_create("small", MFD_CLOEXEC);
    if (whole < 0 || small < 0 || write(whole, data, size) != (ssize_t)size ||
        !choose(data, size, &addresses))
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", whole);
    const struct pd_cut_source source = { .program = path,
                                          .symbols = path,
                                          .lines = path,
                                          .machine = EM_X86_64,
                                          .addresses = addresses.data,
                                          .count = addresses.count };
    pd_context_init(&context);
    /* A cut program is no larger than it was, holes and all, but for its tables. */
    const uint64_t most = 4 * (uint64_t)size + 65536;
    struct stat about;
    if (pd_cut_write(&context, &source, small, &result) == PERFDATA_OK && result.is_whole &&
        (result.bytes > most || fstat(small, &about) || (uint64_t)about.st_size > most))
        abort();
    pd_context_fini(&context);
    close(whole);
    close(small);
    pd_vec_free(&addresses);
    return 0;
}
