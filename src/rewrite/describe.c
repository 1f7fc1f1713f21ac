/* SPDX-License-Identifier: MIT */
/* Events -> the feature EVENT_DESC anew. */
#include "rewrite/describe.h"

enum { ATTR = 128, NAME_UNIT = 64 };

static void put32(struct pd_text *out, uint32_t value, bool swap)
{
    uint8_t bytes[4];
    pd_store32(bytes, value, swap);
    pd_text_bytes(out, bytes, sizeof bytes);
}

void pd_describe_begin(struct pd_text *out, size_t count, bool swap)
{
    put32(out, (uint32_t)count, swap);
    put32(out, ATTR, swap);
}

void pd_describe_event(struct pd_text *out, const char *name, const struct pd_attr *attr,
                       const uint64_t *ids, size_t id_count, bool swap)
{
    static const uint8_t zeros[NAME_UNIT];
    uint8_t bytes[ATTR] = { 0 };
    pd_attr_encode(attr, swap, bytes, sizeof bytes);
    pd_text_bytes(out, bytes, sizeof bytes);
    put32(out, (uint32_t)id_count, swap);
    size_t length = strlen(name) + 1, room = (length + NAME_UNIT - 1) / NAME_UNIT * NAME_UNIT;
    put32(out, (uint32_t)room, swap);
    pd_text_bytes(out, name, length);
    pd_text_bytes(out, zeros, room - length);
    for (size_t i = 0; i < id_count; i++) {
        uint8_t id[8];
        pd_store64(id, ids[i], swap);
        pd_text_bytes(out, id, sizeof id);
    }
}
