/* SPDX-License-Identifier: MIT */
/* Sets of maps with versions: a persistent AVL tree. A change copies O(log n) nodes of what others
 * share; a fork shares the root. One writer; readers hold a version by its delivery number and take
 * no lock. */
#ifndef PD_MODEL_MAPS_H
#define PD_MODEL_MAPS_H
#include "base/arena.h"
#include "model/model.h"
#include <stdatomic.h>

struct pd_map_node {
    uint64_t start; /* of the map, beside the links that a look-up follows */
    struct pd_map *map;
    struct pd_map_node *left, *right;
    uint64_t stamp; /* 0: not published as a root yet */
    uint32_t refs;  /* the writer's */
    uint32_t height;
};

struct pd_map_version {
    struct pd_version version;
    uint64_t stamp;
    struct pd_map_node *root;
};

/* The maps of a process, shared by its threads. */
struct pd_map_set {
    struct pd_map_version *_Atomic versions; /* newest first; NULL: empty */
    /* the writer's */
    struct pd_map_node *root;
    struct pd_map_set *next_old;  /* in the pool's list of sets to trim */
    struct pd_map_set *next_dead; /* in its list of sets to drop */
    uint64_t dead_at;
    uint32_t threads; /* current ones that share it */
    bool dirty, in_old;
};

/* Where nodes, maps and versions of a timeline come from; zeroed is ready. */
struct pd_map_pool {
    struct pd_arena arena;
    struct pd_map_node *free_nodes;
    size_t free_node_count;
    struct pd_map *free_maps;
    struct pd_map_version *free_versions;
    struct pd_map_set *old, *dead;
    uint64_t next_stamp;
    uint64_t retired; /* no reader asks for what held before it */
    uint64_t changes; /* of its sets, and of who has them */
};

#define PD_MAPS_EMPTY_STAMP 1

void pd_map_pool_free(struct pd_map_pool *pool);

/* A map with one reference, zeroed; NULL without memory. */
struct pd_map *pd_map_new(struct pd_map_pool *pool);
struct pd_map_set *pd_map_set_new(struct pd_map_pool *pool);

/* Takes the reference of `map`. What it overlaps is cut; pieces hold from map->number. */
perfdata_status pd_map_set_insert(struct pd_map_pool *pool, struct pd_map_set *set,
                                  struct pd_map *map);
/* Takes the reference; the maps that are there already win. */
perfdata_status pd_map_set_insert_below(struct pd_map_pool *pool, struct pd_map_set *set,
                                        struct pd_map *map);
/* Removes the map that starts there, if any. */
perfdata_status pd_map_set_remove(struct pd_map_pool *pool, struct pd_map_set *set, uint64_t start);
/* `set` becomes a copy of `from`: the root is shared. */
void pd_map_set_share(struct pd_map_pool *pool, struct pd_map_set *set,
                      const struct pd_map_set *from);
/* What the writer sees. */
const struct pd_map *pd_map_set_find_now(const struct pd_map_set *set, uint64_t ip);
int pd_map_node_each(const struct pd_map_node *root,
                     int (*each)(void *data, const struct pd_map *map), void *data);

/* Makes a version of what changed; only when set->dirty. False without memory. */
bool pd_map_set_publish(struct pd_map_pool *pool, struct pd_map_set *set, uint64_t number);
/* No thread uses the set from `number` on. */
void pd_map_set_bury(struct pd_map_pool *pool, struct pd_map_set *set, uint64_t number);
void pd_map_pool_retire(struct pd_map_pool *pool, uint64_t number);

/* ---- readers ---- */

/* As pd_version_at(). */
PD_INLINE const struct pd_map_version *pd_map_set_at(const struct pd_map_set *set, uint64_t number,
                                                     uint64_t *until)
{
    const struct pd_map_version *newest = atomic_load_explicit(&set->versions,
                                                               memory_order_acquire);
    return newest ? (const struct pd_map_version *)pd_version_at(&newest->version, number, until)
                  : NULL;
}

const struct pd_map *pd_map_node_find(const struct pd_map_node *root, uint64_t ip);
/* The same; NULL: *gap is set. */
const struct pd_map *pd_map_node_find_or_gap(const struct pd_map_node *root, uint64_t ip,
                                             struct pd_map_gap *gap);

#endif
