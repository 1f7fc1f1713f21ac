/* SPDX-License-Identifier: MIT */
/* A loop whose turns are independent -> some threads. */
#include "base/parallel.h"
#include "base/memory.h"
#include <pthread.h>
#include <stdatomic.h>

struct loop {
    size_t count;
    atomic_size_t next;
    void (*turn)(void *data, unsigned worker, size_t index);
    void *data;
};

struct worker {
    struct loop *loop;
    unsigned number;
    pthread_t thread;
};

/* Not NULL: an allocation has failed on this thread. */
static void *take_turns(void *data)
{
    const struct worker *worker = data;
    struct loop *loop = worker->loop;
    size_t index;
    while ((index = atomic_fetch_add_explicit(&loop->next, 1, memory_order_relaxed)) < loop->count)
        loop->turn(loop->data, worker->number, index);
    return pd_memory_failed() ? loop : NULL;
}

void pd_parallel(unsigned threads, size_t count,
                 void (*turn)(void *data, unsigned worker, size_t index), void *data)
{
    struct loop loop = { .count = count, .turn = turn, .data = data };
    struct worker workers[PD_PARALLEL_MAX];
    unsigned started = 1,
             wanted = (unsigned)PD_MIN(PD_MIN(threads, (unsigned)PD_PARALLEL_MAX), count);
    for (; started < wanted; started++) {
        workers[started] = (struct worker){ .loop = &loop, .number = started };
        if (pthread_create(&workers[started].thread, NULL, take_turns, &workers[started]))
            break;
    }
    workers[0] = (struct worker){ .loop = &loop };
    take_turns(&workers[0]);
    for (unsigned i = 1; i < started; i++) {
        void *no_memory;
        pthread_join(workers[i].thread, &no_memory);
        if (no_memory)
            pd_memory_note();
    }
}
