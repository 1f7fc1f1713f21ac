/* SPDX-License-Identifier: MIT */
/* The numbers of the format under our names, made from the tables. */
#ifndef PD_ENUMS_H
#define PD_ENUMS_H
#include <stdint.h>

/* PD_RECORD_MMAP ...: types of records. */
enum pd_record_type {
#define RECORD(number, NAME, name) PD_RECORD_##NAME = (number),
#include "format/nothing.h"
#include "format/records.def"
#define PD_FORGET
#include "format/nothing.h"
    PD_RECORD_KERNEL_END = 64, /* types below come from the kernel, from here on from the tool */
    PD_RECORD_WIDE = 32768 /* from here on simpleperf's: the header has a 32-bit size, no misc */
};

/* PD_FEATURE_HOSTNAME ...: numbers of header features. */
enum pd_feature {
#define FEATURE(number, NAME, name) PD_FEATURE_##NAME = (number),
#include "format/nothing.h"
#include "format/features.def"
#define PD_FORGET
#include "format/nothing.h"
    PD_FEATURE_LAST = 32 /* of perf 6.1: the first number that it does not know */
};

/* PD_SAMPLE_IP ...: bits (masks) of sample_type. */
enum pd_sample_bit {
#define SAMPLE_WORD(NAME, bit, name, kind) PD_SAMPLE_##NAME = 1 << (bit),
#define SAMPLE_PAIR(NAME, bit, low, low_kind, high, high_kind) PD_SAMPLE_##NAME = 1 << (bit),
#define SAMPLE_PART(NAME, bit, function) PD_SAMPLE_##NAME = 1 << (bit),
#define SAMPLE_TAIL(NAME, bit, name, kind) PD_SAMPLE_##NAME = 1 << (bit),
#define SAMPLE_ALIAS(NAME, bit, OTHER) PD_SAMPLE_##NAME = 1 << (bit),
#include "format/sample.def"
    PD_SAMPLE_KNOWN = 0
#define SAMPLE_WORD(NAME, bit, name, kind) | 1 << (bit)
#define SAMPLE_PAIR(NAME, bit, low, low_kind, high, high_kind) | 1 << (bit)
#define SAMPLE_PART(NAME, bit, function) | 1 << (bit)
#define SAMPLE_TAIL(NAME, bit, name, kind) | 1 << (bit)
#define SAMPLE_ALIAS(NAME, bit, OTHER) | 1 << (bit)
#include "format/sample.def"
    ,
    PD_SAMPLE_END = PD_SAMPLE_KNOWN + 1 /* this bit and those above are unknown */
};
_Static_assert(!(PD_SAMPLE_END & PD_SAMPLE_KNOWN), "sample.def leaves out a bit below its last");

/* PD_ATTR_DISABLED ...: numbers of the attr's flags, for pd_attr_flag(). */
enum pd_attr_flag_number {
#define ATTR_FIELD(offset, kind, name, ...)
#define ATTR_FLAG(number, NAME, name) PD_ATTR_##NAME = (number),
#include "format/attr.def"
#undef ATTR_FIELD
#undef ATTR_FLAG
    PD_ATTR_FLAG_END /* the number behind the last row's */
};

/* PD_MISC_MMAP_DATA ...: masks of misc. */
enum pd_misc {
    PD_MISC_CPUMODE_MASK = 7,
#define MISC(NAME, mask, text, ...) PD_MISC_##NAME = (mask),
#include "format/misc.def"
#undef MISC
};

/* PD_CPUMODE_*, PD_TYPE_*, PD_READ_*, PD_BRANCH_*, PD_MEM_* ...: see bits.def. 64 bits wide by
 * need. */
#define VALUES(group) enum {
#define BITS(group) enum {
#define ITEM(PREFIX, NAME, number, text) PREFIX##_##NAME = (int)(number),
#define GROUP_END(group)                                                                           \
    }                                                                                              \
    ;
#include "format/bits.def"
#undef VALUES
#undef BITS
#undef ITEM
#undef GROUP_END

/* A marker in a call chain, as the u64 it is there. */
#define PD_CONTEXT(name) ((uint64_t)(int64_t)PD_CONTEXT_##name)

/* Parts of a branch's flags as a little-endian file has them (pd_branch_flags()),
 * and of data_src: PD_BRANCH_PART(word, TYPE), PD_DATA_SRC_PART(word, OP). */
enum pd_word_part {
#define BRANCH_FLAG(NAME, name, width, le, be)                                                     \
    PD_BRANCH_SHIFT_##NAME = (le), PD_BRANCH_WIDTH_##NAME = (width),
#define DATA_SRC(NAME, name, shift, width)                                                         \
    PD_DATA_SRC_SHIFT_##NAME = (shift), PD_DATA_SRC_WIDTH_##NAME = (width),
#include "format/words.def"
#undef BRANCH_FLAG
#undef DATA_SRC
};

#define PD_BRANCH_PART(word, NAME)                                                                 \
    ((word) >> PD_BRANCH_SHIFT_##NAME & ((UINT64_C(1) << PD_BRANCH_WIDTH_##NAME) - 1))
#define PD_DATA_SRC_PART(word, NAME)                                                               \
    ((word) >> PD_DATA_SRC_SHIFT_##NAME & ((UINT64_C(1) << PD_DATA_SRC_WIDTH_##NAME) - 1))

#endif
