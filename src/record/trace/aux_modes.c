/* SPDX-License-Identifier: MIT */
/* A trace need not be written whole: snapshots of what is in the areas, or samples of other events
 * that carry its end. */
#include "record/trace/aux.h"
#include "record/trace/intel_pt.h"
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { SAMPLE_DEFAULT = 4 << 10, SAMPLE_MOST = 60 << 10 };

bool pd_aux_area_snapshots(const perfdata_recorder *recorder)
{
    return recorder->options.snapshot != 0;
}

/* Bytes of the trace in a sample of this event; 0: none. */
static uint64_t sample_size(const perfdata_recorder *recorder, const struct pd_selected *event)
{
    if (pd_term_said(&event->terms, PD_TERM_AUX_SAMPLE_SIZE))
        return event->terms.number[PD_TERM_AUX_SAMPLE_SIZE];
    if (!recorder->options.aux_sample)
        return 0;
    return recorder->options.aux_sample_size ? recorder->options.aux_sample_size : SAMPLE_DEFAULT;
}

bool pd_aux_area_samples(const perfdata_recorder *recorder)
{
    bool any = recorder->options.aux_sample;
    for (size_t i = 0; i < pd_record_event_count(recorder); i++)
        any |= sample_size(recorder, pd_record_event(recorder, i)) != 0;
    return any;
}

static void join(struct pd_selected *event, struct pd_selected *leader, uint32_t number)
{
    event->leader = number;
    event->members = 0;
    leader->members++;
}

/* Events that need the trace's event as their leader, and have none of their own, get it. */
void pd_aux_area_group(perfdata_recorder *recorder, size_t trace)
{
    struct pd_selected *leader = pd_record_event(recorder, trace);
    bool all = recorder->options.aux_sample && leader->members == 1;
    for (size_t i = 0; i < pd_record_event_count(recorder); i++) {
        struct pd_selected *event = pd_record_event(recorder, i);
        bool wants = pd_term_said(&event->terms, PD_TERM_AUX_OUTPUT) ||
                     event->terms.number[PD_TERM_AUX_SAMPLE_SIZE];
        if (i != trace && event->leader == i && event->members == 1 && (wants || all))
            join(event, leader, (uint32_t)trace);
    }
}

static perfdata_status check_event(perfdata_recorder *recorder, size_t index, size_t trace)
{
    struct pd_context *context = &recorder->context;
    const struct pd_selected *event = pd_record_event(recorder, index);
    uint64_t size = sample_size(recorder, event);
    bool own = event->terms.number[PD_TERM_AUX_SAMPLE_SIZE] != 0;
    if (own && index == trace)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "%s: the event that traces cannot be sampled with the trace", event->name);
    if ((own || pd_term_said(&event->terms, PD_TERM_AUX_OUTPUT)) && event->leader != trace)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "%s: the leader of its group must be the event that traces", event->name);
    if (size > SAMPLE_MOST)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "AUX area sample size %" PRIu64 " too big, max. %d", size, SAMPLE_MOST);
    return PERFDATA_OK;
}

perfdata_status pd_aux_area_check_modes(perfdata_recorder *recorder, size_t trace)
{
    struct pd_context *context = &recorder->context;
    size_t outputs = 0, sampled = 0;
    perfdata_status status = PERFDATA_OK;
    if (pd_aux_area_snapshots(recorder) && pd_aux_area_samples(recorder))
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "Snapshot mode (" PD_INTEL_PT
                       " PMU) and sample trace cannot be used together");
    for (size_t i = 0; i < pd_record_event_count(recorder) && status == PERFDATA_OK; i++) {
        const struct pd_selected *event = pd_record_event(recorder, i);
        outputs += pd_term_said(&event->terms, PD_TERM_AUX_OUTPUT);
        sampled += i != trace && event->leader == trace && sample_size(recorder, event);
        status = check_event(recorder, i, trace);
    }
    if (status == PERFDATA_OK && outputs > 1)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       PD_INTEL_PT " supports at most one event with aux-output");
    if (status == PERFDATA_OK && pd_aux_area_samples(recorder) && !sampled)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "No AUX area event group to sample: the events must be in a group that "
                       "the event that traces leads");
    return status;
}

perfdata_status pd_aux_area_refuse_modes(perfdata_recorder *recorder)
{
    bool samples = pd_aux_area_samples(recorder);
    return samples || pd_aux_area_snapshots(recorder)
               ? pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                         samples ? "No AUX area event to sample"
                                 : "No AUX area tracing to snapshot")
               : PERFDATA_OK;
}

void pd_aux_area_set_samples(const perfdata_recorder *recorder, size_t trace)
{
    for (size_t i = 0; i < pd_record_event_count(recorder); i++) {
        struct pd_selected *event = pd_record_event(recorder, i);
        uint64_t size = i == trace || event->leader != trace ? 0 : sample_size(recorder, event);
        if (size) {
            event->attr.sample_type |= PD_SAMPLE_AUX;
            event->attr.aux_sample_size = (uint32_t)size;
        }
    }
}

/* ---- sizes ---- */

static void warn_small(const perfdata_recorder *recorder, const char *what, uint64_t size,
                       uint64_t period)
{
    enum { NEAR = 256 };
    if (period && size <= period + NEAR)
        pd_record_log(recorder, 0,
                      "Warning:\nIntel PT %s size (%" PRIu64
                      ") may be too small for PSB period (%" PRIu64 ")\n",
                      what, size, period);
}

void pd_aux_area_warn_samples(const perfdata_recorder *recorder, size_t trace)
{
    uint64_t period = pd_intel_pt_psb_bytes(&recorder->roots,
                                            &pd_record_event(recorder, trace)->attr);
    uint64_t least = UINT64_MAX;
    for (size_t i = 0; i < pd_record_event_count(recorder); i++) {
        const struct pd_selected *event = pd_record_event(recorder, i);
        uint64_t size = i != trace && event->leader == trace ? sample_size(recorder, event) : 0;
        least = size && size < least ? size : least;
    }
    if (least != UINT64_MAX)
        warn_small(recorder, "sample", least, period);
}

/* The area is as large as the snapshot where its size is not said, and the other way round. */
perfdata_status pd_aux_area_snapshot_size(perfdata_recorder *recorder, size_t trace)
{
    struct perfdata_recorder_options *options = &recorder->options;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = options->aux_pages * page;
    if (!options->snapshot_size)
        options->snapshot_size = size;
    if (options->snapshot_size > size)
        return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                       "Snapshot size %" PRIu64
                       " must not be greater than AUX area tracing mmap size %" PRIu64,
                       options->snapshot_size, size);
    pd_record_log(recorder, 2, "Intel PT snapshot size: %" PRIu64 "\n", options->snapshot_size);
    warn_small(recorder, "snapshot", options->snapshot_size,
               pd_intel_pt_psb_bytes(&recorder->roots, &pd_record_event(recorder, trace)->attr));
    return PERFDATA_OK;
}

/* ---- snapshots ---- */

/* Bytes in front of the head when the last snapshot was made: they are still there if the trace has
 * not come round. */
enum { MARK_LEAST = 4 << 10, MARK_MOST = 256 << 10 };

uint64_t pd_aux_area_mark_size(const perfdata_recorder *recorder, uint64_t area)
{
    int64_t trace = pd_aux_area_event(recorder);
    uint64_t psb = pd_intel_pt_psb_bytes(&recorder->roots,
                                         &pd_record_event(recorder, (size_t)trace)->attr);
    uint64_t size = PD_MIN(PD_MAX(2 * psb, (uint64_t)MARK_LEAST), (uint64_t)MARK_MOST);
    return PD_MIN(size, area / 2);
}

static void copy_out(const struct pd_ring *ring, uint64_t from, uint8_t *out, uint64_t size)
{
    uint64_t at = from & (ring->aux_size - 1), first = PD_MIN(size, ring->aux_size - at);
    memcpy(out, ring->aux + at, (size_t)first);
    memcpy(out + first, ring->aux, (size_t)(size - first));
}

static bool any_behind(const struct pd_ring *ring, uint64_t head)
{
    for (uint64_t at = PD_MAX(head, ring->aux_size - MARK_LEAST); at < ring->aux_size; at++)
        if (ring->aux[at])
            return true;
    return false;
}

/* The head as a position in the whole trace: the kernel's may be one within the area. */
static uint64_t whole_head(const struct pd_ring *ring, uint64_t head)
{
    uint64_t before = ring->aux_read, size = ring->aux_size;
    if (head >= size || (before >= size && head >= before))
        return head >= before ? head : before;
    uint64_t now = before + ((head - before) & (size - 1));
    if (!ring->mark)
        return any_behind(ring, head) ? now + size : now;
    uint64_t length = ring->mark_size;
    uint8_t *present = malloc(length);
    bool round = !present; /* what cannot be known is taken twice, which readers find out */
    if (present) {
        copy_out(ring, before - length, present, length);
        round = memcmp(present, ring->mark, length) != 0;
    }
    free(present);
    return round ? now + size : now;
}

static void set_mark(struct pd_ring *ring)
{
    uint64_t length = ring->mark_size;
    if (ring->aux_read < length)
        return;
    if (!ring->mark && !(ring->mark = malloc(length)))
        return;
    copy_out(ring, ring->aux_read - length, ring->mark, length);
}

perfdata_status pd_aux_area_take(perfdata_recorder *recorder, uint32_t index)
{
    struct pd_ring *ring = &recorder->live.rings.data[index];
    const struct perf_event_mmap_page *page = (const void *)ring->base;
    uint64_t head = whole_head(ring, __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE));
    uint64_t most = PD_MIN(recorder->options.snapshot_size, ring->aux_size);
    uint64_t from = head - ring->aux_read > most ? head - most : ring->aux_read;
    perfdata_status status = from == head ? PERFDATA_OK
                                          : pd_aux_area_put(recorder, index, from, head);
    ring->aux_read = head;
    set_mark(ring);
    return status;
}
