/* SPDX-License-Identifier: MIT */
/* Which queue of a trace of records is read next, and how far. */
#include "itrace/synth/turns.h"
#include "format/offsets.h"
#include <stdlib.h>

perfdata_status pd_turns_open(struct pd_turns *turns, size_t count)
{
    turns->count = count;
    turns->running = PD_NO_QUEUE;
    turns->open = calloc(count + 1, sizeof *turns->open);
    return turns->open ? PERFDATA_OK : PERFDATA_ERROR_MEMORY;
}

void pd_turns_close(struct pd_turns *turns)
{
    free(turns->open);
}

bool pd_turns_is_full(const struct pd_synth *synth)
{
    const struct pd_synth_sink *sink = synth->sink;
    return sink->capacity - sink->count < PD_SYNTH_STEP || sink->room->total >= PD_SYNTH_BYTES ||
           synth->status < 0;
}

static void set_up(struct pd_synth *synth, struct pd_turns *turns)
{
    if (turns->set_up)
        return;
    turns->set_up = true;
    for (size_t i = 0; i < turns->count; i++) {
        turns->open[i] = turns->ways->begin(synth, i);
        if (turns->open[i] && !turns->timeless &&
            !pd_synth_heap_add(synth, (uint32_t)i, turns->ways->time(synth, i)))
            synth->status = PERFDATA_ERROR_MEMORY;
    }
}

/* 1: the sink is full. */
static int go_on(struct pd_synth *synth, struct pd_turns *turns, size_t queue, uint64_t limit)
{
    enum pd_turn turn = turns->ways->run(synth, queue, limit);
    turns->running = turn == PD_TURN_FULL ? queue : PD_NO_QUEUE;
    turns->running_limit = limit;
    if (turn == PD_TURN_FULL)
        return synth->status < 0 ? synth->status : 1;
    if (turn == PD_TURN_LIMIT &&
        !pd_synth_heap_add(synth, (uint32_t)queue, turns->ways->time(synth, queue)))
        synth->status = PERFDATA_ERROR_MEMORY;
    return synth->status;
}

static int run_until(struct pd_synth *synth, struct pd_turns *turns, uint64_t limit)
{
    int got = turns->running == PD_NO_QUEUE
                  ? 0
                  : go_on(synth, turns, turns->running, turns->running_limit);
    while (!got && synth->scheduler.heap.count && synth->scheduler.heap.data[0].time < limit) {
        size_t queue = synth->scheduler.heap.data[0].queue;
        pd_synth_heap_pop(synth);
        uint64_t next = synth->scheduler.heap.count ? synth->scheduler.heap.data[0].time + 1
                                                    : limit;
        turns->ways->enter(synth, queue);
        got = go_on(synth, turns, queue, PD_MIN(next, limit));
    }
    return got;
}

/* The queues of a thread; PD_NOBODY: all. */
static int run_timeless(struct pd_synth *synth, struct pd_turns *turns, uint32_t tid)
{
    for (; turns->timeless_next < turns->count; turns->timeless_next++) {
        size_t queue = turns->timeless_next;
        enum pd_turn turn;
        if (!turns->open[queue] || (tid != PD_NOBODY && turns->ways->tid(synth, queue) != tid))
            continue;
        if (turns->running != queue)
            turns->ways->enter(synth, queue);
        while ((turn = turns->ways->run(synth, queue, UINT64_MAX)) == PD_TURN_LIMIT)
            ;
        turns->running = turn == PD_TURN_FULL ? queue : PD_NO_QUEUE;
        if (turn == PD_TURN_FULL)
            return synth->status < 0 ? synth->status : 1;
        turns->open[queue] = false;
    }
    turns->timeless_next = 0;
    return synth->status;
}

int pd_turns_before(struct pd_synth *synth, struct pd_turns *turns,
                    const struct pd_delivered *record)
{
    set_up(synth, turns);
    if (synth->status < 0)
        return synth->status;
    if (turns->timeless) {
        if (!record)
            return run_timeless(synth, turns, PD_NOBODY);
        if (record->type != PD_RECORD_EXIT || record->size < 24)
            return PERFDATA_OK;
        return run_timeless(synth, turns,
                            pd_load32(record->data + PD_AT(exit, tid), synth->recording->swap));
    }
    if (!record)
        return run_until(synth, turns, UINT64_MAX);
    if (record->time == PD_NO_TIME || !record->time)
        return PERFDATA_OK;
    uint64_t limit = pd_time_to_tsc(turns->clock, record->time);
    return run_until(synth, turns, limit + (turns->at_record && limit < UINT64_MAX));
}
