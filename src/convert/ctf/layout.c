/* SPDX-License-Identifier: MIT */
/* An event -> the fields that its samples have in CTF, under names that CTF allows. */
#include "convert/ctf/ctf.h"
#include "base/intern.h"
#include <ctype.h>

/* ---- names ---- */

struct names {
    struct pd_ctf_layout *layout;
    struct pd_intern taken;  /* of one event */
    PD_VEC(uint32_t) copies; /* by name: how many more fields wanted it */
    bool failed;
};

static bool is_keyword(const char *name)
{
    static const char *const words[] = {
        "align",    "callsite", "char",   "clock",  "const",    "double",     "enum",
        "env",      "event",    "float",  "int",    "integer",  "long",       "short",
        "signed",   "stream",   "string", "struct", "trace",    "typealias",  "typedef",
        "unsigned", "variant",  "void",   "_Bool",  "_Complex", "_Imaginary", "floating_point",
    };
    for (size_t i = 0; i < PD_LENGTH(words); i++)
        if (!strcmp(name, words[i]))
            return true;
    return false;
}

/* Letters, digits and underlines, no keyword of CTF. */
static void put_identifier(struct pd_text *out, const char *name)
{
    if (!*name || isdigit((unsigned char)*name) || is_keyword(name))
        pd_text_char(out, '_');
    for (; *name; name++)
        pd_text_char(out, isalnum((unsigned char)*name) ? *name : '_');
}

/* False: somebody has it. */
static bool take_name(struct names *names, const struct pd_text *name, uint32_t *id)
{
    size_t before = names->taken.strings.count;
    *id = pd_intern(&names->taken, name->data, name->length);
    names->failed |= *id == PD_INTERN_NONE || !pd_vec_widen_to(&names->copies, (size_t)*id + 1);
    return names->failed || names->taken.strings.count > before;
}

/* As perf: a name that is there already gets _dupl_1, _dupl_2 and so on. */
static const char *new_name(struct names *names, const char *name)
{
    struct pd_text text = { 0 };
    uint32_t id, other;
    put_identifier(&text, name);
    size_t length = text.length;
    bool done = text.failed || take_name(names, &text, &id);
    while (!done && !text.failed) {
        text.length = length;
        pd_text_format(&text, "_dupl_%u", ++names->copies.data[id]);
        done = text.failed || take_name(names, &text, &other);
    }
    char *copy = text.failed ? NULL : pd_arena_copy(&names->layout->arena, text.data, text.length);
    names->failed |= !copy;
    pd_text_free(&text);
    return copy;
}

static void add(struct names *names, struct pd_ctf_event *event, struct pd_ctf_field field,
                const char *name, const char *length)
{
    if (length)
        field.length = new_name(names, length);
    field.name = new_name(names, name);
    names->failed |= !pd_vec_push(&event->fields, field);
}

/* ---- samples ---- */

static void add_sample_fields(struct names *names, struct pd_ctf_event *event, uint64_t type)
{
    static const struct {
        uint64_t bits;
        const char *name;
        struct pd_ctf_field field;
    } rows[] = {
        { PD_SAMPLE_IP, "perf_ip", { .source = PD_CTF_IP, .size = 8, .hexadecimal = true } },
        { PD_SAMPLE_TID, "perf_tid", { .source = PD_CTF_TID, .size = 4, .is_signed = true } },
        { PD_SAMPLE_TID, "perf_pid", { .source = PD_CTF_PID, .size = 4, .is_signed = true } },
        { PD_SAMPLE_ID | PD_SAMPLE_IDENTIFIER, "perf_id", { .source = PD_CTF_ID, .size = 8 } },
        { PD_SAMPLE_STREAM_ID, "perf_stream_id", { .source = PD_CTF_STREAM_ID, .size = 8 } },
        { PD_SAMPLE_PERIOD, "perf_period", { .source = PD_CTF_PERIOD, .size = 8 } },
        { PD_SAMPLE_WEIGHT, "perf_weight", { .source = PD_CTF_WEIGHT, .size = 8 } },
        { PD_SAMPLE_DATA_SRC, "perf_data_src", { .source = PD_CTF_DATA_SRC, .size = 8 } },
        { PD_SAMPLE_TRANSACTION, "perf_transaction", { .source = PD_CTF_TRANSACTION, .size = 8 } },
    };
    static const struct pd_ctf_field chain = {
        .source = PD_CTF_CALLCHAIN, .shape = PD_CTF_SEQUENCE, .size = 8, .hexadecimal = true
    };
    for (size_t i = 0; i < PD_LENGTH(rows); i++)
        if (type & rows[i].bits)
            add(names, event, rows[i].field, rows[i].name, NULL);
    if (type & PD_SAMPLE_CALLCHAIN)
        add(names, event, chain, "perf_callchain", "perf_callchain_size");
}

/* ---- tracepoints ---- */

static bool is_number_size(uint32_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

/* A field whose value has no size that a number has is bytes, as are those of u8: text is what says
 * `char`. */
static struct pd_ctf_field trace_field(const struct pd_trace_field *trace)
{
    bool is_list = trace->kind == PD_TRACE_ARRAY || trace->kind == PD_TRACE_STRING;
    uint32_t size = is_list ? trace->element_size : trace->size;
    struct pd_ctf_field field = { .source = PD_CTF_TRACE, .trace = trace };
    if (trace->kind == PD_TRACE_STRING && strstr(trace->type, "char")) {
        field.shape = PD_CTF_STRING;
        return field;
    }
    bool is_bytes = trace->kind == PD_TRACE_STRING || !is_number_size(size);
    if (is_list && size == 1 && !trace->is_signed)
        is_bytes = true;
    field.size = (uint8_t)(is_bytes ? 1 : PD_MAX(size, 4u));
    field.is_signed = !is_bytes && trace->is_signed;
    field.hexadecimal = is_bytes || trace->kind == PD_TRACE_POINTER ||
                        (size == 8 && !field.is_signed && strstr(trace->type, "long"));
    if (trace->dynamic)
        field.shape = PD_CTF_SEQUENCE;
    else if (is_list || is_bytes)
        field.shape = PD_CTF_ARRAY;
    field.count = field.shape == PD_CTF_ARRAY ? trace->size / (is_bytes ? 1 : size) : 0;
    return field;
}

/* A format that a kernel can have made: its fields do not overlap, and end where its records do at
 * the latest. Another one would make much of little. */
static bool is_plausible(const struct pd_trace_format *format)
{
    enum { RECORD_LIMIT = 8192 }; /* the kernel's own */
    uint64_t end = 0, sum = 0;
    for (size_t i = 0; i < pd_trace_field_count(format); i++) {
        const struct pd_trace_field *field = pd_trace_field_at(format, i);
        sum += field->size;
        end = PD_MAX(end, (uint64_t)field->offset + field->size);
    }
    return sum <= end && end <= RECORD_LIMIT;
}

static void add_trace_fields(struct names *names, struct pd_ctf_event *event)
{
    struct pd_text length = { 0 };
    size_t count = pd_trace_field_count(event->format);
    for (size_t i = 0; i < count && !names->failed; i++) {
        const struct pd_trace_field *trace = pd_trace_field_at(event->format, i);
        struct pd_ctf_field field = trace_field(trace);
        length.length = 0;
        pd_text_format(&length, "%s_size", trace->name);
        pd_text_char(&length, 0);
        names->failed |= length.failed;
        if (!length.failed)
            add(names, event, field, trace->name,
                field.shape == PD_CTF_SEQUENCE ? length.data : NULL);
    }
    pd_text_free(&length);
}

/* ---- events ---- */

static bool has_raw(const struct pd_event *event)
{
    bool output = event->attr.type == PD_TYPE_SOFTWARE && event->attr.config == PD_SW_BPF_OUTPUT;
    bool made = event->attr.type == (uint32_t)PD_TYPE_SYNTH; /* ptwrite, power events ... */
    return event->attr.sample_type & PD_SAMPLE_RAW &&
           (output || made || event->attr.type == PD_TYPE_TRACEPOINT);
}

static void make_event(struct names *names, const struct pd_event *event, struct pd_ctf_event *out)
{
    static const struct pd_ctf_field raw = {
        .source = PD_CTF_RAW, .shape = PD_CTF_SEQUENCE, .size = 4, .hexadecimal = true
    };
    const struct pd_tracing *tracing = names->layout->tracing;
    out->name = event->name;
    add_sample_fields(names, out, event->attr.sample_type);
    if (!has_raw(event))
        return;
    if (event->attr.type == PD_TYPE_TRACEPOINT && tracing)
        out->format = pd_tracing_format(tracing, event->attr.config);
    if (out->format && !is_plausible(out->format))
        out->format = NULL;
    if (out->format)
        add_trace_fields(names, out);
    else
        add(names, out, raw, "raw_data", "raw_len");
}

static void make_record(struct names *names, enum pd_ctf_record record, struct pd_ctf_event *out)
{
    static const char *const titles[] = { "perf_comm", "perf_exit", "perf_fork", "perf_mmap",
                                          "perf_mmap2" };
    static const struct pd_ctf_field number = { .source = PD_CTF_BODY, .size = 4 };
    static const struct pd_ctf_field wide = { .source = PD_CTF_BODY, .size = 8 };
    static const struct pd_ctf_field start = { .source = PD_CTF_BODY,
                                               .size = 8,
                                               .hexadecimal = true };
    static const struct pd_ctf_field text = { .source = PD_CTF_BODY, .shape = PD_CTF_STRING };
    out->name = titles[record];
    add(names, out, number, "pid", NULL);
    if (record == PD_CTF_EXIT || record == PD_CTF_FORK)
        add(names, out, number, "ppid", NULL);
    add(names, out, number, "tid", NULL);
    if (record == PD_CTF_EXIT || record == PD_CTF_FORK) {
        add(names, out, number, "ptid", NULL);
        add(names, out, wide, "time", NULL);
    } else if (record == PD_CTF_COMM) {
        add(names, out, text, "comm", NULL);
    } else {
        add(names, out, start, "start", NULL);
        add(names, out, text, "filename", NULL);
    }
}

perfdata_status pd_ctf_layout_make(struct pd_convert *x, bool records, struct pd_ctf_layout *out)
{
    struct pd_recording *recording = x->recording;
    const struct pd_span *data = &recording->features.tracing_data.data;
    struct names names = { .layout = out };
    perfdata_status status = PERFDATA_OK;
    if (recording->features.tracing_data.present && data->size)
        status = pd_tracing_open(x->context, data->data, data->size, NULL, &out->tracing);
    if (status < 0)
        return status;
    out->first_record = (uint32_t)recording->event_count;
    out->count = out->first_record + (records ? PD_CTF_RECORDS : 0);
    out->events = pd_arena_zalloc(&out->arena, ((size_t)out->count + 1) * sizeof *out->events);
    names.failed = !out->events;
    for (uint32_t i = 0; i < out->count && !names.failed; i++) {
        if (i < out->first_record)
            make_event(&names, recording->events[i], &out->events[i]);
        else
            make_record(&names, (enum pd_ctf_record)(i - out->first_record), &out->events[i]);
        pd_intern_free(&names.taken);
        pd_vec_free(&names.copies);
    }
    return names.failed ? pd_convert_no_memory(x) : PERFDATA_OK;
}

void pd_ctf_layout_free(struct pd_ctf_layout *layout)
{
    for (uint32_t i = 0; layout->events && i < layout->count; i++)
        pd_vec_free(&layout->events[i].fields);
    pd_tracing_free(layout->tracing);
    pd_arena_free(&layout->arena);
}
