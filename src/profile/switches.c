/* SPDX-License-Identifier: MIT */
/* More context switches than there is room for -> those of the longest runs. */
#include "profile/switches.h"
#include "profile/profile.h"
#include <stdlib.h>

/* Lengths of runs fall into classes: one for each length below PARTS, above that PARTS classes
 * between two powers of two. */
enum { PARTS = 16, LENGTHS = PARTS * 61 };

#define NO_PARTNER UINT64_MAX

static unsigned length_of(uint64_t time)
{
    if (time < PARTS)
        return (unsigned)time;
    unsigned power = 63 - (unsigned)__builtin_clzll(time);
    return (power - 3) * PARTS + (unsigned)(time >> (power - 4)) % PARTS;
}

/* The shortest time of a class; for the number after the last class, the longest time there is. */
static uint64_t shortest_of(unsigned length)
{
    if (length < PARTS)
        return length;
    return length < LENGTHS ? (uint64_t)(PARTS + length % PARTS) << (length / PARTS - 1)
                            : UINT64_MAX;
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
    struct pd_thinned *out;
    unsigned below;       /* lengths below this one go, */
    uint64_t room, count; /* but `room` of the `count` runs just below it stay, */
    uint64_t met;         /* of which `met` have been seen so far */
};

/* Spreads the runs that stay evenly over the recording. */
static bool has_room(struct leaving *leaving)
{
    uint64_t met = leaving->met++;
    return met * leaving->room / leaving->count != (met + 1) * leaving->room / leaving->count;
}

static void leave_out(void *data, uint64_t from, uint64_t to, unsigned length)
{
    struct leaving *leaving = data;
    if (length >= leaving->below || (length == leaving->below - 1 && has_room(leaving)))
        return;
    leaving->out->left_out[from] = leaving->out->left_out[to] = true;
    leaving->out->kept -= 2;
}

bool pd_switches_thin(const struct perfdata_profile_switch *switches, uint64_t count,
                      uint32_t threads, uint64_t most, uint64_t shorter_than,
                      struct pd_thinned *out)
{
    *out = (struct pd_thinned){ .kept = count };
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
    unsigned least = length_of(shorter_than);
    uint64_t kept = count;
    for (; leaving.below < LENGTHS && (kept > most || leaving.below < least); leaving.below++)
        kept -= 2 * runs[leaving.below];
    leaving.count = leaving.below ? runs[leaving.below - 1] : 0;
    leaving.room = PD_MIN(kept < most ? (most - kept) / 2 : 0, leaving.count);
    each_run(switches, count, came, threads, leave_out, &leaving);
    out->shorter_than = shortest_of(leaving.below);
    /* of switches without a partner, the latest go first */
    for (uint64_t i = count; i-- > 0 && out->kept > most;)
        if (!out->left_out[i]) {
            out->left_out[i] = true;
            out->kept--;
        }
    free(came);
    return true;
}

bool pd_profile_thin_switches(perfdata_profile *profile, uint64_t most)
{
    struct perfdata_profile_switch *switches = profile->switches.data;
    struct pd_thinned thinned;
    size_t count = profile->switches.count, kept = 0;
    bool ok = pd_switches_thin(switches, count, profile->threads.count, most,
                               profile->switches_shorter_than, &thinned);
    for (size_t i = 0; ok && thinned.left_out && i < count; i++)
        if (!thinned.left_out[i])
            switches[kept++] = switches[i];
    if (ok && thinned.left_out) {
        profile->switches.count = kept;
        profile->switches_left_out += count - kept;
        profile->switches_shorter_than = thinned.shorter_than;
    }
    free(thinned.left_out);
    return ok;
}
