/* SPDX-License-Identifier: MIT */
/* Gathers the rows of samples that a page shows. */
#ifndef PD_PAGE_GATHER_H
#define PD_PAGE_GATHER_H
#include "page/packed.h"
#include "page/page.h"

#define PD_PAGE_MOST_SAMPLES 2000000 /* unless the caller says otherwise */
#define PD_PAGE_PIECES 8192          /* of time, in which samples are joined when there are more */

struct perfdata_page_samples {
    struct pd_page_packed packed;    /* joined as `piece` says */
    PD_VEC(struct pd_page_row) tail; /* those behind, as they came */
    uint64_t most;
    uint64_t piece;       /* of time, within which rows have been joined; 0: none were */
    uint64_t first, last; /* times */
};

/* For qsort: by time, then by all that keeps rows apart; 0: they can be one. */
int pd_page_rows_order(const void *x, const void *y);
/* Sorts rows and joins those that are equal within a piece of time, counted from `begin`. How many
 * are left. */
size_t pd_page_rows_join(struct pd_page_row *rows, size_t count, uint64_t begin, uint64_t piece);
/* Packs all rows; if there are more than `most`, those within the same of at most some 8192 pieces
 * of time are joined. False: no memory. */
bool pd_page_samples_end(perfdata_page_samples *samples, uint64_t most);

#endif
