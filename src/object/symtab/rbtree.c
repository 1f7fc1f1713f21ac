/* SPDX-License-Identifier: MIT */
/* The textbook red-black tree over indices: look-ups of symbols and the order of rows depend on its
 * shape. */
#include "object/symtab/rbtree.h"

/* `node` goes down to the left (or right), its other child takes its place. */
static void rotate(struct pd_rb_tree *tree, uint32_t node, bool left)
{
    struct pd_rb_node *n = tree->nodes;
    uint32_t up = left ? n[node].right : n[node].left;
    uint32_t inner = left ? n[up].left : n[up].right;
    uint32_t parent = n[node].parent;

    if (left)
        n[node].right = inner;
    else
        n[node].left = inner;
    if (inner)
        n[inner].parent = node;
    n[up].parent = parent;
    if (!parent)
        tree->root = up;
    else if (n[parent].left == node)
        n[parent].left = up;
    else
        n[parent].right = up;
    if (left)
        n[up].left = node;
    else
        n[up].right = node;
    n[node].parent = up;
    if (PD_UNLIKELY(tree->turned != NULL))
        tree->turned(tree->data, node, up, left);
}

static void repair_insert(struct pd_rb_tree *tree, uint32_t node)
{
    struct pd_rb_node *n = tree->nodes;

    while (n[n[node].parent].red) {
        uint32_t parent = n[node].parent, grand = n[parent].parent;
        bool is_left = parent == n[grand].left;
        uint32_t uncle = is_left ? n[grand].right : n[grand].left;

        if (n[uncle].red) {
            n[parent].red = n[uncle].red = false;
            n[grand].red = true;
            node = grand;
            continue;
        }
        if (node == (is_left ? n[parent].right : n[parent].left)) {
            rotate(tree, parent, is_left);
            node = parent;
            parent = n[node].parent;
        }
        n[parent].red = false;
        n[grand].red = true;
        rotate(tree, grand, !is_left);
    }
    n[tree->root].red = false;
}

void pd_rb_link(struct pd_rb_tree *tree, uint32_t node, uint32_t parent, bool left)
{
    struct pd_rb_node *n = tree->nodes;

    n[node] = (struct pd_rb_node){ .parent = parent, .red = true };
    if (!parent)
        tree->root = node;
    else if (left)
        n[parent].left = node;
    else
        n[parent].right = node;
    repair_insert(tree, node);
}

void pd_rb_insert(struct pd_rb_tree *tree, const uint64_t *keys, uint32_t node)
{
    struct pd_rb_node *n = tree->nodes;
    uint32_t parent = 0, at = tree->root;
    bool left = false;

    while (at) {
        parent = at;
        left = keys[node] < keys[at];
        at = left ? n[at].left : n[at].right;
    }
    pd_rb_link(tree, node, parent, left);
}

void pd_rb_insert_by(struct pd_rb_tree *tree, uint32_t node,
                     bool (*is_before)(const void *data, uint32_t node, uint32_t other),
                     const void *data)
{
    struct pd_rb_node *n = tree->nodes;
    uint32_t parent = 0, at = tree->root;
    bool left = false;

    while (at) {
        parent = at;
        left = is_before(data, node, at);
        at = left ? n[at].left : n[at].right;
    }
    pd_rb_link(tree, node, parent, left);
}

uint32_t pd_rb_first(const struct pd_rb_tree *tree)
{
    uint32_t node = tree->root;

    while (node && tree->nodes[node].left)
        node = tree->nodes[node].left;
    return node;
}

uint32_t pd_rb_next(const struct pd_rb_tree *tree, uint32_t node)
{
    const struct pd_rb_node *n = tree->nodes;

    if (n[node].right) {
        node = n[node].right;
        while (n[node].left)
            node = n[node].left;
        return node;
    }
    while (n[node].parent && node == n[n[node].parent].right)
        node = n[node].parent;
    return n[node].parent;
}

static void replace(struct pd_rb_tree *tree, uint32_t old, uint32_t by)
{
    struct pd_rb_node *n = tree->nodes;
    uint32_t parent = n[old].parent;

    if (!parent)
        tree->root = by;
    else if (n[parent].left == old)
        n[parent].left = by;
    else
        n[parent].right = by;
    n[by].parent = parent; /* of the shared leaf too: repair_erase starts there */
}

static void repair_erase(struct pd_rb_tree *tree, uint32_t node)
{
    struct pd_rb_node *n = tree->nodes;

    while (node != tree->root && !n[node].red) {
        uint32_t parent = n[node].parent;
        bool is_left = node == n[parent].left;
        uint32_t sibling = is_left ? n[parent].right : n[parent].left;

        if (n[sibling].red) {
            n[sibling].red = false;
            n[parent].red = true;
            rotate(tree, parent, is_left);
            sibling = is_left ? n[parent].right : n[parent].left;
        }
        uint32_t near = is_left ? n[sibling].left : n[sibling].right;
        uint32_t far = is_left ? n[sibling].right : n[sibling].left;
        if (!n[near].red && !n[far].red) {
            n[sibling].red = true;
            node = parent;
            continue;
        }
        if (!n[far].red) {
            n[near].red = false;
            n[sibling].red = true;
            rotate(tree, sibling, !is_left);
            sibling = is_left ? n[parent].right : n[parent].left;
            far = is_left ? n[sibling].right : n[sibling].left;
        }
        n[sibling].red = n[parent].red;
        n[parent].red = n[far].red = false;
        rotate(tree, parent, is_left);
        node = tree->root;
    }
    n[node].red = false;
}

void pd_rb_erase(struct pd_rb_tree *tree, uint32_t node)
{
    struct pd_rb_node *n = tree->nodes;
    uint32_t child;
    bool was_red = n[node].red;

    if (!n[node].left || !n[node].right) {
        child = n[node].left ? n[node].left : n[node].right;
        replace(tree, node, child);
    } else {
        uint32_t next = n[node].right;
        while (n[next].left)
            next = n[next].left;
        was_red = n[next].red;
        child = n[next].right;
        if (n[next].parent == node) {
            n[child].parent = next;
        } else {
            replace(tree, next, child);
            n[next].right = n[node].right;
            n[n[next].right].parent = next;
        }
        replace(tree, node, next);
        n[next].left = n[node].left;
        n[n[next].left].parent = next;
        n[next].red = n[node].red;
    }
    if (!was_red)
        repair_erase(tree, child);
    n[0] = (struct pd_rb_node){ 0 };
}
