/* SPDX-License-Identifier: MIT */
/* Fields of protocol buffers, written one behind the other. A message within another is written to
 * a text of its own first, since its length stands before it. Written by hand because this is all
 * it takes: a generated writer would build each message in memory. */
#ifndef PD_CONVERT_PROTOBUF_H
#define PD_CONVERT_PROTOBUF_H
#include "base/text.h"

enum { PD_PB_VARINT = 0, PD_PB_FIXED64 = 1, PD_PB_BYTES = 2, PD_PB_VARINT_MAX = 10 };

PD_INLINE char *pd_pb_put(char *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (char)(value | 0x80);
    *to++ = (char)value;
    return to;
}

/* A number without a tag, as in packed fields. */
PD_INLINE void pd_pb_varint(struct pd_text *out, uint64_t value)
{
    char *to = pd_text_room(out, PD_PB_VARINT_MAX);
    if (to)
        out->length = (size_t)(pd_pb_put(to, value) - out->data);
}

PD_INLINE void pd_pb_tag(struct pd_text *out, unsigned field, unsigned wire)
{
    pd_pb_varint(out, (uint64_t)field << 3 | wire);
}

/* Writes nothing for 0, which readers assume for a missing field. */
PD_INLINE void pd_pb_uint(struct pd_text *out, unsigned field, uint64_t value)
{
    if (!value)
        return;
    pd_pb_tag(out, field, PD_PB_VARINT);
    pd_pb_varint(out, value);
}

PD_INLINE void pd_pb_fixed64(struct pd_text *out, unsigned field, uint64_t value)
{
    pd_pb_tag(out, field, PD_PB_FIXED64);
    for (unsigned shift = 0; shift < 64; shift += 8)
        pd_text_char(out, (char)(value >> shift));
}

PD_INLINE void pd_pb_bytes(struct pd_text *out, unsigned field, const void *bytes, size_t size)
{
    pd_pb_tag(out, field, PD_PB_BYTES);
    pd_pb_varint(out, size);
    pd_text_bytes(out, bytes, size);
}

/* Writes `from` as a message, a packed list or a text, and empties it. */
PD_INLINE void pd_pb_message(struct pd_text *out, unsigned field, struct pd_text *from)
{
    pd_pb_bytes(out, field, from->data ? from->data : "", from->length);
    out->failed |= from->failed;
    from->length = 0;
}

#endif
