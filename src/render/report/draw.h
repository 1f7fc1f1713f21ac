/* SPDX-License-Identifier: MIT */
/* Parts of rows, for the two ways to draw a table. */
#ifndef PD_REPORT_DRAW_H
#define PD_REPORT_DRAW_H
#include "render/report/plan.h"

uint32_t pd_report_column_width(const struct pd_report_table *table,
                                const struct pd_report_column *column);
void pd_report_number_cell(const struct pd_report_table *table,
                           const struct pd_report_column *column, const struct pd_hist_row *row,
                           struct pd_text *out);
void pd_report_key_cell(const struct pd_report_table *table, const struct pd_report_column *column,
                        const struct pd_hist_row *row, struct pd_text *out);
/* -v: an address and where its object's symbols are from. map_bias: as of struct pd_hist_first. */
void pd_report_put_origin(const struct pd_report_table *table, const struct pd_dso *dso,
                          uint64_t address, uint64_t map_bias, struct pd_text *out);
PD_INLINE size_t pd_report_origin_width(const struct pd_report_table *table)
{
    return table->plan->hist.long_names ? table->address_digits + 2 + 3 : 0;
}
/* The separator's first byte becomes a point from `from` on. */
void pd_report_replace_separator(struct pd_text *out, size_t from, const char *separator);
perfdata_status pd_report_row_chains(const struct pd_report_table *table,
                                     const struct pd_hist_row *row, struct pd_chain_tree *tree,
                                     struct pd_text *out);
bool pd_report_is_below_limit(const struct pd_report_table *table, const struct pd_hist_row *row);
/* "12.34%" behind `space`, both in colour where the report is coloured. */
void pd_report_percent(const struct pd_report_plan *plan, const char *space, int width,
                       double percent, struct pd_text *out);

/* report_levels.c: rows below rows. */
perfdata_status pd_report_draw_levels(struct pd_report_table *table, struct pd_text *out,
                                      perfdata_status (*flush)(void *data, struct pd_text *text),
                                      void *data);

#endif
