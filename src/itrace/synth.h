/* SPDX-License-Identifier: MIT */
/* A decoded trace -> perf's synthesised samples, in their place among the recording's records:
 * which queue is decoded when and how far, which thread runs there, which samples a step makes, and
 * what is known beside them.
 *
 *     struct pd_synth *synth;
 *     pd_synth_open(&config, &synth);              appends the synthesised events to the recording
 *     ... for each record, before it acts on the timeline:
 *     while ((got = pd_synth_before(synth, record, &sink)) > 0)
 *         ... the sink is full: take what it holds, empty it
 *     ... and once more with NULL at the end.
 *     pd_synth_close(synth);                       the recording has its own events again
 *
 * One owner: the front. The samples are real sample records, laid out by the plan of their
 * event. */
#ifndef PD_SYNTH_H
#define PD_SYNTH_H
#include "itrace/aux/aux.h"
#include "itrace/code/code.h"
#include "itrace/options.h"
#include "order/order.h"
#include "resolve/resolve.h"

/* What a step did: the bits of a sample's flags, in the order of their letters
 * "bcrosyiABExghDt". */
enum pd_ip_flag {
    PD_IP_BRANCH = 1 << 0,
    PD_IP_CALL = 1 << 1,
    PD_IP_RETURN = 1 << 2,
    PD_IP_CONDITIONAL = 1 << 3,
    PD_IP_SYSCALLRET = 1 << 4,
    PD_IP_ASYNC = 1 << 5,
    PD_IP_INTERRUPT = 1 << 6,
    PD_IP_TX_ABORT = 1 << 7,
    PD_IP_TRACE_BEGIN = 1 << 8,
    PD_IP_TRACE_END = 1 << 9,
    PD_IP_IN_TX = 1 << 10,
    PD_IP_VMENTRY = 1 << 11,
    PD_IP_VMEXIT = 1 << 12,
    PD_IP_INTR_DISABLE = 1 << 13,
    PD_IP_INTR_TOGGLE = 1 << 14
};

/* Beside a synthesised sample: what its record has no room for. */
struct pd_synth_facts {
    uint32_t flags;      /* enum pd_ip_flag */
    uint32_t depth;      /* of the thread's stack behind the step; with `thread_stack` */
    uint64_t insn_count; /* since the last sample that had them; 0: unknown */
    uint64_t cycle_count;
    uint64_t insn_ip; /* of the last instruction that ran; its bytes: pd_code_bytes() */
    const struct pd_thread *insn_thread; /* that ran it; NULL: only the kernel is known */
    uint8_t insn_length;                 /* 0: unknown */
    uint64_t to;                         /* where the step leads, also for samples without ADDR */
    uint64_t trace;             /* number of its buffer; of another one: a gap may lie between */
    bool has_depth;             /* the thread has a stack */
    bool recorded;              /* the sample is the recording's own */
    uint32_t machine_pid, vcpu; /* of a guest; 0: the host */
};

#define PD_PT_KERNEL_START (UINT64_C(1) << 63)

/* The cpumode of what a trace tells. */
PD_INLINE uint16_t pd_synth_mode(uint64_t ip, bool guest)
{
    bool kernel = ip >= PD_PT_KERNEL_START;
    if (PD_UNLIKELY(guest))
        return kernel ? PD_CPUMODE_GUEST_KERNEL : PD_CPUMODE_GUEST_USER;
    return kernel ? PD_CPUMODE_KERNEL : PD_CPUMODE_USER;
}

/* The record of a synthesised sample, in our byte order; what an event's attr does not name is
 * there, too. Behind it lie the variable parts. */
struct pd_synth_fixed {
    uint32_t type;
    uint16_t misc, size;
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time, addr, id, stream_id;
    uint32_t cpu, reserved;
    uint64_t period;
};

/* The record has no variable parts. */
PD_INLINE bool pd_synth_is_fixed(const struct pd_delivered *record)
{
    return record->facts && record->event->synthesised &&
           record->size == sizeof(struct pd_synth_fixed);
}

/* Makes a sample's record, but for the number. Member by member: the compiler would clear it by a
 * slow instruction first. */
PD_INLINE void pd_synth_record(const struct pd_synth_fixed *fixed,
                               const struct pd_synth_facts *facts, const struct pd_event *event,
                               struct pd_thread *thread, struct pd_delivered *record)
{
    record->data = (const uint8_t *)fixed;
    record->size = sizeof *fixed;
    record->type = PD_RECORD_SAMPLE;
    record->misc = fixed->misc;
    record->has_period = 0;
    record->counts_for = 0;
    record->is_made = 0;
    record->offset = 0;
    record->part = 0;
    record->vcpu = 0;
    record->time = fixed->time ? fixed->time : PD_NO_TIME;
    record->number = 0;
    record->event = event;
    record->chunk = NULL;
    record->thread = thread;
    record->period = 0;
    record->facts = facts;
}

/* Decodes such a record into a sample that is empty, or that holds another such record: members
 * that these samples never set are left alone. */
PD_INLINE void pd_synth_sample(const struct pd_delivered *record, struct pd_sample *out)
{
    const struct pd_synth_fixed *fixed = (const void *)record->data;
    out->event = record->event;
    out->record = record->data;
    out->size = record->size;
    out->misc = fixed->misc;
    out->cpumode = fixed->misc & PD_MISC_CPUMODE_MASK;
    out->ip = fixed->ip;
    out->time = fixed->time;
    out->addr = fixed->addr;
    out->id = fixed->id;
    out->stream_id = fixed->stream_id;
    out->period = fixed->period;
    out->pid = fixed->pid;
    out->tid = fixed->tid;
    out->cpu = fixed->cpu;
    out->data_src = 0; /* as perf leaves it */
    out->branch_hw_index = UINT64_MAX;
}

/* Where samples are put. Those of one step take PD_SYNTH_STEP places at most. */
enum { PD_SYNTH_STEP = 64 };

/* A sample of fixed size on its way to another thread, which makes a record of it: moving bytes
 * from core to core takes longer than the work on them. */
struct pd_synth_packed {
    uint64_t from, to, time, insn_ip, insn_count, cycle_count, period;
    uint16_t flags, place; /* of its record among the sink's */
    uint16_t origin;
    uint8_t insn_length;
    bool unpacked; /* already */
};
/* What many have in common. */
struct pd_synth_origin {
    const struct pd_event *event;
    struct pd_thread *thread;
    const struct pd_thread *insn_thread;
    uint64_t trace, base; /* base: the number of place 0 */
    uint32_t pid, tid, cpu;
};
struct pd_synth_packs {
    struct pd_synth_packed *list; /* by place */
    size_t count, capacity;
    PD_VEC(struct pd_synth_origin) origins;
    bool kernel;  /* some are of the kernel */
    bool streams; /* another thread will read them: see base/stream.h */
};
/* What records of them are made in. */
struct pd_synth_unpacked {
    struct pd_synth_facts facts;
    struct pd_synth_fixed fixed;
};

struct pd_synth_sink {
    struct pd_delivered *records; /* data, size, type, misc, time, event, thread, facts are set */
    size_t count, capacity;       /* full when fewer than PD_SYNTH_STEP are left */
    struct pd_synth_room *room;   /* memory of the records */
    struct pd_synth_packs
        *packs; /* whose places among `records` stay empty; NULL: nothing is packed */
};

/* Memory that is used again and again. All zero is ready. */
struct pd_synth_room {
    PD_VEC(uint8_t *) blocks;
    size_t block; /* the one being filled */
    size_t used;  /* of it */
    size_t total; /* bytes handed out since the reset */
};
/* The cpumode of a packed sample. */
PD_INLINE uint16_t pd_synth_packed_mode(const struct pd_synth_packed *packed)
{
    return pd_synth_mode(packed->from ? packed->from : packed->to, false);
}
void pd_synth_unpack_one(const struct pd_synth_packed *packed, const struct pd_synth_origin *origin,
                         struct pd_synth_unpacked *room, struct pd_delivered *record);
/* Makes records of the packed samples; `room` is as long as the list. */
void pd_synth_unpack(struct pd_synth_packs *packs, struct pd_synth_unpacked *room,
                     struct pd_delivered *records);
/* Room for so many, if there is none yet. False: no memory. */
bool pd_synth_packs_make(struct pd_synth_packs *packs, size_t capacity);
void pd_synth_packs_reset(struct pd_synth_packs *packs);
void pd_synth_packs_free(struct pd_synth_packs *packs);

void pd_synth_room_reset(struct pd_synth_room *room);
void pd_synth_room_free(struct pd_synth_room *room);

struct pd_time_range {
    uint64_t start, end;
};

struct pd_guests;
/* A record of no recording: text of the debug log, in its place among the samples. */
enum { PD_SYNTH_LOG = 127 };

/* A record of no recording, too: a step of a queue, where steps were asked for. Its data is a
 * struct pd_pt_step (intel_pt/walk/decoder.h). */
enum { PD_SYNTH_STEP_RECORD = 126 };

/* The debug log (--itrace=d). */
struct pd_synth_log {
    void *data;
    /* Takes the text; NULL: the text comes as PD_SYNTH_LOG records. */
    perfdata_status (*write)(void *data, const char *text, size_t size);
    bool errors; /* errors that are reported stand in the log, too */
    /* Puts into `text` what the log says of a record of the recording: "PERF_RECORD_..." and a
     * newline at the end. Of an AUXTRACE_ERROR the line that perf prints of it. */
    void (*record)(void *data, const struct pd_delivered *record, struct pd_text *out);
};

struct pd_synth_config {
    struct pd_recording *recording;
    struct pd_timeline *timeline;
    struct pd_symbols *symbols;
    struct pd_code *code; /* which the caller lets know of patches */
    const struct pd_itrace_options *options;
    struct pd_aux_options aux; /* which CPUs */
    /* Time spans wanted, in nanoseconds, inclusive, 0: open; the rest of the trace is jumped
     * over. */
    const struct pd_time_range *ranges;
    size_t range_count;
    const struct pd_synth_log *log; /* where to, when the options ask for one */
    bool no_host;                   /* only guests' code is known */
    bool guest_code;                /* code that runs in a guest is the host's: --guest-code */
    struct pd_guests *guests;       /* else: theirs; NULL: nothing is known of guests */
    unsigned threads; /* threads that may walk, the caller's included; see pd_synth_take_help() */
    /* Asks for the steps of one queue as they are, of these types (bits PD_PT_...), in place of
     * samples; 0: samples. */
    uint32_t step_types, step_queue;
};

struct pd_synth_stats {
    uint64_t errors; /* records made of them */
};

struct pd_synth;

/* *out is NULL when the recording has no trace that is decoded, or the options do not ask for
 * it. */
perfdata_status pd_synth_open(const struct pd_synth_config *config, struct pd_synth **out);
/* 1: the sink is full, 0: the record may act; < 0: status. `number` is that of the record delivered
 * last, or of the last sample in the sink. A switch among the records takes effect on the last
 * call. The record may be changed: G and L give a sample a chain or branches. */
int pd_synth_before(struct pd_synth *synth, struct pd_delivered *record, uint64_t number,
                    struct pd_synth_sink *sink);
/* The number of the oldest record whose maps are still looked at beside the front; UINT64_MAX: none
 * are. */
uint64_t pd_synth_needs(const struct pd_synth *synth);
/* Lets so many other threads walk, too, if config.threads is 2 or more; to be called once. wake()
 * is called on the caller's thread when there is something to do. */
void pd_synth_take_help(struct pd_synth *synth, unsigned helpers, void (*wake)(void *data),
                        void *data);
/* Any thread: whether there is something to do. */
bool pd_synth_waits(const struct pd_synth *synth);
/* Any other thread: does a piece of that work. Helpers have numbers from 1. */
void pd_synth_help(struct pd_synth *synth, unsigned helper);
void pd_synth_statistics(const struct pd_synth *synth, struct pd_synth_stats *out);
void pd_synth_close(struct pd_synth *synth);

#endif
