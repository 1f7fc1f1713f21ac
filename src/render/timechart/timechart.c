/* SPDX-License-Identifier: MIT */
/* `timechart`: what is gathered of the samples, tasks and states of processors, and the run. */
#include "render/timechart/timechart.h"
#include "container/handle.h"
#include "io/output_file.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- tasks ---- */

static bool fork_task(struct pd_chart *chart, uint32_t pid, uint32_t parent, uint64_t time)
{
    const struct pd_chart_task *from = pd_chart_task(chart, parent);
    uint32_t name = from && from->current != PD_CHART_NONE ? chart->names.data[from->current].text
                                                           : PD_INTERN_NONE;
    struct pd_chart_task *task = from ? pd_chart_task(chart, pid) : NULL;
    if (!task)
        return false;
    task->parent = parent;
    if (name != PD_INTERN_NONE && task->current == PD_CHART_NONE &&
        !pd_chart_rename(chart, pid, name))
        return false;
    task->start = time;
    if (task->current == PD_CHART_NONE)
        return true;
    struct pd_chart_name *current = &chart->names.data[task->current];
    if (!current->start)
        current->start = current->since = time;
    return true;
}

static bool end_task(struct pd_chart *chart, uint32_t pid, uint64_t time)
{
    struct pd_chart_task *task = pd_chart_task(chart, pid);
    if (!task)
        return false;
    task->end = time;
    if (task->current != PD_CHART_NONE)
        chart->names.data[task->current].end = time;
    return true;
}

/* ---- records of tasks ---- */

static perfdata_status take_other(void *data, const struct pd_delivered *record)
{
    enum { PID = 8, PARENT = 12, TID = 12, NAME = 16, FORK_TIME = 24 };
    struct pd_chart *chart = data;
    const uint8_t *bytes = record->data;
    bool swap = chart->tp.recording->swap, done = true;
    if (record->type == PD_RECORD_COMM && record->size > NAME) {
        const char *name = (const char *)bytes + NAME;
        uint32_t text = pd_intern(&chart->texts, name, strnlen(name, record->size - NAME));
        done = text != PD_INTERN_NONE && pd_chart_rename(chart, pd_load32(bytes + TID, swap), text);
    } else if (record->size >= FORK_TIME + 8) {
        uint32_t pid = pd_load32(bytes + PID, swap), parent = pd_load32(bytes + PARENT, swap);
        uint64_t time = pd_load64(bytes + FORK_TIME, swap);
        if (record->type == PD_RECORD_FORK)
            done = fork_task(chart, pid, parent, time);
        else if (record->type == PD_RECORD_EXIT)
            done = end_task(chart, pid, time);
    }
    return done ? PERFDATA_OK : pd_tp_no_memory(&chart->tp);
}

/* ---- samples ---- */

static perfdata_status note_time(void *data, const struct pd_tp_sample *sample)
{
    struct pd_chart *chart = data;
    uint64_t time = sample->sample.time;
    if (!(sample->record->event->attr.sample_type & PD_SAMPLE_TIME))
        return PERFDATA_OK;
    if (!chart->first || time < chart->first)
        chart->first = time;
    chart->last = PD_MAX(chart->last, time);
    if (sample->sample.cpu < PD_CHART_CPUS)
        chart->highest_cpu = PD_MAX(chart->highest_cpu, sample->sample.cpu);
    return PERFDATA_OK;
}

bool pd_chart_chain(struct pd_chart *chart, const struct pd_tp_sample *sample, uint32_t *chain)
{
    const uint64_t context = (uint64_t)-4095; /* marks of whose frames follow lie from here on */
    const struct pd_sample *from = &sample->sample;
    struct pd_text text = { 0 };
    for (uint32_t i = 0; from->callchain && i < from->callchain_count; i++) {
        uint64_t ip = pd_load64(from->callchain + (size_t)i * 8, from->swap);
        if (ip < context)
            pd_text_format(&text, "..... %016llx\n", (unsigned long long)ip);
    }
    *chain = text.failed ? PD_INTERN_NONE
                         : pd_intern(&chart->chains, text.length ? text.data : "", text.length);
    pd_text_free(&text);
    return *chain != PD_INTERN_NONE;
}

/* Adds a span: the name was in this state until the sample. */
static bool add_span(struct pd_chart *chart, struct pd_chart_name *name, uint8_t state,
                     uint32_t chain, const struct pd_tp_sample *sample)
{
    struct pd_chart_task *task = &chart->tasks.data[name->task];
    const struct pd_chart_span span = { .start = name->since,
                                        .end = sample->sample.time,
                                        .older = name->spans,
                                        .chain = chain,
                                        .cpu = (uint16_t)sample->sample.cpu,
                                        .state = state };
    name->spans = (uint32_t)chart->spans.count;
    if (state == PD_CHART_RUNNING) {
        task->time += span.end - span.start;
        name->time += span.end - span.start;
    }
    if (!name->start || name->start > span.start)
        name->start = span.start;
    if (!task->start || task->start > span.start)
        task->start = span.start;
    return pd_vec_push(&chart->spans, span);
}

/* Ends the task's state. As perf does, takes a task that leaves a CPU for one that was running. */
static bool end_state(struct pd_chart *chart, struct pd_chart_name *name, bool runs, uint32_t chain,
                      const struct pd_tp_sample *sample)
{
    return !name || name->state == PD_CHART_IDLE ||
           add_span(chart, name, runs ? PD_CHART_RUNNING : name->state, chain, sample);
}

static void begin_state(struct pd_chart_name *name, enum pd_chart_state state,
                        const struct pd_tp_sample *sample)
{
    if (!name)
        return;
    name->since = sample->sample.time;
    name->state = (uint8_t)state;
}

static perfdata_status bad_cpu(const struct pd_tp_sample *sample, uint64_t cpu)
{
    return pd_issue(
        &sample->tp->recording->context, PERFDATA_ISSUE_BAD_SAMPLE, (int64_t)sample->record->offset,
        "a sample of CPU %llu, which no machine has, is left out", (unsigned long long)cpu);
}

static perfdata_status take_switch(void *data, const struct pd_tp_sample *sample)
{
    enum { PREV_PID, NEXT_PID, PREV_STATE };
    enum { BLOCKS = 2 };
    struct pd_chart *chart = data;
    uint32_t chain;
    if (sample->sample.cpu >= PD_CHART_CPUS)
        return bad_cpu(sample, sample->sample.cpu);
    struct pd_chart_name *prev = pd_chart_named(chart, (uint32_t)pd_tp_number(sample, PREV_PID));
    struct pd_chart_name *next = pd_chart_named(chart, (uint32_t)pd_tp_number(sample, NEXT_PID));
    uint64_t state = pd_tp_number(sample, PREV_STATE);
    if (!pd_chart_chain(chart, sample, &chain) || !end_state(chart, prev, true, chain, sample) ||
        !end_state(chart, next, false, chain, sample))
        return pd_tp_no_memory(&chart->tp);
    begin_state(next, PD_CHART_RUNNING, sample);
    begin_state(prev,
                state & BLOCKS ? PD_CHART_BLOCKED
                : state        ? PD_CHART_IDLE
                               : PD_CHART_WAITING,
                sample);
    return PERFDATA_OK;
}

static perfdata_status take_wakeup(void *data, const struct pd_tp_sample *sample)
{
    struct pd_chart *chart = data;
    struct pd_chart_wakeup wakeup = { .time = sample->sample.time,
                                      .wakee = (uint32_t)pd_tp_number(sample, 0) };
    if (sample->sample.cpu >= PD_CHART_CPUS)
        return bad_cpu(sample, sample->sample.cpu);
    if (!pd_chart_chain(chart, sample, &wakeup.chain) || !pd_vec_push(&chart->wakeups, wakeup))
        return pd_tp_no_memory(&chart->tp);
    struct pd_chart_name *name = pd_chart_named(chart, wakeup.wakee);
    if (!name || (name->state != PD_CHART_IDLE && name->state != PD_CHART_BLOCKED))
        return PERFDATA_OK;
    if (name->state == PD_CHART_BLOCKED &&
        !add_span(chart, name, PD_CHART_BLOCKED, PD_CHART_NONE, sample))
        return pd_tp_no_memory(&chart->tp);
    begin_state(name, PD_CHART_WAITING, sample);
    return PERFDATA_OK;
}

enum { STATE, CPU };

static perfdata_status take_idle(void *data, const struct pd_tp_sample *sample)
{
    struct pd_chart *chart = data;
    uint64_t cpu = pd_tp_number(sample, CPU);
    uint32_t state = (uint32_t)pd_tp_number(sample, STATE);
    if (cpu >= PD_CHART_CPUS)
        return bad_cpu(sample, cpu);
    struct pd_chart_cpu *at = &chart->cpus[cpu];
    const struct pd_chart_power power = { .start = at->idle_since,
                                          .end = sample->sample.time,
                                          .cpu = (uint32_t)cpu,
                                          .state = at->idle_state };
    if (state != UINT32_MAX) {
        at->idle_since = sample->sample.time;
        at->idle_state = state;
    } else if (!pd_vec_push(&chart->powers, power)) {
        return pd_tp_no_memory(&chart->tp);
    }
    return PERFDATA_OK;
}

static perfdata_status take_frequency(void *data, const struct pd_tp_sample *sample)
{
    enum { TURBO = 1000, MOST = 8000000 }; /* kHz: more is damage, for perf, too */
    struct pd_chart *chart = data;
    uint64_t cpu = pd_tp_number(sample, CPU);
    uint32_t frequency = (uint32_t)pd_tp_number(sample, STATE);
    if (cpu >= PD_CHART_CPUS)
        return bad_cpu(sample, cpu);
    if (frequency > MOST)
        return pd_issue(&sample->tp->recording->context, PERFDATA_ISSUE_BAD_SAMPLE,
                        (int64_t)sample->record->offset,
                        "a frequency of %u kHz, which no processor has, is left out", frequency);
    struct pd_chart_cpu *at = &chart->cpus[cpu];
    const struct pd_chart_power power = { .start = at->frequency_since ? at->frequency_since
                                                                       : chart->first,
                                          .end = sample->sample.time,
                                          .cpu = (uint32_t)cpu,
                                          .state = at->frequency,
                                          .frequency = true };
    if (!pd_vec_push(&chart->powers, power))
        return pd_tp_no_memory(&chart->tp);
    at->frequency = frequency;
    at->frequency_since = sample->sample.time;
    chart->most_frequency = PD_MAX(chart->most_frequency, frequency);
    if (!chart->least_frequency || frequency < chart->least_frequency)
        chart->least_frequency = frequency;
    if (frequency == chart->most_frequency - TURBO) /* processors tell of turbo by this step */
        chart->turbo_frequency = chart->most_frequency;
    return PERFDATA_OK;
}

/* ---- system calls ---- */

#define IO_KIND(NAME)                                                                              \
    static perfdata_status enter_##NAME(void *data, const struct pd_tp_sample *sample)             \
    {                                                                                              \
        return pd_chart_io_enter(data, sample, PD_CHART_##NAME);                                   \
    }                                                                                              \
    static perfdata_status exit_##NAME(void *data, const struct pd_tp_sample *sample)              \
    {                                                                                              \
        return pd_chart_io_exit(data, sample, PD_CHART_##NAME);                                    \
    }
IO_KIND(READ)
IO_KIND(WRITE)
IO_KIND(SYNC)
IO_KIND(TX)
IO_KIND(RX)
IO_KIND(POLL)

/* Calls with NULL in place of "fd" work on no file, or on several. */
#define IO_CALL(name, KIND, ...)                                                                   \
    { "syscalls:sys_enter_" name, { __VA_ARGS__ }, enter_##KIND },                                 \
    {                                                                                              \
        "syscalls:sys_exit_" name, { "ret" }, exit_##KIND                                          \
    }

static const struct pd_tp_handler handlers[] = {
    { "power:cpu_idle", { "state", "cpu_id" }, take_idle },
    { "power:cpu_frequency", { "state", "cpu_id" }, take_frequency },
    { "sched:sched_wakeup", { "pid" }, take_wakeup },
    { "sched:sched_switch", { "prev_pid", "next_pid", "prev_state" }, take_switch },
    IO_CALL("read", READ, "fd"),
    IO_CALL("pread64", READ, "fd"),
    IO_CALL("readv", READ, "fd"),
    IO_CALL("preadv", READ, "fd"),
    IO_CALL("write", WRITE, "fd"),
    IO_CALL("pwrite64", WRITE, "fd"),
    IO_CALL("writev", WRITE, "fd"),
    IO_CALL("pwritev", WRITE, "fd"),
    IO_CALL("sync", SYNC, NULL),
    IO_CALL("sync_file_range", SYNC, "fd"),
    IO_CALL("fsync", SYNC, "fd"),
    IO_CALL("msync", SYNC, NULL),
    IO_CALL("recvfrom", RX, "fd"),
    IO_CALL("recvmmsg", RX, "fd"),
    IO_CALL("recvmsg", RX, "fd"),
    IO_CALL("sendto", TX, "fd"),
    IO_CALL("sendmsg", TX, "fd"),
    IO_CALL("sendmmsg", TX, "fd"),
    IO_CALL("epoll_pwait", POLL, NULL),
    IO_CALL("epoll_wait", POLL, NULL),
    IO_CALL("poll", POLL, NULL),
    IO_CALL("ppoll", POLL, NULL),
    IO_CALL("pselect6", POLL, NULL),
    IO_CALL("select", POLL, NULL),
    { 0 },
};

/* ---- the run ---- */

static void free_all(struct pd_chart *chart)
{
    pd_intern_free(&chart->texts);
    pd_intern_free(&chart->chains);
    pd_intern_free(&chart->pids);
    pd_intern_free(&chart->name_keys);
    pd_vec_free(&chart->tasks);
    pd_vec_free(&chart->names_of_keys);
    pd_vec_free(&chart->names);
    pd_vec_free(&chart->spans);
    pd_vec_free(&chart->ios);
    pd_vec_free(&chart->powers);
    pd_vec_free(&chart->wakeups);
    pd_vec_free(&chart->order);
    free(chart);
}

static perfdata_status draw(struct pd_chart *chart, perfdata_write_fn write, void *data)
{
    const struct pd_tp_verb verb = { .handlers = handlers,
                                     .data = chart,
                                     .hears = PD_TP_HEARS(COMM) | PD_TP_HEARS(FORK) |
                                              PD_TP_HEARS(EXIT),
                                     .other = take_other,
                                     .before = note_time };
    perfdata_status status = pd_tp_need_tracepoints(chart->tp.recording, "timechart record");
    if (status < 0) {
        chart->perf_exit = 234;
        return status;
    }
    status = pd_tp_open(&chart->tp, chart->tp.recording, NULL, &verb, write, data);
    if (status >= 0)
        status = pd_tp_run(&chart->tp);
    if (status >= 0)
        status = pd_chart_draw(chart);
    return pd_tp_close(&chart->tp, status);
}

perfdata_status perfdata_timechart_run(perfdata_recording *recording,
                                       const struct perfdata_timechart_options *options,
                                       perfdata_write_fn write, void *data,
                                       struct perfdata_timechart_result *result)
{
    struct perfdata_timechart_options known = { 0 };
    struct perfdata_timechart_result out = { .perf_exit = -1 };
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status < 0)
        return status;
    struct pd_chart *chart = calloc(1, sizeof *chart);
    if (!chart)
        return pd_fail(&recording->recording.context, PERFDATA_ERROR_MEMORY, -1, "no memory");
    chart->options = &known;
    chart->tp.recording = &recording->recording;
    chart->perf_exit = -1;
    status = draw(chart, write, data);
    out.first = chart->first;
    out.last = chart->last;
    out.perf_exit = chart->perf_exit;
    free_all(chart);
    pd_give_result(result, &out, sizeof out);
    return status;
}

perfdata_status perfdata_timechart_file(perfdata_recording *recording,
                                        const struct perfdata_timechart_options *options,
                                        const char *path, struct perfdata_timechart_result *result)
{
    struct pd_output_file file;
    perfdata_status status = pd_handle_output(recording, path, &file);
    if (status < 0)
        return status;
    status = perfdata_timechart_run(recording, options, pd_output_file_put, &file, result);
    return pd_output_file_close(&recording->recording.context, &file, status);
}
