/* SPDX-License-Identifier: MIT */
/* <perfdata/records.h>: a sample of a tracepoint -> its fields and perf's text, by the formats in
 * the recording. */
#include "api/cursor.h"

static struct pd_tracing *tracing_of(struct perfdata_cursor *cursor)
{
    const struct pd_feature_bytes *bytes =
        &cursor->recording->feature_table.bytes[PD_FEATURE_TRACING_DATA];
    /* in a pipe, the formats come with a record of the walk */
    if (!cursor->tracing_known && bytes->size) {
        cursor->tracing_known = true;
        pd_tracing_open(&cursor->recording->context, bytes->data, bytes->size, NULL,
                        &cursor->tracing);
    }
    return cursor->tracing;
}

/* The sample's format, and the sample; NULL: it has none. */
static const struct pd_trace_format *format_of(const perfdata_record *record,
                                               struct pd_sample *sample)
{
    const struct pd_delivered *delivered = record->delivered;
    if (delivered->type != PD_RECORD_SAMPLE || !delivered->event ||
        delivered->event->attr.type != PD_TYPE_TRACEPOINT)
        return NULL;
    const struct pd_tracing *tracing = tracing_of(record->cursor);
    if (!tracing || pd_api_decode(record, sample) < 0 || !sample->raw)
        return NULL;
    return pd_tracing_format(tracing, delivered->event->attr.config);
}

size_t perfdata_record_tracepoint_count(const perfdata_record *record)
{
    struct pd_sample sample = { 0 };
    const struct pd_trace_format *format = format_of(record, &sample);
    return format ? pd_trace_field_count(format) : 0;
}

static perfdata_status take_value(const struct pd_trace_format *format,
                                  const struct pd_trace_field *field,
                                  const struct pd_sample *sample, struct perfdata_value *out)
{
    struct perfdata_value value = { 0 };
    bool text = field->kind == PD_TRACE_STRING;
    if (field->kind == PD_TRACE_NUMBER || field->kind == PD_TRACE_SIGNED ||
        field->kind == PD_TRACE_POINTER) {
        value.kind = field->kind == PD_TRACE_SIGNED ? PERFDATA_VALUE_SIGNED
                                                    : PERFDATA_VALUE_UNSIGNED;
        if (!pd_trace_number(format, field, sample->raw, sample->raw_size, &value.number))
            return PERFDATA_ERROR_BAD_RECORD;
        value.size = field->size;
    } else {
        value.kind = text ? PERFDATA_VALUE_TEXT : PERFDATA_VALUE_BYTES;
        value.data = pd_trace_bytes(format, field, sample->raw, sample->raw_size, &value.size);
        if (!value.data)
            return PERFDATA_ERROR_BAD_RECORD;
        if (text)
            value.size = strnlen(value.data, value.size);
        else if (field->element_size)
            value.count = (uint32_t)(value.size / field->element_size);
    }
    pd_give_result(out, &value, sizeof value);
    return PERFDATA_OK;
}

perfdata_status perfdata_record_tracepoint_at(const perfdata_record *record, size_t index,
                                              struct perfdata_tracepoint_field *out)
{
    struct pd_sample sample = { 0 };
    const struct pd_trace_format *format = format_of(record, &sample);
    if (!format || index >= pd_trace_field_count(format))
        return PERFDATA_ERROR_ARGUMENT;
    const struct pd_trace_field *field = pd_trace_field_at(format, index);
    struct perfdata_tracepoint_field result = { .name = field->name,
                                                .type = field->type,
                                                .common = field->common,
                                                .value = { .struct_size = sizeof result.value } };
    perfdata_status status = take_value(format, field, &sample, &result.value);
    pd_give_result(out, &result, sizeof result);
    return status;
}

perfdata_status perfdata_record_tracepoint_field(const perfdata_record *record, const char *name,
                                                 struct perfdata_value *out)
{
    struct pd_sample sample = { 0 };
    const struct pd_trace_format *format = format_of(record, &sample);
    const struct pd_trace_field *field = format ? pd_trace_field(format, name) : NULL;
    return field ? take_value(format, field, &sample, out) : PERFDATA_ERROR_NOT_FOUND;
}

/* The symbol of a kernel address, for %pS and its like. */
static const char *name_kernel(void *data, uint64_t address, uint64_t *start)
{
    const perfdata_record *record = *(const perfdata_record **)data;
    const struct pd_location *place = pd_resolve(
        record->cursor->resolver, record->delivered->thread, record->delivered->number,
        PD_CPUMODE_KERNEL, address);
    if (!place || !place->sym)
        return NULL;
    *start = address - (place->addr - place->sym->start);
    return place->sym->name;
}

perfdata_status perfdata_record_tracepoint_text(const perfdata_record *record, const char *name,
                                                const char **text)
{
    struct perfdata_cursor *cursor = record->cursor;
    struct pd_sample sample = { 0 };
    const struct pd_trace_format *format = format_of(record, &sample);
    *text = NULL;
    if (!format)
        return PERFDATA_ERROR_NO_DATA;
    cursor->text.length = 0;
    cursor->text.failed = false;
    if (name) {
        const struct pd_trace_field *field = pd_trace_field(format, name);
        if (!field)
            return PERFDATA_ERROR_NOT_FOUND;
        pd_trace_print_field(format, field, sample.raw, sample.raw_size, &cursor->text);
    } else {
        struct pd_trace_resolver resolver = { name_kernel, &record };
        bool names = cursor->resolver && record->delivered->thread;
        pd_trace_print(format, names ? &resolver : NULL, sample.raw, sample.raw_size,
                       &cursor->text);
    }
    return pd_api_give_text(cursor, text);
}
