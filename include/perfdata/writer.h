/* SPDX-License-Identifier: MIT */
/* A recording written by hand: events, features, records -> a file or a pipe stream that every perf
 * reads.
 *
 * A file says "unfinished" until perfdata_writer_finish(): what a killed writer leaves can be read
 * up to its last whole record. All bytes are in the byte order of this machine (perfdata_inject()
 * converts). A writer is used by one thread at a time; different writers are independent. */
#ifndef PERFDATA_WRITER_H
#define PERFDATA_WRITER_H
#include <perfdata/recording.h>
#include <perfdata/rewrite.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perfdata_writer perfdata_writer;

/* Opens the output; byte_order must be RECORDED or NATIVE. *out is set also on failure (NULL only
 * without memory), so that perfdata_writer_error() can tell more; it must be closed either way.
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_writer_open(const struct perfdata_output *output,
                                                  perfdata_writer **out);

/* An event as the kernel's struct perf_event_attr of `attr_size` bytes, whose member `size` says no
 * more; `ids` as many as the event has instances. Each id belongs to one event, and samples should
 * have PERF_SAMPLE_IDENTIFIER. A file takes events until it is finished, a pipe until
 * perfdata_writer_begin(). All is copied. Since 0.1. */
PERFDATA_API perfdata_status perfdata_writer_add_event(perfdata_writer *writer, const void *attr,
                                                       size_t attr_size, const uint64_t *ids,
                                                       size_t id_count);
/* The event of a recording with its ids. Since 0.1. */
PERFDATA_API perfdata_status perfdata_writer_copy_event(perfdata_writer *writer,
                                                        const perfdata_event *event);

/* A header feature's payload as it stands in a file; one set before is replaced. The number is
 * below 256. A file takes features until it is finished, a pipe until perfdata_writer_begin(); what
 * is too large for a pipe's record is left out. Since 0.1. */
PERFDATA_API perfdata_status perfdata_writer_set_feature(perfdata_writer *writer, uint32_t feature,
                                                         const void *payload, size_t size);
/* The same for features that are one string: HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID.
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_writer_set_text(perfdata_writer *writer, uint32_t feature,
                                                      const char *text);

/* Once, before the first record. Since 0.1. */
PERFDATA_API perfdata_status perfdata_writer_begin(perfdata_writer *writer);
/* A whole record, its header included, whose size must be `size`: PERFDATA_ERROR_ARGUMENT
 * otherwise. Since 0.1. */
PERFDATA_API perfdata_status perfdata_writer_put(perfdata_writer *writer, const void *record,
                                                 size_t size);
/* In a directory (PERFDATA_OUTPUT_DIRECTORY) the records that come now go to a file of their own
 * for each number above 0, data.0, data.1 ... as they are met; 0 is `data`, which user records
 * belong to. PERFDATA_ERROR_ARGUMENT: it is no directory. Since 0.1. */
PERFDATA_API perfdata_status perfdata_writer_select(perfdata_writer *writer, uint32_t file);
/* The bytes that follow an AUXTRACE record, in one piece or several. Since 0.1. */
PERFDATA_API perfdata_status perfdata_writer_put_payload(perfdata_writer *writer, const void *bytes,
                                                         size_t size);
/* Completes the recording; it then has its name. Since 0.1. */
PERFDATA_API perfdata_status perfdata_writer_finish(perfdata_writer *writer);
/* Without finish a file goes. NULL does nothing. Since 0.1. */
PERFDATA_API void perfdata_writer_close(perfdata_writer *writer);
/* What the last failure was; "" when nothing failed. Since 0.1. */
PERFDATA_API const char *perfdata_writer_error(const perfdata_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
