/* SPDX-License-Identifier: MIT */
/* The textbook red-black tree over indices, whose shape perf's symbol lookups depend on. */
#ifndef PD_RBTREE_H
#define PD_RBTREE_H
#include "base/base.h"

/* Nodes are numbered from 1; 0 is the leaf that all share. */
struct pd_rb_node {
    uint32_t left, right, parent;
    bool red;
};

struct pd_rb_tree {
    struct pd_rb_node *nodes; /* capacity + 1 of them, owned by the caller, all zero */
    uint32_t root;
    /* Called after each rotation, which took `up` above `down` from its right (is_left: `down` is
     * now left of it) or from its left; NULL: nobody asks. */
    void (*turned)(void *data, uint32_t down, uint32_t up, bool is_left);
    void *data;
};

/* Adds `node` below its place: right of all with a key not greater. `keys` is indexed by node. */
void pd_rb_insert(struct pd_rb_tree *tree, const uint64_t *keys, uint32_t node);
/* The same for any order, even one that contradicts itself: then the tree's shape decides, as it
 * does for perf. */
void pd_rb_insert_by(struct pd_rb_tree *tree, uint32_t node,
                     bool (*is_before)(const void *data, uint32_t node, uint32_t other),
                     const void *data);
/* The same where the caller has walked down the tree by itself: `parent` has no left (or right)
 * child yet; 0: the tree is empty. */
void pd_rb_link(struct pd_rb_tree *tree, uint32_t node, uint32_t parent, bool left);
/* In the tree's order; 0 at the end. */
uint32_t pd_rb_first(const struct pd_rb_tree *tree);
uint32_t pd_rb_next(const struct pd_rb_tree *tree, uint32_t node);
void pd_rb_erase(struct pd_rb_tree *tree, uint32_t node);

#endif
