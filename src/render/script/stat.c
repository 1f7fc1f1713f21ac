/* SPDX-License-Identifier: MIT */
/* What script prints of `perf stat record`: a table of counts at the end of each round. */
#include "render/counts/matrix.h"
#include "render/script/plan.h"

struct pd_script_stat {
    struct pd_count_matrix matrix;
    bool titled;
};

struct pd_script_stat *pd_script_stat_new(void)
{
    struct pd_script_stat *stat = calloc(1, sizeof *stat);
    if (stat)
        pd_count_matrix_init(&stat->matrix);
    return stat;
}

void pd_script_stat_free(struct pd_script_stat *stat)
{
    if (!stat)
        return;
    pd_count_matrix_free(&stat->matrix);
    free(stat);
}

static void put_round(struct pd_script_stat *stat, const struct pd_recording *recording,
                      uint64_t time, struct pd_text *text)
{
    struct pd_count_matrix *matrix = &stat->matrix;
    if (!stat->titled)
        pd_text_format(text, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA",
                       "RUN", "TIME", "EVENT");
    stat->titled = true;
    if (!matrix->counts)
        return;
    for (size_t event = 0; event < recording->event_count; event++)
        for (size_t thread = 0; thread < matrix->threads.count; thread++)
            for (size_t cpu = 0; cpu < matrix->cpus.count; cpu++) {
                size_t index = pd_count_index(matrix, event, cpu, thread);
                const struct pd_counted *count = &matrix->counts[index];
                pd_count_finish(matrix, index);
                pd_text_format(text, "%3d %8d %15llu %15llu %15llu %15llu %s\n",
                               matrix->cpus.data[cpu], matrix->threads.data[thread].tid,
                               (unsigned long long)count->value, (unsigned long long)count->enabled,
                               (unsigned long long)count->running, (unsigned long long)time,
                               recording->events[event]->name);
            }
}

bool pd_script_stat_record(struct pd_script_stat *stat, struct pd_recording *recording,
                           const struct pd_delivered *record, struct pd_text *text)
{
    struct pd_record_stat_round round;
    enum pd_count_taken taken = pd_count_matrix_take(
        &stat->matrix, recording, record->type, record->data, record->size, record->offset, &round);
    if (taken == PD_COUNT_ROUND)
        put_round(stat, recording, round.time, text);
    text->failed |= taken == PD_COUNT_FAILED;
    return taken != PD_COUNT_OTHER;
}
