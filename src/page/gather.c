/* SPDX-License-Identifier: MIT */
/* Samples as they come -> as many rows as a page holds: beyond that those that differ in nothing
 * but their time, within a piece of it, become one that counts for all. */
#include "page/gather.h"
#include <stdlib.h>

#define LEAST_SAMPLES 1024

enum { LEAST_PIECES = 512 /* of the time: fewer say nothing of it */ };

int pd_page_rows_order(const void *x, const void *y)
{
    const struct pd_page_row *a = x, *b = y;
#define ORDER(member)                                                                              \
    if (a->member != b->member)                                                                    \
    return a->member < b->member ? -1 : 1
    ORDER(time);
    ORDER(side);
    ORDER(event);
    ORDER(thread);
    ORDER(cpu);
    ORDER(stack);
#undef ORDER
    return 0;
}

size_t pd_page_rows_join(struct pd_page_row *rows, size_t count, uint64_t begin, uint64_t piece)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].time > begin && rows[i].time != UINT64_MAX)
            rows[i].time -= (rows[i].time - begin) % piece;
    qsort(rows, count, sizeof *rows, pd_page_rows_order);
    for (size_t i = 0; i < count; i++) {
        if (kept && !pd_page_rows_order(&rows[kept - 1], &rows[i])) {
            rows[kept - 1].weight += rows[i].weight;
            rows[kept - 1].count += rows[i].count;
        } else {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

perfdata_page_samples *perfdata_page_samples_new(uint64_t most)
{
    perfdata_page_samples *samples = calloc(1, sizeof *samples);
    if (samples)
        samples->most = !most ? PD_PAGE_MOST_SAMPLES : PD_MAX(most, (uint64_t)LEAST_SAMPLES);
    return samples;
}

void perfdata_page_samples_free(perfdata_page_samples *samples)
{
    if (!samples)
        return;
    pd_vec_free(&samples->rows);
    free(samples);
}

/* From the first to the last row that has a time; rows are in order. */
static uint64_t span_of(const perfdata_page_samples *samples)
{
    size_t end = samples->rows.count;
    while (end && samples->rows.data[end - 1].time == UINT64_MAX)
        end--;
    return end ? samples->rows.data[end - 1].time - samples->rows.data[0].time : 0;
}

/* Pieces double until half of the room is free again: each is a part of the next, so that nothing
 * is joined across the borders of those at the end. Where that would leave next to nothing of the
 * times, the rows differ in other things than their time: then the room doubles, else it would be
 * full again with the next few samples, and each time all would be sorted. */
static void make_room(perfdata_page_samples *samples)
{
    uint64_t piece = samples->piece ? samples->piece : 1;
    for (;; piece *= 2) {
        samples->rows.count = pd_page_rows_join(samples->rows.data, samples->rows.count, 0, piece);
        samples->piece = piece;
        if (samples->rows.count <= samples->most / 2)
            return;
        if (span_of(samples) / piece < (uint64_t)2 * LEAST_PIECES)
            break;
    }
    if (samples->rows.count > samples->most)
        samples->most *= 2;
}

int perfdata_page_samples_take(void *data, const perfdata_profile *profile,
                               const struct perfdata_samples *from)
{
    perfdata_page_samples *samples = data;
    (void)profile;
    for (size_t i = 0; i < from->count; i++) {
        struct pd_page_row row = { .time = from->time[i],
                                   .weight = from->weight[i],
                                   .count = 1,
                                   .event = from->event[i],
                                   .thread = from->thread[i],
                                   .stack = from->stack[i],
                                   .cpu = from->cpu[i] };
        if (!pd_vec_push(&samples->rows, row))
            return 1;
        /* Room for twice as many: sorting is done seldom enough to cost nothing. */
        if (samples->rows.count >= 2 * samples->most)
            make_room(samples);
    }
    return 0;
}
