/* SPDX-License-Identifier: MIT */
/* What runs already, as the records that the kernel would have made of it; in perf's order. */
#include "record/trace/aux.h"
#include "record/records.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>

enum { MISC_EXEC = 1 << 13, COMM_SIZE = 16 };

/* ---- events: ids, units ---- */

static size_t place_of(const perfdata_recorder *recorder, const struct pd_opened *opened)
{
    for (size_t i = 0; i < recorder->live.rings.count; i++)
        if (recorder->live.rings.data[i].cpu == opened->cpu &&
            (!recorder->targets.per_thread || recorder->live.rings.data[i].tid == opened->tid))
            return i;
    return 0;
}

static perfdata_status put_id_index(perfdata_recorder *recorder)
{
    enum { MOST = 1364 };
    struct pd_made made = { 0 };
    perfdata_status status = PERFDATA_OK;
    uint64_t count = 0;
    for (size_t e = 0; e < pd_record_event_count(recorder); e++)
        for (size_t i = 0; i < recorder->live.opened[e].count && status == PERFDATA_OK; i++) {
            const struct pd_opened *opened = &recorder->live.opened[e].data[i];
            if (opened->fd < 0)
                continue;
            if (!count) {
                pd_made_begin(&made, PD_RECORD_ID_INDEX, 0);
                pd_made_u64(&made, 0);
            }
            pd_made_u64(&made, opened->id);
            pd_made_u64(&made, place_of(recorder, opened));
            pd_made_u64(&made, (uint64_t)(int64_t)opened->cpu);
            pd_made_u64(&made, (uint64_t)(int64_t)opened->tid);
            if (++count == MOST) {
                pd_store64(made.bytes + 8, count, false);
                status = pd_made_put(recorder, &made, 0);
                count = 0;
            }
        }
    if (!count || status < 0)
        return status;
    pd_store64(made.bytes + 8, count, false);
    return pd_made_put(recorder, &made, 0);
}

/* EVENT_UPDATE: unit, scale; names where no header has them. */
static perfdata_status put_updates(perfdata_recorder *recorder)
{
    enum { UNIT, SCALE, NAME };
    perfdata_status status = PERFDATA_OK;
    for (size_t e = 0; e < pd_record_event_count(recorder) && status == PERFDATA_OK; e++) {
        const struct pd_selected *event = pd_record_event(recorder, e);
        struct pd_made made = { 0 };
        uint64_t id = recorder->live.opened[e].count ? recorder->live.opened[e].data[0].id : 0,
                 bits;
        if (event->unit) {
            pd_made_begin(&made, PD_RECORD_EVENT_UPDATE, 0);
            pd_made_u64(&made, UNIT);
            pd_made_u64(&made, id);
            pd_made_text(&made, event->unit, 24); /* as large as perf's */
            status = pd_made_put(recorder, &made, 0);
        }
        if (event->scale != 1 && status == PERFDATA_OK) {
            pd_made_begin(&made, PD_RECORD_EVENT_UPDATE, 0);
            memcpy(&bits, &event->scale, sizeof bits);
            pd_made_u64(&made, SCALE);
            pd_made_u64(&made, id);
            pd_made_u64(&made, bits);
            pd_made_u64(&made, 0);
            pd_made_u64(&made, 0);
            status = pd_made_put(recorder, &made, 0);
        }
        if (!recorder->options.path && status == PERFDATA_OK) {
            pd_made_begin(&made, PD_RECORD_EVENT_UPDATE, 0);
            pd_made_u64(&made, NAME);
            pd_made_u64(&made, id);
            pd_made_text(&made, event->name, 8);
            status = pd_made_put(recorder, &made, 0);
        }
    }
    return status;
}

/* ---- maps of threads and CPUs ---- */

static perfdata_status put_thread_map(perfdata_recorder *recorder)
{
    enum { MOST = 2700 };
    struct pd_made made = { 0 };
    size_t count = PD_MIN(recorder->targets.threads.count, (size_t)MOST);
    pd_made_begin(&made, PD_RECORD_THREAD_MAP, 0);
    pd_made_u64(&made, count);
    for (size_t i = 0; i < count; i++) {
        int32_t tid = recorder->targets.threads.data[i];
        char name[COMM_SIZE] = "";
        /* perf gives names only to threads that ran before the command */
        char *comm = tid > 0 && tid != recorder->command.child
                         ? pd_roots_read(&recorder->roots, NULL, "/proc/%d/comm", tid)
                         : NULL;
        if (comm)
            snprintf(name, sizeof name, "%s", comm);
        free(comm);
        pd_made_u64(&made, (uint64_t)(int64_t)tid);
        pd_made_bytes(&made, name, sizeof name);
    }
    return pd_made_put(recorder, &made, 0);
}

/* As a range where they are one, else as a mask or a list, whichever is smaller. */
static perfdata_status put_cpu_map(perfdata_recorder *recorder)
{
    const struct pd_numbers *cpus = &recorder->targets.cpus;
    struct pd_made made = { 0 };
    bool any = cpus->count == 1 && cpus->data[0] < 0;
    int32_t first = any ? 0 : cpus->data[0], last = cpus->data[cpus->count - 1];
    pd_made_begin(&made, PD_RECORD_CPU_MAP, 0);
    if (!any && (size_t)(last - first) == cpus->count - 1) {
        pd_made_u16(&made, PD_CPU_MAP_RANGE);
        pd_made_u16(&made, 0);
        pd_made_u16(&made, (uint16_t)first);
        pd_made_u16(&made, (uint16_t)last);
    } else {
        pd_made_u16(&made, PD_CPU_MAP_CPUS);
        pd_made_u16(&made, (uint16_t)cpus->count);
        for (size_t i = 0; i < cpus->count; i++)
            pd_made_u16(&made, (uint16_t)cpus->data[i]);
    }
    return pd_made_put(recorder, &made, 0);
}

/* The TSC as time, where the kernel says how. */
static perfdata_status put_time_conv(perfdata_recorder *recorder)
{
    struct pd_made made = { 0 };
    if (!recorder->live.rings.count)
        return PERFDATA_OK;
    const struct perf_event_mmap_page *page = (const void *)recorder->live.rings.data[0].base;
    if (!page->cap_user_time_zero)
        return PERFDATA_OK;
    pd_made_begin(&made, PD_RECORD_TIME_CONV, 0);
    pd_made_u64(&made, page->time_shift);
    pd_made_u64(&made, page->time_mult);
    pd_made_u64(&made, page->time_zero);
    pd_made_u64(&made, page->cap_user_time_short ? page->time_cycles : 0);
    pd_made_u64(&made, page->cap_user_time_short ? page->time_mask : 0);
    const uint8_t caps[8] = { page->cap_user_time_zero, page->cap_user_time_short };
    pd_made_bytes(&made, caps, sizeof caps);
    return pd_made_put(recorder, &made, 0);
}

perfdata_status pd_record_synthesize_head(perfdata_recorder *recorder)
{
    perfdata_status (*const parts[])(perfdata_recorder *) = {
        put_time_conv, put_id_index,   pd_aux_area_put_info, pd_record_put_kernels,
        put_updates,   put_thread_map, put_cpu_map,          pd_bpf_put_records,
    };
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < PD_LENGTH(parts) && status == PERFDATA_OK; i++)
        status = parts[i](recorder);
    return status;
}
