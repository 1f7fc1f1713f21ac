/* SPDX-License-Identifier: MIT */
/* The pipe form: what a file keeps in sections arrives as records before the first record of the
 * kernel. They are read when the recording is opened, and later ones (another stream behind the
 * first) when the walk meets them. */
#include "container/walk.h"
#include "format/offsets.h"

enum {
    PIPE_HEADER = 16,
    EVENTS_FIRST = 16,
    EVENTS_MAX = 65536,
    HEAD_MAX = 128 << 20,
    BUILD_IDS_MAX = 1 << 20
};

/* The array is made anew when it is full: workers may still read the old one. */
static perfdata_status make_room(struct pd_recording *recording)
{
    size_t count = recording->event_count;
    if (count && (count < EVENTS_FIRST || count & (count - 1)))
        return PERFDATA_OK;
    size_t capacity = count ? PD_MAX(2 * count, (size_t)EVENTS_FIRST) : EVENTS_FIRST;
    struct pd_event **events = pd_arena_zalloc(&recording->arena, capacity * sizeof *events);
    if (!events)
        return pd_no_memory(&recording->context, NULL);
    if (count)
        memcpy(events, recording->events, count * sizeof *events);
    recording->events = events;
    return PERFDATA_OK;
}

static perfdata_status take_ids(struct pd_recording *recording, struct pd_event *event,
                                const uint8_t *bytes, size_t count)
{
    uint64_t *ids = pd_arena_alloc(&recording->arena, (count ? count : 1) * sizeof *ids);
    if (!ids)
        return pd_no_memory(&recording->context, NULL);
    event->ids = ids;
    event->id_count = count;
    for (size_t i = 0; i < count; i++) {
        ids[i] = pd_load64(bytes + 8 * i, recording->swap);
        if (!pd_map64_set(&recording->ids.by_id, ids[i], event->index))
            return pd_no_memory(&recording->context, NULL);
    }
    return PERFDATA_OK;
}

static perfdata_status take_attr(struct pd_recording *recording, const struct pd_raw *raw)
{
    const uint8_t *bytes = raw->data + 8;
    size_t room = raw->size - 8u;
    struct pd_attr attr;
    if (recording->event_count >= EVENTS_MAX ||
        pd_attr_decode(bytes, room, recording->swap, &attr) < 0)
        return pd_issue(&recording->context, PERFDATA_ISSUE_BAD_ATTR, (int64_t)raw->offset,
                        "an attr that is not usable");
    if (recording->head.events_fixed)
        return pd_issue(&recording->context, PERFDATA_ISSUE_BAD_ATTR, (int64_t)raw->offset,
                        "an event that is described behind the first records: it is left out");
    struct pd_event *event = pd_arena_zalloc(&recording->arena, sizeof *event);
    if (!event)
        return pd_no_memory(&recording->context, NULL);
    perfdata_status status = make_room(recording);
    if (status < 0)
        return status;
    event->index = event->leader = (uint32_t)recording->event_count;
    event->member_count = 1;
    event->scale = 1.0;
    event->attr = attr;
    pd_plan_make(&event->attr, recording->swap, &event->plan);
    recording->events[recording->event_count++] = event;
    size_t used = PD_MIN((size_t)attr.size, room);
    status = take_ids(recording, event, bytes + used, (room - used) / 8);
    if (status == PERFDATA_OK)
        status = pdc_finish_positions(recording);
    return status < 0 ? status : pdc_name_event(recording, event);
}

static perfdata_status take_feature(struct pd_recording *recording, const struct pd_raw *raw)
{
    if (raw->size < 16)
        return PERFDATA_OK;
    if (!recording->head.has_feature)
        recording->head.early_events = recording->event_count;
    recording->head.has_feature = true;
    uint64_t feature = pd_load64(raw->data + PD_AT(header_feature, feat_id), recording->swap);
    size_t size = raw->size - 16u;
    bool is_flag = feature == PD_FEATURE_BRANCH_STACK || feature == PD_FEATURE_STAT;
    if (!size && !is_flag) /* the end mark */
        return PERFDATA_OK;
    if (feature >= 256)
        return pd_issue(&recording->context, PERFDATA_ISSUE_UNKNOWN_FEATURE, (int64_t)raw->offset,
                        "the unknown feature %llu", (unsigned long long)feature);
    /* what is decoded points into its bytes */
    const uint8_t *copy = (const uint8_t *)pd_arena_copy(&recording->arena, raw->data + 16, size);
    if (!copy)
        return pd_no_memory(&recording->context, NULL);
    recording->feature_table.bits[feature / 64] |= UINT64_C(1) << feature % 64;
    recording->feature_table.section[feature] = (struct pd_section){ raw->offset + 16, size };
    perfdata_status status = pdc_take_feature(recording, (unsigned)feature, copy, size,
                                              raw->offset + 16);
    if (status == PERFDATA_OK &&
        (feature == PD_FEATURE_EVENT_DESC || feature == PD_FEATURE_GROUP_DESC))
        status = pdc_name_events(recording);
    return status;
}

static perfdata_status take_tracing_data(struct pd_recording *recording, const struct pd_raw *raw)
{
    if (recording->features.tracing_data.present || !raw->payload_size)
        return PERFDATA_OK;
    if (!raw->payload)
        return pd_issue(&recording->context, PERFDATA_ISSUE_LIMIT, (int64_t)raw->offset,
                        "formats of tracepoints of %llu bytes are not read: their fields are not "
                        "shown",
                        (unsigned long long)raw->payload_size);
    const uint8_t *copy = (const uint8_t *)pd_arena_copy(&recording->arena, raw->payload,
                                                         (size_t)raw->payload_size);
    if (!copy)
        return pd_no_memory(&recording->context, NULL);
    recording->feature_table.bits[0] |= UINT64_C(1) << PD_FEATURE_TRACING_DATA;
    recording->feature_table.section[PD_FEATURE_TRACING_DATA] = (struct pd_section){
        raw->offset + raw->size, raw->payload_size
    };
    perfdata_status status = pdc_take_feature(recording, PD_FEATURE_TRACING_DATA, copy,
                                              (size_t)raw->payload_size, raw->offset + raw->size);
    return status < 0 ? status : pdc_name_events(recording);
}

perfdata_status pdc_take_head(struct pd_recording *recording, const struct pd_raw *raw)
{
    switch (raw->type) {
    case PD_RECORD_HEADER_ATTR: return take_attr(recording, raw);
    case PD_RECORD_HEADER_FEATURE: return take_feature(recording, raw);
    case PD_RECORD_HEADER_TRACING_DATA: return take_tracing_data(recording, raw);
    case PD_RECORD_AUXTRACE_INFO: recording->head.has_trace = true; return PERFDATA_OK;
    default: return PERFDATA_OK;
    }
}

/* The first record that is no part of the head: a live one, or a mark. What perf synthesises before
 * it (kernel maps, EVENT_UPDATE, maps of threads and CPUs) may stand between. */
static bool ends_head(const struct pd_raw *raw)
{
    switch (raw->type) {
    case PD_RECORD_MMAP:
    case PD_RECORD_MMAP2: return (raw->misc & PD_MISC_CPUMODE_MASK) == PD_CPUMODE_USER;
    case PD_RECORD_FINISHED_ROUND:
    case PD_RECORD_FINISHED_INIT:
    case PD_RECORD_COMPRESSED:
    case PD_RECORD_COMPRESSED2:
    case PD_RECORD_AUXTRACE: return true;
    default: return raw->type < 64;
    }
}

/* pd_walk_next() without messages. */
static int next_quietly(struct pd_recording *recording, struct pd_walk *walk, struct pd_raw *raw)
{
    struct pd_context *context = &recording->context;
    uint64_t counts[PERFDATA_ISSUE_COUNT];
    memcpy(counts, context->issue_count, sizeof counts);
    pd_issue_fn on_issue = context->on_issue;
    bool strict = context->strict;
    context->on_issue = NULL;
    context->strict = false;
    int more = pd_walk_next(walk, raw);
    context->on_issue = on_issue;
    context->strict = strict;
    memcpy(context->issue_count, counts, sizeof counts);
    return more;
}

/* The head is walked twice, and what its records hold is taken once, here: what is wrong with that
 * is said now, what is wrong with the records themselves by the second walk. */
static perfdata_status read_head(struct pd_recording *recording, struct pd_walk *walk)
{
    perfdata_status status = PERFDATA_OK;
    struct pd_raw raw;
    int more = 1;
    uint64_t end = 0;
    recording->head.end = UINT64_MAX; /* this walk lets nothing act by itself */
    while (status == PERFDATA_OK && (more = next_quietly(recording, walk, &raw)) > 0 &&
           !ends_head(&raw) && raw.offset < HEAD_MAX) {
        status = pdc_take_head(recording, &raw);
        end = raw.offset + 1;
    }
    recording->head.end = end;
    return status < 0 ? status : more < 0 ? more : PERFDATA_OK;
}

void pd_recording_skip_header(struct pd_recording *recording)
{
    recording->stay_closed = recording->like_perf &&
                             (recording->kind == PD_CONTAINER_PIPE || recording->unfinished);
}

perfdata_status pd_recording_spool(struct pd_recording *recording)
{
    perfdata_status status = pd_source_spool(recording->source);
    if (status == PERFDATA_OK)
        recording->data.size = pd_source_size(recording->source) - PIPE_HEADER;
    return status;
}

perfdata_status pdc_open_pipe(struct pd_recording *recording)
{
    uint64_t size = pd_source_size(recording->source);
    recording->kind = PD_CONTAINER_PIPE;
    recording->header_size = PIPE_HEADER;
    recording->data = (struct pd_section){ PIPE_HEADER,
                                           size == UINT64_MAX ? PDC_ENDLESS : size - PIPE_HEADER };
    struct pd_walk *walk = NULL;
    perfdata_status status = pdc_finish_positions(recording);
    if (status == PERFDATA_OK)
        status = pd_walk_open(recording, &walk);
    if (status < 0)
        return status;
    status = read_head(recording, walk);
    pd_walk_close(walk);
    pd_source_stop_keeping(recording->source);
    return status;
}
