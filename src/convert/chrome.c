/* SPDX-License-Identifier: MIT */
/* Samples -> the trace event format of Chromium: samples that refer to a tree of stack frames,
 * names of threads. */
#include "convert/convert.h"
#include "base/digits.h"
#include <stdlib.h>

struct chrome {
    bool begun;
};

/* Microseconds with three decimals. */
static void put_time(struct pd_text *out, uint64_t time)
{
    pd_text_u64(out, time / 1000, 0, ' ');
    pd_text_char(out, '.');
    pd_text_u64(out, time % 1000, 3, '0');
}

static void put_task(struct pd_text *out, const struct perfdata_profile_thread *thread)
{
    pd_text_string(out, "\"pid\":");
    pd_text_i64(out, (int32_t)thread->pid, 0);
    pd_text_string(out, ",\"tid\":");
    pd_text_i64(out, (int32_t)thread->tid, 0);
}

static perfdata_status begin(struct pd_convert *x)
{
    x->state = calloc(1, sizeof(struct chrome));
    if (!x->state)
        return pd_convert_no_memory(x);
    pd_text_string(&x->out, "{\"displayTimeUnit\":\"ns\",\"samples\":[");
    return PERFDATA_OK;
}

static perfdata_status put_samples(struct pd_convert *x, const struct perfdata_samples *samples)
{
    struct chrome *chrome = x->state;
    struct pd_text *out = &x->out;
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < samples->count && status >= 0; i++) {
        if (!x->events[samples->event[i]])
            continue;
        pd_text_string(out, chrome->begun ? ",\n{" : "\n{");
        chrome->begun = true;
        put_task(out, pd_profile_thread(x->profile, samples->thread[i]));
        pd_text_string(out, ",\"cpu\":");
        pd_text_i64(out, (int32_t)samples->cpu[i], 0);
        pd_text_string(out, ",\"ts\":");
        put_time(out, samples->time[i] == UINT64_MAX ? 0 : samples->time[i]);
        pd_text_string(out, ",\"name\":");
        pd_convert_json(out, perfdata_profile_event(x->profile, samples->event[i])->name);
        pd_text_string(out, ",\"weight\":");
        pd_text_u64(out, pd_convert_weight(x, 1, samples->weight[i]), 0, ' ');
        pd_text_string(out, ",\"sf\":");
        pd_text_u64(out, samples->stack[i], 0, ' ');
        pd_text_char(out, '}');
        status = pd_convert_flush(x, false);
    }
    return status;
}

static void put_frame(struct pd_convert *x, uint32_t index)
{
    const struct perfdata_profile_stack *stack = pd_profile_stack(x->profile, index);
    uint32_t function = pd_profile_frame(x->profile, stack->frame)->function;
    const struct perfdata_profile_object *object = perfdata_profile_object(
        x->profile, pd_profile_function(x->profile, function)->object);
    struct pd_text *out = &x->out;
    pd_text_string(out, index ? ",\n\"" : "\n\"");
    pd_text_u64(out, index, 0, ' ');
    pd_text_string(out, "\":{\"name\":");
    pd_convert_json_function(x, function, out);
    pd_text_string(out, ",\"category\":");
    pd_convert_json(out, object ? object->name : "[unknown]");
    if (stack->parent != PERFDATA_NONE) {
        pd_text_string(out, ",\"parent\":\"");
        pd_text_u64(out, stack->parent, 0, ' ');
        pd_text_char(out, '"');
    }
    pd_text_char(out, '}');
}

/* Names of threads, and of processes, which are named after their first thread. */
static void put_names(struct pd_convert *x, uint32_t index)
{
    const struct perfdata_profile_thread *thread = perfdata_profile_thread(x->profile, index);
    static const char *const kinds[] = { "thread_name", "process_name" };
    for (size_t i = 0; i < PD_LENGTH(kinds); i++) {
        if (i && thread->pid != thread->tid)
            continue;
        pd_text_string(&x->out, index || i ? ",\n{" : "\n{");
        pd_text_format(&x->out, "\"ph\":\"M\",\"name\":\"%s\",", kinds[i]);
        put_task(&x->out, thread);
        pd_text_string(&x->out, ",\"args\":{\"name\":");
        pd_convert_json(&x->out, thread->comm);
        pd_text_string(&x->out, "}}");
    }
}

static perfdata_status end(struct pd_convert *x)
{
    perfdata_status status = PERFDATA_OK;
    pd_text_string(&x->out, "],\n\"stackFrames\":{");
    for (uint32_t i = 0; i < perfdata_profile_stack_count(x->profile) && status >= 0; i++) {
        put_frame(x, i);
        status = pd_convert_flush(x, false);
    }
    pd_text_string(&x->out, "},\n\"traceEvents\":[");
    for (uint32_t i = 0; i < perfdata_profile_thread_count(x->profile) && status >= 0; i++) {
        put_names(x, i);
        status = pd_convert_flush(x, false);
    }
    pd_text_string(&x->out, "]}\n");
    return status;
}

const struct pd_format pd_format_chrome = {
    .flags = PERFDATA_FORMAT_SAMPLES,
    .profile_flags = PERFDATA_PROFILE_NO_SUMS,
    .detail = PERFDATA_FRAMES_BY_FUNCTION,
    .begin = begin,
    .samples = put_samples,
    .end = end,
};
