/* SPDX-License-Identifier: MIT */
/* Lists of the build-id cache: all that is kept, and all versions of one file. */
#include "base/memory.h"
#include "base/vec.h"
#include "cache/cache.h"
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct id {
    char text[PERFDATA_BUILD_ID_TEXT];
};

struct ids {
    PD_VEC(struct id) list;
};

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Names in `folder` that are build-ids behind `prefix`. A folder that is not there has none. */
static perfdata_status add_folder(struct ids *ids, const char *folder, const char *prefix)
{
    DIR *directory = opendir(folder);
    perfdata_status status = PERFDATA_OK;
    if (!directory)
        return errno == ENOENT || errno == ENOTDIR ? PERFDATA_ERROR_NO_DATA : PERFDATA_ERROR_OUTPUT;
    for (const struct dirent *entry; status == PERFDATA_OK && (entry = readdir(directory));) {
        struct id id;
        int length = snprintf(id.text, sizeof id.text, "%s%s", prefix, entry->d_name);
        if (length > 0 && (size_t)length < sizeof id.text && pd_cache_is_id(id.text) &&
            !pd_vec_push(&ids->list, id))
            status = PERFDATA_ERROR_MEMORY;
    }
    closedir(directory);
    return status;
}

static perfdata_status add_all(struct ids *ids, const perfdata_build_id_cache *cache)
{
    static const char digits[] = "0123456789abcdef";
    char folder[PD_CACHE_PATH];
    perfdata_status status = PERFDATA_OK;
    for (unsigned first = 0; first < 256 && status == PERFDATA_OK; first++) {
        char prefix[] = { digits[first / 16], digits[first % 16], 0 };
        snprintf(folder, sizeof folder, "%s/.build-id/%s", cache->directory, prefix);
        status = add_folder(ids, folder, prefix);
        if (status == PERFDATA_ERROR_NO_DATA)
            status = PERFDATA_OK;
    }
    return status;
}

/* Tables of the kernel and the vdso have no file to compare with. */
static bool is_stale(const perfdata_build_id_cache *cache, const char *id, const char *path)
{
    char file[PD_CACHE_PATH], text[2 * PD_BUILD_ID_MAX + 1];
    struct pd_build_id found;
    if (*path == '[')
        return false;
    int length = snprintf(file, sizeof file, "%s%s/%s/elf", cache->directory, path, id);
    if (length < 0 || (size_t)length >= sizeof file || pd_build_id_read(file, &found) < 0)
        return true;
    pd_build_id_text(&found, text);
    return strcmp(text, id) != 0;
}

static void sort(struct ids *ids)
{
    if (ids->list.count)
        qsort(ids->list.data, ids->list.count, sizeof *ids->list.data, by_text);
}

perfdata_status perfdata_build_id_cache_list(const perfdata_build_id_cache *cache, unsigned flags,
                                             perfdata_build_id_cache_fn each, void *data)
{
    struct ids ids = { 0 };
    char path[PD_CACHE_PATH];
    pd_memory_forget();
    perfdata_status status = add_all(&ids, cache);
    sort(&ids);
    for (size_t i = 0; status == PERFDATA_OK && i < ids.list.count; i++) {
        const char *id = ids.list.data[i].text;
        if (!pd_cache_kept_path(cache, id, path) ||
            (!(flags & PERFDATA_BUILD_ID_CACHE_STALE) && is_stale(cache, id, path)))
            continue;
        if (each(data, id, path))
            break;
    }
    pd_vec_free(&ids.list);
    /* a file that could not be read for want of memory is not stale */
    return status == PERFDATA_OK && pd_memory_failed() ? PERFDATA_ERROR_MEMORY : status;
}

perfdata_status perfdata_build_id_cache_list_path(const perfdata_build_id_cache *cache,
                                                  const char *path, perfdata_build_id_cache_fn each,
                                                  void *data)
{
    struct ids ids = { 0 };
    char folder[PD_CACHE_PATH];
    if (!pd_cache_folder(cache, path, folder))
        return PERFDATA_ERROR_OUTPUT;
    perfdata_status status = add_folder(&ids, folder, "");
    sort(&ids);
    for (size_t i = 0; status == PERFDATA_OK && i < ids.list.count; i++)
        if (each(data, ids.list.data[i].text, path))
            break;
    pd_vec_free(&ids.list);
    return status;
}
