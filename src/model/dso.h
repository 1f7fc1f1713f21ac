/* SPDX-License-Identifier: MIT */
/* The table of DSOs: who is who by name, device and inode, in perf's order of creation. */
#ifndef PD_MODEL_DSO_H
#define PD_MODEL_DSO_H
#include "base/hash.h"
#include "base/intern.h"
#include "model/model.h"

struct pd_dso_id {
    uint32_t maj, min;
    uint64_t ino, ino_generation;
};

struct pd_dso_table {
    struct pd_intern *names; /* a guest's are among its host's, so that ids tell them apart */
    struct pd_intern own_names;
    uint32_t *total, own_total; /* of all machines */
    struct pd_arena arena;
    PD_VEC(struct pd_dso *) dsos;
    PD_VEC(uint32_t) next_long;  /* by DSO: the next of the same long name + 1, 0 none */
    PD_VEC(uint32_t) first_long; /* by name: DSO + 1 */
    PD_VEC(uint32_t) last_long;
    PD_VEC(uint32_t) first_short; /* by name: DSO + 1 */
    struct pd_map64 first_id; /* hash of a build-id -> the first object of the kernel's with it */
};

void pd_dso_table_free(struct pd_dso_table *table);

/* perf's name of a module or simple name: "[snd_pcm]" for "/lib/.../snd-pcm.ko.xz". True when it is
 * a module. */
bool pd_module_name(const char *path, size_t length, struct pd_text *out);

/* All of these return NULL without memory, and the find functions also when there is no such
 * object. `id` may be NULL. */
struct pd_dso *pd_dso_find_long(const struct pd_dso_table *table, const char *name, size_t length,
                                const struct pd_dso_id *id);
struct pd_dso *pd_dso_find_short(const struct pd_dso_table *table, const char *name, size_t length);
struct pd_dso *pd_dso_findnew(struct pd_dso_table *table, const char *name, size_t length,
                              const struct pd_dso_id *id);
/* Named `name`, with another long name; short name as its base name. */
struct pd_dso *pd_dso_add(struct pd_dso_table *table, const char *name, size_t length,
                          const char *long_name, size_t long_length, const struct pd_dso_id *id);
/* Outside the list: a KSYMBOL's. All three names are the same. */
struct pd_dso *pd_dso_add_unlisted(struct pd_dso_table *table, const char *name, size_t length);
bool pd_dso_set_short_name(struct pd_dso_table *table, struct pd_dso *dso, const char *name,
                           size_t length);
/* Checks whether another object has the build-id that this one has just got; returns that other
 * object, or NULL. No two of the kernel and its modules may have the same, but perf 6.17 to 6.19
 * gave all modules the first one's. To be called before readers see the object. */
const struct pd_dso *pd_dso_check_id(struct pd_dso_table *table, struct pd_dso *dso);
/* No effect once readers see the DSO with an id. */
void pd_dso_set_build_id(struct pd_dso *dso, const uint8_t *id, size_t size);

#endif
