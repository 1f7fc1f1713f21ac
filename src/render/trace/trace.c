/* SPDX-License-Identifier: MIT */
/* `trace`: a line a system call, from raw_syscalls:sys_enter and sys_exit; what each thread's calls
 * took. */
#include "container/handle.h"
#include "format/names.h"
#include "io/output_file.h"
#include "render/trace/trace.h"
#include <perfdata/syscalls.h>
#include <stdio.h>
#include <stdlib.h>

enum { ERRORS = 4096 };

static bool is_left_out(void *data, const struct pd_tp_sample *from)
{
    struct pd_trace *trace = data;
    const struct pd_sample *sample = &from->sample;
    if (pd_event_switch_any(&trace->event_switch) &&
        pd_event_switch_drops(&trace->event_switch, from->record->event))
        return true;
    return !pd_filter_numbers(&trace->filter, sample->pid, sample->tid, sample->cpu) ||
           (trace->without.has_pids && (pd_filter_numbers(&trace->without, sample->pid, 0, 0) ||
                                        pd_filter_numbers(&trace->without, sample->tid, 0, 0)));
}

static bool leaves_out_any(const struct pd_trace *trace)
{
    const struct pd_filter *filter = &trace->filter;
    return filter->has_pids || filter->has_tids || filter->has_cpus || trace->without.has_pids ||
           pd_event_switch_any(&trace->event_switch);
}

/* ---- lines ---- */

static void align(struct pd_text *out, size_t written, size_t to)
{
    if (written < to)
        pd_text_fill(out, ' ', to - written);
}

/* Puts the call of another thread that is still going on when this one begins. */
static void put_interrupted(struct pd_trace *trace, const struct pd_tp_sample *sample)
{
    enum { DOTS = 4 };
    struct pd_text *out = &trace->tp.out;
    struct pd_trace_task *task = trace->current ? &trace->tasks.data[trace->current - 1] : NULL;
    if (!task || !task->pending)
        return;
    pd_trace_put_head(trace, sample, task->thread, task->entered, false, 0);
    pd_text_bytes(out, task->entry.data, task->entry.length);
    pd_text_char(out, ')');
    align(out, task->entry.length + 1 + DOTS, trace->settings.alignment);
    pd_text_string(out, " ...\n");
    task->pending = false;
}

struct named {
    const struct pd_trace *trace;
    const struct pd_tp_sample *sample;
};

static const char *known_name(void *data, uint32_t tid)
{
    const struct named *named = data;
    const struct pd_thread *thread = pd_timeline_find(named->trace->tp.session.timeline, tid);
    return thread ? pd_tp_comm(named->sample, thread) : NULL;
}

static void put_error(int number, struct pd_text *out)
{
    const char *name = strerrorname_np(number), *text = strerrordesc_np(number);
    pd_text_format(out, "-1 %s (", name ? name : "(unknown)");
    if (text) /* else the kernel's own, and perf's words for what it does not know */
        pd_text_string(out, text);
    else
        pd_text_format(out, "INTERNAL ERROR: strerror_r(%d, [buf], 128)=22", number);
    pd_text_char(out, ')');
}

/* Puts a result that is a task, with its name, if that is known. perf shows nothing of other
 * results. */
static void put_result_task(struct pd_trace *trace, const struct pd_tp_sample *sample,
                            int64_t result)
{
    struct named named = { trace, sample };
    const char *name = known_name(&named, (uint32_t)result);
    if (name || !trace->tp.recording->like_perf)
        pd_text_i64(&trace->tp.out, result, 0);
    if (name)
        pd_text_format(&trace->tp.out, " (%s)", name);
}

static void put_result(struct pd_trace *trace, const struct pd_tp_sample *sample,
                       const struct pd_syscall *call, const struct pd_trace_task *task,
                       int64_t result)
{
    struct pd_text *out = &trace->tp.out;
    struct named named = { trace, sample };
    const struct pd_task_names names = { known_name, &named };
    if (task->entered && pd_syscall_put_result(call, task->values, result, &names, out))
        return;
    if (result < 0)
        put_error((int)-(uint64_t)result, out);
    else if (!result && pd_syscall_times_out(call))
        pd_text_string(out, "0 (Timeout)");
    else if (pd_syscall_returns_task(call))
        put_result_task(trace, sample, result);
    else if (pd_syscall_returns_address(call))
        pd_text_format(out, "%#llx", (unsigned long long)result);
    else
        pd_text_i64(out, result, 0);
}

/* ---- samples ---- */

enum { ID, ARGUMENTS_OR_RESULT };

static void make_entry(struct pd_trace *trace, const struct pd_tp_sample *sample,
                       const struct pd_syscall *call, struct pd_trace_task *task)
{
    const struct pd_trace_field *field = sample->plan->fields[ARGUMENTS_OR_RESULT];
    struct pd_syscall_text *text = &trace->scratch;
    uint64_t values[PD_SYSCALL_ARGUMENTS] = { 0 };
    size_t size = 0;
    const uint8_t *bytes = field ? pd_trace_bytes(sample->plan->format, field, sample->sample.raw,
                                                  sample->sample.raw_size, &size)
                                 : NULL;
    size_t word = field && field->element_size == 4 ? 4
                                                    : 8; /* a `long` of the recording's machine */
    for (size_t i = 0; bytes && i < PD_SYSCALL_ARGUMENTS && word * (i + 1) <= size; i++)
        values[i] = word == 4 ? pd_load32(bytes + word * i, sample->sample.swap)
                              : pd_load64(bytes + word * i, sample->sample.swap);
    struct named named = { trace, sample };
    const struct pd_task_names names = { known_name, &named };
    text->text.length = text->hanging = 0;
    text->zeros = trace->settings.zeros;
    text->no_names = trace->settings.no_names;
    pd_text_format(&text->text, "%s(", call->name);
    const size_t begin = text->text.length;
    for (unsigned i = 0; i < call->count; i++) {
        size_t before = text->text.length, hanging = text->hanging;
        char tail[PD_SYSCALL_HANGING];
        if (hanging == before && hanging)
            memcpy(tail, text->text.data + before, sizeof tail);
        pd_text_string(&text->text, before > begin ? ", " : "");
        if (pd_syscall_put_argument(call, i, values, &names, text))
            continue;
        text->text.length = before;
        if (hanging == before && hanging)
            memcpy(text->text.data + before, tail, sizeof tail);
    }
    if (text->hanging && text->hanging == text->text.length)
        text->text.length += PD_SYSCALL_HANGING;
    memcpy(task->values, values, sizeof task->values);
    task->entry.length = 0;
    pd_text_bytes(&task->entry, text->text.data, text->text.length);
}

static bool prints_entries(const struct pd_trace *trace)
{
    return !pd_trace_is_full(trace) && !trace->options->duration && !trace->options->min_stack &&
           !pd_trace_has(trace, PERFDATA_SYSCALLS_SUMMARY_ONLY | PERFDATA_SYSCALLS_FAILURES);
}

static perfdata_status unknown_call(struct pd_trace *trace, const struct pd_tp_sample *sample,
                                    uint64_t number)
{
    bool is_none = (uint32_t)number == UINT32_MAX; /* what a signal's return says */
    if (is_none || trace->unknown++)
        return PERFDATA_OK;
    return pd_issue(&trace->tp.recording->context, PERFDATA_ISSUE_UNSUPPORTED,
                    (int64_t)sample->record->offset,
                    "system call %lld is in no table: such calls are left out", (long long)number);
}

/* Puts the sample behind a line, for those who look for mistakes. */
static void put_sample(struct pd_trace *trace, const struct pd_tp_sample *sample,
                       const struct pd_thread *thread)
{
    const struct pd_sample *from = &sample->sample;
    pd_text_format(&trace->tp.out, "%22s %10.3f %s %d/%d [%d]\n", sample->record->event->name,
                   (double)from->time / 1e6, pd_tp_comm(sample, thread), (int)from->pid,
                   (int)from->tid, (int)from->cpu);
}

/* What is done with a call that is shown, when a sample enters or leaves it. */
typedef perfdata_status take_call_fn(struct pd_trace *trace, const struct pd_tp_sample *sample,
                                     const struct pd_syscall *call, struct pd_thread *thread,
                                     struct pd_trace_task *task);

static perfdata_status take_call(struct pd_trace *trace, const struct pd_tp_sample *sample,
                                 take_call_fn *take)
{
    uint64_t number = pd_tp_number(sample, ID);
    const struct pd_syscall *call = pd_syscalls_at(trace->syscalls, number);
    if (!call)
        return unknown_call(trace, sample, number);
    if (call->perf_lacks && trace->tp.recording->like_perf)
        return PERFDATA_OK;
    if (!pd_syscall_is_one_of(call->name, trace->options->calls))
        return PERFDATA_OK;
    struct pd_thread *thread;
    struct pd_trace_task *task = pd_trace_task(trace, sample, &thread);
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    if (pd_trace_has(trace, PERFDATA_SYSCALLS_SAMPLES))
        put_sample(trace, sample, thread);
    return take(trace, sample, call, thread, task);
}

static perfdata_status enter(struct pd_trace *trace, const struct pd_tp_sample *sample,
                             const struct pd_syscall *call, struct pd_thread *thread,
                             struct pd_trace_task *task)
{
    if (prints_entries(trace))
        put_interrupted(trace, sample);
    task->entered = sample->sample.time;
    if (!pd_trace_has(trace, PERFDATA_SYSCALLS_SUMMARY_ONLY))
        make_entry(trace, sample, call, task);
    if (!call->is_exit) {
        task->pending = true;
    } else if (prints_entries(trace)) {
        pd_trace_put_head(trace, sample, thread, task->entered, false, 0);
        pd_text_bytes(&trace->tp.out, task->entry.data, task->entry.length);
        pd_text_char(&trace->tp.out, ')');
        align(&trace->tp.out, task->entry.length + 1,
              PD_MAX(trace->settings.alignment, task->entry.length + 2));
        pd_text_string(&trace->tp.out, "= ?\n");
    }
    trace->current = thread->index + 1;
    return PERFDATA_OK;
}

static perfdata_status take_enter(void *data, const struct pd_tp_sample *sample)
{
    return take_call(data, sample, enter);
}

static struct pd_trace_call *find_stats(struct pd_trace *trace, const struct pd_thread *thread,
                                        uint64_t number)
{
    uint64_t key = (uint64_t)thread->index << 32 | (uint32_t)number;
    uint32_t at = pd_map64_get(&trace->stats_at, key);
    if (at != PD_MAP64_NONE)
        return &trace->stats.data[at];
    struct pd_trace_call fresh = { .number = (uint32_t)number, .thread = thread->index };
    if (trace->stats.count >= PD_MAP64_NONE || !pd_vec_push(&trace->stats, fresh) ||
        !pd_map64_set(&trace->stats_at, key, (uint32_t)trace->stats.count - 1))
        return NULL;
    return &trace->stats.data[trace->stats.count - 1];
}

/* A thread often makes the same call again and again. */
static struct pd_trace_call *stats_of(struct pd_trace *trace, struct pd_trace_task *task,
                                      uint64_t number)
{
    struct pd_trace_call *stats = task->stats ? &trace->stats.data[task->stats - 1] : NULL;
    if (stats && stats->number == (uint32_t)number)
        return stats;
    stats = find_stats(trace, task->thread, number);
    task->stats = stats ? (uint32_t)(stats - trace->stats.data) + 1 : 0;
    return stats;
}

static bool count_call(struct pd_trace *trace, struct pd_trace_task *task, uint64_t number,
                       uint64_t duration, int64_t result)
{
    struct pd_trace_call *stats = stats_of(trace, task, number);
    if (!stats)
        return false;
    pd_spread_add(&stats->durations, duration);
    if (result >= 0)
        return true;
    stats->failures++;
    if (!pd_trace_has(trace, PERFDATA_SYSCALLS_ERRNO_SUMMARY) || result <= -ERRORS)
        return true;
    if (!stats->errors) {
        struct pd_trace_errors none = { 0 };
        if (!pd_vec_push(&trace->errors, none))
            return false;
        stats->errors = (uint32_t)trace->errors.count;
    }
    struct pd_trace_errors *counts = &trace->errors.data[stats->errors - 1];
    if (!pd_vec_widen_to(&counts->of, (size_t)-result + 1))
        return false;
    counts->of.data[-result]++;
    return true;
}

static void put_exit(struct pd_trace *trace, const struct pd_tp_sample *sample,
                     const struct pd_syscall *call, const struct pd_thread *thread,
                     const struct pd_trace_task *task, int64_t result)
{
    struct pd_text *out = &trace->tp.out;
    bool timed = task->entered != 0;
    pd_trace_put_head(trace, sample, thread, task->entered, timed,
                      sample->sample.time - task->entered);
    size_t from = out->length;
    if (task->pending)
        pd_text_bytes(out, task->entry.data, task->entry.length);
    else
        pd_text_format(out, " ... [continued]: %s()", call->name);
    pd_text_char(out, ')');
    size_t written = out->length - from;
    align(out, written, PD_MAX(trace->settings.alignment, written + 1));
    pd_text_string(out, "= ");
    put_result(trace, sample, call, task, result);
    pd_text_char(out, '\n');
}

static perfdata_status leave(struct pd_trace *trace, const struct pd_tp_sample *sample,
                             const struct pd_syscall *call, struct pd_thread *thread,
                             struct pd_trace_task *task)
{
    int64_t result = pd_syscall_result(call, pd_tp_number(sample, ARGUMENTS_OR_RESULT));
    uint64_t time = sample->sample.time;
    uint64_t duration = task->entered && time > task->entered ? time - task->entered : 0;
    bool sums = pd_trace_has(trace, PERFDATA_SYSCALLS_SUMMARY | PERFDATA_SYSCALLS_SUMMARY_ONLY);
    if (sums && !count_call(trace, task, pd_tp_number(sample, ID), duration, result))
        return pd_tp_no_memory(&trace->tp);
    bool shown = !pd_trace_is_full(trace) && !pd_trace_has(trace, PERFDATA_SYSCALLS_SUMMARY_ONLY) &&
                 (result < 0 || !pd_trace_has(trace, PERFDATA_SYSCALLS_FAILURES)) &&
                 (!trace->options->duration ||
                  (task->entered && duration >= trace->options->duration));
    size_t frames = 0;
    if (shown && !pd_trace_chain(trace, sample, thread, &frames))
        return pd_tp_no_memory(&trace->tp);
    if (shown && (!sample->sample.callchain || frames >= trace->options->min_stack)) {
        put_exit(trace, sample, call, thread, task, result);
        pd_trace_put_chain(trace, frames);
    }
    task->pending = false;
    return PERFDATA_OK;
}

static perfdata_status take_exit(void *data, const struct pd_tp_sample *sample)
{
    return take_call(data, sample, leave);
}

enum { RUNNING, RUNTIME };

static perfdata_status take_runtime(void *data, const struct pd_tp_sample *sample)
{
    struct pd_trace *trace = data;
    struct pd_thread *thread = pd_tp_thread(sample, UINT32_MAX,
                                            (uint32_t)pd_tp_number(sample, RUNNING));
    if (!thread || !pd_vec_widen_to(&trace->tasks, (size_t)thread->index + 1))
        return pd_tp_no_memory(&trace->tp);
    trace->tasks.data[thread->index].runtime += pd_tp_number(sample, RUNTIME);
    return PERFDATA_OK;
}

static perfdata_status note_base(void *data, const struct pd_tp_sample *sample)
{
    struct pd_trace *trace = data;
    if (!trace->base && !pd_trace_has(trace, PERFDATA_SYSCALLS_FULL_TIME))
        trace->base = sample->sample.time;
    trace->events += sample->plan->handler && sample->plan->handler->take != take_runtime;
    return PERFDATA_OK;
}

static const struct pd_tp_handler handlers[] = {
    { "raw_syscalls:sys_enter", { "id", "args" }, take_enter },
    { "raw_syscalls:sys_exit", { "id", "ret" }, take_exit },
    { "sched:sched_stat_runtime", { "pid", "runtime" }, take_runtime },
    { 0 },
};

/* ---- the summary ---- */

/* Multiplies in perf's order, since rounding decides what is equal and so stays in the order of
 * numbers. */
static double total_of(const struct pd_trace_call *stats)
{
    return stats->durations.count * (stats->durations.mean / 1e6);
}

static int longest_first(const void *a, const void *b)
{
    const struct pd_trace_call *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    double m = total_of(x), n = total_of(y);
    if (m > n || m < n)
        return m < n ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static void put_errors(struct pd_trace *trace, const struct pd_trace_call *stats)
{
    const struct pd_trace_errors *counts = stats->errors ? &trace->errors.data[stats->errors - 1]
                                                         : NULL;
    for (size_t i = 0; counts && i < counts->of.count; i++) {
        const char *name = strerrorname_np((int)i);
        if (counts->of.data[i])
            pd_text_format(&trace->tp.out, "\t\t\t\t%s: %u\n", name ? name : "(unknown)",
                           counts->of.data[i]);
    }
}

static void put_call(struct pd_trace *trace, const struct pd_trace_call *stats)
{
    const struct pd_spread *took = &stats->durations;
    const struct pd_syscall *call = pd_syscalls_at(trace->syscalls, stats->number);
    pd_text_format(&trace->tp.out, "   %-15s %8llu %6llu %9.3f %9.3f %9.3f %9.3f %9.2f%%\n",
                   call ? call->name : "?", (unsigned long long)took->count,
                   (unsigned long long)stats->failures, total_of(stats), (double)took->least / 1e6,
                   took->mean / 1e6, (double)took->most / 1e6,
                   took->mean != 0 ? 100 * pd_spread_error(took) / took->mean : 0);
    put_errors(trace, stats);
}

static void put_task(struct pd_trace *trace, const struct pd_trace_task *task, size_t first,
                     size_t end)
{
    struct pd_text *out = &trace->tp.out;
    pd_text_format(out, " %s (%d), %llu events, %.1f%%", pd_tp_final_comm(task->thread),
                   (int)task->thread->tid, (unsigned long long)task->events,
                   trace->events ? (double)task->events / (double)trace->events * 100 : 0);
    if (task->major_faults)
        pd_text_format(out, ", %llu majfaults", (unsigned long long)task->major_faults);
    if (task->minor_faults)
        pd_text_format(out, ", %llu minfaults", (unsigned long long)task->minor_faults);
    if (pd_trace_has(trace, PERFDATA_SYSCALLS_RUNTIME))
        pd_text_format(out, ", %.3f msec", (double)task->runtime / 1e6);
    pd_text_char(out, '\n');
    pd_text_string(
        out,
        "\n   syscall            calls  errors  total       min       avg       max       stddev\n"
        "                                     (msec)    (msec)    (msec)    (msec)        (%)\n"
        "   --------------- --------  ------ -------- --------- --------- ---------     ------\n");
    for (size_t i = first; i < end; i++)
        put_call(trace, &trace->stats.data[i]);
    pd_text_string(out, "\n\n");
}

/* Where the sorted calls of a thread begin. */
static size_t first_of(const struct pd_trace *trace, uint32_t thread)
{
    size_t from = 0, to = trace->stats.count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (trace->stats.data[middle].thread < thread)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

struct sorted {
    const struct pd_trace_task *task;
    size_t place;
};

static int fewest_first(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    uint32_t m = x->task->thread->tid % 256, n = y->task->thread->tid % 256;
    if (m != n)
        return m < n ? -1 : 1;
    if (x->task->events != y->task->events)
        return x->task->events < y->task->events ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Puts threads in perf's order: by its hash buckets, then by how many events they have. */
static perfdata_status put_summary(struct pd_trace *trace)
{
    size_t count, kept = 0;
    struct pd_thread **threads = pd_tp_threads(&trace->tp, &count);
    struct sorted *rows = calloc(trace->tasks.count + 1, sizeof *rows);
    pd_text_string(&trace->tp.out, "\n Summary of events:\n\n");
    if (trace->stats.count)
        qsort(trace->stats.data, trace->stats.count, sizeof *trace->stats.data, longest_first);
    for (size_t i = 0; threads && rows && i < count; i++) {
        struct pd_trace_task *task = threads[i]->index < trace->tasks.count
                                         ? &trace->tasks.data[threads[i]->index]
                                         : NULL;
        if (task && task->thread)
            rows[kept++] = (struct sorted){ task, i };
    }
    if (rows)
        qsort(rows, kept, sizeof *rows, fewest_first);
    for (size_t i = 0; rows && i < kept; i++) {
        size_t first = first_of(trace, rows[i].task->thread->index), end;
        for (end = first; end < trace->stats.count &&
                          trace->stats.data[end].thread == rows[i].task->thread->index;)
            end++;
        put_task(trace, rows[i].task, first, end);
    }
    bool good = threads && rows;
    free(threads);
    free(rows);
    return good ? PERFDATA_OK : pd_tp_no_memory(&trace->tp);
}

/* ---- the run ---- */

static perfdata_status run(struct pd_trace *trace, struct pd_recording *recording,
                           perfdata_write_fn write, void *data)
{
    const struct pd_tp_verb verb = { .handlers = handlers,
                                     .handler_of = pd_trace_fault_handler,
                                     .data = trace,
                                     .hears = PD_TP_HEARS_ALL & ~PD_TP_HEARS(NAMESPACES),
                                     .drops = is_left_out,
                                     .before = note_base };
    trace->syscalls = pd_syscalls_new(pd_features_arch(&recording->features));
    const struct perfdata_syscalls_options *options = trace->options;
    bool has_chains = !pd_trace_has(trace, PERFDATA_SYSCALLS_SUMMARY_ONLY) || options->min_stack;
    perfdata_status status = pd_tp_open(&trace->tp, recording, has_chains ? &options->search : NULL,
                                        &verb, write, data);
    if (status >= 0)
        status = pd_filter_add_numbers(&trace->filter, recording, options->pids, options->tids,
                                       options->cpus);
    if (status >= 0)
        status = pd_filter_add_numbers(&trace->without, recording, options->without_pids, NULL,
                                       NULL);
    if (status >= 0)
        status = pd_event_switch_init(&trace->event_switch, recording, &options->event_switch);
    if (!leaves_out_any(trace))
        trace->tp.verb.drops = NULL;
    if (status >= 0 && !trace->syscalls)
        status = pd_tp_no_memory(&trace->tp);
    if (status >= 0)
        status = pd_tp_run(&trace->tp);
    if (status >= 0 &&
        pd_trace_has(trace, PERFDATA_SYSCALLS_SUMMARY | PERFDATA_SYSCALLS_SUMMARY_ONLY))
        status = put_summary(trace);
    status = pd_tp_close(&trace->tp, status);
    pd_syscalls_free(trace->syscalls);
    pd_filter_free(&trace->filter);
    pd_filter_free(&trace->without);
    pd_vec_free(&trace->frames);
    for (size_t i = 0; i < trace->tasks.count; i++)
        pd_text_free(&trace->tasks.data[i].entry);
    pd_vec_free(&trace->tasks);
    pd_vec_free(&trace->stats);
    for (size_t i = 0; i < trace->errors.count; i++)
        pd_vec_free(&trace->errors.data[i].of);
    pd_vec_free(&trace->errors);
    pd_map64_free(&trace->stats_at);
    pd_text_free(&trace->scratch.text);
    return status;
}

perfdata_status perfdata_syscalls_run(perfdata_recording *recording,
                                      const struct perfdata_syscalls_options *options,
                                      perfdata_write_fn write, void *data)
{
    struct perfdata_syscalls_options known = { 0 };
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status < 0)
        return status;
    struct pd_context *context = &recording->recording.context;
    const char *arch = pd_features_arch(&recording->recording.features);
    if (!pd_syscalls_know(arch))
        return pd_fail(context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "the system calls of %s are in no table yet", arch);
    struct pd_trace trace = { .options = &known };
    status = pd_trace_settings_take(context, &known, &trace.settings);
    if (status < 0)
        return status;
    if (!known.output)
        return run(&trace, &recording->recording, write, data);
    struct pd_output_file file;
    status = pd_handle_output(recording, known.output, &file);
    if (status >= 0)
        status = run(&trace, &recording->recording, pd_output_file_put, &file);
    return pd_output_file_close(context, &file, status);
}
