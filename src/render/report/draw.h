/* SPDX-License-Identifier: MIT */
/* The parts of rows that the two ways to draw a table share. */
#ifndef PD_REPORT_DRAW_H
#define PD_REPORT_DRAW_H
#include "render/report/plan.h"

/* cells.c: how wide the columns of sort keys are for this table's rows. */
void pd_report_measure(struct pd_report_table *table);
uint32_t pd_report_column_width(const struct pd_report_table *table,
                                const struct pd_report_column *column);
/* The width that a column of numbers needs for one event's number. */
uint32_t pd_report_number_width(const struct pd_report_column *column);
void pd_report_key_cell(const struct pd_report_table *table, const struct pd_report_column *column,
                        const struct pd_hist_row *row, struct pd_text *out);

/* What 100 % is in this column. */
uint64_t pd_report_total(const struct pd_report_plan *plan, const struct pd_hist_event *event,
                         uint8_t what);
void pd_report_number_cell(const struct pd_report_table *table,
                           const struct pd_report_column *column, const struct pd_hist_row *row,
                           struct pd_text *out);
/* Replaces the separator's first byte by a point in what `out` has from `from` on. */
void pd_report_replace_separator(struct pd_text *out, size_t from, const char *separator);
perfdata_status pd_report_row_chains(const struct pd_report_table *table,
                                     const struct pd_hist_row *row, struct pd_chain_tree *tree,
                                     struct pd_text *out);
/* The line of titles, with its line end; columns must have been measured. */
void pd_report_title_line(const struct pd_report_table *table, struct pd_text *out);
/* For each column, dots as wide as it is; no line end. */
void pd_report_rule_line(const struct pd_report_table *table, struct pd_text *out);
/* The line of titles and the lines around it. */
void pd_report_titles(const struct pd_report_table *table, struct pd_text *out);
void pd_report_row_line(const struct pd_report_table *table, const struct pd_hist_row *row,
                        struct pd_text *out);
/* The width of a sum that stands in place of a percentage. */
#define PD_REPORT_PERIOD_WIDTH 16
bool pd_report_is_below_limit(const struct pd_report_table *table, const struct pd_hist_row *row);
/* "12.34%" behind `space`, both in colour where the report is coloured. */
void pd_report_percent(const struct pd_report_plan *plan, const char *space, int width,
                       double percent, struct pd_text *out);

/* graph.c: parts of a chain's line. `frame_index` counts in the tree's frames. */
void pd_report_frame_name(const struct pd_report_table *table, const struct pd_chain_tree *tree,
                          uint32_t frame_index, struct pd_text *out);
void pd_report_chain_value(const struct pd_report_table *table, const struct pd_chain_node *node,
                           uint64_t total, struct pd_text *out);

/* levels.c: draws rows as a tree, for --hierarchy. */
perfdata_status pd_report_draw_levels(struct pd_report_table *table, struct pd_text *out,
                                      perfdata_status (*flush)(void *data, struct pd_text *text),
                                      void *data);

/* A byte of each cache line. */
PD_INLINE uint64_t pd_report_read_lines(const void *from, size_t size)
{
    enum { LINE = 64 };
    const uint8_t *bytes = from;
    uint64_t sum = bytes[size - 1];
    for (size_t at = 0; at < size; at += LINE)
        sum += bytes[at];
    return sum;
}

/* Rows lie in memory as samples came. Reads what some of them have, so that the processor waits for
 * all of it together and not for each row by itself. To prefetch it has little effect, as that does
 * not wait for the pages' addresses. */
enum { PD_REPORT_ROWS_AT_ONCE = 16 };
PD_INLINE void pd_report_read_rows(const struct pd_report_table *table, size_t begin, size_t end)
{
    const struct pd_hist *keys = table->result->identities;
    volatile uint64_t read; /* so that nothing is left out */
    uint64_t sum = 0;
    for (size_t i = begin; i < end; i++)
        sum += pd_report_read_lines(table->event->rows.data[i], sizeof **table->event->rows.data);
    for (size_t i = begin; i < end; i++) {
        const struct pd_hist_row *row = table->event->rows.data[i];
        sum += pd_report_read_lines(&row->entry->first, sizeof row->entry->first);
        sum += pd_report_read_lines(pd_hist_key_of(keys, row->index),
                                    keys->words * sizeof(uint64_t));
        if (table->plan->hist.has_access)
            sum += pd_report_read_lines(pd_hist_access_of(table->hist, row->entry),
                                        sizeof(struct pd_hist_access));
        if (table->chains && row->index < table->result->row_count_with_entry)
            sum += table->chains->begin[row->index];
    }
    read = sum;
    (void)read;
}

#endif
