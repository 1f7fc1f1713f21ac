/* SPDX-License-Identifier: MIT */
/* What all lines of `trace` have: time, duration and thread in front, a call chain below. */
#include "render/trace/trace.h"

struct pd_trace_task *pd_trace_task(struct pd_trace *trace, const struct pd_tp_sample *sample,
                                    struct pd_thread **thread)
{
    *thread = pd_tp_thread(sample, sample->sample.pid, sample->sample.tid);
    if (!*thread || !pd_vec_widen_to(&trace->tasks, (size_t)(*thread)->index + 1)) {
        pd_tp_no_memory(&trace->tp);
        return NULL;
    }
    struct pd_trace_task *task = &trace->tasks.data[(*thread)->index];
    task->thread = *thread;
    task->events++;
    return task;
}

void pd_trace_put_head(struct pd_trace *trace, const struct pd_tp_sample *sample,
                       const struct pd_thread *thread, uint64_t time, bool timed, uint64_t duration)
{
    struct pd_text *out = &trace->tp.out;
    trace->lines++;
    if (time && !trace->settings.no_time)
        pd_text_format(out, "%10.3f ", (double)(time - trace->base) / 1e6);
    else if (!trace->settings.no_time)
        pd_text_string(out, "         ? ");
    if (timed && !trace->settings.no_duration)
        pd_text_format(out, "(%6.3f ms): ", (double)duration / 1e6);
    else if (!trace->settings.no_duration)
        pd_text_string(out, "(         ): ");
    if (!pd_trace_has(trace, PERFDATA_SYSCALLS_NO_COMM))
        pd_text_format(out, "%.14s/", pd_tp_comm(sample, thread));
    pd_text_format(out, "%d ", (int)thread->tid);
}

bool pd_trace_chain(struct pd_trace *trace, const struct pd_tp_sample *sample,
                    const struct pd_thread *thread, size_t *count)
{
    enum { ALL = 1024 };
    uint32_t asked = trace->options->max_stack;
    size_t room = asked ? PD_MIN(asked, ALL) : ALL;
    bool invalid = false;
    *count = 0;
    if (!sample->sample.callchain || !trace->tp.resolver)
        return true;
    if (!pd_vec_reserve(&trace->frames, room))
        return false;
    *count = pd_resolve_chain(trace->tp.resolver, &sample->sample, thread, sample->record->number,
                              (unsigned)room, trace->frames.data, room, &invalid);
    return true;
}

void pd_trace_put_chain(struct pd_trace *trace, size_t count)
{
    enum { INDENT = 39 };
    struct pd_text *out = &trace->tp.out;
    for (size_t i = 0; i < count; i++) {
        const struct pd_frame *frame = &trace->frames.data[i];
        const struct pd_location *location = frame->location;
        pd_text_fill(out, ' ', INDENT);
        if (location && location->sym)
            pd_text_string(out, location->sym->name);
        else
            pd_text_format(out, "[%#llx]",
                           (unsigned long long)(location && location->map ? location->addr : 0));
        bool is_inlined = location && location->sym && location->sym->inlined;
        if (is_inlined)
            pd_text_char(out, '\n');
        else
            pd_text_format(out, " (%s)\n",
                           location && location->map && location->dso ? location->dso->name
                                                                      : "[unknown]");
    }
}
