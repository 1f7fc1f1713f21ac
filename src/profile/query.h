/* SPDX-License-Identifier: MIT */
/* What all aggregates share: a query in a form ready for use, and what each stack weighs under
 * it. */
#ifndef PD_PROFILE_QUERY_H
#define PD_PROFILE_QUERY_H
#include "profile/profile.h"

struct pd_weight {
    uint64_t count, weight;
};

struct pd_query {
    const perfdata_profile *profile;
    struct perfdata_query asked;
    uint32_t key_count;    /* keys are below it; by object, the last stands for PERFDATA_NONE */
    struct pd_weight *own; /* by stack: of samples that have it */
};

/* Owns `own`; free it with pd_query_close(). */
perfdata_status pd_query_open(const perfdata_profile *profile, const struct perfdata_query *query,
                              struct pd_query *out);
void pd_query_close(struct pd_query *query);

/* The key of a stack's last frame, below key_count. */
uint32_t pd_query_key(const struct pd_query *query, uint32_t stack);
/* The key as the caller is given it. */
PD_INLINE uint32_t pd_query_shown(const struct pd_query *query, uint32_t key)
{
    return query->asked.key == PERFDATA_BY_OBJECT && key + 1 == query->key_count ? PERFDATA_NONE
                                                                                 : key;
}
/* The stack whose key gets the own weight of `stack`. */
uint32_t pd_query_self(const struct pd_query *query, uint32_t stack);

#endif
