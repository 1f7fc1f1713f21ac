/* SPDX-License-Identifier: MIT */
/* An attr as perf prints it: what is not zero, in the order of the structure. */
#ifndef PD_ATTR_TEXT_H
#define PD_ATTR_TEXT_H
#include "format/format.h"

/* Each field: `first` (for the first one) or `between`, its name, `is`, its value. `old`: only what
 * perf 6.1 prints; newer fields, flags and bits are left out. */
void pd_attr_text(const struct pd_attr *attr, const char *first, const char *between,
                  const char *is, bool old, struct pd_text *out);
/* {"type":1,...}: every field that is not zero, flags as true. */
void pd_attr_json(const struct pd_attr *attr, struct pd_text *out);

#endif
