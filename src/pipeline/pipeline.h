/* SPDX-License-Identifier: MIT */
/* The layer pipeline/: the front (order, sideband, batches), the pool, and the three kinds of
 * consumer. */
#ifndef PD_PIPELINE_H
#define PD_PIPELINE_H
#include "base/text.h"
#include "container/container.h"
#include "itrace/code/code.h"
#include "itrace/synth.h"
#include "model/model.h"
#include "order/order.h"
#include "pipeline/jit.h"
#include "resolve/guests.h"
#include "resolve/resolve.h"
#include <perfdata/symbol_search.h>

/* A recording with its timeline and symbols: what every analysis starts from. */
struct pd_session {
    struct pd_recording *recording;
    struct pd_timeline *timeline;
    struct pd_symbols *symbols;
    struct pd_guests guests;        /* what their records act on, once they are asked for */
    struct pd_object_search search; /* of the guests: the host's */
    struct pd_jit *jit;             /* NULL: dumps of runtimes are not read */
    struct pd_synth *synth;         /* NULL: no trace is decoded */
    bool decodes;                   /* it was asked for */
    const struct pd_order_stats *order_stats; /* after a run */
    struct pd_order_stats order_stats_copy;
    uint64_t unknown_ids;   /* after a run: counters in samples whose id no event has */
    struct pd_code *code;   /* NULL: nobody asked for code */
    struct pd_fetch *fetch; /* NULL: no object is fetched */
    char *kallsyms;         /* of the copy of the kernel in the recording's directory; NULL: none */
};

/* Where a caller lets us look for symbols, but for servers, which pd_session_open() reaches. How
 * names are shown is the caller's to set. `itrace`: the settings that it has read may name the
 * build-id cache, and it must outlive the search; NULL: no settings. */
struct pd_object_search pd_search_of(struct pd_recording *recording,
                                     const struct perfdata_symbol_search *search,
                                     const struct pd_itrace_options *itrace);

/* What flags of the same names in several verbs' options say: VERB is PERFDATA_REPORT, for one. */
#define PD_SEARCH_BY_FLAGS(search, flags, VERB, VERBOSE)                                           \
    ((search)->demangle = !((flags)&VERB##_NO_DEMANGLE),                                           \
     (search)->demangle_kernel = (flags)&VERB##_DEMANGLE_KERNEL,                                   \
     (search)->verbose_names = (flags)&VERB##_##VERBOSE, (search)->force = (flags)&VERB##_FORCE)

/* `search` NULL: no symbols; resolvers are then NULL. The recording and what `search` points to
 * stay the caller's and must outlive the session. */
perfdata_status pd_session_open(struct pd_recording *recording,
                                const struct pd_object_search *search, struct pd_session *out);
/* Guests are asked for where a place is given; before the run. */
void pd_session_want_guests(struct pd_session *session,
                            const struct perfdata_symbol_search *search);
/* The code that runs in the recording, before its run begins: patches of the kernel reach it from
 * then on. NULL without memory. */
struct pd_code *pd_session_code(struct pd_session *session);
void pd_session_close(struct pd_session *session);
/* How many errors decoding traces has met so far; 0 where none are decoded. */
uint64_t pd_session_trace_errors(const struct pd_session *session);
/* Samples made of the recording's trace come among its records in a run of this session; their
 * events are the recording's until the session is closed. config->recording, timeline and symbols
 * are filled in. */
perfdata_status pd_session_decode(struct pd_session *session, struct pd_synth_config *config);
/* Says that the session's user no longer needs versions of the timeline older than `number`. */
void pd_session_retire(struct pd_session *session, uint64_t number);
/* How many threads a run has that is asked for `threads`; 0: the context's limit, or one thread for
 * each core. */
unsigned pd_pipeline_threads(const struct pd_session *session, unsigned threads);

/* Some thousand records in delivery order: all samples, and the other records that the consumer
 * asked for. A record's thread is the one that perf shows with it: of its body for COMM, FORK,
 * EXIT, MMAP, MMAP2 and NAMESPACES, else of the sample or trailer; NULL for user records. Batches
 * are used again and again: the same for any number of threads. */
struct pd_batch {
    struct pd_delivered *records;
    size_t count;
    /* For a consumer that takes_packs: samples whose records, at their places, are yet to be made
     * where they are needed; NULL: none. */
    struct pd_synth_packs *packs;
    uint64_t sequence;   /* 0, 1, 2 ... in delivery order */
    struct pd_text text; /* what `work` writes here goes to `sink` in order */
    /* What `work` leaves for `in_order`; the consumer's. NULL in a new batch, then never touched,
     * so that its memory can be used again; `drop` frees it. */
    void *result;
};

/* The address of a batch's record i; false: it has none. */
PD_INLINE bool pd_batch_ip(const struct pd_batch *batch, size_t i, uint64_t *ip)
{
    const struct pd_delivered *record = &batch->records[i];
    if (PD_UNLIKELY(record->type != PD_RECORD_SAMPLE || !record->event || !record->event->plan.ip ||
                    record->event->plan.ip + 8u > record->size))
        return false;
    *ip = pd_load64(record->data + record->event->plan.ip, record->event->plan.swap);
    return true;
}

/* For a loop over a batch that will look up the address of record `at` some records later:
 * prefetches what that needs, and the record a few places after it. Nearly all of a sample's time
 * is waiting for memory. */
PD_INLINE void pd_batch_fetch(const struct pd_batch *batch, size_t at, struct pd_resolver *resolver)
{
    enum { RECORD = 4 };
    uint64_t ip;
    if (PD_UNLIKELY(at + RECORD >= batch->count))
        return;
    __builtin_prefetch(batch->records[at + RECORD].data);
    if (pd_batch_ip(batch, at, &ip))
        pd_resolver_fetch(resolver, batch->records[at].misc & PD_MISC_CPUMODE_MASK, ip);
}

/* Fetches for record i. Returns a location that will be resolved soon, for what the consumer hangs
 * on it, or NULL. */
PD_INLINE const struct pd_location *pd_batch_ahead(const struct pd_batch *batch, size_t i,
                                                   struct pd_resolver *resolver)
{
    enum { SLOT = 8, LOCATION = 5, MEMO = 2 };
    uint64_t ip;
    pd_batch_fetch(batch, i + SLOT, resolver);
    if (PD_UNLIKELY(i + LOCATION >= batch->count))
        return NULL;
    if (pd_batch_ip(batch, i + LOCATION, &ip))
        __builtin_prefetch(pd_resolver_peek(
            resolver, batch->records[i + LOCATION].misc & PD_MISC_CPUMODE_MASK, ip));
    if (pd_batch_ip(batch, i + MEMO, &ip))
        return pd_resolver_peek(resolver, batch->records[i + MEMO].misc & PD_MISC_CPUMODE_MASK, ip);
    return NULL;
}

/* The same for a loop that needs no locations: of the record's bytes only. */
PD_INLINE void pd_batch_ahead_of_points(const struct pd_batch *batch, size_t i)
{
    enum { RECORD = 8 };
    if (PD_LIKELY(i + RECORD < batch->count))
        __builtin_prefetch(batch->records[i + RECORD].data);
}

enum pd_consumer_kind {
    /* work() in parallel writes batch->text; sink() gets it in delivery order */
    PD_CONSUME_ORDERED,
    /* work() in parallel into its own state; merge by the caller after the run */
    PD_CONSUME_COMMUTATIVE,
    /* work() in parallel decodes and resolves into batch->result; in_order() finishes */
    PD_CONSUME_SEQUENTIAL
};

/* What to warn of after a run: what was lost or wrong in the recording; see pd_session_warn(). */
enum pd_warnings {
    PD_WARN_NOTHING = 0,
    PD_WARN_COPY,         /* as where perf copies a recording: no warning of what is copied */
    PD_WARN_READ,         /* as where perf reads one */
    PD_WARN_READ_BUT_LOST /* the same where each LOST record is shown when it comes */
};

struct pd_consumer {
    enum pd_consumer_kind kind;
    enum pd_warnings warns;
    void *data;
    /* Which records come in batches besides samples: bit t of types[t / 64] for types below 128.
     * All records act on the timeline anyway. */
    uint64_t types[2];
    bool unknown_types; /* also types of 128 and above */
    bool no_samples;
    /* Nobody looks at call chains: parts of them that were deferred need not be looked for, unless
     * an event says that there are some. */
    bool no_chains;
    /* Samples of a trace may come packed: batch->packs. */
    bool takes_packs;
    /* What work() does depends on the batches before, so that the caller's thread does all of it;
     * other threads only walk traces. */
    bool alone;
    /* Records come without a thread, and none is made for showing them; only those that act on the
     * timeline make theirs. */
    bool no_threads;
    bool prints; /* samples one by one: perf then looks for the code of each */
    /* By the event's index: samples of these need not come. They are passed over where nothing else
     * depends on them, as for parts of samples; NULL: none. */
    const bool *unheard;
    size_t unheard_count;
    /* Samples in functions of other names, or in none, need not come, where that is known before
     * they are looked at; NULL: all come. Nor may anything but `front` depend on them. */
    const char *only_symbol;
    enum pd_order_mode order;
    /* A worker's own state; may be NULL. `resolver` lives until after `end`. Nobody trims it but
     * the consumer, at the start of work() for instance, when no batch of its own still points into
     * it. Called on the thread that runs the pipeline, as is `end`, which comes after all
     * batches. */
    perfdata_status (*begin)(void *data, unsigned worker, struct pd_resolver *resolver,
                             void **state);
    perfdata_status (*work)(void *data, void *state, struct pd_batch *batch);
    /* In delivery order, one call at a time. */
    perfdata_status (*in_order)(void *data, struct pd_batch *batch);
    perfdata_status (*sink)(void *data, const char *text, size_t length);
    void (*end)(void *data, unsigned worker, void *state);
    /* Frees batch->result at the end of the run; may be NULL. */
    void (*drop)(void *data, struct pd_batch *batch);
    /* Called on the front with each delivered record before it acts (user records included); may be
     * NULL. Returns one of enum pd_front_verdict, or < 0 to stop. Must be cheap. */
    int (*front)(void *data, const struct pd_delivered *record);
};

enum pd_front_verdict {
    PD_FRONT_PASS = 0,
    PD_FRONT_LEAVE_OUT = 1, /* acts on the timeline, but comes in no batch */
    /* as if it were not there: perf skips samples outside --time before it looks for threads */
    PD_FRONT_IGNORE = 2
};

/* Runs the whole recording through the consumer with `threads` threads, the caller's included (0:
 * the context's limit, or all cores; 1: a plain loop). The bytes that reach sink() never depend on
 * it. When a batch fails, all before it and the text it has written still reach the sink; a failing
 * walk ends the run after its last record. A run needs a fresh session. */
perfdata_status pd_pipeline_run(struct pd_session *session, const struct pd_consumer *consumer,
                                unsigned threads);
/* Tells what perf tells at the end of a session: records, samples and parts of a trace that were
 * lost, unknown and late records, errors of the trace, as counted by the run before.
 * pd_pipeline_run() does it as its consumer's `warns` says. < 0 in strict mode. */
perfdata_status pd_session_warn(struct pd_session *session, enum pd_warnings warns);
/* After a run that looked up symbols: tells, as perf's report does, when kernel addresses were
 * hidden from who recorded and samples lie there, or nothing is known of the kernel. < 0 in strict
 * mode. */
perfdata_status pd_session_warn_kernel(struct pd_session *session);

#endif
