/* SPDX-License-Identifier: MIT */
/* Proves: samples beyond the room are joined within pieces of time, sums stay exact, and times stay
 * told apart, also where nearly all samples differ in more than their time. */
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

static void check_sums(const perfdata_page_samples *samples)
{
    uint64_t count = 0, weight = 0;
    for (size_t i = 0; i < samples->rows.count; i++) {
        count += samples->rows.data[i].count;
        weight += samples->rows.data[i].weight;
    }
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
    CHECK(samples->rows.count < 2 * ROOM && samples->most == ROOM);
    perfdata_page_samples_free(samples);
}

static void many_stacks(void)
{
    perfdata_page_samples *samples = gather(COUNT);
    check_sums(samples);
    CHECK_U64(samples->rows.count, COUNT); /* nothing can be joined */
    CHECK(times_told_apart(samples) >= 512);
    CHECK(samples->most >= COUNT / 2);
    perfdata_page_samples_free(samples);
}

int main(void)
{
    few_stacks();
    many_stacks();
    return test_done();
}
