/* SPDX-License-Identifier: MIT */
/* A DSO of the timeline -> its symbols, lines, rules of frames and bytes, loaded once for all
 * workers. */
#include "format/names.h"
#include "base/memory.h"
#include "resolve/here.h"
#include "resolve/symbols.h"
#include "io/at.h"
#include "io/temporary.h"
#include "object/jit/jitdump.h"
#include "object/process.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct pd_build_id pd_dso_build_id(const struct pd_dso *dso)
{
    uint8_t size = dso->id_distrusted ? 0 : atomic_load(&dso->build_id_size);
    return pd_build_id_make(dso->build_id, size);
}

/* ---- loading one DSO ---- */

/* Makes what a KSYMBOL record says: one symbol of the given size. */
static perfdata_status load_one_symbol(const struct pd_dso *dso, struct pd_loaded *loaded)
{
    struct pd_symtab_builder *builder = pd_symtab_builder_new(PD_DEMANGLE_NONE);
    if (!builder)
        return PERFDATA_ERROR_MEMORY;
    if (!pd_symtab_add(builder, 0, dso->symbol_size, PD_SYMBOL_LOCAL, 0, dso->name,
                       dso->name_length)) {
        pd_symtab_builder_free(builder);
        return PERFDATA_ERROR_MEMORY;
    }
    loaded->own = pd_symtab_finish(builder);
    loaded->table = loaded->own;
    return loaded->own ? 0 : PERFDATA_ERROR_MEMORY;
}

/* A module's file, else what the kernel's table has for its map. */
static perfdata_status load_module(struct pd_symbols *symbols, const struct pd_dso *dso,
                                   struct pd_loaded *loaded)
{
    struct pd_build_id id = pd_dso_build_id(dso);
    perfdata_status status = 0;
    if (dso->long_name[0] == '/')
        status = pd_object_load_module(&symbols->search, dso->long_name, &id, &loaded->object);
    const struct pd_kernel_view *view = atomic_load_explicit(&symbols->view, memory_order_acquire);
    if (status < 0 || (loaded->object && loaded->object->type != PD_OBJECT_NOT_FOUND) || !view ||
        atomic_load(&dso->alone))
        return status;
    for (size_t i = 0; i < view->count; i++)
        if (view->places[i].map.dso == dso && view->places[i].loaded.table) {
            loaded->table = view->places[i].loaded.table;
            loaded->view = view;
        }
    return 0;
}

bool pd_dso_code_image(const struct pd_dso *dso, struct pd_text *out)
{
    const struct pd_jit_code *code = dso->code;
    struct pd_build_id id;
    return pd_jit_image(code->dump, code->entry, out, &id);
}

static perfdata_status load_code(struct pd_symbols *symbols, const struct pd_dso *dso,
                                 struct pd_loaded *loaded)
{
    struct pd_text image = { 0 };
    perfdata_status status = PERFDATA_ERROR_MEMORY;
    if (pd_dso_code_image(dso, &image))
        status = pd_object_load_memory(&symbols->search, image.data, image.length, &loaded->object);
    pd_text_free(&image);
    return status;
}

/* ---- whose files ---- */

enum pd_path_owner pd_dso_owner(const struct pd_dso *dso, char root[PD_ROOT_ROOM])
{
    const struct pd_mapped_file file = { .path = dso->long_name,
                                         .pid = dso->pid,
                                         .start = dso->mapped_at,
                                         .inode = dso->ino,
                                         .mount_namespace = dso->mount_namespace };
    return pd_path_owner(&file, root);
}

enum pd_path_owner pd_symbols_search(const struct pd_symbols *symbols, const struct pd_dso *dso,
                                     struct pd_dso_search *out)
{
    out->places = symbols->search;
    if (!symbols->is_of_here || pd_symbols_of_guest(symbols))
        return PD_PATH_OURS;
    enum pd_path_owner owner = pd_dso_owner(dso, out->root);
    if (owner == PD_PATH_PROCESS)
        out->places.root = out->root;
    return owner;
}

/* A file of another machine whose build-id is known may lie on this one as well, or be in the
 * cache. */
static perfdata_status load_path(struct pd_symbols *symbols, const struct pd_dso *dso,
                                 const struct pd_build_id *id, struct pd_loaded *loaded)
{
    struct pd_dso_search search;
    enum pd_path_owner owner = pd_symbols_search(symbols, dso, &search);
    loaded->owner = owner;
    if (owner == PD_PATH_NOBODY && !id->size)
        return pd_issue(symbols->context, PERFDATA_ISSUE_OBJECT, -1,
                        "%s is a file of another mount namespace, which cannot be reached: its "
                        "symbols are not known",
                        dso->long_name);
    perfdata_status status = pd_object_load(&search.places, dso->long_name, id, &loaded->object);
    if (status < 0 || owner != PD_PATH_PROCESS || !id->size ||
        loaded->object->type != PD_OBJECT_NOT_FOUND)
        return status;
    pd_object_free(loaded->object);
    loaded->object = NULL;
    return pd_object_load(&symbols->search, dso->long_name, id, &loaded->object);
}

/* ---- loading ---- */

static perfdata_status load_file(struct pd_symbols *symbols, const struct pd_dso *dso,
                                 struct pd_loaded *loaded)
{
    struct pd_build_id id = pd_dso_build_id(dso);
    if (dso->code)
        return load_code(symbols, dso, loaded);
    if (dso->kind == PD_DSO_VDSO && !id.size)
        return symbols->search.kernel_elsewhere
                   ? 0 /* it is another kernel's */
                   : pd_object_load_own_vdso(&symbols->search, &loaded->object);
    /* A name that is no path is looked for only by build-id. */
    if (dso->kind == PD_DSO_OTHER && !id.size)
        return 0;
    return load_path(symbols, dso, &id, loaded);
}

static perfdata_status load(struct pd_symbols *symbols, const struct pd_dso *dso,
                            struct pd_loaded *loaded)
{
    switch (dso->kind) {
    case PD_DSO_USER:
    case PD_DSO_VDSO:
    case PD_DSO_OTHER: return load_file(symbols, dso, loaded);
    case PD_DSO_MODULE: return load_module(symbols, dso, loaded);
    case PD_DSO_PERF_MAP:
        return pd_object_load_perf_map(&symbols->search, dso->long_name,
                                       symbols->is_of_here ? dso->pid : 0, &loaded->object);
    case PD_DSO_BPF:
    case PD_DSO_OOL: return load_one_symbol(dso, loaded);
    case PD_DSO_KERNEL: /* by pd_symbols_kernel() */
    case PD_DSO_NO_FILE: break;
    }
    return 0;
}

static void free_loaded(struct pd_loaded *loaded)
{
    pd_object_free(loaded->object);
    pd_lines_free(atomic_load(&loaded->lines));
    pd_frame_rules_free(atomic_load(&loaded->frame_rules));
    if (loaded->own)
        pd_symtab_free(loaded->own);
    free(loaded);
}

/* Loads and publishes. */
static struct pd_loaded *make_loaded(struct pd_symbols *symbols, struct pd_dso *dso)
{
    struct pd_loaded *loaded = pd_memory_noted(calloc(1, sizeof *loaded));
    if (!loaded)
        return NULL;
    loaded->long_name = dso->long_name;
    loaded->short_name = dso->short_name;
    if (load(symbols, dso, loaded) < 0) {
        free_loaded(loaded);
        return NULL;
    }
    if (loaded->object && !loaded->table)
        loaded->table = loaded->object->symtab;
    pthread_mutex_lock(&symbols->list_lock);
    loaded->next = symbols->list;
    symbols->list = loaded;
    pthread_mutex_unlock(&symbols->list_lock);
    atomic_store_explicit(&dso->symbols, loaded, memory_order_release);
    return loaded;
}

const struct pd_loaded *pd_symbols_load(struct pd_symbols *symbols, struct pd_dso *dso)
{
    struct pd_loaded *loaded = atomic_load_explicit(&dso->symbols, memory_order_acquire);
    if (PD_LIKELY(loaded != NULL))
        return loaded;
    pthread_mutex_t *lock = &symbols->locks[dso->index % PD_LOAD_LOCKS];
    pthread_mutex_lock(lock);
    loaded = atomic_load_explicit(&dso->symbols, memory_order_acquire);
    if (!loaded)
        loaded = make_loaded(symbols, dso);
    pthread_mutex_unlock(lock);
    return loaded;
}

const struct pd_symtab *pd_symbols_table(struct pd_symbols *symbols, const struct pd_map *map)
{
    enum pd_dso_kind kind = map->dso->kind;
    bool of_kernel = kind == PD_DSO_KERNEL ||
                     (kind == PD_DSO_MODULE && !atomic_load(&map->dso->alone));
    if (of_kernel && !pd_symbols_kernel(symbols, map->number))
        return NULL;
    const struct pd_loaded *loaded = pd_symbols_load(symbols, map->dso);
    return loaded ? loaded->table : NULL;
}

/* A module's symbols from its file lie at file offsets, while its recorded map says nothing of
 * them. */
uint64_t pd_symbols_address(struct pd_symbols *symbols, const struct pd_map *map, uint64_t ip)
{
    if (map->dso->kind == PD_DSO_MODULE) {
        const struct pd_loaded *loaded = pd_symbols_load(symbols, map->dso);
        if (loaded && loaded->object && loaded->object->type != PD_OBJECT_NOT_FOUND)
            return ip - map->start + loaded->object->module_pgoff;
    }
    return pd_map_address(map, ip);
}

struct pd_timeline *pd_symbols_timeline(struct pd_symbols *symbols)
{
    return symbols->timeline;
}

const char *pd_symbols_long_name(struct pd_symbols *symbols, const struct pd_dso *dso)
{
    (void)symbols;
    const struct pd_loaded *loaded = atomic_load_explicit(&dso->symbols, memory_order_acquire);
    return loaded ? loaded->long_name : dso->long_name;
}

struct pd_build_id pd_symbols_build_id(struct pd_symbols *symbols, const struct pd_dso *dso)
{
    (void)symbols;
    struct pd_build_id id = pd_dso_build_id(dso);
    const struct pd_loaded *loaded = atomic_load_explicit(&dso->symbols, memory_order_acquire);
    return !id.size && loaded && loaded->object ? loaded->object->build_id : id;
}

const char *pd_symbols_short_name(struct pd_symbols *symbols, const struct pd_dso *dso)
{
    (void)symbols;
    const struct pd_loaded *loaded = atomic_load_explicit(&dso->symbols, memory_order_acquire);
    return loaded ? loaded->short_name : dso->short_name;
}

bool pd_symbols_adjusts(const struct pd_dso *dso)
{
    const struct pd_loaded *loaded = atomic_load_explicit(&dso->symbols, memory_order_acquire);
    return loaded && loaded->object && loaded->object->adjust_symbols;
}

char pd_symbols_origin(const struct pd_dso *dso)
{
    static const char letters[] = {
        [PD_OBJECT_NOT_FOUND] = '!',
        [PD_OBJECT_PERF_MAP] = 'j',
        [PD_OBJECT_DEBUGLINK] = 'l',
        [PD_OBJECT_BUILD_ID_CACHE] = 'B',
        [PD_OBJECT_BUILD_ID_CACHE_DEBUG] = 'D',
        [PD_OBJECT_FEDORA_DEBUG] = 'f',
        [PD_OBJECT_UBUNTU_DEBUG] = 'u',
        [PD_OBJECT_BUILD_ID_DEBUG] = 'b',
        [PD_OBJECT_SYSTEM] = 'd',
        [PD_OBJECT_MODULE] = 'K',
        [PD_OBJECT_MODULE_COMPRESSED] = 'm',
        [PD_OBJECT_OPENEMBEDDED_DEBUG] = 'o',
        [PD_OBJECT_MIXEDUP_UBUNTU_DEBUG] = 'x',
        [PD_OBJECT_VMLINUX] = 'v',
        [PD_OBJECT_KALLSYMS] = 'k',
        [PD_OBJECT_MEMORY] = 'd',
    };
    const struct pd_loaded *loaded = atomic_load_explicit(&dso->symbols, memory_order_acquire);
    if (!loaded)
        return '!';
    if (loaded->object && loaded->object->type != PD_OBJECT_NOT_FOUND)
        return letters[loaded->object->type];
    if (!loaded->table || !loaded->view)
        return '!';
    enum pd_object_type type = loaded->view->kernel->type;
    if (!loaded->view->of_guest)
        return letters[type];
    return type == PD_OBJECT_VMLINUX ? 'V' : 'g';
}

/* ---- source lines ---- */

/* The file that perf asks, or NULL where it does not ask. */
static const char *lines_path(const struct pd_loaded *loaded)
{
    const struct pd_object *object = loaded->object;
    if (loaded->view && loaded->view->kernel->type == PD_OBJECT_VMLINUX && !object)
        return loaded->view->kernel->path;
    const char *path = object && object->has_symtab ? object->symbol_path : loaded->long_name;
    if (loaded->owner != PD_PATH_OURS) { /* what lies there for us is another file */
        path = !object ? NULL : object->has_symtab ? object->symbol_path : object->runtime_path;
        if (!path)
            return NULL;
    }
    return path[0] == '[' || strncmp(path, "/tmp/perf-", 10) == 0 ? NULL : path;
}

struct pd_symbols_files pd_symbols_files(const struct pd_map *map)
{
    struct pd_symbols_files files = { .object = NULL };
    const struct pd_loaded *loaded = atomic_load_explicit(&map->dso->symbols, memory_order_acquire);
    if (!loaded)
        return files;
    if (loaded->object && loaded->object->type != PD_OBJECT_NOT_FOUND)
        files.object = loaded->object;
    else if (loaded->view)
        files.kernel = loaded->view->kernel;
    files.lines = lines_path(loaded);
    return files;
}

/* libdw reads files: one without a name will do. */
static struct pd_lines *open_code_lines(const struct pd_dso *dso)
{
    struct pd_text image = { 0 };
    struct pd_lines *lines = NULL;
    char path[32];
    int fd = pd_temporary_file();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (fd >= 0 && pd_dso_code_image(dso, &image) && pd_write_at(fd, 0, image.data, image.length))
        lines = pd_lines_open(path);
    pd_text_free(&image);
    if (fd >= 0)
        close(fd);
    return lines;
}

static void tell_problem(struct pd_symbols *symbols, const struct pd_lines *lines)
{
    const char *path, *problem = pd_lines_problem(lines, &path);
    if (problem)
        (void)pd_issue(symbols->context, PERFDATA_ISSUE_OBJECT, -1,
                       "%s: %s: source lines and inlined functions of it are not known", path,
                       problem);
}

static struct pd_lines *lines_of(struct pd_symbols *symbols, struct pd_dso *dso,
                                 struct pd_loaded *loaded)
{
    struct pd_lines *lines = atomic_load_explicit(&loaded->lines, memory_order_acquire);
    const char *path = lines_path(loaded);
    if (lines || !path)
        return lines;
    pthread_mutex_t *lock = &symbols->locks[dso->index % PD_LOAD_LOCKS];
    pthread_mutex_lock(lock);
    lines = atomic_load_explicit(&loaded->lines, memory_order_acquire);
    if (!lines) {
        lines = dso->code ? open_code_lines(dso) : pd_lines_open(path);
        if (lines)
            tell_problem(symbols, lines);
        atomic_store_explicit(&loaded->lines, lines, memory_order_release);
    }
    pthread_mutex_unlock(lock);
    return lines;
}

/* A kernel whose file was named or found says where its code was linked to. */
static bool kernel_file_address(const struct pd_map *map, const struct pd_loaded *loaded,
                                uint64_t *address)
{
    const struct pd_kernel *kernel = loaded->view ? loaded->view->kernel : NULL;
    const bool has_file = kernel && kernel->type == PD_OBJECT_VMLINUX;
    *address = pd_map_ip(map, *address) - (has_file ? kernel->delta : 0);
    return has_file;
}

/* Turns the address into that in the object's file; false where perf does not ask for it. */
static bool file_address(const struct pd_map *map, const struct pd_loaded *loaded,
                         uint64_t *address)
{
    struct pd_dso *dso = map->dso;
    if (dso->kind == PD_DSO_KERNEL)
        return kernel_file_address(map, loaded, address);
    bool user = !dso->kernel_space;
    const struct pd_object *object = loaded->object;
    if (user && object && object->adjust_symbols)
        *address += object->text_offset;
    if (!user && dso->kind == PD_DSO_MODULE && object && object->relocatable)
        *address -= map->pgoff;
    return user || dso->kind == PD_DSO_MODULE;
}

bool pd_symbols_line(struct pd_symbols *symbols, const struct pd_map *map, uint64_t address,
                     struct pd_source_line *out)
{
    struct pd_loaded *loaded = atomic_load_explicit(&map->dso->symbols, memory_order_acquire);
    *out = (struct pd_source_line){ .address = address, .answer = PD_LINES_NOTHING };
    if (!loaded || !file_address(map, loaded, &out->address))
        return true;
    struct pd_lines *lines = lines_of(symbols, map->dso, loaded);
    if (lines)
        out->answer = pd_lines_find(lines, out->address, &out->file, &out->line);
    return lines || !lines_path(loaded);
}

bool pd_symbols_file_address(struct pd_symbols *symbols, const struct pd_map *map,
                             uint64_t *address)
{
    (void)symbols;
    const struct pd_loaded *loaded = atomic_load_explicit(&map->dso->symbols, memory_order_acquire);
    return loaded && file_address(map, loaded, address);
}

struct pd_lines *pd_symbols_lines(struct pd_symbols *symbols, const struct pd_map *map)
{
    struct pd_loaded *loaded = atomic_load_explicit(&map->dso->symbols, memory_order_acquire);
    return loaded ? lines_of(symbols, map->dso, loaded) : NULL;
}

size_t pd_symbols_functions(struct pd_symbols *symbols, const struct pd_map *map, uint64_t address,
                            const struct pd_lines_turn *turn, struct pd_lines_function *out)
{
    struct pd_loaded *loaded = atomic_load_explicit(&map->dso->symbols, memory_order_acquire);
    if (!loaded || !file_address(map, loaded, &address))
        return 0;
    struct pd_lines *lines = lines_of(symbols, map->dso, loaded);
    if (!lines)
        return 0;
    return turn ? pd_lines_functions_asked(lines, address, turn, out)
                : pd_lines_functions(lines, address, out);
}

/* The file with the kernel's code; NULL where only a table of its symbols is known. */
static const char *kernel_code_path(const struct pd_loaded *loaded)
{
    const struct pd_kernel *kernel = loaded && loaded->view && !loaded->object
                                         ? loaded->view->kernel
                                         : NULL;
    return kernel && kernel->type == PD_OBJECT_VMLINUX ? kernel->path : NULL;
}

bool pd_symbols_code_file(struct pd_symbols *symbols, const struct pd_map *map, uint64_t address,
                          struct pd_code_file *out)
{
    const struct pd_dso *dso = map->dso;
    const struct pd_loaded *loaded = atomic_load_explicit(&dso->symbols, memory_order_acquire);
    const char *kernel = kernel_code_path(loaded);
    char path[PD_OBJECT_PATH_ROOM];
    struct pd_dso_search search;
    struct pd_build_id id = pd_symbols_build_id(symbols, dso);
    bool from_table = loaded && loaded->view && !loaded->object && !kernel;
    *out = (struct pd_code_file){ .address = address };
    out->source = dso->kind == PD_DSO_BPF                 ? PD_CODE_OF_BPF
                  : from_table || dso->kind == PD_DSO_OOL ? PD_CODE_OF_KERNEL
                                                          : PD_CODE_IN_FILE;
    if (out->source != PD_CODE_IN_FILE)
        return true;
    if (loaded)
        (void)file_address(map, loaded, &out->address);
    pd_symbols_search(symbols, dso, &search);
    if (!kernel &&
        !pd_object_code_path(&search.places, pd_symbols_long_name(symbols, dso), &id, path))
        path[0] = '\0';
    out->path = strdup(kernel ? kernel : path);
    return out->path != NULL;
}

/* ---- frame rules ---- */

bool pd_symbols_has_file(struct pd_symbols *symbols, const struct pd_map *map)
{
    enum pd_dso_kind kind = map->dso->kind;
    if (kind != PD_DSO_USER && kind != PD_DSO_VDSO && kind != PD_DSO_OTHER)
        return false;
    /* Another kernel's: perf reads this machine's in its place, whose symbols would be wrong. */
    if (kind == PD_DSO_VDSO && symbols->search.kernel_elsewhere && !pd_dso_build_id(map->dso).size)
        return pd_search_has_own_vdso(&symbols->search);
    const struct pd_loaded *loaded = pd_symbols_load(symbols, map->dso);
    return loaded && loaded->object && loaded->object->machine;
}

const char *pd_symbols_file(struct pd_symbols *symbols, const struct pd_map *map)
{
    (void)symbols;
    struct pd_loaded *loaded = atomic_load_explicit(&map->dso->symbols, memory_order_acquire);
    const struct pd_object *object = loaded ? loaded->object : NULL;
    return !object ? NULL : object->runtime_path ? object->runtime_path : object->symbol_path;
}

bool pd_symbols_of_arm64(const struct pd_symbols *symbols)
{
    return !strcmp(pd_arch_normalise(pd_features_arch(symbols->features)), "arm64");
}

/* The rules that a jitdump brings for code that is read in place. */
static struct pd_frame_rules *open_code_rules(const struct pd_dso *dso, uint16_t machine)
{
    struct pd_text image = { 0 };
    struct pd_frame_rules *rules = NULL;
    if (pd_dso_code_image(dso, &image))
        rules = pd_frame_rules_open_memory(image.data, image.length, machine);
    pd_text_free(&image);
    return rules;
}

static struct pd_frame_rules *load_frame_rules(struct pd_symbols *symbols, const struct pd_map *map,
                                               struct pd_loaded *loaded, uint16_t machine)
{
    struct pd_dso *dso = map->dso;
    const char *path = pd_symbols_file(symbols, map);
    if (!path && !dso->code)
        return NULL;
    pthread_mutex_t *lock = &symbols->locks[dso->index % PD_LOAD_LOCKS];
    pthread_mutex_lock(lock);
    struct pd_frame_rules *rules = atomic_load_explicit(&loaded->frame_rules, memory_order_acquire);
    if (!rules) {
        rules = dso->code ? open_code_rules(dso, machine) : pd_frame_rules_open(path, machine);
        atomic_store_explicit(&loaded->frame_rules, rules, memory_order_release);
    }
    pthread_mutex_unlock(lock);
    return rules;
}

struct pd_frame_rules *pd_symbols_frame_rules(struct pd_symbols *symbols, const struct pd_map *map,
                                              uint16_t machine, uint64_t *address)
{
    struct pd_loaded *loaded = atomic_load_explicit(&map->dso->symbols, memory_order_acquire);
    const struct pd_object *object = loaded ? loaded->object : NULL;
    if (!object)
        return NULL;
    *address += object->adjust_symbols ? object->text_offset : 0;
    struct pd_frame_rules *rules = atomic_load_explicit(&loaded->frame_rules, memory_order_acquire);
    return PD_LIKELY(rules != NULL) ? rules : load_frame_rules(symbols, map, loaded, machine);
}

enum pd_return_place pd_symbols_return_place(struct pd_symbols *symbols, const struct pd_map *map,
                                             uint64_t address)
{
    struct pd_frame_rules *rules = pd_symbols_frame_rules(symbols, map, EM_AARCH64, &address);
    return rules ? pd_frame_rules_return(rules, address) : PD_RETURN_UNKNOWN;
}

/* ---- life ---- */

struct pd_symbols *pd_symbols_new(struct pd_context *context, struct pd_timeline *timeline,
                                  const struct pd_features *features,
                                  const struct pd_object_search *search)
{
    struct pd_symbols *symbols = pd_memory_noted(calloc(1, sizeof *symbols));
    if (!symbols)
        return NULL;
    symbols->context = context;
    symbols->timeline = timeline;
    symbols->features = features;
    if (search)
        symbols->search = *search;
    if (!symbols->search.context)
        symbols->search.context = context;
    if (features && features->osrelease.present && !symbols->search.os_release)
        symbols->search.os_release = features->osrelease.text.text;
    symbols->is_of_here = !pd_search_has_symfs(&symbols->search) && pd_recorded_here(features);
    symbols->search.arch_elsewhere = !pd_arch_is_here(features);
    symbols->search.kernel_elsewhere = !pd_kernel_runs_here(features);
    symbols->is_x86_64 = pd_features_are_x86_64(features);
    atomic_init(&symbols->first_kernel, UINT64_MAX);
    pthread_mutex_init(&symbols->lock, NULL);
    pthread_mutex_init(&symbols->list_lock, NULL);
    for (size_t i = 0; i < PD_LOAD_LOCKS; i++)
        pthread_mutex_init(&symbols->locks[i], NULL);
    pd_images_init(&symbols->images);
    pd_inlined_symbols_init(&symbols->inlined);
    if (timeline)
        pd_timeline_set_symbols(timeline, symbols, pd_symbols_program_kind);
    return symbols;
}

void pd_symbols_free(struct pd_symbols *symbols)
{
    if (!symbols)
        return;
    for (struct pd_loaded *at = symbols->list; at;) {
        struct pd_loaded *next = at->next;
        free_loaded(at);
        at = next;
    }
    pd_images_free(&symbols->images);
    pd_inlined_symbols_free(&symbols->inlined);
    pd_kernel_view_free(atomic_load(&symbols->view));
    for (size_t i = 0; i < PD_LOAD_LOCKS; i++)
        pthread_mutex_destroy(&symbols->locks[i]);
    pthread_mutex_destroy(&symbols->list_lock);
    pthread_mutex_destroy(&symbols->lock);
    free(symbols);
}
