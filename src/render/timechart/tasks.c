/* SPDX-License-Identifier: MIT */
/* Numbers of processes -> tasks, and the names that they go by one after the other. */
#include "render/timechart/timechart.h"

struct pd_chart_task *pd_chart_task(struct pd_chart *chart, uint32_t pid)
{
    uint32_t at = pd_intern(&chart->pids, (const char *)&pid, sizeof pid);
    const struct pd_chart_task fresh = { .pid = pid,
                                         .names = PD_CHART_NONE,
                                         .current = PD_CHART_NONE };
    if (at == PD_INTERN_NONE || (at == chart->tasks.count && !pd_vec_push(&chart->tasks, fresh))) {
        pd_tp_no_memory(&chart->tp);
        return NULL;
    }
    return &chart->tasks.data[at];
}

/* Adds a name to the task, and makes it its current one. */
static struct pd_chart_name *add_name(struct pd_chart *chart, struct pd_chart_task *task,
                                      uint32_t text)
{
    struct pd_chart_name fresh = { .task = (uint32_t)(task - chart->tasks.data),
                                   .text = text,
                                   .older = task->names,
                                   .spans = PD_CHART_NONE,
                                   .ios = PD_CHART_NONE };
    if (!pd_vec_push(&chart->names, fresh)) {
        pd_tp_no_memory(&chart->tp);
        return NULL;
    }
    task->names = task->current = (uint32_t)(chart->names.count - 1);
    return &chart->names.data[task->current];
}

struct pd_chart_name *pd_chart_current(struct pd_chart *chart, uint32_t pid)
{
    struct pd_chart_task *task = pd_chart_task(chart, pid);
    if (!task)
        return NULL;
    return task->current == PD_CHART_NONE ? add_name(chart, task, PD_INTERN_NONE)
                                          : &chart->names.data[task->current];
}

struct pd_chart_name *pd_chart_named(struct pd_chart *chart, uint32_t pid)
{
    const struct pd_chart_task *task = pd_chart_task(chart, pid);
    return !task || task->current == PD_CHART_NONE ? NULL : &chart->names.data[task->current];
}

/* Where names_of_keys has a task's name; NULL: no memory. */
static uint32_t *find_key(struct pd_chart *chart, uint32_t task, uint32_t text)
{
    const uint32_t key[] = { task, text };
    uint32_t at = pd_intern(&chart->name_keys, (const char *)key, sizeof key);
    if (at == PD_INTERN_NONE ||
        (at == chart->names_of_keys.count && !pd_vec_push(&chart->names_of_keys, PD_CHART_NONE))) {
        pd_tp_no_memory(&chart->tp);
        return NULL;
    }
    return &chart->names_of_keys.data[at];
}

bool pd_chart_rename(struct pd_chart *chart, uint32_t pid, uint32_t text)
{
    struct pd_chart_task *task = pd_chart_task(chart, pid);
    uint32_t *place = task ? find_key(chart, (uint32_t)(task - chart->tasks.data), text) : NULL;
    if (!place)
        return false;
    if (*place != PD_CHART_NONE) {
        task->current = *place;
        return true;
    }
    if (task->names != PD_CHART_NONE && chart->names.data[task->names].text == PD_INTERN_NONE) {
        chart->names.data[task->names].text = text;
        task->current = task->names;
    } else if (!add_name(chart, task, text)) {
        return false;
    }
    *place = task->current;
    return true;
}
