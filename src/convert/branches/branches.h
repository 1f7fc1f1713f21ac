/* SPDX-License-Identifier: MIT */
/* Branches of a recording, counted: what compilers and BOLT are fed with.
 *
 * They come from branch stacks and from the branches of a trace. Between two of them code ran in a
 * straight line, which is counted as well: a run. Forms are of one object, whose addresses are as
 * its file counts. */
#ifndef PD_CONVERT_BRANCHES_H
#define PD_CONVERT_BRANCHES_H
#include "base/intern.h"
#include "convert/direct.h"

enum pd_flow_kind {
    PD_FLOW_BRANCH,
    PD_FLOW_RUN,        /* from a branch's target to the next branch */
    PD_FLOW_ENTERED_RUN /* the same, but that target was reached from another object */
};

struct pd_flow_end {
    const struct pd_map *map; /* NULL: unknown, or not of the object */
    const struct pd_symbol *symbol;
    uint64_t
        /* as symbols are looked up; in a list, as the file counts: `place` has the former */
        address;
    uint64_t place;
};

struct pd_flow {
    struct pd_flow_end from, to;
    uint64_t count, misses; /* of those, that the processor had not predicted */
    uint64_t cut; /* runs: of those, that an interrupt ended before their last instruction */
    uint32_t kind;
};

struct pd_flow_list {
    PD_VEC(struct pd_flow) flows;
};

/* Adds a flow to those that `keys` takes for the same one by this key; false without memory. */
PD_INLINE bool pd_flow_add(struct pd_flow_list *list, struct pd_intern *keys, const void *key,
                           size_t key_size, const struct pd_flow *flow)
{
    uint32_t id = pd_intern(keys, key, key_size);
    if (id == PD_INTERN_NONE)
        return false;
    if (id == list->flows.count)
        return pd_vec_push(&list->flows, *flow);
    list->flows.data[id].count += flow->count;
    list->flows.data[id].misses += flow->misses;
    list->flows.data[id].cut += flow->cut;
    return true;
}

/* By address. */
PD_INLINE int pd_flow_order(const struct pd_flow *a, const struct pd_flow *b)
{
    if (a->from.address != b->from.address)
        return a->from.address < b->from.address ? -1 : 1;
    return (a->to.address > b->to.address) - (a->to.address < b->to.address);
}

/* A form: writes the flows of one object, sorted by kind, then by address, while symbols are there.
 * */
typedef perfdata_status (*pd_branches_fn)(struct pd_convert *x, struct pd_symbols *symbols,
                                          const struct pd_flow_list *list);

/* Ends a line of a form with how often something was taken. */
perfdata_status pd_branches_end_line(struct pd_convert *x, uint64_t count);

perfdata_status pd_branches_run(struct pd_convert *x, const struct perfdata_profile_options *how,
                                struct perfdata_export_result *result, const char *form,
                                pd_branches_fn put);

#endif
