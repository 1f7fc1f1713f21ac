/* SPDX-License-Identifier: MIT */
/* The kernel's maps: its text, modules, and what KSYMBOL adds and removes. */
#include "format/structs.h"
#include "model/timeline.h"

#define TRAMPOLINE "__entry_SYSCALL_64_trampoline"

static bool starts(const struct pd_map_fact *fact, const char *prefix)
{
    size_t n = strlen(prefix);
    return fact->name_length >= n && memcmp(fact->name, prefix, n) == 0;
}

/* The kernel's own DSO: the first of kernel space that is no module, by its present long name. */
static struct pd_dso *kernel_dso(struct pd_timeline *timeline)
{
    struct pd_dso_table *table = &timeline->dsos;
    for (size_t i = 0; i < table->dsos.count; i++) {
        struct pd_dso *dso = table->dsos.data[i];
        struct pd_text text = { 0 };
        if (!dso->kernel_space || !dso->listed)
            continue;
        bool module = pd_module_name(dso->long_name, dso->long_name_length, &text);
        pd_text_free(&text);
        if (!module)
            return dso;
    }
    return pd_dso_findnew(table, timeline->kernel_name, strlen(timeline->kernel_name), NULL);
}

static struct pd_map *new_map(struct pd_timeline *timeline, const struct pd_map_fact *fact,
                              struct pd_dso *dso)
{
    struct pd_map *map = pd_timeline_new_map(timeline, fact, dso);
    if (map)
        map->kernel = true;
    return map;
}

struct old_kernel {
    uint64_t starts[64];
    size_t count;
};

static int collect_old(void *data, const struct pd_map *map)
{
    struct old_kernel *old = data;
    if (map->main_kernel)
        old->starts[old->count++] = map->start;
    return old->count == PD_LENGTH(old->starts);
}

/* A later record of the kernel replaces the earlier one, whatever modules have left of it. */
static perfdata_status remove_old_kernel(struct pd_timeline *timeline)
{
    struct old_kernel old;
    do {
        old.count = 0;
        pd_map_node_each(timeline->kernel.root, collect_old, &old);
        for (size_t i = 0; i < old.count; i++)
            if (pd_map_set_remove(&timeline->pool, &timeline->kernel, old.starts[i]) < 0)
                return PERFDATA_ERROR_MEMORY;
    } while (old.count == PD_LENGTH(old.starts));
    return 0;
}

bool pd_timeline_kernel_mapped(const struct pd_timeline *timeline)
{
    for (size_t i = 0; i < timeline->dsos.dsos.count; i++) {
        const struct pd_dso *dso = timeline->dsos.dsos.data[i];
        if (dso->kind == PD_DSO_KERNEL && dso->mapped)
            return true;
    }
    return false;
}

static perfdata_status main_kernel(struct pd_timeline *timeline, const struct pd_map_fact *fact)
{
    struct pd_dso *dso = kernel_dso(timeline);
    if (!dso || remove_old_kernel(timeline) < 0)
        return PERFDATA_ERROR_MEMORY;
    if (!dso->mapped) {
        dso->kernel_space = true;
        dso->kind = PD_DSO_KERNEL;
        if (strstr(dso->long_name, "vmlinux") &&
            !pd_dso_set_short_name(&timeline->dsos, dso, "[kernel.vmlinux]", 16))
            return PERFDATA_ERROR_MEMORY;
    }
    pd_dso_set_build_id(dso, fact->build_id, fact->build_id_size);
    dso->mapped = true;
    struct pd_map *map = new_map(timeline, fact, dso);
    if (!map)
        return PERFDATA_ERROR_MEMORY;
    map->identity = map->main_kernel = true;
    if (!map->start && !map->end) /* addresses were hidden: it covers everything */
        map->end = UINT64_MAX;
    const char *name = starts(fact, PD_KERNEL_NAME) ? PD_KERNEL_NAME : timeline->kernel_name;
    size_t prefix = strlen(name);
    map->reloc = fact->pgoff;
    if (fact->pgoff && fact->name_length > prefix) {
        uint32_t id = pd_intern(timeline->dsos.names, fact->name + prefix,
                                fact->name_length - prefix);
        if (id != PD_INTERN_NONE)
            map->reloc_name = pd_intern_text(timeline->dsos.names, id);
    }
    return pd_map_set_insert_below(&timeline->pool, &timeline->kernel, map);
}

static struct pd_dso *module_dso(struct pd_timeline *timeline, const struct pd_map_fact *fact)
{
    struct pd_text text = { 0 };
    struct pd_dso *dso = NULL;
    bool module = pd_module_name(fact->name, fact->name_length, &text);
    const char *name = text.data ? text.data : ""; /* of a path that ends in "/" */
    if (!text.failed)
        dso = pd_dso_find_short(&timeline->dsos, name, text.length);
    if (!dso && !text.failed) {
        dso = pd_dso_add(&timeline->dsos, name, text.length, fact->name, fact->name_length, NULL);
        if (dso && !pd_dso_set_short_name(&timeline->dsos, dso, name, text.length))
            dso = NULL;
        if (dso) {
            dso->kernel_space = true;
            dso->kind = module || fact->name[0] == '/' ? PD_DSO_MODULE : PD_DSO_OTHER;
        }
    }
    pd_text_free(&text);
    return dso;
}

static perfdata_status module_map(struct pd_timeline *timeline, const struct pd_map_fact *fact)
{
    struct pd_dso *dso = module_dso(timeline, fact);
    struct pd_map *map = dso ? new_map(timeline, fact, dso) : NULL;
    if (!map)
        return PERFDATA_ERROR_MEMORY;
    pd_dso_set_build_id(dso, fact->build_id, fact->build_id_size);
    perfdata_status status = pd_timeline_check_id(timeline, dso);
    dso->mapped = true;
    if (status < 0)
        return status;
    return pd_map_set_insert(&timeline->pool, &timeline->kernel, map);
}

/* The name up to its bracket: behind it there may be a suffix. What a guest recorded of itself is
 * called as a host's. */
static bool is_kernel(const struct pd_timeline *timeline, const struct pd_map_fact *fact)
{
    size_t length = strlen(timeline->kernel_name) - 1;
    if (fact->name_length >= length && !memcmp(fact->name, timeline->kernel_name, length))
        return true;
    return timeline->machine_pid != PD_HOST && starts(fact, "[kernel.kallsyms");
}

perfdata_status pd_timeline_kernel_mmap(struct pd_timeline *timeline,
                                        const struct pd_map_fact *fact)
{
    if (is_kernel(timeline, fact))
        return main_kernel(timeline, fact);
    if (starts(fact, "[guest.kernel.kallsyms"))
        return 0; /* guests' maps never serve host samples */
    if (fact->name_length && (fact->name[0] == '/' || fact->name[0] == '['))
        return module_map(timeline, fact);
    if (fact->name_length == sizeof TRAMPOLINE - 1 && starts(fact, TRAMPOLINE)) {
        struct pd_dso *dso = kernel_dso(timeline);
        struct pd_map *map = dso ? new_map(timeline, fact, dso) : NULL;
        if (!map)
            return PERFDATA_ERROR_MEMORY;
        dso->mapped = true;
        map->pgoff = fact->pgoff;
        return pd_map_set_insert(&timeline->pool, &timeline->kernel, map);
    }
    return 0;
}

static perfdata_status ksymbol_register(struct pd_timeline *timeline,
                                        const struct pd_record_ksymbol *symbol, uint64_t number)
{
    struct pd_dso *dso = pd_dso_add_unlisted(&timeline->dsos, symbol->name.text,
                                             symbol->name.length);
    if (!dso)
        return PERFDATA_ERROR_MEMORY;
    struct pd_map_fact fact = {
        .start = symbol->addr, .length = symbol->len, .pid = UINT32_MAX, .number = number
    };
    dso->kind = symbol->ksym_type == 2 ? PD_DSO_OOL : PD_DSO_BPF;
    dso->kernel_space = true;
    dso->symbol_size = symbol->len;
    dso->mapped = true;
    struct pd_map *map = new_map(timeline, &fact, dso);
    return map ? pd_map_set_insert(&timeline->pool, &timeline->kernel, map) : PERFDATA_ERROR_MEMORY;
}

perfdata_status pd_timeline_ksymbol(struct pd_timeline *timeline, const struct pd_event *event,
                                    const uint8_t *record, uint32_t size, uint64_t number)
{
    struct pd_record_ksymbol symbol;
    perfdata_status status = pd_record_decode(event, record, size, timeline->swap, NULL, &symbol,
                                              sizeof symbol);
    if (status < 0)
        return status;
    const struct pd_map *map = pd_map_set_find_now(&timeline->kernel, symbol.addr);
    if (!(symbol.flags & PD_KSYMBOL_FLAG_UNREGISTER))
        return map ? 0 : ksymbol_register(timeline, &symbol, number);
    if (map && !map->main_kernel)
        return pd_map_set_remove(&timeline->pool, &timeline->kernel, map->start);
    return 0;
}
