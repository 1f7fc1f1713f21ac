/* SPDX-License-Identifier: MIT */
/* The two printers of `dump`. */
#ifndef PD_DUMP_H
#define PD_DUMP_H
#include "container/container.h"
#include "format/auxtrace.h"
#include "format/fields.h"

/* More levels than fields nest in records.def and features.def. */
#define PD_DUMP_DEEPEST 24

struct pd_dump {
    struct pd_sink sink;
    struct pd_text *text;
    const char *arch; /* for names of registers; NULL: unknown */
    unsigned depth;
    bool first[PD_DUMP_DEEPEST]; /* nothing has been written on this level */
    bool list[PD_DUMP_DEEPEST];  /* this level's members are items of a list */
    uint32_t auxtrace_type;      /* of the record under way: it names the words that follow */
};

/* Appends what lies around the records. */
void pd_dump_around(const struct pd_recording *recording, struct pd_dump *dump);

/* Appends one record. PERFDATA_ERROR_BAD_RECORD: it claims more than it holds. */
perfdata_status pd_dump_text(struct pd_dump *dump, const struct pd_raw *raw,
                             const struct pd_fields_input *input);
perfdata_status pd_dump_json(struct pd_dump *dump, const struct pd_raw *raw,
                             const struct pd_fields_input *input);

/* The value of one field behind a blank, as pd_dump_text() writes it behind "name:"; no newline. */
void pd_dump_value(struct pd_dump *dump, const struct pd_field *field);
/* One element of an array, written in the same way. */
void pd_dump_element(struct pd_dump *dump, const struct pd_field *field, uint32_t index);
/* Makes dump->sink print lines of text, for a walk over fields that the caller begins. */
void pd_dump_lines(struct pd_dump *dump);
/* Remembers from this field what the printing of later ones depends on. */
void pd_dump_note(struct pd_dump *dump, const struct pd_field *field);
/* Whether the field is the words of an AUXTRACE_INFO. */
bool pd_dump_is_auxtrace(const struct pd_field *field);

/* "MMAP2" or "TYPE_4711". */
void pd_dump_type(struct pd_text *text, uint32_t type);
/* Whether the field says nothing: reserved numbers and padding that are zero. */
bool pd_dump_is_blank(const struct pd_field *field);
/* Which register the entry `index` of a field with a mask is about. */
unsigned pd_dump_register(uint64_t mask, uint32_t index);

#endif
