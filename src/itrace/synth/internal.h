/* SPDX-License-Identifier: MIT */
/* The inside of synth, for its files only:
 *   synth.c             the interface of itrace/synth.h, what each record does
 *   events.c            the events of the samples
 *   decoders.c          a decoder for each queue of the trace
 *   queue.c             which queue decodes next, and how far
 *   switches.c          who runs where
 *   sample.c, pebs.c    a step -> samples
 *   room.c              memory for samples
 *   fast_path.c         samples of steps where nothing special happens
 *   compact_sample.h    samples that are not yet records
 *   spe.c, bts.c        traces of Arm SPE and Intel BTS, which go their own way
 *   turns.h             whose turn it is among their queues
 *   ahead_*.c           segments that other threads decode before their turn */
#ifndef PD_SYNTH_INTERNAL_H
#define PD_SYNTH_INTERNAL_H
#include "base/arena.h"
#include "itrace/intel_pt/walk/decoder.h"
#include "itrace/synth/stack.h"
#include "itrace/synth.h"
#include "tracepoint/tracepoint.h"

#define PD_NOBODY UINT32_MAX /* no such cpu, pid, tid */

/* In the order in which they are appended; rows of events.c. */
enum pd_synth_kind {
    PD_SYNTH_BRANCHES,
    PD_SYNTH_INSTRUCTIONS,
    PD_SYNTH_TRANSACTIONS,
    PD_SYNTH_PTWRITE,
    PD_SYNTH_CBR,
    PD_SYNTH_PSB,
    PD_SYNTH_MWAIT,
    PD_SYNTH_PWRE,
    PD_SYNTH_EXSTOP,
    PD_SYNTH_PWRX,
    PD_SYNTH_EVT,
    PD_SYNTH_IFLAG,
    PD_SYNTH_KINDS
};

enum pd_switch_state {
    PD_SWITCH_NOT_TRACING,
    PD_SWITCH_UNKNOWN,
    PD_SWITCH_TRACING,
    PD_SWITCH_EXPECTING_EVENT,
    PD_SWITCH_EXPECTING_IP
};

/* Instructions and cycles at the last sample of a kind that had them. */
struct pd_synth_counts {
    uint64_t insns, cycles;
};

/* What plain samples of a kind have in common: see fast_path.c. */
struct pd_synth_fast_row {
    struct pd_synth_origin origin; /* thread NULL: it is to be made; base 0: it has no place yet */
    uint16_t place;                /* among the sink's */
    bool packs;                    /* it has a place: else samples of it are records */
};

struct pd_synth_queue {
    struct pd_synth *synth;
    uint32_t number;
    uint32_t recorded_tid, recorded_cpu; /* of the buffers */
    struct pd_aux_reader *reader;
    struct pd_pt_decoder *decoder;
    bool set_up, on_heap, ended;
    bool given;          /* stepping through buffers: one was given in this run */
    uint64_t time;       /* TSC */
    uint64_t near_ticks; /* see near_of(); 0: samples are not rare */
    /* Who runs. */
    struct {
        uint32_t pid, tid, cpu;
        bool idle;                /* pid and tid are 0 */
        struct pd_thread *thread; /* whose code it is; NULL unknown */
        struct pd_thread *shown;  /* whose samples they are; NULL: not yet looked for */
        struct pd_stack *stack;   /* of `thread`; NULL: not yet looked for */
    } runner;
    /* The step that waits to be reported. */
    struct {
        const struct pd_pt_state *state;
        bool pending;
        bool pending_error; /* an error waits, met behind a step of the queue's time */
        bool after_error;   /* the step before was one, and as many instructions had run: */
        uint64_t error_insns;
        uint32_t flags;
        uint8_t insn_length;
    } step;
    /* The code that the thread runs. */
    struct {
        struct pd_code_view *view; /* of `thread` */
        uint64_t seen;             /* synth->runs when these were looked for */
        /* whose code the step is of: a switch may have come since */
        const struct pd_thread *walked;
        uint64_t walked_insns; /* how many had run then */
    } code;
    uint64_t converted, converted_time; /* a TSC and its nanoseconds */
    uint16_t origin;                    /* of what was packed last */
    /* As they were at the last samples. */
    struct {
        uint64_t last_insns; /* at the last instructions sample */
        uint64_t ipc_insns, ipc_cycles;
        bool has_ipc;
        struct pd_synth_counts branches, insns;
        uint32_t cbr_seen;
    } counts;
    /* Switches that are matched with the trace. */
    struct {
        bool sync;
        enum pd_switch_state state;
        uint32_t next_tid;
    } switches;
    /* Time ranges. */
    struct {
        bool to_start; /* the next limit begins a range */
        size_t range;
        uint64_t limit;  /* TSC; 0: none */
        uint64_t jumped; /* to where it was fast-forwarded */
    } span;
    /* What other threads have walked. */
    struct {
        struct pd_synth_segments *segments;  /* walked by other threads; NULL: none are */
        struct pd_step_log_reader *step_log; /* steps come from there; NULL: from the decoder */
        /* the next step in the step log has come, and is yet to be told */
        bool waits;
    } ahead;
    struct pd_synth_fast_row plain_branches, plain_insns;
};

struct pd_synth_heap_entry {
    uint64_t time;
    uint32_t queue;
};

/* What the kernel was told to trace (reference 10.4): addresses of the kernel, or offsets in a
 * file. */
struct pd_address_filter {
    uint64_t start, size;
    const char *file; /* NULL: the kernel */
    bool traces;      /* false: tracing stops there */
};

struct pd_pebs;
struct pd_synth_spe;
struct pd_synth_bts;
struct pd_synth_logger;
struct pd_synth_pool;
/* Decoding goes on when this much text has been made of the samples so far. */
#define PD_SYNTH_BYTES ((size_t)1 << 20)

struct pd_synth {
    struct pd_synth_spe *spe; /* spe.h: the trace is of Arm SPE */
    struct pd_synth_bts *bts; /* bts.h: it is of Intel BTS; both NULL: of Intel PT */
    struct pd_recording *recording;
    struct pd_timeline *timeline;
    struct pd_symbols *symbols;
    struct pd_itrace_options options;
    struct pd_aux *aux;
    struct pd_code *code;
    struct pd_code_reader *code_reader;
    /* What is asked for; never changes once queues are set up. */
    struct {
        uint32_t step_types,
            step_queue; /* steps of that queue are told as they are; 0: samples are made */
        bool timeless, guest_code, no_host;
        bool step_through;            /* each sample's own trace is decoded with it */
        struct pd_time_range *ranges; /* in TSC */
        size_t range_count;
        uint32_t op_flags[16];  /* by enum pd_insn_op */
        uint32_t branch_filter; /* flags, one of which a branch must have; 0: all */
        bool chains, last_branches;
        bool uses_stack;
        bool plain; /* plain steps may be told the short way */
        uint8_t quick;
        uint64_t skipped; /* for `s` */
        uint64_t mask;    /* of decoder steps that are wanted */
        uint32_t max_non_turbo;
        uint64_t cbr_to_khz;
    } plan;
    struct pd_guests *guests; /* NULL: none are asked for */
    /* Events of the samples: the recording's own while we are open. */
    struct {
        struct pd_event **own;
        size_t own_count;
        struct pd_event *events[PD_SYNTH_KINDS]; /* NULL: not wanted */
        struct pd_event **twins; /* by index: with a chain or branches more; NULL none */
    } made;
    struct pd_arena arena;
    PD_VEC(struct pd_address_filter) filters;
    /* queues */
    struct pd_synth_queue *queues; /* by number; holes are not set up */
    size_t queue_count;
    struct pd_pt_tables *tables; /* of their decoders */
    struct pd_synth_pool *pool;  /* other threads that walk; NULL: none do */
    /* Which queue is next. */
    struct {
        PD_VEC(struct pd_synth_heap_entry) heap;
        bool queues_set_up;
        struct pd_synth_queue *running; /* was interrupted by a full sink */
        uint64_t running_limit, running_others;
        uint64_t limit;       /* of the run: the next record's time */
        uint64_t runs;        /* this one's number */
        size_t timeless_next; /* queue to go on with */
        bool at_record;       /* the record under way has begun: what comes before it is known */
        bool record_done;     /* its own effects are through */
        uint64_t record_limit;
    } scheduler;
    /* Who runs where. */
    struct {
        PD_VEC(uint32_t) current_tids; /* by CPU */
        struct pd_map64 thread_cpus;   /* by index of a thread */
        const struct pd_event *event;  /* sched:sched_switch */
        struct pd_tracing *tracing;
        const struct pd_trace_format *format;
        uint64_t switch_ip, ptss_ip; /* 0: no synchronisation */
        bool known;                  /* was looked for */
    } switches;
    /* what samples are made of */
    struct pd_stacks stacks;
    struct pd_pebs *pebs;           /* NULL: none */
    struct pd_synth_logger *logger; /* NULL: no debug log */
    uint64_t number;                /* as of which things are looked up */
    struct pd_synth_sink *sink;
    uint64_t base; /* number of the sink's first place, if there were nothing but samples */
    struct pd_synth_stats stats;
    perfdata_status status; /* the first failure */
};

/* events.c */
perfdata_status pd_synth_add_events(struct pd_synth *synth);
/* Parts of pd_synth_add_events(), for traces of other kinds: one keeps the recording's own events
 * and makes room for `more` behind them; one finds the first event of that PMU which has ids, NULL:
 * none; one gives the id of the first synthesised event; one copies what all attrs have from the
 * trace's; and one adds an event, its name made of the attr where NULL (NULL: no memory). */
perfdata_status pd_synth_own_events(struct pd_synth *synth, size_t more);
const struct pd_event *pd_synth_trace_event(const struct pd_synth *synth, uint64_t pmu_type);
uint64_t pd_synth_first_id(const struct pd_event *trace);
struct pd_attr pd_synth_common_attr(const struct pd_synth *synth, const struct pd_attr *trace);
struct pd_event *pd_synth_add_event(struct pd_synth *synth, const struct pd_attr *attr,
                                    const char *caller_name, uint64_t id);
/* Reports that the trace's PMU has no event. */
perfdata_status pd_synth_no_event(const struct pd_synth *synth);
/* Finds which flags instructions have, and which branches are told. */
void pd_synth_plan_branches(struct pd_synth *synth);
void pd_synth_remove_events(struct pd_synth *synth);

/* sample.c */
/* What a step shows; in this order. */
void pd_synth_set_flags(struct pd_synth_queue *queue);

/* A decoder's step. One that runs nothing, as a PSB or where tracing begins, tells the instruction
 * of an earlier one. */
PD_INLINE void pd_synth_take_step(struct pd_synth_queue *queue, const struct pd_pt_state *state)
{
    queue->step.state = state;
    if (!queue->code.walked || queue->code.walked_insns != state->tot_insn_cnt)
        queue->code.walked = queue->runner.thread;
    queue->code.walked_insns = state->tot_insn_cnt;
}

void pd_synth_emit_step(struct pd_synth_queue *queue);
struct pd_synth_error {
    uint32_t code, cpu, pid, tid;
    uint64_t ip, time;
    uint32_t machine_pid, vcpu;
};
void pd_synth_emit_error(struct pd_synth *synth, const struct pd_synth_error *error);
void pd_synth_error_of(struct pd_synth_queue *queue, const struct pd_pt_state *state);
/* Memory for a record; NULL: none, and synth->status is set. */
enum { PD_SYNTH_BLOCK = 256 << 10, PD_SYNTH_ALIGN = 16 };
void *pd_synth_next_block(struct pd_synth *synth, struct pd_synth_room *room, size_t size);
PD_INLINE void *pd_synth_alloc(struct pd_synth *synth, size_t size)
{
    struct pd_synth_room *room = synth->sink->room;
    size = (size + (size_t)PD_SYNTH_ALIGN - 1) & ~((size_t)PD_SYNTH_ALIGN - 1);
    if (PD_UNLIKELY(!room->blocks.count || PD_SYNTH_BLOCK - room->used < size))
        return pd_synth_next_block(synth, room, size);
    void *at = room->blocks.data[room->block] + room->used;
    room->used += size;
    room->total += size;
    return at;
}
PD_INLINE struct pd_stack *pd_synth_stack(struct pd_synth_queue *queue)
{
    if (PD_UNLIKELY(!queue->runner.stack))
        queue->runner.stack = pd_stacks_get(&queue->synth->stacks, queue->runner.thread,
                                            queue->runner.idle, queue->runner.cpu);
    return queue->runner.stack;
}
/* Gives the sample that is about to be delivered a chain or branches. */
perfdata_status pd_synth_enrich(struct pd_synth *synth, struct pd_delivered *record);
/* Tells how deep in calls the thread is. */
perfdata_status pd_synth_add_depth(struct pd_synth *synth, struct pd_delivered *record);

/* Nanoseconds of the queue's time. */
PD_INLINE uint64_t pd_synth_time(struct pd_synth_queue *queue)
{
    struct pd_synth *synth = queue->synth;
    if (synth->plan.timeless)
        return 0;
    if (PD_UNLIKELY(queue->time != queue->converted || !queue->converted_time)) {
        queue->converted = queue->time;
        queue->converted_time = pd_tsc_to_time(&synth->aux->info.pt.time, queue->time);
    }
    return queue->converted_time;
}

/* Notes instructions and cycles as of the step. */
PD_INLINE void pd_synth_count(struct pd_synth_queue *queue)
{
    const struct pd_pt_state *state = queue->step.state;
    bool approximate = queue->synth->options.approximate_ipc;
    queue->counts.ipc_insns = state->tot_insn_cnt;
    queue->counts.ipc_cycles = approximate ? state->cycles : state->tot_cyc_cnt;
    queue->counts.has_ipc = approximate || state->flags & PD_PT_SAMPLE_IPC;
}

PD_INLINE void pd_synth_put_ipc(struct pd_synth_queue *queue, struct pd_synth_counts *last,
                                uint64_t *insn_count, uint64_t *cycle_count)
{
    uint64_t cycles = queue->counts.has_ipc ? queue->counts.ipc_cycles - last->cycles : 0;
    if (!cycles)
        return;
    *cycle_count = cycles;
    *insn_count = queue->counts.ipc_insns - last->insns;
    *last = (struct pd_synth_counts){ queue->counts.ipc_insns, queue->counts.ipc_cycles };
}

/* Whether the event's samples have something behind the fixed part. */
PD_INLINE bool pd_synth_has_parts(const struct pd_event *event)
{
    const uint64_t any = PD_SAMPLE_CALLCHAIN | PD_SAMPLE_RAW | PD_SAMPLE_BRANCH_STACK;
    return event->attr.sample_type & any;
}

/* Whether a branch with these flags becomes a sample. */
PD_INLINE bool pd_synth_is_told(const struct pd_synth *synth, uint32_t flags)
{
    return !synth->plan.branch_filter || synth->plan.branch_filter & flags;
}

/* fast_path.c */
void pd_synth_fast_open(struct pd_synth *synth);
/* Whether the run that begins may ask for the samples of plain steps. */
bool pd_synth_fast_begin(struct pd_synth_queue *queue);
/* Makes the samples of queue->state; false: it is no plain step. */
bool pd_synth_fast_step(struct pd_synth_queue *queue);
/* Tells the branches of the queue's step log before the limit; false: a step comes next that is not
 * plain. */
bool pd_synth_fast_step_log(struct pd_synth_queue *queue, uint64_t limit);
/* A run begins, and queue->waits. */
void pd_synth_fast_wait(struct pd_synth_queue *queue, bool plain);
/* The samples of the steps behind queue->state, as far as they can be had at once. */
void pd_synth_fast_more(struct pd_synth_queue *queue);

/* pebs.c */
perfdata_status pd_pebs_open(struct pd_synth *synth);
void pd_pebs_close(struct pd_pebs *pebs);
void pd_pebs_hw_id(struct pd_synth *synth, const struct pd_delivered *record);
void pd_pebs_emit(struct pd_synth_queue *queue);

/* log.c: all do nothing without a logger */
perfdata_status pd_synth_log_open(struct pd_synth *synth, const struct pd_synth_config *config);
void pd_synth_log_close(struct pd_synth *synth);
struct pd_pt_log *pd_synth_log_of(const struct pd_synth *synth);
/* The text so far; there must be a logger. */
struct pd_text *pd_synth_log_to(const struct pd_synth *synth);
/* Whatever comes next belongs behind the text that has been written. */
void pd_synth_log_flush(struct pd_synth *synth);
/* An error is about to be told; `outside`: it is not the decoder's. */
void pd_synth_log_error(struct pd_synth *synth, const struct pd_delivered *record, bool outside);
void pd_synth_log_record(struct pd_synth *synth, const struct pd_delivered *record);
/* Code of the kernel was patched. */
void pd_synth_log_poke(struct pd_synth *synth, const struct pd_delivered *record);
/* Logs why there is no code. `told`: an error is reported for its object. */
void pd_synth_log_no_code(struct pd_synth *synth, const struct pd_pt_state *state, bool told);

#define pd_synth_log_text(synth, ...) pd_text_format(pd_synth_log_to(synth), __VA_ARGS__)
#define pd_synth_log(synth, ...)                                                                   \
    do {                                                                                           \
        if (PD_UNLIKELY((synth)->logger != NULL))                                                  \
            pd_synth_log_text(synth, __VA_ARGS__);                                                 \
    } while (0)

/* queue.c */
perfdata_status pd_synth_make_queues(struct pd_synth *synth);
void pd_synth_free_queues(struct pd_synth *synth);
/* All queues, once. */
perfdata_status pd_synth_set_up(struct pd_synth *synth);
/* Decode all queues up to `limit` (TSC). 1: the sink is full. */
int pd_synth_run_until(struct pd_synth *synth, uint64_t limit);
/* Timeless: the queues of a thread, PD_NOBODY: all. 1: the sink is full. */
int pd_synth_run_thread(struct pd_synth *synth, uint32_t tid, uint64_t time);
int pd_synth_run_sample(struct pd_synth *synth, const struct pd_delivered *record);
bool pd_synth_heap_add(struct pd_synth *synth, uint32_t queue, uint64_t time);
void pd_synth_heap_pop(struct pd_synth *synth);
/* A queue in the heap has another time now. */
void pd_synth_heap_move(struct pd_synth *synth, uint32_t queue, uint64_t time);
/* How a queue's time goes on with a step. */
struct pd_synth_clock {
    uint64_t time;
    bool set; /* it does not depend on the time before */
};
/* On return to user space the estimate counts; else time never goes back. */
PD_INLINE void pd_synth_clock_step(struct pd_synth_clock *clock, const struct pd_synth *synth,
                                   const struct pd_pt_state *state)
{
    bool from_kernel = state->from_ip >= PD_PT_KERNEL_START || !state->from_ip;
    if (state->skipped_timestamp) {
        clock->time = state->skipped_timestamp;
        clock->set = true;
    }
    if (PD_UNLIKELY(state->last_timestamp > clock->time)) /* of a step that nobody asked for */
        clock->time = state->last_timestamp;
    if (!synth->plan.timeless && from_kernel && state->to_ip && state->to_ip < PD_PT_KERNEL_START) {
        clock->time = state->est_timestamp;
        clock->set = true;
    } else if (state->timestamp > clock->time) {
        clock->time = state->timestamp;
    }
}

/* The queue's thread, or its maps, may have changed. */
void pd_synth_show_code(struct pd_synth_queue *queue);

/* guest.c: where guests are asked for, else NULL. */
struct pd_code_view *pd_synth_guest_view(struct pd_synth_queue *queue);
/* Whose samples in the guest are. */
struct pd_thread *pd_synth_guest_thread(struct pd_synth_queue *queue);

/* filter.c */
perfdata_status pd_synth_parse_filters(struct pd_synth *synth, const char *text);
/* For the walk: whether an address lies outside of what is traced. */
bool pd_synth_filtered_out(void *queue, uint64_t ip);

/* switches.c */
perfdata_status pd_synth_find_switch(struct pd_synth *synth);
void pd_synth_take_record(struct pd_synth *synth, const struct pd_delivered *record);
void pd_synth_set_thread(struct pd_synth_queue *queue);
void pd_synth_next_tid(struct pd_synth_queue *queue);
/* False: the queue waits for the switch's record. */
bool pd_synth_sync(struct pd_synth_queue *queue);
void pd_synth_set_current(struct pd_synth *synth, uint32_t cpu, uint32_t pid, uint32_t tid);
uint32_t pd_synth_current_tid(const struct pd_synth *synth, uint32_t cpu);

#endif
