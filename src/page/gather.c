/* SPDX-License-Identifier: MIT */
/* Samples as they come -> as many rows as a page holds: beyond that those that differ in nothing
 * but their time, within a piece of it, become one that counts for all. */
#include "page/gather.h"
#include <stdlib.h>

#define LEAST_SAMPLES 1024
#define TAIL (UINT64_C(1) << 18)

enum {
    LEAST_PIECES = 512, /* of the time: fewer say nothing of it */
    RUN = 1 << 20       /* rows that are sorted at once */
};

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

/* Most often they are in order of time: then what is left is the order within each piece. */
static void sort_rows(struct pd_page_row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (rows[i].time < rows[i - 1].time) {
            qsort(rows, count, sizeof *rows, pd_page_rows_order);
            return;
        }
    }
    for (size_t from = 0, to; from < count; from = to) {
        for (to = from + 1; to < count && rows[to].time == rows[from].time;)
            to++;
        if (to - from > 1)
            qsort(rows + from, to - from, sizeof *rows, pd_page_rows_order);
    }
}

size_t pd_page_rows_join(struct pd_page_row *rows, size_t count, uint64_t begin, uint64_t piece)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (rows[i].time > begin && rows[i].time != UINT64_MAX)
            rows[i].time -= (rows[i].time - begin) % piece;
    sort_rows(rows, count);
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
    if (!samples)
        return NULL;
    samples->most = !most ? PD_PAGE_MOST_SAMPLES : PD_MAX(most, (uint64_t)LEAST_SAMPLES);
    samples->first = UINT64_MAX;
    return samples;
}

void perfdata_page_samples_free(perfdata_page_samples *samples)
{
    if (!samples)
        return;
    pd_page_packed_free(&samples->packed);
    pd_vec_free(&samples->tail);
    free(samples);
}

static uint64_t span_of(const perfdata_page_samples *samples)
{
    return samples->last > samples->first ? samples->last - samples->first : 0;
}

static bool pack_joined(perfdata_page_samples *samples, struct pd_page_row *rows, size_t count)
{
    if (samples->piece)
        count = pd_page_rows_join(rows, count, 0, samples->piece);
    for (size_t i = 0; i < count; i++)
        if (!pd_page_pack(&samples->packed, &rows[i]))
            return false;
    return true;
}

/* Unpacks and packs again, a piece at a time. */
static bool coarsen(perfdata_page_samples *samples, uint64_t piece)
{
    struct pd_page_packed old = samples->packed;
    struct pd_page_unpack from = { .packed = &old };
    PD_VEC(struct pd_page_row) run = { 0 };
    uint64_t time = 0;
    bool ok = true;
    samples->packed = (struct pd_page_packed){ 0 };
    samples->piece = piece;
    while (ok && pd_page_unpack(&from)) {
        uint64_t own = from.row.time == UINT64_MAX ? UINT64_MAX : from.row.time / piece;
        if (run.count && (own != time || run.count == RUN)) {
            ok = pack_joined(samples, run.data, run.count);
            run.count = 0;
        }
        time = own;
        ok = ok && pd_vec_push(&run, from.row);
        if (!from.left) /* what has been read is needed no more */
            pd_text_free(&old.chunks.data[from.chunk - 1].bytes);
    }
    ok = ok && pack_joined(samples, run.data, run.count);
    pd_vec_free(&run);
    pd_page_packed_free(&old);
    return ok;
}

/* The largest power of two with which the time has `pieces` at least. */
static uint64_t piece_for(const perfdata_page_samples *samples, uint64_t pieces)
{
    uint64_t piece = 1;
    while (span_of(samples) / piece / 2 >= pieces)
        piece *= 2;
    return piece;
}

/* Pieces double until half of the room is free again: each is a part of the next, so that nothing
 * is joined across the borders of those at the end. Where that would leave next to nothing of the
 * times, the rows differ in other things than their time: then the room doubles, else it would be
 * full again with the next few samples, and each time all would be sorted. */
static bool make_room(perfdata_page_samples *samples)
{
    uint64_t piece = samples->piece ? samples->piece : piece_for(samples, PD_PAGE_PIECES);
    for (;; piece *= 2) {
        if (!coarsen(samples, piece))
            return false;
        if (samples->packed.count <= samples->most / 2)
            return true;
        if (span_of(samples) / piece < (uint64_t)2 * LEAST_PIECES)
            break;
    }
    if (samples->packed.count > samples->most)
        samples->most *= 2;
    return true;
}

static bool pack_tail(perfdata_page_samples *samples)
{
    size_t count = samples->tail.count;
    samples->tail.count = 0;
    return pack_joined(samples, samples->tail.data, count);
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
        if (!pd_vec_push(&samples->tail, row))
            return 1;
        if (row.time != UINT64_MAX) {
            samples->first = PD_MIN(samples->first, row.time);
            samples->last = PD_MAX(samples->last, row.time);
        }
        if (samples->tail.count < PD_MIN(TAIL, samples->most))
            continue;
        /* Room for twice as many: rows are joined seldom enough to cost nothing. */
        if (!pack_tail(samples) ||
            (samples->packed.count >= 2 * samples->most && !make_room(samples)))
            return 1;
    }
    return 0;
}

bool pd_page_samples_end(perfdata_page_samples *samples, uint64_t most)
{
    if (!pack_tail(samples))
        return false;
    pd_vec_free(&samples->tail);
    uint64_t piece = piece_for(samples, PD_PAGE_PIECES);
    return samples->packed.count <= most || samples->piece >= piece || coarsen(samples, piece);
}
