/* SPDX-License-Identifier: MIT */
/* `perf stat report`: the counts of each round, as perf stat printed them when they were recorded,
 * or added up another way. */
#include "container/handle.h"
#include "render/counts/matrix.h"
#include "render/counts/shadow.h"
#include <math.h>
#include <perfdata/stat.h>
#include <stdio.h>
#include <stdlib.h>

enum { UNIT_WIDTH = 4, NAME_WIDTH = 32, TITLE_EVERY = 25, SECOND = 49, SECOND_OF_CPU = 57 };

/* What one sum is of: the CPU, core, thread ... whose counts are added up. */
struct place {
    int32_t node, socket, die, core;
};

/* An event of all CPUs and threads. */
struct sum {
    struct pd_counted count, before;
    struct pd_mean value, enabled, running;
    int scaled;
};

struct counts_report {
    struct pd_recording *recording;
    struct pd_count_matrix matrix;
    uint32_t wanted;  /* enum perfdata_stat_aggregate */
    bool aggregated;  /* STAT_CONFIG was met */
    struct sum *sums; /* by event */
    PD_VEC(struct place) places;
    struct pd_shadow *shadows; /* by what lines are of; shadow_count of them */
    size_t shadow_count, titles;
    struct pd_mean wall;
    struct pd_text out;
};

/* ---- places ---- */

static bool list_has(const char *list, uint32_t cpu)
{
    for (;;) {
        char *end;
        unsigned long from = strtoul(list, &end, 10), to = from;
        if (end == list)
            return false;
        if (*end == '-')
            to = strtoul(end + 1, &end, 10);
        if (cpu >= from && cpu <= to)
            return true;
        if (*end != ',')
            return false;
        list = end + 1;
    }
}

static int32_t node_of(const struct pd_recording *recording, uint32_t cpu)
{
    const struct pd_feature_numa_topology *numa = &recording->features.numa_topology;
    for (uint32_t i = 0; numa->present && i < numa->nodes_count; i++)
        if (list_has(numa->nodes[i].cpus.text, cpu))
            return (int32_t)numa->nodes[i].node;
    return -1;
}

static struct place place_of(const struct counts_report *report, int32_t cpu)
{
    const struct pd_feature_cpu_topology *topology = &report->recording->features.cpu_topology;
    struct place place = { -1, -1, -1, -1 };
    uint64_t way = report->matrix.aggregate;
    if (way == PD_AGGREGATE_NODE)
        place.node = node_of(report->recording, (uint32_t)cpu);
    else if (topology->present && cpu >= 0 && (uint32_t)cpu < topology->cpus_count) {
        place.socket = (int32_t)topology->cpus[cpu].socket_id;
        if (way != PD_AGGREGATE_SOCKET)
            place.die = (uint32_t)cpu < topology->die_ids.count
                            ? (int32_t)pd_array_at(&topology->die_ids, (size_t)cpu)
                            : 0;
        if (way == PD_AGGREGATE_CORE)
            place.core = (int32_t)topology->cpus[cpu].core_id;
    }
    return place;
}

static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    const int32_t left[] = { x->node, x->socket, x->die, x->core },
                  right[] = { y->node, y->socket, y->die, y->core };
    for (size_t i = 0; i < PD_LENGTH(left); i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static bool make_places(struct counts_report *report)
{
    size_t kept = 0;
    report->places.count = 0;
    for (size_t i = 0; i < report->matrix.cpus.count; i++)
        if (!pd_vec_push(&report->places, place_of(report, report->matrix.cpus.data[i])))
            return false;
    struct place *places = report->places.data;
    if (report->places.count)
        qsort(places, report->places.count, sizeof *places, by_place);
    for (size_t i = 0; i < report->places.count; i++)
        if (!kept || by_place(&places[kept - 1], &places[i]) != 0)
            places[kept++] = places[i];
    report->places.count = kept;
    return true;
}

/* ---- a round ---- */

static size_t line_count(const struct counts_report *report)
{
    switch (report->matrix.aggregate) {
    case PD_AGGREGATE_NONE: return report->matrix.cpus.count;
    case PD_AGGREGATE_GLOBAL: return 1;
    case PD_AGGREGATE_THREAD: return report->matrix.threads.count;
    default: return report->places.count;
    }
}

static bool make_shadows(struct counts_report *report)
{
    size_t count = line_count(report);
    if (report->shadows && report->shadow_count == count && report->sums)
        return true;
    free(report->shadows);
    free(report->sums);
    report->shadows = calloc(count + 1, sizeof *report->shadows);
    report->sums = calloc(report->recording->event_count + 1, sizeof *report->sums);
    report->shadow_count = count;
    return report->shadows && report->sums;
}

static void finish_sum(struct counts_report *report, size_t event)
{
    struct sum *sum = &report->sums[event];
    if (report->matrix.interval)
        sum->value = sum->enabled = sum->running = (struct pd_mean){ 0 };
    pd_count_subtract(&sum->count, &sum->before);
    sum->scaled = report->matrix.scale ? pd_count_scale(&sum->count) : 0;
    pd_mean_add(&sum->value, (double)sum->count.value);
    pd_mean_add(&sum->enabled, (double)sum->count.enabled);
    pd_mean_add(&sum->running, (double)sum->count.running);
    pd_shadow_add(&report->shadows[0], report->recording->events[event], sum->count.value);
}

static void finish_event(struct counts_report *report, size_t event)
{
    struct pd_count_matrix *matrix = &report->matrix;
    struct sum *sum = &report->sums[event];
    sum->count = (struct pd_counted){ 0 };
    for (size_t thread = 0; thread < matrix->threads.count; thread++)
        for (size_t cpu = 0; cpu < matrix->cpus.count; cpu++) {
            size_t index = pd_count_index(matrix, event, cpu, thread);
            pd_count_finish(matrix, index);
            const struct pd_counted *count = &matrix->counts[index];
            if (matrix->aggregate == PD_AGGREGATE_GLOBAL) {
                sum->count.value += count->value;
                sum->count.enabled += count->enabled;
                sum->count.running += count->running;
            } else if (matrix->aggregate == PD_AGGREGATE_NONE ||
                       matrix->aggregate == PD_AGGREGATE_THREAD) {
                bool each = matrix->aggregate == PD_AGGREGATE_NONE;
                pd_shadow_add(&report->shadows[each ? cpu : thread],
                              report->recording->events[event], count->value);
            }
        }
    if (matrix->aggregate == PD_AGGREGATE_GLOBAL)
        finish_sum(report, event);
}

/* Adds up the counts of an event at a place, and says of how many CPUs they are. One bad count
 * makes the sum bad. */
static struct pd_counted sum_place(const struct counts_report *report, size_t event,
                                   const struct place *place, unsigned *cpus)
{
    const struct pd_count_matrix *matrix = &report->matrix;
    struct pd_counted sum = { 0 };
    bool bad = false;
    *cpus = 0;
    for (size_t cpu = 0; cpu < matrix->cpus.count; cpu++) {
        struct place at = place_of(report, matrix->cpus.data[cpu]);
        if (by_place(&at, place) != 0)
            continue;
        const struct pd_counted *count = &matrix->counts[pd_count_index(matrix, event, cpu, 0)];
        ++*cpus;
        bad |= !count->enabled || !count->running;
        sum.value += count->value;
        sum.enabled += count->enabled;
        sum.running += count->running;
    }
    if (bad)
        sum.enabled = sum.running = 0;
    return sum;
}

/* perf knows of clock events what the recording may not say: they count nanoseconds and are shown
 * in milliseconds. */
static double scale_of(const struct pd_event *event)
{
    return pd_event_is_clock(event) && !event->unit ? 1e-6 : event->scale;
}

static const char *unit_of(const struct pd_event *event)
{
    return event->unit ? event->unit : pd_event_is_clock(event) ? "msec" : "";
}

/* ---- lines ---- */

/* Writes the beginning of a line, which names the place. */
static void put_where(struct counts_report *report, size_t line, unsigned cpus)
{
    struct pd_text *out = &report->out;
    const struct pd_count_matrix *matrix = &report->matrix;
    const struct place *place = line < report->places.count ? &report->places.data[line] : NULL;
    switch (matrix->aggregate) {
    case PD_AGGREGATE_NONE: pd_text_format(out, "CPU%-7d ", matrix->cpus.data[line]); break;
    case PD_AGGREGATE_THREAD:
        pd_text_format(out, "%16s-%-8d ", matrix->threads.data[line].comm,
                       matrix->threads.data[line].tid);
        break;
    case PD_AGGREGATE_SOCKET:
        pd_text_format(out, "S%-5d %4u ", place ? place->socket : -1, cpus);
        break;
    case PD_AGGREGATE_DIE:
        pd_text_format(out, "S%d-D%-8d %4u ", place ? place->socket : -1, place ? place->die : -1,
                       cpus);
        break;
    case PD_AGGREGATE_CORE:
        pd_text_format(out, "S%d-D%d-C%-8d %4u ", place ? place->socket : -1,
                       place ? place->die : -1, place ? place->core : -1, cpus);
        break;
    case PD_AGGREGATE_NODE:
        pd_text_format(out, "N%-5d %4u ", place ? place->node : -1, cpus);
        break;
    default: break;
    }
}

struct line {
    size_t event, at; /* which place, CPU, thread */
    unsigned cpus;
    double value, enabled, running; /* the value multiplied by the event's scale */
    bool bad;
};

static void put_line(struct counts_report *report, const char *prefix, const struct line *line)
{
    struct pd_text *out = &report->out;
    const struct pd_event *event = report->recording->events[line->event];
    const char *unit = unit_of(event);
    double scale = scale_of(event);
    size_t from = out->length;
    char begin[160];
    pd_text_string(out, prefix);
    put_where(report, line->at, line->cpus);
    bool each = report->matrix.aggregate == PD_AGGREGATE_NONE;
    snprintf(begin, sizeof begin, "%.*s%*s", (int)(out->length - from),
             out->data ? out->data + from : "", each ? SECOND_OF_CPU : SECOND, "");
    if (line->bad || line->running == 0 || line->enabled == 0) {
        bool seen = report->matrix.seen[line->event];
        pd_text_format(out, "%18s %-*s %-25s", seen ? "<not counted>" : "<not supported>",
                       UNIT_WIDTH, unit, event->name);
        pd_shadow_put_nothing(out);
    } else {
        pd_text_format(out, "%18.*f %-*s %-*s", floor(scale) != scale ? 2 : 0, line->value,
                       UNIT_WIDTH, unit, NAME_WIDTH, event->name);
        pd_shadow_put(&report->shadows[line->at], event, line->value, report->wall.mean * scale,
                      begin, out);
    }
    if (!line->bad && line->running != line->enabled)
        pd_text_format(out, "  (%.2f%%)", 100.0 * line->running / line->enabled);
    pd_text_char(out, '\n');
}

static struct line line_of(const struct counts_report *report, size_t event, size_t at,
                           struct pd_counted count)
{
    return (struct line){ .event = event,
                          .at = at,
                          .value = (double)count.value * scale_of(report->recording->events[event]),
                          .enabled = (double)count.enabled,
                          .running = (double)count.running };
}

static void put_sums(struct counts_report *report, const char *prefix)
{
    for (size_t i = 0; i < report->recording->event_count; i++) {
        const struct sum *sum = &report->sums[i];
        struct line line = { .event = i,
                             .value = sum->value.mean * scale_of(report->recording->events[i]),
                             .enabled = sum->enabled.mean,
                             .running = sum->running.mean,
                             .bad = sum->scaled == -1 };
        put_line(report, prefix, &line);
    }
}

static void put_cpus(struct counts_report *report, const char *prefix)
{
    const struct pd_count_matrix *matrix = &report->matrix;
    for (size_t event = 0; event < report->recording->event_count; event++)
        for (size_t cpu = 0; cpu < matrix->cpus.count; cpu++) {
            struct line line = line_of(report, event, cpu,
                                       matrix->counts[pd_count_index(matrix, event, cpu, 0)]);
            put_line(report, prefix, &line);
        }
}

static void put_places(struct counts_report *report, const char *prefix)
{
    unsigned cpus;
    for (size_t at = 0; at < report->places.count; at++)
        for (size_t event = 0; event < report->recording->event_count; event++)
            pd_shadow_add(&report->shadows[at], report->recording->events[event],
                          sum_place(report, event, &report->places.data[at], &cpus).value);
    for (size_t at = 0; at < report->places.count; at++)
        for (size_t event = 0; event < report->recording->event_count; event++) {
            struct line line = line_of(report, event, at,
                                       sum_place(report, event, &report->places.data[at], &cpus));
            line.cpus = cpus;
            put_line(report, prefix, &line);
        }
}

/* By falling value; equal ones as they were recorded. */
static int by_value(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->value > y->value || x->value < y->value)
        return x->value < y->value ? 1 : -1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool put_threads(struct counts_report *report, const char *prefix)
{
    const struct pd_count_matrix *matrix = &report->matrix;
    size_t count = matrix->threads.count;
    struct line *lines = calloc(count + 1, sizeof *lines);
    for (size_t event = 0; lines && event < report->recording->event_count; event++) {
        for (size_t thread = 0; thread < count; thread++) {
            struct pd_counted sum = { 0 };
            for (size_t cpu = 0; cpu < matrix->cpus.count; cpu++) {
                size_t index = pd_count_index(matrix, event, cpu, thread);
                sum.value += matrix->counts[index].value;
                sum.enabled += matrix->counts[index].enabled;
                sum.running += matrix->counts[index].running;
            }
            lines[thread] = line_of(report, event, thread, sum);
        }
        qsort(lines, count, sizeof *lines, by_value);
        for (size_t i = 0; i < count; i++)
            put_line(report, prefix, &lines[i]);
    }
    free(lines);
    return lines;
}

/* ---- head and foot ---- */

static void put_titles(struct counts_report *report)
{
    static const char *const titles[] = {
        [PD_AGGREGATE_NONE] = "CPU       ",
        [PD_AGGREGATE_GLOBAL] = "",
        [PD_AGGREGATE_SOCKET] = "socket cpus",
        [PD_AGGREGATE_DIE] = "die          cpus",
        [PD_AGGREGATE_CORE] = "core            cpus",
        [PD_AGGREGATE_THREAD] = "            comm-pid     ",
        [PD_AGGREGATE_NODE] = "node   cpus",
    };
    uint64_t way = report->matrix.aggregate;
    const char *title = way < PD_LENGTH(titles) && titles[way] ? titles[way] : "";
    if (report->titles++ % TITLE_EVERY)
        return;
    pd_text_string(&report->out, "#           time ");
    pd_text_string(&report->out, title);
    pd_text_string(&report->out, *title ? "             counts unit events\n"
                                        : "            counts unit events\n");
}

/* perf does not know the command of a recording that comes through a pipe. */
static void put_head(struct counts_report *report)
{
    const struct pd_feature_cmdline *line = &report->recording->features.cmdline;
    struct pd_text *out = &report->out;
    bool known = line->present && report->recording->kind != PD_CONTAINER_PIPE;
    pd_text_string(out, "\n Performance counter stats for '");
    for (uint32_t i = 0; known && i < line->words_count; i++) {
        pd_text_string(out, i ? " " : "");
        pd_text_string(out, line->words[i].text.text);
    }
    pd_text_string(out, known ? "':\n\n" : "pipe':\n\n");
}

static bool put_lines(struct counts_report *report, const char *prefix)
{
    switch (report->matrix.aggregate) {
    case PD_AGGREGATE_NONE: put_cpus(report, prefix); return true;
    case PD_AGGREGATE_GLOBAL: put_sums(report, prefix); return true;
    case PD_AGGREGATE_THREAD: return put_threads(report, prefix);
    default: put_places(report, prefix); return true;
    }
}

static bool put_round(struct counts_report *report, const struct pd_record_stat_round *round)
{
    char prefix[40] = "";
    bool interval = report->matrix.interval && round->time;
    if (!report->matrix.counts)
        return true;
    if (!make_places(report) || !make_shadows(report))
        return false;
    for (size_t i = 0; i < report->recording->event_count; i++)
        finish_event(report, i);
    if (round->round_type == 1) /* the last one */
        pd_mean_add(&report->wall, (double)round->time);
    if (interval) {
        snprintf(prefix, sizeof prefix, "%6llu.%09llu ",
                 (unsigned long long)(round->time / 1000000000),
                 (unsigned long long)(round->time % 1000000000));
        put_titles(report);
    } else {
        put_head(report);
    }
    bool good = put_lines(report, prefix);
    if (!interval)
        pd_text_format(&report->out, "\n %17.9f seconds time elapsed\n\n", report->wall.mean / 1e9);
    return good;
}

/* ---- the run ---- */

static void choose_way(struct counts_report *report)
{
    static const uint8_t ways[] = {
        [PERFDATA_STAT_CPU] = PD_AGGREGATE_NONE,  [PERFDATA_STAT_CORE] = PD_AGGREGATE_CORE,
        [PERFDATA_STAT_DIE] = PD_AGGREGATE_DIE,   [PERFDATA_STAT_SOCKET] = PD_AGGREGATE_SOCKET,
        [PERFDATA_STAT_NODE] = PD_AGGREGATE_NODE,
    };
    struct pd_count_matrix *matrix = &report->matrix;
    if (report->wanted == PERFDATA_STAT_RECORDED)
        return;
    if (matrix->cpus.count && matrix->cpus.data[0] != -1)
        matrix->aggregate = ways[report->wanted];
    else
        pd_text_string(&report->out, "warning: processing task data, aggregation mode not set\n");
}

static perfdata_status read_all(struct counts_report *report)
{
    struct pd_walk *walk;
    struct pd_raw raw;
    struct pd_record_stat_round round;
    int got = pd_walk_open(report->recording, &walk);
    if (got < 0)
        return got;
    while ((got = pd_walk_next(walk, &raw)) > 0) {
        enum pd_count_taken taken = pd_count_matrix_take(
            &report->matrix, report->recording, raw.type, raw.data, raw.size, raw.offset, &round);
        if (taken == PD_COUNT_CONFIG)
            choose_way(report);
        if (taken == PD_COUNT_FAILED || (taken == PD_COUNT_ROUND && !put_round(report, &round))) {
            got = pd_no_memory(&report->recording->context, "counts");
            break;
        }
    }
    pd_walk_close(walk);
    return got;
}

perfdata_status perfdata_stat_report_run(perfdata_recording *recording, uint32_t aggregate,
                                         perfdata_write_fn write, void *data)
{
    if (!recording || !write)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_context *context = &recording->recording.context;
    if (!recording->open || aggregate > PERFDATA_STAT_NODE)
        return pd_fail(context, PERFDATA_ERROR_ARGUMENT, -1,
                       "the recording is not open, or counts are not added up so");
    struct counts_report report = { .recording = &recording->recording, .wanted = aggregate };
    pd_count_matrix_init(&report.matrix);
    perfdata_status status = read_all(&report);
    perfdata_status written = pd_api_emit(context, &report.out, write, data);
    pd_count_matrix_free(&report.matrix);
    pd_vec_free(&report.places);
    free(report.shadows);
    free(report.sums);
    return status < 0 ? status : written;
}
