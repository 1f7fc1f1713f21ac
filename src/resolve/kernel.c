/* SPDX-License-Identifier: MIT */
/* The kernel: one table for the kernel and its modules, which may cut and add maps as it loads. It
 * is loaded once, with the maps that hold when the first kernel address is looked up. */
#include "resolve/symbols.h"
#include "base/vec.h"
#include <stdlib.h>

struct request_maps {
    PD_VEC(struct pd_map) sources; /* copies; the main kernel first */
    PD_VEC(struct pd_kernel_map) maps;
    bool failed;
};

/* Pieces that modules have cut the main map into become one map again. */
static int collect(void *data, const struct pd_map *map)
{
    struct request_maps *request = data;
    if (map->main_kernel) {
        struct pd_map *main_map = &request->sources.data[0];
        if (!main_map->dso)
            memcpy(main_map, map, sizeof *map);
        main_map->end = map->end;
        return 0;
    }
    if (map->dso->kind != PD_DSO_MODULE)
        return 0;
    if (!pd_vec_reserve(&request->sources, request->sources.count + 1)) {
        request->failed = true;
        return 1;
    }
    memcpy(&request->sources.data[request->sources.count++], map, sizeof *map);
    return 0;
}

static bool make_request(struct pd_symbols *symbols, uint64_t number, struct request_maps *maps,
                         struct pd_kernel_request *request)
{
    if (!pd_vec_reserve(&maps->sources, 64))
        return false;
    memset(&maps->sources.data[0], 0, sizeof maps->sources.data[0]);
    maps->sources.count = 1;
    pd_timeline_each_kernel_map(symbols->timeline, number, collect, maps);
    if (maps->failed)
        return false;
    const struct pd_map *main_map = &maps->sources.data[0];
    if (!main_map->dso) /* no kernel was recorded */
        return true;
    for (size_t i = 0; i < maps->sources.count; i++) {
        const struct pd_map *map = &maps->sources.data[i];
        struct pd_kernel_map to = { .name = map->dso->short_name,
                                    .start = map->start,
                                    .end = map->end,
                                    .pgoff = map->pgoff,
                                    .is_module = i > 0,
                                    .loaded_before = atomic_load(&map->dso->alone) };
        if (!pd_vec_push(&maps->maps, to))
            return false;
    }
    *request = (struct pd_kernel_request){
        .build_id = pd_dso_build_id(main_map->dso),
        .ref_reloc_name = main_map->reloc_name,
        .ref_reloc_address = main_map->reloc,
        .maps = maps->maps.data,
        .map_count = maps->maps.count,
        .is_x86_64 = symbols->is_x86_64,
        .guest = pd_symbols_of_guest(symbols) ? pd_timeline_kernel_name(symbols->timeline) : NULL,
    };
    return true;
}

static int by_start(const void *a, const void *b)
{
    const struct pd_kernel_place *x = a, *y = b;
    return x->map.start < y->map.start ? -1 : x->map.start > y->map.start;
}

/* A DSO that perf makes while it reads the table. */
static void new_dso(const struct pd_kernel_result_map *result, uint32_t index, struct pd_dso *dso)
{
    dso->index = UINT32_MAX - 1 - index;
    dso->kind = PD_DSO_KERNEL;
    dso->name = dso->long_name = dso->short_name = result->name;
    dso->name_length = dso->long_name_length = dso->short_name_length = (uint32_t)strlen(
        result->name);
    dso->short_name_id = dso->long_name_id = UINT32_MAX - 1 - index;
    dso->kernel_space = true;
    dso->mapped = true;
}

/* One map of the result; those that can match no address are left out. */
static void place(struct pd_kernel_view *view, const struct request_maps *request, size_t at)
{
    const struct pd_kernel_result_map *result = &view->kernel->maps[at];
    struct pd_map *map = &view->places[view->count].map;
    struct pd_loaded *loaded = &view->places[view->count].loaded;
    bool is_new = result->request_index < 0;
    if (is_new) {
        memcpy(map, &request->sources.data[0], sizeof *map);
        map->main_kernel = false;
        if (!result->of_kernel) {
            map->dso = &view->dsos[at];
            new_dso(result, (uint32_t)at, map->dso);
        }
    } else {
        memcpy(map, &request->sources.data[result->request_index], sizeof *map);
    }
    if (result->end <= result->start)
        return;
    map->start = result->start;
    map->end = result->end;
    map->pgoff = result->pgoff;
    map->identity = result->identity;
    atomic_init(&map->hit, true);
    loaded->table = result->of_kernel ? view->kernel->maps[0].symtab : result->symtab;
    loaded->view = view;
    loaded->long_name = map->dso->long_name;
    loaded->short_name = map->dso->short_name;
    if (is_new && view->kernel->type == PD_OBJECT_VMLINUX) /* a section: perf names the whole */
        loaded->long_name = request->sources.data[0].dso->long_name;
    if (map->main_kernel || result->of_kernel) {
        loaded->long_name = view->kernel->long_name;
        loaded->short_name = view->kernel->short_name;
    }
    view->count++;
}

static bool fill(struct pd_kernel_view *view, struct request_maps *request)
{
    size_t count = view->kernel->map_count;
    view->places = pd_memory_noted(calloc(count + 1, sizeof *view->places));
    view->dsos = pd_memory_noted(calloc(count + 1, sizeof *view->dsos));
    if (!view->places || !view->dsos)
        return false;
    for (size_t i = 0; i < count; i++)
        place(view, request, i);
    qsort(view->places, view->count, sizeof *view->places, by_start);
    for (size_t i = 0; i < view->count; i++) {
        struct pd_dso *dso = view->places[i].map.dso;
        /* Modules are loaded from their own files later; all else is loaded now. */
        if (dso->kind == PD_DSO_KERNEL)
            atomic_store_explicit(&dso->symbols, &view->places[i].loaded, memory_order_release);
    }
    return true;
}

static struct pd_kernel_view *load_view(struct pd_symbols *symbols, uint64_t number)
{
    struct request_maps maps = { 0 };
    struct pd_kernel_request request = { 0 };
    struct pd_kernel_view *view = pd_memory_noted(calloc(1, sizeof *view));
    bool ok = view && make_request(symbols, number, &maps, &request);
    if (ok && request.map_count) {
        view->of_guest = request.guest != NULL;
        ok = pd_kernel_load(&symbols->search, &request, &view->kernel) == 0;
        if (ok && view->kernel->type != PD_OBJECT_NOT_FOUND)
            ok = fill(view, &maps);
        view->start = request.maps[0].start;
        view->number = number;
    }
    pd_vec_free(&maps.sources);
    pd_vec_free(&maps.maps);
    if (ok)
        return view;
    pd_kernel_view_free(view);
    return NULL;
}

const struct pd_kernel_view *pd_symbols_kernel(struct pd_symbols *symbols, uint64_t number)
{
    struct pd_kernel_view *view = atomic_load_explicit(&symbols->view, memory_order_acquire);
    if (PD_LIKELY(view != NULL))
        return view;
    pthread_mutex_lock(&symbols->lock);
    view = atomic_load_explicit(&symbols->view, memory_order_relaxed);
    if (!view) {
        uint64_t first = atomic_load_explicit(&symbols->first_kernel, memory_order_acquire);
        atomic_store_explicit(&symbols->loading, true, memory_order_relaxed);
        view = load_view(symbols, PD_MIN(first, number));
        atomic_store_explicit(&symbols->loading, false, memory_order_relaxed);
        atomic_store_explicit(&symbols->view, view, memory_order_release);
    }
    pthread_mutex_unlock(&symbols->lock);
    return view;
}

void pd_kernel_view_free(struct pd_kernel_view *view)
{
    if (!view)
        return;
    pd_kernel_free(view->kernel);
    for (size_t i = 0; i < view->count; i++)
        pd_lines_free(atomic_load(&view->places[i].loaded.lines));
    free(view->places);
    free(view->dsos);
    free(view);
}

/* The last map that begins at or before `ip` and holds it. */
static const struct pd_map *search(const struct pd_kernel_view *view, uint64_t ip)
{
    for (size_t i = pd_upto(view->places, view->count, map.start, ip); i-- > 0;)
        if (ip < view->places[i].map.end)
            return &view->places[i].map;
    return NULL;
}

const struct pd_map *pd_symbols_kernel_map(struct pd_symbols *symbols, uint64_t number, uint64_t ip)
{
    const struct pd_map *map = pd_timeline_kernel_map(symbols->timeline, number, ip);
    const struct pd_kernel_view *view = atomic_load_explicit(&symbols->view, memory_order_acquire);
    bool own = map && (map->dso->kind == PD_DSO_BPF || map->dso->kind == PD_DSO_OOL);
    if (own || (!map && !view))
        return map;
    if (!view)
        view = pd_symbols_kernel(symbols, number);
    if (!view || !view->count)
        return map;
    const struct pd_map *loaded = search(view, ip);
    if (loaded || !map)
        return loaded;
    /* Maps that were there when the table was loaded now have the bounds that the table gave
     * them. */
    bool was_there = map->main_kernel || map->dso->kind == PD_DSO_MODULE;
    return was_there && map->number <= view->number ? NULL : map;
}

bool pd_symbols_loading(const struct pd_symbols *symbols)
{
    return atomic_load_explicit(&symbols->loading, memory_order_relaxed);
}

bool pd_symbols_has_kernel(const struct pd_symbols *symbols)
{
    return atomic_load_explicit(&symbols->view, memory_order_acquire) != NULL;
}

bool pd_symbols_show_front(struct pd_symbols *symbols, uint8_t cpumode, uint64_t ip,
                           uint64_t number)
{
    uint64_t none = UINT64_MAX;
    if (atomic_load_explicit(&symbols->first_kernel, memory_order_relaxed) != none)
        return true;
    const struct pd_map *map = cpumode == PD_CPUMODE_KERNEL
                                   ? pd_timeline_kernel_map(symbols->timeline, number, ip)
                                   : NULL;
    if (!map)
        return false;
    if (map->dso->kind == PD_DSO_MODULE)
        atomic_store(&map->dso->alone, true);
    if (map->dso->kind != PD_DSO_KERNEL)
        return false;
    atomic_compare_exchange_strong(&symbols->first_kernel, &none, number);
    return true;
}

uint64_t pd_symbols_kernel_start(struct pd_symbols *symbols, uint64_t number)
{
    if (symbols->is_x86_64)
        return UINT64_C(1) << 63;
    const struct pd_kernel_view *view = pd_symbols_kernel(symbols, number);
    return view && view->count ? view->start : UINT64_C(1) << 63;
}
