/* SPDX-License-Identifier: MIT */
/* The counts of a recording of perf stat, event by CPU by thread, as they stand after each
 * record. */
#ifndef PD_RENDER_COUNTS_MATRIX_H
#define PD_RENDER_COUNTS_MATRIX_H
#include "base/vec.h"
#include "container/container.h"
#include "format/structs.h"

struct pd_counted {
    uint64_t value, enabled, running;
};

/* How perf stat adds up, as a STAT_CONFIG record says it. */
enum pd_aggregate {
    PD_AGGREGATE_NONE, /* each CPU */
    PD_AGGREGATE_GLOBAL,
    PD_AGGREGATE_SOCKET,
    PD_AGGREGATE_DIE,
    PD_AGGREGATE_CORE,
    PD_AGGREGATE_THREAD,
    PD_AGGREGATE_UNSET,
    PD_AGGREGATE_NODE
};

struct pd_counted_thread {
    int32_t tid;
    char comm[16]; /* ends with a NUL */
};

struct pd_count_matrix {
    PD_VEC(int32_t) cpus; /* -1: any */
    PD_VEC(struct pd_counted_thread) threads;
    struct pd_counted *counts,
        *before; /* [event][CPU][thread]; NULL until both lists are known; a round before */
    bool *seen;  /* events that some record was about */
    uint64_t aggregate, interval;
    bool scale;
    bool no_memory;
};

void pd_count_matrix_init(struct pd_count_matrix *matrix);
void pd_count_matrix_free(struct pd_count_matrix *matrix);

enum pd_count_taken {
    PD_COUNT_OTHER, /* it is none of perf stat's records */
    PD_COUNT_TAKEN,
    PD_COUNT_CONFIG,
    PD_COUNT_ROUND, /* the counts of a round are complete */
    PD_COUNT_FAILED /* without memory; what was taken is not to be shown */
};
/* Takes a record. More counts than any machine has, and records that claim more than they hold, are
 * reported as issues. *round is set where the record ends a round. */
enum pd_count_taken pd_count_matrix_take(struct pd_count_matrix *matrix,
                                         struct pd_recording *recording, uint32_t type,
                                         const uint8_t *data, uint32_t size, uint64_t offset,
                                         struct pd_record_stat_round *round);

PD_INLINE size_t pd_count_index(const struct pd_count_matrix *matrix, size_t event, size_t cpu,
                                size_t thread)
{
    return (event * matrix->cpus.count + cpu) * matrix->threads.count + thread;
}
/* Makes *before the count as it is now, and *count what it has gained since the old *before. */
void pd_count_subtract(struct pd_counted *count, struct pd_counted *before);
/* Extrapolates the count to the time that the event was enabled. -1: the event never ran and the
 * count becomes 0; 1: it was extrapolated; 0: the event ran all the time. */
int pd_count_scale(struct pd_counted *count);
/* At the end of a round: unless everything is added up, the count becomes, as in perf, the
 * difference from the round before, extrapolated. */
void pd_count_finish(struct pd_count_matrix *matrix, size_t index);

#endif
