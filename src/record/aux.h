/* SPDX-License-Identifier: MIT */
/* AUX areas: the buffers of hardware that traces, and what a recording says of them. */
#ifndef PD_RECORD_AUX_H
#define PD_RECORD_AUX_H
#include "record/record.h"

/* Nothing of the following does anything without an event of Intel PT. */

/* Which event traces: -1 none. */
int64_t pd_area_event(const perfdata_recorder *recorder);
/* Before the attributes: sizes of buffers, the event in front, the events that go with it. */
perfdata_status pd_area_prepare(perfdata_recorder *recorder);
/* After them: what is different from other events. */
void pd_area_configure(perfdata_recorder *recorder);
/* The area behind a buffer whose first event traces. */
perfdata_status pd_area_map(perfdata_recorder *recorder, struct pd_ring *ring);
void pd_area_unmap(perfdata_recorder *recorder, struct pd_ring *ring);
/* Moves what is there: an AUXTRACE record and the bytes. Tracing that stopped for want of room goes on. */
perfdata_status pd_area_read(perfdata_recorder *recorder, uint32_t index, uint64_t *moved);
/* AUXTRACE_INFO. */
perfdata_status pd_area_put_info(perfdata_recorder *recorder);

#endif
