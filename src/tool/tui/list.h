/* SPDX-License-Identifier: MIT */
/* The rows of one table as lines to walk through: which are shown, what is unfolded below them,
 * where the cursor is. */
#ifndef PERFDATA_TUI_LIST_H
#define PERFDATA_TUI_LIST_H
#include <perfdata/report_rows.h>
#include <stdbool.h>
#include <stddef.h>

/* What rows must be to be shown; "" or 0: anything. */
struct list_filter {
    char symbol[128], object[256], comm[64];
    bool by_thread; /* rows are of threads: tid, else comm */
    uint32_t tid;
    bool kernel;
    double percent; /* the least share */
};

/* What is unfolded below a row. */
struct list_row {
    uint32_t row; /* of the table */
    bool loaded, open;
    struct perfdata_report_frame *frames;
    size_t count;
    bool *unfolded; /* per frame */
};

/* A line: a row (frame -1) or a frame below it. */
struct list_place {
    size_t row; /* among those that are shown */
    long frame;
};

struct list {
    perfdata_report *report;
    uint32_t table;
    struct perfdata_report_table about;
    struct list_filter filter;
    struct list_row *rows;
    size_t count;
    uint64_t period, samples; /* of the rows that are shown */
    bool all_open;            /* rows that nobody has touched are unfolded */
    struct list_place top, cursor;
    char **open_names; /* rows that were unfolded in an older report */
    size_t open_count;
};

/* Shows another report's table: what is folded and where the cursor is stays, by the rows' names.
 * False without memory. */
bool list_set(struct list *list, perfdata_report *report, uint32_t table);
/* The filter has changed. */
bool list_refill(struct list *list);
void list_free(struct list *list);

/* The line behind or before; false: there is none. */
bool list_next(struct list *list, struct list_place *place);
bool list_before(struct list *list, struct list_place *place);
/* Moves the cursor by so many lines, and the top so that it is within a window of `height` lines.
 * */
void list_move(struct list *list, long lines, int height);
void list_home(struct list *list);
void list_end(struct list *list, int height);
/* Moves the top so that the cursor is within the window. */
void list_settle(struct list *list, int height);

/* The row of a place, with its chains; NULL beyond the last or without memory. */
struct list_row *list_row(struct list *list, size_t row);
bool list_about(const struct list *list, size_t row, struct perfdata_report_row *out);
/* '+', '-' or ' ' before a line. */
char list_sign(struct list *list, const struct list_place *place);
/* Folds or unfolds one level at the cursor; `deep`: everything below its row. */
void list_toggle(struct list *list, bool deep);
void list_fold_all(struct list *list, bool open);
/* To the next row whose symbol or object contains the text, from the cursor on, around the end. */
bool list_find(struct list *list, const char *text, int height);

#endif
