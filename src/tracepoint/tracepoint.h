/* SPDX-License-Identifier: MIT */
/* The layer tracepoint/: tracing data + raw bytes -> named fields, perf's text.
 *
 * libtraceevent parses the formats; each print format is then compiled once to a flat program of
 * ours, which any number of threads may run at once. What the compiler does not know is printed by
 * libtraceevent itself, one thread at a time, so the text is always the same. */
#ifndef PD_TRACEPOINT_H
#define PD_TRACEPOINT_H
#include "base/base.h"
#include "base/context.h"
#include "base/text.h"

struct pd_tracing; /* the formats of a recording */

/* Reads tracing data (docs/perf-data-format.md): `size` bytes that start with its magic. *used, if
 * not NULL, is how many bytes of them it takes. A part that does not parse is reported as an issue
 * and left out. */
perfdata_status pd_tracing_open(struct pd_context *context, const uint8_t *bytes, size_t size,
                                size_t *used, struct pd_tracing **out);
void pd_tracing_free(struct pd_tracing *tracing);
bool pd_tracing_big_endian(const struct pd_tracing *tracing);
unsigned pd_tracing_long_size(const struct pd_tracing *tracing);

/* The texts of the formats that parse, in their order: pointers into the bytes that were read. */
struct pd_trace_text {
    const char *system, *text;
    size_t size;
};
const struct pd_trace_text *pd_tracing_texts(const struct pd_tracing *tracing, size_t *count);
/* Whether no part was left out. */
bool pd_tracing_is_whole(const struct pd_tracing *tracing);
/* Whether all parts were found, including formats that do not parse. */
bool pd_tracing_is_complete(const struct pd_tracing *tracing);
/* Lines "address type name[\tmodule]" and "pid name", as they were read; NULL: there are none. */
const uint8_t *pd_tracing_kallsyms(const struct pd_tracing *tracing, size_t *size);
const uint8_t *pd_tracing_comms(const struct pd_tracing *tracing, size_t *size);

struct pd_trace_format; /* one event's */

/* NULL: there is none with this id (attr.config of the event). Lives as long as the tracing. */
const struct pd_trace_format *pd_tracing_format(const struct pd_tracing *tracing, uint64_t id);
const char *pd_trace_system(const struct pd_trace_format *format);
const char *pd_trace_name(const struct pd_trace_format *format);
/* True when the compiled program prints it, false when libtraceevent does. */
bool pd_trace_is_compiled(const struct pd_trace_format *format);

/* The symbol of a kernel address and its start, NULL when unknown: %pS and its like. */
struct pd_trace_resolver {
    const char *(*resolve)(void *data, uint64_t address, uint64_t *start);
    void *data;
};

/* The text that perf prints for the payload, no newline. `resolver` may be NULL. Any thread. */
void pd_trace_print(const struct pd_trace_format *format, const struct pd_trace_resolver *resolver,
                    const uint8_t *data, size_t size, struct pd_text *out);

/* All fields but the common ones as ` name=value`, without the event's print format. Any thread. */
void pd_trace_print_fields(const struct pd_trace_format *format, const uint8_t *data, size_t size,
                           struct pd_text *out);

enum pd_trace_field_kind {
    PD_TRACE_NUMBER,
    PD_TRACE_SIGNED,
    PD_TRACE_STRING,
    PD_TRACE_ARRAY,
    PD_TRACE_POINTER
};

struct pd_trace_field {
    const char *name, *type;
    uint32_t offset, size, element_size;
    enum pd_trace_field_kind kind;
    bool dynamic;  /* a __data_loc word leads to the bytes, */
    bool relative; /* counted from the end of the field, not from the start of the event */
    bool common;
    bool is_signed; /* also the elements of an array */
};

/* Common fields first, each group in the order of the format text. */
size_t pd_trace_field_count(const struct pd_trace_format *format);
const struct pd_trace_field *pd_trace_field_at(const struct pd_trace_format *format, size_t index);
const struct pd_trace_field *pd_trace_field(const struct pd_trace_format *format, const char *name);
/* The field's number (zero- or sign-extended), false when the payload is too short for it. */
bool pd_trace_number(const struct pd_trace_format *format, const struct pd_trace_field *field,
                     const uint8_t *data, size_t size, uint64_t *out);
/* Whether the field's number is one of 4 or 8 bytes that can be read where it lies: in the
 * machine's own byte order. */
bool pd_trace_is_plain(const struct pd_trace_format *format, const struct pd_trace_field *field);
/* The field's bytes within the payload, NULL when they lie outside. */
const uint8_t *pd_trace_bytes(const struct pd_trace_format *format,
                              const struct pd_trace_field *field, const uint8_t *data, size_t size,
                              size_t *length);

/* The value of one field as pd_trace_print_fields() has it. Any thread. */
void pd_trace_print_field(const struct pd_trace_format *format, const struct pd_trace_field *field,
                          const uint8_t *data, size_t size, struct pd_text *out);

#endif
