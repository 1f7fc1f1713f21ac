/* SPDX-License-Identifier: MIT */
/* Siblings of a call chain in perf's order; for this layer only. */
#ifndef PD_SIBLINGS_H
#define PD_SIBLINGS_H
#include "analyse/chain.h"

enum pd_siblings_order {
    /* Of groups of items (begin << 32 | end) that stand by rank: */
    PD_SIBLINGS_BY_NAME,   /* names, where one of two was inlined into another function */
    PD_SIBLINGS_IN_MEMORY, /* addresses in the processes, where one of two is unknown */
    PD_SIBLINGS_BY_HITS    /* of nodes: most first, equal ones as they stand; needs no `hist` */
};

/* Sorts tree->order. What perf compares by need not be an order; what comes out then depends on
 * what went in, and all elements are still there. False: no memory. */
bool pd_siblings_sort(struct pd_chain_tree *tree, const struct pd_hist *hist,
                      enum pd_siblings_order by);

#endif
