/* SPDX-License-Identifier: MIT */
/* The queue of runs against a plain simulation of perf's sorted list. */
#include "order/queue.h"
#include "test.h"

/* perf's list: each entry is inserted behind its equals. */
struct list {
    struct naive {
        uint64_t time, serial;
    } entries[4096];
    size_t count;
    uint64_t next_flush, max_timestamp, last_flush, late;
};

static void list_push(struct list *list, uint64_t time, uint64_t serial)
{
    list->late += time < list->last_flush;
    size_t at = list->count;
    while (at && list->entries[at - 1].time > time) {
        list->entries[at] = list->entries[at - 1];
        at--;
    }
    list->entries[at] = (struct naive){ time, serial };
    if (at == list->count)
        list->max_timestamp = time;
    list->count++;
}

/* The serials delivered, in order. */
static size_t list_flush(struct list *list, bool final, uint64_t *out)
{
    size_t got = 0;
    if (!list->count)
        return 0;
    if (final)
        list->next_flush = UINT64_MAX;
    while (got < list->count && list->next_flush && list->entries[got].time <= list->next_flush) {
        list->last_flush = list->entries[got].time;
        out[got] = list->entries[got].serial;
        got++;
    }
    memmove(list->entries, list->entries + got, (list->count - got) * sizeof *list->entries);
    list->count -= got;
    if (!final)
        list->next_flush = list->max_timestamp;
    return got;
}

static size_t queue_flush(struct pd_queue *queue, bool final, uint64_t *out)
{
    size_t got = 0;
    const struct pd_queue_entry *entry;
    if (pd_queue_empty(queue))
        return 0;
    CHECK(pd_queue_flush(queue, final));
    while ((entry = pd_queue_pop(queue)))
        out[got++] = entry->offset;
    return got;
}

static void queue_push(struct pd_queue *queue, uint64_t time, uint64_t serial)
{
    struct pd_queue_entry *entry = pd_queue_push(queue, time);
    CHECK(entry != NULL);
    entry->data = NULL;
    entry->offset = serial;
}

static uint64_t seed = 88172645463325252u;

static uint64_t draw(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed % below;
}

static uint64_t late_here;

#define UNWANTED (UINT64_C(1) << 63)

static void push_both(struct list *list, struct pd_queue *queue, uint64_t time, uint64_t *serial,
                      bool wanted)
{
    late_here += pd_queue_is_late(queue, time);
    list_push(list, time, wanted ? *serial : UNWANTED);
    if (wanted)
        queue_push(queue, time, *serial);
    else
        pd_queue_push_ghost(queue, time);
    ++*serial;
}

static void flush_both(struct list *list, struct pd_queue *queue, bool final)
{
    static uint64_t expected[4096], actual[4096];
    size_t all = list_flush(list, final, expected), got = queue_flush(queue, final, actual);
    size_t want = 0;
    for (size_t i = 0; i < all; i++)
        if (expected[i] != UNWANTED)
            expected[want++] = expected[i];
    CHECK_U64(got, want);
    CHECK(got == want && !memcmp(expected, actual, got * sizeof *expected));
}

/* Buffers of several CPUs, each nearly in order, with equal times, jumps and late ones. `unwanted`
 * and `late` of a hundred are so. */
static void test_random(unsigned cpus, uint64_t spread, uint64_t late, uint64_t unwanted,
                        unsigned rounds)
{
    static struct list list;
    struct pd_queue queue = { 0 };
    uint64_t serial = 0, now = 100;
    list = (struct list){ 0 };
    late_here = 0;
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned cpu = 0; cpu < cpus; cpu++) {
            uint64_t time = now + draw(spread);
            for (uint64_t n = draw(20); n-- && list.count < 4000;) {
                uint64_t back = draw(100) < late ? draw(time) : 0;
                push_both(&list, &queue, time - back ? time - back : 1, &serial,
                          !unwanted || draw(100) >= unwanted);
                time += draw(4) ? draw(spread) : 0;
            }
        }
        now += draw(spread * 20);
        if (draw(8))
            flush_both(&list, &queue, false);
    }
    flush_both(&list, &queue, true);
    CHECK_U64(late_here, list.late);
    CHECK(pd_queue_empty(&queue) || queue.ghosts);
    CHECK_U64(queue.runs.count, 0);
    pd_queue_free(&queue);
}

/* 100 300 R 200 500 R 250 600 R 400 700: 100 200 300 | 250 500 | 400 600 700, two of them late. */
static void test_worked_example(void)
{
    static const uint64_t input[] = { 100, 300, 0, 200, 500, 0, 250, 600, 0, 400, 700 };
    static const uint64_t output[] = { 100, 200, 300, 250, 500, 400, 600, 700 };
    struct pd_queue queue = { 0 };
    uint64_t got[16];
    size_t count = 0, late = 0;
    for (size_t i = 0; i < PD_LENGTH(input); i++) {
        if (input[i]) {
            late += pd_queue_is_late(&queue, input[i]);
            queue_push(&queue, input[i], input[i]);
        } else {
            count += queue_flush(&queue, false, got + count);
        }
    }
    CHECK_U64(count, 5);
    count += queue_flush(&queue, true, got + count);
    CHECK_U64(count, PD_LENGTH(output));
    CHECK(!memcmp(got, output, sizeof output));
    CHECK_U64(late, 2);
    pd_queue_free(&queue);
}

static void test_many_runs(void)
{
    struct pd_queue queue = { 0 };
    uint64_t *got = calloc(20000, sizeof *got);
    for (uint64_t i = 0; i < 20000; i++)
        queue_push(&queue, 20000 - i / 2, i);
    CHECK_U64(queue_flush(&queue, false, got), 0);
    CHECK_U64(queue_flush(&queue, false, got), 20000);
    bool ok = true;
    for (uint64_t i = 0; i < 20000; i += 2)
        ok &= got[i] == 19998 - i && got[i + 1] == 19999 - i;
    CHECK(ok);
    free(got);
    pd_queue_free(&queue);
}

int main(void)
{
    test_worked_example();
    test_many_runs();
    for (unsigned i = 0; i < 40; i++) {
        test_random(1 + i % 9, 1 + i * 7 % 50, 0, 0, 60);
        test_random(1 + i % 5, 1 + i % 3, i % 30, 0, 60);
        test_random(2, 1000, 100, 0, 20);
        test_random(1 + i % 9, 1 + i * 7 % 50, 0, 30 + i, 60);
        test_random(1 + i % 5, 1 + i % 3, i % 30, 20 + i * 2, 60);
        test_random(2, 1000, 100, 95, 20);
    }
    return test_done();
}
