/* SPDX-License-Identifier: MIT */
/* What a perfconfig file sets of a report. */
#ifndef PD_REPORT_SETTINGS_H
#define PD_REPORT_SETTINGS_H
#include "base/context.h"
#include <perfdata/report.h>

/* The texts that options point to after pd_report_settings_take(). */
struct pd_report_settings {
    char percent_limit[32], chains[160];
    char sort[256], cache[1024];
};

/* Fills in the options that were not given, from the files that they name; `settings` must outlive
 * the options. < 0: perf refuses a value, too; the error is told in its words. */
perfdata_status pd_report_settings_take(struct pd_context *context,
                                        struct perfdata_report_options *options,
                                        struct pd_report_settings *settings);

#endif
