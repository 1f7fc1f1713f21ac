/* SPDX-License-Identifier: MIT */
/* The build-id cache's paths, and files that are put under them. */
#include "cache/cache.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool pd_cache_is_id(const char *id)
{
    size_t length = strlen(id);
    return length > 2 && length < PERFDATA_BUILD_ID_TEXT && length % 2 == 0 &&
           strspn(id, "0123456789abcdef") == length;
}

static bool fits(int length)
{
    if (length >= 0 && length < PD_CACHE_PATH)
        return true;
    errno = ENAMETOOLONG;
    return false;
}

bool pd_cache_link(const perfdata_build_id_cache *cache, const char *id, char out[PD_CACHE_PATH])
{
    if (!pd_cache_is_id(id)) {
        errno = EINVAL;
        return false;
    }
    return fits(snprintf(out, PD_CACHE_PATH, "%s/.build-id/%.2s/%s", cache->directory, id, id + 2));
}

bool pd_cache_folder(const perfdata_build_id_cache *cache, const char *path,
                     char out[PD_CACHE_PATH])
{
    char *real = realpath(path, NULL);
    const char *name = real ? real : path;
    bool ok = fits(
        snprintf(out, PD_CACHE_PATH, "%s%s%s", cache->directory, *name == '/' ? "" : "/", name));
    free(real);
    return ok;
}

/* The link is "../../PATH/ID"; of a file PATH is absolute without its first slash. */
bool pd_cache_kept_path(const perfdata_build_id_cache *cache, const char *id,
                        char path[PD_CACHE_PATH])
{
    static const char up[] = "../..";
    char link[PD_CACHE_PATH], target[PD_CACHE_PATH];
    if (!pd_cache_link(cache, id, link))
        return false;
    ssize_t length = readlink(link, target, sizeof target - 1);
    if (length < 0)
        return false;
    target[length] = 0;
    const char *from = strncmp(target, up, strlen(up)) ? target : target + strlen(up);
    char *end = strrchr(target, '/');
    if (!end || end <= from || strcmp(end + 1, id)) {
        errno = EINVAL;
        return false;
    }
    *end = 0;
    memmove(path, from + (from[1] == '['), strlen(from + (from[1] == '[')) + 1);
    return true;
}

bool pd_cache_make_folders(const char *path)
{
    char part[PD_CACHE_PATH];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        memcpy(part, path, (size_t)(slash - path));
        part[slash - path] = 0;
        if (mkdir(part, 0755) && errno != EEXIST)
            return false;
    }
    return true;
}

static bool copy_bytes(int from, int to)
{
    char buffer[1 << 16];
    for (;;) {
        ssize_t size = read(from, buffer, sizeof buffer);
        if (size < 0 && errno == EINTR)
            continue;
        if (size <= 0)
            return size == 0;
        for (ssize_t done = 0; done < size;) {
            ssize_t written = write(to, buffer + done, (size_t)(size - done));
            if (written < 0 && errno != EINTR)
                return false;
            done += written > 0 ? written : 0;
        }
    }
}

static bool copy(const char *from, const char *to)
{
    char part[PD_CACHE_PATH];
    struct stat status;
    if (!fits(snprintf(part, sizeof part, "%s.XXXXXX", to)))
        return false;
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in < 0)
        return false;
    int out = fstat(in, &status) || !S_ISREG(status.st_mode) ? -1 : mkstemp(part);
    bool ok = out >= 0 && copy_bytes(in, out) && !fchmod(out, status.st_mode & 0755);
    close(in);
    if (out < 0)
        return false;
    int error = errno;
    if (close(out) || !ok || rename(part, to)) {
        error = ok ? errno : error;
        unlink(part);
        errno = error;
        return false;
    }
    return true;
}

bool pd_cache_put_file(const char *from, const char *to)
{
    return !link(from, to) || errno == EEXIST || copy(from, to);
}
