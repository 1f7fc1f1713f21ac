/* SPDX-License-Identifier: MIT */
/* Lines of a report on a terminal that is narrower than they are: columns are cut to what their
 * rows need, long names in their middle, and columns left out, so that there is room for the last
 * one, which tells the symbol. */
#ifndef PERFDATA_TUI_FIT_H
#define PERFDATA_TUI_FIT_H
#include "tool/tui/list.h"

enum { FIT_COLUMNS = 32, FIT_ROWS = 200 };

struct fit {
    /* What was measured; a NULL report: nothing. */
    const perfdata_report *report;
    uint32_t table, flags;
    size_t rows;
    int width;
    /* Columns where a line has them, and how much of each is shown: 0 none. */
    size_t count; /* 0: lines are shown as they are */
    struct {
        size_t start, width, shown;
        size_t need, want; /* of the rows; of the title, too */
        bool is_number;    /* stands at its column's right side */
    } columns[FIT_COLUMNS];
};

/* For lines of the list's rows in `width` columns. Measures the first FIT_ROWS rows, once for each
 * list. */
void fit_measure(struct fit *fit, const struct list *list, uint32_t flags, int width);
/* A row's or the titles' line, with its colours. */
void fit_text(const struct fit *fit, char *text, size_t size);

/* Takes columns off the left side, behind the first `kept` bytes: colours stay. */
void fit_shift(char *text, unsigned columns, size_t kept);

#endif
