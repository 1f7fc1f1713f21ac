/* SPDX-License-Identifier: MIT */
/* Segments of a queue's buffer, from PSB to PSB, walked by other threads before the queue's own
 * decoder comes there.
 *
 * A segment is begun a few PSBs before it, by guess: most of what a decoder knows is said again in
 * PSB+. Where the segment begins the other decoder's state is noted, and again where it ends, if
 * nothing lies between that is to be told. When the queue's decoder comes there in that very state,
 * it goes on where the segment ends; else it walks the segment itself. So what comes out is what
 * one thread makes of it. Behind what is to be told, as a sample, the segment goes on as its tail.
 *
 * Where branches are told, each step of a segment comes in a step log (ahead_step_log.h), from
 * which the queue tells it when its time has come. Should the queue see other code by then, its
 * decoder goes where the step log is and on from there.
 *
 * A segment without a step log may reach beyond the next record's time. Then the queue is ahead: as
 * long as the records that come until then show it the same code, or come where no code runs, all
 * is well; else it goes back. */
#ifndef PD_SYNTH_AHEAD_SEGMENTS_H
#define PD_SYNTH_AHEAD_SEGMENTS_H
#include "itrace/synth/internal.h"

/* Sets up segments, if several threads are of use; *synth is set up already. */
perfdata_status pd_synth_segments_open(struct pd_synth *synth, unsigned threads);
void pd_synth_segments_close(struct pd_synth *synth);

/* The queue's next buffer is about to be read. */
void pd_synth_segments_next(struct pd_synth_queue *queue);
/* The rest of its buffer is of no use. */
void pd_synth_segments_drop(struct pd_synth_queue *queue);
/* The queue's decoder has come to a step that is a PSB there. */
void pd_synth_segments_psb(struct pd_synth_queue *queue, uint64_t position);
/* True: the queue went over a segment, and queue->time is the time at that segment's end. */
bool pd_synth_segments_jump(struct pd_synth_queue *queue);
/* The next step of queue->step_log; NULL: the queue has left that log. */
const struct pd_pt_state *pd_synth_segments_step(struct pd_synth_queue *queue);
/* The queue's thread, or what it sees, may have changed. */
void pd_synth_segments_look(struct pd_synth_queue *queue);
/* A run up to `limit` begins: what is ahead has to be right until there. */
void pd_synth_segments_check(struct pd_synth *synth, uint64_t limit);

/* The number of the oldest record whose maps others may look at; UINT64_MAX: they look at none. */
uint64_t pd_synth_segments_need(const struct pd_synth *synth);

#endif
