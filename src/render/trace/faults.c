/* SPDX-License-Identifier: MIT */
/* A line of `trace` for each page fault: the code that met it and the place that it looked for. */
#include "format/names.h"
#include "render/trace/trace.h"

/* The code as a function and an offset in it. Where nothing is mapped, perf prints the address that
 * was looked for in place of the code's own. */
static void put_code(struct pd_trace *trace, const struct pd_tp_sample *sample,
                     const struct pd_location *location)
{
    struct pd_text *out = &trace->tp.out;
    if (location && location->sym)
        pd_text_format(out, "%s+0x%llx", location->sym->name,
                       (unsigned long long)(location->addr - location->sym->start));
    else if (location && location->map)
        pd_text_format(out, "0x%llx", (unsigned long long)location->addr);
    else
        pd_text_format(out, "0x%llx",
                       (unsigned long long)(trace->tp.recording->like_perf ? sample->sample.addr
                                                                           : sample->sample.ip));
}

/* The object and the address in it, then whether anything is mapped there, and on which side of
 * the system. */
static void put_data(struct pd_trace *trace, const struct pd_tp_sample *sample,
                     const struct pd_location *location)
{
    struct pd_text *out = &trace->tp.out;
    bool is_mapped = location && location->map;
    if (is_mapped && location->dso)
        pd_text_format(out, "%s@", pd_symbols_long_name(trace->tp.session.symbols, location->dso));
    pd_text_format(out, "0x%llx (%c%c)\n",
                   (unsigned long long)(is_mapped ? location->addr : sample->sample.addr),
                   is_mapped ? 'd' : '?', sample->sample.cpumode == PD_CPUMODE_KERNEL ? 'k' : '.');
}

static perfdata_status take_fault(struct pd_trace *trace, const struct pd_tp_sample *sample,
                                  bool is_major)
{
    const bool sums_only = pd_trace_has(trace, PERFDATA_SYSCALLS_SUMMARY_ONLY);
    struct pd_thread *thread;
    size_t frames = 0;
    if ((!sums_only || trace->options->min_stack) &&
        (!(thread = pd_tp_thread(sample, sample->sample.pid, sample->sample.tid)) ||
         !pd_trace_chain(trace, sample, thread, &frames)))
        return pd_tp_no_memory(&trace->tp);
    if (sample->sample.callchain && frames < trace->options->min_stack)
        return PERFDATA_OK;
    struct pd_trace_task *task = pd_trace_task(trace, sample, &thread);
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    *(is_major ? &task->major_faults : &task->minor_faults) += 1;
    if (sums_only || pd_trace_is_full(trace))
        return PERFDATA_OK;
    pd_trace_put_head(trace, sample, thread, sample->sample.time, true, 0);
    pd_text_format(&trace->tp.out, "%sfault [", is_major ? "maj" : "min");
    put_code(trace, sample, pd_tp_resolve(sample, thread));
    pd_text_string(&trace->tp.out, "] => ");
    put_data(trace, sample,
             pd_tp_resolve_at(sample, thread, sample->sample.cpumode, sample->sample.addr));
    pd_trace_put_chain(trace, frames);
    return PERFDATA_OK;
}

static perfdata_status take_major(void *data, const struct pd_tp_sample *sample)
{
    return take_fault(data, sample, true);
}

/* Faults of which the event does not tell the kind count as minor ones, as with perf. */
static perfdata_status take_minor(void *data, const struct pd_tp_sample *sample)
{
    return take_fault(data, sample, false);
}

const struct pd_tp_handler *pd_trace_fault_handler(const struct pd_event *event)
{
    static const struct pd_tp_handler major = { .take = take_major };
    static const struct pd_tp_handler minor = { .take = take_minor };
    if (event->attr.type != PD_TYPE_SOFTWARE)
        return NULL;
    switch (event->attr.config) {
    case PD_SW_PAGE_FAULTS_MAJ: return &major;
    case PD_SW_PAGE_FAULTS:
    case PD_SW_PAGE_FAULTS_MIN: return &minor;
    default: return NULL;
    }
}
