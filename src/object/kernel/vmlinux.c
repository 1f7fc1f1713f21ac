/* SPDX-License-Identifier: MIT */
/* The kernel's ELF file -> a map and a table for each of its sections. */
#include "base/memory.h"
#include "object/elf/symbols.h"
#include "object/kernel/loader.h"

#include <stdio.h>

static int compare_maps(const void *a, const void *b)
{
    const struct pd_kernel_result_map *x = *(struct pd_kernel_result_map *const *)a;
    const struct pd_kernel_result_map *y = *(struct pd_kernel_result_map *const *)b;

    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x < y ? -1 : x > y; /* they lie in one array */
}

/* perf closes gaps and cuts overlaps of the kernel's maps. */
static bool fix_map_ends(struct pd_kernel_loader *loader)
{
    size_t count = loader->maps.count;
    struct pd_kernel_result_map **sorted = pd_memory_noted(malloc(count * sizeof *sorted));

    if (!sorted)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &loader->maps.data[i];
    qsort(sorted, count, sizeof *sorted, compare_maps);
    for (size_t i = 0; i + 1 < count; i++)
        if (!sorted[i]->end || sorted[i]->end > sorted[i + 1]->start)
            sorted[i]->end = sorted[i + 1]->start;
    if (!sorted[count - 1]->end)
        sorted[count - 1]->end = UINT64_MAX;
    free(sorted);
    return true;
}

static bool take_sections(struct pd_kernel_loader *loader, struct pd_elf_load *load)
{
    bool ok = true;

    for (size_t i = 0; ok && i < load->sections.count; i++) {
        struct pd_elf_kernel_section *section = &load->sections.data[i];
        struct pd_kernel_result_map map = { .start = section->address + load->delta,
                                            .end = section->address + load->delta + section->size,
                                            .pgoff = section->offset };
        if (!section->builder) {
            map.name = loader->maps.data[0].name;
            loader->maps.data[0] = map;
            continue;
        }
        if (loader->maps.count - loader->request->map_count >= PD_NEW_MAPS_LIMIT)
            break;
        char name[256];
        snprintf(name, sizeof name, "%s%s", loader->kernel->short_name, section->name);
        map.name = pd_kernel_keep(loader, name);
        map.request_index = -1;
        ok = map.name && pd_kernel_add_map(loader, map, section->builder);
        if (ok)
            section->builder = NULL;
    }
    return ok && fix_map_ends(loader);
}

static perfdata_status use_vmlinux(struct pd_kernel_loader *loader, const struct pd_elf *elf)
{
    const struct pd_kernel_request *request = loader->request;
    struct pd_elf_load load = { .syms = elf,
                                .runtime = elf,
                                .kind = PD_ELF_KERNEL,
                                .ref_reloc_name = request->ref_reloc_address
                                                      ? request->ref_reloc_name
                                                      : NULL,
                                .ref_reloc_address = request->ref_reloc_address };
    size_t count = 0;

    load.builder = pd_symtab_builder_new(pd_search_demangle(loader->search, true));
    if (!load.builder)
        return PERFDATA_ERROR_MEMORY;
    if (!pd_elf_load_symbols(&load, &count) || !count) {
        pd_symtab_builder_free(load.builder);
        pd_elf_load_free(&load);
        return PERFDATA_ERROR_NOT_FOUND;
    }
    loader->builders.data[0] = load.builder;
    loader->kernel->delta = load.delta;
    bool ok = take_sections(loader, &load);
    pd_elf_load_free(&load);
    return ok ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

perfdata_status pd_kernel_try_vmlinux(struct pd_kernel_loader *loader, const char *name)
{
    const struct pd_kernel_request *request = loader->request;
    char path[PD_PATH_ROOM];
    struct pd_build_id id;
    struct pd_elf elf;

    /* symfs goes before relative names only */
    if (!pd_search_path(loader->search, name, path) ||
        !pd_elf_open(&elf, name[0] == '/' ? name : path))
        return PERFDATA_ERROR_NOT_FOUND;
    perfdata_status status = PERFDATA_ERROR_NOT_FOUND;
    if (!request->build_id.size || loader->search->ignore_build_id ||
        (pd_elf_build_id(&elf, &id) && pd_build_id_equal(&id, &request->build_id)))
        status = use_vmlinux(loader, &elf);
    pd_elf_close(&elf);
    if (status)
        return status;
    loader->kernel->type = PD_OBJECT_VMLINUX;
    loader->kernel->long_name = pd_kernel_keep(loader, name);
    loader->kernel->path = pd_memory_noted(strdup(name[0] == '/' ? name : path));
    return loader->kernel->long_name && loader->kernel->path ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}
