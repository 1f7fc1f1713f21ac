/* SPDX-License-Identifier: MIT */
/* What recording Intel Processor Trace needs beyond other events. */
#ifndef PD_RECORD_INTEL_PT_H
#define PD_RECORD_INTEL_PT_H
#include "record/events.h"

#define PD_INTEL_PT "intel_pt"

/* The config of "intel_pt//": what the hardware can do, by sysfs. */
void pd_intel_pt_default(const struct pd_roots *roots, struct pd_attr *attr);
/* Values that the hardware does not know. pt=0 becomes pt=1. */
perfdata_status pd_intel_pt_check(struct pd_context *context, const struct pd_roots *roots,
                                  struct pd_attr *attr);

#endif
