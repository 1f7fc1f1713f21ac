/* SPDX-License-Identifier: MIT */
/* The bytes that run where a map is: of a file, the vdso, the kernel, a BPF program. */
#include "format/bpf.h"
#include "format/names.h"
#include "object/file.h"
#include "resolve/symbols.h"
#include <elf.h>

enum { OUT_OF_LINE_LIMIT = 1 << 24 };

void pd_images_init(struct pd_images *images)
{
    pthread_mutex_init(&images->lock, NULL);
}

void pd_images_free(struct pd_images *images)
{
    for (size_t i = 0; i < images->list.count; i++)
        pd_image_free(images->list.data[i]);
    pd_vec_free(&images->list);
    pd_map64_free(&images->by_dso);
    pthread_mutex_destroy(&images->lock);
}

/* The kernel's is that of the file that gave its symbols, if that holds code. */
static perfdata_status open_kernel(struct pd_symbols *symbols, struct pd_image **out)
{
    const struct pd_kernel_view *view = atomic_load_explicit(&symbols->view, memory_order_acquire);
    const struct pd_kernel *kernel = view ? view->kernel : NULL;

    *out = NULL;
    if (kernel && kernel->code_path)
        return pd_image_open_path(kernel->code_path, out);
    if (!kernel || kernel->type != PD_OBJECT_VMLINUX)
        return 0;
    /* perf looks once more, below symfs, for the name that it was given. */
    perfdata_status status = pd_image_open(&symbols->search, kernel->long_name, NULL, out);
    return status || *out ? status : pd_image_open_path(kernel->path, out);
}

/* Each function of a program has a map of its own; their code lies in one array. x86 only:
 * little-endian. */
static perfdata_status copy_function(const struct pd_part_bpf_prog *program, uint64_t start,
                                     struct pd_image **out)
{
    const bool swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const struct pd_part_bpf_prog_info *info = &program->info;
    uint64_t offset = 0;

    for (uint32_t i = 0; i < info->nr_jited_ksyms && i < info->nr_jited_func_lens; i++) {
        const uint8_t *address = pd_bpf_entry(program, PD_BPF_JITED_KSYMS, info->jited_ksyms, i, 8);
        const uint8_t *length = pd_bpf_entry(program, PD_BPF_JITED_FUNC_LENS, info->jited_func_lens,
                                             i, 4);
        if (!address || !length)
            break;
        uint32_t size = pd_load32(length, swap);
        if (pd_load64(address, swap) == start) {
            const uint8_t *code = pd_bpf_entry(program, PD_BPF_JITED_INSNS,
                                               info->jited_prog_insns + offset, 0, size);
            return code ? pd_image_copy(code, size, out) : 0;
        }
        offset += size;
    }
    return 0;
}

static perfdata_status open_bpf(struct pd_symbols *symbols, const struct pd_map *map,
                                struct pd_image **out)
{
    perfdata_status status = 0;

    *out = NULL;
    if (!symbols->features)
        return 0;
    const struct pd_feature_bpf_prog_info *all = &symbols->features->bpf_prog_info;
    for (uint32_t i = 0; i < all->programs_count && !status && !*out; i++)
        status = copy_function(&all->programs[i], map->start, out);
    return status;
}

static perfdata_status copy_code(const struct pd_dso *dso, struct pd_image **out)
{
    struct pd_text image = { 0 };
    perfdata_status status = PERFDATA_ERROR_MEMORY;
    if (pd_dso_code_image(dso, &image))
        status = pd_image_copy(image.data, image.length, out);
    pd_text_free(&image);
    return status;
}

static perfdata_status open_image(struct pd_symbols *symbols, const struct pd_map *map,
                                  struct pd_image **out)
{
    const struct pd_dso *dso = map->dso;
    struct pd_build_id id = pd_dso_build_id(dso);
    struct pd_dso_search search;

    *out = NULL;
    if (dso->code)
        return copy_code(dso, out);
    switch (dso->kind) {
    case PD_DSO_KERNEL: return open_kernel(symbols, out);
    case PD_DSO_BPF: return open_bpf(symbols, map, out);
    case PD_DSO_OOL: /* records of pokes bring its bytes */
        return dso->symbol_size <= OUT_OF_LINE_LIMIT ? pd_image_copy(NULL, dso->symbol_size, out)
                                                     : 0;
    case PD_DSO_VDSO:
        if (!id.size && symbols->search.kernel_elsewhere)
            return 0;
        return id.size ? pd_image_open(&symbols->search, dso->long_name, &id, out)
                       : pd_image_open_own_vdso(&symbols->search, out);
    case PD_DSO_USER:
        if (pd_symbols_search(symbols, dso, &search) == PD_PATH_NOBODY && !id.size)
            return 0; /* told when its symbols were looked for */
        return pd_image_open(&search.places, dso->long_name, &id, out);
    case PD_DSO_MODULE:
    case PD_DSO_OTHER: return pd_image_open(&symbols->search, dso->long_name, &id, out);
    case PD_DSO_PERF_MAP:
    case PD_DSO_NO_FILE: break;
    }
    return 0;
}

const struct pd_image *pd_symbols_image(struct pd_symbols *symbols, const struct pd_map *map)
{
    struct pd_images *images = &symbols->images;
    struct pd_image *image = NULL;
    uint64_t key = (uint64_t)(uintptr_t)map->dso;

    if (map->kernel && (map->dso->kind == PD_DSO_KERNEL || map->dso->kind == PD_DSO_MODULE)) {
        if (!pd_symbols_kernel(symbols, map->number))
            return NULL;
        if (map->dso->kind == PD_DSO_KERNEL)
            key = 1; /* all its maps show one file */
    }
    pthread_mutex_lock(&images->lock);
    uint32_t at = pd_map64_get(&images->by_dso, key);
    if (at != PD_MAP64_NONE) {
        image = images->list.data[at];
    } else if (pd_vec_reserve(&images->list, images->list.count + 1) &&
               !open_image(symbols, map, &image) &&
               pd_map64_set(&images->by_dso, key, (uint32_t)images->list.count)) {
        images->list.data[images->list.count++] = image;
    } else {
        pd_image_free(image);
        image = NULL;
    }
    pthread_mutex_unlock(&images->lock);
    return image;
}

bool pd_symbols_is_here(struct pd_symbols *symbols, const struct pd_dso *dso)
{
    char path[PD_OBJECT_PATH_ROOM];
    struct pd_dso_search search;
    struct pd_build_id id = pd_dso_build_id(dso);
    if (!symbols->search.fetch)
        return true;
    pd_symbols_search(symbols, dso, &search);
    search.places.fetch = NULL;
    return pd_object_code_path(&search.places, dso->long_name, &id, path) &&
           pd_file_is_regular(path);
}

enum pd_program_kind pd_symbols_program_kind(void *symbols, const struct pd_map *map)
{
    const struct pd_image *image = map->dso->kind == PD_DSO_USER &&
                                           pd_symbols_is_here(symbols, map->dso)
                                       ? pd_symbols_image(symbols, map)
                                       : NULL;
    if (!image || image->size < sizeof(Elf32_Ehdr) || memcmp(image->data, ELFMAG, SELFMAG) != 0)
        return PD_PROGRAM_UNKNOWN;
    if (image->is_64_bit)
        return PD_PROGRAM_64;
    uint16_t machine = pd_load16(image->data + offsetof(Elf32_Ehdr, e_machine),
                                 (image->data[EI_DATA] == ELFDATA2MSB) !=
                                     (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
    const struct pd_features *features = ((const struct pd_symbols *)symbols)->features;
    uint16_t compat = pd_features_compat_machine(features);
    return compat && machine == compat                ? PD_PROGRAM_32
           : machine == EM_X86_64 && compat == EM_386 ? PD_PROGRAM_X32
                                                      : PD_PROGRAM_UNKNOWN;
}
