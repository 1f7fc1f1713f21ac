/* SPDX-License-Identifier: MIT */
/* AUX areas: the buffers of hardware that traces, and what a recording says of them. */
#ifndef PD_RECORD_AUX_H
#define PD_RECORD_AUX_H
#include "record/record.h"

/* None of these functions does anything without an event of Intel PT. */

/* Which event traces: -1 none. */
int64_t pd_aux_area_event(const perfdata_recorder *recorder);
bool pd_aux_area_traces(const struct pd_selected *event);
/* Before the attributes: sizes of buffers, the event in front, the events that go with it. */
perfdata_status pd_aux_area_prepare(perfdata_recorder *recorder);
/* After them: what is different from other events. */
void pd_aux_area_configure(perfdata_recorder *recorder);
/* Maps the AUX area behind a buffer whose first event traces. */
perfdata_status pd_aux_area_map(perfdata_recorder *recorder, struct pd_ring *ring);
void pd_aux_area_unmap(perfdata_recorder *recorder, struct pd_ring *ring);
/* Moves what is there: an AUXTRACE record and the bytes. Tracing that stopped for want of room goes
 * on. */
perfdata_status pd_aux_area_read(perfdata_recorder *recorder, uint32_t index, uint64_t *moved);
/* An AUXTRACE record and these bytes of the area. */
perfdata_status pd_aux_area_put(perfdata_recorder *recorder, uint32_t index, uint64_t from,
                                uint64_t to);

/* aux_switches.c: events that tell of context switches, an event that counts nothing. */
perfdata_status pd_aux_area_add_switches(perfdata_recorder *recorder);
struct pd_selected *pd_aux_area_add_dummy(perfdata_recorder *recorder);

/* aux_modes.c: whether a trace is wanted as snapshots, or in samples, and not whole. */
bool pd_aux_area_snapshots(const perfdata_recorder *recorder);
bool pd_aux_area_samples(const perfdata_recorder *recorder);
/* Refuses options of snapshots and samples where no event traces. */
perfdata_status pd_aux_area_refuse_modes(perfdata_recorder *recorder);
/* Called before the attributes are set; `trace`: the number of the event that traces. */
void pd_aux_area_group(perfdata_recorder *recorder, size_t trace);
perfdata_status pd_aux_area_check_modes(perfdata_recorder *recorder, size_t trace);
perfdata_status pd_aux_area_snapshot_size(perfdata_recorder *recorder, size_t trace);
void pd_aux_area_warn_samples(const perfdata_recorder *recorder, size_t trace);
/* Called after the attributes are set. */
void pd_aux_area_set_samples(const perfdata_recorder *recorder, size_t trace);
/* For snapshots: struct pd_ring's mark_size of an area of so many bytes. */
uint64_t pd_aux_area_mark_size(const perfdata_recorder *recorder, uint64_t area);
/* For snapshots, while the trace stands still: what the ring's area has got since the last one. */
perfdata_status pd_aux_area_take(perfdata_recorder *recorder, uint32_t index);

/* AUXTRACE_INFO. */
perfdata_status pd_aux_area_put_info(perfdata_recorder *recorder);

#endif
