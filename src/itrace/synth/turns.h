/* SPDX-License-Identifier: MIT */
/* Queues of a trace that is a row of records, and which of them is read next: by their times, up to
 * the time of the recording's record that is about to act; without times all at once, a thread's
 * queues where the thread ends. What a queue holds is the owner's matter. */
#ifndef PD_SYNTH_TURNS_H
#define PD_SYNTH_TURNS_H
#include "itrace/synth/internal.h"

enum pd_turn {
    PD_TURN_LIMIT, /* what comes next is of `limit` or later, or another queue shall have a look */
    PD_TURN_ENDED, /* nothing is left */
    PD_TURN_FULL   /* the sink is full, or there was an error */
};

struct pd_turn_ways {
    /* Goes up to the queue's first record; false: it has none. Called once for each queue. */
    bool (*begin)(struct pd_synth *synth, size_t queue);
    /* The time of the queue's next record, in ticks of `clock`. */
    uint64_t (*time)(const struct pd_synth *synth, size_t queue);
    /* Whose buffers these are; PD_NOBODY: a CPU's. */
    uint32_t (*tid)(const struct pd_synth *synth, size_t queue);
    /* It is the queue's turn. */
    void (*enter)(struct pd_synth *synth, size_t queue);
    enum pd_turn (*run)(struct pd_synth *synth, size_t queue, uint64_t limit);
};

struct pd_turns {
    const struct pd_turn_ways *ways;
    const struct pd_tsc_conversion *clock;
    bool timeless;
    bool at_record; /* what has the very time of a record comes before it, not behind */
    size_t count;   /* of queues */
    bool *open;     /* by queue: something is left */
    size_t running; /* was interrupted by a full sink; PD_NO_QUEUE: none */
    uint64_t running_limit;
    size_t timeless_next; /* the queue to go on with */
    bool set_up;
};

#define PD_NO_QUEUE SIZE_MAX

/* The caller has set all but `open`, which is made here, and what is zero. */
perfdata_status pd_turns_open(struct pd_turns *turns, size_t count);
void pd_turns_close(struct pd_turns *turns);
bool pd_turns_is_full(const struct pd_synth *synth);
/* What comes before this record, NULL: the rest. 1: the sink is full; < 0: status. */
int pd_turns_before(struct pd_synth *synth, struct pd_turns *turns,
                    const struct pd_delivered *record);

#endif
