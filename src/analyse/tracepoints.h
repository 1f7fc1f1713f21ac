/* SPDX-License-Identifier: MIT */
/* A verb that reads tracepoints is a table: which events it takes, which fields of theirs it asks
 * for, what it does with each. What is here finds the fields by name, once for an event, and shows
 * the verb each sample in delivery order, with the timeline as it holds before that sample.
 *
 *     enum { PREV_PID, NEXT_PID };
 *     static const struct pd_tp_handler handlers[] = {
 *         { "sched:sched_switch", { "prev_pid", "next_pid" }, take_switch },
 *         { 0 } };
 *     struct pd_tp_verb verb = { .handlers = handlers, .data = &mine,
 *                                .hears = PD_TP_HEARS(COMM) | PD_TP_HEARS(FORK) };
 *     status = pd_tp_open(&tp, recording, NULL, &verb, write, data);
 *     if (!status)
 *         status = pd_tp_run(&tp);
 *     ... print what was gathered into tp.out ...
 *     status = pd_tp_close(&tp, status);
 *
 * All calls come from one thread, whatever the number of threads: the others only read ahead. */
#ifndef PD_ANALYSE_TRACEPOINTS_H
#define PD_ANALYSE_TRACEPOINTS_H
#include "pipeline/pipeline.h"
#include "tracepoint/tracepoint.h"
#include <perfdata/recording.h>

enum { PD_TP_FIELDS = 8 };

struct pd_tp;
struct pd_tp_sample;

struct pd_tp_handler {
    const char *event; /* "sched:sched_switch"; NULL: ends the table */
    const char *fields[PD_TP_FIELDS];
    perfdata_status (*take)(void *verb, const struct pd_tp_sample *sample);
};

/* Bits of the records that act on the timeline: perf's verbs listen to some only, and so their
 * names and maps differ. */
#define PD_TP_HEARS(NAME) (UINT64_C(1) << PD_RECORD_##NAME)
#define PD_TP_HEARS_ALL UINT64_MAX

struct pd_tp_verb {
    const struct pd_tp_handler *handlers;
    /* The handler of an event that is no tracepoint, NULL for none; may be NULL. */
    const struct pd_tp_handler *(*handler_of)(const struct pd_event *event);
    void *data;
    uint64_t hears;
    bool shows_lost; /* it tells of each LOST record, which no warning has to sum up */
    /* Each other record that is heard, before it acts; may be NULL. */
    perfdata_status (*other)(void *verb, const struct pd_delivered *record);
    /* Samples that are neither shown to `before` nor to a handler; may be NULL. */
    bool (*drops)(void *verb, const struct pd_tp_sample *sample);
    /* Each sample of a tracepoint or another event, before its handler; may be NULL. */
    perfdata_status (*before)(void *verb, const struct pd_tp_sample *sample);
};

/* Where a number lies that can be read there; the other fields are left to pd_trace_number(). */
struct pd_tp_place {
    uint32_t offset;
    uint8_t size; /* 4 or 8; 0: it is none */
    bool is_signed;
};

/* What is known of an event: its handler and where the fields lie. */
struct pd_tp_plan {
    const struct pd_tp_handler *handler;  /* NULL: none */
    const struct pd_trace_format *format; /* NULL: the recording has none */
    const struct pd_trace_field *fields[PD_TP_FIELDS];
    struct pd_tp_place places[PD_TP_FIELDS];
};

struct pd_tp_sample {
    struct pd_tp *tp;
    const struct pd_delivered *record;
    const struct pd_tp_plan *plan;
    struct pd_sample sample;
};

struct pd_tp {
    struct pd_recording *recording;
    struct pd_session session;
    struct pd_tracing *tracing; /* NULL: the recording has no formats */
    struct pd_tp_verb verb;
    struct pd_tp_plan *plans;     /* by the event's index */
    bool *unheard;                /* the same: nobody takes its samples */
    struct pd_resolver *resolver; /* during the run, with a search; else NULL */
    struct pd_text out;           /* is written when it has grown, and at the end */
    perfdata_write_fn write;
    void *write_data;
    bool kernel_shown;
    uint64_t bad_samples;
    struct pd_tp_sample sample; /* the one at hand */
    bool after_raw;             /* as for pd_sample_decode_next() */
};

/* `search` NULL: no addresses are resolved. The session is open afterwards. */
perfdata_status pd_tp_open(struct pd_tp *tp, struct pd_recording *recording,
                           const struct perfdata_symbol_search *search,
                           const struct pd_tp_verb *verb, perfdata_write_fn write, void *data);
perfdata_status pd_tp_run(struct pd_tp *tp);
/* Writes what is left, unless `status` is a failure; gives that or its own. */
perfdata_status pd_tp_close(struct pd_tp *tp, perfdata_status status);

/* Is there an event of this name? */
bool pd_tp_has_event(const struct pd_recording *recording, const char *name);
/* Is there any tracepoint at all? perf checks before it reads; where there is none, the message is
 * perf's. */
bool pd_tp_has_tracepoints(struct pd_recording *recording, const char *how_to_record);
/* PERFDATA_ERROR_NO_DATA with these words where there is none. */
perfdata_status pd_tp_need_tracepoints(struct pd_recording *recording, const char *how_to_record);

/* The same for any field. */
uint64_t pd_tp_any_number(const struct pd_tp_sample *sample, unsigned index);
/* Field `index` of the handler's; 0 where the event has none of that name or the sample's data end
 * before it. */
PD_INLINE uint64_t pd_tp_number(const struct pd_tp_sample *sample, unsigned index)
{
    const struct pd_tp_place *place = &sample->plan->places[index];
    const struct pd_sample *from = &sample->sample;
    if (PD_UNLIKELY(!place->size || !pd_range_ok(place->offset, place->size, from->raw_size)))
        return pd_tp_any_number(sample, index);
    const uint8_t *bytes = from->raw + place->offset;
    if (place->size == 8)
        return pd_load64(bytes, false);
    uint32_t word = pd_load32(bytes, false);
    return place->is_signed ? (uint64_t)(int64_t)(int32_t)word : word;
}
/* The bytes of a text up to its NUL, not copied; NULL where there is none. */
const char *pd_tp_text(const struct pd_tp_sample *sample, unsigned index, size_t *length);

/* perf's machine__findnew_thread(): the thread of a tid as of this sample, made when unseen; pid
 * UINT32_MAX: unknown. NULL only without memory, which has been told. */
struct pd_thread *pd_tp_thread(const struct pd_tp_sample *sample, uint32_t pid, uint32_t tid);
/* The thread's name as of this sample. */
const char *pd_tp_comm(const struct pd_tp_sample *sample, const struct pd_thread *thread);
/* The thread's last name. */
const char *pd_tp_final_comm(const struct pd_thread *thread);
/* The sample's own address; NULL: no symbols are asked for, or no memory. */
struct pd_location *pd_tp_resolve(const struct pd_tp_sample *sample, struct pd_thread *thread);
/* Any other address, of code that runs in `cpumode`. */
struct pd_location *pd_tp_resolve_at(const struct pd_tp_sample *sample, struct pd_thread *thread,
                                     uint8_t cpumode, uint64_t ip);

perfdata_status pd_tp_no_memory(struct pd_tp *tp);
/* Threads in the order in which perf's tables hold them: 256 buckets by tid, each in order of tid.
 * The caller frees it; NULL without memory. */
struct pd_thread **pd_tp_threads(const struct pd_tp *tp, size_t *count);

/* Events that the recording says are missing. */
struct pd_tp_losses {
    uint64_t events, chunks;
};
/* Whether it is a whole LOST record; *events: how many it says are missing. */
bool pd_tp_lost(const struct pd_tp *tp, const struct pd_delivered *record, uint64_t *events);
/* Adds up such a record; others count for nothing. */
void pd_tp_note_loss(const struct pd_tp *tp, struct pd_tp_losses *losses,
                     const struct pd_delivered *record);
/* The beginning of perf's lines about what makes figures doubtful, up to what stands behind the
 * numbers in parentheses. */
void pd_tp_put_share(struct pd_text *out, const char *what, uint64_t part, uint64_t whole);
/* perf's line for them, after the run; nothing where none is missing. */
void pd_tp_put_losses(struct pd_tp *tp, const struct pd_tp_losses *losses);

/* "START,STOP" or "START" in seconds, of which either may be missing: 0. False: it is none. */
bool pd_tp_span(const char *text, uint64_t *from, uint64_t *to);

/* "%lu.%06lu", as perf writes times; right-aligned in `width`. */
void pd_tp_time(struct pd_text *out, uint64_t time, size_t width);

#endif
