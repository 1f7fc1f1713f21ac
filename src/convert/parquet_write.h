/* SPDX-License-Identifier: MIT */
/* Parquet files: columns of 64-bit numbers, texts and lists of numbers, all required, in row
 * groups, compressed with zstd. Written by hand, since Debian 12 has no C library for it. */
#ifndef PD_CONVERT_PARQUET_WRITE_H
#define PD_CONVERT_PARQUET_WRITE_H
#include "convert/convert.h"
#include "convert/strings.h"

enum pd_parquet_kind { PD_PARQUET_NUMBER, PD_PARQUET_TEXT, PD_PARQUET_LIST };

struct pd_parquet_column {
    const char *name;
    enum pd_parquet_kind kind;
};

struct pd_parquet_chunk {
    uint64_t dictionary, data, plain, compressed, values; /* offsets; bytes; dictionary 0: none */
    uint32_t encoding;
};

/* A file under way; all zero but `columns` and `column_count` before it begins. */
struct pd_parquet {
    const struct pd_parquet_column *columns;
    size_t column_count;
    uint64_t offset;                        /* in the file, of what is written next */
    PD_VEC(struct pd_parquet_chunk) chunks; /* by row group and column */
    PD_VEC(uint64_t) groups;                /* rows of each group */
    struct pd_text page, packed;
};

void pd_parquet_begin(struct pd_convert *x, struct pd_parquet *file);
/* A group of rows begins. Its columns may then be written in any order, also after those of later
 * groups. The number of the group; < 0: no memory. */
int64_t pd_parquet_group(struct pd_convert *x, struct pd_parquet *file, uint64_t rows);
/* One column of a group. Numbers are stored as signed ones: from 2^63 on they wrap. */
perfdata_status pd_parquet_numbers(struct pd_convert *x, struct pd_parquet *file, size_t group,
                                   size_t column, const uint64_t *values, size_t count);
/* The same of things of which only numbers are given, small ones, as those of threads are. Things
 * with equal values may be entries of their own in a dictionary. */
typedef uint64_t pd_parquet_value(const struct pd_convert *x, uint32_t id);
perfdata_status pd_parquet_numbered(struct pd_convert *x, struct pd_parquet *file, size_t group,
                                    size_t column, const uint32_t *ids, size_t count,
                                    pd_parquet_value *value_of);
perfdata_status pd_parquet_texts(struct pd_convert *x, struct pd_parquet *file, size_t group,
                                 size_t column, const uint32_t *ids, size_t count,
                                 const struct pd_strings *strings);
/* List i has lengths[i] values, at least one. */
perfdata_status pd_parquet_lists(struct pd_convert *x, struct pd_parquet *file, size_t group,
                                 size_t column, const uint64_t *values, const uint32_t *lengths,
                                 size_t count);
perfdata_status pd_parquet_end(struct pd_convert *x, struct pd_parquet *file);
void pd_parquet_free(struct pd_parquet *file);

#endif
