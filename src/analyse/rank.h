/* SPDX-License-Identifier: MIT */
/* Ranks of rows, which are compared in place of their texts and symbols; for this layer only. */
#ifndef PD_RANK_H
#define PD_RANK_H
#include "analyse/order.h"

struct pd_rank_item {
    uint64_t value;
    uint32_t row;
};

/* Items and room for as many, which sorting may exchange. */
struct pd_rank_sorter {
    struct pd_rank_item *items, *spare;
};

/* What rows are compared by: the middle is an address, compared by its signed difference, or a
 * thread and a depth. */
struct pd_rank {
    uint32_t head, tail;
    uint64_t middle;
};

/* Addresses lie around a circle: of two the one comes first that has the shorter way to the
 * other. */
PD_INLINE int pd_rank_compare(const struct pd_rank *a, const struct pd_rank *b)
{
    if (a->head != b->head)
        return a->head < b->head ? -1 : 1;
    if (a->middle != b->middle)
        return (int64_t)(a->middle - b->middle) < 0 ? -1 : 1;
    return a->tail < b->tail ? -1 : a->tail > b->tail;
}

/* All ranks of all rows. */
struct pd_ranks {
    uint32_t *heads, *tails;
    uint64_t *middles;
    uint32_t head_count, tail_count;
    bool has_middles;
};

struct pd_ranking {
    const struct pd_hist_sorting *sorting;
    struct pd_hist_row **rows;
    uint32_t *index; /* of each row: rows[i]->index */
    size_t count;
    struct pd_rank_sorter sorter; /* an item a row */
    uint32_t *part;               /* per row: its rank by the key at hand */
    uint32_t parts;               /* how many different ones there are */
    /* Of keys that rows are told apart by, which mostly put them in order as well: the parts, and
     * how many. NULL: not kept. */
    struct {
        uint32_t *part, parts;
    } kept[PD_KEY_COUNT];
    bool failed; /* the system had no memory */
};

/* Sorts the first `count` items by value, equal ones as they stood. */
void pd_rank_sort(struct pd_rank_sorter *sorter, size_t count);
/* The part of each row becomes the rank of its item's value, in sorter.items, one a row. */
void pd_rank_parts(struct pd_ranking *ranking);
/* Refines ranks, of which there are `count`, by the parts. Returns how many there are then. */
uint32_t pd_rank_refine(struct pd_ranking *ranking, uint32_t *ranks, uint32_t count);
/* Refines heads by middles that are in order, then by tails: heads only are left. False: middles
 * with the same head have no order, or there was no memory. */
bool pd_rank_join(struct pd_ranking *ranking, struct pd_ranks *ranks);
/* Per row whether its middle is in no order with those of the same head; NULL: no memory. */
bool *pd_rank_without_order(const struct pd_ranking *ranking, const struct pd_ranks *ranks);
/* Ranks rows by what tells them apart; false: a key cannot be ranked, or there was no memory. */
bool pd_rank_identities(struct pd_ranking *ranking, struct pd_ranks *ranks);
/* Ranks rows by the order in which they are shown; false as above. */
bool pd_rank_output(struct pd_ranking *ranking, struct pd_ranks *ranks);

#endif
