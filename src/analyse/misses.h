/* SPDX-License-Identifier: MIT */
/* Rows in the order of perf's trees, where perf misses rows that it has; for this layer only. */
#ifndef PD_MISSES_H
#define PD_MISSES_H
#include "analyse/rank.h"

struct pd_hist_misses {
    const struct pd_hist_sorting *sorting; /* its `all` has the visits */
    struct pd_hist_row **rows;
    size_t count;
    /* What rows are compared by when perf looks for one; NULL: `compare` does it, of two rows given
     * by their places in `rows`. */
    const struct pd_rank *ranks;
    int (*compare)(const void *data, uint32_t a, uint32_t b);
    const void *data;
    const bool *may_be_missed; /* some comparison with these rows is no order */
    uint32_t *order;           /* places in `rows` as the first samples came; becomes the trees' */
};

/* Passes rows through perf's tree of samples, and with `joined` through that of joined rows. Rows
 * that perf made twice get the facts of the one that it keeps. False: no memory. */
bool pd_hist_order_with_misses(const struct pd_hist_misses *misses, bool joined);

#endif
