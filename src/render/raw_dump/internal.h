/* SPDX-License-Identifier: MIT */
/* What the raw dump's files share. */
#ifndef PD_RAW_DUMP_INTERNAL_H
#define PD_RAW_DUMP_INTERNAL_H
#include "render/raw_dump/raw_dump.h"
#include "render/raw_dump/record_text.h"

/* What follows PERF_RECORD_NAME, for types of 64 and above. */
void pd_raw_dump_user(const struct pd_raw_dump *dump, const struct pd_delivered *record,
                      struct pd_text *text);
/* The packets of an Intel PT trace. */
void pd_raw_dump_trace(const uint8_t *bytes, size_t size, struct pd_text *text);
/* Puts the text from `begin` on, which is whole lines, into perf's colours. */
void pd_raw_dump_color(struct pd_text *text, size_t begin);

#endif
