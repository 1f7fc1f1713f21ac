/* SPDX-License-Identifier: MIT */
/* Who ran where: what a decoder of traces per CPU must know, from records of context switches, or
 * from a tracepoint where the kernel has no such records. */
#include "record/trace/aux.h"
#include "record/trace/intel_pt.h"
#include <linux/perf_event.h>
#include <unistd.h>

enum { ATTR_SIZE = 128 };

/* As AUXTRACE_INFO says it. */
enum { SWITCHES_NONE, SWITCHES_TRACEPOINT, SWITCHES_OWN, SWITCHES_ALL };

static uint64_t flag(unsigned number)
{
    return UINT64_C(1) << number;
}

struct pd_selected *pd_aux_area_add_dummy(perfdata_recorder *recorder)
{
    struct pd_selected *dummy = pd_events_add(&recorder->events, PD_TYPE_SOFTWARE, PD_SW_DUMMY,
                                              "dummy:u");
    if (!dummy)
        return NULL;
    dummy->attr.sample_period = 1;
    dummy->attr.flags = flag(PD_ATTR_EXCLUDE_KERNEL) | flag(PD_ATTR_EXCLUDE_HV);
    return dummy;
}

/* Kernels before 4.3 do not. */
static bool kernel_tells_switches(const perfdata_recorder *recorder)
{
    const struct pd_attr attr = { .type = PD_TYPE_SOFTWARE,
                                  .config = PD_SW_DUMMY,
                                  .size = ATTR_SIZE,
                                  .flags = flag(PD_ATTR_EXCLUDE_KERNEL) |
                                           flag(PD_ATTR_CONTEXT_SWITCH) };
    uint8_t bytes[ATTR_SIZE] = { 0 };
    pd_attr_encode(&attr, false, bytes, sizeof bytes);
    int fd = recorder->calls.event_open(recorder->calls.data, bytes, 0, -1, -1,
                                        PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* sched:sched_switch of all CPUs, for those who may. */
static perfdata_status add_tracepoint(perfdata_recorder *recorder)
{
    const char *tracefs = pd_tracefs(&recorder->roots);
    int64_t id = !tracefs ? -1
                          : pd_roots_number(&recorder->roots, -1, "%s/events/sched/sched_switch/id",
                                            tracefs);
    if (id < 0 || (geteuid() && pd_record_paranoid(recorder) >= 0)) {
        pd_record_log(recorder, 2, "Unable to select sched:sched_switch\n");
        return PERFDATA_OK;
    }
    struct pd_selected *event = pd_events_add(&recorder->events, PD_TYPE_TRACEPOINT, (uint64_t)id,
                                              "sched:sched_switch");
    if (!event)
        return pd_record_no_memory(recorder);
    event->system = "sched";
    event->tracepoint = "sched_switch";
    event->attr.sample_period = 1;
    event->attr.sample_type = PD_SAMPLE_RAW | PD_SAMPLE_TIME | PD_SAMPLE_CPU | PD_SAMPLE_PERIOD;
    event->attr.flags = flag(PD_ATTR_EXCLUDE_GUEST);
    event->at_once = event->everywhere = true;
    recorder->switches = SWITCHES_TRACEPOINT;
    return PERFDATA_OK;
}

/* The records of all CPUs' switches go with an event of all CPUs. */
static perfdata_status add_records(perfdata_recorder *recorder)
{
    bool everywhere = !geteuid() || pd_record_paranoid(recorder) < 1;
    recorder->switches = recorder->targets.by_cpu || everywhere ? SWITCHES_ALL : SWITCHES_OWN;
    if (recorder->targets.by_cpu || !everywhere) {
        recorder->options.flags |= PERFDATA_RECORDER_SWITCH_EVENTS;
        return PERFDATA_OK;
    }
    struct pd_selected *dummy = pd_aux_area_add_dummy(recorder);
    if (!dummy)
        return pd_record_no_memory(recorder);
    dummy->attr.flags |= flag(PD_ATTR_CONTEXT_SWITCH);
    dummy->attr.sample_type |= PD_SAMPLE_CPU;
    dummy->at_once = dummy->everywhere = true;
    return PERFDATA_OK;
}

perfdata_status pd_aux_area_add_switches(perfdata_recorder *recorder)
{
    unsigned word;
    const struct perfdata_recorder_options *options = &recorder->options;
    uint64_t tsc = pd_pmu_mask(&recorder->roots, PD_INTEL_PT, "tsc", &word);
    bool timed = (pd_record_event(recorder, 0)->attr.config & tsc) != 0;
    bool kernel_only = pd_attr_flag(&pd_record_event(recorder, 0)->attr, PD_ATTR_EXCLUDE_USER);
    bool others = recorder->targets.by_cpu || options->pids || options->tids || options->has_user;
    perfdata_status status = PERFDATA_OK;
    recorder->switches = SWITCHES_NONE;
    if (recorder->targets.per_thread)
        return PERFDATA_OK;
    if (timed && !options->no_switches)
        status = kernel_tells_switches(recorder) ? add_records(recorder) : add_tracepoint(recorder);
    if (recorder->switches == SWITCHES_NONE && others && !kernel_only)
        pd_record_log(recorder, 0,
                      "Warning:\nIntel Processor Trace decoding will not be possible except for "
                      "kernel tracing!\n");
    return status;
}
