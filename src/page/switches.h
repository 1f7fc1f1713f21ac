/* SPDX-License-Identifier: MIT */
/* The context switches that a page tells. */
#ifndef PD_PAGE_SWITCHES_H
#define PD_PAGE_SWITCHES_H
#include <perfdata/profile.h>
#include <stdbool.h>

#define PD_PAGE_MOST_SWITCHES 1000000

struct pd_page_thinned {
    bool *left_out;        /* by number of the switch; NULL: all are told */
    uint64_t kept;         /* how many are told */
    uint64_t shorter_than; /* ns: what the runs that are left out stay below */
};

/* Chooses `most` of `count` switches at most, those of the longest runs: a run is a thread's coming
 * to a CPU and its leaving, and goes whole. Switches without a partner stay as long as there is
 * room. `threads`: how many there are. False: no memory. The caller frees left_out. */
bool pd_page_switches_thin(const struct perfdata_profile_switch *switches, uint64_t count,
                           uint32_t threads, uint64_t most, struct pd_page_thinned *out);

#endif
