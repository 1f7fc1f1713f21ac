/* SPDX-License-Identifier: MIT */
/* Which file gives a program's, library's or module's symbols. */
#include "object/internal.h"
#include "base/memory.h"
#include "object/symtab/mapped.h"

#include <stdio.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define VDSO_LIMIT ((size_t)1 << 20)

struct loader {
    const struct pd_object_search *search;
    const char *long_name;
    struct pd_object *object;
    struct pd_elf syms, runtime;
    bool has_syms, has_runtime; /* each opened file is owned by the first of the two that took it */
    bool shared;                /* runtime is syms */
    enum pd_object_type syms_type, runtime_type;
};

/* ---- paths ---- */

/* "/" is none, as for perf. */
bool pd_search_has_symfs(const struct pd_object_search *search)
{
    return search->symfs && search->symfs[strspn(search->symfs, "/")];
}

static bool fits(int length)
{
    return length >= 0 && length < PD_PATH_ROOM;
}

bool pd_search_path(const struct pd_object_search *search, const char *path, char *out)
{
    if (!pd_search_has_symfs(search) && search->root && path[0] == '/')
        return fits(snprintf(out, PD_PATH_ROOM, "%s%s", search->root, path));
    if (!pd_search_has_symfs(search))
        return fits(snprintf(out, PD_PATH_ROOM, "%s", path));
    return fits(
        snprintf(out, PD_PATH_ROOM, "%s%s%s", search->symfs, path[0] == '/' ? "" : "/", path));
}

bool pd_search_cache(const struct pd_object_search *search, char *out)
{
    if (search->symfs && search->symfs[0]) /* "/" too */
        return fits(snprintf(out, PD_PATH_ROOM, "%s/.debug", search->symfs));
    if (search->cache)
        return fits(snprintf(out, PD_PATH_ROOM, "%s", search->cache));
    return search->home && fits(snprintf(out, PD_PATH_ROOM, "%s/.debug", search->home));
}

bool pd_search_cache_path(const struct pd_object_search *search, const struct pd_build_id *id,
                          const char *leaf, char *out)
{
    char cache[PD_PATH_ROOM], hex[2 * PD_BUILD_ID_MAX + 1];

    if (id->size < 2 || !pd_search_cache(search, cache))
        return false;
    pd_build_id_text(id, hex);
    if (!fits(snprintf(out, PD_PATH_ROOM, "%s/.build-id/%.2s/%s", cache, hex, hex + 2)))
        return false;
    if (pd_file_is_regular(out))
        return true; /* an old cache: the link is the file */
    return fits(snprintf(out, PD_PATH_ROOM, "%s/.build-id/%.2s/%s/%s", cache, hex, hex + 2, leaf));
}

enum pd_demangle pd_search_demangle(const struct pd_object_search *search, bool kernel)
{
    if (!search->demangle || (kernel && !search->demangle_kernel))
        return PD_DEMANGLE_NONE;
    return search->verbose_names ? PD_DEMANGLE_VERBOSE : PD_DEMANGLE_PLAIN;
}

static bool debuglink_path(const struct loader *loader, char *out)
{
    char self[PD_PATH_ROOM], link[PD_PATH_ROOM];
    struct pd_elf elf;
    const char *root = pd_search_has_symfs(loader->search) ? NULL : loader->search->root;

    if (!pd_search_path(loader->search, loader->long_name, self) || !pd_file_is_regular(self) ||
        !pd_elf_open(&elf, self))
        return false;
    bool found = pd_elf_debuglink(&elf, link, sizeof link);
    pd_elf_close(&elf);
    if (!found)
        return false;
    char *slash = strrchr(self, '/');
    if (slash)
        *slash = '\0';
    else
        self[0] = '\0';
    if (!root)
        root = "";
    const char *const before[] = { root, self, self, root };
    const char *const middle[] = { *root ? "/" : "", "/", "/.debug/", "/usr/lib/debug" };
    for (size_t i = 0; i < PD_LENGTH(before); i++) {
        const char *folder = i == 3 ? self + strlen(root) : "";
        const char *slash_before_link = i == 3 ? "/" : "";
        if (fits(snprintf(out, PD_PATH_ROOM, "%s%s%s%s%s", before[i], middle[i], folder,
                          slash_before_link, link)) &&
            pd_file_is_regular(out))
            return true;
    }
    return false;
}

bool pd_is_vdso_name(const char *name)
{
    return !strcmp(name, "[vdso]") || !strcmp(name, "[vdso32]") || !strcmp(name, "[vdsox32]");
}

/* Below /usr/lib/debug, symfs before it. */
static bool debug_path(const struct loader *loader, const char *path, const char *tail, char *out)
{
    char plain[PD_PATH_ROOM];

    return fits(snprintf(plain, sizeof plain, "/usr/lib/debug%s%s", path, tail)) &&
           pd_search_path(loader->search, plain, out);
}

/* Where a kind of file would be; false: there can be none. */
static bool candidate_path(const struct loader *loader, enum pd_object_type type, char *out)
{
    const struct pd_build_id *id = &loader->object->build_id;
    const char *name = loader->long_name, *slash = strrchr(name, '/');
    char hex[2 * PD_BUILD_ID_MAX + 1], plain[PD_PATH_ROOM];

    switch (type) {
    case PD_OBJECT_DEBUGLINK: return debuglink_path(loader, out);
    case PD_OBJECT_BUILD_ID_CACHE:
        return pd_search_cache_path(loader->search, id, pd_is_vdso_name(name) ? "vdso" : "elf",
                                    out);
    case PD_OBJECT_BUILD_ID_CACHE_DEBUG:
        return pd_search_cache_path(loader->search, id, pd_is_vdso_name(name) ? "vdso" : "debug",
                                    out);
    case PD_OBJECT_FEDORA_DEBUG: return debug_path(loader, name, ".debug", out);
    case PD_OBJECT_UBUNTU_DEBUG: return debug_path(loader, name, "", out);
    case PD_OBJECT_BUILD_ID_DEBUG:
        if (id->size < 2)
            return false;
        pd_build_id_text(id, hex);
        return fits(snprintf(plain, sizeof plain, "/.build-id/%.2s/%s", hex, hex + 2)) &&
               debug_path(loader, plain, ".debug", out);
    case PD_OBJECT_SYSTEM:
    case PD_OBJECT_MODULE: return pd_search_path(loader->search, name, out);
    case PD_OBJECT_OPENEMBEDDED_DEBUG:
        return slash &&
               fits(snprintf(plain, sizeof plain, "%.*s/.debug%s", (int)(slash - name), name,
                             slash)) &&
               pd_search_path(loader->search, plain, out);
    case PD_OBJECT_MIXEDUP_UBUNTU_DEBUG:
        return !strncmp(name, "/usr/lib/", 9) && debug_path(loader, name + 4, "", out);
    default: return false;
    }
}

bool pd_object_code_path(const struct pd_object_search *search, const char *long_name,
                         const struct pd_build_id *id, char out[PD_OBJECT_PATH_ROOM])
{
    const char *leaf = pd_is_vdso_name(long_name) ? "vdso" : "elf";
    if (!pd_search_has_symfs(search) && pd_search_cache_path(search, id, leaf, out) &&
        pd_file_is_regular(out))
        return true;
    if (!pd_search_path(search, long_name, out))
        return false;
    (void)pd_object_fetch_program(search, long_name, id, out);
    return true;
}

/* The file with this build-id is not where we looked; NULL: it cannot be fetched either. The kernel
 * has its own way to hand its vdso over. */
static const char *fetch_file(const struct pd_object_search *search, enum pd_fetch_what what,
                              const struct pd_build_id *id, const char *long_name)
{
    return long_name[0] == '[' ? NULL : pd_fetch_file(search->fetch, what, id);
}

static bool has_build_id(const char *path, const struct pd_build_id *id)
{
    struct pd_build_id found;

    return !pd_build_id_read(path, &found) && pd_build_id_equal(&found, id);
}

bool pd_object_fetch_program(const struct pd_object_search *search, const char *long_name,
                             const struct pd_build_id *id, char out[PD_OBJECT_PATH_ROOM])
{
    if (!search->fetch || !id || !id->size || has_build_id(out, id))
        return false;
    const char *fetched = fetch_file(search, PD_FETCH_PROGRAM, id, long_name);
    return fetched && fits(snprintf(out, PD_PATH_ROOM, "%s", fetched));
}

/* ---- candidates ---- */

static bool build_id_fits(const struct loader *loader, const struct pd_elf *elf)
{
    struct pd_build_id id;

    if (!loader->object->build_id.size || loader->search->ignore_build_id)
        return true;
    return pd_elf_build_id(elf, &id) && pd_build_id_equal(&id, &loader->object->build_id);
}

/* Takes the file if it has what is still missing. False: no memory. */
static bool try_file(struct loader *loader, enum pd_object_type type, const char *path, bool module)
{
    struct pd_elf elf;

    if (!pd_file_is_regular(path) ||
        !(module ? pd_elf_open_packed(&elf, path) : pd_elf_open(&elf, path)))
        return true;
    bool for_syms = !loader->has_syms && elf.symtab.section;
    bool for_runtime = !loader->has_runtime && (elf.dynsym.section || elf.opd.section);
    if ((!for_syms && !for_runtime) || !build_id_fits(loader, &elf)) {
        pd_elf_close(&elf);
        return true;
    }
    if (for_syms) {
        loader->syms = elf;
        loader->has_syms = true;
        loader->syms_type = type;
        loader->shared = for_runtime;
        loader->object->symbol_path = pd_memory_noted(strdup(path));
        loader->object->has_symtab = true;
    } else {
        loader->runtime = elf;
    }
    if (for_runtime) {
        loader->has_runtime = true;
        loader->runtime_type = type;
        loader->object->runtime_path = pd_memory_noted(strdup(path));
    }
    return (!for_syms || loader->object->symbol_path) &&
           (!for_runtime || loader->object->runtime_path);
}

static bool try_candidate(struct loader *loader, enum pd_object_type type, bool module)
{
    char path[PD_PATH_ROOM];

    return !candidate_path(loader, type, path) || try_file(loader, type, path, module);
}

/* A server's debug file where there is no full table of symbols here, its program where there is
 * nothing. */
static bool try_servers(struct loader *loader, bool module)
{
    const struct pd_build_id *id = &loader->object->build_id;
    const bool nothing = !loader->has_syms && !loader->has_runtime;
    const char *path = NULL;

    if (!loader->has_syms)
        path = fetch_file(loader->search, PD_FETCH_DEBUG_FILE, id, loader->long_name);
    if (path && !try_file(loader, PD_OBJECT_BUILD_ID_DEBUG, path, module))
        return false;
    path = nothing ? fetch_file(loader->search, PD_FETCH_PROGRAM, id, loader->long_name) : NULL;
    return !path || try_file(loader, PD_OBJECT_SYSTEM, path, module);
}

static bool find_files(struct loader *loader, bool module)
{
    static const enum pd_object_type user[] = {
        PD_OBJECT_DEBUGLINK,    PD_OBJECT_BUILD_ID_CACHE,     PD_OBJECT_BUILD_ID_CACHE_DEBUG,
        PD_OBJECT_FEDORA_DEBUG, PD_OBJECT_UBUNTU_DEBUG,       PD_OBJECT_BUILD_ID_DEBUG,
        PD_OBJECT_SYSTEM,       PD_OBJECT_OPENEMBEDDED_DEBUG, PD_OBJECT_MIXEDUP_UBUNTU_DEBUG,
    };
    static const enum pd_object_type of_module[] = {
        PD_OBJECT_BUILD_ID_CACHE,
        PD_OBJECT_BUILD_ID_CACHE_DEBUG,
        PD_OBJECT_MODULE,
    };
    const enum pd_object_type *types = module ? of_module : user;
    size_t count = module ? PD_LENGTH(of_module) : PD_LENGTH(user);

    for (size_t i = 0; i < count && !(loader->has_syms && loader->has_runtime); i++)
        if (!try_candidate(loader, types[i], module))
            return false;
    return !loader->search->fetch || try_servers(loader, module);
}

/* ---- symbols ---- */

/* .gnu_debugdata: a packed file of local symbols, beside the dynamic ones. False: no memory. */
static bool load_debugdata(struct pd_elf_load *load, size_t *count)
{
    struct pd_elf_table packed;
    struct pd_elf inner;

    if (!pd_elf_section(load->runtime, ".gnu_debugdata", &packed))
        return true;
    Elf_Data *data = pd_elf_data(load->runtime, packed.section);
    if (!data)
        return true;
    struct pd_bytes bytes = { .data = data->d_buf, .size = data->d_size, .borrowed = true };
    if (!pd_bytes_unpack(&bytes, PD_UNPACK_LIMIT))
        return true;
    bool ok = true;
    if (pd_elf_open_memory(&inner, bytes.data, bytes.size)) {
        const struct pd_elf *outer = load->syms;
        load->syms = &inner;
        if (inner.symtab.section)
            ok = pd_elf_load_table(load, &inner.symtab, count);
        load->syms = outer;
        pd_elf_close(&inner);
    }
    pd_bytes_free(&bytes);
    return ok;
}

/* ---- an index of them ---- */

/* What a table is made of and how. */
struct index_key {
    struct pd_file_identity syms, runtime;
    uint32_t module, demangle, gnu_debugdata, unused;
};

enum { FACT_TEXT_OFFSET, FACT_MODULE_PGOFF };

enum { LEAST_SYMBOLS = 256, SETTLED = 2 /* seconds */ };

/* Whether no file can change any more and still look the same: a change within one tick of the file
 * system's clock would not show. */
static bool has_settled(const struct pd_file_identity *file)
{
    int64_t now = time(NULL), changed = file->changed / INT64_C(1000000000);

    return file->size && changed < now - SETTLED &&
           file->modified / INT64_C(1000000000) < now - SETTLED;
}

/* False: there is no folder, or a file is in memory only. */
static bool make_index_key(const struct pd_object_search *search, const struct pd_elf *syms,
                           const struct pd_elf *runtime, bool module, struct index_key *key)
{
    *key = (struct index_key){ .syms = syms->bytes.identity,
                               .runtime = runtime->bytes.identity,
                               .module = module,
                               .demangle = pd_search_demangle(search, module),
                               .gnu_debugdata = search->gnu_debugdata };
    return search->index && has_settled(&key->syms) && has_settled(&key->runtime);
}

static void describe(struct pd_object *object, const struct pd_elf *syms)
{
    object->machine = syms->header.e_machine;
    object->is_64_bit = syms->is_64_bit;
    object->relocatable = syms->header.e_type == ET_REL;
    object->adjust_symbols = true;
}

/* False: there is no index, or no memory for its table. */
static bool take_index(const struct pd_symbol_image_key *key, enum pd_demangle demangle,
                       struct pd_object *object)
{
    struct pd_symbol_image *image = pd_symbol_image_open(key);

    if (!image)
        return false;
    object->text_offset = image->facts[FACT_TEXT_OFFSET];
    object->module_pgoff = image->facts[FACT_MODULE_PGOFF];
    object->symtab = pd_symtab_map(image, demangle);
    pd_symbol_image_free(image);
    return object->symtab != NULL;
}

static void save_index(const struct pd_symbol_image_key *key, const struct pd_object *object)
{
    const uint64_t facts[PD_SYMBOL_IMAGE_FACTS] = {
        [FACT_TEXT_OFFSET] = object->text_offset, [FACT_MODULE_PGOFF] = object->module_pgoff
    };

    if (pd_symtab_count(object->symtab) >= LEAST_SYMBOLS && !pd_memory_failed())
        pd_symtab_save(object->symtab, key, facts);
}

/* Symbols of `syms` and the PLT of `runtime` into the object's table. */
static perfdata_status read_elf(const struct pd_object_search *search, struct pd_object *object,
                                const struct pd_elf *syms, const struct pd_elf *runtime,
                                bool module)
{
    struct pd_elf_load load = { .syms = syms,
                                .runtime = runtime,
                                .kind = module ? PD_ELF_MODULE : PD_ELF_USER };
    size_t count = 0;

    load.builder = pd_symtab_builder_new(pd_search_demangle(search, module));
    if (!load.builder)
        return PERFDATA_ERROR_MEMORY;
    bool ok = true, memory = true;
    if (search->gnu_debugdata && !syms->symtab.section)
        ok = load_debugdata(&load, &count);
    size_t more = 0;
    ok = ok && pd_elf_load_symbols(&load, &more);
    object->text_offset = load.text_offset;
    object->module_pgoff = module && load.text_found ? load.text.header.sh_offset : 0;
    if (ok && count + more)
        memory = pd_elf_load_plt(runtime, load.builder);
    object->symtab = pd_symtab_finish(load.builder);
    pd_elf_load_free(&load);
    return object->symtab && memory ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

static perfdata_status load_elf(const struct pd_object_search *search, struct pd_object *object,
                                const struct pd_elf *syms, const struct pd_elf *runtime,
                                bool module)
{
    struct index_key bytes;

    describe(object, syms);
    if (!make_index_key(search, syms, runtime, module, &bytes))
        return read_elf(search, object, syms, runtime, module);
    const struct pd_symbol_image_key key = pd_symbol_image_key(search->index, "object", &bytes,
                                                               sizeof bytes);
    if (take_index(&key, pd_search_demangle(search, module), object))
        return PERFDATA_OK;
    perfdata_status status = read_elf(search, object, syms, runtime, module);
    if (!status)
        save_index(&key, object);
    return status;
}

struct pd_object *pd_object_new(void)
{
    return pd_memory_noted(calloc(1, sizeof(struct pd_object)));
}

perfdata_status pd_object_give(struct pd_object *object, perfdata_status status,
                               struct pd_object **out)
{
    if (!status && !object->symtab) {
        struct pd_symtab_builder *none = pd_symtab_builder_new(PD_DEMANGLE_NONE);
        object->symtab = none ? pd_symtab_finish(none) : NULL;
        if (!object->symtab)
            status = PERFDATA_ERROR_MEMORY;
    }
    if (status) {
        pd_object_free(object);
        object = NULL;
    }
    *out = object;
    return status;
}

void pd_object_free(struct pd_object *object)
{
    if (!object)
        return;
    pd_symtab_free(object->symtab);
    free(object->symbol_path);
    free(object->runtime_path);
    free(object);
}

static perfdata_status load_file(const struct pd_object_search *search, const char *long_name,
                                 const struct pd_build_id *recorded, bool module,
                                 struct pd_object **out)
{
    char path[PD_PATH_ROOM];
    struct loader loader = { .search = search, .long_name = long_name, .object = pd_object_new() };
    struct pd_object *object = loader.object;
    perfdata_status status = PERFDATA_OK;

    *out = NULL;
    if (!object)
        return PERFDATA_ERROR_MEMORY;
    if (recorded && recorded->size)
        object->build_id = *recorded;
    else if ((search->root || pd_file_is_regular(long_name)) &&
             pd_search_path(search, long_name, path))
        pd_build_id_read(
            path, &object->build_id); /* only when it also exists outside of symfs: perf's rule */
    if (!find_files(&loader, module)) {
        status = PERFDATA_ERROR_MEMORY;
    } else if (loader.has_syms || loader.has_runtime) {
        const struct pd_elf *runtime = loader.has_runtime && !loader.shared ? &loader.runtime
                                                                            : NULL;
        const struct pd_elf *syms = loader.has_syms ? &loader.syms : &loader.runtime;
        object->type = loader.has_syms ? loader.syms_type : loader.runtime_type;
        status = load_elf(search, object, syms, runtime ? runtime : syms, module);
    }
    pd_elf_close(&loader.syms);
    pd_elf_close(&loader.runtime);
    return pd_object_give(object, status, out);
}

perfdata_status pd_object_load(const struct pd_object_search *search, const char *long_name,
                               const struct pd_build_id *recorded, struct pd_object **out)
{
    return load_file(search, long_name, recorded, false, out);
}

perfdata_status pd_object_load_module(const struct pd_object_search *search, const char *long_name,
                                      const struct pd_build_id *recorded, struct pd_object **out)
{
    return load_file(search, long_name, recorded, true, out);
}

perfdata_status pd_object_load_memory(const struct pd_object_search *search, const void *image,
                                      size_t size, struct pd_object **out)
{
    struct pd_object *object = pd_object_new();
    struct pd_elf elf;
    perfdata_status status = PERFDATA_OK;

    *out = NULL;
    if (!object)
        return PERFDATA_ERROR_MEMORY;
    if (pd_elf_open_memory(&elf, image, size)) {
        if (elf.symtab.section || elf.dynsym.section) {
            object->type = PD_OBJECT_MEMORY;
            pd_elf_build_id(&elf, &object->build_id);
            status = load_elf(search, object, &elf, &elf, false);
        }
        pd_elf_close(&elf);
    }
    return pd_object_give(object, status, out);
}

/* ---- vdso ---- */

/* The kernel tells where it is, its own section headers at its end how long. */
static size_t own_vdso_size(const uint8_t *image)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long start, end;
    size_t size = 0;
    char line[512];

    while (maps && !size && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start == (unsigned long)(uintptr_t)image)
            size = end - start;
    if (maps)
        fclose(maps);
    else
        pd_memory_note_errno();
    return PD_MIN(size, VDSO_LIMIT);
}

bool pd_search_has_own_vdso(const struct pd_object_search *search)
{
    /* perf writes it to a temporary file and then puts symfs before that file's name */
    return getauxval(AT_SYSINFO_EHDR) && !pd_search_has_symfs(search);
}

const void *pd_search_own_vdso(const struct pd_object_search *search, size_t *size)
{
    const uint8_t *image = (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
    *size = pd_search_has_own_vdso(search) ? own_vdso_size(image) : 0;
    return *size ? (const void *)image : "";
}

perfdata_status pd_object_load_own_vdso(const struct pd_object_search *search,
                                        struct pd_object **out)
{
    size_t size;
    const void *image = pd_search_own_vdso(search, &size);

    return pd_object_load_memory(search, image, size, out);
}
