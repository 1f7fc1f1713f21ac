/* SPDX-License-Identifier: MIT */
/* Which context switches to keep where there is no room for all. */
#ifndef PD_PROFILE_SWITCHES_H
#define PD_PROFILE_SWITCHES_H
#include <perfdata/profile.h>
#include <stdbool.h>

struct pd_thinned {
    bool *left_out;        /* by number of the switch; NULL: all are told */
    uint64_t kept;         /* how many are told */
    uint64_t shorter_than; /* ns; all runs left out are shorter; 0: none is left out */
};

/* Chooses at most `most` of `count` switches, those of the longest runs. A run is a thread's coming
 * to a CPU and its leaving; both switches stay or neither. Where some must go, all runs go that are
 * clearly shorter than `shorter_than`, since earlier ones of that length have gone already. Of the
 * longest runs that would have to go, as many stay as there is room for. Switches without a partner
 * stay as long as there is room. `threads`: how many there are. False: no memory. The caller frees
 * left_out. */
bool pd_switches_thin(const struct perfdata_profile_switch *switches, uint64_t count,
                      uint32_t threads, uint64_t most, uint64_t shorter_than,
                      struct pd_thinned *out);

/* Leaves at most `most` of a profile's switches. False: no memory. */
bool pd_profile_thin_switches(perfdata_profile *profile, uint64_t most);

#endif
