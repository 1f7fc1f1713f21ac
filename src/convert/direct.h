/* SPDX-License-Identifier: MIT */
/* Forms that are made from samples as they were recorded, not from a profile, since they show all
 * that a record holds. */
#ifndef PD_CONVERT_DIRECT_H
#define PD_CONVERT_DIRECT_H
#include "convert/convert.h"

struct pd_direct {
    struct pd_convert *x;
    struct pd_profile_shared shared;
    struct perfdata_profile_options options;
    void *state;    /* the form's */
    uint64_t types; /* further records, by bit: for `record` */
    /* After the run: what was kept, and its bytes in the recording. */
    uint64_t sample_count, record_count, bytes;
    /* Called before the first sample, when all events are known, also those that decoding a trace
     * adds. NULL: nothing to do. */
    perfdata_status (*open)(struct pd_direct *direct);
    /* By any worker: writes what the form says of a sample, as text or in bytes of its own. */
    void (*sample)(struct pd_direct *direct, struct pd_profile_worker *worker,
                   const struct pd_delivered *record, const struct pd_profile_taken *taken,
                   struct pd_text *out);
    /* By any worker: writes what the form says of a record that is no sample; false: it is
     * damaged. */
    bool (*record)(struct pd_direct *direct, struct pd_profile_worker *worker,
                   const struct pd_delivered *record, struct pd_text *out);
    /* Takes what these wrote, in delivery order, a run of samples at a time. */
    perfdata_status (*take)(struct pd_direct *direct, const char *bytes, size_t size);
    /* After the last sample, while symbols are still there; NULL: nothing to do. */
    perfdata_status (*finish)(struct pd_direct *direct);
};

/* Refuses, by name, options that make no sense for a form without groups, weights and frames of its
 * own. */
perfdata_status pd_direct_check(struct pd_convert *x, const struct perfdata_profile_options *how,
                                const char *form);

/* Reads the recording. The caller has set `sample`, `take` and the form's state. */
perfdata_status pd_direct_run(struct pd_direct *direct, struct perfdata_export_result *result);

#endif
