/* SPDX-License-Identifier: MIT */
/* struct pd_record_MMAP2 ... (in lower case): every record type decoded, members in the order of
 * records.def. Absent fields are 0. Text and bytes lead into the record; lists are in the arena
 * given to pd_record_decode(). */
#ifndef PD_STRUCTS_H
#define PD_STRUCTS_H
#include "format/rows.h"

#define RECORD(number, NAME, name)                                                                 \
    struct pd_record_##name {                                                                      \
        struct pd_record_header header;
#include "format/members.h"
#include "format/nothing.h"
#include "format/records.def"
#define PD_FORGET
#include "format/nothing.h"

/* Decodes a record into its structure, whose size is checked against `out_size`. `event` gives the
 * trailer's size and the read_format; NULL is allowed. Lists need an arena: without one they stay
 * NULL with count 0. PERFDATA_ERROR_BAD_RECORD when the record is smaller than its fixed fields or
 * says more than it holds: *out then has what was readable. An MMAP2 that is marked as holding a
 * build-id, but does not, is decoded with device and inode and without the mark. */
perfdata_status pd_record_decode(const struct pd_event *event, const uint8_t *record, uint32_t size,
                                 bool swap, struct pd_arena *arena, void *out, size_t out_size);

/* Whether an MMAP2 is marked as holding a build-id, but does not: while another event asks for
 * build-ids, the kernel may mark records of events that do not. */
bool pd_mmap2_mark_is_wrong(const uint8_t *record, uint32_t size, bool swap);

#endif
