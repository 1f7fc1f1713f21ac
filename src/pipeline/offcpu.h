/* SPDX-License-Identifier: MIT */
/* Samples of event "offcpu-time" as perf 6.16 and later record them: what they are about is in
 * their raw data. */
#ifndef PD_PIPELINE_OFFCPU_H
#define PD_PIPELINE_OFFCPU_H
#include "pipeline/made.h"

/* Gives the record the address, mode, process, thread and period that its raw data tell, so that
 * whoever looks at its fixed fields finds them; the chain and the cgroup come with
 * pd_sample_decode(). PERFDATA_ERROR_MEMORY. */
perfdata_status pd_offcpu_show(struct pd_made *made, struct pd_delivered *record);

#endif
