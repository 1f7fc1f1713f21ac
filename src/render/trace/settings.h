/* SPDX-License-Identifier: MIT */
/* What perfconfig files set of `trace`. */
#ifndef PD_TRACE_SETTINGS_H
#define PD_TRACE_SETTINGS_H
#include "base/context.h"
#include <perfdata/syscalls.h>

struct pd_trace_settings {
    bool no_time, no_duration; /* what is left out in front of a line */
    bool zeros, no_names;      /* of arguments: zeros are shown, names are not */
    size_t alignment;          /* the column of "=" */
};

/* Reads the settings from the files that the options name. */
perfdata_status pd_trace_settings_take(struct pd_context *context,
                                       const struct perfdata_syscalls_options *options,
                                       struct pd_trace_settings *settings);

#endif
