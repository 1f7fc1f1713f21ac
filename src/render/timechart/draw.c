/* SPDX-License-Identifier: MIT */
/* `timechart`: which tasks are drawn, and the picture from its top to its end. */
#include "render/timechart/timechart.h"
#include "base/memory.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- which tasks ---- */

static int by_parent(const void *a, const void *b, void *chart)
{
    const struct pd_chart_task *tasks = ((const struct pd_chart *)chart)->tasks.data;
    const struct pd_chart_task *x = &tasks[*(const uint32_t *)a], *y = &tasks[*(const uint32_t *)b];
    int32_t m = (int32_t)x->parent, n = (int32_t)y->parent;
    if (m != n)
        return m < n ? -1 : 1;
    m = (int32_t)x->pid;
    n = (int32_t)y->pid;
    return m < n ? -1 : m > n;
}

static bool sort_tasks(struct pd_chart *chart)
{
    for (size_t i = 0; i < chart->tasks.count; i++)
        if (!pd_vec_push(&chart->order, (uint32_t)i))
            return false;
    if (chart->order.count)
        qsort_r(chart->order.data, chart->order.count, sizeof *chart->order.data, by_parent, chart);
    return true;
}

/* Goes through the names of a task, newest first: for (name = ...; name; name = older_name(chart,
 * name)). */
static struct pd_chart_name *name_at(struct pd_chart *chart, uint32_t at)
{
    return at == PD_CHART_NONE ? NULL : &chart->names.data[at];
}

static bool is_asked(const struct pd_chart *chart, const struct pd_chart_name *name)
{
    uint32_t pid = chart->tasks.data[name->task].pid;
    for (uint32_t i = 0; i < chart->options->process_count; i++) {
        const char *word = chart->options->processes[i];
        char *end;
        unsigned long number = strtoul(word, &end, 10);
        if ((*word && !*end && number == pid) ||
            (name->text != PD_INTERN_NONE &&
             !strcmp(word, pd_intern_text(&chart->texts, name->text))))
            return true;
    }
    return false;
}

static uint32_t show_from(struct pd_chart *chart, bool io, uint64_t least)
{
    uint32_t count = 0;
    for (size_t i = 0; i < chart->names.count; i++) {
        struct pd_chart_name *name = &chart->names.data[i];
        name->shown = chart->options->process_count ? is_asked(chart, name)
                      : io                          ? name->bytes >= least
                                                    : name->time >= least;
        count += name->shown;
    }
    return count;
}

/* Chooses the tasks that did most, at least as many as asked for: the limit falls by powers of
 * ten. */
static uint32_t choose(struct pd_chart *chart, bool io)
{
    enum { TIME = 10000000, BYTES = 1048576 };
    uint32_t count = 0;
    for (uint64_t least = io ? BYTES : TIME; least; least /= 10) {
        count = show_from(chart, io, least);
        if (count >= chart->task_count || chart->options->process_count)
            break;
    }
    for (size_t i = 0; i < chart->names.count; i++)
        if (!chart->names.data[i].end)
            chart->names.data[i].end = chart->last;
    return count;
}

/* ---- processors ---- */

/* As perf does, tells the processor of this machine, whatever the recording's was. The line's end
 * is part of the text. */
static void read_model(char *model, size_t size)
{
    static const char key[] = "model name\t: ";
    FILE *file = fopen("/proc/cpuinfo", "re");
    char line[256];
    *model = '\0';
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, key, sizeof key - 1)) {
            snprintf(model, size, "%s", line + sizeof key - 1);
            break;
        }
    if (file)
        fclose(file);
    else
        pd_memory_note_errno();
}

static perfdata_status draw_cpus(struct pd_chart *chart)
{
    char model[256];
    read_model(model, sizeof model);
    if (pd_memory_failed())
        return pd_tp_no_memory(&chart->tp);
    for (uint32_t cpu = 0; cpu < chart->cpu_count; cpu++)
        pd_svg_cpu(chart, cpu, model);
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; status >= 0 && i < chart->order.count; i++) {
        const struct pd_chart_task *task = &chart->tasks.data[chart->order.data[i]];
        const struct pd_chart_name *name = name_at(chart, task->names);
        for (; status >= 0 && name; name = name_at(chart, name->older)) {
            for (uint32_t at = name->spans; at != PD_CHART_NONE; at = chart->spans.data[at].older)
                if (chart->spans.data[at].state == PD_CHART_RUNNING)
                    pd_svg_cpu_run(chart, name, &chart->spans.data[at]);
            status = pd_chart_flush(chart);
        }
    }
    return status;
}

/* Ends the states that no sample has ended. */
static bool end_frequencies(struct pd_chart *chart)
{
    for (uint32_t cpu = 0; cpu <= chart->cpu_count && cpu < PD_CHART_CPUS; cpu++) {
        const struct pd_chart_cpu *at = &chart->cpus[cpu];
        const struct pd_chart_power power = {
            .start = at->frequency_since ? at->frequency_since : chart->first,
            .end = chart->last,
            .cpu = cpu,
            .state = at->frequency ? at->frequency : chart->least_frequency,
            .frequency = true,
        };
        if (!pd_vec_push(&chart->powers, power))
            return false;
    }
    return true;
}

static perfdata_status draw_powers(struct pd_chart *chart, bool frequency)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t i = chart->powers.count; status >= 0 && i--;) {
        struct pd_chart_power *power = &chart->powers.data[i];
        if (power->frequency != frequency)
            continue;
        if (frequency && !power->state)
            power->state = chart->least_frequency;
        pd_svg_power(chart, power);
        status = pd_chart_flush(chart);
    }
    return status;
}

/* ---- tasks ---- */

static void put_label(struct pd_chart *chart, const struct pd_chart_name *name, bool io)
{
    static const char *const units[] = { "", "K", "M", "G" };
    enum { SECONDS_FROM = 5 };
    char figures[80];
    int pid = (int)chart->tasks.data[name->task].pid;
    if (name->text == PD_INTERN_NONE && !io)
        return;
    if (io) {
        double bytes = (double)name->bytes;
        size_t unit = 0;
        for (; bytes > 1024 && unit + 1 < PD_LENGTH(units); unit++)
            bytes /= 1024;
        snprintf(figures, sizeof figures, ":%i (%3.1f %sbytes)", pid, bytes, units[unit]);
    } else if (name->time > SECONDS_FROM * UINT64_C(1000000000)) {
        snprintf(figures, sizeof figures, ":%i (%2.2fs)", pid, (double)name->time / 1e9);
    } else {
        snprintf(figures, sizeof figures, ":%i (%3.1fms)", pid, (double)name->time / 1e6);
    }
    pd_svg_label(chart, name, figures);
}

static void draw_row(struct pd_chart *chart, const struct pd_chart_name *name, bool io)
{
    enum { AGAIN = -11 };
    bool skips = chart->options->flags & PERFDATA_TIMECHART_SKIP_EAGAIN;
    pd_svg_box(chart, name, io ? "process3" : "process");
    for (uint32_t at = name->spans; !io && at != PD_CHART_NONE; at = chart->spans.data[at].older)
        pd_svg_span(chart, name, &chart->spans.data[at]);
    for (uint32_t at = name->ios; io && at != PD_CHART_NONE; at = chart->ios.data[at].older)
        if (!skips || chart->ios.data[at].error != AGAIN)
            pd_svg_io(chart, name, &chart->ios.data[at]);
    put_label(chart, name, io);
}

static perfdata_status draw_rows(struct pd_chart *chart, uint32_t row, bool io)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; status >= 0 && i < chart->order.count; i++) {
        uint32_t at = chart->tasks.data[chart->order.data[i]].names;
        struct pd_chart_name *name = name_at(chart, at);
        for (; status >= 0 && name; name = name_at(chart, name->older)) {
            if (!name->shown)
                continue;
            name->row = row++;
            draw_row(chart, name, io);
            status = pd_chart_flush(chart);
        }
    }
    return status;
}

/* The name that the task had at this time, if it is drawn; else its newest one that is drawn;
 * else its first one, which has no row. */
static const struct pd_chart_name *name_then(struct pd_chart *chart, uint32_t pid, uint64_t time)
{
    const struct pd_chart_task *task = pd_chart_task(chart, pid);
    const struct pd_chart_name *any = NULL;
    const struct pd_chart_name *name = task ? name_at(chart, task->names) : NULL;
    for (; name; name = name_at(chart, name->older)) {
        if (name->row && name->start <= time && name->end >= time)
            return name;
        if (!any || !any->row)
            any = name;
    }
    return any;
}

static perfdata_status draw_wakeups(struct pd_chart *chart)
{
    perfdata_status status = PERFDATA_OK;
    for (size_t i = chart->wakeups.count; status >= 0 && i--;) {
        const struct pd_chart_wakeup *wakeup = &chart->wakeups.data[i];
        /* perf reads the waker from a field that the sample does not have, and gets task 0. */
        pd_svg_wakeup(chart, wakeup, name_then(chart, 0, wakeup->time),
                      name_then(chart, wakeup->wakee, wakeup->time));
        status = pd_chart_flush(chart);
    }
    return status;
}

/* ---- the picture ---- */

perfdata_status pd_chart_flush(struct pd_chart *chart)
{
    enum { WRITE_AT = 1 << 16 };
    struct pd_text *out = &chart->tp.out;
    if (out->failed)
        return pd_tp_no_memory(&chart->tp);
    if (out->length < WRITE_AT)
        return PERFDATA_OK;
    bool stopped = chart->tp.write(chart->tp.write_data, out->data, out->length);
    out->length = 0;
    return stopped ? pd_fail(&chart->tp.recording->context, PERFDATA_ERROR_OUTPUT, -1,
                             "the text could not be written")
                   : PERFDATA_OK;
}

static perfdata_status draw_io(struct pd_chart *chart)
{
    uint32_t rows = choose(chart, true);
    rows = (chart->task_count ? rows : 0) + 2; /* perf: what is drawn all the same is below it */
    pd_svg_begin(chart, rows);
    pd_svg_grid(chart, rows, true);
    pd_svg_legend(chart, true);
    return draw_rows(chart, 1, true);
}

static perfdata_status draw_tasks(struct pd_chart *chart)
{
    const struct perfdata_timechart_options *options = chart->options;
    uint32_t first = chart->cpu_count * 2 + 2;
    bool no_tasks = !chart->task_count;
    uint32_t rows = choose(chart, false);
    rows = (no_tasks ? 0 : rows) + first;
    if (!end_frequencies(chart))
        return pd_tp_no_memory(&chart->tp);
    pd_svg_begin(chart, rows);
    pd_svg_grid(chart, rows, false);
    pd_svg_legend(chart, false);
    perfdata_status status = draw_cpus(chart);
    if (status >= 0 && !no_tasks)
        status = draw_rows(chart, first, false);
    bool powers = !(options->flags & PERFDATA_TIMECHART_TASKS_ONLY);
    if (status >= 0 && powers)
        status = draw_powers(chart, false);
    if (status >= 0 && powers)
        status = draw_powers(chart, true);
    if (status >= 0 && !no_tasks)
        status = draw_wakeups(chart);
    return status;
}

perfdata_status pd_chart_draw(struct pd_chart *chart)
{
    enum { WIDTH_PER_SECOND = 200 }; /* at least: a longer recording makes a wider picture */
    const struct pd_recording *recording = chart->tp.recording;
    const uint64_t nanoseconds = chart->last - chart->first + chart->first % 100000000;
    const uint64_t least_width = nanoseconds / 1000 * WIDTH_PER_SECOND / 1000000;
    chart->task_count = chart->options->flags & PERFDATA_TIMECHART_POWER_ONLY
                            ? 0
                            : chart->options->task_count;
    chart->width = (uint32_t)PD_MIN(PD_MAX(chart->options->width, least_width), UINT32_MAX);
    uint32_t cpus = recording->features.nrcpus.available;
    chart->cpu_count = PD_MIN(cpus ? cpus : chart->highest_cpu + 1, PD_CHART_CPUS);
    for (uint32_t cpu = 0; cpu < PD_CHART_CPUS; cpu++)
        chart->places[cpu] = (uint16_t)cpu;
    bool placed = !(chart->options->flags & PERFDATA_TIMECHART_TOPOLOGY) ||
                  pd_chart_place_by_topology(chart);
    if (!placed || !sort_tasks(chart))
        return pd_tp_no_memory(&chart->tp);
    perfdata_status status = chart->io_events ? draw_io(chart) : draw_tasks(chart);
    if (status >= 0)
        pd_svg_end(chart);
    return status;
}
