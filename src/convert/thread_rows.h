/* SPDX-License-Identifier: MIT */
/* Rows of samples, as they come -> columns by thread and event. Any number of rows needs the memory
 * of one run: the others wait in a temporary file. */
#ifndef PD_CONVERT_THREAD_ROWS_H
#define PD_CONVERT_THREAD_ROWS_H
#include "base/base.h"

struct pd_thread_rows;

struct pd_thread_row {
    uint64_t time, weight;
    uint32_t stack, thread, event;
};

/* Stacks are uint32_t, the others uint64_t. Each column can be read once; times twice. */
enum pd_thread_column {
    PD_THREAD_STACK,
    PD_THREAD_TIME,
    PD_THREAD_WEIGHT,
    PD_THREAD_TIME_AGAIN,
    PD_THREAD_COLUMNS
};

/* The rows of a thread and event, in the order in which they came. */
struct pd_thread_group {
    uint32_t thread, event;
    uint64_t count;
};

/* `run`: how many rows are kept in memory. NULL: no memory. */
struct pd_thread_rows *pd_thread_rows_new(size_t run);
void pd_thread_rows_free(struct pd_thread_rows *rows);

/* False: no memory. Where the disk has no room, rows stay in memory. */
bool pd_thread_rows_add(struct pd_thread_rows *rows, const struct pd_thread_row *row);
/* After the last row, before the first group. Returns 0 or a status below. */
int pd_thread_rows_end(struct pd_thread_rows *rows);

/* 1: there is another group, by thread, then by event; 0: there is none; < 0: a status. */
int pd_thread_rows_next(struct pd_thread_rows *rows, struct pd_thread_group *group);
/* 1: the next values of a column of that group, valid until the next call; 0: that was all; < 0: a
 * status. */
int pd_thread_rows_values(struct pd_thread_rows *rows, enum pd_thread_column column,
                          const void **values, size_t *count);

#endif
