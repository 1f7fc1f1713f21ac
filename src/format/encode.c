/* SPDX-License-Identifier: MIT */
/* Fields back into bytes. Every field has the size it was read with, so a record keeps its size. */
#include "format/fields.h"

struct encoder {
    struct pd_sink sink;
    uint8_t *at, *end;
    bool swap;       /* to the order that is written */
    pd_edit_fn edit; /* or NULL */
    void *data;
};

static void put_bytes(struct encoder *e, const uint8_t *bytes, size_t size)
{
    size = PD_MIN(size, (size_t)(e->end - e->at));
    if (size)
        memcpy(e->at, bytes, size);
    e->at += size;
}

static void put_number(struct encoder *e, uint64_t value, unsigned size)
{
    uint8_t bytes[8];
    pd_store(bytes, value, size, e->swap);
    put_bytes(e, bytes, size);
}

static void put_value(struct encoder *e, const struct pd_field *field)
{
    bool big = pd_is_big_endian(e->swap);
    uint64_t value = field->value;
    if (field->kind == PD_KIND_wide_size) {
        put_number(e, value >> 16, 2);
        put_number(e, value, 2);
        return;
    }
    if (field->kind == PD_KIND_flags && big)
        value = pd_attr_flags_to_big(value);
    else if (field->kind == PD_KIND_action && big)
        value = pd_aux_action_mirror((uint32_t)value);
    put_number(e, value, pd_kinds[field->kind].least);
}

static void put_branches(struct encoder *e, const struct pd_field *field)
{
    bool from_big = pd_is_big_endian(field->swap), to_big = pd_is_big_endian(e->swap);
    for (size_t i = 0; i < field->length; i++) {
        const uint8_t *at = field->data + 24 * i;
        uint64_t flags = pd_load64(at + 16, field->swap);
        flags = from_big ? pd_branch_flags_from_big(flags) : flags;
        put_number(e, pd_load64(at, field->swap), 8);
        put_number(e, pd_load64(at + 8, field->swap), 8);
        put_number(e, to_big ? pd_branch_flags_to_big(flags) : flags, 8);
    }
}

static void put_array(struct encoder *e, const struct pd_field *field)
{
    struct pd_array array = { field->data, field->length, 8, field->swap };
    if (field->kind == PD_KIND_branches) {
        put_branches(e, field);
        return;
    }
    array.width = (uint8_t)(field->length ? field->size / field->length : 8);
    for (size_t i = 0; i < field->length; i++)
        put_number(e, pd_array_at(&array, i), array.width);
}

static void encode_field(struct pd_sink *sink, const struct pd_field *field)
{
    struct encoder *e = (struct encoder *)sink;
    struct pd_field edited;
    if (e->edit) {
        edited = *field;
        e->edit(e->data, &edited);
        field = &edited;
    }
    switch (pd_kinds[field->kind].shape) {
    case PD_SHAPE_NUMBER: put_value(e, field); break;
    case PD_SHAPE_ARRAY: put_array(e, field); break;
    default:
        if (field->kind == PD_KIND_lstr || field->kind == PD_KIND_raw)
            put_number(e, field->size, 4);
        put_bytes(e, field->data, field->size);
        break;
    }
}

static void encode_open(struct pd_sink *sink, const struct pd_field *field)
{
    (void)sink;
    (void)field;
}

static void encode_close(struct pd_sink *sink)
{
    (void)sink;
}

perfdata_status pd_record_edit(const struct pd_fields_input *input, bool big_endian, uint8_t *out,
                               pd_edit_fn edit, void *data)
{
    struct encoder e = { { encode_field, encode_open, encode_close, false, false },
                         out,
                         out + input->size,
                         big_endian != pd_is_big_endian(false),
                         edit,
                         data };
    return pd_fields_walk(input, &e.sink);
}

perfdata_status pd_record_encode(const struct pd_fields_input *input, bool big_endian, uint8_t *out)
{
    return pd_record_edit(input, big_endian, out, NULL, NULL);
}
