/* SPDX-License-Identifier: MIT */
/* The front: one thread that orders records, lets them act on the timeline and fills batches. */
#ifndef PD_PIPELINE_FRONT_H
#define PD_PIPELINE_FRONT_H
#include "pipeline/deferred.h"
#include "pipeline/offcpu.h"
#include "pipeline/pipeline.h"
#include "pipeline/split.h"

/* What a worker takes at once: enough to pay for the hand-over, little enough to stay in its
 * cache. */
#define PD_BATCH_RECORDS 2048
#define PD_BATCH_BYTES (UINT64_C(1) << 20)
#define PD_JOB_RECORDS (PD_BATCH_RECORDS + PD_SYNTH_STEP)

/* A batch with what the pipeline must remember of it. */
struct pd_job {
    struct pd_batch batch;
    PD_VEC(struct pd_chunk *) chunks; /* held until the batch is through */
    struct pd_synth_room room;        /* of samples made of a trace */
    struct pd_synth_packs packs;      /* of them: records after pd_job_unpack() */
    struct pd_synth_unpacked *unpacked;
    uint64_t first_number;  /* the oldest version that it needs */
    perfdata_status status; /* of work() */
    struct pd_job *next;
    size_t slot;     /* the pool's */
    bool given_room; /* for records: it is not the job's own */
    bool is_rest;    /* some of its records have been worked on, and left it */
};

struct pd_front {
    struct pd_session *session;
    const struct pd_consumer *consumer;
    struct pd_order *order;
    uint64_t serial; /* of the batch being filled: what chunks are marked with */
    uint64_t number; /* of the record delivered last */
    struct pd_split split;
    struct pd_deferred deferred;
    struct pd_made made;
    struct pd_elsewhere *elsewhere; /* NULL: all samples come */
    bool completes;                 /* chains that end with a mark get what was deferred */
    bool kernel_shown;              /* the first sample in the kernel was seen */
    /* With a trace: the record that waits for the samples that come before it. */
    struct pd_synth *synth;
    struct pd_delivered waiting;
    bool is_waiting, at_end;
    bool packs, streams; /* samples come packed, for other threads */
};

perfdata_status pd_front_open(struct pd_session *session, const struct pd_consumer *consumer,
                              struct pd_front *front);
void pd_front_close(struct pd_front *front);

/* Fills an empty job. 1: it is full; 0: the recording ends, < 0: it fails, and the job holds what
 * came before. */
int pd_front_fill(struct pd_front *front, struct pd_job *job);

/* Samples may come packed, where nobody looks at them on the front; streams: other threads will
 * read most of them. */
void pd_front_pack(struct pd_front *front, bool streams);
/* False: no memory. */
bool pd_job_unpack(struct pd_job *job);

/* Gives back the chunks and empties the batch. Any thread. */
void pd_job_reset(struct pd_job *job);
/* `room`, for PD_JOB_RECORDS records, outlives the job; if it is NULL, the job takes its own. NULL:
 * no memory. */
struct pd_job *pd_job_new(struct pd_delivered *room);
void pd_job_free(struct pd_job *job, const struct pd_consumer *consumer);

#endif
