/* SPDX-License-Identifier: MIT */
/* The next chunk of a file, read by a thread that has time for it before the one that walks needs
 * it. */
#ifndef PD_IO_AHEAD_H
#define PD_IO_AHEAD_H
#include "io/io.h"
#include <pthread.h>

enum pd_ahead_state { PD_AHEAD_NONE, PD_AHEAD_ASKED, PD_AHEAD_READING, PD_AHEAD_READ };

struct pd_ahead {
    pthread_mutex_t lock;
    pthread_cond_t read;
    _Atomic int state; /* written with the lock */
    struct pd_source *source;
    struct pd_chunk *chunk; /* NULL: nothing was asked for */
    uint64_t offset;
    size_t at, size, got; /* where in the chunk; how much */
};

void pd_ahead_init(struct pd_ahead *ahead);
void pd_ahead_fini(struct pd_ahead *ahead);

/* The walker: up to `size` bytes at `offset` of the source belong at chunk->bytes + at. Takes over
 * the chunk. What was asked for before is dropped. */
void pd_ahead_ask(struct pd_ahead *ahead, struct pd_source *source, uint64_t offset,
                  struct pd_chunk *chunk, size_t at, size_t size);
/* The walker: the chunk asked for, if it is of this place and was read without failure: *got bytes.
 * Waits for a reader that has begun, never for one that has not. NULL: the caller has to read.
 * Afterwards no request is open. */
struct pd_chunk *pd_ahead_take(struct pd_ahead *ahead, const struct pd_source *source,
                               uint64_t offset, size_t *got);
/* Any other thread: reads, if something is asked for. */
void pd_ahead_serve(struct pd_ahead *ahead);

PD_INLINE bool pd_ahead_waits(const struct pd_ahead *ahead)
{
    return atomic_load_explicit(&ahead->state, memory_order_relaxed) == PD_AHEAD_ASKED;
}

#endif
