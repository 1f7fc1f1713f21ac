/* SPDX-License-Identifier: MIT */
/* Events of all CPUs that are not recorded: that there was one is all that counts. */
#include "record/record.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ATTR_SIZE = 128 };

perfdata_status perfdata_recorder_add_triggers(perfdata_recorder *recorder, const char *events)
{
    if (recorder->phase.started || recorder->stop_fd < 0 || !events)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "events are given before the recorder starts");
    return pd_events_parse(&recorder->context, &recorder->roots, events,
                           &recorder->live.triggers.events);
}

uint64_t perfdata_recorder_triggers(const perfdata_recorder *recorder)
{
    return recorder->live.triggers.seen;
}

/* ---- opening ---- */

static void set_attr(const perfdata_recorder *recorder, struct pd_selected *event)
{
    struct pd_attr *attr = &event->attr;
    attr->size = ATTR_SIZE;
    attr->sample_type |= PD_SAMPLE_IDENTIFIER;
    attr->read_format = PD_READ_ID;
    attr->flags |= UINT64_C(1) << PD_ATTR_WATERMARK | UINT64_C(1) << PD_ATTR_SAMPLE_ID_ALL;
    attr->wakeup_events = 1; /* a watermark: the first byte */
    if (pd_term_said(&event->terms, PD_TERM_PERIOD))
        attr->sample_period = event->terms.number[PD_TERM_PERIOD];
    if (!attr->sample_period)
        pd_record_log(recorder, 0,
                      "WARNING: %s gives no samples here, so it never switches the output: say a "
                      "period or choose a tracepoint\n",
                      event->name);
}

static perfdata_status open_trigger(perfdata_recorder *recorder, const struct pd_selected *event,
                                    int32_t cpu)
{
    const struct pd_calls *calls = &recorder->calls;
    uint8_t bytes[ATTR_SIZE] = { 0 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    pd_attr_encode(&event->attr, false, bytes, sizeof bytes);
    int fd = calls->event_open(calls->data, bytes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return pd_record_explain(recorder, event, errno);
    void *base = calls->map(calls->data, 2 * page, PROT_READ | PROT_WRITE, fd, 0);
    if (base == MAP_FAILED) {
        int error = errno;
        close(fd);
        return pd_record_map_failed(recorder, "failed to mmap", error);
    }
    struct pollfd poll = { .fd = fd, .events = POLLIN };
    struct pd_trigger trigger = { fd, base };
    if (pd_vec_push(&recorder->live.triggers.list, trigger))
        return pd_vec_push(&recorder->live.polls, poll) ? PERFDATA_OK
                                                        : pd_record_no_memory(recorder);
    calls->unmap(calls->data, base, 2 * page);
    close(fd);
    return pd_record_no_memory(recorder);
}

perfdata_status pd_triggers_open(perfdata_recorder *recorder)
{
    struct pd_numbers cpus = { 0 };
    perfdata_status status = PERFDATA_OK;
    size_t count = recorder->live.triggers.events.list.count;
    if (!count)
        return PERFDATA_OK;
    char *online = pd_record_cpu_list(recorder, "online");
    status = online ? pd_record_numbers(recorder, online, "CPUs", &cpus)
                    : pd_record_no_memory(recorder);
    free(online);
    for (size_t e = 0; e < count && status == PERFDATA_OK; e++) {
        struct pd_selected *event = &recorder->live.triggers.events.list.data[e];
        set_attr(recorder, event);
        for (size_t i = 0; i < cpus.count && status == PERFDATA_OK; i++)
            status = open_trigger(recorder, event, cpus.data[i]);
    }
    pd_vec_free(&cpus);
    return status;
}

/* ---- counting ---- */

static uint64_t count_samples(const struct pd_trigger *trigger)
{
    uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE), count = 0;
    struct perf_event_mmap_page *page = (void *)trigger->base;
    const uint8_t *data = trigger->base + size;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = page->data_tail;
    while (at != head) {
        const uint8_t *record = data + (at & (size - 1));
        uint16_t length = pd_load16(record + 6, false);
        if (length < 8 || length > head - at) /* only a kernel that does not keep its word */
            break;
        count += pd_load32(record, false) == PERF_RECORD_SAMPLE;
        at += length;
    }
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    return count;
}

void pd_triggers_read(perfdata_recorder *recorder)
{
    for (size_t i = 0; i < recorder->live.triggers.list.count; i++)
        recorder->live.triggers.seen += count_samples(&recorder->live.triggers.list.data[i]);
}

void pd_triggers_close(perfdata_recorder *recorder)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < recorder->live.triggers.list.count; i++) {
        recorder->calls.unmap(recorder->calls.data, recorder->live.triggers.list.data[i].base,
                              2 * page);
        close(recorder->live.triggers.list.data[i].fd);
    }
    pd_vec_free(&recorder->live.triggers.list);
    pd_events_free(&recorder->live.triggers.events);
}
