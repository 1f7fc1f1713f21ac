/* SPDX-License-Identifier: MIT */
/* Each turn is taken once, by a worker that there is. */
#include "base/parallel.h"
#include "test.h"
#include <stdatomic.h>

enum { TURNS = 5000 };

struct turns {
    unsigned threads;
    atomic_uint taken[TURNS];
    atomic_uint strangers;
};

static void take(void *data, unsigned worker, size_t index)
{
    struct turns *turns = data;
    atomic_fetch_add(&turns->taken[index], 1);
    if (worker >= turns->threads || worker >= PD_PARALLEL_MAX)
        atomic_fetch_add(&turns->strangers, 1);
}

static void check(unsigned threads, size_t count)
{
    static struct turns turns;
    unsigned wrong = 0;
    memset(&turns, 0, sizeof turns);
    turns.threads = PD_MAX(threads, 1u);
    pd_parallel(threads, count, take, &turns);
    for (size_t i = 0; i < TURNS; i++)
        wrong += atomic_load(&turns.taken[i]) != (i < count);
    CHECK_U64(wrong, 0);
    CHECK_U64(atomic_load(&turns.strangers), 0);
}

int main(void)
{
    static const unsigned threads[] = { 0, 1, 2, 8, PD_PARALLEL_MAX, 1000 };
    static const size_t counts[] = { 0, 1, 2, 63, TURNS };
    for (size_t t = 0; t < PD_LENGTH(threads); t++)
        for (size_t c = 0; c < PD_LENGTH(counts); c++)
            check(threads[t], counts[c]);
    return test_done();
}
