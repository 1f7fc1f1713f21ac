/* SPDX-License-Identifier: MIT */
/* The build-id cache inside: its directory and the paths in it. */
#ifndef PD_CACHE_H
#define PD_CACHE_H
#include "base/context.h"
#include "object/elf/build_id.h"
#include "object/fetch.h"
#include <perfdata/build_id_cache.h>
#include <limits.h>

struct perfdata_build_id_cache {
    char *directory; /* without a slash at its end */
    struct pd_context context;
    struct pd_fetch *fetch; /* NULL: debug files are not fetched */
};

/* Room for DIR/PATH/ID/FILE. */
#define PD_CACHE_PATH (2 * PATH_MAX)

/* paths.c: all return false, with errno, where the path has no room or a step fails. */

/* A build-id as text: an even number of lower-case hexadecimal digits, at most 40. */
bool pd_cache_is_id(const char *id);
/* DIR/.build-id/II/REST. */
bool pd_cache_link(const perfdata_build_id_cache *cache, const char *id, char out[PD_CACHE_PATH]);
/* DIR/PATH of the file's real path, or of `path` as it is where the file is gone. */
bool pd_cache_folder(const perfdata_build_id_cache *cache, const char *path,
                     char out[PD_CACHE_PATH]);
/* Reads the path that was kept from the link of a build-id, into `path`. */
bool pd_cache_kept_path(const perfdata_build_id_cache *cache, const char *id,
                        char path[PD_CACHE_PATH]);
/* Makes all folders of `path` up to its last slash. */
bool pd_cache_make_folders(const char *path);
/* A hard link, else a copy that appears whole or not at all. A file that is there already stays. */
bool pd_cache_put_file(const char *from, const char *to);

#endif
