/* SPDX-License-Identifier: MIT */
/* timehist in three parts: the lines of events (timehist.c), what is summed up of tasks
 * (timehist_summary.c), and words of both (timehist_words.c). */
#ifndef PD_RENDER_SCHED_TIMEHIST_H
#define PD_RENDER_SCHED_TIMEHIST_H
#include "analyse/spread.h"
#include "render/sched/sched.h"
#include "select/filter.h"

/* A task as lines name it, with blanks up to the end of `text`. */
struct pd_sched_name {
    const char *comm; /* and */
    uint32_t pid;     /* that it was made of */
    uint32_t size;    /* 0: none, or it is longer */
    char text[48];
};

struct pd_sched_task {
    const struct pd_thread *thread; /* NULL: never seen here; of an idle CPU always */
    uint64_t last_time, ready_at;
    int last_state;
    uint64_t run, delay, sleep, io_wait, preempted; /* of the last switch */
    uint64_t total_run, total_delay, total_sleep, total_io_wait, total_preempted;
    uint64_t migrations;
    struct pd_spread runs;
    struct pd_sched_name name;
};

struct pd_sched_chain {
    uint64_t time, count;
    const char *text;
};

/* A CPU when nothing runs. */
struct pd_sched_idle {
    struct pd_sched_task task;
    const struct pd_thread *before; /* what went to sleep there; NULL: none */
    uint32_t chain;                 /* the chain of the switch to idle: its number + 1; 0: none */
    PD_VEC(struct pd_sched_chain) chains;
    struct pd_map64 chain_at; /* by number of the text */
};

/* Numbers below 1000 as lines have them, and the second of the line before. */
struct pd_sched_digits {
    char fixed[1000][4]; /* "%03u " */
    char right[1000][4]; /* "%3u." */
    uint64_t second;
    char until_point[9]; /* "%8lu." */
};

struct pd_timehist {
    struct pd_sched *sched;
    struct pd_tp tp;
    PD_VEC(struct pd_sched_task) tasks;  /* by the thread's index */
    PD_VEC(struct pd_sched_idle *) idle; /* by CPU */
    uint64_t switched_at[PD_SCHED_CPUS]; /* 0: not yet */
    uint32_t most_cpu;                   /* the highest CPU so far, or as many as the header says */
    struct pd_filter filter;             /* pids, tids, CPUs */
    uint64_t from, to;                   /* of --time; 0: open */
    uint64_t first, last;                /* times of the first and the last event looked at */
    uint64_t skipped;
    size_t comm_width;
    uint64_t flags;
    bool shows_chain, sums_up;
    PD_VEC(struct pd_frame) frames; /* of the sample at hand: frame_count of them */
    size_t frame_count;
    struct pd_intern chain_texts;
    struct pd_sched_digits digits;
};

/* "comm[tid/pid]", padded to the widest name so far. `comm` NULL: an idle CPU. */
void pd_timehist_name(struct pd_timehist *hist, const char *comm, const struct pd_thread *thread,
                      bool left, struct pd_text *out);
/* The same for a task that has a thread, whose name is remembered. */
void pd_timehist_task(struct pd_timehist *hist, const char *comm, struct pd_sched_task *task,
                      struct pd_text *out);
/* "%*lu.%03lu " in milliseconds. */
void pd_timehist_ms(struct pd_text *out, uint64_t time, unsigned width);
void pd_sched_digits_init(struct pd_sched_digits *digits);
/* The same, six wide, and pd_tp_time(), 15 wide, at the end of tp.out: a line has four of them. */
void pd_timehist_column(struct pd_timehist *hist, uint64_t time);
void pd_timehist_time(struct pd_timehist *hist, uint64_t time);
void pd_timehist_summary(struct pd_timehist *hist);

#endif
