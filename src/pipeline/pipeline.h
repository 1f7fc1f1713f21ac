/* SPDX-License-Identifier: MIT */
/* The layer pipeline/: the front (order, sideband, batches), the pool, and the three kinds of consumer. */
#ifndef PD_PIPELINE_H
#define PD_PIPELINE_H
#include "base/text.h"
#include "container/container.h"
#include "model/model.h"
#include "order/order.h"
#include "resolve/resolve.h"

/* A recording with its timeline and symbols: what every analysis starts from. */
struct pd_session {
    struct pd_recording *recording;
    struct pd_timeline *timeline;
    struct pd_symbols *symbols;
    const struct pd_order_stats *order_stats; /* after a run */
    struct pd_order_stats order_stats_copy;
};

perfdata_status pd_session_open(struct pd_recording *recording, const struct pd_object_search *search,
                                struct pd_session *out);
void pd_session_close(struct pd_session *session);

/* Some thousand records in delivery order: all samples, and the other records that the consumer asked for. */
struct pd_batch {
    struct pd_delivered *records;
    size_t count;
    uint64_t sequence;     /* 0, 1, 2 ... in delivery order */
    struct pd_text text;   /* what `work` writes here goes to `sink` in order */
    void *result;          /* what `work` leaves for `in_order`; the consumer's */
};

enum pd_consumer_kind {
    PD_CONSUME_ORDERED,     /* work() in parallel writes batch->text; sink() gets it in delivery order */
    PD_CONSUME_COMMUTATIVE, /* work() in parallel into its own state; merge by the caller after the run */
    PD_CONSUME_SEQUENTIAL   /* work() in parallel decodes and resolves into batch->result; in_order() finishes */
};

struct pd_consumer {
    enum pd_consumer_kind kind;
    void *data;
    /* Which records come in batches besides samples: bit t of types[t / 64] for types below 128. All records act on the
     * timeline anyway. */
    uint64_t types[2];
    bool unknown_types; /* also types of 128 and above */
    bool no_samples;
    enum pd_order_mode order;
    /* A worker's own state; may be NULL. `resolver` lives as long as the worker. */
    perfdata_status (*begin)(void *data, unsigned worker, struct pd_resolver *resolver, void **state);
    perfdata_status (*work)(void *data, void *state, struct pd_batch *batch);
    /* In delivery order, one call at a time. */
    perfdata_status (*in_order)(void *data, struct pd_batch *batch);
    perfdata_status (*sink)(void *data, const char *text, size_t length);
    void (*end)(void *data, unsigned worker, void *state);
    /* Called on the front with each delivered record before it is batched (user records included); may be NULL.
     * Return 0 to go on, 1 to leave the record out of the batches, < 0 to stop. Must be cheap. */
    int (*front)(void *data, const struct pd_delivered *record);
};

/* Runs the whole recording through the consumer with `threads` workers (0: all cores, 1: a plain loop). The bytes that
 * reach sink() never depend on it. A run needs a fresh session. */
perfdata_status pd_pipeline_run(struct pd_session *session, const struct pd_consumer *consumer, unsigned threads);

#endif
