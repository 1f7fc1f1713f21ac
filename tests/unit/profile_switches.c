/* SPDX-License-Identifier: MIT */
/* Proves: context switches beyond the room go as whole runs, the shortest first; what is told stays
 * in pairs, also where partners are missing or times run backward; a room for all leaves none out.
 * A profile that has room for some keeps these while it is built, and says how many went. */
#include "profile/switches.h"
#include "profile/profile.h"
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

static uint64_t count_kept(const struct pd_thinned *thinned, uint64_t count)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; i < count; i++)
        kept += !thinned->left_out || !thinned->left_out[i];
    return kept;
}

static void room_for_all(void)
{
    struct pd_thinned thinned;
    fill();
    CHECK(pd_switches_thin(switches, COUNT, THREADS, COUNT, 0, &thinned));
    CHECK(!thinned.left_out);
    CHECK_U64(thinned.kept, COUNT);
}

static void shortest_go(void)
{
    struct pd_thinned thinned;
    fill();
    CHECK(pd_switches_thin(switches, COUNT, THREADS, COUNT / 2, 0, &thinned));
    CHECK_U64(thinned.kept, COUNT / 2); /* five of ten lengths */
    CHECK_U64(count_kept(&thinned, COUNT), thinned.kept);
    CHECK_U64(thinned.shorter_than, 17); /* 16 is the longest of those that go */
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
        struct pd_thinned thinned;
        for (uint32_t i = 0; i < COUNT; i++)
            switches[i] = (struct perfdata_profile_switch){ .time = COUNT - i,
                                                            .thread = i % (THREADS + 1),
                                                            .flags = flags };
        CHECK(pd_switches_thin(switches, COUNT, THREADS, 100, 0, &thinned));
        CHECK_U64(thinned.kept, 100);
        CHECK_U64(count_kept(&thinned, COUNT), 100);
        CHECK(!thinned.left_out[0] && thinned.left_out[COUNT - 1]);
        free(thinned.left_out);
    }
}

/* A run that ends before it begins is a short one. */
static void backward(void)
{
    struct pd_thinned thinned;
    fill();
    switches[19].time = 0; /* of the longest length */
    CHECK(pd_switches_thin(switches, COUNT, THREADS, COUNT - 2, 0, &thinned));
    CHECK(thinned.left_out[18] && thinned.left_out[19]);
    CHECK_U64(thinned.kept, COUNT - 2);
    free(thinned.left_out);
}

/* Where some went before, as short ones go now; where there is room they stay. */
static void as_before(void)
{
    struct pd_thinned thinned;
    fill();
    CHECK(pd_switches_thin(switches, COUNT, THREADS, COUNT - 2, 128, &thinned));
    CHECK_U64(thinned.kept, COUNT / 10 * 3); /* 128, 256, 512 */
    CHECK_U64(thinned.shorter_than, 128);
    free(thinned.left_out);
    CHECK(pd_switches_thin(switches, COUNT, THREADS, COUNT, 128, &thinned));
    CHECK(!thinned.left_out);
}

/* Runs of one length: as many as there is room for, all over the time, and again. */
static void all_equal(void)
{
    uint64_t count = COUNT, shorter_than = 0;
    for (uint32_t i = 0; i < COUNT; i++)
        switches[i] = (struct perfdata_profile_switch){ .time = 1000 * (i / 2) + i % 2 * 777,
                                                        .thread = i / 2 % THREADS,
                                                        .flags = i % 2 };
    for (uint64_t most = COUNT / 2; most > 20; most /= 4) {
        struct pd_thinned thinned;
        uint64_t halves[2] = { 0 }, kept = 0;
        CHECK(pd_switches_thin(switches, count, THREADS, most, shorter_than, &thinned));
        CHECK_U64(thinned.kept, most / 2 * 2);
        CHECK(thinned.shorter_than > 777 && thinned.shorter_than < 900);
        for (uint64_t i = 0; i < count; i++) {
            if (thinned.left_out[i])
                continue;
            halves[switches[i].time > 500 * RUNS]++;
            switches[kept++] = switches[i];
        }
        CHECK_U64(kept, thinned.kept);
        CHECK(halves[0] <= halves[1] + 4 && halves[1] <= halves[0] + 4);
        free(thinned.left_out);
        count = kept;
        shorter_than = thinned.shorter_than;
    }
}

static perfdata_profile *build(uint32_t most, uint32_t threads)
{
    struct perfdata_profile_options options = PERFDATA_PROFILE_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_profile *profile = NULL;
    char path[512];
    snprintf(path, sizeof path, "%s/tests/data/script/switch-events.data", getenv("SOURCE"));
    options.flags = PERFDATA_PROFILE_SWITCHES;
    options.max_switches = most;
    options.threads = threads;
    CHECK_U64((uint64_t)perfdata_recording_open(path, NULL, &recording), 0);
    CHECK_U64((uint64_t)perfdata_profile_build(recording, &options, &profile), 0);
    perfdata_recording_close(recording);
    return profile;
}

static void a_profile(void)
{
    uint64_t shorter_than;
    perfdata_profile *whole = build(0, 1);
    uint64_t all = perfdata_profile_switch_count(whole);
    CHECK_U64(all, 154);
    CHECK_U64(perfdata_profile_switches_left_out(whole, NULL), 0);
    for (uint32_t most = 1; most <= 200; most += 11) {
        perfdata_profile *some = build(most, 1), *same = build(most, 4);
        uint64_t left_out = perfdata_profile_switches_left_out(some, &shorter_than);
        uint64_t kept = perfdata_profile_switch_count(some), at = 0;
        CHECK(kept <= most);
        CHECK_U64(kept + left_out, all);
        CHECK((left_out == 0) == (most >= all));
        CHECK((shorter_than == 0) == (left_out == 0));
        CHECK_U64(perfdata_profile_switch_count(same), kept);
        for (uint64_t i = 0; i < kept; i++) {
            const struct perfdata_profile_switch *one = perfdata_profile_switch(some, i);
            const struct perfdata_profile_switch *other = perfdata_profile_switch(same, i);
            CHECK(one->time == other->time && one->thread == other->thread);
            while (at < all && (perfdata_profile_switch(whole, at)->time != one->time ||
                                perfdata_profile_switch(whole, at)->flags != one->flags))
                at++;
            CHECK(at++ < all); /* it is one of all, in their order */
        }
        perfdata_profile_free(some);
        perfdata_profile_free(same);
    }
    perfdata_profile_free(whole);
}

int main(void)
{
    room_for_all();
    shortest_go();
    no_partners();
    backward();
    as_before();
    all_equal();
    a_profile();
    return test_done();
}
