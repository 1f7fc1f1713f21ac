/* SPDX-License-Identifier: MIT */
/* Every field of every record, in the order of the file. */
#ifndef PERFDATA_DUMP_H
#define PERFDATA_DUMP_H
#include <perfdata/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One JSON object a line in place of text. Since 0.1. */
#define PERFDATA_DUMP_JSON 1u
/* What lies around the records in place of them: the file's header, attributes with their ids,
 * features with their places, the parts of tracing data. With PERFDATA_DUMP_JSON what
 * perfdata_header_print() writes as JSON. Since 0.1. */
#define PERFDATA_DUMP_HEADER 2u

/* Each record: offset, type, misc, size, and its fields by name. A record that says more than it
 * holds is shown as far as it goes and is an issue. Returns errors of reading (see
 * perfdata_cursor_next()), PERFDATA_ERROR_OUTPUT when write() wanted no more,
 * PERFDATA_ERROR_MEMORY. Since 0.1. */
PERFDATA_API perfdata_status perfdata_dump_print(perfdata_recording *recording, uint32_t flags,
                                                 perfdata_write_fn write, void *data);

/* "NAME COUNT" lines, sorted by name, one per record type that occurs. Errors as above. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_dump_stats(perfdata_recording *recording,
                                                 perfdata_write_fn write, void *data);

/* One number over every field of every record: equal for recordings whose records say the same in
 * different byte orders. *records (may be NULL): how many there were. Errors as above. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_dump_checksum(perfdata_recording *recording, uint64_t *sum,
                                                    uint64_t *records);

/* The name of a record type, "MMAP2"; NULL for a number in no table. Static. Since 0.1. */
PERFDATA_API const char *perfdata_record_type_name(uint32_t type);

#ifdef __cplusplus
}
#endif
#endif
