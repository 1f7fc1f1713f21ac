/* SPDX-License-Identifier: MIT */
/* Which events share a table as a group. */
#ifndef PD_REPORT_GROUP_H
#define PD_REPORT_GROUP_H
#include "render/report/plan.h"

struct pd_report_group {
    const uint32_t *events; /* the leader first */
    size_t count;
    const char *name; /* NULL: it has none */
    bool is_forced;   /* it was made of all events, by --group, and not recorded */
    bool is_plural;
};

struct pd_report_groups {
    const struct pd_recording *recording;
    struct pd_report_group *list; /* in the order of their leaders; in the plan's arena */
    size_t count;
};

/* To be called after the run, when `counts` tells which events are traces. */
perfdata_status pd_report_groups_make(const struct pd_recording *recording,
                                      struct pd_report_plan *plan,
                                      const struct pd_report_counts *counts,
                                      struct pd_report_groups *out);
/* Are there groups, as recorded or made? */
bool pd_report_groups_any(const struct pd_recording *recording, const struct pd_report_plan *plan);
void pd_report_group_names(const struct pd_report_groups *groups,
                           const struct pd_report_group *group, struct pd_text *out);

#endif
