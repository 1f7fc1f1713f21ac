/* SPDX-License-Identifier: MIT */
/* One line for each switch: how long the task waited, was ready to run, and ran. */
#include "render/sched/timehist.h"
#include "base/digits.h"
#include <stdlib.h>

enum { TASK_UNINTERRUPTIBLE = 2 };

static bool has(const struct pd_timehist *hist, uint64_t flag)
{
    return hist->flags & flag;
}

/* ---- tasks ---- */

static struct pd_sched_task *task_of(struct pd_timehist *hist, const struct pd_thread *thread)
{
    if (!pd_vec_widen_to(&hist->tasks, (size_t)thread->index + 1)) {
        pd_tp_no_memory(&hist->tp);
        return NULL;
    }
    struct pd_sched_task *task = &hist->tasks.data[thread->index];
    if (!task->thread)
        task->thread = thread;
    return task;
}

static struct pd_sched_idle *idle_of(struct pd_timehist *hist, uint32_t cpu)
{
    if (pd_vec_widen_to(&hist->idle, (size_t)cpu + 1)) {
        if (!hist->idle.data[cpu])
            hist->idle.data[cpu] = calloc(1, sizeof(struct pd_sched_idle));
        if (hist->idle.data[cpu])
            return hist->idle.data[cpu];
    }
    pd_tp_no_memory(&hist->tp);
    return NULL;
}

static void forget_times(struct pd_sched_task *task)
{
    task->run = task->delay = task->sleep = task->io_wait = task->preempted = 0;
}

/* The task ran from `before` (0: not known) to `time`. */
static void account(const struct pd_timehist *hist, struct pd_sched_task *task, uint64_t time,
                    uint64_t before)
{
    forget_times(task);
    if (before) {
        task->run = time - before;
        if (task->ready_at && task->ready_at <= before)
            task->delay = before - task->ready_at;
        if (task->last_time && task->last_time <= before) {
            uint64_t wait = before - task->last_time;
            *(!task->last_state                          ? &task->preempted
              : task->last_state == TASK_UNINTERRUPTIBLE ? &task->io_wait
                                                         : &task->sleep) = wait;
        }
    }
    if (!hist->sums_up)
        return;
    pd_spread_add(&task->runs, task->run);
    task->total_run += task->run;
    task->total_delay += task->delay;
    task->total_sleep += task->sleep;
    task->total_io_wait += task->io_wait;
    task->total_preempted += task->preempted;
}

static bool has_number(const uint32_t *numbers, size_t count, uint32_t number)
{
    size_t i = 0;
    while (i < count && numbers[i] != number)
        i++;
    return i < count;
}

/* `thread` is NULL for an idle CPU, whose pid and tid are 0. */
static bool is_filtered(const struct pd_timehist *hist, const struct pd_tp_sample *sample,
                        const struct pd_thread *thread)
{
    const struct pd_filter *filter = &hist->filter;
    if (thread)
        return pd_filter_has_thread(filter) &&
               !pd_filter_thread(filter, thread, sample->record->number);
    return (filter->has_pids && !has_number(filter->pids, filter->pid_count, 0)) ||
           (filter->has_tids && !has_number(filter->tids, filter->tid_count, 0));
}

/* ---- columns ---- */

static void put_start(struct pd_timehist *hist, uint64_t time, uint32_t cpu)
{
    struct pd_text *out = &hist->tp.out;
    enum { ROOM = 8 };
    pd_timehist_time(hist, time);
    char *to = pd_text_room(out, ROOM);
    if (PD_UNLIKELY(!to || cpu >= PD_SCHED_CPUS)) {
        pd_text_format(out, " [%04d] ", (int)cpu);
        return;
    }
    *to++ = ' ';
    *to++ = '[';
    to = pd_put_fixed(to, cpu, 4);
    *to++ = ']';
    *to = ' ';
    out->length += ROOM;
}

static void put_visual(struct pd_timehist *hist, uint32_t cpu, char mark, const char *around)
{
    struct pd_text *out = &hist->tp.out;
    size_t width = (size_t)hist->most_cpu + 1;
    pd_text_string(out, around);
    for (size_t i = 0; i < width; i++)
        pd_text_char(out, i == cpu ? mark : ' ');
    pd_text_string(out, around);
}

static void put_header(struct pd_timehist *hist)
{
    struct pd_text *out = &hist->tp.out;
    size_t cpus = (size_t)hist->most_cpu + 1, width = hist->comm_width;
    bool visual = has(hist, PERFDATA_SCHED_CPU_VISUAL), state = has(hist, PERFDATA_SCHED_STATE);
    pd_text_format(out, "%15s %6s ", "time", "cpu");
    if (visual) {
        pd_text_char(out, ' ');
        for (size_t i = 0; i < cpus; i++)
            pd_text_char(out, "0123456789abcdef"[i & 15]);
        pd_text_char(out, ' ');
    }
    pd_text_format(out, " %-*s  %9s  %9s  %9s", (int)width, "task name", "wait time", "sch delay",
                   "run time");
    pd_text_string(out, state ? "  state\n" : "\n");
    pd_text_format(out, "%15s %-6s ", "", "");
    if (visual)
        pd_text_fill(out, ' ', cpus + 2);
    pd_text_format(out, " %-*s  %9s  %9s  %9s", (int)width, "[tid/pid]", "(msec)", "(msec)",
                   "(msec)");
    pd_text_string(out, state ? "       \n" : "\n");
    pd_text_format(out, "%.15s %.6s ", "---------------", "------");
    if (visual) {
        pd_text_char(out, ' ');
        pd_text_fill(out, '-', cpus);
        pd_text_char(out, ' ');
    }
    pd_text_char(out, ' ');
    pd_text_fill(out, '-', width);
    pd_text_string(out, "  ---------  ---------  ---------");
    pd_text_string(out, state ? "  -----\n" : "\n");
}

/* ---- chains ---- */

static bool is_scheduler(const struct pd_symbol *symbol)
{
    return symbol && (!strcmp(symbol->name, "schedule") || !strcmp(symbol->name, "__schedule") ||
                      !strcmp(symbol->name, "preempt_schedule"));
}

/* The scheduler's own frames are left out, so that two more frames than wanted are resolved. */
static perfdata_status take_chain(struct pd_timehist *hist, const struct pd_tp_sample *sample)
{
    enum { OWN_FRAMES = 2 };
    size_t room = (size_t)hist->sched->options->max_stack + OWN_FRAMES;
    bool invalid = false;
    hist->frame_count = 0;
    if (!hist->shows_chain || !sample->sample.callchain || !hist->tp.resolver)
        return PERFDATA_OK;
    struct pd_thread *thread = pd_tp_thread(sample, sample->sample.pid, sample->sample.pid);
    if (!thread || !pd_vec_reserve(&hist->frames, room))
        return pd_tp_no_memory(&hist->tp);
    hist->frame_count = pd_resolve_chain(hist->tp.resolver, &sample->sample, thread,
                                         sample->record->number, (unsigned)room, hist->frames.data,
                                         room, &invalid);
    return PERFDATA_OK;
}

static void put_chain(struct pd_timehist *hist)
{
    struct pd_text *out = &hist->tp.out;
    bool first = true;
    for (size_t i = 0; i < hist->frame_count; i++) {
        const struct pd_location *location = hist->frames.data[i].location;
        const struct pd_symbol *symbol = location ? location->sym : NULL;
        if (is_scheduler(symbol))
            continue;
        pd_text_string(out, first ? " " : " <- ");
        pd_text_string(out, symbol ? symbol->name : "[unknown]");
        first = false;
    }
}

/* Keeps the chain of a switch to idle in the form in which the summary shows it. */
static perfdata_status keep_chain(struct pd_timehist *hist, struct pd_sched_idle *idle)
{
    struct pd_text text = { 0 };
    idle->chain = 0;
    if (!hist->frame_count)
        return PERFDATA_OK;
    for (size_t i = 0; i < hist->frame_count; i++) {
        const struct pd_location *location = hist->frames.data[i].location;
        const struct pd_symbol *symbol = location ? location->sym : NULL;
        if (is_scheduler(symbol))
            continue;
        if (text.length)
            pd_text_string(&text, " <- ");
        if (symbol)
            pd_text_string(&text, symbol->name);
        else
            pd_text_format(
                &text, "%#llx",
                (unsigned long long)(location ? location->addr : hist->frames.data[i].ip));
    }
    uint32_t id = text.failed
                      ? PD_INTERN_NONE
                      : pd_intern(&hist->chain_texts, text.data ? text.data : "", text.length);
    pd_text_free(&text);
    if (id == PD_INTERN_NONE)
        return pd_tp_no_memory(&hist->tp);
    idle->chain = id + 1;
    return PERFDATA_OK;
}

static perfdata_status count_chain(struct pd_timehist *hist, struct pd_sched_idle *idle,
                                   uint64_t time)
{
    if (!idle->chain)
        return PERFDATA_OK;
    uint32_t at = pd_map64_get(&idle->chain_at, idle->chain);
    if (at == PD_MAP64_NONE) {
        at = (uint32_t)idle->chains.count;
        struct pd_sched_chain chain = { .text = pd_intern_text(&hist->chain_texts,
                                                               idle->chain - 1) };
        if (!pd_vec_push(&idle->chains, chain) || !pd_map64_set(&idle->chain_at, idle->chain, at))
            return pd_tp_no_memory(&hist->tp);
    }
    idle->chains.data[at].time += time;
    idle->chains.data[at].count++;
    return PERFDATA_OK;
}

/* ---- switches ---- */

enum { PREV_PID, NEXT_PID, PREV_STATE, NEXT_COMM };

static char state_letter(bool is_idle, int state)
{
    static const char letters[] = "RSDTtZXxKWP";
    unsigned bit = state ? (unsigned)__builtin_ctz((unsigned)state) + 1 : 0;
    if (is_idle)
        return 'I';
    return bit < sizeof letters - 1 ? letters[bit] : '?';
}

static void put_switch(struct pd_timehist *hist, const struct pd_tp_sample *sample,
                       const struct pd_thread *thread, struct pd_sched_task *task, uint64_t time)
{
    struct pd_text *out = &hist->tp.out;
    if (!pd_filter_cpu(&hist->filter, sample->sample.cpu))
        return;
    put_start(hist, time, sample->sample.cpu);
    if (has(hist, PERFDATA_SCHED_CPU_VISUAL))
        put_visual(hist, sample->sample.cpu, thread ? 's' : 'i', " ");
    pd_text_char(out, ' ');
    if (thread)
        pd_timehist_task(hist, pd_tp_comm(sample, thread), task, out);
    else
        pd_timehist_name(hist, NULL, NULL, true, out);
    pd_text_char(out, ' ');
    pd_timehist_column(hist, task->sleep + task->io_wait + task->preempted);
    pd_timehist_column(hist, task->delay);
    pd_timehist_column(hist, task->run);
    if (has(hist, PERFDATA_SCHED_STATE))
        pd_text_format(out, " %5c ", state_letter(!thread, (int)pd_tp_number(sample, PREV_STATE)));
    if (has(hist, PERFDATA_SCHED_NEXT)) {
        size_t length, from;
        const char *comm = pd_tp_text(sample, NEXT_COMM, &length);
        pd_text_char(out, ' ');
        from = out->length;
        pd_text_string(out, "next: ");
        pd_text_bytes(out, comm, length);
        pd_text_format(out, "[%d]", (int)pd_tp_number(sample, NEXT_PID));
        pd_text_pad(out, from, hist->comm_width);
    } else if (has(hist, PERFDATA_SCHED_WAKEUPS)) {
        pd_text_fill(out, ' ', hist->comm_width + 2);
    }
    if (thread && hist->shows_chain) {
        pd_text_string(out, "  ");
        put_chain(hist);
    }
    pd_text_char(out, '\n');
}

/* Ends an idle time, which counts for the task that went to sleep at its beginning. */
static perfdata_status end_idle(struct pd_timehist *hist, struct pd_sched_idle *idle, uint64_t time,
                                uint64_t before)
{
    struct pd_sched_task *last = task_of(hist, idle->before);
    if (!last)
        return PERFDATA_ERROR_MEMORY;
    account(hist, last, time, before);
    forget_times(last);
    idle->before = NULL;
    return count_chain(hist, idle, time - before);
}

/* Cuts the two times that a switch lies between to --time; false: it lies outside of it. */
static bool cut_time(const struct pd_timehist *hist, uint64_t *time, uint64_t *before)
{
    if (hist->from > *time)
        return false;
    if (*before && hist->from > *before)
        *before = hist->from;
    if (!hist->to)
        return true;
    if (!*before || *before > hist->to) /* perf leaves out a CPU's first switch, too */
        return false;
    *time = PD_MIN(*time, hist->to);
    return true;
}

static perfdata_status count_switch(struct pd_timehist *hist, const struct pd_tp_sample *sample,
                                    const struct pd_thread *thread, struct pd_sched_idle *idle,
                                    struct pd_sched_task *task, uint64_t *time)
{
    uint32_t cpu = sample->sample.cpu;
    uint64_t before = hist->switched_at[cpu];
    if (!cut_time(hist, time, &before))
        return PERFDATA_OK;
    bool counts = !thread || !has(hist, PERFDATA_SCHED_IDLE);
    if (counts && pd_filter_cpu(&hist->filter, cpu))
        account(hist, task, *time, before);
    if (has(hist, PERFDATA_SCHED_IDLE) && !thread) {
        if (!idle->before)
            return PERFDATA_OK;
        perfdata_status status = end_idle(hist, idle, *time, before);
        if (status < 0)
            return status;
    }
    if (!has(hist, PERFDATA_SCHED_SUMMARY_ONLY))
        put_switch(hist, sample, thread, task, *time);
    return PERFDATA_OK;
}

/* Finds the thread that leaves the CPU; *thread is NULL where the CPU was idle. */
static perfdata_status leaving(struct pd_timehist *hist, const struct pd_tp_sample *sample,
                               struct pd_sched_idle *idle, struct pd_thread **thread)
{
    const struct pd_sample *s = &sample->sample;
    *thread = NULL;
    if (!(uint32_t)pd_tp_number(sample, PREV_PID))
        return PERFDATA_OK;
    *thread = pd_tp_thread(sample, s->pid, s->tid ? s->tid : s->pid);
    if (!*thread)
        return PERFDATA_ERROR_MEMORY;
    perfdata_status status = take_chain(hist, sample);
    if (status < 0 || !has(hist, PERFDATA_SCHED_IDLE))
        return status;
    idle->before = *thread;
    bool to_idle = !(uint32_t)pd_tp_number(sample, NEXT_PID);
    return to_idle && hist->shows_chain && s->callchain ? keep_chain(hist, idle) : PERFDATA_OK;
}

static perfdata_status take_switch(void *data, const struct pd_tp_sample *sample)
{
    struct pd_timehist *hist = data;
    struct pd_thread *thread;
    uint32_t cpu = sample->sample.cpu;
    uint64_t time = sample->sample.time;
    if (cpu >= PD_SCHED_CPUS)
        return pd_sched_bad_cpu(sample);
    struct pd_sched_idle *idle = idle_of(hist, cpu);
    if (!idle)
        return PERFDATA_ERROR_MEMORY;
    perfdata_status status = leaving(hist, sample, idle, &thread);
    if (status < 0)
        return status;
    bool filtered = is_filtered(hist, sample, thread);
    hist->skipped += filtered;
    if (has(hist, PERFDATA_SCHED_IDLE) && (uint32_t)pd_tp_number(sample, PREV_PID) &&
        (uint32_t)pd_tp_number(sample, NEXT_PID))
        filtered = true;
    struct pd_sched_task *task = NULL;
    if (!filtered) {
        task = thread ? task_of(hist, thread) : &idle->task;
        status = task ? count_switch(hist, sample, thread, idle, task, &time)
                      : PERFDATA_ERROR_MEMORY;
    }
    if (!hist->first && time >= hist->from)
        hist->first = time;
    if (!hist->to || time <= hist->to)
        hist->last = time;
    if (task) {
        task = thread ? task_of(hist, thread) : task; /* end_idle() may have moved it */
        task->last_time = sample->sample.time;
        task->last_state = (int)pd_tp_number(sample, PREV_STATE);
        task->ready_at = 0;
    }
    hist->switched_at[cpu] = sample->sample.time;
    return status;
}

/* ---- wakeups, migrations ---- */

enum { PID, FROM_CPU, TO_CPU };

static bool outside(const struct pd_timehist *hist, uint64_t time)
{
    return (hist->from && time < hist->from) || (hist->to && time > hist->to);
}

/* Begins a line in which `by` does something to `whom`; false: neither of them is to be shown. */
static bool begin_line(struct pd_timehist *hist, const struct pd_tp_sample *sample,
                       const struct pd_thread *whom, char mark, const char *what)
{
    struct pd_text *out = &hist->tp.out;
    const struct pd_thread *by = pd_tp_thread(sample, sample->sample.pid, sample->sample.tid);
    if (!by)
        return false;
    bool skip = is_filtered(hist, sample, by);
    hist->skipped += skip;
    skip |= has(hist, PERFDATA_SCHED_IDLE);
    if (skip) {
        bool other = is_filtered(hist, sample, whom);
        hist->skipped += other;
        if (other || has(hist, PERFDATA_SCHED_IDLE))
            return false;
    }
    put_start(hist, sample->sample.time, sample->sample.cpu);
    if (has(hist, PERFDATA_SCHED_CPU_VISUAL) && mark)
        put_visual(hist, sample->sample.cpu, mark, "  ");
    else if (has(hist, PERFDATA_SCHED_CPU_VISUAL))
        pd_text_fill(out, ' ', (size_t)hist->most_cpu + 3);
    pd_text_char(out, ' ');
    pd_timehist_name(hist, pd_tp_comm(sample, by), by, true, out);
    pd_text_fill(out, ' ', 3 + 9 + 2 + 9 + 2 + 9 + 1); /* the columns of switches */
    pd_text_string(out, what);
    pd_timehist_name(hist, pd_tp_comm(sample, whom), whom, true, out);
    while (out->length && out->data[out->length - 1] == ' ')
        out->length--;
    return true;
}

static perfdata_status take_wakeup(void *data, const struct pd_tp_sample *sample)
{
    struct pd_timehist *hist = data;
    const struct pd_thread *thread = pd_tp_thread(sample, 0, (uint32_t)pd_tp_number(sample, PID));
    struct pd_sched_task *task = thread ? task_of(hist, thread) : NULL;
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    if (!task->ready_at)
        task->ready_at = sample->sample.time;
    if (has(hist, PERFDATA_SCHED_WAKEUPS) && !outside(hist, sample->sample.time) &&
        begin_line(hist, sample, thread, 0, "awakened: "))
        pd_text_char(&hist->tp.out, '\n');
    return PERFDATA_OK;
}

static perfdata_status take_migration(void *data, const struct pd_tp_sample *sample)
{
    struct pd_timehist *hist = data;
    if (!has(hist, PERFDATA_SCHED_MIGRATIONS))
        return PERFDATA_OK;
    const struct pd_thread *thread = pd_tp_thread(sample, 0, (uint32_t)pd_tp_number(sample, PID));
    struct pd_sched_task *task = thread ? task_of(hist, thread) : NULL;
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    task->migrations++;
    if (!has(hist, PERFDATA_SCHED_SUMMARY_ONLY) &&
        begin_line(hist, sample, thread, 'm', "migrated: "))
        pd_text_format(&hist->tp.out, " cpu %d => %d\n", (int)pd_tp_number(sample, FROM_CPU),
                       (int)pd_tp_number(sample, TO_CPU));
    return PERFDATA_OK;
}

/* perf tells where events are missing, whatever is asked for. */
static perfdata_status show_lost(void *data, const struct pd_delivered *record)
{
    struct pd_timehist *hist = data;
    struct pd_identity identity;
    uint64_t events;
    if (!pd_tp_lost(&hist->tp, record, &events))
        return PERFDATA_OK;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    pd_tp_time(&hist->tp.out, identity.time, 15);
    pd_text_format(&hist->tp.out, " lost %llu events on cpu %d\n", (unsigned long long)events,
                   (int)identity.cpu);
    return PERFDATA_OK;
}

/* The highest CPU is the highest one of the samples so far. */
static perfdata_status note_cpu(void *data, const struct pd_tp_sample *sample)
{
    struct pd_timehist *hist = data;
    uint32_t cpu = sample->sample.cpu;
    if (cpu < PD_SCHED_CPUS && cpu > hist->most_cpu)
        hist->most_cpu = cpu;
    return PERFDATA_OK;
}

/* With chains, any sample may be the first one in the kernel, which symbols depend on. */
static bool needs_most_cpu(const struct pd_timehist *hist)
{
    return hist->shows_chain || has(hist, PERFDATA_SCHED_CPU_VISUAL | PERFDATA_SCHED_SUMMARY |
                                              PERFDATA_SCHED_SUMMARY_ONLY);
}

#define SWITCH                                                                                     \
    {                                                                                              \
        "sched:sched_switch", { "prev_pid", "next_pid", "prev_state", "next_comm" }, take_switch   \
    }
#define MIGRATE                                                                                    \
    {                                                                                              \
        "sched:sched_migrate_task", { "pid", "orig_cpu", "dest_cpu" }, take_migration              \
    }
#define WAKEUP(name)                                                                               \
    {                                                                                              \
        "sched:" name, { "pid" }, take_wakeup                                                      \
    }

/* sched_waking comes before sched_wakeup. Where both are recorded, the earlier one counts. */
static const struct pd_tp_handler with_waking[] = {
    SWITCH, WAKEUP("sched_waking"), WAKEUP("sched_wakeup_new"), MIGRATE, { 0 },
};
static const struct pd_tp_handler without_waking[] = {
    SWITCH, WAKEUP("sched_wakeup"), WAKEUP("sched_wakeup_new"), MIGRATE, { 0 },
};

/* ---- options ---- */

static perfdata_status take_span(struct pd_timehist *hist, const char *text)
{
    if (!text || pd_tp_span(text, &hist->from, &hist->to))
        return PERFDATA_OK;
    hist->sched->perf_exit = 234;
    return pd_fail(&hist->sched->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                   "Invalid time string");
}

static perfdata_status take_options(struct pd_timehist *hist)
{
    struct pd_sched *sched = hist->sched;
    const struct perfdata_sched_options *options = sched->options;
    const struct pd_features *features = &sched->recording->features;
    hist->flags = options->flags;
    hist->comm_width = 30;
    hist->most_cpu = features->nrcpus.present ? features->nrcpus.online : 0;
    hist->most_cpu = hist->most_cpu ? PD_MIN(hist->most_cpu, PD_SCHED_CPUS - 1) : 4;
    hist->shows_chain = !has(hist, PERFDATA_SCHED_NO_CHAIN);
    hist->sums_up = has(hist, PERFDATA_SCHED_SUMMARY | PERFDATA_SCHED_SUMMARY_ONLY);
    perfdata_status status = take_span(hist, options->time);
    if (!status)
        status = pd_filter_add_numbers(&hist->filter, sched->recording, options->pids,
                                       options->tids, options->cpus);
    sched->perf_exit = status && sched->perf_exit < 0 ? 255 : sched->perf_exit;
    return status;
}

static void free_all(struct pd_timehist *hist)
{
    for (size_t i = 0; i < hist->idle.count; i++) {
        struct pd_sched_idle *idle = hist->idle.data[i];
        if (!idle)
            continue;
        pd_vec_free(&idle->chains);
        pd_map64_free(&idle->chain_at);
        free(idle);
    }
    pd_vec_free(&hist->idle);
    pd_vec_free(&hist->tasks);
    pd_vec_free(&hist->frames);
    pd_intern_free(&hist->chain_texts);
    pd_filter_free(&hist->filter);
    free(hist);
}

static perfdata_status run(struct pd_timehist *hist)
{
    struct pd_sched *sched = hist->sched;
    bool waking = pd_tp_has_event(sched->recording, "sched:sched_waking");
    struct pd_tp_verb verb = { .handlers = waking ? with_waking : without_waking,
                               .data = hist,
                               .hears = PD_TP_HEARS(MMAP) | PD_TP_HEARS(COMM) | PD_TP_HEARS(FORK) |
                                        PD_TP_HEARS(EXIT) | PD_TP_HEARS(LOST),
                               .shows_lost = true,
                               .other = show_lost,
                               .before = needs_most_cpu(hist) ? note_cpu : NULL };
    perfdata_status status = pd_tp_open(&hist->tp, sched->recording,
                                        hist->shows_chain ? &sched->options->search : NULL, &verb,
                                        sched->write, sched->write_data);
    for (uint32_t cpu = 0; status >= 0 && cpu < hist->most_cpu; cpu++)
        if (!idle_of(hist, cpu)) /* which has told of it, as hist->tp is open */
            status = PERFDATA_ERROR_MEMORY;
    if (status >= 0 && !has(hist, PERFDATA_SCHED_SUMMARY_ONLY))
        put_header(hist);
    if (status >= 0)
        status = pd_tp_run(&hist->tp);
    if (status >= 0 && has(hist, PERFDATA_SCHED_SUMMARY | PERFDATA_SCHED_SUMMARY_ONLY))
        pd_timehist_summary(hist);
    return pd_tp_close(&hist->tp, status);
}

/* perf looks at all events, even those that are no switches. */
static void look_for_chains(struct pd_timehist *hist)
{
    struct pd_sched *sched = hist->sched;
    for (size_t i = 0; i < sched->recording->event_count && hist->shows_chain; i++)
        if (!(sched->recording->events[i]->attr.sample_type & PD_SAMPLE_CALLCHAIN)) {
            hist->shows_chain = false;
            sched->lacks_chains = true;
        }
}

perfdata_status pd_sched_timehist(struct pd_sched *sched)
{
    struct pd_timehist *hist = calloc(1, sizeof *hist);
    if (!hist)
        return pd_fail(&sched->recording->context, PERFDATA_ERROR_MEMORY, -1, "no memory");
    hist->sched = sched;
    pd_sched_digits_init(&hist->digits);
    perfdata_status status = take_options(hist);
    if (!status) {
        look_for_chains(hist);
        if (!pd_tp_has_event(sched->recording, "sched:sched_switch")) {
            sched->perf_exit = sched->options->cpus ? 0 : -1; /* for perf the CPUs went well */
            status = pd_fail(&sched->recording->context, PERFDATA_ERROR_NO_DATA, -1,
                             "No sched_switch events found. Have you run 'perf sched record'?");
        }
    }
    if (!status)
        status = run(hist);
    free_all(hist);
    return status;
}
