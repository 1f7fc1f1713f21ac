/* SPDX-License-Identifier: MIT */
/* The AUX areas of a recording: which kind they are, their buffers, in queues (one per CPU or
 * thread), and their bytes.
 *
 *     struct pd_aux *aux;
 *     pd_aux_open(recording, &options, &aux);
 *     ... each record, before it acts, in the order in which it acts: pd_aux_take(aux, &record);
 *         a file's buffers are then all there as soon as AUXTRACE_INFO has been taken, a stream's
 *         as they come
 *     ... pd_aux_reader_open(aux, queue, &reader);
 *         while (pd_aux_reader_next(reader, &piece) > 0) ...
 *
 * or, for a file, pd_aux_load(aux) instead of the first step. A reader
 * belongs to one thread; several may run beside each other, but not beside pd_aux_take(). */
#ifndef PD_AUX_H
#define PD_AUX_H
#include "container/container.h"
#include "format/offsets.h"
#include "itrace/intel_pt/psb.h"
#include "itrace/aux/tsc.h"

/* The name of an auxtrace type (PD_AUXTRACE_INTEL_PT: "Intel Processor Trace"); NULL: unknown. */
const char *pd_aux_kind_name(uint32_t type);

/* ---- AUXTRACE_INFO ---- */

/* What record wrote about Intel PT; what an older one did not write is 0. */
struct pd_pt_info {
    uint64_t pmu_type, cap_user_time_zero, have_sched_switch, snapshot_mode, per_cpu_mmaps;
    struct pd_tsc_conversion time; /* mult 0 is read as 1, see `timeless` */
    uint64_t tsc_bit, noretcomp_bit, mtc_bit, mtc_freq_bits,
        cyc_bit; /* masks of the event's config */
    uint64_t tsc_ctc_n, tsc_ctc_d, max_non_turbo_ratio;
    const char *filter; /* address filters; NULL: none */
    bool cap_event_trace;
};

/* The modes that follow from pd_pt_info and the events (reference 4.2). */
struct pd_pt_modes {
    const struct pd_event *event; /* the (last) intel_pt event, NULL: none */
    uint64_t config;              /* its config */
    bool timeless;                /* without the option Z */
    bool have_tsc, branches, return_compression, sampling, no_tnt;
    unsigned mtc_shift, cyc_threshold;
};

struct pd_aux_info {
    bool present;
    uint32_t type;         /* PD_AUXTRACE_..., 0 none */
    const uint64_t *words; /* as recorded, our byte order */
    size_t word_count;
    struct pd_pt_info pt; /* of type PD_AUXTRACE_INTEL_PT */
};

/* Whether the trace is Intel BTS's, with buffers that may overlap. */
bool pd_aux_info_bts_snapshot(const struct pd_aux_info *info);
/* Decodes a whole AUXTRACE_INFO record. PERFDATA_ERROR_BAD_RECORD: the context says what is wrong
 * with it. */
perfdata_status pd_aux_info_decode(struct pd_context *context, const uint8_t *record, uint32_t size,
                                   bool swap, struct pd_arena *arena, struct pd_aux_info *out);
/* Finds where an AUXTRACE_INFO may hold the text of its address filters and what stands behind it;
 * *length 0: there is none. */
size_t pd_pt_filter_text(const uint8_t *record, size_t size, bool swap, size_t *length);
void pd_pt_modes_find(const struct pd_recording *recording, const struct pd_pt_info *info,
                      struct pd_pt_modes *out);

/* ---- buffers and queues ---- */

/* One AUXTRACE record's trace, or that of a sample. */
struct pd_aux_buffer {
    uint64_t number; /* from 1, over all queues, in the order in which they were queued: trace_nr */
    uint64_t size;   /* bytes of trace */
    uint64_t offset; /* in the AUX stream */
    uint64_t reference;            /* TSC when it was copied; of a sample its time as TSC */
    uint64_t file_offset;          /* of the trace; UINT64_MAX: only `memory` has it */
    uint8_t *memory;               /* NULL unless kept */
    uint64_t record_offset;        /* of the record */
    uint32_t part;                 /* which file of a directory, see struct pd_raw */
    uint32_t queue, pid, tid, cpu; /* all ones: none */
    bool sample;
};

struct pd_aux_queue {
    uint32_t number, cpu, tid; /* of its first buffer; all ones: none */
    bool set;                  /* a buffer has come */
    PD_VEC(uint32_t) buffers;  /* indices into pd_aux.buffers */
};

#define PD_AUX_CPUS 2048

struct pd_aux_options {
    /* Which CPUs' buffers are kept; NULL: all. Buffers without a CPU are never dropped. */
    bool (*cpu_wanted)(void *data, uint32_t cpu);
    void *data;
    bool keep_vm_time; /* find overlaps as VM time correlation does */
    bool records;      /* pd_aux_load() collects AUX records, too */
    bool count_all;    /* number the dropped buffers, too; perf numbers only the others */
};

/* An AUX record: what the kernel said of [offset, offset + size) of a stream. */
struct pd_aux_record {
    uint64_t offset, size, flags, time;
    uint32_t pid, tid, cpu;
};

struct pd_aux_id {
    uint32_t queue, cpu, tid;
};

struct pd_aux {
    struct pd_recording *recording;
    struct pd_aux_options options;
    struct pd_aux_info info;
    struct pd_pt_modes modes; /* Intel PT */
    /* From a TIME_CONV record in front of AUXTRACE_INFO: turns ticks of the trace's timer into
     * times. */
    struct pd_tsc_conversion clock;
    bool has_clock;
    struct pd_arena arena;
    bool queued; /* the buffers of a file have been collected: later AUXTRACE records are known */
    PD_VEC(struct pd_aux_buffer) buffers;
    PD_VEC(struct pd_aux_queue) queues; /* by number; holes have set == false */
    struct pd_map64 id_index;           /* of an event -> index into ids */
    PD_VEC(struct pd_aux_id) ids;       /* of ID_INDEX records */
    PD_VEC(struct pd_aux_record) records;
    uint64_t dropped;                        /* buffers of CPUs that are not wanted */
    uint64_t dropped_cpus[PD_AUX_CPUS / 64]; /* which CPUs; those beyond are not told */
    struct pd_aux_index *index;              /* index.h; NULL: none */
};

perfdata_status pd_aux_open(struct pd_recording *recording, const struct pd_aux_options *options,
                            struct pd_aux **out);
void pd_aux_close(struct pd_aux *aux);

/* A record that the AUX areas are made from: AUXTRACE_INFO, ID_INDEX, AUXTRACE, samples with AUX
 * data; all others do nothing, so that any may be given. A stream's trace is record->payload. A
 * call may move pd_aux.buffers and .queues. */
perfdata_status pd_aux_take(struct pd_aux *aux, const struct pd_raw *record);
/* The trace of an AUXTRACE record of a stream, which the walk leaves behind the record in the
 * chunk; NULL: it is not there. */
PD_INLINE const uint8_t *pd_aux_payload(const struct pd_chunk *chunk, const uint8_t *record,
                                        uint32_t size, bool swap)
{
    const uint8_t *payload = record + size, *end = chunk->bytes + chunk->size;
    return size >= 16 &&
                   pd_load64(record + PD_AT(auxtrace, data_size), swap) <= (uint64_t)(end - payload)
               ? payload
               : NULL;
}
/* Takes all of a recording at once; a stream is read to its end and its traces are kept. To be
 * called before any pd_aux_take(). */
perfdata_status pd_aux_load(struct pd_aux *aux);

/* ---- bytes ---- */

/* Bytes [from, from + size) of a buffer; *got is less where the file ends early. Any thread. */
perfdata_status pd_aux_read(const struct pd_aux *aux, const struct pd_aux_buffer *buffer,
                            uint64_t from, void *to, size_t size, size_t *got);
/* The same for a buffer that lies in a file, but failures are not reported. Any thread. */
perfdata_status pd_aux_read_quietly(const struct pd_aux *aux, const struct pd_aux_buffer *buffer,
                                    uint64_t from, void *to, size_t size, size_t *got);

/* Consecutive bytes of one queue; what snapshots and samples have twice is left out. A buffer is
 * one piece up to PD_AUX_PIECE bytes (overlaps: any size); larger ones are cut in front of PSBs. */
struct pd_aux_piece {
    const uint8_t *data; /* until the next call of this reader */
    size_t size;
    uint64_t reference;
    uint64_t trace_number; /* the buffer's number */
    uint64_t position;     /* of data[0] in the queue: sizes of all pieces before */
    bool consecutive;      /* decoding goes on; else it begins anew at a PSB */
    bool follows;          /* the buffer goes on where another one of the queue ended */
    bool inside;           /* not the first piece of its buffer */
    const struct pd_aux_buffer *buffer;
    uint64_t from; /* of data[0] in the buffer */
};

enum { PD_AUX_PIECE = 64 << 20 };

struct pd_aux_reader;
perfdata_status pd_aux_reader_open(const struct pd_aux *aux, uint32_t queue,
                                   struct pd_aux_reader **out);
/* 1 a piece, 0: no more (so far, of a stream), < 0 status. */
int pd_aux_reader_next(struct pd_aux_reader *reader, struct pd_aux_piece *out);
/* Looks at the piece that is `nth` (from 0) behind the last one, without changing what comes next:
 * gives the first TSC of a PSB+ in it, 56 bits, and its reference. 1; 0: it has no TSC; < 0: there
 * is no such piece. */
int pd_aux_reader_ahead(struct pd_aux_reader *reader, size_t nth, uint64_t *tsc,
                        uint64_t *reference);
/* Makes that piece the next one; with a stored index, without what lies before a PSB that is known
 * to come before `tsc`. */
perfdata_status pd_aux_reader_skip(struct pd_aux_reader *reader, size_t nth, uint64_t tsc);
/* The next piece will be of the queue's buffer `index` (from 0): not consecutive. */
void pd_aux_reader_seek(struct pd_aux_reader *reader, size_t index);
/* With a stored index, for a walk from PSB to PSB ("qq"): makes pieces small and cuts them where
 * such a walk cannot tell. Not together with pd_aux_reader_ahead() and pd_aux_reader_skip(), which
 * know pieces of the other size. */
void pd_aux_reader_psb_jump(struct pd_aux_reader *reader);
/* What is known of the PSBs behind the one at `position` of the queue, in the last piece: see
 * pd_pt_config.psb_jumps. */
bool pd_aux_reader_psb_jumps(struct pd_aux_reader *reader, uint64_t position, uint64_t below,
                             struct pd_pt_psb_jumps *out);
/* Makes the next piece begin at `position`, in the buffer of the last one. */
void pd_aux_reader_psb_jump_to(struct pd_aux_reader *reader, uint64_t position);
void pd_aux_reader_close(struct pd_aux_reader *reader);

struct pd_aux_bytes {
    uint8_t *data;
    size_t size, capacity;
};

/* The bytes of a piece that another thread reads before their turn. All zero is empty;
 * free(fetch.bytes.data) ends it. */
struct pd_aux_fetch {
    const struct pd_aux *aux;
    struct pd_aux_buffer buffer; /* a copy */
    uint64_t from, size;
    struct pd_aux_bytes bytes;
};
/* Plans the read of the next piece; false: there is none that another thread could read. */
bool pd_aux_reader_plan(const struct pd_aux_reader *reader, struct pd_aux_fetch *fetch);
/* Any thread: reads it. False: that did not work. */
bool pd_aux_fetch_read(struct pd_aux_fetch *fetch);
/* Hands over to the reader what has been read; if it is the next piece, it need not be read again.
 * The fetch is then empty, but for memory to be used again. */
void pd_aux_reader_take(struct pd_aux_reader *reader, struct pd_aux_fetch *fetch);

/* Finds where `next` goes on behind `last` (reference 4.4), both Intel PT of one queue. Returns the
 * first byte of `next` to use (next_size: none); *consecutive: that byte follows right behind
 * `last`. */
size_t pd_pt_find_overlap(const uint8_t *last, size_t last_size, const uint8_t *next,
                          size_t next_size, bool have_tsc, bool vm_time, bool *consecutive);

#endif
