/* SPDX-License-Identifier: MIT */
/* The room convert/arrow/: columns of a profile -> arrays of the Arrow C data interface.
 *
 * A stream's own structure lives as long as the stream or any array that points into it or into the
 * profile: both are held by count. Arrays do not hold each other, since readers may move children
 * out. */
#ifndef PD_CONVERT_ARROW_H
#define PD_CONVERT_ARROW_H
#include "convert/convert.h"
#include "convert/strings.h"
#include "convert/tables.h"
#include <perfdata/arrow.h>
#include <stdatomic.h>

struct pd_arrow_stream;

enum pd_arrow_kind {
    PD_ARROW_SLICE,   /* as it lies in the profile */
    PD_ARROW_ROW,     /* the number of the row itself */
    PD_ARROW_NUMBERS, /* by number() for each row */
    PD_ARROW_TEXTS,   /* by text() */
    PD_ARROW_WORDS,   /* numbers of texts of a dictionary */
    PD_ARROW_LISTS    /* functions of stacks, root first */
};

/* Texts that columns of all batches share. */
struct pd_arrow_words {
    struct pd_strings strings; /* only while they are gathered */
    uint32_t *of;              /* by number of a thread or event: its text */
    uint64_t count;
    int64_t *ends; /* as Arrow has them, one more than texts */
    char *bytes;
};

typedef uint64_t pd_arrow_number_fn(const struct pd_arrow_stream *stream, uint64_t row);
typedef const char *pd_arrow_text_fn(const struct pd_arrow_stream *stream, uint64_t row,
                                     char room[PD_TABLE_ROOM]);

struct pd_arrow_column {
    const char *name, *format; /* the interface's: "i", "l", "L", "U", "+L" */
    enum pd_arrow_kind kind;
    bool nullable;
    uint64_t null; /* the number that stands for none, where it is nullable */
    pd_arrow_number_fn *number;
    pd_arrow_text_fn *text;
    const void *slice;
    const uint32_t *by; /* PD_ARROW_WORDS: thread or event of each row */
    const struct pd_arrow_words *words;
    const struct pd_table_column *shared; /* in place of number() and text() */
};

enum { PD_ARROW_COLUMNS = 8 + PERFDATA_COLUMN_COUNT };

struct pd_arrow_stream {
    atomic_uint holders;
    perfdata_profile *profile;
    struct pd_arrow_column columns[PD_ARROW_COLUMNS];
    size_t column_count;
    uint64_t rows, next;
    struct perfdata_samples samples;
    struct pd_arrow_words comms, events;
    struct perfdata_row *list; /* of an aggregate */
    uint32_t key;              /* what its rows are: enum perfdata_row_key */
    const char *error;
};

/* stream.c */
struct pd_arrow_stream *pd_arrow_new(perfdata_profile *profile);
void pd_arrow_hold(struct pd_arrow_stream *stream);
void pd_arrow_drop(struct pd_arrow_stream *stream);
/* `stream` becomes *out's, or is dropped on failure. */
perfdata_status pd_arrow_give(struct pd_arrow_stream *stream, perfdata_status status,
                              struct ArrowArrayStream *out);
void pd_arrow_add(struct pd_arrow_stream *stream, const struct pd_arrow_column *columns,
                  size_t count);

/* arrays.c: ENOMEM or 0. */
int pd_arrow_schema(const struct pd_arrow_stream *stream, struct ArrowSchema *out);
int pd_arrow_batch(struct pd_arrow_stream *stream, uint64_t from, size_t count,
                   struct ArrowArray *out);

#endif
