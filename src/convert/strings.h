/* SPDX-License-Identifier: MIT */
/* A table of numbered texts, which several forms need. */
#ifndef PD_CONVERT_STRINGS_H
#define PD_CONVERT_STRINGS_H
#include "base/intern.h"
#include "base/text.h"

/* All bytes zero: an empty table. */
struct pd_strings {
    struct pd_intern table;
    struct pd_text scratch;
    bool failed;
};

/* The number of a text; without memory 0, and `failed` is set. */
uint32_t pd_strings_id(struct pd_strings *strings, const char *text, size_t length);
/* The number of a name as pd_convert_name() writes it. */
uint32_t pd_strings_name(struct pd_strings *strings, const char *name, size_t length);

PD_INLINE uint32_t pd_strings_count(const struct pd_strings *strings)
{
    return (uint32_t)strings->table.strings.count;
}
PD_INLINE const char *pd_strings_at(const struct pd_strings *strings, uint32_t id, size_t *length)
{
    *length = strings->table.strings.data[id].length;
    return strings->table.strings.data[id].text;
}
void pd_strings_free(struct pd_strings *strings);

#endif
