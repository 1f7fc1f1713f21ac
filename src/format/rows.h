/* SPDX-License-Identifier: MIT */
/* What the rows of records.def and features.def become: members of structures here, struct pd_row in rows.c. */
#ifndef PD_ROWS_H
#define PD_ROWS_H
#include "format/format.h"

/* Text inside a record (not terminated) or a decoded feature (terminated). NULL when the field is absent. */
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
    return array->width == 8 ? pd_load64(at, array->swap)
           : array->width == 4 ? pd_load32(at, array->swap) : pd_load16(at, array->swap);
}

/* The member that holds a field of each kind. */
#define PD_MEMBER_u8(name) uint8_t name;
#define PD_MEMBER_u16(name) uint16_t name;
#define PD_MEMBER_u32(name) uint32_t name;
#define PD_MEMBER_u64(name) uint64_t name;
#define PD_MEMBER_x64(name) uint64_t name;
#define PD_MEMBER_s64(name) int64_t name;
#define PD_MEMBER_f64(name) double name;
#define PD_MEMBER_pid(name) uint32_t name; /* shown signed: -1 is common */
#define PD_MEMBER_res8(name) uint8_t name; /* reserved: shown when not 0 */
#define PD_MEMBER_res16(name) uint16_t name;
#define PD_MEMBER_res32(name) uint32_t name;
#define PD_MEMBER_text(name) struct pd_str name;    /* up to NUL, in the rest of the body */
#define PD_MEMBER_lstr(name) struct pd_str name;    /* u32 length (padding counts), bytes */
#define PD_MEMBER_zstr(name) struct pd_str name;    /* up to NUL, nothing behind it */
#define PD_MEMBER_char16(name) struct pd_str name;  /* up to NUL in so many bytes */
#define PD_MEMBER_char64(name) struct pd_str name;
#define PD_MEMBER_char256(name) struct pd_str name;
#define PD_MEMBER_bytes8(name) uint8_t name[8];
#define PD_MEMBER_bytes20(name) uint8_t name[20];
#define PD_MEMBER_sized(name) struct pd_span name;  /* as .count says */
#define PD_MEMBER_rest(name) struct pd_span name;   /* all that is left */
#define PD_MEMBER_align(name) struct pd_span name;
#define PD_MEMBER_u16s(name) struct pd_array name;
#define PD_MEMBER_u32s(name) struct pd_array name;
#define PD_MEMBER_u64s(name) struct pd_array name;
#define PD_MEMBER_x64s(name) struct pd_array name;
#define PD_MEMBER_attr(name) struct pd_attr name;
#define PD_MEMBER_read(name) struct pd_span name;   /* by the event's read_format */
#define PD_MEMBER_sample(name) struct pd_span name; /* by the event's plan: pd_sample_decode() */
#define PD_MEMBER_feature(name) struct pd_span name; /* by the feature's number: pd_feature_decode() */

#endif
