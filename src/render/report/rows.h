/* SPDX-License-Identifier: MIT */
/* Rows of a report as typed cells, for programs. */
#ifndef PD_REPORT_ROWS_H
#define PD_REPORT_ROWS_H
#include "render/report/plan.h"

/* Where the cells of one row are made; they live until the next row's are. */
struct pd_report_making {
    const struct pd_report_table *table; /* measured */
    bool only_keys;                      /* no numbers */
    struct pd_text text;                 /* of the cells, each ended by NUL */
    PD_VEC(struct perfdata_report_cell) cells;
    PD_VEC(size_t) at; /* where a cell's text begins; SIZE_MAX: it has none */
};
perfdata_status pd_report_make_cells(struct pd_report_making *making,
                                     const struct pd_hist_row *row);
void pd_report_making_free(struct pd_report_making *making);

/* "NAME":VALUE as a member of an object; a symbol's level follows as a member of its own. */
void pd_report_put_cell(struct pd_text *text, const struct perfdata_report_cell *cell);

/* perfdata_report_rows() with options that have been completed; `told` is always filled in. */
perfdata_status pd_report_each_row(perfdata_recording *recording,
                                   const struct perfdata_report_options *options,
                                   perfdata_report_row_fn give, void *data,
                                   struct perfdata_report_result *told);

/* pd_report_json_row() takes this as its data and writes one object per line. */
struct pd_report_json {
    const struct pd_recording *recording;
    struct pd_text *out;
    perfdata_status (*flush)(void *data, struct pd_text *text);
    void *data;
    perfdata_status status; /* of flush() */
};
int pd_report_json_row(void *data, const struct perfdata_report_row *row);

#endif
