/* SPDX-License-Identifier: MIT */
/* The header as JSON: every feature and field of features.def under its name. */
#include "format/attr_text.h"
#include "render/about/header.h"
#include "format/names.h"
#include "format/tracing.h"

static void put_key(struct pd_text *out, bool *some, const char *name)
{
    pd_text_format(out, "%s\"%s\":", *some ? "," : "", name);
    *some = true;
}

static void put_bytes(struct pd_text *out, const uint8_t *bytes, size_t size)
{
    pd_text_char(out, '"');
    for (size_t i = 0; i < size; i++)
        pd_text_hex(out, bytes[i], 2, '0');
    pd_text_char(out, '"');
}

static void put_str(struct pd_text *out, const struct pd_str *value)
{
    if (value->text)
        pd_text_json(out, value->text, strlen(value->text));
    else
        pd_text_string(out, "null");
}

/* Of opaque bytes only their number is told. */
static void put_span(struct pd_text *out, const struct pd_span *value)
{
    pd_text_format(out, "{\"size\":%zu}", value->size);
}

static void put_array(struct pd_text *out, const struct pd_array *value, const char *format)
{
    pd_text_char(out, '[');
    for (uint32_t i = 0; i < value->count; i++) {
        pd_text_string(out, i ? "," : "");
        if (format) { /* 64 bits: strings, JSON numbers may lose the last of them */
            pd_text_string(out, "\"");
            pd_text_string(out, format);
            if (*format)
                pd_text_hex(out, pd_array_at(value, i), 0, ' ');
            else
                pd_text_u64(out, pd_array_at(value, i), 0, ' ');
            pd_text_string(out, "\"");
        } else {
            pd_text_u64(out, pd_array_at(value, i), 0, ' ');
        }
    }
    pd_text_char(out, ']');
}

/* One per kind of field (rows.h). */
#define JSON_u8(v) pd_text_u64(out, v, 0, ' ')
#define JSON_u16(v) pd_text_u64(out, v, 0, ' ')
#define JSON_u32(v) pd_text_u64(out, v, 0, ' ')
#define JSON_u64(v) pd_text_format(out, "\"%llu\"", (unsigned long long)(v))
#define JSON_x64(v) pd_text_format(out, "\"0x%llx\"", (unsigned long long)(v))
#define JSON_n64(v) pd_text_u64(out, v, 0, ' ')
#define JSON_pid(v) pd_text_i64(out, (int32_t)(v), 0)
#define JSON_res8(v) pd_text_u64(out, v, 0, ' ')
#define JSON_res16(v) pd_text_u64(out, v, 0, ' ')
#define JSON_res32(v) pd_text_u64(out, v, 0, ' ')
#define JSON_text(v) put_str(out, &(v))
#define JSON_lstr(v) put_str(out, &(v))
#define JSON_zstr(v) put_str(out, &(v))
#define JSON_char16(v) put_str(out, &(v))
#define JSON_bytes8(v) put_bytes(out, v, sizeof(v))
#define JSON_bytes20(v) put_bytes(out, v, sizeof(v))
#define JSON_sized(v) put_span(out, &(v))
#define JSON_rest(v) put_span(out, &(v))
#define JSON_u32s(v) put_array(out, &(v), NULL)
#define JSON_u64s(v) put_array(out, &(v), "")
#define JSON_x64s(v) put_array(out, &(v), "0x")
#define JSON_attr(v) pd_attr_json(&(v), out)

#define PART(part)                                                                                 \
    static void json_part_##part(struct pd_text *out, const struct pd_part_##part *value)          \
    {                                                                                              \
        bool some = false;                                                                         \
        pd_text_char(out, '{');
#define FEATURE(number, NAME, feature)                                                             \
    static void json_feature_##feature(struct pd_text *out,                                        \
                                       const struct pd_feature_##feature *value)                   \
    {                                                                                              \
        bool some = false;                                                                         \
        (void)some;                                                                                \
        (void)value;                                                                               \
        pd_text_char(out, '{');
#define FIELD(kind, name, ...)                                                                     \
    put_key(out, &some, #name);                                                                    \
    JSON_##kind(value->name);
#define OPTIONAL(kind, name, ...) FIELD(kind, name, )
#define LIST(part, name, ...)                                                                      \
    put_key(out, &some, #name);                                                                    \
    pd_text_char(out, '[');                                                                        \
    for (uint32_t i = 0; i < value->name##_count; i++) {                                           \
        pd_text_string(out, i ? "," : "");                                                         \
        json_part_##part(out, &value->name[i]);                                                    \
    }                                                                                              \
    pd_text_char(out, ']');
#define WINDOW(part, name, ...)                                                                    \
    put_key(out, &some, #name);                                                                    \
    json_part_##part(out, &value->name);
#define END(name)                                                                                  \
    pd_text_char(out, '}');                                                                        \
    }
#include "format/nothing.h"
#include "format/features.def"
#define PD_FORGET
#include "format/nothing.h"

static void put_file(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_section *data = &recording->recorded_data;
    pd_text_format(out, "{\"version\":%u,\"big_endian\":%s,\"captured_on\":\"%lld\"",
                   recording->version, recording->big_endian ? "true" : "false",
                   (long long)pd_source_mtime(recording->source));
    pd_text_format(out, ",\"data_offset\":%llu,\"data_size\":%llu,\"feature_offset\":%llu",
                   (unsigned long long)data->offset, (unsigned long long)data->size,
                   (unsigned long long)(data->offset + data->size));
    pd_text_format(out, ",\"unfinished\":%s,\"truncated\":%s",
                   recording->unfinished ? "true" : "false",
                   recording->truncated ? "true" : "false");
}

static void put_section(struct pd_text *out, const char *name, struct pd_section section)
{
    pd_text_format(out, ",\"%s\":{\"offset\":%llu,\"size\":%llu}", name,
                   (unsigned long long)section.offset, (unsigned long long)section.size);
}

/* Where the parts of the file lie, as its header says. */
static void put_layout(const struct pd_recording *recording, struct pd_text *out)
{
    bool is_pipe = recording->kind == PD_CONTAINER_PIPE;
    const char *magic = recording->version == 1 ? "PERFFILE"
                        : recording->big_endian ? "2ELIFREP"
                                                : "PERFILE2";
    pd_text_format(out, ",\"header\":{\"magic\":\"%s\",\"size\":%llu,\"attr_size\":%llu", magic,
                   (unsigned long long)recording->header_size,
                   (unsigned long long)recording->attr_size);
    if (!is_pipe) {
        put_section(out, "attrs", recording->attrs);
        put_section(out, "data", recording->recorded_data);
        put_section(out, "event_types", recording->event_types);
    }
    pd_text_string(out, ",\"feature_bits\":[");
    for (unsigned i = 0; i < PD_LENGTH(recording->feature_table.bits); i++)
        pd_text_format(out, "%s\"0x%llx\"", i ? "," : "",
                       (unsigned long long)recording->feature_table.bits[i]);
    pd_text_string(out, "]},\"sections\":[");
    bool some = false;
    for (unsigned i = 1; i < PD_LENGTH(recording->feature_table.section); i++) {
        if (!pd_recording_has_feature(recording, i))
            continue;
        const char *name = pd_feature_name(i);
        pd_text_format(out, "%s{\"feature\":%u,\"name\":%s%s%s,\"offset\":%llu,\"size\":%llu}",
                       some ? "," : "", i, name ? "\"" : "", name ? name : "null", name ? "\"" : "",
                       (unsigned long long)recording->feature_table.section[i].offset,
                       (unsigned long long)recording->feature_table.section[i].size);
        some = true;
    }
    pd_text_char(out, ']');
}

static bool put_tracing_part(void *data, const struct pd_tracing_part *part)
{
    struct pd_text *out = data;
    pd_text_format(out, "%s{\"part\":\"%s\",\"offset\":%zu,\"size\":%zu",
                   out->data[out->length - 1] == '[' ? "" : ",", pd_tracing_kind_name(part->kind),
                   part->offset, part->size);
    if (part->system) {
        pd_text_string(out, ",\"system\":");
        pd_text_json(out, part->system, strlen(part->system));
    }
    if (!part->data || part->kind == PD_TRACING_SYSTEM)
        pd_text_format(out, ",\"number\":%llu", (unsigned long long)part->number);
    if (part->data && part->kind != PD_TRACING_MAGIC && part->kind != PD_TRACING_SYSTEM &&
        part->kind != PD_TRACING_REST) {
        pd_text_string(out, ",\"text\":");
        pd_text_json(out, (const char *)part->data, part->size);
    }
    pd_text_char(out, '}');
    return !out->failed;
}

static void put_tracing(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_span *data = &recording->features.tracing_data.data;
    if (!data->size)
        return;
    pd_text_string(out, ",\"tracing_parts\":[");
    bool whole = pd_tracing_walk(data->data, data->size, put_tracing_part, out);
    pd_text_format(out, "],\"tracing_whole\":%s", whole ? "true" : "false");
}

static void put_ids(const struct pd_event *event, struct pd_text *out)
{
    pd_text_string(out, ",\"id_list\":[");
    for (size_t i = 0; i < event->id_count; i++)
        pd_text_format(out, "%s\"%llu\"", i ? "," : "", (unsigned long long)event->ids[i]);
    pd_text_char(out, ']');
}

static void put_groups(const struct pd_recording *recording, struct pd_text *out)
{
    pd_text_string(out, ",\"events\":[");
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_event *event = recording->events[i];
        pd_text_format(out, "%s{\"name\":", i ? "," : "");
        pd_text_json(out, event->name, event->name_length);
        pd_text_format(out, ",\"leader\":%u,\"ids\":%zu,\"attr\":", event->leader, event->id_count);
        pd_attr_json(&event->attr, out);
        put_ids(event, out);
        pd_text_char(out, '}');
    }
    pd_text_char(out, ']');
}

void pd_header_json(const struct pd_recording *recording, struct pd_text *out)
{
    const struct pd_features *features = &recording->features;
    bool some = false;
    put_file(recording, out);
    put_layout(recording, out);
    put_tracing(recording, out);
    put_groups(recording, out);
    pd_text_string(out, ",\"features\":{");
#define FEATURE(number, NAME, feature)                                                             \
    if (features->feature.present) {                                                               \
        put_key(out, &some, #feature);                                                             \
        json_feature_##feature(out, &features->feature);                                           \
    }
#include "format/nothing.h"
#include "format/features.def"
#define PD_FORGET
#include "format/nothing.h"
    pd_text_string(out, "}}\n");
}
