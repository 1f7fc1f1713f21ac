/* SPDX-License-Identifier: MIT */
/* The fields of a record or feature as text: what follows from others or has its default is left
 * out, unless the printer is `exact`. */
#include "textrec/pdt.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void pdt_print_bytes(struct pd_text *text, const uint8_t *bytes, size_t size)
{
    pd_text_string(text, "x\"");
    pd_text_hex_bytes(text, bytes, size);
    pd_text_char(text, '"');
}

static void print_quoted(struct pd_text *text, const uint8_t *bytes, size_t size)
{
    pd_text_char(text, '"');
    for (size_t i = 0; i < size; i++) {
        uint8_t c = bytes[i];
        if (c == '"' || c == '\\')
            pd_text_char(text, '\\');
        if (c >= ' ' && c < 127)
            pd_text_char(text, (char)c);
        else
            pd_text_format(text, "\\%03o", c);
    }
    pd_text_char(text, '"');
}

static void indent(struct pdt_printer *p)
{
    pd_text_char(p->text, '\n');
    for (unsigned i = 0; i < p->depth; i++)
        pd_text_string(p->text, "  ");
}

/* Braces appear with the first field inside. */
static void open_pending(struct pdt_printer *p)
{
    for (; p->opened < p->depth; p->opened++) {
        const struct pd_field *level = &p->fields[p->opened];
        char last = p->text->length ? p->text->data[p->text->length - 1] : ' ';
        if (level->name) {
            if (last != '{' && last != '[' && last != ' ')
                pd_text_char(p->text, ' ');
            pd_text_string(p->text, level->name);
            pd_text_char(p->text, '=');
        } else if (p->opened) {
            unsigned depth = p->depth;
            p->depth = p->opened;
            indent(p);
            p->depth = depth;
        } else {
            pd_text_char(p->text, ' ');
        }
        pd_text_char(p->text, level->kind == PD_KIND_list ? '[' : '{');
    }
}

static void begin_field(struct pdt_printer *p, const char *name)
{
    open_pending(p);
    if (p->text->length && p->text->data[p->text->length - 1] != '{')
        pd_text_char(p->text, ' ');
    pd_text_string(p->text, name);
    pd_text_char(p->text, '=');
}

/* ---- what is left out ---- */

static const struct pd_row *row_of(const struct pdt_printer *p, const struct pd_field *field)
{
    const struct pd_row *row = field->row;
    size_t length = strlen(field->name);
    if (row || !p->event)
        return row;
    const struct pd_row *first = p->in_sample ? p->event->sample : p->event->trailer;
    row = pdt_row_by_name(first, field->name, length);
    return row ? row : pdt_row_by_name(p->event->read, field->name, length);
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
    size_t i = 0;
    while (i < size && !bytes[i])
        i++;
    return i == size;
}

/* The size that a text has when nothing is said of it. */
static bool is_usual(const struct pdt_printer *p, const struct pd_field *field)
{
    size_t least = (size_t)field->length + 1, before = (size_t)(field->data - p->start);
    switch (field->kind) {
    case PD_KIND_lstr: return field->size == ((least + 63) & ~(size_t)63);
    case PD_KIND_zstr: return field->size == least;
    case PD_KIND_text:
        return field->size >= least && field->size - least < 8 && (before + field->size) % 8 == 0;
    default: return field->size == pd_kinds[field->kind].least;
    }
}

static bool follows_number(const struct pdt_printer *p, const struct pd_field *field,
                           const struct pd_row *row)
{
    if (pdt_row_counted(row))
        return pdt_row_required(row);
    if (!strcmp(field->name, "size")) /* of attrs; of entries that begin with a header */
        return field->kind == PD_KIND_u16;
    uint64_t usual = 0;
    if (!field->row && pdt_row_is_id(row) && p->event && p->event->ids.count)
        usual = p->event->ids.data[0];
    return pdt_row_required(row) && field->value == usual;
}

static bool is_left_out(const struct pdt_printer *p, const struct pd_field *field)
{
    const struct pd_row *row = row_of(p, field);
    if (p->exact || !row)
        return false;
    switch (pd_kinds[field->kind].shape) {
    case PD_SHAPE_NUMBER: return follows_number(p, field, row);
    case PD_SHAPE_TEXT:
        return pdt_row_required(row) && !field->length && is_usual(p, field) &&
               all_zero(field->data, field->size);
    case PD_SHAPE_ARRAY: return !field->length;
    case PD_SHAPE_PADDING:
        return all_zero(field->data, field->size) &&
               field->size == ((size_t)(0 - (uintptr_t)(field->data - p->start)) & 7);
    default:
        if (field->kind == PD_KIND_bytes8 || field->kind == PD_KIND_bytes20)
            return pdt_row_required(row) && all_zero(field->data, field->size);
        return !field->size;
    }
}

/* ---- values ---- */

static bool is_plain_name(const char *text)
{
    bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z');
    for (; letter && *text; text++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.", *text))
            return false;
    return letter;
}

static bool print_names(struct pd_text *text, const struct pd_names *names, uint64_t value)
{
    const char *name = names->bits ? NULL : pd_name_of(names, value);
    if (name && is_plain_name(name)) {
        pd_text_string(text, name);
        return true;
    }
    uint64_t left = value;
    for (const struct pd_name *it = names->items; names->bits && it->text; it++) {
        if (!it->value || (left & it->value) != it->value || !is_plain_name(it->text))
            continue;
        if (left != value)
            pd_text_char(text, '|');
        pd_text_string(text, it->text);
        left &= ~it->value;
    }
    if (left == value)
        return false;
    if (left)
        pd_text_format(text, "|0x%llx", (unsigned long long)left);
    return true;
}

static void print_plain(struct pd_text *text, uint64_t value, bool hex)
{
    if (hex || value >> 63) {
        pd_text_string(text, "0x");
        pd_text_hex(text, value, 0, ' ');
    } else {
        pd_text_u64(text, value, 0, ' ');
    }
}

static void print_real(struct pd_text *text, uint64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    if (!isfinite(real) || (real == 0 && bits)) {
        print_plain(text, bits, true);
        return;
    }
    char shortest[40];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, real);
        if (strtod(shortest, NULL) == real)
            break;
    }
    pd_text_string(text, shortest);
}

static void print_number(struct pdt_printer *p, const struct pd_field *field)
{
    struct pd_text *text = p->text;
    uint64_t value = field->value;
    if (field->names && value && print_names(text, field->names, value))
        return;
    switch (field->kind) {
    case PD_KIND_pid: pd_text_i64(text, (int32_t)value, 0); return;
    case PD_KIND_s32:
    case PD_KIND_s64: pd_text_i64(text, (int64_t)value, 0); return;
    case PD_KIND_f64: print_real(text, value); return;
    default: break;
    }
    if (field->kind == PD_KIND_u64 && !strcmp(field->name, "time") && !(value >> 63))
        pd_text_format(text, "%llu.%09llus", (unsigned long long)(value / 1000000000),
                       (unsigned long long)(value % 1000000000));
    else
        print_plain(text, value, field->kind == PD_KIND_x64 || field->kind == PD_KIND_flags);
}

static void print_text(struct pdt_printer *p, const struct pd_field *field)
{
    if (!all_zero(field->data + field->length, field->size - field->length)) {
        pdt_print_bytes(p->text, field->data, field->size);
        return;
    }
    print_quoted(p->text, field->data, field->length);
    if (!is_usual(p, field))
        pd_text_format(p->text, "/%zu", field->size);
}

static void print_array(struct pdt_printer *p, const struct pd_field *field)
{
    struct pd_text *text = p->text;
    bool branches = field->kind == PD_KIND_branches;
    uint32_t count = branches ? 3 * field->length : field->length;
    bool hex = field->kind != PD_KIND_u16s && field->kind != PD_KIND_u32s &&
               field->kind != PD_KIND_u64s;
    struct pd_array array = { field->data, count, (uint8_t)(count ? field->size / count : 8),
                              field->swap };
    pd_text_char(text, '[');
    for (uint32_t i = 0; i < count; i++) {
        uint64_t value = pd_array_at(&array, i);
        if (branches && i % 3 == 2 && pd_is_big_endian(field->swap))
            value = pd_branch_flags_from_big(value);
        if (i)
            pd_text_char(text, ' ');
        print_plain(text, value, hex);
    }
    pd_text_char(text, ']');
}

/* ---- the sink ---- */

static void print_field(struct pd_sink *sink, const struct pd_field *field)
{
    struct pdt_printer *p = (struct pdt_printer *)sink;
    if (is_left_out(p, field)) {
        p->left_out = true;
        return;
    }
    begin_field(p, field->name);
    switch (pd_kinds[field->kind].shape) {
    case PD_SHAPE_NUMBER: print_number(p, field); break;
    case PD_SHAPE_TEXT: print_text(p, field); break;
    case PD_SHAPE_ARRAY: print_array(p, field); break;
    default: pdt_print_bytes(p->text, field->data, field->size); break;
    }
    if (p->exact && row_of(p, field) && pdt_row_counted(row_of(p, field)))
        pd_text_char(p->text, '!');
}

/* Without any field it is no payload at all: one that only has defaults must be seen. */
static bool is_payload(const struct pd_field *field)
{
    return field->row && field->row->kind == PD_KIND_feature;
}

static void print_open(struct pd_sink *sink, const struct pd_field *field)
{
    struct pdt_printer *p = (struct pdt_printer *)sink;
    if (p->depth < PDT_DEEPEST)
        p->fields[p->depth] = *field;
    p->depth++;
    p->left_out &= !is_payload(field);
    if (!field->name) /* an item counts, even when it says nothing */
        open_pending(p);
}

static void print_close(struct pd_sink *sink)
{
    struct pdt_printer *p = (struct pdt_printer *)sink;
    if (p->left_out && p->depth <= PDT_DEEPEST && is_payload(&p->fields[p->depth - 1]))
        open_pending(p);
    p->depth--;
    if (p->opened <= p->depth)
        return;
    p->opened = p->depth;
    bool list = p->fields[p->depth].kind == PD_KIND_list;
    if (list)
        indent(p);
    pd_text_char(p->text, list ? ']' : '}');
}

void pdt_print_begin(struct pdt_printer *p, struct pd_text *text, const uint8_t *start)
{
    p->sink = (struct pd_sink){ print_field, print_open, print_close, false, true };
    p->text = text;
    p->start = start;
    p->depth = 1;
    p->opened = 0;
    p->fields[0] = (struct pd_field){ .kind = PD_KIND_window };
}

void pdt_print_end(struct pdt_printer *p)
{
    print_close(&p->sink);
}
