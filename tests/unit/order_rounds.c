/* SPDX-License-Identifier: MIT */
/* Whole recordings through the order: rounds, records without time, user records, stable ties,
 * chunks given back. */
#include "make_recording.h"
#include "order/order.h"
#include "test.h"

static void on_issue(void *data, const struct perfdata_issue *issue)
{
    if (issue->kind == PERFDATA_ISSUE_OUT_OF_ORDER)
        ++*(unsigned *)data;
}

/* What came out, as text: the time of a kernel record (with its tid behind a colon when it is not
 * 1), "R" a round, "uTYPE" another user record. */
static char text[65536];
static struct pd_order_stats stats;
static unsigned issues;
static uint64_t memory; /* the limit; 0: none, and records lie where they were read */

static void run(struct maker *m, enum pd_order_mode mode)
{
    struct pd_recording recording = { 0 };
    struct pd_source *source;
    struct pd_order *order;
    struct pd_delivered record;
    size_t at = 0;
    uint64_t number = 0;
    int got;
    maker_end(m);
    issues = 0;
    pd_context_init(&recording.context);
    recording.context.on_issue = on_issue;
    recording.context.issue_data = &issues;
    recording.context.limits.memory = memory;
    CHECK(pd_source_open_memory(&recording.context, m->bytes, m->size, &source) == 0);
    CHECK(pd_recording_open(source, "", &recording) == 0);
    CHECK(pd_order_open(&recording, mode, &order) == 0);
    while ((got = pd_order_next(order, &record)) > 0) {
        CHECK_U64(record.number, ++number);
        CHECK(record.chunk != NULL);
        struct pd_record_header header = pd_record_header(record.data, false);
        CHECK(header.type == record.type && header.size == record.size);
        CHECK(record.data >= record.chunk->bytes &&
              record.data + record.size <= record.chunk->bytes + record.chunk->size);
        struct pd_identity identity;
        pd_record_identity(record.event, record.data, record.size, record.type, &identity);
        if (record.type == 68)
            at += (size_t)snprintf(text + at, sizeof text - at, "R ");
        else if (record.type >= 64)
            at += (size_t)snprintf(text + at, sizeof text - at, "u%u ", record.type);
        else if (identity.tid == 1)
            at += (size_t)snprintf(text + at, sizeof text - at, "%" PRId64 " ",
                                   (int64_t)identity.time);
        else
            at += (size_t)snprintf(text + at, sizeof text - at, "%" PRId64 ":%u ",
                                   (int64_t)identity.time, identity.tid);
    }
    CHECK_U64(got, 0);
    CHECK(pd_order_next(order, &record) == 0);
    stats = *pd_order_statistics(order);
    pd_order_close(order);
    pd_recording_close(&recording);
    text[at ? at - 1 : 0] = 0;
    maker_free(m);
}

/* Positive: a sample at that time; 0: a round; -1: a sample without time; -2: one whose time is all
 * ones. */
static struct maker samples(const int64_t *times, size_t count)
{
    struct maker m = maker_begin();
    for (size_t i = 0; i < count; i++) {
        if (times[i] > 0)
            maker_sample(&m, (uint64_t)times[i], 1, 1, 0x400000);
        else if (times[i] == 0)
            maker_round(&m);
        else
            maker_sample(&m, times[i] == -1 ? 0 : UINT64_MAX, 1, 1, 0x400000);
    }
    return m;
}
#define SAMPLES(...)                                                                               \
    samples((const int64_t[]){ __VA_ARGS__ }, sizeof(int64_t[]){ __VA_ARGS__ } / sizeof(int64_t))

static void test_rounds(void)
{
    struct maker m = SAMPLES(100, 300, 0, 200, 500, 0, 250, 600, 0, 400, 700);
    run(&m, PD_ORDER_DELIVERY);
    CHECK_STR(text, "R R 100 200 300 R 250 500 400 600 700");
    CHECK_U64(stats.late, 2);
    CHECK_U64(issues, 2);
    CHECK_U64(stats.rounds, 3);
    CHECK_U64(stats.records, 11);

    m = SAMPLES(100, 300, 0, 200, 500, 0, 250, 600, 0, 400, 700);
    run(&m, PD_ORDER_FILE);
    CHECK_STR(text, "100 300 R 200 500 R 250 600 R 400 700");
    CHECK_U64(issues, 0);

    /* A round with nothing queued changes nothing; the greatest time is that since the queue was
     * empty. */
    m = SAMPLES(0, 0, 100, 0, 0, 0, 50, 0, 60, 0, 70);
    run(&m, PD_ORDER_DELIVERY);
    CHECK_STR(text, "R R R R 100 R R 50 R 60 70");
    CHECK_U64(stats.late, 1);
}

static void test_without_time(void)
{
    struct maker m = SAMPLES(300, -1, 200, -2, 100);
    run(&m, PD_ORDER_DELIVERY);
    CHECK_STR(text, "0 -1 100 200 300");
    CHECK_U64(stats.without_time, 2);
    CHECK_U64(stats.late, 0);

    m = maker_begin();
    maker_sample(&m, 9, 1, 1, 0);
    maker_user(&m, 82);
    maker_comm(&m, 5, 1, 2, "b");
    maker_comm(&m, 0, 1, 3, "a");
    run(&m, PD_ORDER_DELIVERY);
    CHECK_STR(text, "u82 0:3 5:2 9");
}

static void test_ties(void)
{
    struct maker m = maker_begin();
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t i = 1; i <= 3; i++)
            maker_sample(&m, 10, 1, 10 * round + i, 0);
        maker_sample(&m, 5 + round, 1, 1, 0);
        maker_round(&m);
    }
    run(&m, PD_ORDER_DELIVERY);
    CHECK_STR(text, "R R 5 6 10 10:2 10:3 10:11 10:12 10:13 R 7 10:21 10:22 10:23");
}

/* ---- by chance, against the rules as they are written down ---- */

struct queued {
    uint64_t time;
    uint32_t tid;
};

static int earlier(const void *left, const void *right)
{
    const struct queued *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->tid < b->tid ? -1 : a->tid > b->tid; /* tids rise as records come */
}

enum { MOST = 400 };
struct rules {
    struct queued queued[MOST];
    size_t count, at; /* `at`: of the text */
    uint64_t greatest, next_flush, last, late;
    char text[sizeof text];
};

static void flush(struct rules *rules, uint64_t limit)
{
    qsort(rules->queued, rules->count, sizeof *rules->queued, earlier);
    size_t out = 0;
    for (; out < rules->count && rules->queued[out].time <= limit; out++) {
        const struct queued *entry = &rules->queued[out];
        rules->last = entry->time;
        rules->at += (size_t)snprintf(rules->text + rules->at, sizeof rules->text - rules->at,
                                      "%" PRIu64 ":%u ", entry->time, entry->tid);
    }
    rules->count -= out;
    memmove(rules->queued, rules->queued + out, rules->count * sizeof *rules->queued);
    if (rules->count)
        rules->next_flush = rules->greatest;
}

static void test_random(uint32_t random, unsigned spread)
{
    static struct rules rules;
    struct maker m = maker_begin();
    uint64_t base = 1000;
    memset(&rules, 0, sizeof rules);
    for (uint32_t i = 2; i < MOST; i++) {
        random = random * 1103515245 + 12345;
        if (random >> 16 & 15 || !rules.count) {
            const uint64_t time = base + (random >> 20) % spread;
            base += random >> 13 & 7;
            if (random >> 12 & 1)
                maker_sample(&m, time, 1, i, 0x400000);
            else
                maker_comm(&m, time, 1, i, "name");
            rules.greatest = rules.count ? PD_MAX(rules.greatest, time) : time;
            rules.late += time < rules.last;
            rules.queued[rules.count++] = (struct queued){ time, i };
        } else {
            maker_round(&m);
            rules.at += (size_t)snprintf(rules.text + rules.at, sizeof rules.text - rules.at, "R ");
            const bool left = rules.count;
            const uint64_t greatest = rules.greatest;
            flush(&rules, rules.next_flush);
            if (left)
                rules.next_flush = greatest;
        }
    }
    flush(&rules, UINT64_MAX);
    rules.text[rules.at ? rules.at - 1 : 0] = 0;
    run(&m, PD_ORDER_DELIVERY);
    CHECK_STR(text, rules.text);
    CHECK_U64(stats.late, rules.late);
}

/* More than any chunk holds, all of it queued until the end. */
static void test_many_chunks(void)
{
    struct maker m = maker_begin();
    for (uint64_t i = 0; i < 100000; i++)
        maker_sample(&m, 200000 - i, 1, 1, i);
    maker_end(&m);
    FILE *file = tmpfile();
    CHECK(file && fwrite(m.bytes, 1, m.size, file) == m.size && !fflush(file));
    struct pd_recording recording = { 0 };
    struct pd_source *source;
    struct pd_order *order;
    struct pd_delivered record;
    uint64_t count = 0, wrong = 0;
    pd_context_init(&recording.context);
    recording.context.limits.memory = memory ? 100000 : 0; /* some hundred pieces */
    CHECK(pd_source_open_fd(&recording.context, fileno(file), &source) == 0);
    CHECK(pd_recording_open(source, "", &recording) == 0);
    CHECK(pd_order_open(&recording, PD_ORDER_DELIVERY, &order) == 0);
    while (pd_order_next(order, &record) > 0) {
        wrong += pd_load64(record.data + 16, false) != 99999 - count;
        count++;
    }
    CHECK_U64(count, 100000);
    CHECK_U64(wrong, 0);
    pd_order_close(order);
    CHECK(pd_order_open(&recording, PD_ORDER_DELIVERY, &order) == 0);
    CHECK(pd_order_next(order, &record) > 0);
    pd_order_close(order); /* with all still queued */
    pd_recording_close(&recording);
    fclose(file);
    maker_free(&m);
}

int main(void)
{
    for (memory = 0; memory < 1000;
         memory = 4 * memory + 1) { /* from 1 on records wait on the disk */
        test_rounds();
        test_without_time();
        test_ties();
        test_many_chunks();
        for (uint32_t i = 0; i < 30; i++)
            test_random(i, 1 + i * i * 3);
    }
    return test_done();
}
