/* SPDX-License-Identifier: MIT */
/* Records of a recording, one by one: in file order or in perf's order of delivery, decoded and resolved on demand.
 *
 *     perfdata_cursor *cursor;
 *     const perfdata_record *record;
 *     perfdata_status status = perfdata_cursor_open(recording, NULL, &cursor);
 *     while (status == 0 && (status = perfdata_cursor_next(cursor, &record)) > 0)
 *         ...
 *     perfdata_cursor_close(cursor);
 *
 * All numbers are in host byte order; times are ns of the recording's clock. A record, its bytes and what is decoded of it
 * are the cursor's and live until the next call of perfdata_cursor_next(); names (of objects, symbols, threads) live until
 * the cursor is closed. A cursor is used by one thread at a time. */
#ifndef PERFDATA_RECORDS_H
#define PERFDATA_RECORDS_H
#include <perfdata/recording.h>
#include <perfdata/symbol_search.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perfdata_cursor perfdata_cursor;
typedef struct perfdata_record perfdata_record;
typedef struct perfdata_sample perfdata_sample;

/* ---- the walk ---- */

/* Since 0.1. */
enum perfdata_order {
    PERFDATA_DELIVERY_ORDER = 0, /* as perf shows them: sorted by time within rounds */
    PERFDATA_FILE_ORDER = 1
};

/* Threads, maps and symbols can be asked for: perfdata_record_thread(), _resolve(), _frames(). Since 0.1. */
#define PERFDATA_CURSOR_RESOLVE 1u
/* C++ and Rust names as they are in the object. Since 0.1. */
#define PERFDATA_CURSOR_NO_DEMANGLE 2u

/* Begin with PERFDATA_CURSOR_OPTIONS_INIT. Strings are borrowed until the cursor is closed; NULL: not given. Since 0.1. */
struct perfdata_cursor_options {
    size_t struct_size;
    uint32_t order;                       /* enum perfdata_order */
    uint32_t flags;                       /* PERFDATA_CURSOR_... */
    struct perfdata_symbol_search search; /* with PERFDATA_CURSOR_RESOLVE */
};
#define PERFDATA_CURSOR_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(struct perfdata_cursor_options), 0, 0, PERFDATA_SYMBOL_SEARCH_INIT                  \
    }

/* A walk over all records from the first on; options NULL: delivery order, nothing resolved. Several cursors of one
 * recording may be open, used by one thread in turn. PERFDATA_ERROR_MEMORY, _ARGUMENT. Since 0.1. */
PERFDATA_API perfdata_status perfdata_cursor_open(perfdata_recording *recording,
                                                  const struct perfdata_cursor_options *options,
                                                  perfdata_cursor **out);
/* 1: *record is the next one; 0: the end; else a status, told by perfdata_recording_error(). Damage is reported as
 * issues and skipped. Since 0.1. */
PERFDATA_API int perfdata_cursor_next(perfdata_cursor *cursor, const perfdata_record **record);
/* How far it is: bytes of the data section read so far. Since 0.1. */
PERFDATA_API uint64_t perfdata_cursor_position(const perfdata_cursor *cursor);
/* NULL does nothing. Since 0.1. */
PERFDATA_API void perfdata_cursor_close(perfdata_cursor *cursor);

/* ---- any record ---- */

#define PERFDATA_NO_TIME UINT64_MAX

/* PERF_RECORD_...: below 64 the kernel's, from 64 on the tool's. Since 0.1. */
PERFDATA_API uint32_t perfdata_record_type(const perfdata_record *record);
/* "MMAP2", static; NULL for an unknown type. Since 0.1. */
PERFDATA_API const char *perfdata_record_name(const perfdata_record *record);
PERFDATA_API uint16_t perfdata_record_misc(const perfdata_record *record);
/* Where it begins in the file. Since 0.1. */
PERFDATA_API uint64_t perfdata_record_offset(const perfdata_record *record);
/* Its place in the order of delivery (or in the file), from 1. Since 0.1. */
PERFDATA_API uint64_t perfdata_record_number(const perfdata_record *record);
/* ns; PERFDATA_NO_TIME when it has none. Since 0.1. */
PERFDATA_API uint64_t perfdata_record_time(const perfdata_record *record);
/* NULL: it belongs to none (types from 64 on, unknown ids). Since 0.1. */
PERFDATA_API const perfdata_event *perfdata_record_event(const perfdata_record *record);
/* As recorded, header included, in the recorder's byte order. Since 0.1. */
PERFDATA_API const void *perfdata_record_bytes(const perfdata_record *record, size_t *size);

/* Who a kernel record speaks of: of a sample its own fields, else the trailer. Absent: all ones. Since 0.1. */
struct perfdata_identity {
    size_t struct_size; /* set by the caller */
    uint32_t pid, tid, cpu, reserved;
    uint64_t time, id, stream_id;
};
PERFDATA_API void perfdata_record_identity(const perfdata_record *record,
                                           struct perfdata_identity *out);

/* ---- samples ---- */

/* PERFDATA_ERROR_ARGUMENT when the record is no sample or belongs to no event; PERFDATA_ERROR_BAD_RECORD when its content
 * exceeds its size: *out then holds what was readable. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_sample(const perfdata_record *record,
                                                    const perfdata_sample **out);

/* Numbers of a sample. Since 0.1. */
enum perfdata_sample_field {
    PERFDATA_SAMPLE_IP = 0,
    PERFDATA_SAMPLE_PID,
    PERFDATA_SAMPLE_TID,
    PERFDATA_SAMPLE_TIME,
    PERFDATA_SAMPLE_ADDR,
    PERFDATA_SAMPLE_ID,
    PERFDATA_SAMPLE_STREAM_ID,
    PERFDATA_SAMPLE_CPU,
    PERFDATA_SAMPLE_PERIOD, /* the event's fixed period when samples have none */
    PERFDATA_SAMPLE_WEIGHT,
    PERFDATA_SAMPLE_DATA_SRC,
    PERFDATA_SAMPLE_TRANSACTION,
    PERFDATA_SAMPLE_PHYS_ADDR,
    PERFDATA_SAMPLE_CGROUP,
    PERFDATA_SAMPLE_DATA_PAGE_SIZE,
    PERFDATA_SAMPLE_CODE_PAGE_SIZE
};
/* PERFDATA_ERROR_NO_DATA when the event's samples have no such field; *value is then what perf takes instead (all ones,
 * 0, the period). PERFDATA_ERROR_ARGUMENT for an unknown field. Since 0.1. */
PERFDATA_API perfdata_status perfdata_sample_value(const perfdata_sample *sample, uint32_t field,
                                                   uint64_t *value);
/* 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user, 0 unknown: where ip was. Since 0.1. */
PERFDATA_API uint8_t perfdata_sample_cpumode(const perfdata_sample *sample);

/* Entries of the call chain as recorded, callee first, context markers (from PERF_CONTEXT_MAX up) included; 0 beyond
 * the last. Since 0.1. */
PERFDATA_API size_t perfdata_sample_callchain_count(const perfdata_sample *sample);
PERFDATA_API uint64_t perfdata_sample_callchain(const perfdata_sample *sample, size_t index);
/* Branches, newest first; flags as a little-endian machine has them. PERFDATA_ERROR_ARGUMENT beyond the last.
 * Since 0.1. */
PERFDATA_API size_t perfdata_sample_branch_count(const perfdata_sample *sample);
PERFDATA_API perfdata_status perfdata_sample_branch(const perfdata_sample *sample, size_t index,
                                                    uint64_t *from, uint64_t *to, uint64_t *flags);
/* Raw bytes (of tracepoints and others), in the recorder's byte order; NULL when there are none. Since 0.1. */
PERFDATA_API const void *perfdata_sample_raw(const perfdata_sample *sample, size_t *size);
/* The user stack that was copied, *size bytes that the recorder filled; NULL when there is none. Since 0.1. */
PERFDATA_API const void *perfdata_sample_stack(const perfdata_sample *sample, size_t *size);
/* A register by perf's number for the architecture: of user space, or with `at_ip` of the sampled place.
 * PERFDATA_ERROR_NO_DATA when it was not recorded. Since 0.1. */
PERFDATA_API perfdata_status perfdata_sample_register(const perfdata_sample *sample, int at_ip,
                                                      uint32_t number, uint64_t *value);

/* ---- threads, maps, symbols, as of the record ---- */

/* Since 0.1. */
struct perfdata_thread {
    size_t struct_size; /* set by the caller */
    uint32_t tid;
    uint32_t pid, ppid; /* all ones: unknown */
    uint32_t reserved;
    const char *comm; /* its name as of the record */
};
/* The thread that perf shows with the record. PERFDATA_ERROR_NO_DATA for user records, PERFDATA_ERROR_ARGUMENT without
 * PERFDATA_CURSOR_RESOLVE. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_thread(const perfdata_record *record,
                                                    struct perfdata_thread *out);

/* An address, resolved; what is unknown is NULL or 0. Since 0.1. */
struct perfdata_location {
    size_t struct_size; /* set by the caller */
    uint64_t ip;
    const char *object; /* path or name of the mapped object */
    const char *symbol;
    uint64_t symbol_start, symbol_end; /* in the object's addresses, as `address` */
    uint64_t address; /* what was looked up: in the object, or as it ran for the kernel */
    uint64_t map_start, map_end, map_offset;
    const uint8_t *build_id; /* `build_id_size` bytes; as recorded */
    uint32_t build_id_size;
    uint8_t cpumode;
    char level; /* k kernel, . user, g guest kernel, u guest user, H hypervisor */
    uint16_t reserved;
};
/* The address `ip` in the record's thread at that time; cpumode as perfdata_sample_cpumode(). Errors as above and
 * PERFDATA_ERROR_MEMORY. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_resolve(const perfdata_record *record, uint8_t cpumode,
                                                     uint64_t ip, struct perfdata_location *out);
/* The sample's call chain resolved, callee first, markers applied and left out; at most `capacity`. Of the array
 * only out[0].struct_size is set by the caller. *count: how many there are. PERFDATA_ERROR_NO_DATA when perf would discard the chain.
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_frames(const perfdata_record *record,
                                                    struct perfdata_location *out, size_t capacity,
                                                    size_t *count);

#ifdef __cplusplus
}
#endif
#endif
