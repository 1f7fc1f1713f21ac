/* SPDX-License-Identifier: MIT */
/* What is summed up of each task and of idle CPUs. */
#include "render/sched/timehist.h"
#include <stdlib.h>

struct totals {
    uint64_t tasks, switches, run;
};

static void put_runs(struct pd_text *out, const struct pd_sched_task *task)
{
    const struct pd_spread *runs = &task->runs;
    float relative = (float)(runs->mean ? 100.0 * pd_spread_error(runs) / runs->mean : 0);
    pd_timehist_ms(out, task->total_run, 8);
    pd_timehist_ms(out, runs->least, 6);
    pd_text_char(out, ' ');
    pd_timehist_ms(out, (uint64_t)runs->mean, 6);
    pd_text_char(out, ' ');
    pd_timehist_ms(out, runs->most, 6);
    pd_text_format(out, "  %5.2f   %5llu\n", (double)relative,
                   (unsigned long long)task->migrations);
}

static void put_waits(struct pd_text *out, const struct pd_sched_task *task)
{
    pd_timehist_ms(out, task->total_run, 8);
    pd_timehist_ms(out, task->total_sleep, 6);
    pd_text_char(out, ' ');
    pd_timehist_ms(out, task->total_io_wait, 6);
    pd_text_char(out, ' ');
    pd_timehist_ms(out, task->total_preempted, 6);
    pd_text_char(out, ' ');
    pd_timehist_ms(out, task->total_delay, 6);
    pd_text_char(out, '\n');
}

static void put_tasks(struct pd_timehist *hist, struct pd_thread **threads, size_t count, bool dead,
                      struct totals *totals)
{
    struct pd_text *out = &hist->tp.out;
    for (size_t i = 0; i < count; i++) {
        const struct pd_thread *thread = threads[i];
        if (pd_thread_dead(thread) != dead || thread->index >= hist->tasks.count ||
            (pd_filter_has_thread(&hist->filter) &&
             !pd_filter_thread(&hist->filter, thread, UINT64_MAX)))
            continue;
        const struct pd_sched_task *task = &hist->tasks.data[thread->index];
        if (!task->runs.count)
            continue;
        totals->tasks++;
        totals->switches += (uint64_t)task->runs.count;
        totals->run += task->total_run;
        pd_timehist_name(hist, pd_tp_final_comm(thread), thread, false, out);
        pd_text_format(out, "   %5d  %9llu ", (int)pd_thread_ppid(thread, UINT64_MAX),
                       (unsigned long long)task->runs.count);
        if (hist->flags & PERFDATA_SCHED_STATE)
            put_waits(out, task);
        else
            put_runs(out, task);
    }
}

static void put_titles(struct pd_timehist *hist)
{
    struct pd_text *out = &hist->tp.out;
    bool idle = hist->flags & PERFDATA_SCHED_IDLE, waits = hist->flags & PERFDATA_SCHED_STATE;
    int width = (int)hist->comm_width;
    pd_text_string(out, idle    ? "\nIdle-time summary\n"
                        : waits ? "\nWait-time summary\n"
                                : "\nRuntime summary\n");
    pd_text_format(out, "%*s  parent  %s  ", width, "comm", idle ? "sched-out" : " sched-in");
    pd_text_string(
        out, idle    ? "  idle-time   min-idle    avg-idle    max-idle  stddev  migrations\n"
             : waits ? "   run-time      sleep      iowait     preempt       delay\n"
                     : "   run-time    min-run     avg-run     max-run  stddev  migrations\n");
    pd_text_format(out, "%*s            (count)  ", width, "");
    pd_text_format(out, "     (msec)     (msec)      (msec)      (msec)       %s\n",
                   waits ? "(msec)" : "%");
    pd_text_fill(out, '-', 117);
    pd_text_char(out, '\n');
}

static void put_idle(struct pd_timehist *hist, struct totals *totals)
{
    struct pd_text *out = &hist->tp.out;
    uint64_t span = hist->last - hist->first;
    pd_text_string(out, "\nIdle stats:\n");
    for (uint32_t cpu = 0; cpu < hist->idle.count; cpu++) {
        const struct pd_sched_idle *idle = hist->idle.data[cpu];
        if (!idle || !pd_filter_cpu(&hist->filter, cpu))
            continue;
        if (!idle->task.runs.count) {
            pd_text_format(out, "    CPU %2u idle entire time window\n", cpu);
            continue;
        }
        totals->switches += (uint64_t)idle->task.runs.count;
        pd_text_format(out, "    CPU %2u idle for ", cpu);
        pd_timehist_ms(out, idle->task.total_run, 6);
        pd_text_format(out, " msec  (%6.2f%%)\n",
                       100.0 * (double)idle->task.total_run / (double)span);
    }
}

static int longest_first(const void *a, const void *b)
{
    const struct pd_sched_chain *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? 1 : -1;
    return strcmp(x->text, y->text);
}

static void put_idle_chains(struct pd_timehist *hist)
{
    struct pd_text *out = &hist->tp.out;
    pd_text_string(out, "\nIdle stats by callchain:\n");
    for (uint32_t cpu = 0; cpu < hist->idle.count; cpu++) {
        const struct pd_sched_idle *idle = hist->idle.data[cpu];
        if (!idle)
            continue;
        pd_text_format(out, "  CPU %2u:", cpu);
        pd_timehist_ms(out, idle->task.total_run, 6);
        pd_text_format(out, " msec\n  %16s  %8s  %s\n  ", "Idle time (msec)", "Count",
                       "Callchains");
        pd_text_fill(out, '-', 16);
        pd_text_string(out, "  --------  ");
        pd_text_fill(out, '-', 50);
        pd_text_char(out, '\n');
        bool shown = !hist->tp.recording->like_perf; /* perf 6.1 leaves the table empty */
        if (shown && idle->chains.count)
            qsort(idle->chains.data, idle->chains.count, sizeof *idle->chains.data, longest_first);
        for (size_t i = 0; shown && i < idle->chains.count; i++) {
            const struct pd_sched_chain *chain = &idle->chains.data[i];
            if (!chain->time)
                continue;
            pd_text_string(out, "  ");
            pd_timehist_ms(out, chain->time, 12);
            pd_text_format(out, " %8llu  %s\n", (unsigned long long)chain->count, chain->text);
        }
        pd_text_char(out, '\n');
    }
}

void pd_timehist_summary(struct pd_timehist *hist)
{
    struct pd_text *out = &hist->tp.out;
    struct totals totals = { 0 };
    size_t count;
    struct pd_thread **threads = pd_tp_threads(&hist->tp, &count);
    if (!threads) {
        out->failed = true;
        return;
    }
    put_titles(hist);
    put_tasks(hist, threads, count, false, &totals);
    if (!totals.tasks)
        pd_text_string(out, "<no still running tasks>\n");
    uint64_t running = totals.tasks;
    pd_text_string(out, "\nTerminated tasks:\n");
    put_tasks(hist, threads, count, true, &totals);
    if (running == totals.tasks)
        pd_text_string(out, "<no terminated tasks>\n");
    free(threads);
    if (hist->skipped && !(hist->flags & PERFDATA_SCHED_IDLE))
        return; /* it is not known then what idle CPUs did */
    put_idle(hist, &totals);
    if (hist->flags & PERFDATA_SCHED_IDLE && hist->shows_chain)
        put_idle_chains(hist);
    pd_text_format(out,
                   "\n    Total number of unique tasks: %llu\nTotal number of context switches: "
                   "%llu\n           Total run time (msec): ",
                   (unsigned long long)totals.tasks, (unsigned long long)totals.switches);
    pd_timehist_ms(out, totals.run, 2);
    pd_text_string(out, "\n    Total scheduling time (msec): ");
    pd_timehist_ms(out, hist->last - hist->first, 2);
    pd_text_format(out, " (x %u)\n", hist->most_cpu);
}
