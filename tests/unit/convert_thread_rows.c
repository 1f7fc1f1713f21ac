/* SPDX-License-Identifier: MIT */
/* Proves: rows come back by thread and event, each group in the order in which its rows came,
 * whether all fit into memory or runs of any length wait in the temporary file; columns that are
 * not read to their end do not disturb the next group; no rows are no groups. */
#include "convert/thread_rows.h"
#include "test.h"
#include <stdlib.h>

enum { COUNT = 20000, THREADS = 97, EVENTS = 3 };

static struct pd_thread_row given[COUNT];

/* A few threads have most of the rows, and one group is longer than a piece of the file. */
static void fill(void)
{
    uint64_t random = 7;
    for (uint32_t i = 0; i < COUNT; i++) {
        random = random * 6364136223846793005ULL + 1442695040888963407ULL;
        uint32_t thread = random >> 63 ? 5 : (uint32_t)(random >> 33) % THREADS;
        given[i] = (struct pd_thread_row){ .time = 1000ULL * i,
                                           .weight = random >> 20,
                                           .stack = i ^ 0x5555U,
                                           .thread = thread,
                                           .event = (uint32_t)(random >> 45) % EVENTS };
    }
}

static uint64_t value_of(const struct pd_thread_row *row, enum pd_thread_column column)
{
    return column == PD_THREAD_STACK    ? row->stack
           : column == PD_THREAD_WEIGHT ? row->weight
                                        : row->time;
}

/* Whether a column's first `most` values are those of the group's rows. */
static bool same_column(struct pd_thread_rows *rows, const struct pd_thread_group *group,
                        enum pd_thread_column column, uint64_t most)
{
    uint64_t met = 0, at = 0;
    const void *values;
    size_t count;
    int got = 1;
    while (met < most && (got = pd_thread_rows_values(rows, column, &values, &count)) > 0) {
        for (size_t i = 0; i < count; i++, at++, met++) {
            uint64_t value = column == PD_THREAD_STACK ? ((const uint32_t *)values)[i]
                                                       : ((const uint64_t *)values)[i];
            while (at < COUNT &&
                   (given[at].thread != group->thread || given[at].event != group->event))
                at++;
            if (at == COUNT || value != value_of(&given[at], column))
                return false;
        }
    }
    return got >= 0 && met >= PD_MIN(most, group->count);
}

static void check(size_t run)
{
    struct pd_thread_rows *rows = pd_thread_rows_new(run);
    uint64_t all = 0, before = 0;
    CHECK(rows);
    for (size_t i = 0; i < COUNT; i++)
        CHECK(pd_thread_rows_add(rows, &given[i]));
    CHECK(pd_thread_rows_end(rows) == 0);
    struct pd_thread_group group;
    while (pd_thread_rows_next(rows, &group) > 0) {
        uint64_t key = (uint64_t)group.thread << 32 | group.event;
        CHECK(!all || key > before);
        before = key;
        all += group.count;
        CHECK(same_column(rows, &group, PD_THREAD_STACK, UINT64_MAX));
        /* of every other group a column is read in part, and one not at all */
        bool rest = group.thread % 2;
        CHECK(same_column(rows, &group, PD_THREAD_TIME, rest ? UINT64_MAX : group.count / 2));
        if (rest)
            CHECK(same_column(rows, &group, PD_THREAD_WEIGHT, UINT64_MAX));
        CHECK(same_column(rows, &group, PD_THREAD_TIME_AGAIN, UINT64_MAX));
    }
    CHECK_U64(all, COUNT);
    CHECK(pd_thread_rows_next(rows, &group) == 0);
    pd_thread_rows_free(rows);
}

static void check_none(void)
{
    struct pd_thread_group group;
    struct pd_thread_rows *rows = pd_thread_rows_new(8);
    CHECK(rows);
    CHECK(pd_thread_rows_end(rows) == 0);
    CHECK(pd_thread_rows_next(rows, &group) == 0);
    pd_thread_rows_free(rows);
    pd_thread_rows_free(NULL);
}

int main(void)
{
    fill();
    check(50);
    check(1000);
    check(COUNT / 3);
    check(COUNT - 1);
    check(COUNT);
    check(COUNT + 1);
    check_none();
    return test_done();
}
