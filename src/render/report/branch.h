/* SPDX-License-Identifier: MIT */
/* Columns of branches. */
#ifndef PD_REPORT_BRANCH_H
#define PD_REPORT_BRANCH_H
#include "render/report/plan.h"

/* --total-cycles: the empty table, where no branch of a known function tells its cycles. */
void pd_report_cycles_table(const struct pd_report_plan *plan, struct pd_text *out);
/* How often each kind of branch occurs, where the recording tells kinds; stands below the
 * tables. */
void pd_report_branch_statistics(const struct pd_hist *hist, const struct pd_hist_result *result,
                                 struct pd_text *out);

#endif
