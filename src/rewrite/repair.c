/* SPDX-License-Identifier: MIT */
/* Damage out: what is whole and what perf reads stays. */
#include "export/api.h"
#include "format/fields.h"
#include "rewrite/rewrite.h"

enum { SPARE = 15 }; /* bytes behind a sample's parts that padding may be */

struct repair {
    struct pd_copy copy;
    struct pd_sink nothing;
    struct perfdata_repair_result result;
    bool has_trace_info;
};

static void ignore_field(struct pd_sink *sink, const struct pd_field *field)
{
    (void)sink, (void)field;
}

static void ignore_close(struct pd_sink *sink)
{
    (void)sink;
}

/* What perf checks, or dies of, beside the sample's own counts. */
static bool is_good_sample(const struct pd_raw *raw)
{
    struct pd_sample sample;
    const struct pd_attr *attr = &raw->event->attr;
    if (pd_sample_decode(raw->event, raw->data, raw->size, &sample) < 0 ||
        (sample.stack_size && sample.stack_dynamic_size > sample.stack_size))
        return false;
    if (attr->sample_type < PD_SAMPLE_END && sample.parts_end + SPARE < raw->size)
        return false; /* zeros that look like counts of nothing */
    if (attr->type != PD_TYPE_TRACEPOINT || !(attr->sample_type & PD_SAMPLE_RAW))
        return true;
    /* the payload names its tracepoint itself, in the order of the machine that recorded */
    return sample.raw_size >= 8 && (pd_load16(sample.raw, false) == (uint16_t)attr->config ||
                                    pd_load16(sample.raw, true) == (uint16_t)attr->config);
}

/* An index of ids that no event has ends perf's reading. */
static bool is_good_index(const struct pd_recording *recording, const struct pd_raw *raw)
{
    uint64_t count = pd_load64(raw->data + 8, recording->swap);
    if (count > (raw->size - 16u) / 32)
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (pd_map64_get(&recording->event_by_id,
                         pd_load64(raw->data + 16 + 32 * i, recording->swap)) == PD_MAP64_NONE)
            return false;
    return true;
}

/* perf's reading ends at a record that says more than it holds, that is of no event, or of a type it does not know. */
static bool is_good(struct repair *repair, const struct pd_raw *raw)
{
    const struct pd_recording *recording = repair->copy.recording;
    if (!pd_record_type_name(raw->type) || raw->size < pd_record_min_size(raw->type))
        return false;
    if (raw->type < PD_RECORD_KERNEL_END && !raw->event)
        return false;
    if (raw->type == PD_RECORD_AUXTRACE_INFO)
        repair->has_trace_info = true;
    if (raw->type == PD_RECORD_AUXTRACE && !repair->has_trace_info)
        return false;
    if (raw->type == PD_RECORD_COMPRESSED || raw->type == PD_RECORD_COMPRESSED2)
        return true;
    if ((raw->type == PD_RECORD_SAMPLE && !is_good_sample(raw)) ||
        (raw->type == PD_RECORD_ID_INDEX && !is_good_index(recording, raw)))
        return false;
    struct pd_fields_input input = { raw->event, raw->data, raw->size, recording->swap,
                                     repair->copy.cpus };
    return pd_fields_walk(&input, &repair->nothing) == PERFDATA_OK;
}

static perfdata_status copy_whole(struct repair *repair)
{
    struct pd_walk *walk;
    struct pd_raw raw;
    int got = pd_copy_walk(&repair->copy, &walk);
    if (got < 0)
        return got;
    while ((got = pd_walk_next(walk, &raw)) > 0) {
        if (pd_walk_doubts(walk, &raw))
            continue;
        if (!is_good(repair, &raw)) {
            repair->result.dropped++;
            continue;
        }
        repair->result.kept++;
        got = pd_copy_raw(&repair->copy, &raw);
        if (got < 0)
            break;
    }
    pd_walk_close(walk);
    return got;
}

/* Events that say of a sample at most whose it is are of perf stat, also where nothing else tells so any more. */
static perfdata_status mend_stat(struct pd_copy *copy)
{
    const struct pd_recording *recording = copy->recording;
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->attr.sample_type != PD_SAMPLE_IDENTIFIER)
            return PERFDATA_OK;
    return copy->output.kind == PD_WRITE_FILE ? pd_copy_set_feature(copy, PD_FEATURE_STAT, "", 0)
                                              : PERFDATA_OK;
}

/* Compressed records stay as they are only where all of them can be read: one that cannot takes all behind it along. */
static perfdata_status all_is_whole(struct pd_recording *recording, bool *whole)
{
    struct pd_context *context = &recording->context;
    uint64_t counts[PERFDATA_ISSUE_COUNT];
    struct pd_walk *walk;
    struct pd_raw raw;
    *whole = false;
    if (!recording->features.compressed.present || pd_source_is_stream(recording->source))
        return PERFDATA_OK;
    memcpy(counts, context->issue_count, sizeof counts);
    pd_issue_fn on_issue = context->on_issue;
    bool strict = context->strict;
    context->on_issue = NULL;
    context->strict = false;
    int got = pd_walk_open(recording, &walk);
    if (got == PERFDATA_OK) {
        while ((got = pd_walk_next(walk, &raw)) > 0)
            ;
        pd_walk_close(walk);
    }
    *whole = !memcmp(counts, context->issue_count, sizeof counts);
    memcpy(context->issue_count, counts, sizeof counts);
    context->on_issue = on_issue;
    context->strict = strict;
    return got;
}

perfdata_status perfdata_repair(perfdata_recording *recording, const struct perfdata_output *output,
                                struct perfdata_repair_result *result)
{
    if (!recording->open || !output)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_recording *inner = &recording->recording;
    struct repair repair = { .nothing = { ignore_field, ignore_field, ignore_close, false,
                                          false } };
    bool whole;
    if (!inner->event_count)
        return pd_fail(&inner->context, PERFDATA_ERROR_NO_DATA, -1,
                       "no event is left: nothing can be read without one");
    perfdata_status status = all_is_whole(inner, &whole);
    if (status < 0)
        return status;
    status = pd_copy_open(inner, output, PD_COPY_WHOLE | (whole ? 0 : PD_COPY_OPEN), &repair.copy);
    if (status == PERFDATA_OK)
        status = pd_copy_mend_formats(&repair.copy);
    if (status == PERFDATA_OK)
        status = mend_stat(&repair.copy);
    if (status == PERFDATA_OK)
        status = pd_copy_begin(&repair.copy);
    if (status == PERFDATA_OK)
        status = copy_whole(&repair);
    status = pd_copy_close(&repair.copy, status);
    if (result) {
        repair.result.struct_size = result->struct_size;
        memcpy(result, &repair.result, PD_MIN(result->struct_size, sizeof repair.result));
    }
    return status;
}
