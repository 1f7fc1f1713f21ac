/* SPDX-License-Identifier: MIT */
/* Texts -> numbers of a table. */
#include "convert/strings.h"
#include "convert/convert.h"

uint32_t pd_strings_id(struct pd_strings *strings, const char *text, size_t length)
{
    uint32_t id = pd_intern(&strings->table, length ? text : "", length);
    if (id != PD_INTERN_NONE)
        return id;
    strings->failed = true;
    return 0;
}

uint32_t pd_strings_name(struct pd_strings *strings, const char *name, size_t length)
{
    strings->scratch.length = 0;
    pd_convert_name(&strings->scratch, name, length);
    strings->failed |= strings->scratch.failed;
    return pd_strings_id(strings, strings->scratch.data, strings->scratch.length);
}

void pd_strings_free(struct pd_strings *strings)
{
    pd_intern_free(&strings->table);
    pd_text_free(&strings->scratch);
}
