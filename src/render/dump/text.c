/* SPDX-License-Identifier: MIT */
/* Records as indented lines, "name: value"; items of lists begin with a dash. */
#include "render/dump/dump.h"

#define BYTES_A_LINE 32

static struct pd_text *begin_line(struct pd_dump *dump, const char *name)
{
    struct pd_text *text = dump->text;
    unsigned level = dump->depth;
    bool item = level && dump->list[level - 1] && dump->first[level];
    pd_text_fill(text, ' ', 2 + 2 * (size_t)level - (item ? 2 : 0));
    if (item)
        pd_text_string(text, "- ");
    dump->first[level] = false;
    pd_text_string(text, name);
    pd_text_char(text, ':');
    return text;
}

static void begin_element(struct pd_dump *dump)
{
    pd_text_char(dump->text, '\n');
    pd_text_fill(dump->text, ' ', 4 + 2 * (size_t)dump->depth);
}

static void put_names(struct pd_text *text, const struct pd_field *field)
{
    const char *name;
    if (!field->names)
        return;
    if (field->names->bits) {
        if (!field->value)
            return;
        pd_text_string(text, " (");
        pd_bits_text(text, field->names, field->value, ", ");
        pd_text_char(text, ')');
    } else if ((name = pd_name_of(field->names, field->value))) {
        pd_text_string(text, " (");
        pd_text_string(text, name);
        pd_text_char(text, ')');
    }
}

static void put_number(struct pd_text *text, const struct pd_field *field)
{
    double real;
    pd_text_char(text, ' ');
    switch (field->kind) {
    case PD_KIND_x64:
    case PD_KIND_flags:
        pd_text_string(text, "0x");
        pd_text_hex(text, field->value, 0, ' ');
        break;
    case PD_KIND_pid: pd_text_i64(text, (int32_t)field->value, 0); break;
    case PD_KIND_s32:
    case PD_KIND_s64: pd_text_i64(text, (int64_t)field->value, 0); break;
    case PD_KIND_f64:
        memcpy(&real, &field->value, sizeof real);
        pd_text_format(text, "%.17g", real);
        break;
    default:
        if (field->names && field->names->bits) {
            pd_text_string(text, "0x");
            pd_text_hex(text, field->value, 0, ' ');
        } else {
            pd_text_u64(text, field->value, 0, ' ');
        }
        break;
    }
    put_names(text, field);
}

static void put_bytes(struct pd_dump *dump, const struct pd_field *field)
{
    struct pd_text *text = dump->text;
    if (field->size <= BYTES_A_LINE) {
        pd_text_char(text, ' ');
        pd_text_hex_bytes(text, field->data, field->size);
        return;
    }
    pd_text_format(text, " %zu bytes", field->size);
    for (size_t at = 0; at < field->size; at += BYTES_A_LINE) {
        begin_element(dump);
        pd_text_hex(text, at, 4, '0');
        pd_text_string(text, "  ");
        pd_text_hex_bytes(text, field->data + at, PD_MIN(BYTES_A_LINE, field->size - at));
    }
}

/* " NAME", or its number where it has none. */
static void put_word(struct pd_text *text, const struct pd_names *names, uint64_t value)
{
    const char *name = pd_name_of(names, value);
    pd_text_char(text, ' ');
    if (name)
        pd_text_string(text, name);
    else
        pd_text_u64(text, value, 0, ' ');
}

static void put_branch_flags(struct pd_text *text, uint64_t flags)
{
    if (PD_BRANCH_PART(flags, MISPRED))
        pd_text_string(text, " mispredicted");
    if (PD_BRANCH_PART(flags, PREDICTED))
        pd_text_string(text, " predicted");
    if (PD_BRANCH_PART(flags, IN_TX))
        pd_text_string(text, " in_tx");
    if (PD_BRANCH_PART(flags, ABORT))
        pd_text_string(text, " abort");
    if (PD_BRANCH_PART(flags, CYCLES))
        pd_text_format(text, " cycles %u", (unsigned)PD_BRANCH_PART(flags, CYCLES));
    if (PD_BRANCH_PART(flags, TYPE) == PD_BRANCH_EXTEND_ABI)
        put_word(text, &pd_names_branch_new_type, PD_BRANCH_PART(flags, NEW_TYPE));
    else if (PD_BRANCH_PART(flags, TYPE))
        put_word(text, &pd_names_branch_type, PD_BRANCH_PART(flags, TYPE));
    if (PD_BRANCH_PART(flags, SPEC))
        put_word(text, &pd_names_branch_spec, PD_BRANCH_PART(flags, SPEC));
}

static void put_branch(struct pd_text *text, const struct pd_field *field, uint32_t index)
{
    struct pd_sample view = { .branches = field->data, .swap = field->swap };
    struct pd_branch branch = pd_branch_at(&view, index);
    pd_text_string(text, "0x");
    pd_text_hex(text, branch.from, 0, ' ');
    pd_text_string(text, " -> 0x");
    pd_text_hex(text, branch.to, 0, ' ');
    put_branch_flags(text, branch.flags);
}

static bool is_decimal(const struct pd_field *field)
{
    return field->kind == PD_KIND_u16s || field->kind == PD_KIND_u32s ||
           field->kind == PD_KIND_u64s;
}

static struct pd_array elements_of(const struct pd_field *field)
{
    return (struct pd_array){ field->data, field->length,
                              (uint8_t)(field->length ? field->size / field->length : 8),
                              field->swap };
}

PD_INLINE void put_element(struct pd_dump *dump, const struct pd_field *field,
                           const struct pd_array *elements, uint32_t index)
{
    struct pd_text *text = dump->text;
    if (field->kind == PD_KIND_branches) {
        put_branch(text, field, index);
        return;
    }
    uint64_t value = pd_array_at(elements, index);
    if (is_decimal(field)) {
        pd_text_u64(text, value, 0, ' ');
        return;
    }
    if (field->mask)
        pd_text_format(
            text, "%-5s ",
            pd_register_name(dump->arch, pd_dump_register(field->mask, index), field->value));
    pd_text_string(text, "0x");
    pd_text_hex(text, value, 16, '0');
    if (value >= PD_CONTEXT(MAX) && pd_name_of(&pd_names_context, value))
        put_word(text, &pd_names_context, value);
}

void pd_dump_element(struct pd_dump *dump, const struct pd_field *field, uint32_t index)
{
    struct pd_array elements = elements_of(field);
    put_element(dump, field, &elements, index);
}

static void put_array(struct pd_dump *dump, const struct pd_field *field)
{
    struct pd_auxtrace_words words = { 0 };
    struct pd_array elements = elements_of(field);
    bool decimal = is_decimal(field), auxtrace = pd_dump_is_auxtrace(field);
    for (uint32_t i = 0; i < field->length; i++) {
        if (decimal)
            pd_text_char(dump->text, ' ');
        else
            begin_element(dump);
        if (auxtrace) {
            pd_auxtrace_word(&words, dump->auxtrace_type, &elements, i, dump->text);
            pd_text_char(dump->text, ' ');
        }
        put_element(dump, field, &elements, i);
    }
}

void pd_dump_value(struct pd_dump *dump, const struct pd_field *field)
{
    struct pd_text *text = dump->text;
    switch (pd_kinds[field->kind].shape) {
    case PD_SHAPE_NUMBER: put_number(text, field); break;
    case PD_SHAPE_TEXT:
        pd_text_char(text, ' ');
        pd_text_json(text, (const char *)field->data, field->length);
        break;
    case PD_SHAPE_ARRAY: put_array(dump, field); break;
    default: put_bytes(dump, field); break;
    }
}

static void text_field(struct pd_sink *sink, const struct pd_field *field)
{
    struct pd_dump *dump = (struct pd_dump *)sink;
    if (pd_dump_is_blank(field))
        return;
    pd_dump_note(dump, field);
    begin_line(dump, field->name);
    pd_dump_value(dump, field);
    pd_text_char(dump->text, '\n');
}

static void text_open(struct pd_sink *sink, const struct pd_field *field)
{
    struct pd_dump *dump = (struct pd_dump *)sink;
    if (field->name) {
        begin_line(dump, field->name);
        pd_text_char(dump->text, '\n');
    }
    if (dump->depth + 1 < PD_DUMP_DEEPEST)
        dump->depth++;
    dump->first[dump->depth] = true;
    dump->list[dump->depth] = field->kind == PD_KIND_list;
}

static void text_close(struct pd_sink *sink)
{
    ((struct pd_dump *)sink)->depth--;
}

void pd_dump_lines(struct pd_dump *dump)
{
    dump->sink = (struct pd_sink){ text_field, text_open, text_close, false, true };
    dump->depth = 0;
    dump->list[0] = false;
}

perfdata_status pd_dump_text(struct pd_dump *dump, const struct pd_raw *raw,
                             const struct pd_fields_input *input)
{
    struct pd_text *text = dump->text;
    pd_dump_lines(dump);
    pd_text_string(text, "0x");
    pd_text_hex(text, raw->offset, 0, ' ');
    pd_text_char(text, ' ');
    pd_dump_type(text, raw->type);
    pd_text_string(text, " size ");
    pd_text_u64(text, raw->size, 0, ' ');
    pd_text_string(text, " misc 0x");
    pd_text_hex(text, raw->misc, 0, ' ');
    if (raw->misc) {
        pd_text_string(text, " (");
        pd_misc_text(text, raw->type, raw->misc, ", ");
        pd_text_char(text, ')');
    }
    if (raw->event) {
        pd_text_string(text, " event ");
        pd_text_json(text, raw->event->name, raw->event->name_length);
    }
    if (raw->payload_size) {
        pd_text_string(text, " followed by ");
        pd_text_u64(text, raw->payload_size, 0, ' ');
        pd_text_string(text, " bytes");
    }
    pd_text_char(text, '\n');
    perfdata_status status = pd_fields_walk(input, &dump->sink);
    if (status == PERFDATA_ERROR_BAD_RECORD)
        pd_text_string(text, "  # says more than it holds\n");
    return status;
}
