/* SPDX-License-Identifier: MIT */
/* Programs of any bytes, cut down to some of their addresses as a bundle has them: the parts that
 * are kept, the cut debug information, and the comparison of both files. */
#include "object/cut/cut.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ADDRESSES_MAX = 64, MACHINE_X86_64 = 62 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int compare(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The begin of each symbol and what lies within, rising, each once. */
static size_t choose(const uint8_t *data, size_t size, uint64_t *addresses)
{
    const struct pd_object_search search = { 0 };
    struct pd_object *object;
    size_t count = 0, kept = 0;
    if (pd_object_load_memory(&search, data, size, &object) == PERFDATA_OK)
        for (size_t i = 0; i < pd_symtab_count(object->symtab) && count + 2 <= ADDRESSES_MAX; i++) {
            const struct pd_symbol *symbol = pd_symtab_at(object->symtab, i);
            addresses[count++] = symbol->start;
            addresses[count++] = symbol->start + (symbol->end - symbol->start) / 2;
        }
    pd_object_free(object);
    qsort(addresses, count, sizeof *addresses, compare);
    for (size_t i = 0; i < count; i++)
        if (!kept || addresses[kept - 1] != addresses[i])
            addresses[kept++] = addresses[i];
    return kept;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint64_t addresses[ADDRESSES_MAX];
    struct pd_context context;
    struct pd_cut_result result;
    char path[32];
    int whole = memfd_create("whole", MFD_CLOEXEC), small = memfd_create("small", MFD_CLOEXEC);
    if (whole < 0 || small < 0 || write(whole, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", whole);
    const struct pd_cut_source source = { .program = path,
                                          .symbols = path,
                                          .lines = path,
                                          .machine = MACHINE_X86_64,
                                          .addresses = addresses,
                                          .count = choose(data, size, addresses) };
    pd_context_init(&context);
    if (pd_cut_write(&context, &source, small, &result) == PERFDATA_OK && result.is_whole &&
        result.bytes > 4 * (uint64_t)size + 65536)
        abort(); /* a cut program is no larger than it was, but for its tables */
    pd_context_fini(&context);
    close(whole);
    close(small);
    return 0;
}
