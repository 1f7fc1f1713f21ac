/* SPDX-License-Identifier: MIT */
/* Nodes into bytes, by rows. Depth is that of the tables. What is left out has its default, counts
 * and sizes follow. */
#include "textrec/pdt.h"
#include "format/row_read.h"
#include <stdlib.h>

/* Counts of one level that were not written: they are put in place when what they count is
 * known. */
struct counts {
    struct {
        size_t at; /* in out; SIZE_MAX: written already */
        uint8_t kind;
        uint32_t node;
    } of[8];
};

static struct pdt_node *node_at(const struct pdt_coder *c, uint32_t node)
{
    return &c->item->nodes.data[node];
}

static const uint8_t *bytes_of(const struct pdt_coder *c, const struct pdt_node *node)
{
    return node->size ? (const uint8_t *)c->item->bytes.data + node->data : (const uint8_t *)"";
}

static void zeros(struct pdt_coder *c, size_t count)
{
    pd_text_fill(c->out, '\0', count);
}

static size_t to_8(const struct pdt_coder *c)
{
    return (size_t)(0 - (c->out->length - c->start)) & 7;
}

/* ---- numbers ---- */

static void number_bytes(bool swap, unsigned kind, uint64_t value, uint8_t bytes[8])
{
    bool big = pd_is_big_endian(swap);
    if (kind == PD_KIND_flags && big)
        value = pd_attr_flags_to_big(value);
    else if (kind == PD_KIND_action && big)
        value = pd_aux_action_mirror((uint32_t)value);
    pd_store(bytes, value, pd_kinds[kind].least, swap);
}

static void put_number(struct pdt_coder *c, unsigned kind, uint64_t value)
{
    uint8_t bytes[8];
    number_bytes(c->swap, kind, value, bytes);
    pd_text_bytes(c->out, bytes, pd_kinds[kind].least);
}

/* "IP|TID|0x100" */
static bool word_value(struct pdt_coder *c, const struct pd_row *row, const struct pdt_node *node,
                       uint64_t *value)
{
    const char *word = c->item->text + node->data, *end = word + node->size;
    *value = 0;
    while (row->names && word < end) {
        const char *stop = memchr(word, '|', (size_t)(end - word));
        size_t length = (size_t)((stop ? stop : end) - word);
        const struct pd_name *name = row->names->items;
        while (name->text && (strncmp(name->text, word, length) != 0 || name->text[length]))
            name++;
        if (name->text) {
            *value |= name->value;
        } else {
            char digits[24], *rest = digits;
            memcpy(digits, word, PD_MIN(length, sizeof digits - 1));
            digits[PD_MIN(length, sizeof digits - 1)] = 0;
            *value |= strtoull(digits, &rest, 0);
            if (*rest || length >= sizeof digits)
                break;
        }
        if (!stop)
            return true;
        word = stop + 1;
    }
    return pdt_error(c->item, node->at, "%s: expected a number%s", row->name,
                     row->names ? " or a name of its values" : "");
}

static bool value_of(struct pdt_coder *c, const struct pd_row *row, uint32_t index, uint64_t *value)
{
    const struct pdt_node *node = node_at(c, index);
    unsigned bits = pd_kinds[row->kind].least * 8;
    if (node->kind == PDT_WORD)
        return word_value(c, row, node, value);
    if (node->kind != PDT_NUMBER)
        return pdt_error(c->item, node->at, "%s: expected a number", row->name);
    *value = node->number;
    if (row->kind == PD_KIND_f64 && node->form == PDT_DECIMAL) {
        double real = (double)(int64_t)node->number;
        memcpy(value, &real, sizeof real);
    }
    if (row->kind != PD_KIND_f64 && node->form == PDT_REAL)
        return pdt_error(c->item, node->at, "%s: expected a whole number", row->name);
    bool fits = bits == 64 || *value >> bits == 0 || (int64_t)*value >> (bits - 1) == -1;
    return fits ||
           pdt_error(c->item, node->at, "%s: expected a number of %u bits", row->name, bits);
}

static bool encode_number(struct pdt_coder *c, const struct pd_row *row, uint32_t node,
                          struct counts *counts)
{
    uint64_t value = 0;
    if (node != PDT_NONE && !value_of(c, row, node, &value))
        return false;
    if (node == PDT_NONE && pdt_row_is_id(row) && c->event && c->event->ids.count)
        value = c->event->ids.data[0];
    if (row->save) {
        c->registers[row->save] = value;
        counts->of[row->save].at = c->out->length;
        counts->of[row->save].kind = row->kind;
        counts->of[row->save].node = node;
    }
    put_number(c, row->kind, value);
    return true;
}

/* Sets the number that says how many `row` has to `count`. */
static bool fill_count(struct pdt_coder *c, const struct pd_row *row, uint64_t count,
                       struct counts *counts)
{
    unsigned reg = row->count_register;
    if (c->exact || row->count != PD_COUNT_REGISTER || counts->of[reg].at == SIZE_MAX)
        return true;
    uint32_t index = counts->of[reg].node;
    if (index != PDT_NONE) {
        const struct pdt_node *node = node_at(c, index);
        return node->forced || c->registers[reg] == count ||
               pdt_error(c->item, node->at,
                         "expected %llu, as %s has it, or a value that ends with ! to keep it",
                         (unsigned long long)count, row->name);
    }
    uint8_t bytes[8];
    number_bytes(c->swap, counts->of[reg].kind, count, bytes);
    if (!c->out->failed)
        memcpy(c->out->data + counts->of[reg].at, bytes, pd_kinds[counts->of[reg].kind].least);
    c->registers[reg] = count;
    counts->of[reg].at = SIZE_MAX;
    return true;
}

/* ---- text, bytes, arrays ---- */

static bool encode_text(struct pdt_coder *c, const struct pd_row *row, uint32_t index)
{
    static const struct pdt_node empty = { .kind = PDT_TEXT, .padded = SIZE_MAX };
    const struct pdt_node *node = index == PDT_NONE ? &empty : node_at(c, index);
    size_t size = node->padded, fixed = pd_kinds[row->kind].least;
    if (node->kind != PDT_TEXT && node->kind != PDT_BYTES)
        return pdt_error(c->item, node->at, "%s: expected a text in quotes or x\"...\"", row->name);
    if (node->kind == PDT_BYTES)
        size = node->size;
    else if (size == SIZE_MAX && row->kind == PD_KIND_lstr)
        size = (node->size + 64) & ~(size_t)63;
    else if (size == SIZE_MAX && row->kind == PD_KIND_zstr)
        size = node->size + 1;
    else if (size == SIZE_MAX && row->kind == PD_KIND_text)
        size = node->size + 1 + ((to_8(c) - node->size - 1) & 7);
    else if (size == SIZE_MAX)
        size = fixed;
    if (size < node->size || size > (1u << 20) || c->out->length > PDT_ITEM_MAX)
        return pdt_error(c->item, node->at, "%s: expected a text of at most %zu bytes", row->name,
                         PD_MIN(size, (size_t)1 << 20));
    if (row->kind == PD_KIND_lstr)
        put_number(c, PD_KIND_u32, size);
    pd_text_bytes(c->out, bytes_of(c, node), node->size);
    zeros(c, size - node->size);
    return true;
}

static bool encode_bytes(struct pdt_coder *c, const struct pd_row *row, uint32_t index,
                         struct counts *counts)
{
    static const struct pdt_node empty = { .kind = PDT_BYTES };
    const struct pdt_node *node = index == PDT_NONE ? &empty : node_at(c, index);
    size_t fixed = row->kind == PD_KIND_raw ? 0 : pd_kinds[row->kind].least;
    if (node->kind != PDT_TEXT && node->kind != PDT_BYTES)
        return pdt_error(c->item, node->at, "%s: expected bytes like x\"00ff\"", row->name);
    if (fixed && index != PDT_NONE && node->size != fixed)
        return pdt_error(c->item, node->at, "%s: expected %zu bytes, not %zu", row->name, fixed,
                         node->size);
    if (row->kind == PD_KIND_raw)
        put_number(c, PD_KIND_u32, node->size);
    pd_text_bytes(c->out, bytes_of(c, node), node->size);
    if (index == PDT_NONE)
        zeros(c, fixed);
    return fill_count(c, row, node->size, counts);
}

static bool encode_array(struct pdt_coder *c, const struct pd_row *row, uint32_t index,
                         struct counts *counts)
{
    uint64_t count = 0;
    unsigned kind = row->kind == PD_KIND_u16s   ? PD_KIND_u16
                    : row->kind == PD_KIND_u32s ? PD_KIND_u32
                                                : PD_KIND_u64;
    bool branches = row->kind == PD_KIND_branches;
    struct pd_row element = { .name = row->name, .kind = (uint8_t)kind };
    if (index == PDT_NONE)
        return fill_count(c, row, 0, counts);
    if (node_at(c, index)->kind != PDT_LIST)
        return pdt_error(c->item, node_at(c, index)->at, "%s: expected a list like [1 2]",
                         row->name);
    for (uint32_t i = index + 1; i < node_at(c, index)->end; i++, count++) {
        uint64_t value = 0;
        if (!value_of(c, &element, i, &value))
            return false;
        if (branches && count % 3 == 2 && pd_is_big_endian(c->swap))
            value = pd_branch_flags_to_big(value);
        put_number(c, kind, value);
    }
    if (branches && count % 3)
        return pdt_error(c->item, node_at(c, index)->at,
                         "%s: expected three numbers a branch: from, to, flags", row->name);
    return fill_count(c, row, branches ? count / 3 : count, counts);
}

/* ---- what nests ---- */

bool pdt_encode_attr(struct pdt_coder *c, uint32_t node, size_t size)
{
    size_t begin = c->out->length, room = size ? size : PDT_ATTR_SIZE;
    struct counts counts = { 0 };
    uint64_t said = room;
    if (node != PDT_NONE && node_at(c, node)->kind != PDT_GROUP)
        return pdt_error(c->item, node_at(c, node)->at, "attr: expected {fields}");
    uint32_t given = pdt_find(c->item, node, "size");
    const struct pd_row *rows = pd_attr_rows;
    if (given != PDT_NONE && !value_of(c, &rows[1], given, &said))
        return false;
    if (!size)
        room = said ? (size_t)said : PD_LEAST_attr;
    if (room < PD_LEAST_attr || room > PDT_ATTR_SIZE_MAX || begin > PDT_ITEM_MAX)
        return pdt_error(c->item, node == PDT_NONE ? 0 : node_at(c, node)->at,
                         "attr: expected a size of 64 to %d", PDT_ATTR_SIZE_MAX);
    for (const struct pd_row *row = rows; row->name; row++) {
        size_t left = room - (c->out->length - begin);
        if (left < row->least)
            break;
        if (row == &rows[1])
            put_number(c, PD_KIND_u32, said);
        else if (!encode_number(c, row, pdt_find(c->item, node, row->name), &counts))
            return false;
    }
    uint32_t more = pdt_find(c->item, node, "unread");
    static const struct pd_row unread = { .name = "unread", .kind = PD_KIND_rest };
    if (more != PDT_NONE && !encode_bytes(c, &unread, more, &counts))
        return false;
    if (c->out->length - begin > room)
        return pdt_error(c->item, node_at(c, more)->at, "attr: expected at most %zu bytes", room);
    zeros(c, room - (c->out->length - begin));
    return true;
}

static bool encode_list(struct pdt_coder *c, const struct pd_row *row, uint32_t index,
                        struct counts *counts)
{
    uint64_t count = 0;
    if (index != PDT_NONE && node_at(c, index)->kind != PDT_LIST)
        return pdt_error(c->item, node_at(c, index)->at, "%s: expected a list like [{...}]",
                         row->name);
    uint32_t end = index == PDT_NONE ? 0 : node_at(c, index)->end;
    for (uint32_t i = index + 1; i < end; i = node_at(c, i)->end, count++) {
        size_t begin = c->out->length;
        if (node_at(c, i)->kind != PDT_GROUP)
            return pdt_error(c->item, node_at(c, i)->at, "%s: expected {fields}", row->name);
        bool sized = row->self_sized && !c->exact;
        uint64_t size = 0;
        for (uint32_t k = i + 1; sized && k < node_at(c, i)->end; k = node_at(c, k)->end)
            sized = node_at(c, k)->name_length != 4 || memcmp(node_at(c, k)->name, "size", 4) != 0;
        if (!pdt_encode_rows(c, row->part(), i))
            return false;
        size = c->out->length - begin;
        if (sized && size >= 8 && !c->out->failed)
            pd_store16(c->out->data + begin + 6, (uint16_t)size, c->swap);
    }
    return fill_count(c, row, count, counts);
}

static bool encode_nested(struct pdt_coder *c, const struct pd_row *row, uint32_t node,
                          struct counts *counts)
{
    size_t begin = c->out->length;
    const struct pd_row *rows = NULL;
    bool sized = row->kind == PD_KIND_attr && row->count == PD_COUNT_REGISTER;
    if (row->kind == PD_KIND_list)
        return encode_list(c, row, node, counts);
    if (row->kind == PD_KIND_attr && !sized)
        return pdt_encode_attr(c, node, 0);
    if (sized) {
        uint64_t size = c->registers[row->count_register];
        if (!size || size > PDT_ATTR_SIZE_MAX)
            return pdt_error(c->item, node == PDT_NONE ? 0 : node_at(c, node)->at,
                             "attr: expected attr_size to be 64 to %d", PDT_ATTR_SIZE_MAX);
        return pdt_encode_attr(c, node, (size_t)size);
    }
    if (node != PDT_NONE && node_at(c, node)->kind != PDT_GROUP)
        return pdt_error(c->item, node_at(c, node)->at, "%s: expected {fields}", row->name);
    if (row->kind == PD_KIND_window)
        rows = row->part();
    else if (row->kind == PD_KIND_read)
        rows = c->event ? c->event->read : NULL;
    else if (node != PDT_NONE && c->registers[6] < 256)
        rows = pd_feature_rows((unsigned)c->registers[6], NULL);
    static const struct pd_row words[] = {
        { .name = "words", .kind = PD_KIND_u64s, .count = PD_COUNT_REST }, { .name = NULL }
    };
    if (row->kind == PD_KIND_read && pdt_find(c->item, node, "words") != PDT_NONE) {
        rows = words;
        for (uint32_t i = node + 1; i < node_at(c, node)->end; i = node_at(c, i)->end)
            node_at(c, i)->used = false;
    }
    if (!pdt_encode_rows(c, rows, node))
        return false;
    return row->kind != PD_KIND_window || fill_count(c, row, c->out->length - begin, counts);
}

static bool encode_row(struct pdt_coder *c, const struct pd_row *row, uint32_t node,
                       struct counts *counts)
{
    switch (pd_kinds[row->kind].shape) {
    case PD_SHAPE_NUMBER: return encode_number(c, row, node, counts);
    case PD_SHAPE_TEXT: return encode_text(c, row, node);
    case PD_SHAPE_ARRAY: return encode_array(c, row, node, counts);
    case PD_SHAPE_PADDING:
        if (node == PDT_NONE) {
            zeros(c, to_8(c));
            return true;
        }
        static const struct pd_row pad = { .name = "pad", .kind = PD_KIND_rest };
        return encode_bytes(c, &pad, node, counts);
    case PD_SHAPE_BYTES: return encode_bytes(c, row, node, counts);
    default: return encode_nested(c, row, node, counts);
    }
}

static const struct pd_row unread_row = { .name = "unread", .kind = PD_KIND_rest };

/* The fields that are written, in that order, and nothing else. */
static bool encode_exact(struct pdt_coder *c, const struct pd_row *rows, uint32_t group,
                         struct counts *counts)
{
    uint32_t end = group == PDT_NONE ? 0 : node_at(c, group)->end;
    for (uint32_t i = group + 1; i < end; i = node_at(c, i)->end) {
        struct pdt_node *node = node_at(c, i);
        const struct pd_row *row = node->name ? pdt_row_by_name(rows, node->name, node->name_length)
                                              : NULL;
        if (!row && node->name && node->name_length == 6 && !memcmp(node->name, "unread", 6))
            row = &unread_row;
        if (!row || node->used)
            continue; /* the caller's, or none's: told at the end */
        node->used = true;
        if (!encode_row(c, row, i, counts))
            return false;
    }
    return true;
}

bool pdt_encode_rows(struct pdt_coder *c, const struct pd_row *rows, uint32_t group)
{
    struct counts counts;
    for (size_t i = 0; i < PD_LENGTH(counts.of); i++)
        counts.of[i].at = SIZE_MAX;
    if (c->exact)
        return encode_exact(c, rows, group, &counts);
    for (const struct pd_row *row = rows; row && row->name; row++) {
        uint32_t node = pdt_find(c->item, group, row->name);
        bool counted = row->count == PD_COUNT_REGISTER, pad = row->kind == PD_KIND_align;
        bool holds = !row->when || pd_row_holds(row, c->registers, c->misc, 0);
        if (node == PDT_NONE && !(holds && (pad || counted || pdt_row_required(row))))
            continue;
        if (!encode_row(c, row, node, &counts))
            return false;
    }
    uint32_t more = pdt_find(c->item, group, "unread");
    return more == PDT_NONE || encode_bytes(c, &unread_row, more, &counts);
}

bool pdt_encode_body(struct pdt_coder *c, uint32_t type, uint32_t group)
{
    const struct pd_row *rows = pd_record_rows(type, NULL);
    bool kernel = type < PD_RECORD_KERNEL_END, sample = type == PD_RECORD_SAMPLE;
    if (sample)
        rows = c->event ? c->event->sample : NULL;
    uint32_t trailer = pdt_find(c->item, group, "sample_id");
    if (!pdt_encode_rows(c, rows, group))
        return false;
    if (!kernel || sample || !c->event || (c->exact && trailer == PDT_NONE)) {
        if (trailer != PDT_NONE)
            return pdt_error(c->item, node_at(c, trailer)->at,
                             "expected no sample_id: the record has no event that says so");
        return true;
    }
    return pdt_encode_rows(c, c->event->trailer, trailer);
}
