/* SPDX-License-Identifier: MIT */
/* The tables as data: one array of rows per structure, each in a function so that a row can name
 * its structure. */
#include "format/features.h"
#include "format/names.h"
#include "format/structs.h"

const struct pd_kind_info pd_kinds[PD_KIND_COUNT] = {
#define KIND(name, least, shape) [PD_KIND_##name] = { #name, least, PD_SHAPE_##shape },
#include "format/kinds.def"
#undef KIND
};

#define NONE .save = 0
#define NAMES(group) .names = &pd_names_##group
#define SAVE(n) .save = (n)
#define COUNT(n) .count = PD_COUNT_REGISTER, .count_register = (n)
#define COUNT_BITS(n) .count = PD_COUNT_BITS, .count_register = (n)
#define COUNT_REST .count = PD_COUNT_REST
#define SIZED(n) COUNT(n)
#define SELF_SIZED .self_sized = true
#define WHEN_EQ(n, v) .when = PD_WHEN_EQ, .when_register = (n), .value = (v)
#define WHEN_LE(n, v) .when = PD_WHEN_LE, .when_register = (n), .value = (v)
#define WHEN_GE(n, v) .when = PD_WHEN_GE, .when_register = (n), .value = (v)
#define WHEN_EQ2(n, v, m, w)                                                                       \
    .when = PD_WHEN_EQ2, .when_register = (n), .value = (v), .also_register = (m), .also_value = (w)
#define WHEN_EQ_ROOM(n, v) .when = PD_WHEN_EQ_ROOM, .when_register = (n), .value = (v)
#define WHEN_MISC(bit) .when = PD_WHEN_MISC, .value = (bit)
#define WHEN_NOT_MISC(bit) .when = PD_WHEN_NOT_MISC, .value = (bit)
#define WHEN_ROOM .when = PD_WHEN_ROOM
#define WHEN_ODD .when = PD_WHEN_ODD

#define ROWS(function, structure)                                                                  \
    static const struct pd_row *function(void)                                                     \
    {                                                                                              \
        typedef struct structure T;                                                                \
        static const struct pd_row rows[] = {
#define PART(name) ROWS(rows_of_##name, pd_part_##name)
#define RECORD(number, NAME, name) ROWS(record_##name, pd_record_##name)
#define FEATURE(number, NAME, name) ROWS(feature_##name, pd_feature_##name)
#define FIELD(kind_, name_, ...)                                                                   \
    { .name = #name_,                                                                              \
      .kind = PD_KIND_##kind_,                                                                     \
      .least = PD_LEAST_##kind_,                                                                   \
      .member = offsetof(T, name_),                                                                \
      __VA_ARGS__ },
#define OPTIONAL(kind_, name_, ...)                                                                \
    { .name = #name_, .kind = PD_KIND_##kind_, .member = offsetof(T, name_), __VA_ARGS__ },
#define LIST(part_, name_, ...)                                                                    \
    { .name = #name_,                                                                              \
      .kind = PD_KIND_list,                                                                        \
      .member = offsetof(T, name_),                                                                \
      .part = rows_of_##part_,                                                                     \
      .part_size = sizeof(struct pd_part_##part_),                                                 \
      __VA_ARGS__ },
#define WINDOW(part_, name_, ...)                                                                  \
    { .name = #name_,                                                                              \
      .kind = PD_KIND_window,                                                                      \
      .member = offsetof(T, name_),                                                                \
      .part = rows_of_##part_,                                                                     \
      .part_size = sizeof(struct pd_part_##part_),                                                 \
      __VA_ARGS__ },
#define END(name_)                                                                                 \
    {                                                                                              \
        .name = NULL, .member = sizeof(T)                                                          \
    }                                                                                              \
    }                                                                                              \
    ;                                                                                              \
    return rows;                                                                                   \
    }
#include "format/records.def"
#include "format/features.def"
#define PD_FORGET
#include "format/nothing.h"

/* A number of a record type or feature and what belongs to it. */
struct entry {
    uint32_t number, least;
    size_t size, member;
    const struct pd_row *(*rows)(void);
};

/* Least sizes: the header and every field that is always there. */
enum {
#define RECORD(number, NAME, name) LEAST_##name = 8
#define FIELD(kind, name, ...) +PD_LEAST_##kind
#define END(name) ,
#define PART(name) PART_LEAST_##name = 0
#include "format/nothing.h"
#include "format/records.def"
#define PD_FORGET
#include "format/nothing.h"
    LEAST_COUNT
};

static const struct entry records[] = {
#define RECORD(number, NAME, name)                                                                 \
    { number, LEAST_##name, sizeof(struct pd_record_##name), 0, record_##name },
#include "format/nothing.h"
#include "format/records.def"
#define PD_FORGET
#include "format/nothing.h"
};

static const struct entry features[] = {
#define FEATURE(number, NAME, name)                                                                \
    { number, 0, sizeof(struct pd_feature_##name), offsetof(struct pd_features, name),             \
      feature_##name },
#include "format/nothing.h"
#include "format/features.def"
#define PD_FORGET
#include "format/nothing.h"
};

/* The tables are in ascending order. */
static const struct entry *find(const struct entry *entries, size_t count, uint32_t number)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        if (entries[middle].number == number)
            return &entries[middle];
        if (entries[middle].number < number)
            low = middle + 1;
        else
            count = middle;
    }
    return NULL;
}

uint32_t pd_record_min_size(uint32_t type)
{
    const struct entry *entry = find(records, PD_LENGTH(records), type);
    return entry ? entry->least : 8;
}

const struct pd_row *pd_record_rows(uint32_t type, size_t *size)
{
    const struct entry *entry = find(records, PD_LENGTH(records), type);
    if (size)
        *size = entry ? entry->size : 0;
    return entry ? entry->rows() : NULL;
}

const struct pd_row *pd_feature_rows(unsigned feature, size_t *size)
{
    const struct entry *entry = find(features, PD_LENGTH(features), feature);
    if (size)
        *size = entry ? entry->size : 0;
    return entry ? entry->rows() : NULL;
}

size_t pd_feature_member(unsigned feature)
{
    return find(features, PD_LENGTH(features), feature)->member;
}

const struct pd_row *pd_build_id_rows(void)
{
    return rows_of_build_id_entry();
}
