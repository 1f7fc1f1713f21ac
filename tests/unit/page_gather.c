/* SPDX-License-Identifier: MIT */
/* Proves: rows are packed and unpacked as they were; samples beyond the room are joined within
 * pieces of time, sums stay exact, and times stay told apart, also where nearly all samples differ
 * in more than their time. */
#include "page/gather.h"
#include "test.h"

enum { COUNT = 40000, ROOM = 8192 };

static uint64_t times[COUNT], weights[COUNT];
static uint32_t zeros[COUNT], stacks[COUNT];

static perfdata_page_samples *gather(uint32_t stack_count)
{
    perfdata_page_samples *samples = perfdata_page_samples_new(ROOM);
    struct perfdata_samples from = { .struct_size = sizeof from,
                                     .count = COUNT,
                                     .time = times,
                                     .weight = weights,
                                     .event = zeros,
                                     .thread = zeros,
                                     .stack = stacks,
                                     .cpu = zeros };
    for (uint32_t i = 0; i < COUNT; i++) {
        times[i] = 1000000 + (uint64_t)i * 1000;
        weights[i] = i;
        stacks[i] = i % stack_count;
    }
    CHECK(!perfdata_page_samples_take(samples, NULL, &from));
    return samples;
}

static void check_sums(perfdata_page_samples *samples)
{
    uint64_t count = 0, weight = 0, rows = 0;
    CHECK(pd_page_samples_end(samples, UINT64_MAX));
    struct pd_page_unpack from = { .packed = &samples->packed };
    for (; pd_page_unpack(&from); rows++) {
        count += from.row.count;
        weight += from.row.weight;
    }
    CHECK_U64(rows, samples->packed.count);
    CHECK_U64(count, COUNT);
    CHECK_U64(weight, (uint64_t)COUNT * (COUNT - 1) / 2);
}

static size_t times_told_apart(const perfdata_page_samples *samples)
{
    uint64_t piece = samples->piece ? samples->piece : 1;
    return (size_t)((times[COUNT - 1] - times[0]) / piece);
}

static void few_stacks(void)
{
    perfdata_page_samples *samples = gather(2);
    check_sums(samples);
    CHECK(samples->packed.count < 2 * ROOM && samples->most == ROOM);
    perfdata_page_samples_free(samples);
}

static void many_stacks(void)
{
    perfdata_page_samples *samples = gather(COUNT);
    check_sums(samples);
    CHECK_U64(samples->packed.count, COUNT); /* nothing can be joined */
    CHECK(times_told_apart(samples) >= 512);
    CHECK(samples->most >= COUNT / 2);
    perfdata_page_samples_free(samples);
}

/* Every row comes back as it was, over the borders of chunks, whatever its numbers are. */
static void packed_rows(void)
{
    static const uint64_t odd[] = { 0,          1,         127,        128,      UINT32_MAX,
                                    UINT64_MAX, INT64_MAX, 1ULL << 63, 300000000 };
    enum { ODD = sizeof odd / sizeof odd[0], ROWS = 50000 };
    struct pd_page_packed packed = { 0 };
    for (unsigned pass = 0; pass < 2; pass++) {
        struct pd_page_unpack from = { .packed = &packed };
        for (unsigned i = 0; i < ROWS; i++) {
            struct pd_page_row row = { .time = odd[i % ODD],
                                       .weight = odd[i / 2 % ODD],
                                       .count = i,
                                       .event = (uint32_t)odd[i / 3 % ODD],
                                       .thread = (uint32_t)odd[i / 5 % ODD],
                                       .stack = (uint32_t)odd[i / 7 % ODD],
                                       .cpu = (uint32_t)odd[i / 11 % ODD] };
            if (!pass)
                CHECK(pd_page_pack(&packed, &row));
            else
                CHECK(pd_page_unpack(&from) && !memcmp(&row, &from.row, sizeof row));
        }
        CHECK(!pass || !pd_page_unpack(&from));
    }
    CHECK(packed.chunks.count > 1);
    pd_page_packed_free(&packed);
}

/* Rows without a time, and those that come out of order, are all there. */
static void odd_times(void)
{
    perfdata_page_samples *samples = perfdata_page_samples_new(1024);
    struct perfdata_samples from = { .struct_size = sizeof from,
                                     .count = COUNT,
                                     .time = times,
                                     .weight = weights,
                                     .event = zeros,
                                     .thread = zeros,
                                     .stack = stacks,
                                     .cpu = zeros };
    for (uint32_t i = 0; i < COUNT; i++) {
        times[i] = i % 3 ? 1000000 + (uint64_t)(i % 7 ? i : COUNT - i) * 1000 : UINT64_MAX;
        weights[i] = i;
        stacks[i] = i % 5;
    }
    CHECK(!perfdata_page_samples_take(samples, NULL, &from));
    check_sums(samples);
    uint64_t timeless = 0;
    struct pd_page_unpack rows = { .packed = &samples->packed };
    while (pd_page_unpack(&rows))
        timeless += rows.row.time == UINT64_MAX ? rows.row.count : 0;
    CHECK_U64(timeless, (COUNT + 2) / 3);
    perfdata_page_samples_free(samples);
}

int main(void)
{
    packed_rows();
    odd_times();
    few_stacks();
    many_stacks();
    return test_done();
}
