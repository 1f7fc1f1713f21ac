/* SPDX-License-Identifier: MIT */
/* What is in the streams -> TSDL, the text of CTF 1.8 that describes it. */
#include "convert/ctf/ctf.h"
#include "container/container.h"

/* With its quotes. What names may not hold is \xNN first, so that nothing is left but quotes and
 * backslashes. */
static void put_string(struct pd_text *out, const char *text, size_t length)
{
    struct pd_text name = { 0 };
    pd_convert_name(&name, text, length);
    pd_text_char(out, '"');
    for (size_t i = 0; i < name.length; i++) {
        if (name.data[i] == '"' || name.data[i] == '\\')
            pd_text_char(out, '\\');
        pd_text_char(out, name.data[i]);
    }
    pd_text_char(out, '"');
    out->failed |= name.failed;
    pd_text_free(&name);
}

/* Bytes follow each other without gaps: so do those of perf, but for what it aligns to bytes. */
static void put_integer(struct pd_text *out, unsigned size, bool is_signed, bool hexadecimal,
                        const char *more)
{
    pd_text_format(out,
                   "\t\tinteger { size = %u; align = 8; signed = %s; encoding = none; base = %s; "
                   "byte_order = le;%s } ",
                   size * 8, is_signed ? "true" : "false", hexadecimal ? "hexadecimal" : "decimal",
                   more);
}

static void put_number(struct pd_text *out, unsigned size, const char *name)
{
    put_integer(out, size, false, false, "");
    pd_text_format(out, "%s;\n", name);
}

static void put_trace(const uint8_t uuid[16], struct pd_text *out)
{
    pd_text_string(out, "/* CTF 1.8 */\n\ntrace {\n\tmajor = 1;\n\tminor = 8;\n\tuuid = \"");
    for (size_t i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            pd_text_char(out, '-');
        pd_text_hex(out, uuid[i], 2, '0');
    }
    pd_text_string(out, "\";\n\tbyte_order = le;\n\tpacket.header := struct {\n");
    put_number(out, 4, "magic");
    put_number(out, 1, "uuid[16]");
    put_number(out, 4, "stream_id");
    pd_text_string(out, "\t};\n};\n\n");
}

static void put_word(struct pd_text *out, const char *key, const struct pd_str *value)
{
    if (!value->text)
        return;
    pd_text_format(out, "\t%s = ", key);
    put_string(out, value->text, strlen(value->text));
    pd_text_string(out, ";\n");
}

static void put_environment(const struct pd_features *features, struct pd_text *out)
{
    pd_text_string(out, "env {\n");
    put_word(out, "host", &features->hostname.text);
    pd_text_string(out, "\tsysname = \"Linux\";\n");
    put_word(out, "release", &features->osrelease.text);
    put_word(out, "version", &features->version.text);
    put_word(out, "machine", &features->arch.text);
    pd_text_string(out, "\tdomain = \"kernel\";\n\ttracer_name = \"perf\";\n};\n\n");
}

/* Seconds may be below zero, the rest may not. */
static void put_clock(int64_t offset, struct pd_text *out)
{
    enum { SECOND = 1000000000 };
    int64_t rest = offset % SECOND, seconds = offset / SECOND;
    if (rest < 0) {
        rest += SECOND;
        seconds--;
    }
    pd_text_format(out,
                   "clock {\n\tname = perf_clock;\n\tdescription = \"perf clock\";\n"
                   "\tfreq = 1000000000;\n\tprecision = 10;\n\toffset_s = %lld;\n"
                   "\toffset = %lld;\n\tabsolute = FALSE;\n};\n\n",
                   (long long)seconds, (long long)rest);
}

static void put_stream(struct pd_text *out)
{
    static const char *const words[] = { "timestamp_begin", "timestamp_end", "content_size",
                                         "packet_size", "events_discarded" };
    pd_text_string(out, "stream {\n\tid = 0;\n\tevent.header := struct {\n");
    put_number(out, 4, "id");
    put_integer(out, 8, false, false, " map = clock.perf_clock.value;");
    pd_text_string(out, "timestamp;\n\t};\n\n\tpacket.context := struct {\n");
    for (size_t i = 0; i < PD_LENGTH(words); i++)
        put_number(out, 8, words[i]);
    put_number(out, 4, "cpu_id");
    pd_text_string(out, "\t};\n};\n\n");
}

static void put_field(const struct pd_ctf_field *field, struct pd_text *out)
{
    if (field->shape == PD_CTF_STRING) {
        pd_text_format(out, "\t\tstring { encoding = UTF8; } %s;\n", field->name);
        return;
    }
    if (field->shape == PD_CTF_SEQUENCE)
        put_number(out, 4, field->length);
    put_integer(out, field->size, field->is_signed, field->hexadecimal, "");
    pd_text_string(out, field->name);
    if (field->shape == PD_CTF_ARRAY)
        pd_text_format(out, "[%u]", field->count);
    else if (field->shape == PD_CTF_SEQUENCE)
        pd_text_format(out, "[%s]", field->length);
    pd_text_string(out, ";\n");
}

static void put_event(const struct pd_ctf_event *event, uint32_t id, struct pd_text *out)
{
    pd_text_format(out, "event {\n\tid = %u;\n\tname = ", id);
    put_string(out, event->name, strlen(event->name));
    pd_text_string(out, ";\n\tstream_id = 0;\n\tfields := struct {\n");
    for (size_t i = 0; i < event->fields.count; i++)
        put_field(&event->fields.data[i], out);
    pd_text_string(out, "\t};\n};\n\n");
}

void pd_ctf_metadata(const struct pd_recording *recording, const struct pd_ctf_layout *layout,
                     const uint8_t uuid[16], int64_t offset, struct pd_text *out)
{
    put_trace(uuid, out);
    put_environment(&recording->features, out);
    put_clock(offset, out);
    put_stream(out);
    for (uint32_t i = 0; i < layout->count; i++)
        put_event(&layout->events[i], i, out);
}
