/* SPDX-License-Identifier: MIT */
/* The kernel's buffers: one per CPU, or per thread, that all events there write to. */
#include "record/trace/aux.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t round_up(uint64_t pages)
{
    uint64_t power = 1;
    while (power < pages)
        power <<= 1;
    return power;
}

/* What an unprivileged user may lock, less the kernel's page, rounded down. */
static uint64_t default_pages(const perfdata_recorder *recorder, uint64_t page)
{
    int64_t kib = pd_roots_number(&recorder->roots, 516, "/proc/sys/kernel/perf_event_mlock_kb");
    uint64_t pages = ((uint64_t)PD_MAX(kib, 8) * 1024 - page) / page, power = 1;
    while (power * 2 <= pages && power < UINT64_C(1) << 40)
        power *= 2;
    return power;
}

static perfdata_status add_ring(perfdata_recorder *recorder, struct pd_opened *opened,
                                const struct pd_selected *event, uint64_t pages)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct pd_ring ring = { .size = pages * page,
                            .fd = opened->fd,
                            .cpu = opened->cpu,
                            .tid = opened->tid,
                            .backward = pd_attr_flag(&event->attr, PD_ATTR_WRITE_BACKWARD) };
    int protection = ring.backward ? PROT_READ : PROT_READ | PROT_WRITE;
    void *base = recorder->calls.map(recorder->calls.data, ring.size + page, protection, ring.fd,
                                     0);
    if (base == MAP_FAILED)
        return pd_record_map_failed(recorder, "failed to mmap", errno);
    ring.base = base;
    opened->ring = (uint32_t)recorder->live.rings.count;
    struct pollfd poll = { .fd = ring.fd, .events = POLLIN | POLLERR | POLLHUP };
    if (!pd_vec_push(&recorder->live.rings, ring) || !pd_vec_push(&recorder->live.polls, poll)) {
        recorder->calls.unmap(recorder->calls.data, base, ring.size + page);
        return pd_record_no_memory(recorder);
    }
    return PERFDATA_OK;
}

/* Maps the events of one CPU and thread: all write into the first one's buffer, but those that
 * overwrite into one of their own. */
static perfdata_status map_place(perfdata_recorder *recorder, int32_t cpu, int32_t tid,
                                 bool backward, uint64_t pages)
{
    int64_t ring = -1;
    perfdata_status status = PERFDATA_OK;
    for (size_t e = 0; e < pd_record_event_count(recorder); e++)
        for (size_t i = 0; i < recorder->live.opened[e].count && status == PERFDATA_OK; i++) {
            struct pd_opened *opened = &recorder->live.opened[e].data[i];
            const struct pd_attr *attr = &pd_record_event(recorder, e)->attr;
            if (opened->fd < 0 || opened->cpu != cpu ||
                pd_attr_flag(attr, PD_ATTR_WRITE_BACKWARD) != backward ||
                (recorder->targets.per_thread && opened->tid != tid))
                continue;
            if (ring < 0) {
                ring = (int64_t)recorder->live.rings.count;
                status = add_ring(recorder, opened, pd_record_event(recorder, e), pages);
                if (status == PERFDATA_OK && (int64_t)e == pd_aux_area_event(recorder))
                    status = pd_aux_area_map(recorder, &recorder->live.rings.data[ring]);
            } else if (recorder->calls.control(
                           recorder->calls.data, opened->fd, PERF_EVENT_IOC_SET_OUTPUT,
                           (void *)(intptr_t)recorder->live.rings.data[ring].fd) < 0) {
                status = pd_record_map_failed(recorder, "failed to mmap", errno);
            }
            opened->ring = (uint32_t)ring;
            if (status == PERFDATA_OK &&
                recorder->calls.control(recorder->calls.data, opened->fd, PERF_EVENT_IOC_ID,
                                        &opened->id) < 0)
                status = pd_record_map_failed(recorder, "failed to mmap", errno);
        }
    return status;
}

perfdata_status pd_record_map_rings(perfdata_recorder *recorder)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t pages = recorder->options.pages ? round_up(recorder->options.pages)
                                             : default_pages(recorder, page);
    perfdata_status status = PERFDATA_OK;
    size_t threads = recorder->targets.per_thread ? recorder->targets.threads.count : 1;
    pd_record_log(recorder, 1, "mmap size %" PRIu64 "B\n", (pages + 1) * page);
    for (size_t c = 0; c < recorder->targets.cpus.count; c++)
        for (size_t t = 0; t < 2 * threads && status == PERFDATA_OK; t++)
            status = map_place(recorder, recorder->targets.cpus.data[c],
                               recorder->targets.threads.data[t / 2], t & 1, pages);
    return status;
}

void pd_record_unmap_rings(perfdata_recorder *recorder)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < recorder->live.rings.count; i++) {
        pd_aux_area_unmap(recorder, &recorder->live.rings.data[i]);
        recorder->calls.unmap(recorder->calls.data, recorder->live.rings.data[i].base,
                              recorder->live.rings.data[i].size + page);
    }
    pd_vec_free(&recorder->live.rings);
}

/* ---- reading ---- */

static struct perf_event_mmap_page *control_page(const struct pd_ring *ring)
{
    return (struct perf_event_mmap_page *)(void *)ring->base;
}

static perfdata_status put_span(const struct pd_ring *ring, struct pd_writer *writer, uint64_t from,
                                uint64_t to)
{
    const uint8_t *data = ring->base + sysconf(_SC_PAGESIZE);
    perfdata_status status = PERFDATA_OK;
    while (from != to && status == PERFDATA_OK) {
        uint64_t at = from & (ring->size - 1), size = PD_MIN(to - from, ring->size - at);
        status = pd_writer_put_kernel(writer, data + at, (size_t)size);
        from += size;
    }
    return status;
}

static perfdata_status read_forward(struct pd_ring *ring, struct pd_writer *writer, uint64_t least,
                                    uint64_t *moved)
{
    struct perf_event_mmap_page *page = control_page(ring);
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), tail = page->data_tail;
    if (head == tail || head - tail < PD_MIN(least, ring->size / 4))
        return PERFDATA_OK;
    if (head - tail > ring->size) /* only a kernel that does not keep its word */
        tail = head - ring->size;
    perfdata_status status = put_span(ring, writer, tail, head);
    *moved += head - tail;
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    return status;
}

/* The newest record is at the head; the oldest whole one is found by walking up to it. */
static perfdata_status read_backward(struct pd_ring *ring, struct pd_writer *writer,
                                     uint64_t *moved)
{
    const uint8_t *data = ring->base + sysconf(_SC_PAGESIZE);
    uint64_t head = __atomic_load_n(&control_page(ring)->data_head, __ATOMIC_ACQUIRE), at = head;
    uint64_t end = ring->start ? ring->start : 0;
    while (at != end) {
        uint16_t size;
        memcpy(&size, data + ((at + 6) & (ring->size - 1)), sizeof size);
        if (size < 8 || at + size - head > ring->size)
            break;
        at += size;
    }
    perfdata_status status = put_span(ring, writer, head, at);
    *moved += at - head;
    ring->start = head;
    return status;
}

static perfdata_status read_still(perfdata_recorder *recorder, struct pd_ring *ring,
                                  struct pd_writer *writer, uint64_t *moved)
{
    const struct pd_calls *calls = &recorder->calls;
    (void)calls->control(calls->data, ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, (void *)1);
    perfdata_status status = read_backward(ring, writer, moved);
    (void)calls->control(calls->data, ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, NULL);
    return status;
}

bool pd_record_drop_gone(struct pollfd *polls, size_t count, int ready)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (ready > 0 && polls[i].revents & (POLLERR | POLLHUP | POLLNVAL))
            polls[i].fd = -1;
        any |= polls[i].fd >= 0;
    }
    return any;
}

perfdata_status pd_record_read_ring(perfdata_recorder *recorder, size_t index,
                                    struct pd_writer *writer, bool last, uint64_t *moved)
{
    struct pd_ring *ring = &recorder->live.rings.data[index];
    if (!ring->backward)
        return read_forward(ring, writer, last ? 0 : recorder->options.flush, moved);
    return last ? read_still(recorder, ring, writer, moved) : PERFDATA_OK;
}

perfdata_status pd_record_read_rings(perfdata_recorder *recorder, bool last, uint64_t *moved)
{
    perfdata_status status = PERFDATA_OK;
    *moved = 0;
    for (size_t i = 0; i < recorder->live.rings.count && status == PERFDATA_OK; i++) {
        if (recorder->options.affinity)
            pd_record_follow(recorder, recorder->live.rings.data[i].cpu);
        status = pd_record_read_ring(recorder, i, recorder->output.writer, last, moved);
        if (status == PERFDATA_OK)
            status = pd_aux_area_read(recorder, (uint32_t)i, moved);
    }
    return status;
}
