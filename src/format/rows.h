/* SPDX-License-Identifier: MIT */
/* What the rows of records.def and features.def become: members of structures here, struct pd_row
 * in rows.c. */
#ifndef PD_ROWS_H
#define PD_ROWS_H
#include "format/format.h"

/* Text inside a record (not terminated) or a decoded feature (terminated). NULL when the field is
 * absent. */
struct pd_str {
    const char *text;
    uint32_t length;
};

/* Bytes that are not ours to interpret. */
struct pd_span {
    const uint8_t *data;
    size_t size;
};

/* Numbers in file byte order, unaligned; each `width` bytes. */
struct pd_array {
    const uint8_t *data;
    uint32_t count;
    uint8_t width;
    bool swap;
};

PD_INLINE uint64_t pd_array_at(const struct pd_array *array, size_t index)
{
    const uint8_t *at = array->data + index * array->width;
    return array->width == 8   ? pd_load64(at, array->swap)
           : array->width == 4 ? pd_load32(at, array->swap)
                               : pd_load16(at, array->swap);
}

enum pd_kind {
    PD_KIND_end,
#define KIND(name, least, shape) PD_KIND_##name,
#include "format/kinds.def"
#undef KIND
    PD_KIND_COUNT
};

/* The least bytes that a field of a kind takes; the size of numbers. */
enum pd_kind_least {
#define KIND(name, least, shape) PD_LEAST_##name = (least),
#include "format/kinds.def"
#undef KIND
};

enum pd_shape {
    PD_SHAPE_NUMBER,
    PD_SHAPE_TEXT,
    PD_SHAPE_BYTES,
    PD_SHAPE_PADDING,
    PD_SHAPE_ARRAY,
    PD_SHAPE_NESTED
};

struct pd_kind_info {
    const char *name;
    uint16_t least;
    uint8_t shape;
};
extern const struct pd_kind_info pd_kinds[PD_KIND_COUNT];

/* When a field is there. */
enum pd_when {
    PD_WHEN_ALWAYS,
    PD_WHEN_EQ, /* register `when_register` against `value` */
    PD_WHEN_LE,
    PD_WHEN_GE,
    PD_WHEN_EQ2,     /* and register `also_register` equals `also_value` */
    PD_WHEN_EQ_ROOM, /* and bytes are left */
    PD_WHEN_MISC,    /* bit `value` of misc */
    PD_WHEN_NOT_MISC,
    PD_WHEN_ROOM, /* bytes are left */
    PD_WHEN_ODD   /* what is left is an odd number of u64 */
};

/* How many items a list or array has, or bytes a `sized`, `window` or `attr`. */
enum pd_count {
    PD_COUNT_NONE,
    PD_COUNT_REGISTER,
    PD_COUNT_BITS /* u64 words for so many bits */,
    PD_COUNT_REST
};

struct pd_names;

struct pd_row {
    const char *name; /* NULL ends the rows */
    uint8_t kind;
    uint16_t least; /* 0 when it may be absent */
    uint8_t save, when, when_register, also_register, count, count_register;
    bool self_sized; /* a list whose items begin with a record header */
    uint16_t value, also_value;
    uint32_t member; /* offset in the structure */
    uint32_t part_size;
    const struct pd_names *names;
    const struct pd_row *(*part)(void);
};

/* The rows of a record's body or a feature's payload, NULL for numbers in no table. *size: that of
 * the structure. */
const struct pd_row *pd_record_rows(uint32_t type, size_t *size);
const struct pd_row *pd_feature_rows(unsigned feature, size_t *size);
/* The offset of a feature's member in struct pd_features. */
size_t pd_feature_member(unsigned feature);
const struct pd_row *pd_build_id_rows(void);

/* The member that holds a field of each kind. */
#define PD_MEMBER_u8(name) uint8_t name;
#define PD_MEMBER_u16(name) uint16_t name;
#define PD_MEMBER_u32(name) uint32_t name;
#define PD_MEMBER_u64(name) uint64_t name;
#define PD_MEMBER_n64(name) uint64_t name;
#define PD_MEMBER_x64(name) uint64_t name;
#define PD_MEMBER_s64(name) int64_t name;
#define PD_MEMBER_f64(name) double name;
#define PD_MEMBER_s32(name) int32_t name;
#define PD_MEMBER_pid(name) uint32_t name; /* shown signed: -1 is common */
#define PD_MEMBER_res8(name) uint8_t name; /* reserved: shown when not 0 */
#define PD_MEMBER_res16(name) uint16_t name;
#define PD_MEMBER_res32(name) uint32_t name;
#define PD_MEMBER_text(name) struct pd_str name;   /* up to NUL, in the rest of the body */
#define PD_MEMBER_lstr(name) struct pd_str name;   /* u32 length (padding counts), bytes */
#define PD_MEMBER_zstr(name) struct pd_str name;   /* up to NUL, nothing behind it */
#define PD_MEMBER_char16(name) struct pd_str name; /* up to NUL in so many bytes */
#define PD_MEMBER_char64(name) struct pd_str name;
#define PD_MEMBER_char256(name) struct pd_str name;
#define PD_MEMBER_bytes8(name) uint8_t name[8];
#define PD_MEMBER_bytes20(name) uint8_t name[20];
#define PD_MEMBER_sized(name) struct pd_span name; /* as .count says */
#define PD_MEMBER_rest(name) struct pd_span name;  /* all that is left */
#define PD_MEMBER_align(name) struct pd_span name;
#define PD_MEMBER_u16s(name) struct pd_array name;
#define PD_MEMBER_u32s(name) struct pd_array name;
#define PD_MEMBER_u64s(name) struct pd_array name;
#define PD_MEMBER_x64s(name) struct pd_array name;
#define PD_MEMBER_attr(name) struct pd_attr name;
#define PD_MEMBER_read(name) struct pd_span name;   /* by the event's read_format */
#define PD_MEMBER_sample(name) struct pd_span name; /* by the event's plan: pd_sample_decode() */
#define PD_MEMBER_feature(name)                                                                    \
    struct pd_span name; /* by the feature's number: pd_feature_decode() */

#endif
