/* SPDX-License-Identifier: MIT */
/* Rows of a report for programs. */
#ifndef PD_REPORT_ROWS_H
#define PD_REPORT_ROWS_H
#include "render/report/plan.h"

/* Who gets them. */
struct pd_report_rows {
    const struct pd_recording *recording;
    perfdata_report_row_fn give;
    void *data;
};

/* Those that the text would show, in its order. PERFDATA_ERROR_CANCELLED: `give` said no. */
perfdata_status pd_report_give_rows(struct pd_report_table *table,
                                    const struct pd_report_rows *rows);
/* Refuses options that are of the text alone. */
perfdata_status pd_report_rows_check(struct pd_context *context,
                                     const struct perfdata_report_options *options);

/* A perfdata_report_row_fn with this as its data: an object a line. */
struct pd_report_json {
    const struct pd_recording *recording;
    struct pd_text *out;
    perfdata_status (*flush)(void *data, struct pd_text *text);
    void *data;
    perfdata_status status; /* of flush() */
};
int pd_report_json_row(void *data, const struct perfdata_report_row *row);

#endif
