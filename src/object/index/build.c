/* SPDX-License-Identifier: MIT */
/* The program that runs -> a number that another build of it does not have. */
#include "object/index/build.h"
#include "base/hash.h"
#include "object/elf/build_id.h"

#include <link.h>
#include <pthread.h>

struct search {
    uintptr_t inside; /* an address of ours */
    struct pd_build_id id;
};

static bool holds(const struct dl_phdr_info *info, uintptr_t address)
{
    for (ElfW(Half) i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_LOAD &&
            address - info->dlpi_addr - header->p_vaddr < header->p_memsz)
            return true;
    }
    return false;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;

    (void)size;
    if (!holds(info, search->inside))
        return 0;
    for (ElfW(Half) i = 0; i < info->dlpi_phnum && !search->id.size; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        if (header->p_type == PT_NOTE)
            pd_build_id_from_notes((const uint8_t *)(info->dlpi_addr + header->p_vaddr), // NOLINT
                                   header->p_memsz, &search->id);
    }
    return 1;
}

static uint64_t build;

static void find(void)
{
    struct search search = { .inside = (uintptr_t)&find };

    dl_iterate_phdr(visit, &search);
    build = search.id.size ? pd_digest(search.id.bytes, search.id.size, 1) : 0;
}

uint64_t pd_index_build(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, find);
    return build;
}
