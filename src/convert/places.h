/* SPDX-License-Identifier: MIT */
/* Where the objects of a profile lie in memory, for forms in which each has one place. */
#ifndef PD_CONVERT_PLACES_H
#define PD_CONVERT_PLACES_H
#include "convert/convert.h"

struct pd_place {
    uint64_t start, limit, offset;
    uint32_t id; /* of the mapping; the form's */
    bool lines;  /* some of its frames know theirs */
};

/* All bytes zero: nothing is known. */
struct pd_places {
    PD_VEC(struct pd_place) list;       /* by object */
    PD_VEC(struct perfdata_row) totals; /* by object: what was sampled there */
    uint32_t parts;                     /* that were weighed */
};

/* Adds up what was sampled in each object: once for each part of the profile. */
perfdata_status pd_places_weigh(struct pd_convert *x, struct pd_places *places);
/* The object that names the profile, the program that most samples are in; PERFDATA_NONE: there is
 * none. */
uint32_t pd_places_main(const perfdata_profile *profile, const struct pd_places *places);
/* Notes which addresses of each object occur, as far as the profile knows frames. False: no
 * memory. */
bool pd_places_measure(const perfdata_profile *profile, struct pd_places *places);
/* After the last measuring. Objects that lie at one place keep it, others get one above all mapped
 * addresses; `limit` is 0 for objects without addresses. False: no memory. */
bool pd_places_find(const perfdata_profile *profile, struct pd_places *places);
/* With frames by function, where the function begins; for an inlined one, where the function around
 * it does. */
uint64_t pd_place_address(const perfdata_profile *profile,
                          const struct perfdata_profile_frame *frame);
void pd_places_free(struct pd_places *places);

#endif
