/* SPDX-License-Identifier: MIT */
/* Fields of a format by their name, and their numbers in the bytes of an event. */
#include "tracepoint/program.h"

size_t pd_trace_field_count(const struct pd_trace_format *format)
{
    return format->fields.count;
}

const struct pd_trace_field *pd_trace_field_at(const struct pd_trace_format *format, size_t index)
{
    return index < format->fields.count ? &format->fields.data[index] : NULL;
}

const struct pd_trace_field *pd_trace_field(const struct pd_trace_format *format, const char *name)
{
    for (size_t i = 0; i < format->fields.count; i++)
        if (strcmp(format->fields.data[i].name, name) == 0)
            return &format->fields.data[i];
    return NULL;
}

bool pd_trace_is_plain(const struct pd_trace_format *format, const struct pd_trace_field *field)
{
    return !format->tracing->swap && (field->size == 4 || field->size == 8);
}

bool pd_trace_number(const struct pd_trace_format *format, const struct pd_trace_field *field,
                     const uint8_t *data, size_t size, uint64_t *out)
{
    bool swap = format->tracing->swap;
    if (!pd_range_ok(field->offset, field->size, size))
        return false;
    const uint8_t *p = data + field->offset;
    switch (field->size) {
    case 1: *out = field->kind == PD_TRACE_SIGNED ? (uint64_t)(int8_t)*p : *p; return true;
    case 2:
        *out = pd_load16(p, swap);
        if (field->kind == PD_TRACE_SIGNED)
            *out = (uint64_t)(int16_t)*out;
        return true;
    case 4:
        *out = pd_load32(p, swap);
        if (field->kind == PD_TRACE_SIGNED)
            *out = (uint64_t)(int32_t)*out;
        return true;
    case 8: *out = pd_load64(p, swap); return true;
    default: return false;
    }
}
