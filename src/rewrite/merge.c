/* SPDX-License-Identifier: MIT */
/* Several recordings as one: the records of one recording after those of the other (their times
 * order them when they are read). Ids are told apart and, with several hosts, processes, too. */
#include "container/handle.h"
#include "format/fields.h"
#include "rewrite/describe.h"
#include "rewrite/rewrite.h"
#include <stdlib.h>

enum { PIDS = 1 << 22 /* no Linux has larger ones */ };

struct input {
    struct pd_recording *recording;
    uint64_t add_id;  /* to each id */
    uint32_t add_pid; /* to each pid and tid that is one */
    uint64_t *made;   /* by event: an id for one that has none */
};

struct merge {
    struct pd_copy copy;
    struct input *inputs;
    size_t count;
    bool identify; /* records get an id where all can find it */
    uint8_t *record, *converted;
    const struct input *now;
    uint32_t type; /* of the record under way */
};

enum { RECORD_ROOM = 1 << 16 };

/* ---- what goes together ---- */

static perfdata_status refuse(struct merge *merge, const char *why)
{
    return pd_fail(&merge->inputs[0].recording->context, PERFDATA_ERROR_UNSUPPORTED, -1, "%s", why);
}

static bool same_bytes(const struct pd_feature_bytes *a, const struct pd_feature_bytes *b)
{
    return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

static perfdata_status check_one(struct merge *merge, const struct pd_recording *a,
                                 const struct pd_recording *b)
{
    const struct pd_feature_bytes *formats_a = &a->feature_table.bytes[PD_FEATURE_TRACING_DATA],
                                  *formats_b = &b->feature_table.bytes[PD_FEATURE_TRACING_DATA];
    if (!b->event_count)
        return refuse(merge, "a recording without events");
    if (b->kind == PD_CONTAINER_PIPE)
        return refuse(merge, "a pipe stream: write it to a file first");
    if (formats_b->size && !(formats_a->size && same_bytes(formats_a, formats_b)))
        return refuse(merge, "different tracepoint formats");
    if (pd_recording_has_feature(a, PD_FEATURE_AUXTRACE) &&
        pd_recording_has_feature(b, PD_FEATURE_AUXTRACE))
        return refuse(merge, "trace data in more than one");
    bool with = pd_attr_flag(&a->events[0]->attr, PD_ATTR_SAMPLE_ID_ALL);
    for (size_t i = 0; i < b->event_count; i++)
        if (pd_attr_flag(&b->events[i]->attr, PD_ATTR_SAMPLE_ID_ALL) != with)
            return refuse(merge, "records with and without ids");
    return PERFDATA_OK;
}

static void range_of(const struct pd_recording *recording, uint64_t *least, uint64_t *most)
{
    *least = UINT64_MAX;
    *most = 0;
    for (size_t i = 0; i < recording->event_count; i++)
        for (size_t k = 0; k < recording->events[i]->id_count; k++) {
            *least = PD_MIN(*least, recording->events[i]->ids[k]);
            *most = PD_MAX(*most, recording->events[i]->ids[k]);
        }
}

static bool same_host(const struct pd_recording *a, const struct pd_recording *b)
{
    const struct pd_feature_hostname *x = &a->features.hostname, *y = &b->features.hostname;
    return x->present && y->present && !strcmp(x->text.text, y->text.text);
}

/* Later ids lie above all before, unless the ranges are apart already. */
static bool plan(struct merge *merge)
{
    uint64_t next = 0;
    uint32_t hosts = 0;
    for (size_t i = 0; i < merge->count; i++) {
        struct input *input = &merge->inputs[i];
        uint64_t least, most;
        range_of(input->recording, &least, &most);
        if (next && least < next)
            input->add_id = next;
        next = PD_MAX(next, most + input->add_id + 1);
        size_t host = 0;
        while (host < i && !same_host(merge->inputs[host].recording, input->recording))
            host++;
        input->add_pid = host < i ? merge->inputs[host].add_pid : hosts++ * PIDS;
        input->made = calloc(input->recording->event_count, sizeof *input->made);
        if (!input->made)
            return false;
        for (size_t k = 0; k < input->recording->event_count; k++) {
            const struct pd_event *event = input->recording->events[k];
            merge->identify |= !(event->attr.sample_type & PD_SAMPLE_IDENTIFIER);
            input->made[k] = event->id_count ? event->ids[0] + input->add_id : next++;
        }
    }
    return hosts < INT32_MAX / PIDS;
}

/* ---- the head ---- */

static perfdata_status add_events(struct merge *merge, const struct input *input)
{
    struct pd_recording *recording = input->recording;
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < recording->event_count && status == PERFDATA_OK; i++) {
        const struct pd_event *event = recording->events[i];
        struct pd_attr attr = event->attr;
        size_t count = event->id_count ? event->id_count : 1;
        uint64_t *ids = calloc(count, sizeof *ids);
        if (!ids)
            return pd_no_memory(&recording->context, NULL);
        ids[0] = input->made[i];
        for (size_t k = 0; k < event->id_count; k++)
            ids[k] = event->ids[k] + input->add_id;
        if (merge->identify)
            attr.sample_type |= PD_SAMPLE_IDENTIFIER;
        status = pd_writer_add_event(merge->copy.writer, &attr, ids, count);
        free(ids);
    }
    return status;
}

static void put_description(struct merge *merge, const struct pd_event *event, struct pd_text *out)
{
    struct pd_attr attr = event->attr;
    if (merge->identify)
        attr.sample_type |= PD_SAMPLE_IDENTIFIER;
    pd_describe_event(out, event->name, &attr, NULL, 0,
                      merge->copy.big_endian != pd_is_big_endian(false));
}

/* Names of all events: what perf goes by where an attribute does not tell. */
static perfdata_status describe(struct merge *merge)
{
    struct pd_text out = { 0 };
    bool swap = merge->copy.big_endian != pd_is_big_endian(false);
    size_t events = 0;
    for (size_t i = 0; i < merge->count; i++)
        events += merge->inputs[i].recording->event_count;
    pd_describe_begin(&out, events, swap);
    for (size_t i = 0; i < merge->count; i++)
        for (size_t k = 0; k < merge->inputs[i].recording->event_count; k++)
            put_description(merge, merge->inputs[i].recording->events[k], &out);
    return pd_copy_give_feature(&merge->copy, PD_FEATURE_EVENT_DESC, &out);
}

static perfdata_status join_build_ids(struct merge *merge)
{
    struct pd_text out = { 0 };
    for (size_t i = 0; i < merge->count; i++) {
        struct pd_recording *recording = merge->inputs[i].recording;
        struct pd_feature_bytes bytes = recording->feature_table.bytes[PD_FEATURE_BUILD_ID];
        uint8_t *converted = bytes.size ? pd_arena_alloc(&recording->arena, bytes.size) : NULL;
        if (!converted)
            continue;
        pd_feature_convert(&bytes, PD_FEATURE_BUILD_ID, recording->swap, merge->copy.big_endian, 0,
                           &recording->arena, converted);
        if (recording->big_endian == merge->copy.big_endian)
            memcpy(converted, bytes.data, bytes.size);
        pd_text_bytes(&out, converted, bytes.size);
    }
    if (!out.length && !out.failed)
        return PERFDATA_OK;
    return pd_copy_give_feature(&merge->copy, PD_FEATURE_BUILD_ID, &out);
}

/* The features of the first recording, but for those that count events, samples or CPUs. */
static perfdata_status make_head(struct merge *merge)
{
    perfdata_status status = PERFDATA_OK;
    struct pd_recording *first = merge->inputs[0].recording;
    static const unsigned taken[] = { PD_FEATURE_TRACING_DATA, PD_FEATURE_HOSTNAME,
                                      PD_FEATURE_OSRELEASE,    PD_FEATURE_VERSION,
                                      PD_FEATURE_ARCH,         PD_FEATURE_NRCPUS,
                                      PD_FEATURE_CPUDESC,      PD_FEATURE_CPUID,
                                      PD_FEATURE_TOTAL_MEM,    PD_FEATURE_CMDLINE,
                                      PD_FEATURE_CPU_TOPOLOGY, PD_FEATURE_PMU_MAPPINGS,
                                      PD_FEATURE_BRANCH_STACK };
    for (size_t i = 0; i < merge->count && status == PERFDATA_OK; i++)
        status = add_events(merge, &merge->inputs[i]);
    merge->copy.events = SIZE_MAX; /* the copier has none of its own to add */
    for (size_t i = 0; i < PD_LENGTH(taken) && status == PERFDATA_OK; i++) {
        struct pd_feature_bytes bytes = first->feature_table.bytes[taken[i]];
        uint8_t *converted = bytes.data ? pd_arena_alloc(&first->arena, bytes.size + 1) : NULL;
        if (!converted)
            continue;
        if (merge->copy.convert)
            pd_feature_convert(&bytes, taken[i], first->swap, merge->copy.big_endian,
                               merge->copy.cpus, &first->arena, converted);
        else
            memcpy(converted, bytes.data, bytes.size);
        status = pd_copy_set_feature(&merge->copy, taken[i], converted, bytes.size);
    }
    if (status == PERFDATA_OK)
        status = describe(merge);
    if (status == PERFDATA_OK)
        status = join_build_ids(merge);
    /* the copier adds no more features of the first recording */
    memset(merge->copy.has_feature, true, sizeof merge->copy.has_feature);
    return status;
}

/* ---- records ---- */

static bool is_name(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(name, *names))
            return true;
    return false;
}

static void edit(void *data, struct pd_field *field)
{
    static const char *const pids[] = { "pid",           "tid",           "ppid", "ptid",
                                        "next_prev_pid", "next_prev_tid", NULL };
    static const char *const ids[] = { "id", "stream_id", "identifier", "read_id", NULL };
    struct merge *merge = data;
    const struct input *input = merge->now;
    if (!field->name)
        return;
    if (input->add_pid && is_name(field->name, pids) && field->value && field->value < PIDS)
        field->value += input->add_pid;
    /* these records have ids of other things in their bodies */
    bool other = field->row &&
                 (merge->type == PD_RECORD_CGROUP || merge->type == PD_RECORD_BPF_EVENT);
    if (input->add_id && !other && is_name(field->name, ids) && field->value)
        field->value += input->add_id;
}

/* Values of a group's counters, each with its id. */
static void edit_read_values(struct merge *merge, const struct pd_event *event, uint8_t *record,
                             uint32_t size)
{
    struct pd_sample sample;
    struct pd_read_values values;
    bool swap = event->plan.swap;
    if (!merge->now->add_id || !(event->attr.read_format & PD_READ_GROUP) ||
        pd_sample_decode(event, record, size, &sample) < 0 || !sample.read ||
        !pd_read_decode(event->attr.read_format, sample.read, sample.read_size, swap, &values) ||
        !values.id_at)
        return;
    for (uint64_t i = 0; i < values.count; i++) {
        uint8_t *at = record + (values.entries - record) + i * values.stride + values.id_at;
        pd_store64(at, pd_load64(at, swap) + merge->now->add_id, swap);
    }
}

/* The id in front of a sample, behind any other record. */
static uint32_t identify(struct merge *merge, const struct pd_event *event, uint8_t *record,
                         uint32_t size, uint32_t type)
{
    bool swap = merge->copy.big_endian != pd_is_big_endian(false),
         sample = type == PD_RECORD_SAMPLE;
    if (!merge->identify || type >= PD_RECORD_KERNEL_END || !event ||
        event->attr.sample_type & PD_SAMPLE_IDENTIFIER ||
        (!sample && !pd_attr_flag(&event->attr, PD_ATTR_SAMPLE_ID_ALL)))
        return size;
    uint32_t at = sample ? 8 : size;
    memmove(record + at + 8, record + at, size - at);
    pd_store64(record + at, merge->now->made[event->index], swap);
    pd_store16(record + 6, (uint16_t)(size + 8), swap);
    return size + 8;
}

static bool is_left_out(const struct merge *merge, const struct pd_raw *raw)
{
    switch (raw->type) {
    case PD_RECORD_COMPRESSED:
    case PD_RECORD_COMPRESSED2:
    case PD_RECORD_FINISHED_ROUND: return true;
    case PD_RECORD_ID_INDEX: /* needed for trace data alone */
        return !pd_recording_has_feature(merge->now->recording, PD_FEATURE_AUXTRACE);
    case PD_RECORD_THREAD_MAP:
    case PD_RECORD_CPU_MAP: return merge->now != merge->inputs;
    default: return false;
    }
}

static perfdata_status take(void *data, const struct pd_walk *walk, struct pd_raw *raw)
{
    (void)walk;
    struct merge *merge = data;
    const struct pd_recording *recording = merge->now->recording;
    struct pd_context *context = &merge->inputs[0].recording->context;
    if (is_left_out(merge, raw))
        return PERFDATA_OK;
    if (raw->size > UINT16_MAX - 15)
        return pd_issue(context, PERFDATA_ISSUE_LIMIT, (int64_t)raw->offset,
                        "a record of %u bytes has no room for an id", raw->size);
    memcpy(merge->record, raw->data, raw->size);
    merge->type = raw->type;
    if (raw->type == PD_RECORD_SAMPLE && raw->event)
        edit_read_values(merge, raw->event, merge->record, raw->size);
    struct pd_fields_input input = { raw->event, merge->record, raw->size, recording->swap, 0 };
    pd_record_edit(&input, merge->copy.big_endian, merge->converted, edit, merge);
    uint32_t size = identify(merge, raw->event, merge->converted, raw->size, raw->type);
    perfdata_status status = pd_writer_put_record(merge->copy.writer, merge->converted, size);
    if (status == PERFDATA_OK && raw->payload_size) {
        if (!raw->payload)
            return refuse(merge, "trace data that is too large to be merged");
        status = pd_writer_put(merge->copy.writer, raw->payload, (size_t)raw->payload_size);
    }
    return status;
}

static perfdata_status take_all(struct merge *merge, const struct input *input)
{
    merge->now = input;
    return pd_take_records(input->recording, PD_WALK_PAYLOADS, take, merge);
}

static perfdata_status run(struct merge *merge, const struct perfdata_output *output)
{
    struct pd_recording *first = merge->inputs[0].recording;
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < merge->count && status == PERFDATA_OK; i++)
        status = check_one(merge, first, merge->inputs[i].recording);
    if (status < 0)
        return status;
    merge->record = malloc(RECORD_ROOM);
    merge->converted = malloc(RECORD_ROOM);
    if (!merge->record || !merge->converted || !plan(merge))
        return pd_no_memory(&first->context, NULL);
    status = pd_copy_open(first, output, PD_COPY_REORDER | PD_COPY_NO_EVENTS, &merge->copy);
    if (status == PERFDATA_OK)
        status = make_head(merge);
    if (status == PERFDATA_OK)
        status = pd_copy_begin(&merge->copy);
    for (size_t i = 0; i < merge->count && status == PERFDATA_OK; i++)
        status = take_all(merge, &merge->inputs[i]);
    return pd_copy_close(&merge->copy, status);
}

perfdata_status perfdata_merge(perfdata_recording *const *recordings, size_t count,
                               const struct perfdata_output *output,
                               const struct perfdata_merge_options *options)
{
    struct merge merge = { .count = count };
    if (!count || !output || (options && options->flags))
        return PERFDATA_ERROR_ARGUMENT;
    for (size_t i = 0; i < count; i++)
        if (!recordings[i] || !recordings[i]->open)
            return PERFDATA_ERROR_ARGUMENT;
    merge.inputs = calloc(count, sizeof *merge.inputs);
    if (!merge.inputs)
        return pd_no_memory(&recordings[0]->recording.context, NULL);
    for (size_t i = 0; i < count; i++)
        merge.inputs[i].recording = &recordings[i]->recording;
    perfdata_status status = run(&merge, output);
    for (size_t i = 0; i < count; i++)
        free(merge.inputs[i].made);
    free(merge.inputs);
    free(merge.record);
    free(merge.converted);
    return status;
}
