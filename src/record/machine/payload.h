/* SPDX-License-Identifier: MIT */
/* A header feature's payload being made. */
#ifndef PD_RECORD_PAYLOAD_H
#define PD_RECORD_PAYLOAD_H
#include "record/record.h"

PD_INLINE void pd_payload_u32(struct pd_text *to, uint32_t value)
{
    pd_text_bytes(to, &value, sizeof value);
}

PD_INLINE void pd_payload_u64(struct pd_text *to, uint64_t value)
{
    pd_text_bytes(to, &value, sizeof value);
}

/* With its length in front, filled up to 64: older tools compute sizes from that. */
PD_INLINE void pd_payload_string(struct pd_text *to, const char *text)
{
    enum { UNIT = 64 };
    size_t size = strlen(text) + 1, room = (size + UNIT - 1) / UNIT * UNIT;
    pd_payload_u32(to, (uint32_t)room);
    pd_text_bytes(to, text, size);
    pd_text_fill(to, 0, room - size);
}

/* Takes the payload: sets the feature, empties it. */
perfdata_status pd_payload_set(perfdata_recorder *recorder, unsigned feature,
                               struct pd_text *payload);

#endif
