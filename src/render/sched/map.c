/* SPDX-License-Identifier: MIT */
/* One line for each switch: what every CPU runs, with tasks under names of two characters. */
#include "render/sched/sched.h"
#include <stdlib.h>
#include <unistd.h>

/* What is known of a task. */
struct task {
    char name[2]; /* 0: none yet */
    bool renamed;
};

struct map {
    struct pd_sched *sched;
    struct pd_tp tp;
    PD_VEC(struct task) tasks;                /* by the thread's index */
    struct pd_thread *running[PD_SCHED_CPUS]; /* NULL: not known */
    char next[2];
    uint32_t columns;              /* CPUs shown, unless compact */
    uint32_t order[PD_SCHED_CPUS]; /* compact: CPUs as they were met */
    uint32_t met;
    uint64_t seen[PD_SCHED_CPUS / 64];
    uint64_t cpus[PD_SCHED_CPUS / 64];
    bool compact, some_cpus, always;
    struct pd_sched_doubts doubts;
};

static struct task *task_of(struct map *map, const struct pd_thread *thread)
{
    if (!pd_vec_widen_to(&map->tasks, (size_t)thread->index + 1)) {
        pd_tp_no_memory(&map->tp);
        return NULL;
    }
    return &map->tasks.data[thread->index];
}

/* A0 to Z0, then A1 to Z9, then A0 again. */
static void name_task(struct map *map, struct task *task)
{
    memcpy(task->name, map->next, sizeof task->name);
    if (map->next[0] < 'Z') {
        map->next[0]++;
        return;
    }
    map->next[0] = 'A';
    map->next[1] = map->next[1] < '9' ? (char)(map->next[1] + 1) : '0';
}

static bool is_new_cpu(struct map *map, uint32_t cpu)
{
    if (pd_sched_has_cpu(map->seen, cpu))
        return false;
    map->seen[cpu / 64] |= UINT64_C(1) << cpu % 64;
    map->order[map->met++] = cpu;
    return true;
}

static void put_cpus(struct map *map, uint32_t cpu)
{
    struct pd_text *out = &map->tp.out;
    uint32_t count = map->compact ? map->met : map->columns;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = map->compact ? map->order[i] : i;
        if (map->some_cpus && !pd_sched_has_cpu(map->cpus, at))
            continue;
        const struct pd_thread *thread = at < PD_SCHED_CPUS ? map->running[at] : NULL;
        const struct task *task = thread ? &map->tasks.data[thread->index] : NULL;
        pd_text_char(out, at == cpu ? '*' : ' ');
        if (task && task->name[0]) {
            pd_text_bytes(out, task->name, sizeof task->name);
            pd_text_char(out, ' ');
        } else {
            pd_text_string(out, "   ");
        }
    }
}

enum { NEXT_PID };

static perfdata_status take_switch(void *data, const struct pd_tp_sample *sample)
{
    struct map *map = data;
    struct pd_text *out = &map->tp.out;
    uint32_t cpu = sample->sample.cpu;
    if (cpu >= PD_SCHED_CPUS)
        return pd_sched_bad_cpu(sample);
    map->columns = PD_MAX(map->columns, cpu);
    bool new_cpu = map->compact && is_new_cpu(map, cpu);
    struct pd_thread *thread = pd_tp_thread(sample, UINT32_MAX,
                                            (uint32_t)pd_tp_number(sample, NEXT_PID));
    struct task *task = thread ? task_of(map, thread) : NULL;
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    const char *comm = pd_tp_comm(sample, thread);
    bool fresh = false;
    map->running[cpu] = thread;
    if (!task->name[0]) {
        if (!strcmp(comm, "swapper"))
            memcpy(task->name, ". ", sizeof task->name);
        else
            name_task(map, task);
        fresh = true;
    }
    pd_text_string(out, "  ");
    put_cpus(map, cpu);
    if (map->some_cpus && !pd_sched_has_cpu(map->cpus, cpu)) {
        pd_text_char(out, '\n');
        return PERFDATA_OK;
    }
    pd_text_string(out, "  ");
    pd_tp_time(out, sample->sample.time, 12);
    pd_text_string(out, " secs ");
    if (fresh || task->renamed || (map->always && thread->tid)) {
        pd_text_bytes(out, task->name, sizeof task->name);
        pd_text_format(out, " => %s:%d", comm, (int)thread->tid);
        task->renamed = false;
    }
    if (new_cpu)
        pd_text_format(out, " (CPU %u)", cpu);
    pd_text_char(out, '\n');
    return PERFDATA_OK;
}

static const struct pd_tp_handler handlers[] = {
    { "sched:sched_switch", { "next_pid" }, take_switch },
    { 0 },
};

/* A task that says a new name for itself is shown with it again. perf goes by the task that the
 * record comes from: that of a task which ran before recording began comes from the idle one. */
static perfdata_status take_other(void *data, const struct pd_delivered *record)
{
    struct map *map = data;
    struct pd_identity identity;
    pd_tp_note_loss(&map->tp, &map->doubts.losses, record);
    if (record->type != PD_RECORD_COMM)
        return PERFDATA_OK;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    const struct pd_thread *thread = pd_timeline_find(map->tp.session.timeline, identity.tid);
    if (!thread)
        return PERFDATA_OK;
    struct task *task = task_of(map, thread);
    if (!task)
        return PERFDATA_ERROR_MEMORY;
    task->renamed = true;
    return PERFDATA_OK;
}

perfdata_status pd_sched_map(struct pd_sched *sched)
{
    struct map *map = calloc(1, sizeof *map);
    if (!map)
        return pd_fail(&sched->recording->context, PERFDATA_ERROR_MEMORY, -1, "no memory");
    long cpus = sysconf(_SC_NPROCESSORS_CONF); /* perf shows the CPUs of where it runs, at least */
    map->sched = sched;
    map->columns = cpus > 0 ? (uint32_t)PD_MIN(cpus, PD_SCHED_CPUS) : 1;
    map->compact = sched->options->flags & PERFDATA_SCHED_COMPACT;
    map->always = sched->options->flags & PERFDATA_SCHED_VERBOSE;
    map->some_cpus = sched->options->cpus;
    memcpy(map->next, "A0", sizeof map->next);
    struct pd_tp_verb verb = { .handlers = handlers,
                               .data = map,
                               .hears = PD_TP_HEARS(COMM) | PD_TP_HEARS(FORK) |
                                        PD_TP_HEARS(NAMESPACES) | PD_TP_HEARS(LOST),
                               .other = take_other };
    perfdata_status status = PERFDATA_OK;
    if (map->some_cpus)
        status = pd_sched_cpus(sched, sched->options->cpus, map->cpus);
    sched->perf_exit = status < 0 ? 255 : -1;
    if (status >= 0) {
        status = pd_tp_open(&map->tp, sched->recording, NULL, &verb, sched->write,
                            sched->write_data);
        if (status >= 0 && pd_tp_has_tracepoints(sched->recording, "record -R"))
            status = pd_tp_run(&map->tp);
        if (status >= 0)
            pd_sched_put_doubts(&map->tp, &map->doubts);
        status = pd_tp_close(&map->tp, status);
    }
    pd_vec_free(&map->tasks);
    free(map);
    return status;
}
