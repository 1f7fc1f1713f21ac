/* SPDX-License-Identifier: MIT */
/* What script prints of `perf stat record`: a table of counts at the end of each round. */
#include "render/script/plan.h"
#include "format/structs.h"

/* More of events x CPUs x threads than any machine has. */
#define MAX_COUNTS (UINT64_C(1) << 24)

struct count {
    uint64_t value, enabled, running;
};

/* perf stat's way of adding up when it was not asked for another. */
#define AGGREGATE_GLOBAL 1

struct pd_script_stat {
    PD_VEC(int32_t) cpus, threads;
    /* [event][CPU][thread]; NULL until both lists are known; and what they were a round before */
    struct count *counts, *before;
    uint64_t aggregate;
    bool scale, titled;
};

struct pd_script_stat *pd_script_stat_new(void)
{
    struct pd_script_stat *stat = calloc(1, sizeof *stat);
    if (stat) {
        stat->aggregate = AGGREGATE_GLOBAL;
        stat->scale = true;
    }
    return stat;
}

void pd_script_stat_free(struct pd_script_stat *stat)
{
    if (!stat)
        return;
    pd_vec_free(&stat->cpus);
    pd_vec_free(&stat->threads);
    free(stat->counts);
    free(stat->before);
    free(stat);
}

static bool add_bits(struct pd_script_stat *stat, const struct pd_array *words)
{
    for (uint32_t i = 0; i < words->count; i++) {
        uint64_t word = pd_array_at(words, i);
        for (uint32_t bit = 0; bit < 8u * words->width; bit++)
            if (word >> bit & 1 &&
                !pd_vec_push(&stat->cpus, (int32_t)(i * 8u * words->width + bit)))
                return false;
    }
    return true;
}

static bool take_cpus(struct pd_script_stat *stat, const struct pd_part_cpu_map *map)
{
    bool good = true;
    if (stat->cpus.count) /* told at the end */
        return true;
    switch (map->type) {
    case PD_CPU_MAP_CPUS:
        for (uint32_t i = 0; good && i < map->cpus.count; i++)
            good = pd_vec_push(&stat->cpus,
                               (int16_t)pd_array_at(&map->cpus, i)); /* 0xffff is -1: any */
        return good;
    case PD_CPU_MAP_MASK: return add_bits(stat, &map->mask32) && add_bits(stat, &map->mask64);
    case PD_CPU_MAP_RANGE:
        if (map->any_cpu)
            good = pd_vec_push(&stat->cpus, -1);
        for (uint32_t cpu = map->start; good && cpu <= map->end; cpu++)
            good = pd_vec_push(&stat->cpus, (int32_t)cpu);
        return good;
    default: return true;
    }
}

static bool take_threads(struct pd_script_stat *stat, const struct pd_record_thread_map *map)
{
    if (stat->threads.count)
        return true;
    for (uint32_t i = 0; i < map->entries_count; i++)
        if (!pd_vec_push(&stat->threads, (int32_t)map->entries[i].pid))
            return false;
    return true;
}

static bool make_counts(struct pd_script_stat *stat, size_t events)
{
    uint64_t total;
    free(stat->counts);
    free(stat->before);
    stat->counts = stat->before = NULL;
    if (!stat->cpus.count || !stat->threads.count)
        return true;
    if (pd_mul_overflows((uint64_t)stat->cpus.count, stat->threads.count, &total) ||
        pd_mul_overflows(total, events, &total) || total > MAX_COUNTS)
        return false;
    stat->counts = calloc((size_t)total, sizeof *stat->counts);
    stat->before = calloc((size_t)total, sizeof *stat->before);
    return stat->counts && stat->before;
}

static size_t index_of(const struct pd_script_stat *stat, size_t event, size_t cpu, size_t thread)
{
    return (event * stat->cpus.count + cpu) * stat->threads.count + thread;
}

static void take_config(struct pd_script_stat *stat, const struct pd_record_stat_config *config)
{
    for (uint32_t i = 0; i < config->data_count; i++) {
        if (config->data[i].tag == PD_STAT_CONFIG_AGGR_MODE)
            stat->aggregate = config->data[i].val;
        else if (config->data[i].tag == PD_STAT_CONFIG_SCALE)
            stat->scale = config->data[i].val;
    }
}

static void take_count(struct pd_script_stat *stat, const struct pd_recording *recording,
                       const struct pd_record_stat *record)
{
    uint32_t event = pd_map64_get(&recording->event_by_id, record->id);
    if (!stat->counts || event == PD_MAP64_NONE || event >= recording->event_count ||
        record->thread >= stat->threads.count)
        return;
    for (size_t cpu = 0; cpu < stat->cpus.count; cpu++)
        if (stat->cpus.data[cpu] == (int32_t)record->cpu)
            stat->counts[index_of(stat, event, cpu, record->thread)] = (struct count){
                record->val, record->ena, record->run
            };
}

/* Unless all is added up, perf keeps the difference to the round before, extrapolated to the time enabled. */
static void finish_count(struct pd_script_stat *stat, struct count *count, struct count *before)
{
    if (stat->aggregate == AGGREGATE_GLOBAL)
        return;
    struct count now = *count;
    count->value -= before->value;
    count->enabled -= before->enabled;
    count->running -= before->running;
    *before = now;
    if (!stat->scale)
        return;
    if (!count->running)
        count->value = 0;
    else if (count->running < count->enabled)
        count->value = (uint64_t)((double)count->value * (double)count->enabled /
                                  (double)count->running);
}

static void put_round(struct pd_script_stat *stat, const struct pd_recording *recording,
                      uint64_t time, struct pd_text *text)
{
    if (!stat->titled)
        pd_text_format(text, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA",
                       "RUN", "TIME", "EVENT");
    stat->titled = true;
    if (!stat->counts)
        return;
    for (size_t event = 0; event < recording->event_count; event++)
        for (size_t thread = 0; thread < stat->threads.count; thread++)
            for (size_t cpu = 0; cpu < stat->cpus.count; cpu++) {
                size_t index = index_of(stat, event, cpu, thread);
                struct count *count = &stat->counts[index];
                finish_count(stat, count, &stat->before[index]);
                pd_text_format(text, "%3d %8d %15llu %15llu %15llu %15llu %s\n",
                               stat->cpus.data[cpu], stat->threads.data[thread],
                               (unsigned long long)count->value, (unsigned long long)count->enabled,
                               (unsigned long long)count->running, (unsigned long long)time,
                               recording->events[event]->name);
            }
}

union stat_record {
    struct pd_record_thread_map threads;
    struct pd_record_cpu_map cpus;
    struct pd_record_stat_config config;
    struct pd_record_stat stat;
    struct pd_record_stat_round round;
};

static size_t stat_size(uint32_t type)
{
    switch (type) {
    case PD_RECORD_THREAD_MAP: return sizeof(struct pd_record_thread_map);
    case PD_RECORD_CPU_MAP: return sizeof(struct pd_record_cpu_map);
    case PD_RECORD_STAT_CONFIG: return sizeof(struct pd_record_stat_config);
    case PD_RECORD_STAT: return sizeof(struct pd_record_stat);
    case PD_RECORD_STAT_ROUND: return sizeof(struct pd_record_stat_round);
    default: return 0;
    }
}

bool pd_script_stat_record(struct pd_script_stat *stat, struct pd_recording *recording,
                           const struct pd_delivered *record, struct pd_text *text)
{
    union stat_record body;
    struct pd_arena arena = { 0 };
    size_t size = stat_size(record->type);
    bool good = true;
    if (!size)
        return false;
    memset(&body, 0, sizeof body);
    if (pd_record_decode(NULL, record->data, record->size, recording->swap, &arena, &body, size) <
        0)
        pd_issue(&recording->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)record->offset,
                 "a %s record says more than it holds", pd_record_type_name(record->type));
    else if (record->type == PD_RECORD_THREAD_MAP)
        good = take_threads(stat, &body.threads) && make_counts(stat, recording->event_count);
    else if (record->type == PD_RECORD_CPU_MAP)
        good = take_cpus(stat, &body.cpus.data) && make_counts(stat, recording->event_count);
    else if (record->type == PD_RECORD_STAT_CONFIG)
        take_config(stat, &body.config);
    else if (record->type == PD_RECORD_STAT)
        take_count(stat, recording, &body.stat);
    else
        put_round(stat, recording, body.round.time, text);
    pd_arena_free(&arena);
    if (!good)
        pd_issue(&recording->context, PERFDATA_ISSUE_LIMIT, (int64_t)record->offset,
                 "more counts than can be kept");
    return true;
}
