/* SPDX-License-Identifier: MIT */
/* An open recording: its properties, events and header features. Records: <perfdata/records.h>.
 *
 * All numbers are in host byte order whatever machine recorded. Strings are NUL-terminated, bytes
 * as recorded (often but not always UTF-8). Pointers that a recording gives are the recording's and
 * live until it is closed. One recording is used by one thread at a time; different recordings are
 * independent. */
#ifndef PERFDATA_RECORDING_H
#define PERFDATA_RECORDING_H
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perfdata_recording perfdata_recording;
typedef struct perfdata_event perfdata_event;

/* Where text goes: 0 to go on, anything else stops with PERFDATA_ERROR_OUTPUT. The bytes are valid
 * during the call and not NUL-terminated. Since 0.1. */
typedef int (*perfdata_write_fn)(void *data, const char *text, size_t length);

/* The first issue is an error: PERFDATA_ERROR_STRICT with its text. Since 0.1. */
#define PERFDATA_STRICT 1u
/* Reads all of several pipe streams that stand one behind the other; perf reads the first one.
 * Since 0.1. */
#define PERFDATA_ALL_STREAMS 2u
/* Texts and copies go as far as perf 6.1's, also where it leaves off or leaves out what is there:
 * of a pipe, the events behind its first feature (evlist); of a pipe and of an unfinished file,
 * counts, tasks and build-ids behind the first compressed record, which fail; build-ids of a file
 * that inject writes as a pipe. Since 0.1. */
#define PERFDATA_LIKE_PERF 4u

/* How far a walk over the records has come. Since 0.1. */
struct perfdata_progress {
    size_t struct_size;
    uint64_t bytes;   /* of the recording's data that have been read            */
    uint64_t total;   /* bytes that there are; 0: unknown, of a stream          */
    uint64_t records; /* that came out of them, in this walk                    */
};

/* Called every few thousand records, on the thread that reads, one call at a time; must not call
 * back into the recording. An analysis may walk more than once: `bytes` then begins again. 0 to go
 * on; greater: the walk ends here as if the recording did, with an issue (PERFDATA_ISSUE_LIMIT), so
 * that what was read is still shown; less: it fails with PERFDATA_ERROR_CANCELLED, so that nothing
 * is written. Since 0.1. */
typedef int (*perfdata_progress_fn)(void *data, const struct perfdata_progress *progress);

/* How to open. Begin with PERFDATA_OPTIONS_INIT; members that an older caller lacks have their
 * defaults. Since 0.1. */
struct perfdata_options {
    size_t struct_size;
    /* Called for each thing that is wrong but did not stop us; may be NULL. It must not call back
     * into the recording; calls never overlap, but may come from worker threads. */
    void (*on_issue)(void *data, const struct perfdata_issue *issue);
    void *issue_data;
    /* bytes of records that wait for their order, beyond them a temporary file; 0: 64 MiB */
    uint64_t max_memory;
    uint64_t max_records; /* records read by one walk, then an issue and the end; 0: no limit   */
    /* Bytes that may come out of compressed records, and out of a recording that is packed as a
     * whole. 0: up to 1 GiB, or max_memory if that is more, and beyond it 256 times what was
     * packed, which no recording reaches. Where it ends, packed recordings do not open
     * (PERFDATA_ERROR_LIMIT); the rest of compressed records is left out (PERFDATA_ISSUE_LIMIT). */
    uint64_t max_decompressed;
    uint32_t threads; /* workers of the texts and analyses; 0: all cores                    */
    uint32_t flags;   /* PERFDATA_STRICT, PERFDATA_ALL_STREAMS, PERFDATA_LIKE_PERF          */
    perfdata_progress_fn on_progress; /* may be NULL. Since 0.1. */
    void *progress_data;
};
#define PERFDATA_OPTIONS_INIT                                                                      \
    {                                                                                              \
        sizeof(struct perfdata_options), 0, 0, 0, 0, 0, 0, 0, 0, 0                                 \
    }

/* ---- opening ---- */

/* Opens a recording; options NULL: defaults. *out is set also on failure (NULL only without
 * memory), so that perfdata_recording_error() can tell more; it must be closed either way.
 *   PERFDATA_ERROR_NOT_FOUND, _ACCESS, _IO   the file cannot be opened or read
 *   PERFDATA_ERROR_EMPTY, _NOT_PERF_DATA, _BAD_HEADER, _TRUNCATED   it is no recording, or nothing
 *                                                                   of it is usable
 *   PERFDATA_ERROR_MEMORY, _STRICT, _ARGUMENT
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_recording_open(const char *path,
                                                     const struct perfdata_options *options,
                                                     perfdata_recording **out);
/* The descriptor stays the caller's and must outlive the recording; its file position is not used.
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_recording_open_fd(int fd,
                                                        const struct perfdata_options *options,
                                                        perfdata_recording **out);
/* The bytes stay the caller's, unchanged until the recording is closed; they are not copied. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_recording_open_memory(const void *bytes, size_t size,
                                                            const struct perfdata_options *options,
                                                            perfdata_recording **out);
/* Ends the recording and all pointers it gave. Its cursors must be closed before. NULL does
 * nothing. Since 0.1. */
PERFDATA_API void perfdata_recording_close(perfdata_recording *recording);

/* What the last failure was, with the file's name; "" when nothing failed. Valid until the next
 * call with this recording. *offset (may be NULL): where in the file, -1 unknown. Since 0.1. */
PERFDATA_API const char *perfdata_recording_error(const perfdata_recording *recording,
                                                  int64_t *offset);

/* How many issues of a kind (enum perfdata_issue_kind) were met so far; 0 for an unknown kind.
 * Since 0.1. */
PERFDATA_API uint64_t perfdata_recording_issue_count(const perfdata_recording *recording,
                                                     int32_t kind);

/* ---- the file ---- */

/* 2 for PERFILE2, 1 for the old PERFFILE. Since 0.1. */
PERFDATA_API uint32_t perfdata_recording_version(const perfdata_recording *recording);
/* How the recording is kept. Since 0.1. */
enum perfdata_form {
    PERFDATA_FORM_FILE = 0, /* one file with sections */
    PERFDATA_FORM_PIPE = 1, /* a stream of records, maybe saved in a file */
    PERFDATA_FORM_DIRECTORY = 2
};
/* enum perfdata_form. Since 0.1. */
PERFDATA_API uint32_t perfdata_recording_form(const perfdata_recording *recording);
/* 1 when a big-endian machine recorded, else 0. Since 0.1. */
PERFDATA_API int perfdata_recording_is_big_endian(const perfdata_recording *recording);
/* 1 when the recorder did not end properly (data size 0), else 0: there are no features then. Since
 * 0.1. */
PERFDATA_API int perfdata_recording_is_unfinished(const perfdata_recording *recording);
/* 1 when the file ends before its header says, else 0. Since 0.1. */
PERFDATA_API int perfdata_recording_is_truncated(const perfdata_recording *recording);
/* Offset in the file and bytes of the records that there are; each pointer may be NULL. Since
 * 0.1. */
PERFDATA_API void perfdata_recording_data(const perfdata_recording *recording, uint64_t *offset,
                                          uint64_t *size);

/* ---- events ---- */

/* Since 0.1. */
PERFDATA_API size_t perfdata_recording_event_count(const perfdata_recording *recording);
/* Event `index` in the order of the file; NULL beyond the last. Since 0.1. */
PERFDATA_API const perfdata_event *perfdata_recording_event(const perfdata_recording *recording,
                                                            size_t index);
/* The event with this id; NULL when none has it. Of events that share an id the last. Since 0.1. */
PERFDATA_API const perfdata_event *
perfdata_recording_event_by_id(const perfdata_recording *recording, uint64_t id);

/* The name that perf gives it; never NULL. Since 0.1. */
PERFDATA_API const char *perfdata_event_name(const perfdata_event *event);
/* Position in the recording, from 0. Since 0.1. */
PERFDATA_API size_t perfdata_event_index(const perfdata_event *event);
/* perf_event_attr.type, .config and .sample_type. Since 0.1. */
PERFDATA_API uint32_t perfdata_event_type(const perfdata_event *event);
PERFDATA_API uint64_t perfdata_event_config(const perfdata_event *event);
PERFDATA_API uint64_t perfdata_event_sample_type(const perfdata_event *event);
/* Any field of perf_event_attr by the kernel's name ("sample_period", "branch_sample_type",
 * "clockid" as two's complement), flag bits too ("exclude_kernel": 0 or 1; "precise_ip": 0 to 3).
 * Fields that the recorder's attr did not have are 0. PERFDATA_ERROR_NOT_FOUND for an unknown name.
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_event_attr(const perfdata_event *event, const char *field,
                                                 uint64_t *value);
/* The whole perf_event_attr in this machine's byte order, its first `size` bytes; its member `size`
 * says so, too. Since 0.1. */
PERFDATA_API void perfdata_event_attr_bytes(const perfdata_event *event, void *out, size_t size);
/* The ids of its instances (event x CPU x thread), *count of them. Since 0.1. */
PERFDATA_API const uint64_t *perfdata_event_ids(const perfdata_event *event, size_t *count);
/* The leader of its group, itself when alone; and how many events its group has. Since 0.1. */
PERFDATA_API size_t perfdata_event_leader(const perfdata_event *event);
PERFDATA_API size_t perfdata_event_member_count(const perfdata_event *event);
/* The name of the group that it leads; NULL when it has none. Since 0.1. */
PERFDATA_API const char *perfdata_event_group_name(const perfdata_event *event);

/* ---- header features ---- */

/* "HOSTNAME" for 3 and so on, static; NULL for an unknown number. Since 0.1. */
PERFDATA_API const char *perfdata_feature_name(uint32_t feature);
/* 1 when the file says that it has the feature, else 0. Since 0.1. */
PERFDATA_API int perfdata_recording_has_feature(const perfdata_recording *recording,
                                                uint32_t feature);
/* Where the feature's bytes lie in the file. PERFDATA_ERROR_NO_DATA when it is absent or lies
 * outside. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recording_feature(const perfdata_recording *recording,
                                                        uint32_t feature, uint64_t *offset,
                                                        uint64_t *size);

/* Text features; NULL when absent. "x86_64", "6.1.0-23-amd64", "6.1.192" ... Since 0.1. */
PERFDATA_API const char *perfdata_recording_hostname(const perfdata_recording *recording);
PERFDATA_API const char *perfdata_recording_os_release(const perfdata_recording *recording);
PERFDATA_API const char *perfdata_recording_perf_version(const perfdata_recording *recording);
PERFDATA_API const char *perfdata_recording_arch(const perfdata_recording *recording);
PERFDATA_API const char *perfdata_recording_cpu_description(const perfdata_recording *recording);
PERFDATA_API const char *perfdata_recording_cpuid(const perfdata_recording *recording);
/* Words of the recorder's command line; word 0 is the perf binary. NULL beyond the last. Since
 * 0.1. */
PERFDATA_API size_t perfdata_recording_command_count(const perfdata_recording *recording);
PERFDATA_API const char *perfdata_recording_command_word(const perfdata_recording *recording,
                                                         size_t index);
/* CPUs; PERFDATA_ERROR_NO_DATA when absent. Each pointer may be NULL. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recording_cpus(const perfdata_recording *recording,
                                                     uint32_t *online, uint32_t *available);
/* MemTotal in kilobytes; PERFDATA_ERROR_NO_DATA when absent. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recording_total_memory(const perfdata_recording *recording,
                                                             uint64_t *kilobytes);
/* Times of the first and the last sample, ns of the recording's clock; PERFDATA_ERROR_NO_DATA when
 * absent. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recording_sample_times(const perfdata_recording *recording,
                                                             uint64_t *first, uint64_t *last);

/* An entry of the build-id table. Since 0.1. */
struct perfdata_build_id {
    size_t struct_size; /* set by the caller */
    const char *path;   /* of the object as recorded */
    const uint8_t *id;  /* `id_size` bytes */
    uint32_t id_size;   /* at most 20 */
    uint16_t misc;      /* as recorded; bits 0-2: 1 kernel, 2 user, 4 guest kernel, 5 guest user */
    uint16_t reserved;
    int32_t pid; /* -1: the host */
    uint32_t reserved2;
};
/* Since 0.1. */
PERFDATA_API size_t perfdata_recording_build_id_count(const perfdata_recording *recording);
/* PERFDATA_ERROR_ARGUMENT beyond the last. Since 0.1. */
PERFDATA_API perfdata_status perfdata_recording_build_id(const perfdata_recording *recording,
                                                         size_t index,
                                                         struct perfdata_build_id *out);

#ifdef __cplusplus
}
#endif
#endif
