/* SPDX-License-Identifier: MIT */
/* How rows compare; for this layer only. */
#ifndef PD_ORDER_H
#define PD_ORDER_H
#include "analyse/hist.h"
#include "object/symtab/rbtree.h"

struct pd_hist_sorting {
    const struct pd_hist *hist; /* of the identities */
    const struct pd_hist *all;
    const uint32_t *row_of_entry; /* of the result */
    struct pd_arena *arena;       /* of the result */
    struct pd_hist_row **rows;    /* as they enter a tree */
    const struct pd_hist_namespace *namespaces;
    const struct pd_intern *names;
    const uint8_t *order;
    size_t order_count, group_size;
    size_t group_sort, group_values; /* the member whose value counts first; how many do */
    bool dso_is_key, has_chains;
    uint8_t *met; /* per row of the result: which texts have been compared; NULL: no such key */
    uint32_t *fields_met; /* the same of fields */
};

/* Compares as perf does when it checks whether two rows are the same. */
int pd_hist_compare_identities(const struct pd_hist_sorting *sorting, const struct pd_hist_row *a,
                               const struct pd_hist_row *b);
/* The row whose value counts as number `m` among those of a group, which has one at least; NULL: 0.
 * With another than the leader first, the leader's value does not count. */
PD_INLINE const struct pd_hist_row *pd_hist_value_row(const struct pd_hist_sorting *sorting,
                                                      const struct pd_hist_row *row, size_t m)
{
    size_t first = sorting->group_sort, member = m ? m + (first && m >= first) : first;
    if (!row || member == 0)
        return row;
    return row->members ? row->members[member - 1] : NULL;
}
/* Compares as perf does for its output. */
int pd_hist_compare_order(const struct pd_hist_sorting *sorting, const struct pd_hist_row *a,
                          const struct pd_hist_row *b);

/* Sorts the rows by passing them through perf's trees, whatever the orders are; false: no
 * memory. */
bool pd_hist_sort_by_trees(struct pd_hist_sorting *sorting, struct pd_hist_result *result,
                           struct pd_hist_event *event);
/* rank_sort.c: the same by ranks; *sorted is false, and nothing is done, where keys cannot be
 * ranked. */
perfdata_status pd_hist_sort_by_rank(struct pd_hist_sorting *sorting, struct pd_hist_event *event,
                                     bool *sorted);

/* hierarchy.c: event->levels of its rows, which are in the order of identities. */
perfdata_status pd_hist_make_levels(const struct pd_hist_sorting *sorting,
                                    struct pd_hist_result *result, struct pd_hist_event *event);

#endif
