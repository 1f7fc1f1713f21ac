/* SPDX-License-Identifier: MIT */
/* Records as JSON, one object a line. A key has one type for ever: counts and sizes are numbers,
 * 64-bit ids and times decimal strings, addresses and masks hexadecimal strings, bytes strings of
 * hexadecimal digits. */
#include "render/dump/dump.h"
#include <math.h>

static void begin_member(struct pd_dump *dump, const char *name)
{
    struct pd_text *text = dump->text;
    if (!dump->first[dump->depth])
        pd_text_char(text, ',');
    dump->first[dump->depth] = false;
    if (name) {
        pd_text_json(text, name, strlen(name));
        pd_text_char(text, ':');
    }
}

static void put_hex(struct pd_text *text, uint64_t value)
{
    pd_text_string(text, "\"0x");
    pd_text_hex(text, value, 0, ' ');
    pd_text_char(text, '"');
}

static void put_decimal_string(struct pd_text *text, uint64_t value)
{
    pd_text_char(text, '"');
    pd_text_u64(text, value, 0, ' ');
    pd_text_char(text, '"');
}

static void put_real(struct pd_text *text, uint64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    if (isfinite(real))
        pd_text_format(text, "%.17g", real);
    else
        pd_text_string(text, "null");
}

static void put_number(struct pd_text *text, const struct pd_field *field)
{
    switch (field->kind) {
    case PD_KIND_x64:
    case PD_KIND_flags: put_hex(text, field->value); break;
    case PD_KIND_u64: put_decimal_string(text, field->value); break;
    case PD_KIND_pid: pd_text_i64(text, (int32_t)field->value, 0); break;
    case PD_KIND_s32:
    case PD_KIND_s64: pd_text_i64(text, (int64_t)field->value, 0); break;
    case PD_KIND_f64: put_real(text, field->value); break;
    default: pd_text_u64(text, field->value, 0, ' '); break;
    }
}

static void put_branches(struct pd_text *text, const struct pd_field *field)
{
    struct pd_sample view = { .branches = field->data, .swap = field->swap };
    for (uint32_t i = 0; i < field->length; i++) {
        struct pd_branch branch = pd_branch_at(&view, i);
        pd_text_string(text, i ? ",{\"from\":" : "{\"from\":");
        put_hex(text, branch.from);
        pd_text_string(text, ",\"to\":");
        put_hex(text, branch.to);
#define BRANCH_FLAG(NAME, name, width, le, be)                                                     \
    pd_text_string(text, ",\"" #name "\":");                                                       \
    pd_text_u64(text, PD_BRANCH_PART(branch.flags, NAME), 0, ' ');
#define DATA_SRC(NAME, name, shift, width)
#include "format/words.def"
#undef BRANCH_FLAG
#undef DATA_SRC
        pd_text_char(text, '}');
    }
}

static void put_element(struct pd_dump *dump, const struct pd_field *field, uint32_t index,
                        uint64_t value)
{
    struct pd_text *text = dump->text;
    if (field->mask) {
        unsigned number = pd_dump_register(field->mask, index);
        pd_text_format(text, "{\"index\":%u,\"name\":\"%s\",\"value\":", number,
                       pd_register_name(dump->arch, number, field->value));
        put_hex(text, value);
        pd_text_char(text, '}');
    } else if (field->kind == PD_KIND_x64s) {
        put_hex(text, value);
    } else if (field->kind == PD_KIND_u64s) {
        put_decimal_string(text, value);
    } else {
        pd_text_u64(text, value, 0, ' ');
    }
}

static void put_array(struct pd_dump *dump, const struct pd_field *field)
{
    struct pd_array array = { field->data, field->length,
                              (uint8_t)(field->length ? field->size / field->length : 8),
                              field->swap };
    pd_text_char(dump->text, '[');
    if (field->kind == PD_KIND_branches) {
        put_branches(dump->text, field);
    } else {
        for (uint32_t i = 0; i < field->length; i++) {
            if (i)
                pd_text_char(dump->text, ',');
            put_element(dump, field, i, pd_array_at(&array, i));
        }
    }
    pd_text_char(dump->text, ']');
}

/* Writes the words' names beside them. */
static void put_word_names(struct pd_dump *dump, const struct pd_field *field)
{
    struct pd_array array = { field->data, field->length, 8, field->swap };
    struct pd_auxtrace_words words = { 0 };
    begin_member(dump, "priv_names");
    pd_text_char(dump->text, '[');
    for (uint32_t i = 0; i < field->length; i++) {
        pd_text_string(dump->text, i ? ",\"" : "\"");
        pd_auxtrace_word(&words, dump->auxtrace_type, &array, i, dump->text);
        pd_text_char(dump->text, '"');
    }
    pd_text_char(dump->text, ']');
}

/* Writes the names of a mask's flags beside it. */
static void put_flag_names(struct pd_dump *dump, const struct pd_field *field)
{
    bool some = false;
    begin_member(dump, "flag_names");
    pd_text_char(dump->text, '[');
    for (const struct pd_name *item = field->names->items; item->text; item++) {
        if (!(field->value & item->value))
            continue;
        pd_text_format(dump->text, "%s\"%s\"", some ? "," : "", item->text);
        some = true;
    }
    pd_text_char(dump->text, ']');
}

static void json_field(struct pd_sink *sink, const struct pd_field *field)
{
    struct pd_dump *dump = (struct pd_dump *)sink;
    struct pd_text *text = dump->text;
    if (pd_dump_is_blank(field))
        return;
    pd_dump_note(dump, field);
    begin_member(dump, field->name);
    switch (pd_kinds[field->kind].shape) {
    case PD_SHAPE_NUMBER: put_number(text, field); break;
    case PD_SHAPE_TEXT: pd_text_json(text, (const char *)field->data, field->length); break;
    case PD_SHAPE_ARRAY: put_array(dump, field); break;
    default:
        pd_text_char(text, '"');
        pd_text_hex_bytes(text, field->data, field->size);
        pd_text_char(text, '"');
        break;
    }
    if (pd_dump_is_auxtrace(field))
        put_word_names(dump, field);
    else if (field->kind == PD_KIND_flags && field->names)
        put_flag_names(dump, field);
}

static void json_open(struct pd_sink *sink, const struct pd_field *field)
{
    struct pd_dump *dump = (struct pd_dump *)sink;
    begin_member(dump, field->name);
    pd_text_char(dump->text, field->kind == PD_KIND_list ? '[' : '{');
    if (dump->depth + 1 < PD_DUMP_DEEPEST)
        dump->depth++;
    dump->first[dump->depth] = true;
    dump->list[dump->depth] = field->kind == PD_KIND_list;
}

static void json_close(struct pd_sink *sink)
{
    struct pd_dump *dump = (struct pd_dump *)sink;
    pd_text_char(dump->text, dump->list[dump->depth] ? ']' : '}');
    dump->depth--;
}

perfdata_status pd_dump_json(struct pd_dump *dump, const struct pd_raw *raw,
                             const struct pd_fields_input *input)
{
    struct pd_text *text = dump->text;
    dump->sink = (struct pd_sink){ json_field, json_open, json_close, false, true };
    dump->depth = 0;
    dump->first[0] = true;
    pd_text_string(text, "{\"offset\":");
    pd_text_u64(text, raw->offset, 0, ' ');
    pd_text_string(text, ",\"type\":\"");
    pd_dump_type(text, raw->type);
    pd_text_string(text, "\",\"number\":");
    pd_text_u64(text, raw->type, 0, ' ');
    pd_text_string(text, ",\"misc\":");
    pd_text_u64(text, raw->misc, 0, ' ');
    pd_text_string(text, ",\"size\":");
    pd_text_u64(text, raw->size, 0, ' ');
    pd_text_string(text, ",\"payload_size\":");
    pd_text_u64(text, raw->payload_size, 0, ' ');
    pd_text_string(text, ",\"event\":");
    if (raw->event)
        pd_text_json(text, raw->event->name, raw->event->name_length);
    else
        pd_text_string(text, "null");
    pd_text_string(text, ",\"fields\":{");
    perfdata_status status = pd_fields_walk(input, &dump->sink);
    pd_text_string(text, status == PERFDATA_OK ? "}}\n" : "},\"damaged\":true}\n");
    return status;
}
