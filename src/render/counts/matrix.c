/* SPDX-License-Identifier: MIT */
/* STAT records -> counts, event by CPU by thread. */
#include "render/counts/matrix.h"
#include <stdlib.h>

/* The product of events, CPUs and threads is smaller than this on any machine. */
#define MAX_COUNTS (UINT64_C(1) << 24)

void pd_count_matrix_init(struct pd_count_matrix *matrix)
{
    memset(matrix, 0, sizeof *matrix);
    matrix->aggregate = PD_AGGREGATE_GLOBAL; /* what perf stat does unless asked for another way */
    matrix->scale = true;
}

void pd_count_matrix_free(struct pd_count_matrix *matrix)
{
    pd_vec_free(&matrix->cpus);
    pd_vec_free(&matrix->threads);
    free(matrix->counts);
    free(matrix->before);
    free(matrix->seen);
}

static bool add_bits(struct pd_count_matrix *matrix, const struct pd_array *words)
{
    for (uint32_t i = 0; i < words->count; i++) {
        uint64_t word = pd_array_at(words, i);
        for (uint32_t bit = 0; bit < 8u * words->width; bit++)
            if (word >> bit & 1 &&
                !pd_vec_push(&matrix->cpus, (int32_t)(i * 8u * words->width + bit)))
                return false;
    }
    return true;
}

static bool take_cpus(struct pd_count_matrix *matrix, const struct pd_part_cpu_map *map)
{
    bool good = true;
    if (matrix->cpus.count) /* told at the end */
        return true;
    switch (map->type) {
    case PD_CPU_MAP_CPUS:
        for (uint32_t i = 0; good && i < map->cpus.count; i++)
            good = pd_vec_push(&matrix->cpus,
                               (int16_t)pd_array_at(&map->cpus, i)); /* 0xffff is -1: any */
        return good;
    case PD_CPU_MAP_MASK: return add_bits(matrix, &map->mask32) && add_bits(matrix, &map->mask64);
    case PD_CPU_MAP_RANGE:
        if (map->any_cpu)
            good = pd_vec_push(&matrix->cpus, -1);
        for (uint32_t cpu = map->start; good && cpu <= map->end; cpu++)
            good = pd_vec_push(&matrix->cpus, (int32_t)cpu);
        return good;
    default: return true;
    }
}

static bool take_threads(struct pd_count_matrix *matrix, const struct pd_record_thread_map *map)
{
    if (matrix->threads.count)
        return true;
    for (uint32_t i = 0; i < map->entries_count; i++) {
        const struct pd_part_thread_map_entry *entry = &map->entries[i];
        struct pd_counted_thread thread = { .tid = (int32_t)entry->pid };
        memcpy(thread.comm, entry->comm.text, PD_MIN(entry->comm.length, sizeof thread.comm - 1));
        if (!pd_vec_push(&matrix->threads, thread))
            return false;
    }
    return true;
}

static bool make_counts(struct pd_count_matrix *matrix, size_t events)
{
    uint64_t total;
    free(matrix->counts);
    free(matrix->before);
    free(matrix->seen);
    matrix->counts = matrix->before = NULL;
    matrix->seen = NULL;
    if (!matrix->cpus.count || !matrix->threads.count)
        return true;
    if (pd_mul_overflows((uint64_t)matrix->cpus.count, matrix->threads.count, &total) ||
        pd_mul_overflows(total, events, &total) || total > MAX_COUNTS)
        return false;
    matrix->counts = calloc((size_t)total, sizeof *matrix->counts);
    matrix->before = calloc((size_t)total, sizeof *matrix->before);
    matrix->seen = calloc(events + 1, sizeof *matrix->seen);
    matrix->no_memory |= !matrix->counts || !matrix->before || !matrix->seen;
    return true;
}

static void take_config(struct pd_count_matrix *matrix, const struct pd_record_stat_config *config)
{
    for (uint32_t i = 0; i < config->data_count; i++) {
        if (config->data[i].tag == PD_STAT_CONFIG_AGGR_MODE)
            matrix->aggregate = config->data[i].val;
        else if (config->data[i].tag == PD_STAT_CONFIG_SCALE)
            matrix->scale = config->data[i].val;
        else if (config->data[i].tag == PD_STAT_CONFIG_INTERVAL)
            matrix->interval = config->data[i].val;
    }
}

static void take_count(struct pd_count_matrix *matrix, const struct pd_recording *recording,
                       const struct pd_record_stat *record)
{
    uint32_t event = pd_map64_get(&recording->ids.by_id, record->id);
    if (!matrix->counts || matrix->no_memory || event == PD_MAP64_NONE ||
        event >= recording->event_count || record->thread >= matrix->threads.count)
        return;
    matrix->seen[event] = true;
    for (size_t cpu = 0; cpu < matrix->cpus.count; cpu++)
        if (matrix->cpus.data[cpu] == (int32_t)record->cpu)
            matrix->counts[pd_count_index(matrix, event, cpu, record->thread)] =
                (struct pd_counted){ record->val, record->ena, record->run };
}

void pd_count_subtract(struct pd_counted *count, struct pd_counted *before)
{
    struct pd_counted now = *count;
    count->value -= before->value;
    count->enabled -= before->enabled;
    count->running -= before->running;
    *before = now;
}

int pd_count_scale(struct pd_counted *count)
{
    if (!count->running) {
        count->value = 0;
        return -1;
    }
    if (count->running >= count->enabled)
        return 0;
    count->value = (uint64_t)((double)count->value * (double)count->enabled /
                              (double)count->running);
    return 1;
}

void pd_count_finish(struct pd_count_matrix *matrix, size_t index)
{
    if (matrix->aggregate == PD_AGGREGATE_GLOBAL)
        return;
    pd_count_subtract(&matrix->counts[index], &matrix->before[index]);
    if (matrix->scale)
        pd_count_scale(&matrix->counts[index]);
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

enum pd_count_taken pd_count_matrix_take(struct pd_count_matrix *matrix,
                                         struct pd_recording *recording, uint32_t type,
                                         const uint8_t *data, uint32_t size, uint64_t offset,
                                         struct pd_record_stat_round *round)
{
    enum pd_count_taken taken = PD_COUNT_TAKEN;
    union stat_record body;
    struct pd_arena arena = { 0 };
    size_t body_size = stat_size(type);
    bool good = true;
    if (!body_size)
        return PD_COUNT_OTHER;
    memset(&body, 0, sizeof body);
    perfdata_status status = pd_record_decode(NULL, data, size, recording->swap, &arena, &body,
                                              body_size);
    if (status == PERFDATA_ERROR_MEMORY) {
        matrix->no_memory = true;
    } else if (status < 0) {
        pd_issue(&recording->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)offset,
                 "a %s record says more than it holds", pd_record_type_name(type));
    } else if (type == PD_RECORD_THREAD_MAP) {
        matrix->no_memory |= !take_threads(matrix, &body.threads);
        good = make_counts(matrix, recording->event_count);
    } else if (type == PD_RECORD_CPU_MAP) {
        matrix->no_memory |= !take_cpus(matrix, &body.cpus.data);
        good = make_counts(matrix, recording->event_count);
    } else if (type == PD_RECORD_STAT_CONFIG) {
        take_config(matrix, &body.config);
        taken = PD_COUNT_CONFIG;
    } else if (type == PD_RECORD_STAT) {
        take_count(matrix, recording, &body.stat);
    } else {
        *round = body.round;
        taken = PD_COUNT_ROUND;
    }
    pd_arena_free(&arena);
    if (!good)
        pd_issue(&recording->context, PERFDATA_ISSUE_LIMIT, (int64_t)offset,
                 "more counts than can be kept");
    return matrix->no_memory ? PD_COUNT_FAILED : taken;
}
