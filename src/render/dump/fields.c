/* SPDX-License-Identifier: MIT */
/* What both printers know of fields: types, padding, registers, what later fields depend on. */
#include "render/dump/dump.h"

void pd_dump_type(struct pd_text *text, uint32_t type)
{
    const char *name = pd_record_type_name(type);
    if (name) {
        pd_text_string(text, name);
        return;
    }
    pd_text_string(text, "TYPE_");
    pd_text_u64(text, type, 0, ' ');
}

bool pd_dump_is_auxtrace(const struct pd_field *field)
{
    return field->kind == PD_KIND_x64s && !strcmp(field->name, "priv");
}

void pd_dump_note(struct pd_dump *dump, const struct pd_field *field)
{
    if (field->names == &pd_names_auxtrace_type)
        dump->auxtrace_type = (uint32_t)field->value;
}

bool pd_dump_is_blank(const struct pd_field *field)
{
    switch (field->kind) {
    case PD_KIND_res8:
    case PD_KIND_res16:
    case PD_KIND_res32: return !field->value;
    case PD_KIND_align:
        for (size_t i = 0; i < field->size; i++)
            if (field->data[i])
                return false;
        return true;
    default: return false;
    }
}

unsigned pd_dump_register(uint64_t mask, uint32_t index)
{
    while (index--)
        mask &= mask - 1;
    return mask ? (unsigned)__builtin_ctzll(mask) : 64;
}
