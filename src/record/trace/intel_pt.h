/* SPDX-License-Identifier: MIT */
/* What recording Intel Processor Trace needs beyond other events. */
#ifndef PD_RECORD_INTEL_PT_H
#define PD_RECORD_INTEL_PT_H
#include "record/events/events.h"

#define PD_INTEL_PT "intel_pt"

/* The config of "intel_pt//": what the hardware can do, by sysfs. */
void pd_intel_pt_default(const struct pd_roots *roots, struct pd_attr *attr);
/* What else is the default when samples carry the trace; `said`: bits of config that were given. */
void pd_intel_pt_default_sampled(const struct pd_roots *roots, struct pd_attr *attr, uint64_t said);
/* Bytes between the points where decoding can begin. */
uint64_t pd_intel_pt_psb_bytes(const struct pd_roots *roots, const struct pd_attr *attr);
/* True: "pt" was taken away, which switches everything off; it is on again. */
bool pd_intel_pt_force(const struct pd_roots *roots, struct pd_attr *attr);
/* Values that the hardware does not know. */
perfdata_status pd_intel_pt_check(struct pd_context *context, const struct pd_roots *roots,
                                  struct pd_attr *attr);

#endif
