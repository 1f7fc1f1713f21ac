/* SPDX-License-Identifier: MIT */
/* Proves: context switches beyond the room go as whole runs, the shortest first; what is told stays
 * in pairs, also where partners are missing or times run backward; a room for all leaves none out.
 */
#include "page/switches.h"
#include "test.h"
#include <stdlib.h>

enum { RUNS = 1000, COUNT = 2 * RUNS, THREADS = 3 };

static struct perfdata_profile_switch switches[COUNT];

/* Run i is of thread i % THREADS and takes 2^(i % 10) ns. */
static void fill(void)
{
    uint64_t time = 1000;
    for (uint32_t i = 0; i < RUNS; i++) {
        switches[2 * i] = (struct perfdata_profile_switch){ .time = time, .thread = i % THREADS };
        time += 1ULL << i % 10;
        switches[2 * i + 1] = (struct perfdata_profile_switch){ .time = time,
                                                                .thread = i % THREADS,
                                                                .flags = PERFDATA_SWITCH_OUT };
        time += 5;
    }
}

static uint64_t count_kept(const struct pd_page_thinned *thinned, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        kept += !thinned->left_out || !thinned->left_out[i];
    return kept;
}

static void room_for_all(void)
{
    struct pd_page_thinned thinned;
    fill();
    CHECK(pd_page_switches_thin(switches, COUNT, THREADS, COUNT, &thinned));
    CHECK(!thinned.left_out);
    CHECK_U64(thinned.kept, COUNT);
}

static void shortest_go(void)
{
    struct pd_page_thinned thinned;
    fill();
    CHECK(pd_page_switches_thin(switches, COUNT, THREADS, COUNT / 2, &thinned));
    CHECK_U64(thinned.kept, COUNT / 2); /* five of ten lengths */
    CHECK_U64(count_kept(&thinned, COUNT), thinned.kept);
    CHECK_U64(thinned.shorter_than, 32);
    for (uint32_t i = 0; i < RUNS; i++) {
        CHECK(thinned.left_out[2 * i] == thinned.left_out[2 * i + 1]);
        CHECK(thinned.left_out[2 * i] == (1ULL << i % 10 < thinned.shorter_than));
    }
    free(thinned.left_out);
}

/* Nothing but comings, of threads known and unknown; then nothing but leavings. */
static void no_partners(void)
{
    for (uint32_t flags = 0; flags <= PERFDATA_SWITCH_OUT; flags++) {
        struct pd_page_thinned thinned;
        for (uint32_t i = 0; i < COUNT; i++)
            switches[i] = (struct perfdata_profile_switch){ .time = COUNT - i,
                                                            .thread = i % (THREADS + 1),
                                                            .flags = flags };
        CHECK(pd_page_switches_thin(switches, COUNT, THREADS, 100, &thinned));
        CHECK_U64(thinned.kept, 100);
        CHECK_U64(count_kept(&thinned, COUNT), 100);
        CHECK(!thinned.left_out[0] && thinned.left_out[COUNT - 1]);
        free(thinned.left_out);
    }
}

/* A run that ends before it begins is a short one. */
static void backward(void)
{
    struct pd_page_thinned thinned;
    fill();
    switches[19].time = 0; /* of the longest length */
    CHECK(pd_page_switches_thin(switches, COUNT, THREADS, COUNT - 2, &thinned));
    CHECK(thinned.left_out[18] && thinned.left_out[19]);
    CHECK_U64(thinned.kept, COUNT - 2);
    free(thinned.left_out);
}

int main(void)
{
    room_for_all();
    shortest_go();
    no_partners();
    backward();
    return test_done();
}
