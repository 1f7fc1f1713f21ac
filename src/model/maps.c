/* SPDX-License-Identifier: MIT */
/* Maps of a process -> versions of an AVL tree that readers use without locks. */
#include "model/maps.h"
#include <stdlib.h>

/* Functions on trees consume the references that they are given and return one. Nodes that nobody
 * else refers to go back to the free list when taken apart, so a change without sharing allocates
 * nothing. Recursion is as deep as the tree is high, at most 1.44 log2(n). Memory is reserved
 * before a change begins: no change stops half-way. */

enum { SLAB = 512, RESERVE = 1024 };

static bool reserve_nodes(struct pd_map_pool *pool)
{
    while (pool->free_node_count < RESERVE) {
        struct pd_map_node *slab = pd_arena_alloc(&pool->arena, SLAB * sizeof *slab);
        if (!slab)
            return false;
        for (size_t i = 0; i < SLAB; i++) {
            slab[i].left = pool->free_nodes;
            pool->free_nodes = &slab[i];
        }
        pool->free_node_count += SLAB;
    }
    return true;
}

/* Like the nodes: a free map's link lies in its dso field. */
static struct pd_map *take_map(struct pd_map_pool *pool)
{
    struct pd_map *map = pool->free_maps;
    if (!map)
        return pd_arena_alloc(&pool->arena, sizeof *map);
    memcpy(&pool->free_maps, &map->dso, sizeof pool->free_maps);
    return map;
}

struct pd_map *pd_map_new(struct pd_map_pool *pool)
{
    struct pd_map *map = take_map(pool);
    if (!map)
        return NULL;
    memset(map, 0, sizeof *map);
    map->refs = 1;
    return map;
}

static struct pd_map *clone_map(struct pd_map_pool *pool, const struct pd_map *from)
{
    struct pd_map *map = take_map(pool);
    if (!map)
        return NULL;
    memcpy(map, from, sizeof *map);
    atomic_init(&map->hit, false);
    map->refs = 1;
    return map;
}

static void unref_map(struct pd_map_pool *pool, struct pd_map *map)
{
    /* A map that was looked up stays: locations and entries point at it. */
    if (--map->refs || atomic_load_explicit(&map->hit, memory_order_relaxed))
        return;
    memcpy(&map->dso, &pool->free_maps, sizeof pool->free_maps);
    pool->free_maps = map;
}

static void free_node(struct pd_map_pool *pool, struct pd_map_node *node)
{
    node->left = pool->free_nodes;
    pool->free_nodes = node;
    pool->free_node_count++;
}

static void unref_tree(struct pd_map_pool *pool, struct pd_map_node *tree)
{
    while (tree && --tree->refs == 0) {
        struct pd_map_node *right = tree->right;
        unref_tree(pool, tree->left);
        unref_map(pool, tree->map);
        free_node(pool, tree);
        tree = right;
    }
}

PD_INLINE uint32_t height(const struct pd_map_node *tree)
{
    return tree ? tree->height : 0;
}

static struct pd_map_node *make(struct pd_map_pool *pool, struct pd_map_node *left,
                                struct pd_map *map, struct pd_map_node *right)
{
    struct pd_map_node *node = pool->free_nodes;
    pool->free_nodes = node->left;
    pool->free_node_count--;
    *node = (struct pd_map_node){
        .start = map->start, .map = map, .left = left, .right = right, .refs = 1
    };
    node->height = PD_MAX(height(left), height(right)) + 1;
    return node;
}

static void take_apart(struct pd_map_pool *pool, struct pd_map_node *tree,
                       struct pd_map_node **left, struct pd_map **map, struct pd_map_node **right)
{
    *left = tree->left;
    *map = tree->map;
    *right = tree->right;
    if (tree->refs == 1) {
        free_node(pool, tree);
        return;
    }
    tree->refs--;
    tree->map->refs++;
    if (tree->left)
        tree->left->refs++;
    if (tree->right)
        tree->right->refs++;
}

/* Heights of left and right differ by two at most. */
static struct pd_map_node *balance(struct pd_map_pool *pool, struct pd_map_node *left,
                                   struct pd_map *map, struct pd_map_node *right)
{
    struct pd_map_node *a, *b, *c, *d;
    struct pd_map *m, *n;
    if (left && left->height > height(right) + 1) {
        take_apart(pool, left, &a, &m, &b);
        if (!b || height(a) >= b->height)
            return make(pool, a, m, make(pool, b, map, right));
        take_apart(pool, b, &c, &n, &d);
        return make(pool, make(pool, a, m, c), n, make(pool, d, map, right));
    }
    if (right && right->height > height(left) + 1) {
        take_apart(pool, right, &a, &m, &b);
        if (!a || height(b) >= a->height)
            return make(pool, make(pool, left, map, a), m, b);
        take_apart(pool, a, &c, &n, &d);
        return make(pool, make(pool, left, map, c), n, make(pool, d, m, b));
    }
    return make(pool, left, map, right);
}

/* All of left < map < all of right. */
static struct pd_map_node *join(struct pd_map_pool *pool, struct pd_map_node *left,
                                struct pd_map *map, struct pd_map_node *right)
{
    struct pd_map_node *a, *b;
    struct pd_map *m;
    if (left && left->height > height(right) + 1) {
        take_apart(pool, left, &a, &m, &b);
        return balance(pool, a, m, join(pool, b, map, right));
    }
    if (right && right->height > height(left) + 1) {
        take_apart(pool, right, &a, &m, &b);
        return balance(pool, join(pool, left, map, a), m, b);
    }
    return make(pool, left, map, right);
}

/* Maps that start before `key`, and the others. */
static void split(struct pd_map_pool *pool, struct pd_map_node *tree, uint64_t key,
                  struct pd_map_node **before, struct pd_map_node **from)
{
    struct pd_map_node *left, *right, *middle;
    struct pd_map *map;
    if (!tree) {
        *before = *from = NULL;
        return;
    }
    take_apart(pool, tree, &left, &map, &right);
    if (map->start < key) {
        split(pool, right, key, &middle, from);
        *before = join(pool, left, map, middle);
    } else {
        split(pool, left, key, before, &middle);
        *from = join(pool, middle, map, right);
    }
}

/* The tree without its last map, whose reference the caller gets. */
static struct pd_map_node *take_last(struct pd_map_pool *pool, struct pd_map_node *tree,
                                     struct pd_map **last)
{
    struct pd_map_node *left, *right;
    struct pd_map *map;
    take_apart(pool, tree, &left, &map, &right);
    if (!right) {
        *last = map;
        return left;
    }
    return balance(pool, left, map, take_last(pool, right, last));
}

/* The last map of a tree that is not empty. */
static const struct pd_map *last_of(const struct pd_map_node *tree)
{
    while (tree->right)
        tree = tree->right;
    return tree->map;
}

static struct pd_map_node *concat(struct pd_map_pool *pool, struct pd_map_node *left,
                                  struct pd_map_node *right)
{
    struct pd_map *last;
    if (!left)
        return right;
    left = take_last(pool, left, &last);
    return join(pool, left, last, right);
}

/* The part of `map` behind `end`. */
static struct pd_map *part_after(struct pd_map_pool *pool, const struct pd_map *map, uint64_t end,
                                 uint64_t number)
{
    struct pd_map *after = clone_map(pool, map);
    if (!after)
        return NULL;
    after->pgoff += end - map->start;
    after->start = end;
    after->number = number;
    return after;
}

/* Leaves a hole at [start, end), whose borders are inside the pieces that are made. */
static bool cut_out(struct pd_map_pool *pool, struct pd_map_node **tree, uint64_t start,
                    uint64_t end, uint64_t number, struct pd_map_node **behind)
{
    struct pd_map_node *left, *rest, *middle, *right;
    struct pd_map *before = NULL, *after = NULL, *cut = NULL;
    const struct pd_map *touched = NULL;
    split(pool, *tree, start, &left, &rest);
    split(pool, rest, end, &middle, &right);
    bool ok = true;
    if (left && last_of(left)->end > start) {
        left = take_last(pool, left, &cut);
        before = clone_map(pool, cut);
        if (before) {
            before->end = start;
            before->number = number;
            left = join(pool, left, before, NULL);
        } else {
            ok = false;
        }
        touched = cut;
    }
    if (middle)
        touched = last_of(middle);
    if (touched && touched->end > end) {
        after = part_after(pool, touched, end, number);
        if (after)
            right = join(pool, NULL, after, right);
        else
            ok = false;
    }
    unref_tree(pool, middle);
    if (cut)
        unref_map(pool, cut);
    *tree = left;
    *behind = right;
    return ok;
}

static void change(struct pd_map_pool *pool, struct pd_map_set *set)
{
    set->dirty = true;
    pool->changes++;
}

perfdata_status pd_map_set_insert(struct pd_map_pool *pool, struct pd_map_set *set,
                                  struct pd_map *map)
{
    if (map->start >= map->end || !reserve_nodes(pool)) {
        bool empty = map->start >= map->end;
        unref_map(pool, map);
        return empty ? PERFDATA_ERROR_BAD_RECORD : PERFDATA_ERROR_MEMORY;
    }
    struct pd_map_node *behind;
    bool ok = cut_out(pool, &set->root, map->start, map->end, map->number, &behind);
    set->root = join(pool, set->root, map, behind);
    change(pool, set);
    return ok ? 0 : PERFDATA_ERROR_MEMORY;
}

/* The first map that ends behind `at`. */
static const struct pd_map *first_behind(const struct pd_map_node *tree, uint64_t at)
{
    const struct pd_map *found = NULL;
    while (tree) {
        if (tree->map->end > at) {
            found = tree->map;
            tree = tree->left;
        } else {
            tree = tree->right;
        }
    }
    return found;
}

perfdata_status pd_map_set_insert_below(struct pd_map_pool *pool, struct pd_map_set *set,
                                        struct pd_map *map)
{
    perfdata_status status = map->start < map->end ? 0 : PERFDATA_ERROR_BAD_RECORD;
    uint64_t at = map->start;
    while (status == 0 && at < map->end) {
        const struct pd_map *other = first_behind(set->root, at);
        uint64_t until = other && other->start < map->end ? PD_MAX(other->start, at) : map->end;
        uint64_t next = other && other->start < map->end ? other->end : map->end;
        if (until > at) {
            struct pd_map *piece = part_after(pool, map, at, map->number);
            if (!piece) {
                status = PERFDATA_ERROR_MEMORY;
                break;
            }
            piece->end = until;
            status = pd_map_set_insert(pool, set, piece);
        }
        at = next;
    }
    unref_map(pool, map);
    return status;
}

perfdata_status pd_map_set_remove(struct pd_map_pool *pool, struct pd_map_set *set, uint64_t start)
{
    struct pd_map_node *left, *rest, *middle, *right;
    if (!reserve_nodes(pool))
        return PERFDATA_ERROR_MEMORY;
    split(pool, set->root, start, &left, &rest);
    if (start == UINT64_MAX) {
        middle = rest;
        right = NULL;
    } else {
        split(pool, rest, start + 1, &middle, &right);
    }
    unref_tree(pool, middle);
    set->root = concat(pool, left, right);
    change(pool, set);
    return 0;
}

void pd_map_set_share(struct pd_map_pool *pool, struct pd_map_set *set,
                      const struct pd_map_set *from)
{
    if (from->root)
        from->root->refs++;
    unref_tree(pool, set->root);
    set->root = from->root;
    change(pool, set);
}

/* The last map that begins at the address or before, or NULL; *until: where the next one begins. */
PD_INLINE const struct pd_map *last_upto(const struct pd_map_node *root, uint64_t ip,
                                         uint64_t *until)
{
    const struct pd_map_node *best = NULL;
    *until = UINT64_MAX;
    while (root) {
        if (ip < root->start) {
            *until = root->start;
            root = root->left;
        } else {
            best = root;
            root = root->right;
        }
    }
    return best ? best->map : NULL;
}

const struct pd_map *pd_map_node_find(const struct pd_map_node *root, uint64_t ip)
{
    uint64_t until;
    const struct pd_map *map = last_upto(root, ip, &until);
    return map && ip < map->end ? map : NULL;
}

const struct pd_map *pd_map_node_find_or_gap(const struct pd_map_node *root, uint64_t ip,
                                             struct pd_map_gap *gap)
{
    uint64_t until;
    const struct pd_map *map = last_upto(root, ip, &until);
    if (map && ip < map->end)
        return map;
    gap->from = map ? map->end : 0;
    gap->size = until - gap->from;
    return NULL;
}

const struct pd_map *pd_map_set_find_now(const struct pd_map_set *set, uint64_t ip)
{
    return pd_map_node_find(set->root, ip);
}

int pd_map_node_each(const struct pd_map_node *root,
                     int (*each)(void *data, const struct pd_map *map), void *data)
{
    for (; root; root = root->right) {
        int result = pd_map_node_each(root->left, each, data);
        if (!result)
            result = each(data, root->map);
        if (result)
            return result;
    }
    return 0;
}

/* ---- sets and versions ---- */

struct pd_map_set *pd_map_set_new(struct pd_map_pool *pool)
{
    return pd_arena_zalloc(&pool->arena, sizeof(struct pd_map_set));
}

static struct pd_map_version *before_of(const struct pd_map_version *version)
{
    return (struct pd_map_version *)version->version.before;
}

bool pd_map_set_publish(struct pd_map_pool *pool, struct pd_map_set *set, uint64_t number)
{
    struct pd_map_version *before = atomic_load_explicit(&set->versions, memory_order_relaxed);
    set->dirty = false;
    if (set->root == (before ? before->root : NULL))
        return true;
    struct pd_map_version *version = pool->free_versions;
    if (version)
        pool->free_versions = before_of(version);
    else
        version = pd_arena_alloc(&pool->arena, sizeof *version);
    if (!version) {
        set->dirty = true;
        return false;
    }
    if (set->root) {
        set->root->refs++;
        if (!set->root->stamp)
            set->root->stamp = ++pool->next_stamp + PD_MAPS_EMPTY_STAMP;
    }
    pd_version_follow(&version->version, number, before ? &before->version : NULL, pool->retired);
    version->stamp = set->root ? set->root->stamp : PD_MAPS_EMPTY_STAMP;
    version->root = set->root;
    atomic_store_explicit(&set->versions, version, memory_order_release);
    if (before && !set->in_old) {
        set->in_old = true;
        set->next_old = pool->old;
        pool->old = set;
    }
    return true;
}

static void free_version(struct pd_map_pool *pool, struct pd_map_version *version)
{
    unref_tree(pool, version->root);
    version->version.before = pool->free_versions ? &pool->free_versions->version : NULL;
    pool->free_versions = version;
}

static void free_versions(struct pd_map_pool *pool, struct pd_map_version *version)
{
    while (version) {
        struct pd_map_version *before = before_of(version);
        free_version(pool, version);
        version = before;
    }
}

void pd_map_set_bury(struct pd_map_pool *pool, struct pd_map_set *set, uint64_t number)
{
    set->dead_at = number;
    set->next_dead = pool->dead;
    pool->dead = set;
}

/* Newest version that `number` needs; older ones go. */
static void trim(struct pd_map_pool *pool, struct pd_map_set *set, uint64_t number)
{
    struct pd_map_version *version = (struct pd_map_version *)pd_map_set_at(set, number, NULL);
    if (version) {
        free_versions(pool, before_of(version));
        version->version.before = NULL;
    }
}

void pd_map_pool_retire(struct pd_map_pool *pool, uint64_t number)
{
    struct pd_map_set **link = &pool->old, *set;
    pool->retired = PD_MAX(pool->retired, number);
    while ((set = *link) != NULL) {
        trim(pool, set, number);
        struct pd_map_version *newest = atomic_load_explicit(&set->versions, memory_order_relaxed);
        if (newest && newest->version.before) {
            link = &set->next_old;
        } else {
            set->in_old = false;
            *link = set->next_old;
        }
    }
    link = &pool->dead;
    while ((set = *link) != NULL) {
        if (set->dead_at >= number) {
            link = &set->next_dead;
            continue;
        }
        *link = set->next_dead;
        free_versions(pool, atomic_load_explicit(&set->versions, memory_order_relaxed));
        atomic_store_explicit(&set->versions, NULL, memory_order_relaxed);
        unref_tree(pool, set->root);
        set->root = NULL;
        set->dirty = false;
    }
}

void pd_map_pool_free(struct pd_map_pool *pool)
{
    pd_arena_free(&pool->arena);
}
