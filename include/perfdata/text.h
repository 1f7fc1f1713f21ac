/* SPDX-License-Identifier: MIT */
/* Texts about a recording as a whole, as perf 6.1 prints them: its header, its events, its
 * build-ids. */
#ifndef PERFDATA_TEXT_H
#define PERFDATA_TEXT_H
#include <perfdata/recording.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The long parts too (perf's -I): CPU and NUMA topology, caches, memory. Since 0.1. */
#define PERFDATA_HEADER_FULL 1u
/* One JSON object on one line; always with the long parts. Since 0.1. */
#define PERFDATA_HEADER_JSON 2u

/* The header: `perf report --header-only`. "captured on" is the file's time of modification in the
 * local time zone. Returns what write() or the memory failed with, else PERFDATA_OK. Since 0.1. */
PERFDATA_API perfdata_status perfdata_header_print(perfdata_recording *recording, uint32_t flags,
                                                   perfdata_write_fn write, void *data);

/* -v: all that is set in the attr. Since 0.1. */
#define PERFDATA_EVLIST_VERBOSE 1u
/* -F: the sample frequency or period. Since 0.1. */
#define PERFDATA_EVLIST_FREQUENCY 2u
/* -g: groups in braces. Since 0.1. */
#define PERFDATA_EVLIST_GROUP 4u
/* One JSON object a line, all fields; the other flags mean nothing then. Since 0.1. */
#define PERFDATA_EVLIST_JSON 8u
/* The names of a tracepoint's fields, too. Since 0.1. */
#define PERFDATA_EVLIST_TRACE_FIELDS 16u

/* A line per event: `perf evlist`. Errors as above. Since 0.1. */
PERFDATA_API perfdata_status perfdata_evlist_print(perfdata_recording *recording, uint32_t flags,
                                                   perfdata_write_fn write, void *data);

/* -H: only what samples hit; read from the records. Since 0.1. */
#define PERFDATA_BUILD_IDS_HITS 1u

/* A line per object, "BUILD-ID NAME": `perf buildid-list`. Without a build-id table in the header
 * the records are read as with PERFDATA_BUILD_IDS_HITS. Errors as above, and those of reading
 * records. Since 0.1. */
PERFDATA_API perfdata_status perfdata_build_ids_print(perfdata_recording *recording, uint32_t flags,
                                                      perfdata_write_fn write, void *data);

/* The build-id of an ELF file, or of a file of notes as /sys/kernel/notes: *size bytes (at most 20)
 * into `id`. PERFDATA_ERROR_NOT_FOUND when the file cannot be read, is neither or has none. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_file_build_id(const char *path, uint8_t id[20], size_t *size);

#ifdef __cplusplus
}
#endif
#endif
