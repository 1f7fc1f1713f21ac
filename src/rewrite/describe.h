/* SPDX-License-Identifier: MIT */
/* The feature EVENT_DESC anew: the names of all events, which perf goes by where an attribute does
 * not tell. */
#ifndef PD_REWRITE_DESCRIBE_H
#define PD_REWRITE_DESCRIBE_H
#include "base/text.h"
#include "format/format.h"

/* `swap`: the output's byte order is not ours. pd_describe_event() must follow for each of the
 * `count` events, in their order. */
void pd_describe_begin(struct pd_text *out, size_t count, bool swap);
/* The ids may be left out: the attributes have them. */
void pd_describe_event(struct pd_text *out, const char *name, const struct pd_attr *attr,
                       const uint64_t *ids, size_t id_count, bool swap);

#endif
