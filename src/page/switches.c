/* SPDX-License-Identifier: MIT */
/* Context switches without end -> those of the longest runs. */
#include "page/switches.h"
#include <stdlib.h>

enum { LENGTHS = 65 }; /* of runs: how many bits they have */

#define NO_PARTNER UINT64_MAX

static unsigned length_of(uint64_t time)
{
    return time ? 64 - (unsigned)__builtin_clzll(time) : 0;
}

/* Calls `found` with the numbers of each run's switches, in the order in which runs end. `came` has
 * room for a number of each thread. */
static void each_run(const struct perfdata_profile_switch *switches, uint64_t count, uint64_t *came,
                     uint32_t threads,
                     void (*found)(void *data, uint64_t from, uint64_t to, unsigned length),
                     void *data)
{
    for (uint32_t thread = 0; thread < threads; thread++)
        came[thread] = NO_PARTNER;
    for (uint64_t i = 0; i < count; i++) {
        const struct perfdata_profile_switch *row = &switches[i];
        if (row->thread >= threads)
            continue;
        uint64_t *from = &came[row->thread];
        if (!(row->flags & PERFDATA_SWITCH_OUT)) {
            *from = i;
        } else if (*from != NO_PARTNER) {
            uint64_t began = switches[*from].time;
            found(data, *from, i, length_of(row->time > began ? row->time - began : 0));
            *from = NO_PARTNER;
        }
    }
}

static void count_length(void *data, uint64_t from, uint64_t to, unsigned length)
{
    (void)from, (void)to;
    ((uint64_t *)data)[length]++;
}

struct leaving {
    struct pd_page_thinned *out;
    unsigned below; /* lengths below this one go */
};

static void leave_out(void *data, uint64_t from, uint64_t to, unsigned length)
{
    const struct leaving *leaving = data;
    if (length >= leaving->below)
        return;
    leaving->out->left_out[from] = leaving->out->left_out[to] = true;
    leaving->out->kept -= 2;
}

bool pd_page_switches_thin(const struct perfdata_profile_switch *switches, uint64_t count,
                           uint32_t threads, uint64_t most, struct pd_page_thinned *out)
{
    *out = (struct pd_page_thinned){ .kept = count };
    if (count <= most)
        return true;
    uint64_t runs[LENGTHS] = { 0 };
    uint64_t *came = calloc((size_t)threads + 1, sizeof *came);
    out->left_out = calloc(count, sizeof *out->left_out);
    if (!came || !out->left_out) {
        free(came);
        return false;
    }
    each_run(switches, count, came, threads, count_length, runs);
    struct leaving leaving = { .out = out };
    for (uint64_t kept = count; kept > most && leaving.below < LENGTHS; leaving.below++)
        kept -= 2 * runs[leaving.below];
    each_run(switches, count, came, threads, leave_out, &leaving);
    out->shorter_than = leaving.below < LENGTHS ? 1ULL << (leaving.below - 1) : UINT64_MAX;
    /* What has no partner, beyond the room: the latest. */
    for (uint64_t i = count; i-- > 0 && out->kept > most;)
        if (!out->left_out[i]) {
            out->left_out[i] = true;
            out->kept--;
        }
    free(came);
    return true;
}
