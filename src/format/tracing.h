/* SPDX-License-Identifier: MIT */
/* Tracing data (docs/perf-data-format.md#tracing-data), part by part. */
#ifndef PD_FORMAT_TRACING_H
#define PD_FORMAT_TRACING_H
#include "base/base.h"

/* In the order in which they lie. */
enum pd_tracing_kind {
    PD_TRACING_MAGIC,
    PD_TRACING_VERSION, /* data: text without its NUL */
    PD_TRACING_ORDER,   /* number: 0 little-endian, 1 big-endian, for all that follows */
    PD_TRACING_LONG,    /* number: bytes of a long */
    PD_TRACING_PAGE,    /* number: bytes of a page */
    PD_TRACING_HEADER_PAGE,
    PD_TRACING_HEADER_EVENT,
    PD_TRACING_FTRACE_COUNT, /* number of formats that follow */
    PD_TRACING_FTRACE_FORMAT,
    PD_TRACING_SYSTEM_COUNT,
    PD_TRACING_SYSTEM, /* system: its name; number of formats that follow */
    PD_TRACING_FORMAT, /* of `system` */
    PD_TRACING_KALLSYMS,
    PD_TRACING_PRINTK,
    PD_TRACING_CMDLINES, /* since version 0.6 */
    PD_TRACING_REST      /* what nothing explains: padding, or damage */
};

struct pd_tracing_part {
    enum pd_tracing_kind kind;
    size_t offset;       /* of `data`, or of the number, in the tracing data */
    const uint8_t *data; /* text or bytes; NULL: the part is a number */
    size_t size;
    uint64_t number;
    const char *system; /* NUL-terminated; NULL: none */
};

/* "header_page" ... for people and JSON. */
const char *pd_tracing_kind_name(enum pd_tracing_kind kind);

/* Calls `each` with the parts until it returns false. Parts point into `bytes`. False: the data end
 * early or are none; what was whole came all the same. */
bool pd_tracing_walk(const uint8_t *bytes, size_t size,
                     bool (*each)(void *data, const struct pd_tracing_part *part), void *data);

#endif
