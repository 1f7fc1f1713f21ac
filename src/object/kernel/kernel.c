/* SPDX-License-Identifier: MIT */
/* The kernel: which table of it is used, and how its symbols and maps become those of the
 * recording. */
#include "base/intern.h"
#include "base/memory.h"
#include "object/kernel/kallsyms.h"
#include "object/kernel/kcore.h"
#include "object/kernel/loader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

#define KALLSYMS_NAME "[kernel.kallsyms]"
#define KALLSYMS_LIMIT ((size_t)1 << 30)

/* ---- kallsyms into maps ---- */

struct split {
    struct pd_kernel_loader *loader;
    struct pd_symtab_builder *all; /* what stays belongs to the kernel's map */
    struct pd_intern names;        /* of request maps: id -> by_name */
    PD_VEC(uint32_t) by_name;
    uint32_t current; /* map; 0 is the kernel's */
    uint64_t delta;
    size_t stayed;
    unsigned ranges;
};

static bool index_names(struct split *split)
{
    const struct pd_kernel_request *request = split->loader->request;

    for (size_t i = 1; i < request->map_count; i++) {
        uint32_t id = pd_intern(&split->names, request->maps[i].name,
                                strlen(request->maps[i].name));
        if (id == PD_INTERN_NONE)
            return false;
        if (id == split->by_name.count && !pd_vec_push(&split->by_name, (uint32_t)i))
            return false;
    }
    return true;
}

/* The map of a module by name; 0: none. */
static uint32_t map_of_module(struct split *split, const char *name, bool *no_memory)
{
    uint32_t id = pd_intern(&split->names, name, strlen(name));

    if (id == PD_INTERN_NONE) {
        *no_memory = true;
        return 0;
    }
    if (id == split->by_name.count &&
        !pd_vec_push(&split->by_name, 0)) /* unknown: not asked again */
        *no_memory = true;
    return *no_memory ? 0 : split->by_name.data[id];
}

enum fate { FATE_STAY, FATE_MOVE, FATE_DISCARD, FATE_NO_MEMORY };

static enum fate module_fate(struct split *split, struct pd_symbol *symbol, const char *module)
{
    struct pd_kernel_loader *loader = split->loader;
    bool no_memory = false;

    if (strcmp(loader->maps.data[split->current].name, module) != 0) {
        split->current = map_of_module(split, module, &no_memory);
        if (no_memory)
            return FATE_NO_MEMORY;
        if (!split->current || loader->request->maps[split->current].loaded_before)
            return FATE_DISCARD;
    }
    if (!split->current) /* a module that has the kernel's own name: the symbol lies where it is */
        return FATE_STAY;
    const struct pd_kernel_result_map *map = &loader->maps.data[split->current];
    if (!map->identity) {
        symbol->start = symbol->start - map->start + map->pgoff;
        symbol->end = symbol->end - map->start + map->pgoff;
    }
    return FATE_MOVE;
}

/* A kernel symbol behind those of modules: perf opens a map of no length for it. */
static enum fate stray_fate(struct split *split, struct pd_symbol *symbol)
{
    struct pd_kernel_loader *loader = split->loader;
    char name[48];

    symbol->start -= split->delta;
    symbol->end -= split->delta;
    if (!split->stayed) {
        split->current = 0;
        return FATE_STAY;
    }
    if (loader->maps.count - loader->request->map_count >= PD_NEW_MAPS_LIMIT)
        return FATE_DISCARD;
    snprintf(name, sizeof name, "[%skernel].%u", loader->request->guest ? "guest." : "",
             split->ranges);
    split->ranges += 2; /* perf counts twice */
    struct pd_kernel_result_map map = { .name = pd_kernel_keep(loader, name),
                                        .start = symbol->start,
                                        .identity = true,
                                        .request_index = -1 };
    if (!map.name || !pd_kernel_add_map(loader, map, NULL))
        return FATE_NO_MEMORY;
    split->current = (uint32_t)loader->maps.count - 1;
    return FATE_MOVE;
}

/* What stands behind a tab, the module's name; NULL: there is none. */
static const char *cut_module(struct pd_symbol *symbol)
{
    char *tab = memchr(symbol->name, '\t', symbol->name_length);

    if (!tab)
        return NULL;
    *tab = '\0'; /* our own copy */
    const uint32_t length = (uint32_t)(tab - symbol->name);
    symbol->module_length = (uint16_t)PD_MIN(symbol->name_length - length, (uint32_t)UINT16_MAX);
    symbol->name_length = length;
    return tab + 1;
}

static enum fate symbol_fate(struct split *split, struct pd_symbol *symbol)
{
    const char *module = cut_module(symbol);

    if (module)
        return module_fate(split, symbol, module);
    if (split->loader->request->is_x86_64 && pd_kernel_is_trampoline(symbol))
        return FATE_DISCARD;
    if (split->current)
        return stray_fate(split, symbol);
    symbol->start -= split->delta;
    symbol->end -= split->delta;
    return FATE_STAY;
}

static bool move_symbol(struct split *split, const struct pd_symbol *symbol)
{
    struct pd_symtab_builder **to = &split->loader->builders.data[split->current];

    if (!*to)
        *to = pd_symtab_builder_new(split->all->demangle);
    if (!*to || !pd_symtab_add_range(*to, symbol->start, symbol->end, symbol->binding, symbol->type,
                                     symbol->name, symbol->name_length,
                                     split->all->demangle ? PD_NAME_RAW : PD_NAME_READY))
        return false;
    (*to)->all.data[(*to)->all.count - 1].module_length = symbol->module_length;
    return true;
}

/* Deals the sorted symbols out to the maps. */
static bool split_symbols(struct split *split)
{
    struct pd_symtab_builder *all = split->all;
    size_t kept = 0;

    for (size_t i = 0; i < all->order.count; i++) {
        uint32_t index = all->order.data[i];
        struct pd_symbol *symbol = &all->all.data[index];
        enum fate fate = symbol_fate(split, symbol);
        if (fate == FATE_NO_MEMORY)
            return false;
        if (fate == FATE_STAY) {
            all->order.data[kept++] = index;
            split->stayed++;
            continue;
        }
        if (!pd_symtab_erase(all, index) || (fate == FATE_MOVE && !move_symbol(split, symbol)))
            return false;
    }
    all->order.count = kept;
    all->moved = split->delta != 0; /* addresses may have wrapped */
    return pd_symtab_sort(all);
}

/* perf fits the kernel's map to its symbols. */
static void fit_main_map(struct pd_kernel_loader *loader, const struct pd_symtab_builder *all)
{
    if (!all->order.count)
        return;
    const struct pd_symbol *first = &all->all.data[all->order.data[0]];
    const struct pd_symbol *last = &all->all.data[all->order.data[all->order.count - 1]];
    loader->maps.data[0].start = first->start;
    loader->maps.data[0].end = last->end;
}

static bool split_kallsyms(struct pd_kernel_loader *loader, struct pd_symtab_builder *all,
                           uint64_t delta)
{
    struct split split = { .loader = loader, .all = all, .delta = delta };
    bool ok = index_names(&split) && split_symbols(&split);

    pd_intern_free(&split.names);
    pd_vec_free(&split.by_name);
    if (ok)
        fit_main_map(loader, all);
    return ok;
}

/* ---- kallsyms beside a kcore ----------------------------------------------------------------- */

/* All its segments are the kernel's object, symbols lie at offsets in it. */

static bool keep_in_segments(struct pd_symtab_builder *all, const struct pd_kcore *kcore)
{
    size_t kept = 0;

    for (size_t i = 0; i < all->order.count; i++) {
        uint32_t index = all->order.data[i];
        struct pd_symbol *symbol = &all->all.data[index];
        const struct pd_kcore_segment *segment = pd_kcore_find(kcore, symbol->start);
        cut_module(symbol);
        if (!segment) {
            if (!pd_symtab_erase(all, index))
                return false;
            continue;
        }
        uint64_t shift = segment->start - segment->offset;
        symbol->start -= shift;
        symbol->end = PD_MIN(symbol->end, segment->end);
        if (symbol->end)
            symbol->end -= shift;
        all->order.data[kept++] = index;
    }
    all->order.count = kept;
    all->moved = true;
    return pd_symtab_sort(all);
}

/* The segments instead of all maps. */
static bool take_segments(struct pd_kernel_loader *loader, const struct pd_kcore *kcore)
{
    for (size_t i = 1; i < loader->maps.count; i++)
        loader->maps.data[i].end = 0;
    for (size_t i = 0; i < kcore->segments.count; i++) {
        const struct pd_kcore_segment *segment = &kcore->segments.data[i];
        struct pd_kernel_result_map map = { .name = loader->maps.data[0].name,
                                            .start = segment->start,
                                            .end = segment->end,
                                            .pgoff = segment->offset,
                                            .of_kernel = true,
                                            .request_index = -1 };
        if (i == kcore->main) {
            map.request_index = loader->maps.data[0].request_index;
            loader->maps.data[0] = map;
        } else if (!pd_kernel_add_map(loader, map, NULL)) {
            return false;
        }
    }
    return true;
}

static perfdata_status use_kcore(struct pd_kernel_loader *loader, struct pd_symtab_builder *all,
                                 const struct pd_kcore *kcore)
{
    struct pd_kernel *kernel = loader->kernel;

    if (!keep_in_segments(all, kcore) || !take_segments(loader, kcore))
        return PERFDATA_ERROR_MEMORY;
    kernel->type = PD_OBJECT_KALLSYMS;
    kernel->long_name = pd_kernel_keep(loader, kcore->path);
    kernel->code_path = pd_memory_noted(strdup(kcore->path));
    return kernel->long_name && kernel->code_path ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

/* What a table's lines say of it as a whole. */
struct facts {
    uint64_t text, stext, delta; /* delta: how far the kernel stands from where it was recorded */
    bool has_text, has_stext;
    bool related; /* the reference symbol is there: the text can be of the recorded kernel */
};

/* While the lines are lines: names get their ends when they are parsed. */
static struct facts find_facts(const struct pd_kernel_request *request, const char *text,
                               size_t size)
{
    struct facts facts = { .related = true };
    uint64_t address;

    facts.has_text = pd_kallsyms_function(text, size, "_text", &facts.text);
    facts.has_stext = pd_kallsyms_function(text, size, "_stext", &facts.stext);
    if (!request->ref_reloc_name || !request->ref_reloc_address)
        return facts;
    facts.related = pd_kallsyms_function(text, size, request->ref_reloc_name, &address);
    if (facts.related)
        facts.delta = address - request->ref_reloc_address;
    return facts;
}

static void use_split(struct pd_kernel_loader *loader, uint64_t delta)
{
    loader->kernel->type = PD_OBJECT_KALLSYMS;
    loader->kernel->delta = (uint64_t)0 - delta;
}

/* What the text's symbols, all in `all`, are for: the segments of a kcore (NULL: there is none), or
 * the maps. */
static perfdata_status use_symbols(struct pd_kernel_loader *loader, struct pd_symtab_builder *all,
                                   const struct pd_kcore *kcore, const struct facts *facts)
{
    struct pd_running *running = loader->running;

    if (!all->all.count || !facts->related)
        /* the symbols stay, of no size: perf finds them at their start */
        return PERFDATA_ERROR_NOT_FOUND;
    if (kcore || (loader->of_running && !pd_running_leave_out(all, loader->request)))
        running = NULL;
    if (!pd_symtab_fix_ends(all, true) || !pd_symtab_fix_duplicates(all))
        return PERFDATA_ERROR_MEMORY;
    if (kcore)
        return use_kcore(loader, all, kcore);
    if (running && all->demangle == PD_DEMANGLE_NONE)
        pd_running_save(loader->search, running, all, facts->has_text ? &facts->text : NULL,
                        facts->has_stext ? &facts->stext : NULL);
    if (!split_kallsyms(loader, all, facts->delta))
        return PERFDATA_ERROR_MEMORY;
    use_split(loader, facts->delta);
    return PERFDATA_OK;
}

/* ERROR_NOT_FOUND: perf would go without symbols. `path`: of the table, NULL when it was given as
 * text. The text is from malloc, with room for a byte behind it, and is the table's from here
 * on. `wants_kcore`: not found either where no kcore of the recorded kernel lies beside it. */
static perfdata_status use_kallsyms(struct pd_kernel_loader *loader, const char *path, char *text,
                                    size_t size, bool wants_kcore)
{
    struct pd_symtab_builder *all = pd_symtab_builder_new(pd_search_demangle(loader->search, true));
    struct pd_kcore kcore = { 0 };

    if (!all) {
        free(text);
        return PERFDATA_ERROR_MEMORY;
    }
    const struct facts facts = find_facts(loader->request, text, size);
    perfdata_status status = PERFDATA_ERROR_NOT_FOUND;
    if (path)
        status = pd_kcore_open(path, facts.related && !facts.delta,
                               facts.has_stext ? &facts.stext : NULL, loader->request, &kcore);
    if (wants_kcore && status) {
        free(text);
        pd_symtab_builder_free(all);
        return status;
    }
    loader->builders.data[0] = all;
    bool parsed = pd_kallsyms_parse(all, text, size);
    if (!parsed)
        status = PERFDATA_ERROR_MEMORY;
    else if (status == PERFDATA_OK || status == PERFDATA_ERROR_NOT_FOUND)
        status = use_symbols(loader, all, status ? NULL : &kcore, &facts);
    pd_kcore_free(&kcore);
    return status;
}

static perfdata_status read_kallsyms(struct pd_kernel_loader *loader, const char *path,
                                     bool wants_kcore)
{
    struct pd_bytes bytes;

    if (!pd_file_read(path, &bytes, KALLSYMS_LIMIT))
        return PERFDATA_ERROR_NOT_FOUND;
    return use_kallsyms(loader, path, (char *)bytes.data, bytes.size, wants_kcore);
}

/* From an index, else from the lines, of which it makes one. */
static perfdata_status use_running(struct pd_kernel_loader *loader)
{
    const char *root = loader->search->system_root;
    struct pd_running running;
    char path[PD_PATH_ROOM];
    uint64_t delta;

    if (pd_running_is_restricted(root))
        return PERFDATA_ERROR_NOT_FOUND;
    snprintf(path, sizeof path, "%s" PD_PROC_KALLSYMS, root ? root : "");
    loader->of_running = true;
    if (!loader->search->index || !pd_running_open(root, &running))
        return read_kallsyms(loader, path, false);
    perfdata_status status = pd_running_load(loader->search, loader->request, &running,
                                             loader->maps.data, &delta);
    if (!status) {
        use_split(loader, delta);
    } else if (status == PERFDATA_ERROR_NOT_FOUND) {
        loader->running = &running;
        status = read_kallsyms(loader, path, false);
        loader->running = NULL;
    }
    pd_running_free(&running);
    return status;
}

static perfdata_status try_kallsyms(struct pd_kernel_loader *loader, const char *path)
{
    perfdata_status status = strcmp(path, PD_PROC_KALLSYMS) ? read_kallsyms(loader, path, false)
                                                            : use_running(loader);

    if (!status && !(loader->kernel->path = pd_memory_noted(strdup(path))))
        status = PERFDATA_ERROR_MEMORY;
    return status;
}

/* ---- vmlinux ---- */

static perfdata_status try_vmlinux_list(struct pd_kernel_loader *loader)
{
    static const char *const with_release[] = {
        "/boot/vmlinux-%s",
        "/usr/lib/debug/boot/vmlinux-%s",
        "/lib/modules/%s/build/vmlinux",
        "/usr/lib/debug/lib/modules/%s/vmlinux",
        "/usr/lib/debug/boot/vmlinux-%s.debug",
    };
    struct utsname running;
    const char *release = loader->search->os_release;
    /* Those without a release in their names are of the running kernel, or of any. */
    bool known = loader->request->build_id.size != 0;
    perfdata_status status = PERFDATA_ERROR_NOT_FOUND;

    if (known || !loader->search->kernel_elsewhere)
        status = pd_kernel_try_vmlinux(loader, "vmlinux");
    if (status == PERFDATA_ERROR_NOT_FOUND && (known || !loader->search->kernel_elsewhere))
        status = pd_kernel_try_vmlinux(loader, "/boot/vmlinux");
    if (pd_search_has_symfs(loader->search) || (!known && loader->search->arch_elsewhere))
        return status;
    if (!release && uname(&running) == 0)
        release = running.release;
    for (size_t i = 0; release && status == PERFDATA_ERROR_NOT_FOUND && i < PD_LENGTH(with_release);
         i++) {
        char path[PD_PATH_ROOM];
        const char *format = with_release[i], *mark = strstr(format, "%s");
        int length = snprintf(path, sizeof path, "%.*s%s%s", (int)(mark - format), format, release,
                              mark + 2);
        if (length > 0 && length < (int)sizeof path)
            status = pd_kernel_try_vmlinux(loader, path);
    }
    return status;
}

/* ---- choice ---- */

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The cache may have copies of this kernel's code, each from another boot: the first one that lies
 * where the kernel was recorded. */
static perfdata_status try_cached_kcore(struct pd_kernel_loader *loader, const char *cache,
                                        const char *hex)
{
    char folder[PD_PATH_ROOM + 128], path[PD_PATH_ROOM + 512];
    struct dirent **copies = NULL;
    perfdata_status status = PERFDATA_ERROR_NOT_FOUND;

    snprintf(folder, sizeof folder, "%s/[kernel.kcore]/%s", cache, hex);
    errno = 0;
    int count = scandir(folder, &copies, is_visible, alphasort);
    pd_memory_note_errno();
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/%s/kallsyms", folder, copies[i]->d_name);
        if (status == PERFDATA_ERROR_NOT_FOUND)
            status = read_kallsyms(loader, path, true);
        if (!status && !loader->kernel->path &&
            !(loader->kernel->path = pd_memory_noted(strdup(path))))
            status = PERFDATA_ERROR_MEMORY;
        free(copies[i]);
    }
    free(copies);
    return status;
}

/* The cache has a folder for each table, older ones a file. */
static perfdata_status try_cached(struct pd_kernel_loader *loader, const struct pd_build_id *id)
{
    char cache[PD_PATH_ROOM], path[PD_PATH_ROOM + 128], hex[2 * PD_BUILD_ID_MAX + 1];

    if (!pd_search_cache(loader->search, cache))
        return PERFDATA_ERROR_NOT_FOUND;
    pd_build_id_text(id, hex);
    perfdata_status status = try_cached_kcore(loader, cache, hex);
    if (status != PERFDATA_ERROR_NOT_FOUND)
        return status;
    snprintf(path, sizeof path, "%s/" KALLSYMS_NAME "/%s/kallsyms", cache, hex);
    if (access(path, F_OK))
        snprintf(path, sizeof path, "%s/" KALLSYMS_NAME "/%s", cache, hex);
    return try_kallsyms(loader, path);
}

/* Reports that the kernel is another one than ours, whose names its addresses would get. */
static perfdata_status tell_elsewhere(const struct pd_kernel_loader *loader)
{
    const struct pd_object_search *search = loader->search;
    perfdata_status status = PERFDATA_OK;

    if (search->context)
        status = pd_issue(
            search->context, PERFDATA_ISSUE_OBJECT, -1,
            "the kernel was another one (%s) and its build-id is not recorded: this "
            "machine's symbols are not used for it (--kallsyms or --vmlinux names its "
            "own)",
            search->os_release ? search->os_release : "of another machine");
    return status < 0 ? status : PERFDATA_ERROR_NOT_FOUND;
}

static void warn_missing(const struct pd_kernel_loader *loader, const struct pd_build_id *id)
{
    char hex[2 * PD_BUILD_ID_MAX + 1];

    if (!loader->search->context)
        return;
    pd_build_id_text(id, hex);
    pd_warning(loader->search->context, PERFDATA_ISSUE_SYMBOLS, -1,
               "No kallsyms or vmlinux with build-id %s was found\n", hex);
}

static perfdata_status try_running_or_cached(struct pd_kernel_loader *loader)
{
    const struct pd_build_id *id = &loader->request->build_id;
    struct pd_build_id running;
    perfdata_status status;

    if (!id->size && loader->search->kernel_elsewhere)
        return tell_elsewhere(loader);
    if (!id->size || (pd_build_id_read_notes("/sys/kernel/notes", &running) == 0 &&
                      pd_build_id_equal(id, &running)))
        return try_kallsyms(loader, PD_PROC_KALLSYMS);
    status = try_cached(loader, id);
    if (status == PERFDATA_ERROR_NOT_FOUND)
        warn_missing(loader, id); /* in strict mode the run's end tells it */
    return status;
}

static perfdata_status choose(struct pd_kernel_loader *loader)
{
    const struct pd_object_search *search = loader->search;
    const struct pd_kernel_request *request = loader->request;
    char path[PD_PATH_ROOM];
    perfdata_status status = PERFDATA_ERROR_NOT_FOUND;

    if (request->kallsyms_text) {
        size_t size = request->kallsyms_size;
        char *text = pd_memory_noted(malloc(size + 1));
        if (!text)
            return PERFDATA_ERROR_MEMORY;
        memcpy(text, request->kallsyms_text, size);
        return use_kallsyms(loader, NULL, text, size, false);
    }
    if (search->kallsyms && !(request->guest && search->vmlinux))
        return try_kallsyms(loader, search->kallsyms);
    if (request->guest) /* a vmlinux goes before its kallsyms */
        return search->vmlinux ? pd_kernel_try_vmlinux(loader, search->vmlinux) : status;
    if (!search->ignore_vmlinux) {
        if (search->vmlinux)
            return pd_kernel_try_vmlinux(loader, search->vmlinux);
        if (pd_search_cache_path(search, &request->build_id, "elf", path))
            status = pd_kernel_try_vmlinux(loader, path);
        if (status == PERFDATA_ERROR_NOT_FOUND)
            status = try_vmlinux_list(loader);
    }
    if (status == PERFDATA_ERROR_NOT_FOUND && !pd_search_has_symfs(search))
        status = try_running_or_cached(loader);
    return status;
}

static bool take_request(struct pd_kernel_loader *loader)
{
    const struct pd_kernel_request *request = loader->request;

    for (size_t i = 0; i < request->map_count; i++) {
        const struct pd_kernel_map *from = &request->maps[i];
        struct pd_kernel_result_map map = { .start = from->start,
                                            .end = from->end,
                                            .pgoff = from->pgoff,
                                            .identity = !from->is_module,
                                            .request_index = (int32_t)i };
        map.name = pd_kernel_keep(loader, i ? from->name : loader->kernel->short_name);
        if (!map.name || !pd_kernel_add_map(loader, map, NULL))
            return false;
    }
    return true;
}

static bool finish(struct pd_kernel_loader *loader)
{
    struct pd_kernel *kernel = loader->kernel;
    bool ok = true;

    for (size_t i = 0; i < loader->builders.count; i++) { /* as many as maps, less without memory */
        struct pd_symtab_builder *builder = loader->builders.data[i];
        if (!builder)
            continue;
        loader->maps.data[i].symtab = pd_symtab_finish(builder);
        ok &= loader->maps.data[i].symtab != NULL;
    }
    loader->builders.count = 0;
    kernel->maps = loader->maps.data;
    kernel->map_count = loader->maps.count;
    memset(&loader->maps, 0, sizeof loader->maps);
    return ok;
}

perfdata_status pd_kernel_load(const struct pd_object_search *search,
                               const struct pd_kernel_request *request, struct pd_kernel **out)
{
    struct pd_kernel_loader loader = { .search = search,
                                       .request = request,
                                       .kernel = pd_memory_noted(
                                           calloc(1, sizeof *loader.kernel)) };
    perfdata_status status = PERFDATA_ERROR_MEMORY;

    *out = NULL;
    if (!request->map_count || request->map_count > INT32_MAX) {
        free(loader.kernel);
        return PERFDATA_ERROR_ARGUMENT;
    }
    if (!loader.kernel)
        return status;
    const char *name = request->guest ? pd_kernel_keep(&loader, request->guest) : KALLSYMS_NAME;
    loader.kernel->short_name = loader.kernel->long_name = name;
    if (name && take_request(&loader))
        status = choose(&loader);
    if (status == PERFDATA_ERROR_NOT_FOUND)
        status = PERFDATA_OK;
    if (!finish(&loader))
        status = PERFDATA_ERROR_MEMORY;
    pd_vec_free(&loader.builders);
    if (status) {
        pd_kernel_free(loader.kernel);
        return status;
    }
    *out = loader.kernel;
    return PERFDATA_OK;
}

void pd_kernel_free(struct pd_kernel *kernel)
{
    if (!kernel)
        return;
    for (size_t i = 0; i < kernel->map_count; i++)
        pd_symtab_free(kernel->maps[i].symtab);
    free(kernel->maps);
    free(kernel->path);
    free(kernel->code_path);
    pd_arena_free(&kernel->arena);
    free(kernel);
}
