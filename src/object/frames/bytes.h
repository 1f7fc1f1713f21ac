/* SPDX-License-Identifier: MIT */
/* A reader of call frame information that stops at the end of its bytes: what lies behind is zero,
 * and said to be missing. */
#ifndef PD_FRAME_BYTES_H
#define PD_FRAME_BYTES_H
#include "base/base.h"

struct pd_frame_bytes {
    const uint8_t *at, *end;
    bool swap;
    bool missing; /* more was asked for than there is */
};

PD_INLINE const uint8_t *pd_frame_take(struct pd_frame_bytes *bytes, uint64_t size)
{
    if (size > (size_t)(bytes->end - bytes->at)) {
        bytes->missing = true;
        bytes->at = bytes->end;
        return NULL;
    }
    const uint8_t *taken = bytes->at;
    bytes->at += size;
    return taken;
}

/* A number of 1, 2, 4 or 8 bytes. A number of another size, which files can ask for, counts as
 * missing. */
PD_INLINE uint64_t pd_frame_number(struct pd_frame_bytes *bytes, unsigned size)
{
    const uint8_t *at = pd_frame_take(bytes, size);
    if (!at)
        return 0;
    switch (size) {
    case 1: return *at;
    case 2: return pd_load16(at, bytes->swap);
    case 4: return pd_load32(at, bytes->swap);
    case 8: return pd_load64(at, bytes->swap);
    default: bytes->missing = true; return 0;
    }
}

PD_INLINE int64_t pd_frame_signed(struct pd_frame_bytes *bytes, unsigned size)
{
    uint64_t value = pd_frame_number(bytes, size);
    unsigned above = 64 - 8 * size;
    return (int64_t)(value << above) >> above;
}

/* LEB128; `*shift`: behind its last bit. A number that is longer than any that is written counts as
 * missing, so that a hostile file cannot keep the reader busy with one. Bits above the 64th are
 * lost. */
PD_INLINE uint64_t pd_frame_leb(struct pd_frame_bytes *bytes, unsigned *shift)
{
    enum { LONGEST = 16 };
    uint64_t value = 0;
    for (*shift = 0; *shift < 7 * LONGEST;) {
        uint8_t byte = (uint8_t)pd_frame_number(bytes, 1);
        if (*shift < 64)
            value |= (uint64_t)(byte & 0x7f) << *shift;
        *shift += 7;
        if (!(byte & 0x80))
            return value;
    }
    bytes->missing = true;
    return 0;
}

PD_INLINE uint64_t pd_frame_uleb(struct pd_frame_bytes *bytes)
{
    unsigned shift;
    return pd_frame_leb(bytes, &shift);
}

PD_INLINE int64_t pd_frame_sleb(struct pd_frame_bytes *bytes)
{
    unsigned shift;
    uint64_t value = pd_frame_leb(bytes, &shift);
    bool is_negative = shift < 64 && value >> (shift - 1) & 1;
    return (int64_t)(is_negative ? value | UINT64_MAX << shift : value);
}

#endif
