/* SPDX-License-Identifier: MIT */
/* The children of a node of call chains -> perf's order, which need not be a total one. */
#include "analyse/siblings.h"
#include <stdlib.h>

struct ordering {
    const struct pd_hist *hist;
    const struct pd_chain_tree *tree;
    bool (*is_before)(const struct ordering *ordering, uint64_t a, uint64_t b);
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

static bool is_before_by_name(const struct ordering *ordering, uint64_t a, uint64_t b)
{
    const struct pd_symbol *left = frame_of(ordering, a)->symbol,
                           *right = frame_of(ordering, b)->symbol;
    if (left && right && (left->inlined || right->inlined))
        return strcmp(left->name, right->name) > 0;
    return item_of(ordering, a)->rank < item_of(ordering, b)->rank;
}

/* Processes may have mapped the object at different addresses. Where both functions are known,
 * their places in the object tell, which is what the rank goes by. */
static bool is_before_in_memory(const struct ordering *ordering, uint64_t a, uint64_t b)
{
    const struct pd_hist_frame *left = frame_of(ordering, a), *right = frame_of(ordering, b);
    if (left->dso != right->dso || (left->symbol && right->symbol))
        return item_of(ordering, a)->rank < item_of(ordering, b)->rank;
    return left->ip > right->ip;
}

static bool has_more_hits(const struct ordering *ordering, uint64_t a, uint64_t b)
{
    const struct pd_chain_node *nodes = ordering->tree->nodes.data;
    return pd_chain_hits(&nodes[a]) > pd_chain_hits(&nodes[b]);
}

/* Merges by hand, so that no answer of is_before() can lead astray. */
bool pd_siblings_sort(struct pd_chain_tree *tree, const struct pd_hist *hist,
                      enum pd_siblings_order by)
{
    const struct ordering ordering = { hist, tree,
                                       by == PD_SIBLINGS_BY_NAME     ? is_before_by_name
                                       : by == PD_SIBLINGS_IN_MEMORY ? is_before_in_memory
                                                                     : has_more_hits };
    uint64_t *order = tree->order.data;
    size_t count = tree->order.count;
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
                              (b < end && ordering.is_before(&ordering, order[b], order[a]));
                half[to] = second ? order[b++] : order[a++];
            }
        }
        memcpy(order, half, count * sizeof *order);
    }
    free(half);
    return true;
}
