/* SPDX-License-Identifier: MIT */
/* What lies around the records of a recording -> text: the file's header, attributes, ids,
 * features, tracing data. */
#include "format/attr_text.h"
#include "format/names.h"
#include "format/tracing.h"
#include "render/dump/dump.h"

#define ULL(value) ((unsigned long long)(value))

static void put_section(struct pd_text *text, const char *name, struct pd_section section)
{
    pd_text_format(text, "  %s: offset %llu, size %llu\n", name, ULL(section.offset),
                   ULL(section.size));
}

static void put_file(const struct pd_recording *recording, struct pd_text *text)
{
    bool is_pipe = recording->kind == PD_CONTAINER_PIPE;
    pd_text_format(text, "header of a %s\n",
                   is_pipe                                     ? "pipe"
                   : recording->kind == PD_CONTAINER_DIRECTORY ? "directory's file data"
                                                               : "file");
    pd_text_format(text, "  magic: \"%s\"\n",
                   recording->version == 1 ? "PERFFILE"
                   : recording->big_endian ? "2ELIFREP"
                                           : "PERFILE2");
    pd_text_format(text, "  byte_order: %s\n", recording->big_endian ? "big" : "little");
    pd_text_format(text, "  size: %llu\n", ULL(recording->header_size));
    if (is_pipe)
        return;
    pd_text_format(text, "  attr_size: %llu\n", ULL(recording->attr_size));
    put_section(text, "attrs", recording->attrs);
    put_section(text, "data", recording->recorded_data);
    if (recording->unfinished || recording->truncated)
        pd_text_format(text, "    # %s: there are %llu bytes\n",
                       recording->unfinished ? "not finished" : "cut", ULL(recording->data.size));
    put_section(text, "event_types", recording->event_types);
    pd_text_string(text, "  features:");
    for (unsigned i = 0; i < PD_LENGTH(recording->feature_table.bits); i++)
        pd_text_format(text, " 0x%016llx", ULL(recording->feature_table.bits[i]));
    pd_text_format(text, "\n  feature_table: offset %llu\n", ULL(recording->feature_table.offset));
}

static void put_events(const struct pd_recording *recording, struct pd_text *text)
{
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_event *event = recording->events[i];
        pd_text_format(text, "event %zu ", i);
        pd_text_json(text, event->name, event->name_length);
        pd_text_string(text, "\n  attr:");
        pd_attr_text(&event->attr, " ", ", ", " = ", false, text);
        pd_text_string(text, "\n  ids:");
        for (size_t k = 0; k < event->id_count; k++)
            pd_text_format(text, " %llu", ULL(event->ids[k]));
        pd_text_char(text, '\n');
    }
}

static bool put_part(void *data, const struct pd_tracing_part *part)
{
    struct pd_text *text = data;
    pd_text_format(text, "    %s: offset %zu, ", pd_tracing_kind_name(part->kind), part->offset);
    if (!part->data) {
        pd_text_format(text, "%llu\n", ULL(part->number));
        return true;
    }
    pd_text_format(text, "size %zu", part->size);
    if (part->kind == PD_TRACING_SYSTEM) {
        pd_text_format(text, " \"%s\", %llu formats", part->system, ULL(part->number));
    } else if (part->kind == PD_TRACING_VERSION) {
        pd_text_char(text, ' ');
        pd_text_json(text, (const char *)part->data, part->size);
    } else if (part->kind != PD_TRACING_MAGIC && part->kind != PD_TRACING_REST) {
        const uint8_t *line = part->data, *end = part->data + part->size;
        while (line < end) {
            const uint8_t *stop = memchr(line, '\n', (size_t)(end - line));
            stop = stop ? stop : end;
            pd_text_string(text, "\n      ");
            pd_text_json(text, (const char *)line, (size_t)(stop - line));
            line = stop + (stop < end);
        }
    } else {
        pd_text_char(text, ' ');
        pd_text_hex_bytes(text, part->data, PD_MIN(part->size, (size_t)32));
        pd_text_string(text, part->size > 32 ? "..." : "");
    }
    pd_text_char(text, '\n');
    return true;
}

static void put_bytes(struct pd_text *text, const uint8_t *bytes, size_t size)
{
    enum { LINE = 32 };
    for (size_t at = 0; at < size; at += LINE) {
        pd_text_format(text, "  %04zx  ", at);
        pd_text_hex_bytes(text, bytes + at, PD_MIN((size_t)LINE, size - at));
        pd_text_char(text, '\n');
    }
}

static void put_feature(const struct pd_recording *recording, unsigned feature,
                        struct pd_dump *dump)
{
    struct pd_text *text = dump->text;
    const struct pd_feature_bytes *bytes = &recording->feature_table.bytes[feature];
    struct pd_section section = recording->feature_table.section[feature];
    const char *name = pd_feature_name(feature);
    pd_text_format(text, "feature %u %s: offset %llu, size %llu\n", feature,
                   name ? name : "(unknown)", ULL(section.offset),
                   ULL(section.size ? section.size : bytes->size));
    if (!bytes->data) {
        if (section.size)
            pd_text_string(text, "  # cannot be read\n");
        return;
    }
    const struct pd_row *rows = pd_feature_rows(feature, NULL);
    if (feature == PD_FEATURE_TRACING_DATA) {
        if (!pd_tracing_walk(bytes->data, bytes->size, put_part, text))
            pd_text_string(text, "    # ends early\n");
    } else if (!rows) {
        put_bytes(text, bytes->data, bytes->size);
    } else if (pd_rows_walk(rows, bytes->data, bytes->size, recording->swap,
                            recording->features.nrcpus.available, &dump->sink) < 0) {
        pd_text_string(text, "  # says more than it holds\n");
    }
}

void pd_dump_around(const struct pd_recording *recording, struct pd_dump *dump)
{
    pd_dump_lines(dump);
    put_file(recording, dump->text);
    put_events(recording, dump->text);
    for (unsigned feature = 1; feature < PD_LENGTH(recording->feature_table.section); feature++)
        if (pd_recording_has_feature(recording, feature) ||
            recording->feature_table.bytes[feature].data)
            put_feature(recording, feature, dump);
}
