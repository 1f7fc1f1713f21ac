/* SPDX-License-Identifier: MIT */
/* The parts of inject that have files of their own. */
#ifndef PD_REWRITE_INJECT_H
#define PD_REWRITE_INJECT_H
#include "rewrite/build_ids.h"

/* Copies all records in delivery order, sched_stat samples merged with sched_switch. */
perfdata_status pd_inject_sched_stat(struct pd_copy *copy);

/* Copies all records in delivery order, with the code of runtimes: its files are written where the
 * dumps lie, and their build-ids become entries of `ids`; `after` is called behind each record. */
perfdata_status pd_inject_jit(struct pd_copy *copy, struct pd_build_ids *ids,
                              perfdata_status (*after)(void *data), void *data);

/* Decodes the trace and writes its samples among the records, without the AUX areas. `how`: more
 * enum pd_copy_flags. */
perfdata_status pd_inject_itrace(struct pd_recording *recording,
                                 const struct perfdata_output *output,
                                 const struct perfdata_inject_options *options, unsigned how);

/* Copies of stacks are unwound: samples get call chains, and lose the copies and registers. */
perfdata_status pd_inject_chains(struct pd_recording *recording,
                                 const struct perfdata_output *output,
                                 const struct perfdata_inject_options *options, unsigned how);

/* What a guest recorded comes among the records of its host, `recording`. */
struct pd_guest_input {
    struct pd_recording *recording;
    uint32_t pid; /* of the hypervisor's process */
    uint64_t offset;
    double scale; /* of the guest's TSC */
};
perfdata_status pd_inject_guest(struct pd_recording *recording,
                                const struct perfdata_output *output,
                                const struct pd_guest_input *input, unsigned how);

#endif
