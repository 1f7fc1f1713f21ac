/* SPDX-License-Identifier: MIT */
/* Shared by the files of this layer that look for objects. */
#ifndef PD_OBJECT_INTERNAL_H
#define PD_OBJECT_INTERNAL_H
#include "object/elf/symbols.h"
#include "object/object.h"

#define PD_PATH_ROOM 4096

/* Writes SYMFS/path; false: too long. */
bool pd_search_path(const struct pd_object_search *search, const char *path, char *out);
/* The cache's file for a build-id: `leaf` is "elf", "debug" or "vdso". False: no cache. */
bool pd_search_cache_path(const struct pd_object_search *search, const struct pd_build_id *id,
                          const char *leaf, char *out);
/* The cache's folder. */
bool pd_search_cache(const struct pd_object_search *search, char *out);
bool pd_is_vdso_name(const char *name);
/* The vdso of this very process; *size 0: none, or it would be looked for below symfs. */
const void *pd_search_own_vdso(const struct pd_object_search *search, size_t *size);
enum pd_demangle pd_search_demangle(const struct pd_object_search *search, bool kernel);

/* NULL without memory. */
struct pd_object *pd_object_new(void);
/* Gives the object to the caller, with an empty table if it has none yet, or frees it if `status`
 * is a failure. */
perfdata_status pd_object_give(struct pd_object *object, perfdata_status status,
                               struct pd_object **out);

#endif
