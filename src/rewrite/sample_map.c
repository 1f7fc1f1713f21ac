/* SPDX-License-Identifier: MIT */
/* Records in delivery order -> the map that each sample is in. */
#include "rewrite/sample_map.h"

struct place {
    uint64_t ip;
    uint32_t pid, tid;
    unsigned mode;
    bool has_ip, has_tid;
};

static struct place place_of(const struct pd_event *event, const uint8_t *record, uint32_t size,
                             uint16_t misc)
{
    const struct pd_plan *plan = &event->plan;
    struct place place = { .mode = misc & PD_MISC_CPUMODE_MASK };
    struct pd_sample sample;
    if (PD_UNLIKELY(plan->is_offcpu) && pd_sample_decode(event, record, size, &sample) >= 0)
        return (struct place){ sample.ip, sample.pid, sample.tid, sample.cpumode, true, true };
    place.has_ip = plan->ip && plan->ip + 8u <= size;
    place.has_tid = plan->tid && plan->tid + 8u <= size;
    if (place.has_ip)
        place.ip = pd_load64(record + plan->ip, plan->swap);
    if (place.has_tid) {
        place.pid = pd_load32(record + plan->tid, plan->swap);
        place.tid = pd_load32(record + plan->tid + 4, plan->swap);
    }
    return place;
}

static const struct pd_map *map_of(struct pd_sample_map *sample_map, const struct pd_event *event,
                                   const uint8_t *record, uint32_t size, uint16_t misc)
{
    struct place place = place_of(event, record, size, misc);
    struct pd_timeline *timeline = sample_map->session.timeline;
    const struct pd_thread *thread = NULL;
    if (place.has_tid)
        thread = pd_timeline_touch(timeline, place.pid, place.tid, sample_map->number);
    if (!place.has_ip)
        return NULL;
    if (place.mode == PD_CPUMODE_KERNEL)
        return pd_timeline_kernel_map(timeline, sample_map->number, place.ip);
    return place.mode == PD_CPUMODE_USER && thread
               ? pd_thread_map(thread, sample_map->number, place.ip)
               : NULL;
}

perfdata_status pd_sample_map_take(struct pd_sample_map *sample_map, const struct pd_event *event,
                                   const uint8_t *record, uint32_t size, uint32_t type,
                                   uint16_t misc, const struct pd_map **map)
{
    *map = NULL;
    sample_map->number++;
    if (type == PD_RECORD_SAMPLE) {
        *map = event ? map_of(sample_map, event, record, size, misc) : NULL;
        return PERFDATA_OK;
    }
    if (type == PD_RECORD_FINISHED_ROUND)
        return PERFDATA_OK;
    return pd_timeline_apply(sample_map->session.timeline, event, record, size, sample_map->number);
}
