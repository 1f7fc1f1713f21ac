/* SPDX-License-Identifier: MIT */
/* What ahead_segments.h tells of: segments of a queue's buffer, who walks them (ahead_worker.c) and
 * who hands them out (ahead_segments.c). */
#ifndef PD_SYNTH_AHEAD_WORKER_H
#define PD_SYNTH_AHEAD_WORKER_H
#include "itrace/intel_pt/walk/snapshot.h"
#include "itrace/synth/internal.h"
#include "itrace/synth/ahead_step_log.h"
#include <pthread.h>

enum pd_segment_how { SEGMENT_FREE, SEGMENT_OWN, SEGMENT_RUNNING, SEGMENT_DONE, SEGMENT_FAILED };

struct pd_segment {
    uint64_t begin,
        end;     /* positions of PSBs; the end may come to lie before where the next one begins */
    size_t size; /* as it was cut; a tail has none */
    size_t warm_up;          /* as of when it was begun */
    uint64_t reached;        /* how far a worker came */
    enum pd_segment_how how; /* with the pool's lock */
    struct pd_synth_clock clock;
    uint64_t latest;         /* the greatest time of a step */
    bool off_at_entry;       /* the first pause begins with the segment */
    bool is_tail, empty;     /* empty: something is told at once, there is but a tail */
    struct pd_segment *tail; /* what could be walked behind something that is told; NULL: nothing */
    struct pd_segment_notes *notes; /* NULL: it has not been walked */
    struct pd_step_log *step_log;   /* where its steps are told; else NULL */
};

/* What a walk notes of a segment. One thread fills it and another one gives it back, to be used
 * again. */
struct pd_segment_notes {
    struct pd_pt_snapshot *entry, *exit;
    struct pd_pt_pauses pauses;
    struct pd_pt_cycles cycles;
    struct pd_segment tail; /* the segment itself, where it is a tail */
    struct pd_segment_notes *next;
};

/* What a view shows. */
struct pd_segment_stamp {
    uint64_t user, kernel;
    size_t pokes;
};

struct pd_synth_segments {
    struct pd_synth_pool *pool;
    struct pd_synth_queue *queue;
    size_t segment_size;
    _Atomic size_t warm_up; /* bytes before a segment where a decoder begins, or a little later */
    PD_VEC(struct pd_segment) list; /* of the buffer under way; empty: not cut yet */
    const uint8_t *data;            /* of list.data[0].begin */
    struct pd_pt_snapshot *seed;    /* where it was cut */
    struct pd_thread *thread;       /* whose code is walked, as of: */
    uint64_t number;
    struct pd_segment_stamp stamp;
    size_t next;  /* where the queue is, or comes to next */
    size_t claim; /* free from here on; with the lock */
    unsigned running;
    _Atomic bool dropped;
    bool tried;             /* to cut the buffer */
    bool here;              /* the queue is where list.data[next] begins */
    struct pd_segment over; /* the last one that the queue went over */
    /* Ahead: over that segment, from where `own` says. */
    bool ahead;
    struct pd_pt_snapshot *own;
    uint64_t time, checked; /* the queue's there; up to where it has been seen to be right */
    size_t pause;
    /* In the step log of that segment. */
    struct pd_step_log_reader reader;
    bool here_behind;                       /* list.data[next] begins where it ends */
    uint64_t logged_bytes, logged_branches; /* of segments before */
    /* Whether it pays. */
    struct {
        unsigned hits, misses;
        bool vain;
        /* of the buffer's segments, those that the queue went over */
        uint64_t tried_bytes, done_bytes;
    } gain;
};

struct pd_segment_worker {
    struct pd_synth_pool *pool;
    struct pd_code_reader *reader;
    struct pd_pt_decoder *decoder;
    struct pd_pt_snapshot *spare; /* for the next exit of a segment */
};

/* The buffer that comes behind the one that a queue is in; read when no segment is left to be
 * walked. With the pool's lock. */
struct pd_segment_fetch {
    const struct pd_synth_segments *segments; /* NULL: of no queue */
    enum pd_segment_how how;                  /* SEGMENT_FREE: yet to be read */
    struct pd_aux_fetch fetch;
};

struct pd_synth_pool {
    struct pd_synth *synth;
    struct pd_pt_config config;        /* of the workers' decoders */
    unsigned helpers;                  /* threads besides the caller's; 0: none came */
    struct pd_segment_worker *workers; /* theirs; 0 is the caller's */
    void (*wake)(void *data);
    void *wake_data;
    _Atomic bool waits; /* a segment or a buffer is there for them; written with the lock */
    size_t pokes;       /* that the queue sees which is being run */
    pthread_mutex_t lock;
    pthread_cond_t done;
    struct pd_segment_fetch fetches[4]; /* of all queues */
    bool step_logs;                     /* branches are told: segments have step logs */
    _Atomic size_t step_logs_used;
    pthread_mutex_t free_lock; /* for what is to be used again: */
    struct pd_step_log *free_step_logs;
    struct pd_segment_notes *free_notes;
};

PD_INLINE struct pd_segment_stamp pd_synth_stamp_of(const struct pd_code_view *view)
{
    return (struct pd_segment_stamp){ view->user_stamp, view->kernel_stamp, view->pokes };
}

PD_INLINE bool pd_synth_has_stamp(const struct pd_code_view *view,
                                  const struct pd_segment_stamp *stamp)
{
    return view && view->user_stamp == stamp->user && view->kernel_stamp == stamp->kernel &&
           view->pokes == stamp->pokes;
}

/* ahead_pool.c: those who walk segments. All but the first with the lock. */
/* How many threads there are, the caller's included. */
PD_INLINE size_t pd_synth_pool_threads(const struct pd_synth_pool *pool)
{
    return (size_t)pool->helpers + 1;
}
/* Notes that there may be more to do, or less. True: there is something to do. */
bool pd_synth_pool_set_waits(struct pd_synth_pool *pool);
/* Notes that there may be more to do than before; gives back the lock. */
void pd_synth_pool_offer(struct pd_synth_pool *pool);
/* Walks one segment or reads one buffer. False: there is nothing to do. */
bool pd_synth_pool_work(struct pd_segment_worker *worker);

/* The config of the workers' decoders. */
void pd_synth_segment_config(struct pd_synth_pool *pool, const struct pd_synth_queue *queue);
/* Any thread, which owns the segment then. False: it could not be walked. */
bool pd_synth_walk_segment(struct pd_segment_worker *worker,
                           const struct pd_synth_segments *segments, struct pd_segment *segment);
/* Empties a segment and its tails. */
void pd_synth_free_segment(struct pd_synth_pool *pool, struct pd_segment *segment);
/* Frees what no segment uses any more, and no worker will. */
void pd_synth_free_unused(struct pd_synth_pool *pool);

#endif
