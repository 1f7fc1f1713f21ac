/* SPDX-License-Identifier: MIT */
/* A recording -> a folder in Common Trace Format, as `perf data convert --to-ctf` makes it. */
#include "convert/ctf/ctf.h"
#include "render/raw_dump/record_text.h"
#include <stdatomic.h>

struct form {
    struct pd_ctf_layout layout;
    struct pd_ctf_streams streams;
    int64_t offset;
    atomic_ullong cut; /* fields of tracepoints that were not in their sample */
};

/* ---- samples, on any worker ---- */

static void put_chain(const struct pd_sample *sample, struct pd_text *out)
{
    pd_ctf_put(out, sample->callchain_count, 4);
    for (uint32_t i = 0; i < sample->callchain_count; i++)
        pd_ctf_put(out, pd_load64(sample->callchain + (size_t)i * 8, sample->swap), 8);
}

/* Words, the last one filled up with zeros. */
static void put_raw(const struct pd_sample *sample, struct pd_text *out)
{
    uint32_t whole = sample->raw_size / 4, rest = sample->raw_size % 4;
    uint8_t last[4] = { 0 };
    pd_ctf_put(out, whole + (rest > 0), 4);
    for (uint32_t i = 0; i < whole; i++)
        pd_ctf_put(out, pd_load32(sample->raw + (size_t)i * 4, sample->swap), 4);
    if (!rest)
        return;
    memcpy(last, sample->raw + (size_t)whole * 4, rest);
    pd_ctf_put(out, pd_load32(last, sample->swap), 4);
}

static uint64_t element(const uint8_t *bytes, uint32_t size, bool is_signed, bool swap)
{
    switch (size) {
    case 1: return is_signed ? (uint64_t)(int8_t)*bytes : *bytes;
    case 2: {
        uint16_t value = pd_load16(bytes, swap);
        return is_signed ? (uint64_t)(int16_t)value : value;
    }
    case 4: return pd_load32(bytes, swap);
    default: return pd_load64(bytes, swap);
    }
}

/* Elements in the recording are as large as in the trace, or smaller than a number is there. */
static void put_elements(const struct pd_ctf_field *field, const uint8_t *bytes, size_t length,
                         bool swap, struct pd_text *out)
{
    uint32_t size = field->size == 1 ? 1 : field->trace->element_size;
    size_t there = bytes ? length / size : 0, count = field->count;
    if (field->shape == PD_CTF_SEQUENCE) {
        count = there;
        pd_ctf_put(out, count, 4);
    }
    for (size_t i = 0; i < count; i++)
        pd_ctf_put(out, i < there ? element(bytes + i * size, size, field->is_signed, swap) : 0,
                   field->size);
}

static void put_trace_field(struct form *form, const struct pd_ctf_event *event,
                            const struct pd_ctf_field *field, const struct pd_sample *sample,
                            struct pd_text *out)
{
    uint64_t number = 0;
    size_t length = 0;
    bool there;
    if (field->shape == PD_CTF_NUMBER) {
        there = pd_trace_number(event->format, field->trace, sample->raw, sample->raw_size,
                                &number);
        pd_ctf_put(out, number, field->size);
    } else {
        const uint8_t *bytes = pd_trace_bytes(event->format, field->trace, sample->raw,
                                              sample->raw_size, &length);
        there = bytes != NULL;
        if (field->shape == PD_CTF_STRING) {
            pd_convert_name(out, (const char *)bytes,
                            there ? strnlen((const char *)bytes, length) : 0);
            pd_text_char(out, 0);
        } else {
            put_elements(field, bytes, length, sample->swap, out);
        }
    }
    if (!there)
        atomic_fetch_add_explicit(&form->cut, 1, memory_order_relaxed);
}

/* `id`: of the counter that the sample is for. */
static void put_field(struct form *form, const struct pd_ctf_event *event,
                      const struct pd_ctf_field *field, const struct pd_sample *sample, uint64_t id,
                      struct pd_text *out)
{
    uint64_t value = 0;
    switch (field->source) {
    case PD_CTF_IP: value = sample->ip; break;
    case PD_CTF_TID: value = sample->tid; break;
    case PD_CTF_PID: value = sample->pid; break;
    case PD_CTF_ID: value = id; break;
    case PD_CTF_STREAM_ID: value = sample->stream_id; break;
    case PD_CTF_PERIOD: value = sample->period; break;
    case PD_CTF_WEIGHT: value = sample->weight; break;
    case PD_CTF_DATA_SRC: value = sample->data_src; break;
    case PD_CTF_TRANSACTION: value = sample->transaction; break;
    case PD_CTF_CALLCHAIN: put_chain(sample, out); return;
    case PD_CTF_TRACE: put_trace_field(form, event, field, sample, out); return;
    case PD_CTF_RAW: put_raw(sample, out); return;
    case PD_CTF_BODY: return;
    }
    pd_ctf_put(out, value, field->size);
}

/* The id of the counter that a sample was made for. The sample itself has the id of the counter
 * that took it. */
static uint64_t counter_id(const struct pd_recording *recording, const struct pd_delivered *record,
                           const struct pd_sample *sample)
{
    struct pd_read_values values;
    bool is_read = record->counts_for &&
                   pd_read_decode(record->event->attr.read_format, sample->read, sample->read_size,
                                  sample->swap, &values);
    for (uint64_t i = 0; is_read && i < values.count; i++) {
        uint64_t id = pd_read_value(&values, i).id;
        if (pd_map64_get(&recording->ids.by_id, id) == record->counts_for - 1)
            return id;
    }
    return sample->id;
}

/* Makes room for what is known when the fields are there. */
static size_t begin_event(struct pd_text *out)
{
    static const struct pd_ctf_head empty;
    pd_text_bytes(out, &empty, sizeof empty);
    return out->length;
}

static void end_event(struct pd_text *out, size_t from, uint32_t event, uint32_t cpu, uint64_t time)
{
    struct pd_ctf_head head = { .time = time == PD_NO_TIME ? 0 : time,
                                .size = (uint32_t)(out->length - from),
                                .cpu = cpu == UINT32_MAX ? 0 : cpu,
                                .event = event };
    if (!out->failed)
        memcpy(out->data + from - sizeof head, &head, sizeof head);
}

static void put_sample(struct pd_direct *direct, struct pd_profile_worker *worker,
                       const struct pd_delivered *record, const struct pd_profile_taken *taken,
                       struct pd_text *out)
{
    struct form *form = direct->state;
    uint32_t id = pd_delivered_event(direct->x->recording, record)->index;
    const struct pd_ctf_event *event = &form->layout.events[id];
    const struct pd_sample *sample = taken->sample;
    uint64_t counter = counter_id(direct->x->recording, record, sample);
    size_t from = begin_event(out);
    (void)worker;
    for (size_t i = 0; i < event->fields.count; i++)
        put_field(form, event, &event->fields.data[i], sample, counter, out);
    end_event(out, from, id, sample->cpu, sample->time);
}

/* ---- other records ---- */

static void put_text(struct pd_text *out, const struct pd_str *text)
{
    if (text->text)
        pd_convert_name(out, text->text, strlen(text->text));
    pd_text_char(out, 0);
}

static void put_pair(struct pd_text *out, uint32_t first, uint32_t second)
{
    pd_ctf_put(out, first, 4);
    pd_ctf_put(out, second, 4);
}

/* In the order of the layout's fields. */
static enum pd_ctf_record put_body(const union pd_any_record *body, uint32_t type,
                                   struct pd_text *out)
{
    switch (type) {
    case PD_RECORD_COMM:
        put_pair(out, body->comm.pid, body->comm.tid);
        put_text(out, &body->comm.comm);
        return PD_CTF_COMM;
    case PD_RECORD_MMAP:
        put_pair(out, body->mmap.pid, body->mmap.tid);
        pd_ctf_put(out, body->mmap.addr, 8);
        put_text(out, &body->mmap.filename);
        return PD_CTF_MMAP;
    case PD_RECORD_MMAP2:
        put_pair(out, body->mmap2.pid, body->mmap2.tid);
        pd_ctf_put(out, body->mmap2.addr, 8);
        put_text(out, &body->mmap2.filename);
        return PD_CTF_MMAP2;
    default:
        put_pair(out, body->fork.pid, body->fork.ppid);
        put_pair(out, body->fork.tid, body->fork.ptid);
        pd_ctf_put(out, body->fork.time, 8);
        return type == PD_RECORD_EXIT ? PD_CTF_EXIT : PD_CTF_FORK;
    }
}

static bool put_record(struct pd_direct *direct, struct pd_profile_worker *worker,
                       const struct pd_delivered *record, struct pd_text *out)
{
    const struct form *form = direct->state;
    struct pd_arena arena = { 0 };
    struct pd_identity identity;
    union pd_any_record body;
    (void)worker;
    memset(&body, 0, sizeof body);
    bool is_whole = pd_record_decode(record->event, record->data, record->size,
                                     direct->x->recording->swap, &arena, &body,
                                     pd_any_record_size(record->type)) >= 0;
    if (is_whole) {
        pd_record_identity(record->event, record->data, record->size, record->type, &identity);
        size_t from = begin_event(out);
        uint32_t id = form->layout.first_record + put_body(&body, record->type, out);
        end_event(out, from, id, 0, identity.time); /* perf has them all with CPU 0 */
    }
    pd_arena_free(&arena);
    return is_whole;
}

/* ---- in order ---- */

static perfdata_status take(struct pd_direct *direct, const char *bytes, size_t size)
{
    struct form *form = direct->state;
    perfdata_status status = PERFDATA_OK;
    for (size_t at = 0; at < size && status >= 0;) {
        struct pd_ctf_head head;
        memcpy(&head, bytes + at, sizeof head);
        at += sizeof head;
        status = pd_ctf_streams_add(&form->streams, &head, bytes + at);
        at += head.size;
    }
    return status;
}

static perfdata_status finish(struct pd_direct *direct)
{
    struct form *form = direct->state;
    struct pd_convert *x = direct->x;
    bool wanted;
    perfdata_status status = pd_ctf_streams_end(&form->streams);
    if (status >= 0 && form->cut)
        status = pd_issue(x->context, PERFDATA_ISSUE_BAD_SAMPLE, -1,
                          "%llu fields of tracepoints lie outside of their samples: they are 0 or "
                          "empty",
                          (unsigned long long)form->cut);
    if (status >= 0)
        status = pd_convert_table(x, PD_CTF_METADATA, &wanted);
    if (status < 0)
        return status;
    pd_ctf_metadata(x->recording, &form->layout, form->streams.uuid, form->offset, &x->out);
    return pd_convert_flush(x, true);
}

static perfdata_status take_clock(struct pd_convert *x, struct form *form)
{
    const struct pd_features *features = &x->recording->features;
    if (!(x->options->flags & PERFDATA_EXPORT_WALL_CLOCK))
        return PERFDATA_OK;
    if (!features->clock_data.present)
        return pd_fail(x->context, PERFDATA_ERROR_NO_DATA, -1,
                       "the recording does not say what time of day it was; record with "
                       "-k CLOCK to have that");
    form->offset = (int64_t)(features->clock_data.wall_clock - features->clock_data.clock_time);
    return PERFDATA_OK;
}

static perfdata_status make_layout(struct pd_direct *direct)
{
    struct form *form = direct->state;
    bool all = direct->x->options->flags & PERFDATA_EXPORT_ALL_RECORDS;
    return pd_ctf_layout_make(direct->x, all, &form->layout);
}

static perfdata_status run(struct pd_convert *x, const struct perfdata_profile_options *how,
                           struct perfdata_export_result *result)
{
    struct form form = { .streams = { .x = x } };
    bool all = x->options->flags & PERFDATA_EXPORT_ALL_RECORDS;
    struct pd_direct direct = {
        .x = x,
        .options = *how,
        .state = &form,
        .open = make_layout,
        .sample = put_sample,
        .take = take,
        .finish = finish,
    };
    if (!x->options->table)
        return pd_fail(x->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "form ctf is a folder of files, which no stream holds");
    perfdata_status status = pd_direct_check(x, how, "ctf");
    if (status >= 0)
        status = take_clock(x, &form);
    if (all) {
        direct.record = put_record;
        direct.types = UINT64_C(1) << PD_RECORD_COMM | UINT64_C(1) << PD_RECORD_EXIT |
                       UINT64_C(1) << PD_RECORD_FORK | UINT64_C(1) << PD_RECORD_MMAP |
                       UINT64_C(1) << PD_RECORD_MMAP2;
    }
    direct.shared.takes_guests = direct.shared.without_places = true;
    if (status >= 0)
        status = pd_direct_run(&direct, result);
    pd_ctf_streams_free(&form.streams);
    pd_ctf_layout_free(&form.layout);
    return status;
}

static bool is_part(const char *file)
{
    return !strcmp(file, PD_CTF_METADATA) ||
           !strncmp(file, PD_CTF_STREAM, sizeof PD_CTF_STREAM - 1);
}

const struct pd_format pd_format_ctf = {
    .flags = PERFDATA_FORMAT_BINARY | PERFDATA_FORMAT_TABLES | PERFDATA_FORMAT_FOLDER,
    .export_flags = PERFDATA_EXPORT_ALL_RECORDS | PERFDATA_EXPORT_WALL_CLOCK,
    .run = run,
    .is_part = is_part,
};
