/* SPDX-License-Identifier: MIT */
/* Where fields lie in records, made from records.def, for code that wants a field or two of a
 * record and not all of it decoded. */
#ifndef PD_OFFSETS_H
#define PD_OFFSETS_H
#include "format/rows.h"

/* Made of bytes alone, so that nothing is aligned. Fields that may be absent are left out, and the
 * offsets of fields behind these or behind a text are wrong: ask only for fields that always have
 * the same place. */
#define RECORD(number, NAME, name)                                                                 \
    struct pd_at_##name {                                                                          \
        uint8_t header[8];
#define PART(name) struct pd_part_at_##name {
#define FIELD(kind, name, ...) uint8_t name[PD_LEAST_##kind ? PD_LEAST_##kind : 1];
#define END(name)                                                                                  \
    }                                                                                              \
    ;
#include "format/nothing.h"
#include "format/records.def"
#define PD_FORGET
#include "format/nothing.h"

/* PD_AT(lost, id) is the offset of a LOST record's id. */
#define PD_AT(record, field) offsetof(struct pd_at_##record, field)
/* PD_AT_PART(namespace_link, ino): within one of the structures that a record lists. */
#define PD_AT_PART(part, field) offsetof(struct pd_part_at_##part, field)

#endif
