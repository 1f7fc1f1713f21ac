/* SPDX-License-Identifier: MIT */
/* A sample of "offcpu-time" and its raw data -> a record with the sleeper's place and process. */
#include "pipeline/offcpu.h"

perfdata_status pd_offcpu_show(struct pd_made *made, struct pd_delivered *record)
{
    const struct pd_plan *plan = &record->event->plan;
    struct pd_sample sample;
    if (pd_sample_decode(record->event, record->data, record->size, &sample) < 0)
        return PERFDATA_OK; /* damaged: shown as far as it can be read */
    const uint8_t *recorded = record->data;
    uint8_t *out = pd_made_bytes(made, record, record->size);
    if (!out)
        return PERFDATA_ERROR_MEMORY;
    memcpy(out, recorded, record->size);
    record->misc = (uint16_t)((record->misc & ~PD_MISC_CPUMODE_MASK) | sample.cpumode);
    pd_store16(out + 4, record->misc, plan->swap);
    if (plan->ip)
        pd_store64(out + plan->ip, sample.ip, plan->swap);
    if (plan->tid) {
        pd_store32(out + plan->tid, sample.pid, plan->swap);
        pd_store32(out + plan->tid + 4, sample.tid, plan->swap);
    }
    if (plan->period)
        pd_store64(out + plan->period, sample.period, plan->swap);
    return PERFDATA_OK;
}
