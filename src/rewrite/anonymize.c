/* SPDX-License-Identifier: MIT */
/* A recording -> one without names: they become pseudonyms of their length, and what may hold names
 * that cannot be found is left out, and told. */
#include "container/handle.h"
#include "format/fields.h"
#include "itrace/aux/aux.h"
#include "rewrite/pseudonyms.h"
#include "rewrite/rewrite.h"
#include "tracepoint/tracepoint.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct anonymize {
    struct pd_sink sink;
    struct pd_copy copy;
    struct perfdata_anonymize_options options;
    struct pd_tracing *tracing;
    struct pd_pseudonyms pseudonyms;
    const uint8_t *base; /* of the bytes that the fields point into */
    uint8_t *bytes;      /* their copy, which is changed */
    size_t room;
    uint64_t dropped, emptied; /* records left out; samples whose raw bytes became zeros */
};

/* ---- fields ---- */

static void see_field(struct pd_sink *sink, const struct pd_field *field)
{
    struct anonymize *a = (struct anonymize *)sink;
    if (!field->data)
        return;
    size_t at = (size_t)(field->data - a->base);
    if (!field->row && !strcmp(field->name, "unread")) /* whatever is behind what we know */
        memset(a->bytes + at, 0, field->size);
    if (pd_kinds[field->kind].shape != PD_SHAPE_TEXT)
        return;
    pd_pseudonym(&a->pseudonyms, (char *)a->bytes + at, PD_MIN((size_t)field->length, field->size));
    /* what a longer name left behind the NUL */
    if (field->size > field->length)
        memset(a->bytes + at + field->length, 0, field->size - field->length);
}

static void see_nothing(struct pd_sink *sink, const struct pd_field *field)
{
    (void)sink, (void)field;
}

static void see_close(struct pd_sink *sink)
{
    (void)sink;
}

/* What becomes of a record. Types that no list names, and unknown ones, may hold anything: they
 * go. */
enum fate { GOES, STAYS, IS_RENAMED, IS_SAMPLE, IS_TRACE_INFO };

static enum fate fate_of(uint32_t type)
{
    switch (type) {
    case PD_RECORD_MMAP:
    case PD_RECORD_MMAP2:
    case PD_RECORD_COMM:
    case PD_RECORD_CGROUP:
    case PD_RECORD_KSYMBOL:
    case PD_RECORD_THREAD_MAP:
    case PD_RECORD_HEADER_BUILD_ID:
    case PD_RECORD_SP_DSO:
    case PD_RECORD_SP_SYMBOL: return IS_RENAMED;
    case PD_RECORD_SAMPLE: return IS_SAMPLE;
    case PD_RECORD_AUXTRACE_INFO: return IS_TRACE_INFO;
    case PD_RECORD_HEADER_FEATURE: /* of a second stream: its names would pass */
    case PD_RECORD_BPF_METADATA:
    case PD_RECORD_SP_KERNEL_SYMBOL:
    case PD_RECORD_SP_SPLIT:
    case PD_RECORD_SP_SPLIT_END:
    case PD_RECORD_SP_UNWINDING_RESULT:
    case PD_RECORD_SP_TRACING_DATA:
    case PD_RECORD_SP_DEBUG: return GOES;
    default: return pd_record_rows(type, NULL) ? STAYS : GOES;
    }
}

static void rename_payload(struct anonymize *a, const struct pd_sample *sample)
{
    const struct pd_trace_format *format = pd_tracing_format(a->tracing,
                                                             sample->event->attr.config);
    size_t count = pd_trace_field_count(format);
    for (size_t i = 0; i < count; i++) {
        const struct pd_trace_field *field = pd_trace_field_at(format, i);
        size_t length;
        if (field->kind != PD_TRACE_STRING)
            continue;
        const uint8_t *text = pd_trace_bytes(format, field, sample->raw, sample->raw_size, &length);
        if (!text)
            continue;
        size_t used = strnlen((const char *)text, length);
        uint8_t *changed = a->bytes + (text - a->bytes);
        pd_pseudonym(&a->pseudonyms, (char *)changed, used);
        memset(changed + used, 0, length - used); /* what a longer text left behind the NUL */
    }
}

/* Raw bytes whose fields are not known: of a tracepoint without its format, of a BPF program that
 * writes what it likes. */
static void empty_payload(struct anonymize *a, const struct pd_sample *sample)
{
    memset(a->bytes + (sample->raw - a->bytes), 0, sample->raw_size);
    a->emptied++;
}

static void change_sample(struct anonymize *a, const struct pd_raw *raw)
{
    struct pd_sample sample;
    if (!raw->event || pd_sample_decode(raw->event, a->bytes, raw->size, &sample) < 0)
        return;
    const struct pd_attr *attr = &raw->event->attr;
    if (sample.stack && !(a->options.flags & PERFDATA_ANONYMIZE_KEEP_STACKS))
        memset(a->bytes + (sample.stack - a->bytes), 0, sample.stack_size);
    if (!sample.raw)
        return;
    if (attr->type == PD_TYPE_TRACEPOINT && a->tracing &&
        pd_tracing_format(a->tracing, attr->config))
        rename_payload(a, &sample);
    else if (attr->type == PD_TYPE_TRACEPOINT ||
             (attr->type == PD_TYPE_SOFTWARE && attr->config == PD_SW_BPF_OUTPUT))
        empty_payload(a, &sample);
}

static bool make_room(struct anonymize *a, size_t size)
{
    if (size <= a->room)
        return true;
    uint8_t *grown = realloc(a->bytes, size);
    if (!grown)
        return false;
    a->bytes = grown;
    a->room = size;
    return true;
}

/* Address filters of an Intel PT trace: "filter 0x100/0x20@/bin/program,...". What follows an @ is
 * a file's name. */
static void change_filter(struct anonymize *a, size_t size)
{
    static const char ends[] = ", \t\n"; /* and NUL */
    size_t length, offset = pd_pt_filter_text(a->bytes, size, a->copy.recording->swap, &length);
    char *at = (char *)a->bytes + offset, *end = at + length;
    while (at < end && (at = memchr(at, '@', (size_t)(end - at))) != NULL) {
        char *name = ++at;
        while (at < end && !memchr(ends, *at, sizeof ends))
            at++;
        pd_pseudonym(&a->pseudonyms, name, (size_t)(at - name));
    }
}

static perfdata_status take(void *data, const struct pd_walk *walk, struct pd_raw *raw)
{
    (void)walk;
    struct anonymize *a = data;
    enum fate fate = fate_of(raw->type);
    a->dropped += fate == GOES;
    if (fate == GOES)
        return PERFDATA_OK;
    if (fate == STAYS)
        return pd_copy_raw(&a->copy, raw);
    if (!make_room(a, raw->size))
        return pd_no_memory(&a->copy.recording->context, NULL);
    struct pd_raw changed = *raw;
    memcpy(a->bytes, raw->data, raw->size);
    changed.data = a->bytes;
    if (fate == IS_SAMPLE) {
        change_sample(a, raw);
    } else if (fate == IS_TRACE_INFO) {
        change_filter(a, raw->size);
    } else {
        struct pd_fields_input input = { raw->event, raw->data, raw->size, a->copy.recording->swap,
                                         a->copy.cpus };
        a->base = raw->data;
        pd_fields_walk(&input, &a->sink);
    }
    return pd_copy_raw(&a->copy, &changed);
}

/* ---- features ---- */

/* Features without names, and those whose names become others; all else, known or not, goes. */
static bool stays(unsigned feature)
{
    switch (feature) {
    case PD_FEATURE_TRACING_DATA:
    case PD_FEATURE_BUILD_ID:
    case PD_FEATURE_HOSTNAME:
    case PD_FEATURE_OSRELEASE:
    case PD_FEATURE_VERSION:
    case PD_FEATURE_ARCH:
    case PD_FEATURE_NRCPUS:
    case PD_FEATURE_CPUDESC:
    case PD_FEATURE_CPUID:
    case PD_FEATURE_TOTAL_MEM:
    case PD_FEATURE_CMDLINE:
    case PD_FEATURE_EVENT_DESC:
    case PD_FEATURE_CPU_TOPOLOGY:
    case PD_FEATURE_NUMA_TOPOLOGY:
    case PD_FEATURE_BRANCH_STACK:
    case PD_FEATURE_PMU_MAPPINGS:
    case PD_FEATURE_GROUP_DESC:
    case PD_FEATURE_AUXTRACE:
    case PD_FEATURE_STAT:
    case PD_FEATURE_CACHE:
    case PD_FEATURE_SAMPLE_TIME:
    case PD_FEATURE_MEM_TOPOLOGY:
    case PD_FEATURE_CLOCKID:
    case PD_FEATURE_DIR_FORMAT:
    case PD_FEATURE_COMPRESSED:
    case PD_FEATURE_CPU_PMU_CAPS:
    case PD_FEATURE_CLOCK_DATA:
    case PD_FEATURE_HYBRID_TOPOLOGY:
    case PD_FEATURE_PMU_CAPS:
    case PD_FEATURE_CPU_DOMAIN_INFO:
    case PD_FEATURE_E_MACHINE:
    case PD_FEATURE_CLN_SIZE: return true;
    default: return false;
    }
}

/* The names of threads: "17 name" lines; those of modules and BPF programs in kallsyms: "address
 * type name\t[module]". */
static void change_comms(struct anonymize *a, char *text, size_t size)
{
    for (char *line = text, *end = text + size, *next; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end;
        char *space = memchr(line, ' ', (size_t)(next - line));
        if (space)
            pd_pseudonym(&a->pseudonyms, space + 1, (size_t)(next - space - 1));
    }
}

static void change_kallsyms(struct anonymize *a, char *text, size_t size)
{
    for (char *line = text, *end = text + size, *next; line < end; line = next + 1) {
        next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next : end;
        char *tab = memchr(line, '\t', (size_t)(next - line));
        char *type = tab ? memchr(line, ' ', (size_t)(tab - line)) : NULL;
        char *name = type ? memchr(type + 1, ' ', (size_t)(tab - type - 1)) : NULL;
        if (!name)
            continue;
        pd_pseudonym(&a->pseudonyms, name + 1, (size_t)(tab - name - 1));
        pd_pseudonym(&a->pseudonyms, tab + 1, (size_t)(next - tab - 1));
    }
}

static void change_tracing(struct anonymize *a, const uint8_t *bytes, uint8_t *changed)
{
    size_t size;
    const uint8_t *part = pd_tracing_kallsyms(a->tracing, &size);
    if (part)
        change_kallsyms(a, (char *)changed + (part - bytes), size);
    part = pd_tracing_comms(a->tracing, &size);
    if (part)
        change_comms(a, (char *)changed + (part - bytes), size);
}

/* Changed in the recording's memory, before the copier takes them: the recording is not used for
 * anything else. */
static perfdata_status change_feature(struct anonymize *a, struct pd_recording *recording,
                                      unsigned feature)
{
    struct pd_feature_bytes *bytes = &recording->feature_table.bytes[feature];
    if (!bytes->data)
        return PERFDATA_OK;
    uint8_t *changed = pd_arena_alloc(&recording->arena, bytes->size + 1);
    if (!changed)
        return pd_no_memory(&recording->context, NULL);
    memcpy(changed, bytes->data, bytes->size);
    if (feature == PD_FEATURE_TRACING_DATA) {
        change_tracing(a, bytes->data, changed);
    } else {
        uint8_t *scratch = a->bytes;
        a->bytes = changed;
        a->base = bytes->data;
        pd_rows_walk(pd_feature_rows(feature, NULL), bytes->data, bytes->size, recording->swap, 0,
                     &a->sink);
        a->bytes = scratch;
    }
    bytes->data = changed;
    return PERFDATA_OK;
}

PD_PRINTF(2, 3) static void tell(struct anonymize *a, const char *format, ...)
{
    char line[160];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (a->options.write && length > 0)
        a->options.write(a->options.data, line, PD_MIN((size_t)length, sizeof line - 1));
}

static void drop_feature(struct anonymize *a, struct pd_recording *recording, unsigned feature)
{
    const char *name = pd_feature_name(feature);
    recording->feature_table.bytes[feature].data = NULL;
    tell(a, "feature %u%s%s is left out: it may hold names", feature, name ? ", " : "",
         name ? name : "");
}

static perfdata_status change_features(struct anonymize *a, struct pd_recording *recording)
{
    static const unsigned named[] = { PD_FEATURE_BUILD_ID, PD_FEATURE_HOSTNAME, PD_FEATURE_CMDLINE,
                                      PD_FEATURE_TRACING_DATA };
    perfdata_status status = PERFDATA_OK;
    bool tracing = a->tracing && pd_tracing_is_complete(a->tracing);
    for (unsigned i = 0; i < PD_LENGTH(recording->feature_table.bytes); i++)
        if (recording->feature_table.bytes[i].data &&
            (!stays(i) || (i == PD_FEATURE_TRACING_DATA && !tracing)))
            drop_feature(a, recording, i);
    for (size_t i = 0; i < PD_LENGTH(named) && status == PERFDATA_OK; i++)
        status = change_feature(a, recording, named[i]);
    return status;
}

static perfdata_status copy_all(struct anonymize *a)
{
    perfdata_status status = pd_copy_take_records(&a->copy, take, a);
    if (a->dropped)
        tell(a, "%" PRIu64 " records are left out: they may hold names", a->dropped);
    if (a->emptied)
        tell(a, "the raw bytes of %" PRIu64 " samples become zeros: they may hold names",
             a->emptied);
    if (status == PERFDATA_OK && a->pseudonyms.no_memory)
        status = pd_no_memory(&a->copy.recording->context, NULL);
    return status;
}

perfdata_status perfdata_anonymize(perfdata_recording *recording,
                                   const struct perfdata_output *output,
                                   const struct perfdata_anonymize_options *options)
{
    if (!recording->open || !output)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_recording *inner = &recording->recording;
    struct anonymize a = { .sink = { see_field, see_nothing, see_close, false, true } };
    perfdata_status status = pd_take_options(&inner->context, &a.options, sizeof a.options,
                                             options);
    if (status < 0)
        return status;
    const char *key = a.options.key ? a.options.key : "";
    a.pseudonyms.seed = pd_digest(key, strlen(key), 0);
    const struct pd_feature_bytes *tracing = &inner->feature_table.bytes[PD_FEATURE_TRACING_DATA];
    if (tracing->size)
        status = pd_tracing_open(&inner->context, tracing->data, tracing->size, NULL, &a.tracing);
    if (status == PERFDATA_ERROR_BAD_RECORD)
        status = PERFDATA_OK; /* it goes */
    if (status == PERFDATA_OK)
        status = change_features(&a, inner);
    if (status == PERFDATA_OK) {
        status = pd_copy_open(inner, output, PD_COPY_OPEN, &a.copy);
        if (status == PERFDATA_OK)
            status = pd_copy_begin(&a.copy);
        if (status == PERFDATA_OK)
            status = copy_all(&a);
        status = pd_copy_close(&a.copy, status);
    }
    free(a.bytes);
    pd_pseudonyms_free(&a.pseudonyms);
    pd_tracing_free(a.tracing);
    return status;
}
