/* SPDX-License-Identifier: MIT */
/* The rows of samples that a page shows. */
#ifndef PD_PAGE_GATHER_H
#define PD_PAGE_GATHER_H
#include "page/page.h"

#define PD_PAGE_MOST_SAMPLES 2000000 /* unless the caller says otherwise */

struct pd_page_row {
    uint64_t time, weight;
    uint32_t count, event, thread, stack, cpu, side;
};

struct perfdata_page_samples {
    PD_VEC(struct pd_page_row) rows;
    uint64_t most;
    uint64_t piece; /* of time, within which rows have been joined; 0: none were */
};

/* For qsort: by time, then by all that keeps rows apart; 0: they can be one. */
int pd_page_rows_order(const void *x, const void *y);
/* Sorts rows and joins those that are equal within a piece of time, counted from `begin`. How many
 * are left. */
size_t pd_page_rows_join(struct pd_page_row *rows, size_t count, uint64_t begin, uint64_t piece);

#endif
