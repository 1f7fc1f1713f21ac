/* SPDX-License-Identifier: MIT */
/* Parts of rows, for the two ways to draw a table. */
#ifndef PD_REPORT_DRAW_H
#define PD_REPORT_DRAW_H
#include "render/report/plan.h"

/* cells.c: how wide the columns of sort keys are for this table's rows. */
void pd_report_measure(struct pd_report_table *table);
uint32_t pd_report_column_width(const struct pd_report_table *table,
                                const struct pd_report_column *column);
/* A column of numbers: the width of one event's number. */
uint32_t pd_report_number_width(const struct pd_report_column *column);
void pd_report_key_cell(const struct pd_report_table *table, const struct pd_report_column *column,
                        const struct pd_hist_row *row, struct pd_text *out);

/* What a column's percentages are of. */
uint64_t pd_report_total(const struct pd_report_plan *plan, const struct pd_hist_event *event,
                         uint8_t what);
void pd_report_number_cell(const struct pd_report_table *table,
                           const struct pd_report_column *column, const struct pd_hist_row *row,
                           struct pd_text *out);
/* The separator's first byte becomes a point from `from` on. */
void pd_report_replace_separator(struct pd_text *out, size_t from, const char *separator);
perfdata_status pd_report_row_chains(const struct pd_report_table *table,
                                     const struct pd_hist_row *row, struct pd_chain_tree *tree,
                                     struct pd_text *out);
/* One line with its line end; columns have been measured. */
void pd_report_title_line(const struct pd_report_table *table, struct pd_text *out);
/* Dots as wide as each of its columns; no line end. */
void pd_report_rule_line(const struct pd_report_table *table, struct pd_text *out);
/* That line and what stands around it. */
void pd_report_titles(const struct pd_report_table *table, struct pd_text *out);
void pd_report_row_line(const struct pd_report_table *table, const struct pd_hist_row *row,
                        struct pd_text *out);
/* A sum in place of a percentage. */
#define PD_REPORT_PERIOD_WIDTH 16
bool pd_report_is_below_limit(const struct pd_report_table *table, const struct pd_hist_row *row);
/* "12.34%" behind `space`, both in colour where the report is coloured. */
void pd_report_percent(const struct pd_report_plan *plan, const char *space, int width,
                       double percent, struct pd_text *out);

/* graph.c: parts of a chain's line. `frame_index`: in the tree's frames. */
void pd_report_frame_name(const struct pd_report_table *table, const struct pd_chain_tree *tree,
                          uint32_t frame_index, struct pd_text *out);
void pd_report_chain_value(const struct pd_report_table *table, const struct pd_chain_node *node,
                           uint64_t total, struct pd_text *out);

/* levels.c: rows below rows. */
perfdata_status pd_report_draw_levels(struct pd_report_table *table, struct pd_text *out,
                                      perfdata_status (*flush)(void *data, struct pd_text *text),
                                      void *data);

#endif
