/* SPDX-License-Identifier: MIT */
/* Samples that read counters (PERF_SAMPLE_READ) count for each event whose counter they hold: perf
 * delivers them once for each that moved since it was read last, with the difference as period. */
#ifndef PD_PIPELINE_SPLIT_H
#define PD_PIPELINE_SPLIT_H
#include "base/hash.h"
#include "order/order.h"

/* What each counter read last. An inherited counter (Linux 6.12) counts for each thread apart,
 * under one id. */
struct pd_last_values {
    struct pd_map64 ids;     /* -> place in `values`, */
    struct pd_map64 threads; /* that place and the thread -> place in `values` */
    PD_VEC(uint64_t) values;
};

struct pd_split {
    const struct pd_recording *recording;
    struct pd_last_values last;
    /* the sample under way */
    struct pd_delivered record;
    struct pd_read_values values;
    uint64_t next, left;  /* of its values */
    uint32_t tid;         /* of the sample */
    uint64_t unknown_ids; /* values so far whose id no event has */
};

void pd_split_init(struct pd_split *split, const struct pd_recording *recording);
void pd_split_free(struct pd_split *split);

/* Takes a sample with counters; pd_split_next() then gives its parts. */
void pd_split_begin(struct pd_split *split, const struct pd_delivered *record);
/* 1: *out is the next part, 0: there is none, < 0: no memory. */
int pd_split_next(struct pd_split *split, struct pd_delivered *out);

#endif
