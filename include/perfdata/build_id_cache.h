/* SPDX-License-Identifier: MIT */
/* The build-id cache: a folder (perf's is HOME/.debug) that keeps programs and libraries by their
 * build-ids, so that a recording can be resolved after they were replaced. Its layout is perf's:
 * DIR/PATH/ID/elf, and with it debug where the system has a debug file of that build-id;
 * DIR/.build-id/II/REST is a link to DIR/PATH/ID. */
#ifndef PERFDATA_BUILD_ID_CACHE_H
#define PERFDATA_BUILD_ID_CACHE_H
#include <perfdata/status.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Room for a build-id in hexadecimal, with its NUL. Since 0.1. */
#define PERFDATA_BUILD_ID_TEXT 41

typedef struct perfdata_build_id_cache perfdata_build_id_cache;

/* Where the cache is: `dir`, else what the setting buildid.dir of a perfconfig says, else
 * `home`/.debug. Strings are borrowed for the call. Since 0.1. */
struct perfdata_build_id_cache_options {
    size_t struct_size;
    const char *dir, *home;
    const char *perf_config; /* read in place of /etc/perfconfig and home's; NULL: these */
    /* With each file that is kept its debug file is, from a server where this machine has none;
     * NULL: none is fetched. */
    const struct perfdata_debuginfod *debuginfod;
    /* Told why a debug file could not be fetched, or nothing at all can be; may be NULL. */
    void (*on_issue)(void *data, const struct perfdata_issue *issue);
    void *issue_data;
};

/* Nothing is read or made yet. The caller closes it. PERFDATA_ERROR_ARGUMENT: no directory can be
 * told; PERFDATA_ERROR_UNSUPPORTED: nothing can be fetched. Since 0.1. */
PERFDATA_API perfdata_status perfdata_build_id_cache_open(
    const struct perfdata_build_id_cache_options *options, perfdata_build_id_cache **out);
PERFDATA_API void perfdata_build_id_cache_close(perfdata_build_id_cache *cache);
/* Its directory; lives as long as the cache. Since 0.1. */
PERFDATA_API const char *perfdata_build_id_cache_directory(const perfdata_build_id_cache *cache);

/* Keeps the ELF file: a hard link where the file system allows it, else a copy. What is there
 * already under that path and build-id stays. `id` gets its build-id, "" where it has none. Costs a
 * copy of the file at most. For all of these, errno says more:
 *   PERFDATA_ERROR_NOT_FOUND  the file cannot be read, is no ELF file or has no build-id
 *   PERFDATA_ERROR_OUTPUT     the cache cannot be written
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_build_id_cache_add(perfdata_build_id_cache *cache,
                                                         const char *path,
                                                         char id[PERFDATA_BUILD_ID_TEXT]);
/* Keeps a copy of a kernel's code: of `path`, a kcore as /proc has it, the parts that are the
 * kernel and its modules, with the files kallsyms and modules beside it, below
 * DIR/[kernel.kcore]/ID/TIME. The build-id is that of sys/kernel/notes beside the folder they are
 * in. Where a copy of the kernel, loaded at the same place with the same modules, is kept already,
 * nothing is copied and *is_new is 0, else 1. `folder` (of `size` bytes, cut; may be NULL) gets
 * where the copy is. Costs some 20 to 60 MB read and written. Status as of
 * perfdata_build_id_cache_add(); besides PERFDATA_ERROR_UNSUPPORTED: no core file of 64 bits. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_build_id_cache_add_kcore(perfdata_build_id_cache *cache,
                                                               const char *path, char *folder,
                                                               size_t size, int *is_new);
/* Removes what is kept under the build-id that the file has now. PERFDATA_ERROR_NO_DATA: the cache
 * has none of it; else as above. Since 0.1. */
PERFDATA_API perfdata_status perfdata_build_id_cache_remove(perfdata_build_id_cache *cache,
                                                            const char *path,
                                                            char id[PERFDATA_BUILD_ID_TEXT]);
/* Removes what is kept under this build-id, in hexadecimal. Since 0.1. */
PERFDATA_API perfdata_status perfdata_build_id_cache_remove_id(perfdata_build_id_cache *cache,
                                                               const char *id);
/* Whether something is kept under this build-id, in hexadecimal: 1 or 0. Since 0.1. */
PERFDATA_API int perfdata_build_id_cache_has(const perfdata_build_id_cache *cache, const char *id);

/* Where it is kept, below the cache's directory: "usr/bin/app/ID". *length: of `path` with its NUL,
 * which is written where `size` has room for it. PERFDATA_ERROR_NO_DATA: nothing is. Since 0.1. */
PERFDATA_API perfdata_status perfdata_build_id_cache_path(const perfdata_build_id_cache *cache,
                                                          const char *id, char *path, size_t size,
                                                          size_t *length);

/* One that is kept. `path` is the file's, or a name as "[kernel.kallsyms]". Borrowed for the call;
 * a result other than 0 ends the list. Since 0.1. */
typedef int (*perfdata_build_id_cache_fn)(void *data, const char *id, const char *path);

/* Also those whose file has another build-id by now (hard links change with the file). Since
 * 0.1. */
#define PERFDATA_BUILD_ID_CACHE_STALE 1u

/* All that are kept, in the order of their build-ids. Entries may be removed meanwhile. Cost: reads
 * each file's notes, unless STALE is given. Since 0.1. */
PERFDATA_API perfdata_status perfdata_build_id_cache_list(const perfdata_build_id_cache *cache,
                                                          unsigned flags,
                                                          perfdata_build_id_cache_fn each,
                                                          void *data);
/* All build-ids that are kept of this path, of older versions of the file too.
 * PERFDATA_ERROR_NO_DATA: the cache never had the file. Since 0.1. */
PERFDATA_API perfdata_status perfdata_build_id_cache_list_path(const perfdata_build_id_cache *cache,
                                                               const char *path,
                                                               perfdata_build_id_cache_fn each,
                                                               void *data);

#ifdef __cplusplus
}
#endif
#endif
