/* SPDX-License-Identifier: MIT */
/* `timechart -t`: the rows of CPUs, so that those of one package stand together, and among these
 * those of one core. */
#include "render/sched/sched.h"
#include "render/timechart/timechart.h"
#include <stdlib.h>

#define WORDS (PD_SCHED_CPUS / 64)

struct cpu_set {
    uint64_t bits[WORDS];
};

static struct cpu_set *read_sets(const struct pd_part_string_item *items, uint32_t count)
{
    struct cpu_set *sets = calloc((size_t)count + 1, sizeof *sets);
    for (uint32_t i = 0; sets && i < count; i++) {
        const char *list = items[i].text.text;
        if (!list || !pd_sched_read_cpus(list, sets[i].bits))
            memset(&sets[i], 0, sizeof sets[i]); /* a list that does not parse names none */
    }
    return sets;
}

/* Gives the next rows to the CPUs of the core that `cpu` belongs to; each core gets rows only
 * once. */
static void place_core(struct pd_chart *chart, struct cpu_set *cores, uint32_t count, uint32_t cpu,
                       uint16_t *next)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!pd_sched_has_cpu(cores[i].bits, cpu))
            continue;
        for (uint32_t at = 0; at < PD_CHART_CPUS; at++)
            if (pd_sched_has_cpu(cores[i].bits, at))
                chart->places[at] = (*next)++;
        memset(&cores[i], 0, sizeof cores[i]);
    }
}

bool pd_chart_place_by_topology(struct pd_chart *chart)
{
    enum { MOST = PD_CHART_CPUS };
    const struct pd_feature_cpu_topology *topology = &chart->tp.recording->features.cpu_topology;
    uint32_t package_count = PD_MIN(topology->cores_count, MOST);
    uint32_t core_count = PD_MIN(topology->threads_count, MOST);
    struct cpu_set *packages = read_sets(topology->cores, package_count);
    struct cpu_set *cores = read_sets(topology->threads, core_count);
    uint16_t next = 0;
    if (!package_count || !core_count) {
        free(packages);
        free(cores);
        return pd_warning(&chart->tp.recording->context, PERFDATA_ISSUE_UNSUPPORTED, -1,
                          "problem building topology\n") >= 0;
    }
    memset(chart->places, 0, sizeof chart->places); /* as in perf, all other CPUs have row 0 */
    for (uint32_t i = 0; packages && cores && i < package_count; i++)
        for (uint32_t cpu = 0; cpu < PD_CHART_CPUS; cpu++)
            if (pd_sched_has_cpu(packages[i].bits, cpu))
                place_core(chart, cores, core_count, cpu, &next);
    bool done = packages && cores;
    free(packages);
    free(cores);
    return done;
}
