/* SPDX-License-Identifier: MIT */
/* Context switches where there is no room for all. */
#ifndef PD_PROFILE_SWITCHES_H
#define PD_PROFILE_SWITCHES_H
#include <perfdata/profile.h>
#include <stdbool.h>

struct pd_thinned {
    bool *left_out;        /* by number of the switch; NULL: all are told */
    uint64_t kept;         /* how many are told */
    uint64_t shorter_than; /* ns: what the runs that are left out stay below; 0: there are none */
};

/* Chooses `most` of `count` switches at most, those of the longest runs: a run is a thread's coming
 * to a CPU and its leaving, and goes whole. Where some must go, runs go that are clearly shorter
 * than `shorter_than`, as those that went before did. Of the longest that go so many stay as there
 * is room for. Switches without a partner stay as long as there is room. `threads`: how many there
 * are. False: no memory. The caller frees left_out. */
bool pd_switches_thin(const struct perfdata_profile_switch *switches, uint64_t count,
                      uint32_t threads, uint64_t most, uint64_t shorter_than,
                      struct pd_thinned *out);

/* Leaves `most` of a profile's switches. False: no memory. */
bool pd_profile_thin_switches(perfdata_profile *profile, uint64_t most);

#endif
