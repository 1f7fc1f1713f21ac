/* SPDX-License-Identifier: MIT */
/* Address filters: which code hardware traces. */
#ifndef PD_RECORD_FILTER_H
#define PD_RECORD_FILTER_H
#include "base/context.h"
#include "record/calls.h"

/* "filter main / 0x10 @/bin/ls, stop exit @/bin/ls" -> "filter 0x40/0x10@/bin/ls stop
 * 0x80@/bin/ls", appended to what `out` has. Without a file it is the kernel's code. */
perfdata_status pd_filter_resolve(struct pd_context *context, const struct pd_roots *roots,
                                  const char *text, struct pd_text *out);

#endif
