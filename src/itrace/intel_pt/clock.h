/* SPDX-License-Identifier: MIT */
/* What time it is at each packet, without walking through code: for listings of packets. */
#ifndef PD_INTEL_PT_CLOCK_H
#define PD_INTEL_PT_CLOCK_H
#include "itrace/aux/aux.h"
#include "itrace/intel_pt/packet.h"
#include "itrace/intel_pt/time.h"

struct pd_pt_clock {
    struct pd_pt_time time; /* .timestamp: TSC, 0: unknown */
    bool in_psb, after_cyc;
};

void pd_pt_clock_init(struct pd_pt_clock *clock, const struct pd_pt_info *info,
                      const struct pd_pt_modes *modes);
/* A buffer begins. */
void pd_pt_clock_buffer(struct pd_pt_clock *clock, uint64_t reference, bool consecutive);
/* `bytes`: behind the packet, `left` of them, in block context `context`: cycles are calibrated by
 * what follows. */
void pd_pt_clock_packet(struct pd_pt_clock *clock, const struct pd_pt_packet *packet,
                        const uint8_t *bytes, size_t left, enum pd_pt_context context);

#endif
