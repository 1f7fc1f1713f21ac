/* SPDX-License-Identifier: MIT */
/* Instruction traces: the AUX areas of a recording, and the packets of Intel Processor Trace, also
 * of a bare trace. */
#ifndef PERFDATA_ITRACE_H
#define PERFDATA_ITRACE_H
#include <perfdata/recording.h>
#include <perfdata/status.h>
#include <perfdata/symbol_search.h>
#include <perfdata/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- packets of a bare trace ---- */

/* A walk over the packets of an Intel PT trace in memory. Since 0.1. */
typedef struct perfdata_packets perfdata_packets;

/* Since 0.1. */
struct perfdata_packet {
    size_t struct_size; /* set by the caller */
    uint64_t offset;    /* in the trace */
    uint32_t kind; /* enum perfdata_packet_kind; PERFDATA_PACKET_BAD: one byte that begins none */
    uint32_t size; /* bytes up to the next packet: zeros behind a short one are part of it */
    uint32_t own_size; /* bytes without those */
    uint32_t count;    /* TNT: outcomes; BIP: item; BBP: bytes of an item; CFE, EVD: type */
    uint32_t flag;     /* the IP bit; MODE.Exec: IF; MODE.TSX: TXAbort */
    uint32_t extra;    /* TMA: fast counter; BBP: type */
    /* TNT: outcomes from bit 63 down, oldest first; TIP*, FUP: the IP as compressed; MODE.Exec: 16,
     * 32 or 64; MODE.TSX: InTX; others: what they carry */
    uint64_t payload;
    uint64_t ip; /* TIP*, FUP: the whole IP, by the packets before; 0: it has none */
};

/* The bytes stay the caller's and outlive it. PERFDATA_ERROR_MEMORY. Since 0.1. */
PERFDATA_API perfdata_status perfdata_packets_open(const void *bytes, size_t size,
                                                   perfdata_packets **out);
/* NULL does nothing. Since 0.1. */
PERFDATA_API void perfdata_packets_close(perfdata_packets *packets);
/* 1: a packet, 0: the end. Any bytes are packets, bad ones of one byte. Since 0.1. */
PERFDATA_API int perfdata_packets_next(perfdata_packets *packets, struct perfdata_packet *out);
/* Goes to the next PSB at or behind where it is, from which on a trace can be read: 1, or 0 when
 * there is none. Since 0.1. */
PERFDATA_API int perfdata_packets_sync(perfdata_packets *packets);
/* Goes to an offset; a packet should begin there. Since 0.1. */
PERFDATA_API void perfdata_packets_seek(perfdata_packets *packets, uint64_t offset);
/* The last packet as perf describes it, "TIP 0x401000"; valid until the next call. Since 0.1. */
PERFDATA_API const char *perfdata_packets_text(perfdata_packets *packets);
/* "MODE.Exec"; NULL: no kind. Static. Since 0.1. */
PERFDATA_API const char *perfdata_packet_kind_name(uint32_t kind);

/* ---- what ran: by a bare trace and the code, or by a recording (perfdata_aux_steps()) ---- */

/* The steps of a program: branches, sampled instructions, and what else the trace tells. Since
 * 0.1. */
typedef struct perfdata_steps perfdata_steps;

/* Bits of perfdata_step.type. Since 0.1. */
enum perfdata_step_type {
    PERFDATA_STEP_BRANCH = 1 << 0,      /* from -> to; 0: the trace begins or ends there */
    PERFDATA_STEP_INSTRUCTION = 1 << 1, /* as many have run as were asked for */
    PERFDATA_STEP_TRANSACTION = 1 << 2,
    PERFDATA_STEP_PTWRITE = 1 << 3,
    PERFDATA_STEP_MWAIT = 1 << 4,
    PERFDATA_STEP_PWRE = 1 << 5,
    PERFDATA_STEP_EXSTOP = 1 << 6,
    PERFDATA_STEP_PWRX = 1 << 7,
    PERFDATA_STEP_CBR = 1 << 8,
    PERFDATA_STEP_TRACE_BEGIN = 1 << 9,
    PERFDATA_STEP_TRACE_END = 1 << 10,
    PERFDATA_STEP_PEBS = 1 << 11,
    PERFDATA_STEP_PSB = 1 << 12,
    PERFDATA_STEP_EVENT = 1 << 13, /* CFE */
    PERFDATA_STEP_INTERRUPT_FLAG = 1 << 14
};

/* Bits of perfdata_step.flags. Since 0.1. */
enum perfdata_step_flags {
    PERFDATA_STEP_IN_TX = 1 << 0,
    PERFDATA_STEP_ABORT_TX = 1 << 1,
    PERFDATA_STEP_ASYNC = 1 << 2,  /* an interrupt, a fault, a signal */
    PERFDATA_STEP_WITH_IP = 1 << 3 /* PTWRITE, EXSTOP, CFE: the trace says where */
};

/* Since 0.1. */
struct perfdata_steps_options {
    size_t struct_size;
    /* Up to `size` bytes of the code at `ip`; returns how many there are, 0: none is known. */
    size_t (*read_code)(void *data, uint64_t ip, uint8_t *bytes, size_t size);
    void *data;
    uint32_t wanted;     /* enum perfdata_step_type: which steps to give; 0: all */
    uint32_t flags;      /* enum perfdata_steps_flags */
    uint64_t period;     /* instructions between two INSTRUCTION steps; 0: none */
    uint32_t mtc_period; /* as the trace was made; CPUID 15H: TSC = crystal * tsc_n / tsc_d */
    uint32_t tsc_n, tsc_d;
    uint32_t max_nonturbo; /* ratio; 0: CYC packets give no time before they can be compared */
    uint32_t reserved;
    struct perfdata_symbol_search search; /* perfdata_aux_steps(): where the traced programs lie */
};

/* Since 0.1. */
enum perfdata_steps_flags {
    PERFDATA_STEPS_NO_RETURN_COMPRESSION = 1 << 0, /* it was off */
    PERFDATA_STEPS_NO_BRANCHES = 1 << 1,           /* so was branch tracing */
    PERFDATA_STEPS_32_BIT = 1 << 2,                /* the code is */
    PERFDATA_STEPS_QUICK = 1 << 3                  /* no code is walked: what TIP and FUP say */
};

/* Since 0.1. */
struct perfdata_step {
    size_t struct_size; /* set by the caller */
    uint32_t type, flags;
    /* 0, or why the walk is lost here: perfdata_step_error_text(); it goes on by itself */
    uint32_t error;
    uint32_t insn_length; /* of the instruction at `from`; 0: unknown */
    uint64_t from, to;
    uint64_t time;          /* TSC; 0: not known yet */
    uint64_t insns, cycles; /* run so far */
    uint64_t payload; /* PTWRITE, MWAIT, PWRE, PWRX: theirs; CBR: the ratio; PSB: its offset */
    /* Only a recording tells these; a bare trace has 0 and -1. */
    uint64_t nanoseconds;  /* by the recording's clock; 0: not known */
    int32_t pid, tid, cpu; /* who ran where; -1: not known */
    uint32_t reserved;
};

/* A walk through a trace that lies in memory. The bytes and what the options point to stay the
 * caller's and outlive it. PERFDATA_ERROR_ARGUMENT without read_code, PERFDATA_ERROR_MEMORY. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_steps_open(const void *bytes, size_t size,
                                                 const struct perfdata_steps_options *options,
                                                 perfdata_steps **out);
/* NULL does nothing. Since 0.1. */
PERFDATA_API void perfdata_steps_close(perfdata_steps *steps);
/* 1: a step, 0: the end of the trace, < 0: a status, of a recording only;
 * perfdata_recording_error() tells it. A step takes tens of nanoseconds, where code is met again.
 * Since 0.1. */
PERFDATA_API int perfdata_steps_next(perfdata_steps *steps, struct perfdata_step *out);
/* How many steps were errors so far. Since 0.1. */
PERFDATA_API uint64_t perfdata_steps_errors(const perfdata_steps *steps);
/* "Overflow packet", in perf's words. Static. Since 0.1. */
PERFDATA_API const char *perfdata_step_error_text(uint32_t error);

/* ---- AUX areas of a recording ---- */

/* Since 0.1. */
enum perfdata_aux_print {
    PERFDATA_AUX_PRINT_JSON = 1 << 0,   /* what is printed: one JSON object a line */
    PERFDATA_AUX_PRINT_CUT = 1 << 1,    /* bytes that snapshots or samples have twice come once */
    PERFDATA_AUX_PRINT_AS_PERF = 1 << 2 /* dump: the text of perf's -D */
};

/* Since 0.1. */
struct perfdata_aux_options {
    size_t struct_size;
    const char *cpus; /* a list; NULL: all */
    uint32_t flags;   /* enum perfdata_aux_print */
    uint32_t reserved;
};

/* The AUX areas. A recording that is a stream is read by this, once. Since 0.1. */
typedef struct perfdata_aux perfdata_aux;

/* One buffer: the trace of an AUXTRACE record, or of a sample. Since 0.1. */
struct perfdata_aux_buffer {
    size_t struct_size;    /* set by the caller */
    uint64_t size, offset; /* bytes of trace; where they are in the stream of its CPU or thread */
    uint64_t reference;    /* Intel PT: TSC when it was copied */
    uint64_t file_offset;  /* of the trace, UINT64_MAX: unknown */
    uint64_t flags;        /* what the kernel said of it: enum perfdata_aux_flags */
    uint32_t queue;        /* buffers of one queue follow each other */
    int32_t cpu, pid, tid; /* -1: none */
    uint32_t sample;       /* 1: of a sample */
};

/* PERFDATA_ERROR_NO_DATA: the recording has none. *out is NULL then. `options` NULL: all. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_aux_open(perfdata_recording *recording,
                                               const struct perfdata_aux_options *options,
                                               perfdata_aux **out);
/* Before the recording is closed; NULL does nothing. Since 0.1. */
PERFDATA_API void perfdata_aux_close(perfdata_aux *aux);
/* enum perfdata_auxtrace_type, and its name, "Intel Processor Trace"; NULL unknown. Since 0.1. */
PERFDATA_API uint32_t perfdata_aux_kind(const perfdata_aux *aux);
PERFDATA_API const char *perfdata_aux_kind_name(uint32_t kind);
/* In the order in which perf takes them. PERFDATA_ERROR_ARGUMENT beyond the last. Since 0.1. */
PERFDATA_API size_t perfdata_aux_buffer_count(const perfdata_aux *aux);
PERFDATA_API perfdata_status perfdata_aux_buffer(const perfdata_aux *aux, size_t index,
                                                 struct perfdata_aux_buffer *out);
/* Bytes of a buffer from `from` on; *got is less at its end, or where the file ends. Since 0.1. */
PERFDATA_API perfdata_status perfdata_aux_read(const perfdata_aux *aux, size_t index, uint64_t from,
                                               void *to, size_t size, size_t *got);

/* The steps of queue `queue` (perfdata_aux_buffer.queue) of Intel PT: code, clock, how the trace
 * was made and who ran when are the recording's; of the options `wanted`, `period`, `search` and
 * PERFDATA_STEPS_QUICK count. NULL: all steps. The recording is gone through once while steps are
 * asked for; meanwhile neither another perfdata_aux_steps() nor a cursor with `itrace` of the
 * recording may be open. perfdata_steps_close() ends it, before `aux` is closed.
 *   PERFDATA_ERROR_ARGUMENT     there is no such queue
 *   PERFDATA_ERROR_UNSUPPORTED  another kind of trace
 * and what reading fails with. Since 0.1. */
PERFDATA_API perfdata_status perfdata_aux_steps(perfdata_aux *aux, uint32_t queue,
                                                const struct perfdata_steps_options *options,
                                                perfdata_steps **out);

/* Each prints one view; those below the first want Intel PT: PERFDATA_ERROR_UNSUPPORTED with the
 * kind's name. Errors of reading, PERFDATA_ERROR_OUTPUT, PERFDATA_ERROR_MEMORY. Since 0.1. */
/* The buffers. */
PERFDATA_API perfdata_status perfdata_aux_print_list(perfdata_aux *aux, perfdata_write_fn write,
                                                     void *data);
/* Packets with offset and time. */
PERFDATA_API perfdata_status perfdata_aux_print_packets(perfdata_aux *aux, perfdata_write_fn write,
                                                        void *data);
/* What is in each queue: bytes, packets, distances of PSBs, errors, losses. */
PERFDATA_API perfdata_status perfdata_aux_print_statistics(perfdata_aux *aux,
                                                           perfdata_write_fn write, void *data);
/* The PSBs with their times. */
PERFDATA_API perfdata_status perfdata_aux_print_index(perfdata_aux *aux, perfdata_write_fn write,
                                                      void *data);
/* Keeps the PSBs, their times and addresses in a file beside the recording, its path with
 * ".psbindex" behind it: decoding a time span begins at once where the span does, and from PSB to
 * PSB alone ("qq") goes by it. Not of recordings whose buffers overlap (snapshots, samples), nor of
 * several files or streams: PERFDATA_ERROR_UNSUPPORTED; PERFDATA_ERROR_OUTPUT. Since 0.1. */
PERFDATA_API perfdata_status perfdata_aux_store_index(perfdata_aux *aux);
/* Writes each queue's trace to a file of its own in `directory`, which is made, and `index.tsv`
 * that says what is where in them. Any kind. A directory that holds an extract is refused, so that
 * two recordings do not mix. `write` (may be NULL) is told what is written, a line a file.
 * PERFDATA_ERROR_OUTPUT. Since 0.1. */
PERFDATA_API perfdata_status perfdata_aux_extract(perfdata_aux *aux, const char *directory,
                                                  perfdata_write_fn write, void *data);

/* The packets of a file that is nothing but an Intel PT trace, as perfdata_aux_print_packets()
 * does; times are TSC ticks. `error` gets a message of `error_size` bytes, may be NULL. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_trace_print_packets(const char *path, uint32_t flags,
                                                          perfdata_write_fn write, void *data,
                                                          char *error, size_t error_size);

#ifdef __cplusplus
}
#endif
#endif
