/* SPDX-License-Identifier: MIT */
/* The payloads of tracepoints as sort keys. */
#include "export/report_plan.h"

perfdata_status pd_report_trace_open(struct pd_recording *recording, struct pd_report_plan *plan)
{
    const struct pd_features *features = &recording->features;
    const struct pd_span *data = &features->tracing_data.data;
    if (!memchr(plan->hist.keys, PD_KEY_TRACE, plan->hist.key_count) ||
        !features->tracing_data.present || !data->size)
        return 0;
    perfdata_status status = pd_tracing_open(&recording->context, data->data, data->size, NULL,
                                             &plan->tracing);
    if (status < 0)
        return status;
    plan->formats = pd_arena_zalloc(&plan->arena,
                                    (recording->event_count + 1) * sizeof *plan->formats);
    if (!plan->formats)
        return PERFDATA_ERROR_MEMORY;
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->attr.type == PD_TYPE_TRACEPOINT)
            plan->formats[i] = pd_tracing_format(plan->tracing, recording->events[i]->attr.config);
    return 0;
}

/* What a payload's pointers into the kernel are called. */
static const char *name_kernel(void *data, uint64_t address, uint64_t *start)
{
    const struct pd_report_payload *payload = data;
    const struct pd_location *location = pd_resolve(payload->resolver, payload->thread,
                                                    payload->number, PD_CPUMODE_KERNEL, address);
    if (!location || !location->sym)
        return NULL;
    *start = address - (location->addr - location->sym->start);
    return location->sym->name;
}

uint32_t pd_report_trace_id(const struct pd_report_plan *plan,
                            const struct pd_report_payload *payload, struct pd_hist *hist,
                            struct pd_text *scratch)
{
    const struct pd_sample *sample = payload->sample;
    if (payload->event->attr.type != PD_TYPE_TRACEPOINT)
        return PD_HIST_NONE;
    const struct pd_trace_format *format = plan->formats ? plan->formats[payload->event->index]
                                                         : NULL;
    struct pd_report_payload copy = *payload;
    struct pd_trace_resolver resolver = { name_kernel, &copy };
    scratch->length = 0;
    if (format && sample->raw)
        pd_trace_print(format, &resolver, sample->raw, sample->raw_size, scratch);
    if (scratch->failed) {
        hist->failed = true;
        return PD_HIST_NONE;
    }
    return pd_hist_bytes_id(hist, scratch->length ? scratch->data : "", scratch->length);
}
