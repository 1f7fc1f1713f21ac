/* SPDX-License-Identifier: MIT */
/* Names out. A pseudonym has its name's length, so every record and feature keeps its size and place. */
#include "container/handle.h"
#include "format/fields.h"
#include "rewrite/rewrite.h"
#include "tracepoint/tracepoint.h"
#include <ctype.h>
#include <stdlib.h>

enum { TRIES = 64, NAME_MAX_BYTES = 4096 };

struct anonymize {
    struct pd_sink sink;
    struct pd_copy copy;
    struct perfdata_anonymize_options options;
    struct pd_tracing *tracing;
    struct pd_map64 names; /* hash of a name -> number of the try that gave its pseudonym */
    struct pd_map64 taken; /* hash of a pseudonym -> low bits of its name's hash */
    uint64_t seed;
    const uint8_t *base; /* of the bytes that the fields point into */
    uint8_t *bytes;      /* their copy, which is changed */
    size_t room;
    bool texts; /* the record's texts are names */
    bool no_memory;
};

/* ---- pseudonyms ---- */

static void spell(uint64_t hash, char *name, size_t length)
{
    static const char consonants[] = "bcdfghjklmnpqrstvwxz", vowels[] = "aeiou";
    for (size_t i = 0; i < length; i++) {
        hash = pd_hash64(hash + i + 1);
        name[i] = i % 2 ? vowels[hash % 5] : consonants[hash % 20];
    }
}

/* A name that no other has, where the length gives enough of them. */
static void rename_part(struct anonymize *a, char *name, size_t length)
{
    uint64_t hash = pd_hash_bytes(name, length, a->seed);
    uint32_t known = pd_map64_get(&a->names, hash), owner = (uint32_t)hash & INT32_MAX;
    for (uint32_t attempt = known == PD_MAP64_NONE ? 0 : known;; attempt++) {
        spell(hash + attempt, name, length);
        uint64_t made = pd_hash_bytes(name, length, 1);
        uint32_t before = pd_map64_get(&a->taken, made);
        if (known == PD_MAP64_NONE && before != PD_MAP64_NONE && before != owner && attempt < TRIES)
            continue;
        if (known == PD_MAP64_NONE)
            a->no_memory |= !pd_map64_set(&a->names, hash, attempt) ||
                            !pd_map64_set(&a->taken, made, owner);
        return;
    }
}

/* What tells readers what a file is stays: ".so.6", ".ko.xz". */
static size_t stem_length(const char *name, size_t length)
{
    for (size_t i = 1; i + 3 <= length; i++)
        if (name[i] == '.' && (!memcmp(name + i, ".so", 3) || !memcmp(name + i, ".ko", 3)))
            return i;
    return length;
}

/* Names that the kernel and perf give: they tell nothing of the host, and readers know them. */
static bool is_common(const char *name, size_t length)
{
    static const char *const common[] = { "[",       "//",        "/dev/zero",
                                          "/SYSV",   "/memfd:",   "anon_inode:",
                                          "swapper", "(deleted)", "inode_class" };
    for (size_t i = 0; i < PD_LENGTH(common); i++) {
        size_t size = strlen(common[i]);
        if (length >= size && !memcmp(name, common[i], size))
            return true;
    }
    return false;
}

static void rename_text(struct anonymize *a, char *text, size_t length)
{
    if (!length || is_common(text, length))
        return;
    for (size_t at = 0; at < length;) {
        const char *slash = memchr(text + at, '/', length - at);
        size_t size = slash ? (size_t)(slash - (text + at)) : length - at;
        if (size)
            rename_part(a, text + at, stem_length(text + at, size));
        at += size + 1;
    }
}

/* ---- fields ---- */

static void see_field(struct pd_sink *sink, const struct pd_field *field)
{
    struct anonymize *a = (struct anonymize *)sink;
    if (!a->texts || pd_kinds[field->kind].shape != PD_SHAPE_TEXT || !field->data)
        return;
    size_t at = (size_t)(field->data - a->base);
    rename_text(a, (char *)a->bytes + at, PD_MIN((size_t)field->length, field->size));
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

static bool has_names(uint32_t type)
{
    switch (type) {
    case PD_RECORD_MMAP:
    case PD_RECORD_MMAP2:
    case PD_RECORD_COMM:
    case PD_RECORD_CGROUP:
    case PD_RECORD_KSYMBOL:
    case PD_RECORD_THREAD_MAP:
    case PD_RECORD_HEADER_BUILD_ID: return true;
    default: return false;
    }
}

static void rename_payload(struct anonymize *a, const struct pd_sample *sample)
{
    const struct pd_trace_format *format = pd_tracing_format(a->tracing,
                                                             sample->event->attr.config);
    size_t count = format ? pd_trace_field_count(format) : 0;
    for (size_t i = 0; i < count; i++) {
        const struct pd_trace_field *field = pd_trace_field_at(format, i);
        size_t length;
        if (field->kind != PD_TRACE_STRING)
            continue;
        const uint8_t *text = pd_trace_bytes(format, field, sample->raw, sample->raw_size, &length);
        if (text)
            rename_text(a, (char *)a->bytes + (text - a->bytes),
                        strnlen((const char *)text, length));
    }
}

static void change_sample(struct anonymize *a, const struct pd_raw *raw)
{
    struct pd_sample sample;
    if (!raw->event || pd_sample_decode(raw->event, a->bytes, raw->size, &sample) < 0)
        return;
    if (sample.stack && !(a->options.flags & PERFDATA_ANONYMIZE_KEEP_STACKS))
        memset(a->bytes + (sample.stack - a->bytes), 0, sample.stack_size);
    if (sample.raw && a->tracing && raw->event->attr.type == PD_TYPE_TRACEPOINT)
        rename_payload(a, &sample);
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

static perfdata_status take(struct anonymize *a, const struct pd_raw *raw)
{
    if (raw->type == PD_RECORD_HEADER_FEATURE || raw->type == PD_RECORD_BPF_METADATA)
        return PERFDATA_OK; /* of a second stream: its names would pass */
    if (!has_names(raw->type) && raw->type != PD_RECORD_SAMPLE)
        return pd_copy_raw(&a->copy, raw);
    if (!make_room(a, raw->size))
        return pd_fail(&a->copy.recording->context, PERFDATA_ERROR_MEMORY, -1, "out of memory");
    struct pd_raw changed = *raw;
    memcpy(a->bytes, raw->data, raw->size);
    changed.data = a->bytes;
    if (raw->type == PD_RECORD_SAMPLE) {
        change_sample(a, raw);
    } else {
        struct pd_fields_input input = { raw->event, raw->data, raw->size, a->copy.recording->swap,
                                         a->copy.cpus };
        a->base = raw->data;
        a->texts = true;
        pd_fields_walk(&input, &a->sink);
    }
    return pd_copy_raw(&a->copy, &changed);
}

/* ---- features ---- */

/* Changed in the recording's memory, before the copier takes them: the recording is not used for anything else. */
static perfdata_status change_feature(struct anonymize *a, struct pd_recording *recording,
                                      unsigned feature)
{
    struct pd_feature_bytes *bytes = &recording->feature_bytes[feature];
    if (!bytes->data)
        return PERFDATA_OK;
    uint8_t *changed = pd_arena_alloc(&recording->arena, bytes->size + 1);
    if (!changed)
        return pd_fail(&recording->context, PERFDATA_ERROR_MEMORY, -1, "out of memory");
    memcpy(changed, bytes->data, bytes->size);
    free(a->bytes);
    a->room = 0;
    a->bytes = changed;
    a->base = bytes->data;
    a->texts = true;
    pd_rows_walk(pd_feature_rows(feature, NULL), bytes->data, bytes->size, recording->swap, 0,
                 &a->sink);
    a->bytes = NULL;
    bytes->data = changed;
    return PERFDATA_OK;
}

static perfdata_status change_features(struct anonymize *a, struct pd_recording *recording)
{
    static const unsigned named[] = { PD_FEATURE_BUILD_ID, PD_FEATURE_HOSTNAME,
                                      PD_FEATURE_CMDLINE };
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < PD_LENGTH(named) && status == PERFDATA_OK; i++)
        status = change_feature(a, recording, named[i]);
    recording->feature_bytes[PD_FEATURE_BPF_PROG_INFO].data = NULL;
    recording->feature_bytes[PD_FEATURE_BPF_BTF].data = NULL;
    return status;
}

static perfdata_status copy_all(struct anonymize *a)
{
    struct pd_walk *walk;
    struct pd_raw raw;
    int got = pd_copy_walk(&a->copy, &walk);
    if (got < 0)
        return got;
    while ((got = pd_walk_next(walk, &raw)) > 0) {
        if (pd_walk_doubts(walk, &raw))
            continue;
        got = take(a, &raw);
        if (got < 0)
            break;
    }
    pd_walk_close(walk);
    if (got == PERFDATA_OK && a->no_memory)
        got = pd_fail(&a->copy.recording->context, PERFDATA_ERROR_MEMORY, -1, "out of memory");
    return got;
}

perfdata_status perfdata_anonymize(perfdata_recording *recording,
                                   const struct perfdata_output *output,
                                   const struct perfdata_anonymize_options *options)
{
    if (!recording->open || !output)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_recording *inner = &recording->recording;
    struct anonymize a = { .sink = { see_field, see_nothing, see_close, false, true } };
    if (options)
        memcpy(&a.options, options, PD_MIN(options->struct_size, sizeof a.options));
    const char *key = a.options.key ? a.options.key : "";
    a.seed = pd_hash_bytes(key, strlen(key), 0);
    const struct pd_feature_bytes *tracing = &inner->feature_bytes[PD_FEATURE_TRACING_DATA];
    perfdata_status status = PERFDATA_OK;
    if (tracing->size)
        status = pd_tracing_open(&inner->context, tracing->data, tracing->size, NULL, &a.tracing);
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
    pd_map64_free(&a.names);
    pd_map64_free(&a.taken);
    pd_tracing_free(a.tracing);
    return status;
}
