/* SPDX-License-Identifier: MIT */
/* How long tasks ran, and how long they waited for a CPU once they could run. */
#include "base/compare.h"
#include "base/list.h"
#include "render/sched/sched.h"
#include <stdlib.h>

enum task_state { SLEEPING, WAITING, ON_CPU, IGNORED };

/* One task, or all tasks of one name. */
struct task {
    struct pd_thread *thread; /* NULL: the thread was never seen here */
    const char *comm;
    uint64_t runtime, delay, switches;
    uint64_t longest, longest_from, longest_to;
    uint32_t merged;
    enum task_state state;
    uint64_t left, woken; /* when it left the CPU last, when it could run again */
};

typedef int (*task_order)(const struct task *, const struct task *);

struct latency {
    struct pd_sched *sched;
    struct pd_tp tp;
    PD_VEC(struct task) tasks; /* by the thread's index */
    uint64_t switched_at[PD_SCHED_CPUS];
    uint32_t running[PD_SCHED_CPUS]; /* all ones: not known */
    struct pd_sched_doubts doubts;
    task_order orders[8];
    size_t order_count;
};

/* ---- gathering ---- */

static struct task *task_of(struct latency *latency, struct pd_thread *thread)
{
    if (!pd_vec_widen_to(&latency->tasks, (size_t)thread->index + 1)) {
        pd_tp_no_memory(&latency->tp);
        return NULL;
    }
    return &latency->tasks.data[thread->index];
}

static void leave(struct task *task, bool can_run, uint64_t time)
{
    task->left = time;
    task->state = can_run ? WAITING : SLEEPING;
    task->woken = can_run ? time : 0;
}

static void enter(struct task *task, uint64_t time)
{
    if (task->state != WAITING)
        return;
    if (time < task->woken) {
        task->state = IGNORED;
        return;
    }
    uint64_t delay = time - task->woken;
    task->state = ON_CPU;
    task->delay += delay;
    if (delay > task->longest) {
        task->longest = delay;
        task->longest_from = task->woken;
        task->longest_to = time;
    }
    task->switches++;
}

/* The task of a tid. A task that was not known begins as if it left its CPU now. NULL: no
 * memory. */
static struct task *known_task(struct latency *latency, const struct pd_tp_sample *sample,
                               uint32_t tid, bool can_run)
{
    struct pd_thread *thread = pd_tp_thread(sample, UINT32_MAX, tid);
    struct task *task = thread ? task_of(latency, thread) : NULL;
    if (task && !task->thread) {
        task->thread = thread;
        task->merged = 1;
        leave(task, can_run, sample->sample.time);
    }
    return task;
}

enum { PREV_PID, NEXT_PID, PREV_STATE };

static perfdata_status take_switch(void *data, const struct pd_tp_sample *sample)
{
    struct latency *latency = data;
    uint32_t cpu = sample->sample.cpu, prev = (uint32_t)pd_tp_number(sample, PREV_PID),
             next = (uint32_t)pd_tp_number(sample, NEXT_PID);
    uint64_t time = sample->sample.time;
    if (cpu >= PD_SCHED_CPUS)
        return pd_sched_bad_cpu(sample);
    if (latency->running[cpu] != UINT32_MAX && latency->running[cpu] != prev)
        latency->doubts.bugs++;
    latency->running[cpu] = next;
    latency->switched_at[cpu] = time;
    struct pd_thread *out = pd_tp_thread(sample, UINT32_MAX, prev);
    struct pd_thread *in = out ? pd_tp_thread(sample, UINT32_MAX, next) : NULL;
    struct task *task = in ? task_of(latency, out) : NULL;
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    if (!task->thread) {
        task->thread = out;
        task->merged = 1;
    }
    leave(task, !pd_tp_number(sample, PREV_STATE), time);
    task = known_task(latency, sample, next, true);
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    enter(task, time);
    return PERFDATA_OK;
}

enum { PID, RUNTIME };

static perfdata_status take_runtime(void *data, const struct pd_tp_sample *sample)
{
    struct task *task = known_task(data, sample, (uint32_t)pd_tp_number(sample, PID), true);
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    task->runtime += pd_tp_number(sample, RUNTIME);
    return PERFDATA_OK;
}

static bool one_cpu(const struct latency *latency)
{
    return latency->sched->options->flags & PERFDATA_SCHED_ONE_CPU;
}

static void stamp(struct latency *latency, const struct task *task, uint64_t time)
{
    latency->doubts.stamps++;
    if (task->left > time)
        latency->doubts.late++;
}

/* A task may be woken while it still runs, which changes nothing. Only where a single CPU is
 * looked at may its switch have been missed. */
static perfdata_status take_wakeup(void *data, const struct pd_tp_sample *sample)
{
    struct latency *latency = data;
    uint64_t time = sample->sample.time;
    struct task *task = known_task(latency, sample, (uint32_t)pd_tp_number(sample, PID), false);
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    if (!one_cpu(latency) && task->state != SLEEPING)
        return PERFDATA_OK;
    stamp(latency, task, time);
    if (task->left > time)
        return PERFDATA_OK;
    task->state = WAITING;
    task->woken = time;
    return PERFDATA_OK;
}

/* Where a single CPU is looked at, a task that moves to or from it begins anew. */
static perfdata_status take_migration(void *data, const struct pd_tp_sample *sample)
{
    struct latency *latency = data;
    if (!one_cpu(latency))
        return PERFDATA_OK;
    struct task *task = known_task(latency, sample, (uint32_t)pd_tp_number(sample, PID), true);
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    task->left = task->woken = sample->sample.time;
    stamp(latency, task, sample->sample.time);
    return PERFDATA_OK;
}

static perfdata_status take_other(void *data, const struct pd_delivered *record)
{
    struct latency *latency = data;
    pd_tp_note_loss(&latency->tp, &latency->doubts.losses, record);
    return PERFDATA_OK;
}

static const struct pd_tp_handler handlers[] = {
    { "sched:sched_switch", { "prev_pid", "next_pid", "prev_state" }, take_switch },
    { "sched:sched_stat_runtime", { "pid", "runtime" }, take_runtime },
    { "sched:sched_wakeup", { "pid" }, take_wakeup },
    { "sched:sched_wakeup_new", { "pid" }, take_wakeup },
    { "sched:sched_migrate_task", { "pid" }, take_migration },
    { 0 },
};

/* ---- sorting ---- */

static int by_runtime(const struct task *a, const struct task *b)
{
    return pd_compare_u64(a->runtime, b->runtime);
}

static int by_switches(const struct task *a, const struct task *b)
{
    return pd_compare_u64(a->switches, b->switches);
}

static int by_longest(const struct task *a, const struct task *b)
{
    return pd_compare_u64(a->longest, b->longest);
}

static int by_average(const struct task *a, const struct task *b)
{
    if (!a->switches || !b->switches)
        return !a->switches ? -1 : 1;
    return pd_compare_u64(a->delay / a->switches, b->delay / b->switches);
}

static int by_pid(const struct task *a, const struct task *b)
{
    return pd_compare_u64(a->thread->tid ^ 1u << 31, b->thread->tid ^ 1u << 31);
}

static perfdata_status take_keys(struct latency *latency, const char *keys)
{
    static const struct {
        const char *name;
        task_order order;
    } known[] = { { "avg", by_average },
                  { "max", by_longest },
                  { "pid", by_pid },
                  { "runtime", by_runtime },
                  { "switch", by_switches } };
    for (struct pd_list_word word; pd_list_next(&keys, ", ", &word);) {
        size_t i = pd_list_find(&word, known, sizeof *known, PD_LENGTH(known));
        if (i == PD_LENGTH(known)) {
            latency->sched->perf_exit = 129;
            return pd_fail(&latency->sched->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                           "Unknown --sort key: `%.*s'", (int)word.length, word.text);
        }
        if (latency->order_count < PD_LENGTH(latency->orders))
            latency->orders[latency->order_count++] = known[i].order;
    }
    return PERFDATA_OK;
}

struct sorted {
    const struct latency *latency;
    struct task *task;
    size_t place;
};

static int later_first(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    for (size_t i = 0; i < x->latency->order_count; i++) {
        int order = x->latency->orders[i](y->task, x->task);
        /* Of two tasks without switches each is less than the other, as in perf; neither is
         * shown. */
        if (order && (x->task->switches || y->task->switches))
            return order;
    }
    return x->place < y->place ? -1 : x->place > y->place;
}

/* Makes tasks of equal names neighbours: names in falling order, then tids in falling order. */
static int by_comm(const void *a, const void *b)
{
    const struct task *x = *(struct task *const *)a, *y = *(struct task *const *)b;
    int order = strcmp(y->comm, x->comm);
    return order ? order : by_pid(y, x);
}

static int by_tid(const void *a, const void *b)
{
    return by_pid(*(struct task *const *)b, *(struct task *const *)a);
}

static void add_task(struct task *to, const struct task *from)
{
    to->merged++;
    to->runtime += from->runtime;
    to->switches += from->switches;
    to->delay += from->delay;
    if (to->longest < from->longest) {
        to->longest = from->longest;
        to->longest_from = from->longest_from;
        to->longest_to = from->longest_to;
    }
}

static size_t merge_names(struct task **tasks, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && !strcmp(tasks[kept - 1]->comm, tasks[i]->comm))
            add_task(tasks[kept - 1], tasks[i]);
        else
            tasks[kept++] = tasks[i];
    }
    return kept;
}

/* ---- the table ---- */

static void put_task(struct pd_text *out, const struct task *task)
{
    enum { NAME_WIDTH = 24 };
    size_t from = out->length;
    if (task->merged > 1)
        pd_text_format(out, "  %s:(%u) ", task->comm, task->merged);
    else
        pd_text_format(out, "  %s:%d ", task->comm, (int)task->thread->tid);
    pd_text_pad(out, from, NAME_WIDTH);
    uint64_t average = task->delay / task->switches;
    pd_text_format(out, "|%11.3f ms |%9llu | avg:%8.3f ms | max:%8.3f ms | max start: ",
                   (double)task->runtime / 1e6, (unsigned long long)task->switches,
                   (double)average / 1e6, (double)task->longest / 1e6);
    pd_tp_time(out, task->longest_from, 12);
    pd_text_string(out, " s | max end: ");
    pd_tp_time(out, task->longest_to, 12);
    pd_text_string(out, " s\n");
}

static void put_rule(struct pd_text *out, size_t width)
{
    pd_text_char(out, ' ');
    pd_text_fill(out, '-', width);
    pd_text_char(out, '\n');
}

static void put_table(struct latency *latency, const struct sorted *rows, size_t count)
{
    enum { WIDE = 139, MIDDLE = 113, NARROW = 51 };
    struct pd_text *out = &latency->tp.out;
    uint64_t runtime = 0, switches = 0;
    pd_text_char(out, '\n');
    put_rule(out, WIDE);
    pd_text_string(
        out, "  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay "
             "ms    | Max delay start           | Max delay end          |\n");
    put_rule(out, WIDE);
    for (size_t i = 0; i < count; i++) {
        const struct task *task = rows[i].task;
        if (!task->switches || !strcmp(task->comm, "swapper"))
            continue;
        runtime += task->runtime;
        switches += task->switches;
        put_task(out, task);
    }
    put_rule(out, MIDDLE);
    pd_text_format(out, "  TOTAL:                |%11.3f ms |%9llu |\n", (double)runtime / 1e6,
                   (unsigned long long)switches);
    put_rule(out, NARROW);
    pd_sched_put_doubts(&latency->tp, &latency->doubts);
    pd_text_char(out, '\n');
}

static perfdata_status print(struct latency *latency)
{
    size_t count = 0;
    struct task **tasks = calloc(latency->tasks.count + 1, sizeof(struct task *));
    struct sorted *rows = calloc(latency->tasks.count + 1, sizeof *rows);
    for (size_t i = 0; tasks && i < latency->tasks.count; i++) {
        struct task *task = &latency->tasks.data[i];
        if (!task->thread)
            continue;
        task->comm = pd_tp_final_comm(task->thread);
        tasks[count++] = task;
    }
    if (tasks && rows) {
        bool each = latency->sched->options->flags & PERFDATA_SCHED_EACH_TASK;
        qsort(tasks, count, sizeof(struct task *), each ? by_tid : by_comm);
        if (!each)
            count = merge_names(tasks, count);
        for (size_t i = 0; i < count; i++)
            rows[i] = (struct sorted){ latency, tasks[i], i };
        qsort(rows, count, sizeof *rows, later_first);
        put_table(latency, rows, count);
    }
    perfdata_status status = tasks && rows ? PERFDATA_OK : pd_tp_no_memory(&latency->tp);
    free(tasks);
    free(rows);
    return status;
}

perfdata_status pd_sched_latency(struct pd_sched *sched)
{
    struct latency *latency = calloc(1, sizeof *latency);
    if (!latency)
        return pd_fail(&sched->recording->context, PERFDATA_ERROR_MEMORY, -1, "no memory");
    latency->sched = sched;
    memset(latency->running, 0xff, sizeof latency->running);
    struct pd_tp_verb verb = { .handlers = handlers,
                               .data = latency,
                               .hears = PD_TP_HEARS(COMM) | PD_TP_HEARS(FORK) |
                                        PD_TP_HEARS(NAMESPACES) | PD_TP_HEARS(LOST),
                               .other = take_other };
    const char *keys = sched->options->sort;
    perfdata_status status = take_keys(latency, keys ? keys : "avg,max,switch,runtime");
    if (status >= 0) {
        status = pd_tp_open(&latency->tp, sched->recording, NULL, &verb, sched->write,
                            sched->write_data);
        if (status >= 0 && pd_tp_has_tracepoints(sched->recording, "record -R"))
            status = pd_tp_run(&latency->tp);
        if (status >= 0)
            status = print(latency);
        status = pd_tp_close(&latency->tp, status);
    }
    pd_vec_free(&latency->tasks);
    free(latency);
    return status;
}
