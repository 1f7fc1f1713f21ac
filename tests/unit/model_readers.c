/* SPDX-License-Identifier: MIT */
/* One writer, two readers, no locks: made for the thread sanitizer. Readers check that what they
 * see at a number does not depend on how far the writer is. */
#include "build_record.h"
#include "model/model.h"
#include "test.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { READERS = 2, ROUNDS = 4000, BEHIND = 64, OTHER_TID = 1000000 };

static struct pd_timeline *timeline;
/* What the writer hands out: number, thread, and which of two maps shows at 0x5000. */
static struct fact {
    uint64_t number;
    struct pd_thread *thread;
    char name[16];
    uint32_t file;
} facts[ROUNDS];
static _Atomic uint32_t published, taken[READERS], wrong;

static void check_fact(const struct fact *fact)
{
    const struct pd_map *map = pd_thread_map(fact->thread, fact->number, 0x5000);
    const char *name = pd_comm_text(pd_thread_comm(fact->thread, fact->number), fact->number);
    bool ok = map && map->tid == OTHER_TID + fact->file && strcmp(name, fact->name) == 0;
    ok = ok && pd_thread_pid(fact->thread, fact->number) == fact->thread->tid;
    ok = ok && pd_thread_maps_stamp(fact->thread, fact->number) != 0;
    ok = ok && pd_timeline_kernel_map(timeline, fact->number, 0x1000) != NULL;
    ok = ok && pd_timeline_cgroup(timeline, fact->number, 1) != NULL;
    if (!ok)
        atomic_fetch_add(&wrong, 1);
}

static void *read_facts(void *data)
{
    _Atomic uint32_t *own = data;
    for (uint32_t i = 0; i < ROUNDS; i++) {
        while (atomic_load(&published) <= i)
            sched_yield();
        check_fact(&facts[i]);
        atomic_store(own, i);
    }
    return NULL;
}

static uint64_t number;

static void apply(struct built record)
{
    if (pd_timeline_apply(timeline, NULL, record.bytes, record.size, ++number) < 0)
        atomic_fetch_add(&wrong, 1);
}

static uint32_t slowest(void)
{
    uint32_t least = ROUNDS;
    for (int i = 0; i < READERS; i++)
        least = PD_MIN(least, atomic_load(&taken[i]));
    return least;
}

static void write_fact(uint32_t i)
{
    struct fact *fact = &facts[i];
    uint32_t tid = 100 + i % 4;
    if (i % 5 == 0)
        apply(build_task(PD_RECORD_FORK, 0, tid, 1, tid, 1));
    apply(build_mmap(PD_CPUMODE_USER, tid, OTHER_TID + i, 0x4000 + i % 3 * 0x800, 0x2000, 0,
                     i % 7 ? "/lib/a" : "//anon"));
    if (i % 3 == 0)
        apply(build_ksymbol(0x9000000 + i * 16, 16, 1, 0, "bpf"));
    snprintf(fact->name, sizeof fact->name, "c%u", i % 50);
    apply(build_comm(0, tid, tid, fact->name));
    fact->file = i;
    fact->number = ++number;
    fact->thread = pd_timeline_touch(timeline, tid, tid, number);
    atomic_store(&published, i + 1);
    while (slowest() + BEHIND < i)
        sched_yield();
    if (i % 16 == 0 && slowest())
        pd_timeline_retire(timeline, facts[slowest()].number);
}

int main(void)
{
    struct pd_context context;
    pd_context_init(&context);
    timeline = pd_timeline_new(&context, NULL, false);
    apply(
        build_mmap(PD_CPUMODE_KERNEL, UINT32_MAX, 0, 0x1000, 0x1000, 1, "[kernel.kallsyms]_text"));
    apply(build_cgroup(1, "/"));
    pthread_t readers[READERS];
    for (int i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, read_facts, &taken[i]);
    for (uint32_t i = 0; i < ROUNDS; i++)
        write_fact(i);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    CHECK_U64(atomic_load(&wrong), 0);
    pd_timeline_free(timeline);
    pd_context_fini(&context);
    return test_done();
}
