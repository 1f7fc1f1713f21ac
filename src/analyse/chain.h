/* SPDX-License-Identifier: MIT */
/* Call chains of a row as a tree: functions that many stacks share are one node. */
#ifndef PD_CHAIN_H
#define PD_CHAIN_H
#include "analyse/hist.h"

enum pd_chain_mode {
    PD_CHAIN_NONE,
    PD_CHAIN_FLAT,
    PD_CHAIN_GRAPH,
    PD_CHAIN_FRACTAL,
    PD_CHAIN_FOLDED
};

struct pd_chain_node {
    uint32_t first_frame, frame_count; /* in pd_chain_tree.frames */
    uint32_t parent, child, next;      /* nodes, PD_HIST_NONE none; siblings as they are drawn */
    uint64_t hits, count;              /* of stacks that end here */
    uint64_t below_hits, below_count;
};

PD_INLINE uint64_t pd_chain_hits(const struct pd_chain_node *node)
{
    return node->hits + node->below_hits;
}

PD_INLINE uint64_t pd_chain_count(const struct pd_chain_node *node)
{
    return node->count + node->below_count;
}

/* What the samples of a frame tell of the branches that it is an end of. */
struct pd_chain_ends {
    uint64_t count, predicted, aborted, cycles, loops, loop_cycles;
    uint64_t sources; /* ends that branches left from, without the first sample's */
    uint64_t kinds;   /* bits of enum pd_chain_end_part that any had */
    bool is_target;   /* the last one was */
};

/* Node 0 is the root and has no frames. Reused from row to row. */
struct pd_chain_tree {
    PD_VEC(struct pd_chain_node) nodes;
    PD_VEC(uint32_t) frames;           /* pd_hist frame ids */
    PD_VEC(struct pd_chain_ends) ends; /* per frame, with pd_hist.has_ends */
    PD_VEC(uint32_t) list; /* flat and folded: nodes in the order in which they are printed */
    PD_VEC(struct pd_chain_item) items, spare;
    PD_VEC(struct pd_chain_work) work;
    PD_VEC(uint64_t) order;
};

/* A stack, or what is left of it. */
struct pd_chain_item {
    uint32_t cell, rank;
    uint64_t hits, count;
    /* The stack's place among the row's, by their first samples and by their last ones; for frames
     * that are joined by line or are ends of branches. */
    uint32_t order, last;
};

struct pd_chain_work {
    uint32_t node;
    size_t begin, end; /* items */
};

/* All stacks of all rows, by row. */
struct pd_chain_index {
    uint64_t *begin; /* per row of `result->all`, one more at the end */
    struct pd_chain_item *items;
};

/* Numbers the frames as siblings are ordered: later DSOs first, then higher addresses. Once, after
 * the run. */
perfdata_status pd_chain_rank(struct pd_hist *hist);
/* `least` is, per event, what a row needs for any of its stacks to be drawn: rows below get
 * none. */
perfdata_status pd_chain_index_make(struct pd_hist *hist, const struct pd_hist_result *result,
                                    const uint64_t *least, struct pd_chain_index *out);
void pd_chain_index_free(struct pd_chain_index *index);

/* The tree of one row. `least` drops nodes with fewer hits (flat and folded: of their own); for
 * fractal it is a share of the parent's, `percent` / 100. */
perfdata_status pd_chain_build(const struct pd_hist *hist, const struct pd_chain_item *items,
                               size_t count, enum pd_chain_mode mode, uint64_t least,
                               double percent, struct pd_chain_tree *tree);
void pd_chain_tree_free(struct pd_chain_tree *tree);

#endif
