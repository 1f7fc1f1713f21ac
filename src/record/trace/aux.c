/* SPDX-License-Identifier: MIT */
/* AUX buffers -> AUXTRACE records and their data. */
#include "record/trace/aux.h"
#include "record/trace/intel_pt.h"
#include "record/records.h"
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static uint64_t flag(unsigned number)
{
    return UINT64_C(1) << number;
}

/* ---- before the attributes ---- */

static perfdata_status check(perfdata_recorder *recorder, size_t index)
{
    struct pd_context *context = &recorder->context;
    size_t count = 0;
    for (size_t i = 0; i < pd_record_event_count(recorder); i++)
        count += pd_aux_area_traces(pd_record_event(recorder, i));
    if (count > 1)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "There may be only one " PD_INTEL_PT " event");
    if (recorder->options.has_clock)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "Cannot use clockid (-k option) with " PD_INTEL_PT);
    if (recorder->options.threads) /* no reader puts the pieces of a trace together again */
        return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "--threads with AUX areas is not supported");
    const struct pd_selected *event = pd_record_event(recorder, index);
    if (event->leader != index)
        return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1, "%s: it must lead its group",
                       event->name);
    return pd_aux_area_check_modes(recorder, index);
}

/* Its descriptor owns the area, so it is opened first; its group comes with it. */
static perfdata_status move_to_front(perfdata_recorder *recorder, size_t index)
{
    size_t count = pd_record_event_count(recorder), next = 0;
    struct pd_selected *list = recorder->events.list.data;
    struct pd_selected *moved = malloc(count * sizeof *moved);
    uint32_t *places = malloc(count * sizeof *places);
    for (unsigned pass = 0; pass < 3 && moved && places; pass++)
        for (size_t i = 0; i < count; i++)
            if (pass == (i == index ? 0u : list[i].leader == index ? 1u : 2u)) {
                places[i] = (uint32_t)next;
                moved[next++] = list[i];
            }
    for (size_t i = 0; i < next; i++) {
        list[i] = moved[i];
        list[i].leader = places[list[i].leader];
    }
    free(moved);
    free(places);
    return next == count ? PERFDATA_OK : pd_record_no_memory(recorder);
}

static perfdata_status choose_sizes(perfdata_recorder *recorder, size_t index)
{
    enum { PRIVILEGED = 4 << 20, OTHERS = 128 << 10, DATA = 256 << 10 };
    uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
    struct perfdata_recorder_options *options = &recorder->options;
    bool privileged = !geteuid() || pd_record_paranoid(recorder) < 0;
    bool whole = !pd_aux_area_snapshots(recorder) && !pd_aux_area_samples(recorder);
    uint32_t least = whole ? 8 << 10 : 4 << 10;
    if (!options->aux_pages && !privileged && !options->pages)
        options->pages = DATA / page;
    if (!options->aux_pages && options->snapshot_size) {
        if (options->snapshot_size > UINT64_C(1) << 40)
            return pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "a snapshot of %" PRIu64 " bytes", options->snapshot_size);
        for (options->aux_pages = 1; (uint64_t)options->aux_pages * page < options->snapshot_size;)
            options->aux_pages *= 2;
    } else if (!options->aux_pages) {
        options->aux_pages = (privileged ? PRIVILEGED : OTHERS) / page;
    }
    uint64_t size = (uint64_t)options->aux_pages * page;
    if (size < least || options->aux_pages & (options->aux_pages - 1))
        return pd_fail(
            &recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
            "Invalid mmap size for Intel Processor Trace: must be at least %uKiB and a power of 2",
            least >> 10);
    if (pd_aux_area_snapshots(recorder))
        return pd_aux_area_snapshot_size(recorder, index);
    pd_aux_area_warn_samples(recorder, index);
    return PERFDATA_OK;
}

/* A hypervisor whose guests have traces of their own leaves them out of the host's. */
static void set_guests(const perfdata_recorder *recorder, struct pd_attr *attr)
{
    enum { HOST_AND_GUESTS = 1 };
    int64_t mode = pd_roots_number(&recorder->roots, 0, "/sys/module/kvm_intel/parameters/pt_mode");
    attr->flags &= ~flag(PD_ATTR_EXCLUDE_GUEST);
    if (mode == HOST_AND_GUESTS)
        attr->flags |= flag(PD_ATTR_EXCLUDE_GUEST);
}

perfdata_status pd_aux_area_prepare(perfdata_recorder *recorder)
{
    int64_t index = pd_aux_area_event(recorder);
    if (index < 0 && (pd_aux_area_snapshots(recorder) || pd_aux_area_samples(recorder)))
        return pd_aux_area_refuse_modes(recorder);
    if (index < 0)
        return recorder->options.aux_pages
                   ? pd_fail(&recorder->context, PERFDATA_ERROR_ARGUMENT, -1,
                             "sizes of AUX areas go with events that have one")
                   : PERFDATA_OK;
    struct pd_selected *trace = pd_record_event(recorder, (size_t)index);
    pd_aux_area_group(recorder, (size_t)index);
    if (pd_aux_area_samples(recorder))
        pd_intel_pt_default_sampled(&recorder->roots, &trace->attr, trace->said_config);
    set_guests(recorder, &trace->attr);
    if (pd_intel_pt_force(&recorder->roots, &trace->attr))
        pd_record_log(recorder, 0, "Warning:\npt=0 doesn't make sense, forcing pt=1\n");
    perfdata_status status = check(recorder, (size_t)index);
    if (status == PERFDATA_OK)
        status = choose_sizes(recorder, (size_t)index);
    if (status == PERFDATA_OK)
        status = move_to_front(recorder, (size_t)index);
    if (status < 0)
        return status;
    recorder->options.flags |= PERFDATA_RECORDER_ALL_BUILD_IDS | PERFDATA_RECORDER_IDENTIFIER;
    status = pd_aux_area_add_switches(recorder);
    struct pd_selected *tracking = status == PERFDATA_OK ? pd_aux_area_add_dummy(recorder) : NULL;
    if (status == PERFDATA_OK && !tracking)
        status = pd_record_no_memory(recorder);
    if (tracking) {
        tracking->tracking = true;
        tracking->at_once = recorder->targets.by_cpu;
        if (!recorder->targets.per_thread)
            tracking->attr.sample_type |= PD_SAMPLE_CPU;
        /* code that the kernel changes while it is traced */
        if (!pd_attr_flag(&pd_record_event(recorder, 0)->attr, PD_ATTR_EXCLUDE_KERNEL))
            tracking->attr.flags |= flag(PD_ATTR_TEXT_POKE);
    }
    return status;
}

void pd_aux_area_configure(perfdata_recorder *recorder)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (pd_aux_area_event(recorder) < 0)
        return;
    struct pd_attr *attr = &pd_record_event(recorder, 0)->attr;
    attr->sample_period = 1;
    attr->flags &= ~flag(PD_ATTR_FREQ);
    attr->sample_type &= ~(uint64_t)PD_SAMPLE_PERIOD;
    if (!recorder->targets.per_thread)
        attr->sample_type |= PD_SAMPLE_CPU;
    if (!pd_aux_area_snapshots(recorder) && !pd_aux_area_samples(recorder))
        attr->aux_watermark = (uint32_t)(recorder->options.aux_pages * page / 4);
    pd_aux_area_set_samples(recorder, 0);
}

/* ---- the area ---- */

static struct perf_event_mmap_page *control_page(const struct pd_ring *ring)
{
    return (struct perf_event_mmap_page *)(void *)ring->base;
}

perfdata_status pd_aux_area_map(perfdata_recorder *recorder, struct pd_ring *ring)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    struct perf_event_mmap_page *control = control_page(ring);
    ring->aux_size = recorder->options.aux_pages * page;
    control->aux_offset = ring->size + page;
    control->aux_size = ring->aux_size;
    pd_record_log(recorder, 2, "AUX area mmap length %" PRIu64 "\n", ring->aux_size);
    /* one that may not be written to is overwritten by the kernel */
    bool whole = !pd_aux_area_snapshots(recorder) && !pd_aux_area_samples(recorder);
    void *aux = recorder->calls.map(recorder->calls.data, ring->aux_size,
                                    whole ? PROT_READ | PROT_WRITE : PROT_READ, ring->fd,
                                    control->aux_offset);
    if (aux != MAP_FAILED) {
        ring->aux = aux;
        ring->mark_size = pd_aux_area_snapshots(recorder)
                              ? pd_aux_area_mark_size(recorder, ring->aux_size)
                              : 0;
        return PERFDATA_OK;
    }
    return pd_record_map_failed(recorder, "failed to mmap AUX area", errno);
}

void pd_aux_area_unmap(perfdata_recorder *recorder, struct pd_ring *ring)
{
    if (ring->aux)
        recorder->calls.unmap(recorder->calls.data, ring->aux, ring->aux_size);
    ring->aux = NULL;
    free(ring->mark);
    ring->mark = NULL;
}

perfdata_status pd_aux_area_read(perfdata_recorder *recorder, uint32_t index, uint64_t *moved)
{
    struct pd_ring *ring = &recorder->live.rings.data[index];
    if (!ring->aux || pd_aux_area_snapshots(recorder) || pd_aux_area_samples(recorder))
        return PERFDATA_OK;
    struct perf_event_mmap_page *page = control_page(ring);
    uint64_t head = __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE), tail = ring->aux_read;
    if (head == tail)
        return PERFDATA_OK;
    if (head - tail > ring->aux_size)
        tail = head - ring->aux_size;
    perfdata_status status = pd_aux_area_put(recorder, index, tail, head);
    ring->aux_read = head;
    __atomic_store_n(&page->aux_tail, head, __ATOMIC_RELEASE);
    *moved += head - tail;
    /* a full buffer has stopped it */
    if (recorder->phase.enabled)
        (void)recorder->calls.control(recorder->calls.data, ring->fd, PERF_EVENT_IOC_ENABLE, NULL);
    return status;
}

/* ---- what a decoder must know ---- */

/* "184:2" of sysfs: crystal to time stamp counter. */
static void clock_ratio(const perfdata_recorder *recorder, uint64_t *numerator,
                        uint64_t *denominator)
{
    char *text = pd_roots_read(&recorder->roots, NULL,
                               PD_PMU_FOLDER "/" PD_INTEL_PT "/tsc_art_ratio");
    char *colon = text ? strchr(text, ':') : NULL;
    *numerator = colon ? strtoull(text, NULL, 0) : 0;
    *denominator = colon ? strtoull(colon + 1, NULL, 0) : 0;
    free(text);
}

static uint64_t mask_of(const perfdata_recorder *recorder, const char *term)
{
    unsigned word;
    return pd_pmu_mask(&recorder->roots, PD_INTEL_PT, term, &word);
}

perfdata_status pd_aux_area_put_info(perfdata_recorder *recorder)
{
    enum { INTEL_PT_TYPE = 1 };
    struct pd_made made = { 0 };
    uint64_t numerator, denominator;
    if (pd_aux_area_event(recorder) < 0 || !recorder->live.rings.count)
        return PERFDATA_OK;
    const struct perf_event_mmap_page *page = control_page(&recorder->live.rings.data[0]);
    bool timed = page->cap_user_time_zero;
    pd_record_log(recorder, 2, "Synthesizing auxtrace information\n");
    if (!timed)
        pd_record_log(recorder, 0, "Intel Processor Trace: TSC not available\n");
    clock_ratio(recorder, &numerator, &denominator);
    int64_t ratio = pd_roots_number(&recorder->roots, 0,
                                    PD_PMU_FOLDER "/" PD_INTEL_PT "/max_nonturbo_ratio");
    int64_t events = pd_roots_number(&recorder->roots, 0,
                                     PD_PMU_FOLDER "/" PD_INTEL_PT "/caps/event_trace");
    const char *filter = pd_record_event(recorder, 0)->filter;
    uint64_t length = filter ? strlen(filter) : 0;
    const uint64_t words[] = { pd_record_event(recorder, 0)->attr.type,
                               timed ? page->time_shift : 0,
                               timed ? page->time_mult : 0,
                               timed ? page->time_zero : 0,
                               timed,
                               mask_of(recorder, "tsc"),
                               mask_of(recorder, "noretcomp"),
                               recorder->switches,
                               pd_aux_area_snapshots(recorder),
                               !recorder->targets.per_thread,
                               mask_of(recorder, "mtc"),
                               mask_of(recorder, "mtc_period"),
                               numerator,
                               denominator,
                               mask_of(recorder, "cyc"),
                               (uint64_t)ratio,
                               length };
    pd_made_begin(&made, PD_RECORD_AUXTRACE_INFO, 0);
    pd_made_u32(&made, INTEL_PT_TYPE);
    pd_made_u32(&made, 0);
    pd_made_bytes(&made, words, sizeof words);
    if (length)
        pd_made_text(&made, filter, 8);
    pd_made_u64(&made, (uint64_t)events);
    return pd_made_put(recorder, &made, 0);
}
