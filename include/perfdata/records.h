/* SPDX-License-Identifier: MIT */
/* Records of a recording, one by one: in file order or in perf's order of delivery, decoded and
 * resolved on demand.
 *
 *     perfdata_cursor *cursor;
 *     const perfdata_record *record;
 *     perfdata_status status = perfdata_cursor_open(recording, NULL, &cursor);
 *     while (status == 0 && (status = perfdata_cursor_next(cursor, &record)) > 0)
 *         ...
 *     perfdata_cursor_close(cursor);
 *
 * All numbers are in host byte order; times are ns of the recording's clock. A record, its bytes
 * and what is decoded of it are the cursor's and live until the next call of
 * perfdata_cursor_next(); names (of objects, symbols, threads) live until the cursor is closed. A
 * cursor is used by one thread at a time. */
#ifndef PERFDATA_RECORDS_H
#define PERFDATA_RECORDS_H
#include <perfdata/dump.h>
#include <perfdata/recording.h>
#include <perfdata/symbol_search.h>
#include <perfdata/types.h>

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

/* Threads, maps and symbols can be asked for: perfdata_record_thread(), _resolve(), _frames().
 * Since 0.1. */
#define PERFDATA_CURSOR_RESOLVE 1u
/* C++ and Rust names as they are in the object. Since 0.1. */
#define PERFDATA_CURSOR_NO_DEMANGLE 2u
/* With `itrace`: code that runs in a guest is its hypervisor's own. Since 0.1. */
#define PERFDATA_CURSOR_GUEST_CODE 4u
/* Symbol files that other users own are used. Since 0.1. */
#define PERFDATA_CURSOR_FORCE 8u

/* Begin with PERFDATA_CURSOR_OPTIONS_INIT. Strings are borrowed until the cursor is closed; NULL:
 * not given. Since 0.1. */
struct perfdata_cursor_options {
    size_t struct_size;
    uint32_t order;                       /* enum perfdata_order */
    uint32_t flags;                       /* PERFDATA_CURSOR_... */
    struct perfdata_symbol_search search; /* with PERFDATA_CURSOR_RESOLVE */
    /* What is made of AUX traces (Intel PT): values of perf's --itrace, such as "b" (branches) or
     * "i100usg"; "" for perf's defaults; none: traces are not decoded. The samples come among the
     * recorded ones, in delivery order, each with its thread, symbols and frames; their events are
     * the recording's until the cursor is closed. Errors of decoding come as records
     * AUXTRACE_ERROR. Wants PERFDATA_CURSOR_RESOLVE and delivery order; one such cursor a recording
     * at a time. */
    const char *const *itrace;
    size_t itrace_count;
    /* intel-pt.* of this file in place of /etc/perfconfig and home's; NULL: these, if search.home
     * is given. */
    const char *perf_config;
};
#define PERFDATA_CURSOR_OPTIONS_INIT                                                               \
    {                                                                                              \
        sizeof(struct perfdata_cursor_options), 0, 0, PERFDATA_SYMBOL_SEARCH_INIT, 0, 0, 0         \
    }

/* A walk over all records from the first on; options NULL: delivery order, nothing resolved.
 * Several cursors of one recording may be open, used by one thread in turn, but for those with
 * `itrace`. PERFDATA_ERROR_MEMORY, _ARGUMENT; what `itrace` does not parse as is told in perf's
 * words; errors of reading a trace's description. Since 0.1. */
PERFDATA_API perfdata_status perfdata_cursor_open(perfdata_recording *recording,
                                                  const struct perfdata_cursor_options *options,
                                                  perfdata_cursor **out);
/* Opens the recording `path` and a cursor over it in one call: perfdata_recording_open(), whose
 * options are `how`, and perfdata_cursor_open(). *recording and *out must be closed whatever it
 * returns, the cursor first; *recording tells the error. Their errors. Since 0.1. */
PERFDATA_API perfdata_status
perfdata_cursor_open_path(const char *path, const struct perfdata_options *how,
                          const struct perfdata_cursor_options *options,
                          perfdata_recording **recording, perfdata_cursor **out);
/* 1: *record is the next one; 0: the end; else a status, told by perfdata_recording_error(). Damage
 * is reported as issues and skipped. Since 0.1. */
PERFDATA_API int perfdata_cursor_next(perfdata_cursor *cursor, const perfdata_record **record);
/* How far it is: bytes of the data section read so far. Since 0.1. */
PERFDATA_API uint64_t perfdata_cursor_position(const perfdata_cursor *cursor);
/* How many errors decoding AUX traces has met so far; 0 without `itrace`. Since 0.1. */
PERFDATA_API uint64_t perfdata_cursor_trace_errors(const perfdata_cursor *cursor);
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
/* As recorded, header included, in the recorder's byte order; of what was made of a trace in this
 * machine's. Since 0.1. */
PERFDATA_API const void *perfdata_record_bytes(const perfdata_record *record, size_t *size);

/* Who a kernel record speaks of: of a sample its own fields, else the trailer. Absent: all ones.
 * Since 0.1. */
struct perfdata_identity {
    size_t struct_size; /* set by the caller */
    uint32_t pid, tid, cpu, reserved;
    uint64_t time, id, stream_id;
};
PERFDATA_API void perfdata_record_identity(const perfdata_record *record,
                                           struct perfdata_identity *out);

/* ---- fields by name, of any record ---- */

/* What a field is. Since 0.1. */
enum perfdata_value_kind {
    PERFDATA_VALUE_UNSIGNED = 0,
    PERFDATA_VALUE_SIGNED = 1, /* `number` is its two's complement */
    PERFDATA_VALUE_REAL = 2,
    PERFDATA_VALUE_TEXT = 3,  /* `data`, `size` bytes without the NUL, which may be missing */
    PERFDATA_VALUE_BYTES = 4, /* `data`, `size` bytes as recorded */
    PERFDATA_VALUE_ARRAY =
        5, /* of `count` numbers: "NAME[0]" ...; `data`, `size` bytes in the recorder's order */
    PERFDATA_VALUE_GROUP =
        6 /* fields of its own, "NAME.FIELD"; a list of `count` groups: "NAME[0].FIELD" */
};

/* Since 0.1. */
struct perfdata_value {
    size_t struct_size; /* set by the caller */
    uint32_t kind;      /* enum perfdata_value_kind */
    uint32_t count;     /* elements of an array or a list; 0: unknown, or not a list */
    uint64_t number;
    double real;
    const void *data; /* the record's */
    size_t size;      /* of numbers of tracepoints: bytes as recorded */
};

/* A field of the record by its name in `perfdata dump` ("pid", "filename", "sample_id.time",
 * "callchain[2]", "entries[0].cpu"), of every record type that the tables know; the header's are
 * "type", "misc" and "size". A sample's are named as well ("ip", "raw", "branches"). Walks the
 * record's fields each time: for single fields of many records perfdata_sample_value() is faster.
 *   PERFDATA_ERROR_NOT_FOUND   the record has no such field
 *   PERFDATA_ERROR_BAD_RECORD  it would lie behind the record's end
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_field(const perfdata_record *record, const char *name,
                                                   struct perfdata_value *out);
/* Its text, as `perfdata dump` prints it: numbers with their names ("0x2 (user)"), text in quotes,
 * groups on lines of their own. *text lives until the next call of this kind or of
 * perfdata_cursor_next(). Errors as above and PERFDATA_ERROR_MEMORY. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_field_text(const perfdata_record *record,
                                                        const char *name, const char **text);
/* All fields, as `perfdata dump` prints the record: a line that names it and a line a field; with
 * PERFDATA_DUMP_JSON one JSON object. PERFDATA_ERROR_OUTPUT when write() wanted no more;
 * PERFDATA_ERROR_BAD_RECORD, when it says more than it holds: what is there has been written. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_record_print(const perfdata_record *record, uint32_t flags,
                                                   perfdata_write_fn write, void *data);

/* ---- tracepoints ---- */

/* A field of a tracepoint, by the format in the recording. Since 0.1. */
struct perfdata_tracepoint_field {
    size_t struct_size;      /* set by the caller */
    const char *name, *type; /* "prev_comm", "char[]"; the recording's */
    uint32_t common;         /* 1: one that all tracepoints have (common_pid) */
    uint32_t reserved;
    struct perfdata_value value; /* numbers, text, bytes; its struct_size is set, too */
};

/* How many fields the sample's tracepoint has, common ones included; 0: the record is no sample of
 * a tracepoint whose format the recording has. Since 0.1. */
PERFDATA_API size_t perfdata_record_tracepoint_count(const perfdata_record *record);
/* Field `index`, common ones first, then in the order of the format. PERFDATA_ERROR_ARGUMENT beyond
 * the last; PERFDATA_ERROR_BAD_RECORD: the payload is too short for it. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_tracepoint_at(const perfdata_record *record,
                                                           size_t index,
                                                           struct perfdata_tracepoint_field *out);
/* The field of that name. PERFDATA_ERROR_NOT_FOUND; else as above. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_tracepoint_field(const perfdata_record *record,
                                                              const char *name,
                                                              struct perfdata_value *out);
/* `name` NULL: the whole payload in perf's words, by the tracepoint's print format (kernel
 * addresses have names with PERFDATA_CURSOR_RESOLVE); else the text of that field. *text lives
 * until the next call of this kind or of perfdata_cursor_next(). PERFDATA_ERROR_NOT_FOUND, _NO_DATA
 * (no tracepoint, or no format), _MEMORY. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_tracepoint_text(const perfdata_record *record,
                                                             const char *name, const char **text);

/* ---- samples ---- */

/* PERFDATA_ERROR_ARGUMENT when the record is no sample or belongs to no event;
 * PERFDATA_ERROR_BAD_RECORD when its content exceeds its size: *out then holds what was readable.
 * Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_sample(const perfdata_record *record,
                                                    const perfdata_sample **out);

/* `field` is an enum perfdata_sample_field. PERFDATA_ERROR_NO_DATA when the event's samples have no
 * such field; *value is then what perf takes instead (all ones, 0; for a period that of the event,
 * where it is fixed). PERFDATA_ERROR_ARGUMENT for an unknown field. Since 0.1. */
PERFDATA_API perfdata_status perfdata_sample_value(const perfdata_sample *sample, uint32_t field,
                                                   uint64_t *value);
/* 1 kernel, 2 user, 3 hypervisor, 4 guest kernel, 5 guest user, 0 unknown: where ip was. Since
 * 0.1. */
PERFDATA_API uint8_t perfdata_sample_cpumode(const perfdata_sample *sample);

/* Entries of the call chain as recorded, callee first, context markers (from PERF_CONTEXT_MAX up)
 * included; 0 beyond the last. Since 0.1. */
PERFDATA_API size_t perfdata_sample_callchain_count(const perfdata_sample *sample);
PERFDATA_API uint64_t perfdata_sample_callchain(const perfdata_sample *sample, size_t index);
/* Branches, newest first; flags as a little-endian machine has them. PERFDATA_ERROR_ARGUMENT beyond
 * the last. Since 0.1. */
PERFDATA_API size_t perfdata_sample_branch_count(const perfdata_sample *sample);
PERFDATA_API perfdata_status perfdata_sample_branch(const perfdata_sample *sample, size_t index,
                                                    uint64_t *from, uint64_t *to, uint64_t *flags);
/* Raw bytes (of tracepoints and others), in the recorder's byte order; NULL when there are none.
 * Since 0.1. */
PERFDATA_API const void *perfdata_sample_raw(const perfdata_sample *sample, size_t *size);
/* The user stack that was copied, *size bytes that the recorder filled; NULL when there is none.
 * Since 0.1. */
PERFDATA_API const void *perfdata_sample_stack(const perfdata_sample *sample, size_t *size);
/* A register by perf's number for the architecture: of user space, or with `at_ip` of the sampled
 * place. PERFDATA_ERROR_NO_DATA when it was not recorded. Since 0.1. */
PERFDATA_API perfdata_status perfdata_sample_register(const perfdata_sample *sample, int at_ip,
                                                      uint32_t number, uint64_t *value);

/* The instruction at a sample's address, of a trace's step the last one that ran: script's field
 * `insn`. *ip is where it lies, *bytes its code as it ran, *size how long it is, at most 15 bytes;
 * *bytes lives until the next call or perfdata_cursor_next(). The first call opens the code of
 * programs. PERFDATA_ERROR_NO_DATA where the code is not to be had: no such file, a recording of
 * another architecture. PERFDATA_ERROR_ARGUMENT without PERFDATA_CURSOR_RESOLVE,
 * PERFDATA_ERROR_MEMORY. Since 0.1. */
PERFDATA_API perfdata_status perfdata_sample_insn(const perfdata_sample *sample, uint64_t *ip,
                                                  const uint8_t **bytes, size_t *size);

/* What a sample tells, as text in perf's words. Since 0.1. */
enum perfdata_sample_text {
    PERFDATA_SAMPLE_TEXT_DATA_SRC = 0,    /* "|OP LOAD|LVL L1 hit|SNP N/A|..." */
    PERFDATA_SAMPLE_TEXT_TRACE_FLAGS = 1, /* of a trace's step: "call", "tr strt jmp" */
    PERFDATA_SAMPLE_TEXT_USER_REGS = 2,   /* "   AX:0x1    BX:0x2 "; "": none were recorded */
    PERFDATA_SAMPLE_TEXT_INTR_REGS = 3    /* of the sampled place */
};
/* *text lives until the next call of this kind or of perfdata_cursor_next().
 * PERFDATA_ERROR_ARGUMENT when the record is no sample of an event, or for an unknown text;
 * PERFDATA_ERROR_MEMORY. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_sample_text(const perfdata_record *record,
                                                         uint32_t which, const char **text);

/* ---- what decoding a trace tells beside the sample ---- */

/* Bits of perfdata_trace_facts.flags; their letters in script's field `flags`. Since 0.1. */
enum perfdata_trace_flags {
    PERFDATA_TRACE_BRANCH = 1 << 0,        /* b */
    PERFDATA_TRACE_CALL = 1 << 1,          /* c */
    PERFDATA_TRACE_RETURN = 1 << 2,        /* r */
    PERFDATA_TRACE_CONDITIONAL = 1 << 3,   /* o */
    PERFDATA_TRACE_SYSCALL = 1 << 4,       /* s: a system call or the return from one */
    PERFDATA_TRACE_ASYNC = 1 << 5,         /* y */
    PERFDATA_TRACE_INTERRUPT = 1 << 6,     /* i */
    PERFDATA_TRACE_ABORT = 1 << 7,         /* A: of a transaction */
    PERFDATA_TRACE_BEGIN = 1 << 8,         /* B: the trace begins here */
    PERFDATA_TRACE_END = 1 << 9,           /* E: it ends here */
    PERFDATA_TRACE_TRANSACTION = 1 << 10,  /* x: in one */
    PERFDATA_TRACE_VM_ENTRY = 1 << 11,     /* g */
    PERFDATA_TRACE_VM_EXIT = 1 << 12,      /* h */
    PERFDATA_TRACE_INTR_DISABLE = 1 << 13, /* D: interrupts are off */
    PERFDATA_TRACE_INTR_TOGGLE = 1 << 14   /* t: ... go on or off */
};

/* Since 0.1. */
struct perfdata_trace_facts {
    size_t struct_size;   /* set by the caller */
    uint32_t flags;       /* enum perfdata_trace_flags */
    uint32_t insn_length; /* bytes of the instruction at insn_ip; 0: unknown */
    uint64_t insn_ip;     /* the last instruction that ran */
    uint64_t to;          /* where the step leads, also where the sample has no ADDR; 0: nowhere */
    uint64_t insn_count;  /* instructions since the last sample that had them; 0: unknown */
    uint64_t cycle_count; /* cycles of those; 0: unknown */
    uint32_t machine_pid; /* of a guest: its hypervisor's process; 0: the host */
    uint32_t vcpu;        /* of a guest */
    uint64_t reserved;
};
/* PERFDATA_ERROR_NO_DATA for what was recorded. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_trace_facts(const perfdata_record *record,
                                                         struct perfdata_trace_facts *out);

/* ---- threads, maps, symbols, as of the record ---- */

/* Since 0.1. */
struct perfdata_thread {
    size_t struct_size; /* set by the caller */
    uint32_t tid;
    uint32_t pid, ppid; /* all ones: unknown */
    uint32_t reserved;
    const char *comm; /* its name as of the record */
};
/* The thread that perf shows with the record. PERFDATA_ERROR_NO_DATA for user records,
 * PERFDATA_ERROR_ARGUMENT without PERFDATA_CURSOR_RESOLVE. Since 0.1. */
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
    char level;       /* k kernel, . user, g guest kernel, u guest user, H hypervisor */
    uint16_t binding; /* of the symbol: 0 local, 1 global, 2 weak, 3 other. Since 0.1 */
};
/* The address `ip` in the record's thread at that time; cpumode as perfdata_sample_cpumode().
 * Errors as above and PERFDATA_ERROR_MEMORY. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_resolve(const perfdata_record *record, uint8_t cpumode,
                                                     uint64_t ip, struct perfdata_location *out);
/* A place in the source. Since 0.1. */
struct perfdata_source {
    size_t struct_size; /* set by the caller */
    const char *file;   /* with its folders, as DWARF names it */
    uint32_t line;
    uint32_t reserved;
    /* That line's text, without its end; not terminated by a NUL. NULL: the file is not there, is
     * shorter, or larger than 64 MiB. */
    const char *code;
    size_t code_size;
};
/* Where the address `ip` comes from: script's fields `srcline` and `srccode`. Files are read on
 * first need. cpumode as perfdata_sample_cpumode(). Texts live as long as the cursor, `code` until
 * the next call. PERFDATA_ERROR_NO_DATA where no line is known, else errors as
 * perfdata_record_resolve(). Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_source(const perfdata_record *record, uint8_t cpumode,
                                                    uint64_t ip, struct perfdata_source *out);
/* The sample's call chain resolved, callee first, markers applied and left out; at most `capacity`.
 * Of the array only out[0].struct_size is set by the caller. *count: how many there are.
 * PERFDATA_ERROR_NO_DATA when perf would discard the chain. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_frames(const perfdata_record *record,
                                                    struct perfdata_location *out, size_t capacity,
                                                    size_t *count);

/* ---- samples, each in one call ---- */

/* Since 0.1. */
struct perfdata_sample_row {
    size_t struct_size;            /* set by the caller */
    const perfdata_record *record; /* for all that is not here */
    const perfdata_event *event;
    const char *comm; /* of the thread; NULL without PERFDATA_CURSOR_RESOLVE */
    /* by enum perfdata_sample_field, as perfdata_sample_value() gives them */
    uint64_t values[PERFDATA_SAMPLE_FIELDS];
    uint32_t present;     /* 1 << field: those that the event's samples have */
    uint32_t frame_count; /* how many frames were given */
    uint8_t cpumode;      /* as perfdata_sample_cpumode() */
    /* 0: no chain was recorded, or perf would discard it: the frame is the sampled address */
    uint8_t has_chain;
    uint8_t damaged; /* 1: its content exceeds its size; what was readable is there */
    uint8_t reserved[5];
};
/* The next sample that belongs to an event, other records are passed over. With `frames` (of which
 * the caller sets frames[0].struct_size, and which have room for `capacity`) and
 * PERFDATA_CURSOR_RESOLVE also its call chain resolved, callee first, as perfdata_record_frames()
 * gives it. Equal frames have equal bytes as long as the cursor is open, unused ones between them
 * included. 1, 0, or a status, as perfdata_cursor_next(). Since 0.1. */
PERFDATA_API int perfdata_cursor_next_sample(perfdata_cursor *cursor,
                                             struct perfdata_sample_row *out,
                                             struct perfdata_location *frames, size_t capacity);

/* The same of a sample that perfdata_cursor_next() gave. PERFDATA_ERROR_ARGUMENT when the record is
 * no sample of an event. Since 0.1. */
PERFDATA_API perfdata_status perfdata_record_sample_row(const perfdata_record *record,
                                                        struct perfdata_sample_row *out,
                                                        struct perfdata_location *frames,
                                                        size_t capacity);

/* ---- samples, many in each call ---- */

/* Where perfdata_cursor_next_samples() puts samples, and what it has put there. Frames get numbers
 * from 0 on as they first occur, so that what a program makes of a frame can be kept by its number:
 * equal numbers are equal frames, and equal frames mostly have equal numbers. Since 0.1. */
struct perfdata_sample_batch {
    size_t struct_size; /* set by the caller, as is all down to `max_stack` */
    /* With rows[0].struct_size set; row_room: how many rows there may be, 1 and more. */
    struct perfdata_sample_row *rows;
    size_t row_room;
    /* The samples' frames by number, callee first, one sample behind the other: of rows[i] as many
     * as its frame_count says. Room for `max_stack` and more. */
    uint32_t *numbers;
    size_t number_room;
    /* Frames whose numbers are new: number `first_frame` and on. With frames[0].struct_size set;
     * room for `max_stack` and more. */
    struct perfdata_location *frames;
    size_t frame_room;
    uint32_t max_stack; /* frames of a sample at most; 0: none are wanted, nor any room for them */
    /* 0: all numbers that were given before mean nothing any more, which comes at the first call
     * and when some 16,384 frames have numbers. */
    uint32_t first_frame;
    size_t row_count, number_count, frame_count;
};

/* Many samples in one call, for languages in which each call is dear: as many of those that follow
 * as are at hand and have room. Rows are as perfdata_cursor_next_sample() gives them, but that all
 * have the same record: perfdata_cursor_choose() says which sample it stands for. Returns 1, 0, or
 * a status, as perfdata_cursor_next(); a failure comes after all samples before it.
 * PERFDATA_ERROR_ARGUMENT when not one sample is sure to have room. Since 0.1. */
PERFDATA_API int perfdata_cursor_next_samples(perfdata_cursor *cursor,
                                              struct perfdata_sample_batch *batch);

/* The record of rows[index] that the last call gave, for all that is not in the row; NULL when
 * there is none, or perfdata_cursor_next() or perfdata_cursor_next_sample() came between. Valid
 * until the next one is chosen or the walk goes on, which it does behind the last row. Since
 * 0.1. */
PERFDATA_API const perfdata_record *perfdata_cursor_choose(perfdata_cursor *cursor, size_t index);

#ifdef __cplusplus
}
#endif
#endif
