/* SPDX-License-Identifier: MIT */
/* Reports of accesses to memory: what a sample's code accessed, and what that counts for. */
#include "render/report/collect.h"

uint64_t pd_report_weight(const struct pd_report_facts *facts)
{
    bool parts = facts->event->attr.sample_type & PD_SAMPLE_WEIGHT_STRUCT;
    return parts ? (uint32_t)facts->sample->weight : facts->sample->weight;
}

/* Finds the code in all modes, and the data in the mode of the processor. */
bool pd_report_access(struct pd_report_state *state, const struct pd_report_facts *facts,
                      struct pd_hist_access *access)
{
    const struct pd_sample *sample = facts->sample;
    const struct pd_location *code = pd_resolve_unmoded(state->resolver, facts->thread,
                                                        facts->number, sample->ip);
    /* Whatever mode the addresses belong to, a row shows the processor's. */
    char level = facts->location->level;
    if (!code)
        return false;
    access->from = pd_report_place(code, level);
    const struct pd_location *data = pd_resolve(state->resolver, facts->thread, facts->number,
                                                sample->cpumode, sample->addr);
    if (!data)
        return false;
    access->to = pd_report_place(data, level);
    access->flags = sample->data_src;
    return true;
}

/* Anonymous memory belongs to one process, while a file is the same in all of them. */
static bool is_anonymous(const struct pd_report_facts *facts, const struct pd_map *map)
{
    const struct pd_dso *dso = map->dso;
    return facts->sample->cpumode != PD_CPUMODE_KERNEL && !(map->flags & PD_MAP_SHARED) &&
           !dso->maj && !dso->min && !dso->ino && !dso->ino_generation;
}

void pd_report_cache_line(const struct pd_report_facts *facts, struct pd_hist_cache_line *line)
{
    const struct pd_hist_place *data = &facts->access->to;
    *line = (struct pd_hist_cache_line){ .cpumode = facts->sample->cpumode,
                                         .unmapped = !data->map,
                                         .address = PD_CACHE_LINE_OF(data->addr) };
    if (!data->map)
        return;
    line->maj = data->map->dso->maj;
    line->min = data->map->dso->min;
    line->ino = data->map->dso->ino;
    line->ino_generation = data->map->dso->ino_generation;
    if (is_anonymous(facts, data->map))
        line->pid = facts->thread ? (int32_t)pd_thread_pid(facts->thread, facts->number) : -1;
}
