/* SPDX-License-Identifier: MIT */
/* The build-id cache: where it is, what is put into it, what is taken out. */
#include "base/context.h"
#include "base/memory.h"
#include "cache/cache.h"
#include "io/config.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What an entry may hold; perf adds the tables of the kernel and the vdso. */
static const char *const files[] = { "elf", "debug", "probes", "kallsyms", "vdso" };

static int take_directory(void *data, const char *key, const char *value)
{
    char **directory = data;
    if (strcmp(key, "buildid.dir") || !value)
        return 0;
    free(*directory);
    *directory = strdup(value);
    return *directory ? 0 : PERFDATA_ERROR_MEMORY;
}

static perfdata_status choose(const struct perfdata_build_id_cache_options *options, char **out)
{
    const struct pd_config_places places = {
        .only = options->perf_config,
        .system = options->home ? "/etc/perfconfig" : NULL,
        .home = options->home,
    };
    struct pd_context context;
    if (options->dir) {
        *out = strdup(options->dir);
        return *out ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
    }
    pd_context_init(&context);
    perfdata_status status = pd_config_read(&context, &places, take_directory, out);
    pd_context_fini(&context);
    if (status < 0 || (*out && **out))
        return status;
    free(*out); /* an empty buildid.dir is the default's */
    *out = NULL;
    if (!options->home)
        return PERFDATA_ERROR_ARGUMENT;
    return asprintf(out, "%s/.debug", options->home) < 0 ? PERFDATA_ERROR_MEMORY : PERFDATA_OK;
}

perfdata_status perfdata_build_id_cache_open(const struct perfdata_build_id_cache_options *options,
                                             perfdata_build_id_cache **out)
{
    struct perfdata_build_id_cache_options known = { 0 };
    perfdata_status status = options ? pd_take_options(NULL, &known, sizeof known, options)
                                     : PERFDATA_ERROR_ARGUMENT;
    if (status < 0)
        return status;
    perfdata_build_id_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return PERFDATA_ERROR_MEMORY;
    pd_context_init(&cache->context);
    cache->context.on_issue = known.on_issue;
    cache->context.issue_data = known.issue_data;
    status = choose(&known, &cache->directory);
    size_t length = cache->directory ? strlen(cache->directory) : 0;
    while (length > 1 && cache->directory[length - 1] == '/')
        cache->directory[--length] = 0;
    if (status >= 0 && (!length || length >= PATH_MAX))
        status = PERFDATA_ERROR_ARGUMENT;
    if (status >= 0 && known.debuginfod)
        status = pd_fetch_new(&cache->context, known.debuginfod, &cache->fetch);
    if (status == PERFDATA_ERROR_UNSUPPORTED)
        (void)pd_issue(&cache->context, PERFDATA_ISSUE_UNSUPPORTED, -1, "%s",
                       cache->context.message);
    if (status < 0) {
        perfdata_build_id_cache_close(cache);
        return status;
    }
    *out = cache;
    return PERFDATA_OK;
}

void perfdata_build_id_cache_close(perfdata_build_id_cache *cache)
{
    if (!cache)
        return;
    pd_fetch_free(cache->fetch);
    pd_context_fini(&cache->context);
    free(cache->directory);
    free(cache);
}

const char *perfdata_build_id_cache_directory(const perfdata_build_id_cache *cache)
{
    return cache->directory;
}

static perfdata_status read_id(const char *path, char id[PERFDATA_BUILD_ID_TEXT])
{
    struct pd_build_id found;
    *id = 0;
    errno = 0;
    pd_memory_forget();
    if (pd_build_id_read(path, &found) < 0 || !found.size) {
        if (pd_memory_failed())
            return PERFDATA_ERROR_MEMORY;
        if (!errno) /* it was read, and has none */
            errno = ENODATA;
        return PERFDATA_ERROR_NOT_FOUND;
    }
    pd_build_id_text(&found, id);
    return PERFDATA_OK;
}

/* The debug file that the system or a server has of this build-id. perf's cache is whole without
 * it. */
static void put_debug_file(const perfdata_build_id_cache *cache, const char *program,
                           const char *id, const char *folder)
{
    struct pd_build_id bytes;
    char from[PD_CACHE_PATH], to[PD_CACHE_PATH], other[PERFDATA_BUILD_ID_TEXT];
    snprintf(from, sizeof from, "/usr/lib/debug/.build-id/%.2s/%s.debug", id, id + 2);
    int length = snprintf(to, sizeof to, "%s/debug", folder);
    if (length < 0 || (size_t)length >= sizeof to || !access(to, F_OK))
        return;
    const char *fetched = NULL;
    bool here = read_id(from, other) == PERFDATA_OK && !strcmp(other, id);
    if (!here && cache->fetch && !pd_build_id_read(program, &bytes))
        fetched = pd_fetch_file(cache->fetch, PD_FETCH_DEBUG_FILE, &bytes);
    if (here || fetched)
        (void)pd_cache_put_file(here ? from : fetched, to);
}

static bool put_link(const perfdata_build_id_cache *cache, const char *id, const char *folder)
{
    char link[PD_CACHE_PATH], target[PD_CACHE_PATH];
    if (!pd_cache_link(cache, id, link) || !pd_cache_make_folders(link))
        return false;
    int length = snprintf(target, sizeof target, "../..%s", folder + strlen(cache->directory));
    return length > 0 && (size_t)length < sizeof target &&
           (!symlink(target, link) || errno == EEXIST);
}

perfdata_status perfdata_build_id_cache_add(perfdata_build_id_cache *cache, const char *path,
                                            char id[PERFDATA_BUILD_ID_TEXT])
{
    char folder[PD_CACHE_PATH], file[PD_CACHE_PATH];
    perfdata_status status = read_id(path, id);
    if (status < 0)
        return status;
    if (!pd_cache_folder(cache, path, file))
        return PERFDATA_ERROR_OUTPUT;
    int length = snprintf(folder, sizeof folder, "%s/%s", file, id);
    if (length < 0 || (size_t)length >= sizeof folder)
        length = -1;
    else
        length = snprintf(file, sizeof file, "%s/elf", folder);
    if (length < 0 || (size_t)length >= sizeof file) {
        errno = ENAMETOOLONG;
        return PERFDATA_ERROR_OUTPUT;
    }
    if (!pd_cache_make_folders(file) || !pd_cache_put_file(path, file))
        return PERFDATA_ERROR_OUTPUT;
    put_debug_file(cache, path, id, folder);
    return put_link(cache, id, folder) ? PERFDATA_OK : PERFDATA_ERROR_OUTPUT;
}

perfdata_status perfdata_build_id_cache_remove_id(perfdata_build_id_cache *cache, const char *id)
{
    char link[PD_CACHE_PATH], kept[PD_CACHE_PATH], file[PD_CACHE_PATH];
    if (!pd_cache_link(cache, id, link) || access(link, F_OK) ||
        !pd_cache_kept_path(cache, id, kept))
        return PERFDATA_ERROR_NO_DATA;
    for (size_t i = 0; i < PD_LENGTH(files); i++) {
        int length = snprintf(file, sizeof file, "%s/%s", link, files[i]);
        if (length < 0 || (size_t)length >= sizeof file ||
            (unlink(file) && errno != ENOENT && errno != ENOTDIR))
            return PERFDATA_ERROR_OUTPUT;
    }
    int length = snprintf(file, sizeof file, "%s%s%s/%s", cache->directory, *kept == '/' ? "" : "/",
                          kept, id);
    if (length < 0 || (size_t)length >= sizeof file)
        return PERFDATA_ERROR_OUTPUT;
    /* Old perfs made the entry a file. Something that is not ours may lie in the folder: it
     * stays. */
    if (rmdir(file) && errno == ENOTDIR)
        (void)unlink(file);
    return unlink(link) ? PERFDATA_ERROR_OUTPUT : PERFDATA_OK;
}

perfdata_status perfdata_build_id_cache_remove(perfdata_build_id_cache *cache, const char *path,
                                               char id[PERFDATA_BUILD_ID_TEXT])
{
    perfdata_status status = read_id(path, id);
    return status < 0 ? status : perfdata_build_id_cache_remove_id(cache, id);
}

perfdata_status perfdata_build_id_cache_path(const perfdata_build_id_cache *cache, const char *id,
                                             char *path, size_t size, size_t *length)
{
    char kept[PD_CACHE_PATH];
    if (!perfdata_build_id_cache_has(cache, id) || !pd_cache_kept_path(cache, id, kept))
        return PERFDATA_ERROR_NO_DATA;
    int written = snprintf(path, size, "%s/%s", kept + (*kept == '/'), id);
    if (written < 0)
        return PERFDATA_ERROR_MEMORY;
    *length = (size_t)written + 1;
    return PERFDATA_OK;
}

int perfdata_build_id_cache_has(const perfdata_build_id_cache *cache, const char *id)
{
    char link[PD_CACHE_PATH];
    return pd_cache_link(cache, id, link) && !access(link, F_OK);
}
