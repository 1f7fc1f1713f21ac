/* SPDX-License-Identifier: MIT */
/* The children of a node of call chains -> perf's order, which need not be a total one. */
#include "analyse/siblings.h"
#include <stdlib.h>

struct ordering {
    const struct pd_hist *hist;
    const struct pd_chain_tree *tree;
    bool (*precedes)(const struct ordering *ordering, uint64_t a, uint64_t b);
};

static const struct pd_chain_item *item_of(const struct ordering *ordering, uint64_t group)
{
    return &ordering->tree->items.data[group >> 32];
}

static const struct pd_hist_frame *frame_of(const struct ordering *ordering, uint64_t group)
{
    const struct pd_hist *hist = ordering->hist;
    return &hist->frames.data[hist->cells.data[item_of(ordering, group)->cell].frame];
}

/* Inlined functions are told apart by their names. Processes may have the object at different
 * addresses, which tell where one of two functions is unknown; where both are known, their places
 * in the object do, which is what the rank goes by. */
static bool is_before(const struct ordering *ordering, uint64_t a, uint64_t b)
{
    const struct pd_hist_frame *left = frame_of(ordering, a), *right = frame_of(ordering, b);
    const bool known = left->symbol && right->symbol;
    if (known && (left->symbol->inlined || right->symbol->inlined))
        return strcmp(left->symbol->name, right->symbol->name) > 0;
    if (known || left->dso != right->dso)
        return item_of(ordering, a)->rank < item_of(ordering, b)->rank;
    return left->ip > right->ip;
}

static bool has_more_hits(const struct ordering *ordering, uint64_t a, uint64_t b)
{
    const struct pd_chain_node *nodes = ordering->tree->nodes.data;
    return pd_chain_hits(&nodes[a]) > pd_chain_hits(&nodes[b]);
}

/* Merges by hand, so that no answer can lead astray. */
static bool sort(const struct ordering *ordering, uint64_t *order, size_t count)
{
    if (count < 2)
        return true;
    uint64_t *half = malloc(count * sizeof *half);
    if (!half)
        return false;
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t begin = 0; begin < count; begin += 2 * width) {
            size_t middle = PD_MIN(begin + width, count), end = PD_MIN(begin + 2 * width, count),
                   a = begin, b = middle;
            for (size_t to = begin; to < end; to++) {
                bool second = a == middle ||
                              (b < end && ordering->precedes(ordering, order[b], order[a]));
                half[to] = second ? order[b++] : order[a++];
            }
        }
        memcpy(order, half, count * sizeof *order);
    }
    free(half);
    return true;
}

bool pd_siblings_sort(struct pd_chain_tree *tree, const struct pd_hist *hist)
{
    const struct ordering ordering = { hist, tree, is_before };
    return sort(&ordering, tree->order.data, tree->order.count);
}

bool pd_siblings_sort_by_hits(struct pd_chain_tree *tree)
{
    const struct ordering ordering = { NULL, tree, has_more_hits };
    return sort(&ordering, tree->order.data, tree->order.count);
}
