/* SPDX-License-Identifier: MIT */
#include "rewrite/sample_map.h"

static const struct pd_map *map_of(struct pd_follow *follow, const struct pd_event *event,
                                   const uint8_t *record, uint32_t size, uint16_t misc)
{
    uint32_t ip_at = event->plan.ip, tid_at = event->plan.tid, mode = misc & PD_MISC_CPUMODE_MASK;
    struct pd_timeline *timeline = follow->session.timeline;
    const struct pd_thread *thread = NULL;
    if (tid_at && tid_at + 8 <= size)
        thread = pd_timeline_touch(timeline, pd_load32(record + tid_at, event->plan.swap),
                                   pd_load32(record + tid_at + 4, event->plan.swap),
                                   follow->number);
    if (!ip_at || ip_at + 8 > size)
        return NULL;
    uint64_t ip = pd_load64(record + ip_at, event->plan.swap);
    if (mode == PD_CPUMODE_KERNEL)
        return pd_timeline_kernel_map(timeline, follow->number, ip);
    return mode == PD_CPUMODE_USER && thread ? pd_thread_map(thread, follow->number, ip) : NULL;
}

perfdata_status pd_follow_record(struct pd_follow *follow, const struct pd_event *event,
                                 const uint8_t *record, uint32_t size, uint32_t type, uint16_t misc,
                                 const struct pd_map **map)
{
    *map = NULL;
    follow->number++;
    if (type == PD_RECORD_SAMPLE) {
        *map = event ? map_of(follow, event, record, size, misc) : NULL;
        return PERFDATA_OK;
    }
    if (type == PD_RECORD_FINISHED_ROUND)
        return PERFDATA_OK;
    return pd_timeline_apply(follow->session.timeline, event, record, size, follow->number);
}
