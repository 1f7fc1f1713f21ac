/* SPDX-License-Identifier: MIT */
/* `perf evlist` (text reference, section 3). */
#include "container/handle.h"
#include "format/attr_text.h"
#include "tracepoint/tracepoint.h"
#include <perfdata/text.h>

/* perf's evlist reads a pipe only up to its last feature and takes no event name from there: it
 * shows the name that the attr itself has. */
static void put_name(const struct pd_recording *recording, const struct pd_event *event,
                     struct pd_text *out)
{
    if (recording->kind == PD_CONTAINER_PIPE)
        pd_attr_name(&event->attr, out);
    else
        pd_text_bytes(out, event->name, event->name_length);
}

static void put_group(const struct pd_recording *recording, const struct pd_event *leader,
                      struct pd_text *out)
{
    bool many = leader->member_count > 1;
    if (many)
        pd_text_format(out, "%s{", leader->group_name ? leader->group_name : "");
    put_name(recording, leader, out);
    for (size_t i = 1; i < leader->member_count; i++) {
        pd_text_char(out, ',');
        put_name(recording, recording->events[leader->index + i], out);
    }
    pd_text_string(out, many ? "}\n" : "\n");
}

static void put_trace_fields(const struct pd_event *event, struct pd_tracing *tracing,
                             const char *before, struct pd_text *out)
{
    if (event->attr.type != PD_TYPE_TRACEPOINT) {
        pd_text_format(out, "%s (not a tracepoint)", before);
        return;
    }
    const struct pd_trace_format *format = tracing ? pd_tracing_format(tracing,
                                                                       (uint32_t)event->attr.config)
                                                   : NULL;
    if (!format)
        return;
    pd_text_format(out, "%s trace_fields: ", before);
    bool any = false;
    for (size_t i = 0; i < pd_trace_field_count(format); i++) {
        const struct pd_trace_field *field = pd_trace_field_at(format, i);
        if (field->common)
            continue;
        pd_text_format(out, "%s%s", any ? "," : "", field->name);
        any = true;
    }
}

static void put_event(const struct pd_recording *recording, const struct pd_event *event,
                      uint32_t flags, struct pd_tracing *tracing, struct pd_text *out)
{
    put_name(recording, event, out);
    if (flags & PERFDATA_EVLIST_VERBOSE)
        pd_attr_text(&event->attr, ": ", ", ", ": ", recording->like_perf, out);
    else if (flags & PERFDATA_EVLIST_FREQUENCY)
        pd_text_format(out, ": sample_%s=%llu",
                       pd_attr_flag(&event->attr, PD_ATTR_FREQ) ? "freq" : "period",
                       (unsigned long long)event->attr.sample_period);
    bool attr = flags & (PERFDATA_EVLIST_VERBOSE | PERFDATA_EVLIST_FREQUENCY);
    if (flags & PERFDATA_EVLIST_TRACE_FIELDS)
        put_trace_fields(event, tracing, attr ? "," : ":", out);
    pd_text_char(out, '\n');
}

static void put_json(const struct pd_event *event, struct pd_text *out)
{
    pd_text_format(out, "{\"index\":%u,\"name\":", event->index);
    pd_text_json(out, event->name, event->name_length);
    pd_text_format(out, ",\"leader\":%u,\"group_name\":", event->leader);
    if (event->group_name)
        pd_text_json(out, event->group_name, strlen(event->group_name));
    else
        pd_text_string(out, "null");
    pd_text_string(out, ",\"attr\":");
    pd_attr_json(&event->attr, out);
    pd_text_string(out, ",\"ids\":[");
    for (size_t i = 0; i < event->id_count; i++)
        pd_text_format(out, "%s\"%llu\"", i ? "," : "", (unsigned long long)event->ids[i]);
    pd_text_string(out, "]}\n");
}

static size_t shown_events(const struct pd_recording *recording)
{
    bool early = recording->like_perf && recording->kind == PD_CONTAINER_PIPE &&
                 recording->head.has_feature;
    return early ? recording->head.early_events : recording->event_count;
}

static void put_list(const struct pd_recording *recording, uint32_t flags,
                     struct pd_tracing *tracing, struct pd_text *out)
{
    bool tracepoints = false;
    for (size_t i = 0; i < shown_events(recording); i++) {
        const struct pd_event *event = recording->events[i];
        tracepoints |= event->attr.type == PD_TYPE_TRACEPOINT;
        if (flags & PERFDATA_EVLIST_JSON)
            put_json(event, out);
        else if (!(flags & PERFDATA_EVLIST_GROUP) || recording->kind == PD_CONTAINER_PIPE)
            put_event(recording, event, flags, tracing, out);
        else if (event->leader == event->index)
            put_group(recording, event, out);
    }
    if (tracepoints && !(flags & (PERFDATA_EVLIST_JSON | PERFDATA_EVLIST_TRACE_FIELDS)))
        pd_text_string(
            out, "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n");
}

perfdata_status perfdata_evlist_print(perfdata_recording *recording, uint32_t flags,
                                      perfdata_write_fn write, void *data)
{
    struct pd_text text = { 0 };
    if (!recording->open)
        return PERFDATA_ERROR_ARGUMENT;
    const struct pd_feature_tracing_data *formats = &recording->recording.features.tracing_data;
    struct pd_tracing *tracing = NULL;
    perfdata_status status = PERFDATA_OK;
    if (flags & PERFDATA_EVLIST_TRACE_FIELDS && formats->present && formats->data.size)
        status = pd_tracing_open(&recording->recording.context, formats->data.data,
                                 formats->data.size, NULL, &tracing);
    if (status < 0)
        return status;
    put_list(&recording->recording, flags, tracing, &text);
    pd_tracing_free(tracing);
    return pd_api_emit(&recording->recording.context, &text, write, data);
}
