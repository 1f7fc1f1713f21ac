/* SPDX-License-Identifier: MIT */
/* The layer order/: records in file order -> records in delivery order, each with its delivery
 * number. Reference, section 10: rounds, stable, late records delivered at the next flush. A round
 * is a few runs that are already in order; they are merged, not sorted. */
#ifndef PD_ORDER_H
#define PD_ORDER_H
#include "container/container.h"

enum pd_order_mode {
    PD_ORDER_FILE,     /* as recorded */
    PD_ORDER_DELIVERY, /* as perf delivers */
    /* As perf inject delivers where it takes the rounds for records like others: records without a
     * time as they are met, then all the rest, sorted. */
    PD_ORDER_TIME
};

/* One record, delivered. `chunk` is held by the consumer of the pull: see pd_order_next(). */
struct pd_delivered {
    const uint8_t *data;
    uint32_t size, type;
    uint16_t misc;
    uint8_t has_period; /* set by the front: `period` counts, not the sample's own */
    uint8_t is_made;    /* by the front, of other bytes: pd_made_recorded() */
    /* In a sample that the front made of one counter of another sample: the index of that counter's
     * event, + 1. Its layout may be another than that of `event`. 0: `event` itself counts. */
    uint32_t counts_for;
    uint64_t offset; /* in the file */
    uint32_t part;   /* which file of a directory: see struct pd_raw */
    uint32_t vcpu;   /* set by the front: of a guest, + 1; 0: unknown */
    uint64_t time;   /* PD_NO_TIME: none */
    uint64_t number; /* delivery number, from 1 */
    const struct pd_event *event;
    struct pd_chunk *chunk;
    struct pd_thread *thread;           /* set by the front: of a sample, else NULL */
    uint64_t period;                    /* of a sample that the front made of another's counters */
    const struct pd_synth_facts *facts; /* what a trace says of a sample (itrace/), else NULL */
};

/* Decodes a delivered sample, its event known. Status as of pd_sample_decode(). */
PD_INLINE perfdata_status pd_delivered_sample(const struct pd_delivered *record,
                                              struct pd_sample *out)
{
    perfdata_status status = pd_sample_decode(record->event, record->data, record->size, out);
    if (PD_UNLIKELY(record->has_period))
        out->period = record->period;
    return status;
}

/* The event that a delivered sample counts for; `record->event` tells its layout. */
PD_INLINE const struct pd_event *pd_delivered_event(const struct pd_recording *recording,
                                                    const struct pd_delivered *record)
{
    return PD_UNLIKELY(record->counts_for) ? recording->events[record->counts_for - 1]
                                           : record->event;
}

struct pd_order;

/* Counts of the records read. */
struct pd_order_stats {
    uint64_t records, late, rounds, without_time;
    bool late_is_usual; /* an event writes backwards: late records are nobody's fault */
    uint64_t samples;
    uint64_t lost, lost_samples; /* LOST records; what LOST_SAMPLES records count */
    uint64_t aux, aux_truncated, aux_partial, aux_collision; /* AUX records; those with a flag */
    uint64_t thread_maps, cpu_maps;
    uint64_t maps_timed_out;  /* MMAP2 records of a process whose maps were not all read */
    uint64_t unknown_records; /* of a type below 64 that no table has */
};

perfdata_status pd_order_open(struct pd_recording *recording, enum pd_order_mode mode,
                              struct pd_order **out);
/* Samples of the events whose index in `unheard` is set are not delivered and have no number. They
 * count in the statistics, and all else comes as if they were delivered. The list of `count` must
 * outlive the order; events behind its end, of a pipe, are heard. */
void pd_order_pass_over(struct pd_order *order, const bool *unheard, size_t count);
/* 1 a record, 0 end, < 0 status. out->data stays valid until the next call, longer when the caller
 * holds the chunk. */
int pd_order_next(struct pd_order *order, struct pd_delivered *out);
/* The bytes that follow the record delivered last, of a pipe's AUXTRACE record; NULL: there are
 * none in memory. */
const uint8_t *pd_order_payload(const struct pd_order *order);
const struct pd_order_stats *pd_order_statistics(const struct pd_order *order);
/* As pd_walk_read_ahead(). */
void pd_order_read_ahead(struct pd_order *order, struct pd_ahead *ahead);
/* Bytes of the data section read so far. */
uint64_t pd_order_position(const struct pd_order *order);
void pd_order_close(struct pd_order *order);

#endif
