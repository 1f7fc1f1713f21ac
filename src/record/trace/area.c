/* SPDX-License-Identifier: MIT */
/* Which event traces; a piece of its AUX buffer -> an AUXTRACE record. */
#include "record/trace/aux.h"
#include "format/offsets.h"
#include "record/trace/intel_pt.h"
#include <string.h>
#include <time.h>

enum { AUXTRACE_SIZE = 48 };

bool pd_aux_area_traces(const struct pd_selected *event)
{
    return event->pmu && !strcmp(event->pmu, PD_INTEL_PT);
}

int64_t pd_aux_area_event(const perfdata_recorder *recorder)
{
    for (size_t i = 0; i < pd_record_event_count(recorder); i++)
        if (pd_aux_area_traces(pd_record_event(recorder, i)))
            return (int64_t)i;
    return -1;
}

static uint64_t now(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
#endif
}

perfdata_status pd_aux_area_put(perfdata_recorder *recorder, uint32_t index, uint64_t from,
                                uint64_t to)
{
    const struct pd_ring *ring = &recorder->live.rings.data[index];
    static const uint8_t zeros[8];
    uint8_t record[AUXTRACE_SIZE] = { 0 };
    uint64_t size = to - from;
    pd_store32(record, PD_RECORD_AUXTRACE, false);
    pd_store16(record + 6, AUXTRACE_SIZE, false);
    pd_store64(record + PD_AT(auxtrace, data_size), pd_align8(size), false);
    pd_store64(record + PD_AT(auxtrace, offset), from, false);
    pd_store64(record + PD_AT(auxtrace, reference), now(), false);
    pd_store32(record + PD_AT(auxtrace, idx), index, false);
    pd_store32(record + PD_AT(auxtrace, tid),
               (uint32_t)(recorder->targets.per_thread ? ring->tid : -1), false);
    pd_store32(record + PD_AT(auxtrace, cpu), (uint32_t)ring->cpu, false);
    perfdata_status status = pd_writer_put_record(recorder->output.writer, record, sizeof record);
    for (uint64_t at = from; at != to && status == PERFDATA_OK;) {
        uint64_t place = at & (ring->aux_size - 1), part = PD_MIN(to - at, ring->aux_size - place);
        status = pd_writer_put(recorder->output.writer, ring->aux + place, (size_t)part);
        at += part;
    }
    return status < 0
               ? status
               : pd_writer_put(recorder->output.writer, zeros, (size_t)(pd_align8(size) - size));
}
