/* SPDX-License-Identifier: MIT */
/* Copies of kernels' code in the cache: DIR/[kernel.kcore]/ID/TIME has kcore, kallsyms and modules
 * as they were then. A kernel that was loaded elsewhere, or has other modules, gets another one. */
#include "base/memory.h"
#include "cache/cache.h"
#include "object/kernel/kcore_copy.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const char *const parts[] = { "kcore", "kallsyms", "modules" };

static bool join(char out[PD_CACHE_PATH], const char *folder, const char *name)
{
    int length = snprintf(out, PD_CACHE_PATH, "%s/%s", folder, name);
    if (length >= 0 && length < PD_CACHE_PATH)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

/* The build-id of the kernel whose files lie in this folder, as /proc has them: beside it is
 * sys/kernel/notes. */
static perfdata_status read_kernel_id(const char *folder, char id[PERFDATA_BUILD_ID_TEXT])
{
    char notes[PD_CACHE_PATH];
    struct pd_build_id found;
    if (!join(notes, folder, "../sys/kernel/notes"))
        return PERFDATA_ERROR_NOT_FOUND;
    errno = 0;
    if (pd_build_id_read_notes(notes, &found) < 0 || !found.size) {
        if (!errno)
            errno = ENODATA;
        return PERFDATA_ERROR_NOT_FOUND;
    }
    pd_build_id_text(&found, id);
    return PERFDATA_OK;
}

/* ---- the same kernel, loaded at the same place ---- */

static FILE *open_modules(const char *folder)
{
    char path[PD_CACHE_PATH];
    return join(path, folder, "modules") ? pd_open_lines(path) : NULL;
}

/* The next module's name and address, as "NAME ADDRESS"; false: the file has no more. */
static bool next_module(FILE *file, char **line, size_t *room, char *out, size_t size)
{
    char name[64], address[32];
    errno = 0;
    while (file && getline(line, room, file) > 0)
        if (sscanf(*line, "%63s %*s %*s %*s %*s %31s", name, address) == 2) {
            snprintf(out, size, "%s %s", name, address);
            return true;
        }
    pd_memory_note_errno();
    return false;
}

static bool has_same_modules(const char *one, const char *other)
{
    FILE *a = open_modules(one), *b = open_modules(other);
    char *lines[2] = { NULL, NULL }, first[128], second[128];
    size_t rooms[2] = { 0, 0 };
    bool more, same;
    do {
        more = next_module(a, &lines[0], &rooms[0], first, sizeof first);
        same = more == next_module(b, &lines[1], &rooms[1], second, sizeof second) &&
               (!more || !strcmp(first, second));
    } while (more && same);
    free(lines[0]);
    free(lines[1]);
    if (a)
        fclose(a);
    if (b)
        fclose(b);
    return same;
}

static bool has_same_text(const char *folder, uint64_t start)
{
    char kallsyms[PD_CACHE_PATH];
    uint64_t from, to;
    return join(kallsyms, folder, "kallsyms") && pd_kernel_text_range(kallsyms, &from, &to) &&
           from == start;
}

/* Looks for a copy that is the same as what a new one would be. */
static bool find_same(const char *kept, const char *folder, uint64_t start, char out[PD_CACHE_PATH])
{
    errno = 0;
    DIR *list = opendir(kept);
    bool found = false;
    pd_memory_note_errno();
    for (const struct dirent *entry; list && !found && (entry = readdir(list));)
        found = entry->d_name[0] != '.' && join(out, kept, entry->d_name) &&
                has_same_text(out, start) && has_same_modules(out, folder);
    if (list)
        closedir(list);
    return found;
}

/* ---- the copy ---- */

/* As perf names them: the local time down to hundredths of a second. */
static bool name_by_time(const char *kept, char out[PD_CACHE_PATH])
{
    char name[32], whole[24];
    struct timeval now;
    struct tm local;
    if (gettimeofday(&now, NULL) || !localtime_r(&now.tv_sec, &local) ||
        !strftime(whole, sizeof whole, "%Y%m%d%H%M%S", &local))
        return false;
    snprintf(name, sizeof name, "%s%02d", whole, (int)(now.tv_usec / 10000));
    return join(out, kept, name);
}

/* Takes away what a copy that failed has left. */
static void take_away(const char *folder)
{
    char path[PD_CACHE_PATH];
    int error = errno;
    for (size_t i = 0; i < PD_LENGTH(parts); i++)
        if (join(path, folder, parts[i]))
            unlink(path);
    rmdir(folder);
    errno = error;
}

static perfdata_status copy_to(perfdata_build_id_cache *cache, const char *folder, uint64_t start,
                               uint64_t end, const char *into)
{
    char inside[PD_CACHE_PATH];
    if (!join(inside, into, "kcore") || !pd_cache_make_folders(inside))
        return PERFDATA_ERROR_OUTPUT;
    int from = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int to = open(into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    perfdata_status status = from < 0 ? PERFDATA_ERROR_NOT_FOUND : PERFDATA_ERROR_OUTPUT;
    if (from >= 0 && to >= 0)
        status = pd_kcore_copy(&cache->context, from, to, start, end);
    int error = errno;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    errno = error;
    if (status < 0)
        take_away(into);
    return status == PERFDATA_ERROR_IO ? PERFDATA_ERROR_OUTPUT : status;
}

/* The folder of a file, which has to be called kcore: the files beside it go with it. */
static bool folder_of(const char *path, char out[PD_CACHE_PATH])
{
    const char *slash = strrchr(path, '/');
    if (strcmp(slash ? slash + 1 : path, "kcore") != 0) {
        errno = EINVAL;
        return false;
    }
    if (slash && (size_t)(slash - path) >= PD_CACHE_PATH) {
        errno = ENAMETOOLONG;
        return false;
    }
    snprintf(out, PD_CACHE_PATH, "%.*s", slash ? (int)PD_MAX(slash - path, 1) : 1,
             slash ? path : ".");
    return true;
}

perfdata_status perfdata_build_id_cache_add_kcore(perfdata_build_id_cache *cache, const char *path,
                                                  char *folder, size_t size, int *is_new)
{
    char id[PERFDATA_BUILD_ID_TEXT], from[PD_CACHE_PATH], kallsyms[PD_CACHE_PATH];
    char kept[PD_CACHE_PATH], into[PD_CACHE_PATH];
    uint64_t start, end;
    pd_memory_forget();
    if (!folder_of(path, from) || access(path, R_OK))
        return PERFDATA_ERROR_NOT_FOUND;
    perfdata_status status = read_kernel_id(from, id);
    if (status < 0)
        return status;
    errno = 0;
    if (!join(kallsyms, from, "kallsyms") || !pd_kernel_text_range(kallsyms, &start, &end)) {
        if (!errno) /* it was read, and hides its addresses */
            errno = EACCES;
        return PERFDATA_ERROR_NOT_FOUND;
    }
    if (!join(kept, cache->directory, "[kernel.kcore]") || !join(into, kept, id))
        return PERFDATA_ERROR_OUTPUT;
    memcpy(kept, into, sizeof kept);
    *is_new = !find_same(kept, from, start, into);
    if (pd_memory_failed()) /* what could not be read may seem to be the same */
        return PERFDATA_ERROR_MEMORY;
    if (*is_new)
        status = name_by_time(kept, into) ? copy_to(cache, from, start, end, into)
                                          : PERFDATA_ERROR_OUTPUT;
    if (status >= 0 && folder)
        snprintf(folder, size, "%s", into);
    return status;
}
