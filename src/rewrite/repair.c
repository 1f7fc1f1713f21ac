/* SPDX-License-Identifier: MIT */
/* Takes damage out of a recording: what is whole and what perf can read stays. */
#include "container/handle.h"
#include "format/fields.h"
#include "format/offsets.h"
#include "format/structs.h"
#include "rewrite/rewrite.h"

enum {
    SPARE = 15,              /* bytes behind a sample's parts that padding may be */
    CPUS = 4096,             /* perf knows so many */
    LONGEST = UINT16_MAX + 1 /* record */
};

struct repair {
    struct pd_copy copy;
    struct pd_sink nothing;
    struct perfdata_repair_result result;
    bool has_trace_info;
    bool has_foreign_id; /* of a record that was kept: a lone event takes any id */
    uint64_t threads;    /* of perf stat; 0: not told */
    uint8_t mended[LONGEST];
};

static void ignore_field(struct pd_sink *sink, const struct pd_field *field)
{
    (void)sink, (void)field;
}

static void ignore_close(struct pd_sink *sink)
{
    (void)sink;
}

/* perf has an array by CPU, and believes any number. */
static bool is_good_cpu(const struct pd_raw *raw)
{
    const struct pd_plan *plan = &raw->event->plan;
    if (!plan->cpu || plan->cpu + 8u > raw->size)
        return true;
    uint32_t cpu = pd_load32(raw->data + plan->cpu, plan->swap);
    return (cpu < CPUS || cpu == UINT32_MAX) && !pd_load32(raw->data + plan->cpu + 4, plan->swap);
}

/* What perf checks, or dies of, beside the sample's own counts. */
static bool is_good_sample(const struct pd_raw *raw)
{
    struct pd_sample sample;
    const struct pd_attr *attr = &raw->event->attr;
    if (!is_good_cpu(raw))
        return false;
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
    enum {
        ENTRIES = sizeof(struct pd_at_id_index),
        ENTRY = sizeof(struct pd_part_at_id_index_entry)
    };
    uint64_t count = pd_load64(raw->data + PD_AT(id_index, nr), recording->swap);
    if (count > (raw->size - ENTRIES) / ENTRY)
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (pd_map64_get(&recording->ids.by_id, pd_load64(raw->data + ENTRIES + ENTRY * i,
                                                          recording->swap)) == PD_MAP64_NONE)
            return false;
    return true;
}

/* An update of an event that there is not, or of nothing that perf knows, ends its reading, too. */
static bool is_good_update(const struct pd_recording *recording, const struct pd_raw *raw)
{
    return pd_load64(raw->data + PD_AT(event_update, update_type), recording->swap) <=
               PD_EVENT_UPDATE_CPUS &&
           (recording->event_count < 2 ||
            pd_map64_get(&recording->ids.by_id, pd_load64(raw->data + PD_AT(event_update, id),
                                                          recording->swap)) != PD_MAP64_NONE);
}

/* A count of a CPU or thread that perf stat did not have. */
static bool is_good_count(const struct repair *repair, const struct pd_raw *raw)
{
    bool swap = repair->copy.recording->swap;
    uint32_t cpu = pd_load32(raw->data + PD_AT(stat, cpu), swap);
    uint32_t thread = pd_load32(raw->data + PD_AT(stat, thread), swap);
    return (cpu < CPUS || cpu == UINT32_MAX) && (!repair->threads || thread < repair->threads);
}

/* Records tell their event at one place: perf opens nothing where events have it at different
 * ones. */
static bool events_go_together(const struct pd_recording *recording)
{
    for (size_t i = 1; i < recording->event_count; i++) {
        const struct pd_plan *first = &recording->events[0]->plan,
                             *plan = &recording->events[i]->plan;
        if (plan->id_position != first->id_position || plan->is_position != first->is_position)
            return false;
    }
    return true;
}

static perfdata_status refuse_events(struct pd_recording *recording)
{
    return pd_fail(&recording->context, PERFDATA_ERROR_BAD_HEADER, -1,
                   "the events' attributes are damaged: they do not go together");
}

/* perf's reading ends at a record that says more than it holds, that is of no event, or of a type
 * it does not know. */
static bool is_good(struct repair *repair, const struct pd_raw *raw)
{
    const struct pd_recording *recording = repair->copy.recording;
    if (!pd_record_type_name(raw->type) || raw->size < pd_record_min_size(raw->type))
        return false;
    if (raw->type < PD_RECORD_KERNEL_END && !raw->event)
        return false;
    if (raw->type == PD_RECORD_THREAD_MAP)
        repair->threads = pd_load64(raw->data + PD_AT(thread_map, nr), recording->swap);
    if (raw->type == PD_RECORD_STAT && !is_good_count(repair, raw))
        return false;
    if (raw->type == PD_RECORD_AUXTRACE_INFO)
        repair->has_trace_info = true;
    if (raw->type == PD_RECORD_AUXTRACE && !repair->has_trace_info)
        return false;
    if (raw->type == PD_RECORD_COMPRESSED || raw->type == PD_RECORD_COMPRESSED2)
        return true; /* what it holds comes behind it */
    if ((raw->type == PD_RECORD_SAMPLE && !is_good_sample(raw)) ||
        (raw->type == PD_RECORD_EVENT_UPDATE && !is_good_update(recording, raw)) ||
        (raw->type == PD_RECORD_ID_INDEX && !is_good_index(recording, raw)))
        return false;
    struct pd_fields_input input = { raw->event, raw->data, raw->size, recording->swap,
                                     repair->copy.cpus };
    return pd_fields_walk(&input, &repair->nothing) == PERFDATA_OK;
}

/* perf dies of a build-id of a length that there is not. */
static void mend_mark(struct repair *repair, struct pd_raw *raw)
{
    bool swap = repair->copy.recording->swap;
    if (raw->type != PD_RECORD_MMAP2 || !pd_mmap2_mark_is_wrong(raw->data, raw->size, swap))
        return;
    raw->misc &= (uint16_t)~PD_MISC_MMAP_BUILD_ID;
    memcpy(repair->mended, raw->data, raw->size);
    pd_store16(repair->mended + 4, raw->misc, swap);
    raw->data = repair->mended;
}

static perfdata_status take(void *data, const struct pd_walk *walk, struct pd_raw *raw)
{
    struct repair *repair = data;
    if (!is_good(repair, raw) || !pd_walk_is_sure(walk, raw)) {
        repair->result.dropped++;
        return PERFDATA_OK;
    }
    repair->result.kept++;
    const struct pd_recording *recording = repair->copy.recording;
    if (raw->event && recording->event_count == 1 &&
        !pd_recording_event_among(recording, raw->data, raw->size, raw->type))
        repair->has_foreign_id = true;
    mend_mark(repair, raw);
    return pd_copy_raw(&repair->copy, raw);
}

/* Events whose samples hold an id at most are perf stat's, even where nothing else says so any
 * more. */
static perfdata_status mend_stat(struct pd_copy *copy)
{
    const struct pd_recording *recording = copy->recording;
    for (size_t i = 0; i < recording->event_count; i++)
        if (recording->events[i]->attr.sample_type != PD_SAMPLE_IDENTIFIER)
            return PERFDATA_OK;
    return copy->output.kind == PD_WRITE_FILE ? pd_copy_set_feature(copy, PD_FEATURE_STAT, "", 0)
                                              : PERFDATA_OK;
}

perfdata_status perfdata_repair(perfdata_recording *recording, const struct perfdata_output *output,
                                struct perfdata_repair_result *result)
{
    if (!recording->open || !output)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_recording *inner = &recording->recording;
    struct repair repair = { .nothing = { ignore_field, ignore_field, ignore_close, false,
                                          false } };
    if (!inner->event_count)
        return pd_fail(&inner->context, PERFDATA_ERROR_NO_DATA, -1,
                       "no event is left: nothing can be read without one");
    if (!events_go_together(inner))
        return refuse_events(inner);
    /* Compressed records are written uncompressed, since perf inflates none where an earlier
     * feature stops its reading. */
    perfdata_status status = pd_copy_open(inner, output, PD_COPY_WHOLE | PD_COPY_OPEN,
                                          &repair.copy);
    if (status == PERFDATA_OK)
        status = pd_copy_mend_formats(&repair.copy);
    if (status == PERFDATA_OK)
        status = mend_stat(&repair.copy);
    if (status == PERFDATA_OK)
        status = pd_copy_begin(&repair.copy);
    if (status == PERFDATA_OK)
        status = pd_copy_take_records(&repair.copy, take, &repair);
    /* An attribute in the middle of a damaged stream stands at the beginning of the copy: there it
     * leaves the records before it without event if they had foreign ids. */
    bool lost_event = repair.has_foreign_id && inner->event_count > 1;
    if (status == PERFDATA_OK && (lost_event || !events_go_together(inner)))
        status = refuse_events(inner);
    status = pd_copy_close(&repair.copy, status);
    pd_give_result(result, &repair.result, sizeof repair.result);
    return status;
}
