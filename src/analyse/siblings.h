/* SPDX-License-Identifier: MIT */
/* Siblings of a call chain in perf's order; for this layer only. */
#ifndef PD_SIBLINGS_H
#define PD_SIBLINGS_H
#include "analyse/chain.h"

/* Both sort tree->order. What perf compares by need not be an order; what comes out then depends on
 * what went in, and all elements are still there. False: no memory. */

/* Groups of items, begin << 32 | end, that stand by rank: with frames by function, where some are
 * inlined or unknown. */
bool pd_siblings_sort(struct pd_chain_tree *tree, const struct pd_hist *hist);
/* Nodes: those with most hits first, equal ones as they stand. */
bool pd_siblings_sort_by_hits(struct pd_chain_tree *tree);

#endif
