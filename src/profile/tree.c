/* SPDX-License-Identifier: MIT */
/* Weighed stacks -> a tree of keys, from callers to callees or turned round. */
#include "profile/query.h"
#include "base/hash.h"
#include <stdlib.h>

struct growing {
    PD_VEC(struct perfdata_node) nodes;
    struct pd_map64 places; /* (parent, key) */
};

/* The node of a key below another; PERFDATA_NONE: no memory. */
static uint32_t node_below(const struct pd_query *query, struct growing *tree, uint32_t parent,
                           uint32_t key)
{
    uint64_t place = (uint64_t)parent << 32 | key;
    uint32_t id = pd_map64_get(&tree->places, place);
    if (id != PD_MAP64_NONE)
        return id;
    id = (uint32_t)tree->nodes.count;
    struct perfdata_node node = { .parent = parent, .key = pd_query_shown(query, key) };
    return id != PERFDATA_NONE && pd_vec_push(&tree->nodes, node) &&
                   pd_map64_set(&tree->places, place, id)
               ? id
               : PERFDATA_NONE;
}

/* ---- from callers to callees: a node of a stack lies below that of its caller ---- */

/* Marks the stacks that need a node: those with samples, or with callees that have some. */
static bool *mark_needed(const struct pd_query *query)
{
    const perfdata_profile *profile = query->profile;
    bool *needed = calloc((size_t)profile->stacks.count + 1, sizeof *needed);
    for (uint32_t i = profile->stacks.count; needed && i-- > 0;) {
        uint32_t parent = pd_profile_stack(profile, i)->parent;
        needed[i] |= query->own[i].count != 0;
        if (needed[i] && parent != PERFDATA_NONE)
            needed[parent] = true;
    }
    return needed;
}

static bool grow_down(const struct pd_query *query, struct growing *tree)
{
    const perfdata_profile *profile = query->profile;
    uint32_t focus = query->asked.focus, count = profile->stacks.count;
    bool *needed = mark_needed(query);
    uint32_t *node_of = malloc(((size_t)count + 1) * sizeof *node_of);
    bool ok = needed && node_of;
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t parent = pd_profile_stack(profile, i)->parent, key;
        node_of[i] = parent == PERFDATA_NONE ? PERFDATA_NONE : node_of[parent];
        if (!needed[i])
            continue;
        key = pd_query_key(query, i);
        if (node_of[i] == PERFDATA_NONE && focus != PERFDATA_NONE &&
            pd_query_shown(query, key) != focus)
            continue;
        node_of[i] = node_below(query, tree, node_of[i], key);
        ok = node_of[i] != PERFDATA_NONE;
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        uint32_t self = query->own[i].count ? pd_query_self(query, i) : i;
        uint32_t node = node_of[self], last = node_of[i];
        if (!query->own[i].count || last == PERFDATA_NONE)
            continue;
        /* the stack may end above the function that the tree begins with */
        node = node == PERFDATA_NONE ? last : node;
        tree->nodes.data[node].self_count += query->own[i].count; /* NOLINT: the node was pushed */
        tree->nodes.data[node].self_weight += query->own[i].weight;
        tree->nodes.data[last].total_count += query->own[i].count;
        tree->nodes.data[last].total_weight += query->own[i].weight;
    }
    for (size_t i = tree->nodes.count; ok && i-- > 0;) {
        const struct perfdata_node *node = &tree->nodes.data[i];
        if (node->parent == PERFDATA_NONE)
            continue;
        tree->nodes.data[node->parent].total_count += node->total_count;
        tree->nodes.data[node->parent].total_weight += node->total_weight;
    }
    free(needed);
    free(node_of);
    return ok;
}

/* ---- turned round: each stack is walked from its callee ---- */

static bool climb(const struct pd_query *query, struct growing *tree, uint32_t stack)
{
    const struct pd_weight *own = &query->own[stack];
    uint32_t node = PERFDATA_NONE, focus = query->asked.focus, at = stack;
    if (focus == PERFDATA_NONE)
        at = pd_query_self(query, stack);
    while (at != PERFDATA_NONE && focus != PERFDATA_NONE &&
           pd_query_shown(query, pd_query_key(query, at)) != focus)
        at = pd_profile_stack(query->profile, at)->parent;
    for (; at != PERFDATA_NONE; at = pd_profile_stack(query->profile, at)->parent) {
        node = node_below(query, tree, node, pd_query_key(query, at));
        if (node == PERFDATA_NONE)
            return false;
        tree->nodes.data[node].total_count += own->count; /* NOLINT: the node was pushed */
        tree->nodes.data[node].total_weight += own->weight;
    }
    if (node != PERFDATA_NONE) {
        tree->nodes.data[node].self_count += own->count;
        tree->nodes.data[node].self_weight += own->weight;
    }
    return true;
}

static bool grow_up(const struct pd_query *query, struct growing *tree)
{
    for (uint32_t i = 0; i < query->profile->stacks.count; i++)
        if (query->own[i].count && !climb(query, tree, i))
            return false;
    return true;
}

perfdata_status perfdata_profile_tree(const perfdata_profile *profile,
                                      const struct perfdata_query *query,
                                      struct perfdata_node **nodes, size_t *count)
{
    struct pd_query open;
    struct growing tree = { 0 };
    *nodes = NULL;
    *count = 0;
    perfdata_status status = pd_query_open(profile, query, &open);
    if (status < 0)
        return status;
    bool ok = open.asked.flags & PERFDATA_QUERY_CALLERS ? grow_up(&open, &tree)
                                                        : grow_down(&open, &tree);
    pd_map64_free(&tree.places);
    pd_query_close(&open);
    if (!ok) {
        pd_vec_free(&tree.nodes);
        return PERFDATA_ERROR_MEMORY;
    }
    *nodes = tree.nodes.data;
    *count = tree.nodes.count;
    return PERFDATA_OK;
}
