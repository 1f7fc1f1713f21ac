/* SPDX-License-Identifier: MIT */
/* What `timechart` gathers of a recording, and the shapes that it draws of it. */
#ifndef PD_RENDER_TIMECHART_H
#define PD_RENDER_TIMECHART_H
#include "analyse/tracepoints.h"
#include "base/intern.h"
#include <perfdata/timechart.h>

enum { PD_CHART_CPUS = 4096 }; /* a higher CPU is damage */
enum { PD_CHART_NONE = UINT32_MAX };

enum pd_chart_state { PD_CHART_IDLE, PD_CHART_RUNNING, PD_CHART_WAITING, PD_CHART_BLOCKED };

/* How long a task was in a state. */
struct pd_chart_span {
    uint64_t start, end;
    uint32_t older; /* the span before it of the same name; PD_CHART_NONE: there is none */
    uint32_t chain; /* in `chains`; PD_CHART_NONE: none */
    uint16_t cpu;
    uint8_t state; /* enum pd_chart_state */
};

enum pd_chart_io_kind {
    PD_CHART_READ,
    PD_CHART_WRITE,
    PD_CHART_SYNC,
    PD_CHART_TX,
    PD_CHART_RX,
    PD_CHART_POLL
};

/* A system call, or several that were joined. */
struct pd_chart_io {
    uint64_t start, end; /* end 0: it has not returned */
    uint64_t bytes;
    int32_t fd, error;
    uint32_t merges, older;
    uint8_t kind; /* of enum pd_chart_io_kind */
};

/* A task under one of its names; this is what has a row. */
struct pd_chart_name {
    uint32_t task, text;        /* text in `texts`; PD_INTERN_NONE: it has no name */
    uint32_t older;             /* the name before it of the same task */
    uint32_t spans, ios;        /* the newest one of each */
    uint64_t start, end;        /* 0: not known */
    uint64_t time;              /* how long it ran, in ns */
    uint64_t bytes, most_bytes; /* bytes: of all its system calls; most_bytes: of the largest */
    uint64_t since;             /* when the current state began */
    uint32_t row;               /* 0: it is not drawn */
    uint8_t state;
    bool shown;
};

struct pd_chart_task {
    uint32_t pid, parent;
    uint32_t names;   /* the newest one */
    uint32_t current; /* its name; PD_CHART_NONE: it has none yet */
    uint64_t start, end, time, bytes;
};

/* A state of a processor. */
struct pd_chart_power {
    uint64_t start, end;
    uint32_t cpu, state;
    bool frequency; /* a frequency, else how deep it slept */
};

struct pd_chart_wakeup {
    uint64_t time;
    uint32_t wakee, chain;
};

struct pd_chart_cpu {
    uint64_t idle_since, frequency_since;
    uint32_t idle_state, frequency;
};

struct pd_chart {
    const struct perfdata_timechart_options *options;
    struct pd_tp tp;
    struct pd_intern texts, chains;
    struct pd_intern pids, name_keys;   /* of tasks; of task and text together */
    PD_VEC(struct pd_chart_task) tasks; /* by the pid's id */
    PD_VEC(uint32_t) names_of_keys;     /* by the key's id */
    PD_VEC(struct pd_chart_name) names;
    PD_VEC(struct pd_chart_span) spans;
    PD_VEC(struct pd_chart_io) ios;
    PD_VEC(struct pd_chart_power) powers;
    PD_VEC(struct pd_chart_wakeup) wakeups;
    PD_VEC(uint32_t) order; /* tasks as they are drawn */
    struct pd_chart_cpu cpus[PD_CHART_CPUS];
    uint16_t places[PD_CHART_CPUS]; /* the row of each CPU */
    uint32_t cpu_count;
    uint64_t first, last; /* times of samples */
    uint64_t io_events;
    uint32_t width;       /* of the picture */
    uint32_t task_count;  /* rows at least; 0: no tasks are drawn */
    uint32_t highest_cpu; /* the highest CPU that a sample tells */
    uint32_t least_frequency, most_frequency, turbo_frequency;
    int perf_exit;
};

/* The task of a pid, which is made when it is new. NULL: no memory, which has been told. */
struct pd_chart_task *pd_chart_task(struct pd_chart *chart, uint32_t pid);
/* The task's current name; an empty one where it has none. */
struct pd_chart_name *pd_chart_current(struct pd_chart *chart, uint32_t pid);
/* The task's current name. NULL: it has none, and then perf shows nothing of the task. */
struct pd_chart_name *pd_chart_named(struct pd_chart *chart, uint32_t pid);
/* The task now goes by this name, which may be its first, another one, or one that it had before.
 * False: no memory, which has been told. */
bool pd_chart_rename(struct pd_chart *chart, uint32_t pid, uint32_t text);
/* The sample's call chain as perf prints it, maybe an empty one. False: no memory. */
bool pd_chart_chain(struct pd_chart *chart, const struct pd_tp_sample *sample, uint32_t *chain);

/* ---- io.c ---- */

perfdata_status pd_chart_io_enter(struct pd_chart *chart, const struct pd_tp_sample *sample,
                                  enum pd_chart_io_kind kind);
perfdata_status pd_chart_io_exit(struct pd_chart *chart, const struct pd_tp_sample *sample,
                                 enum pd_chart_io_kind kind);

/* ---- topology.c ---- */

/* False: no memory. */
bool pd_chart_place_by_topology(struct pd_chart *chart);

/* ---- draw.c ---- */

/* To be called after the run: draws all of the picture into tp.out. */
perfdata_status pd_chart_draw(struct pd_chart *chart);
/* Writes what tp.out holds when that is much. */
perfdata_status pd_chart_flush(struct pd_chart *chart);

/* ---- svg.c: shapes ---- */

void pd_svg_begin(struct pd_chart *chart, uint32_t rows);
void pd_svg_grid(struct pd_chart *chart, uint32_t rows, bool coarse);
void pd_svg_legend(struct pd_chart *chart, bool io);
void pd_svg_cpu(struct pd_chart *chart, uint32_t cpu, const char *model);
void pd_svg_cpu_run(struct pd_chart *chart, const struct pd_chart_name *name,
                    const struct pd_chart_span *span);
void pd_svg_power(struct pd_chart *chart, const struct pd_chart_power *power);
/* The row's own box, from the name's start to its end. */
void pd_svg_box(struct pd_chart *chart, const struct pd_chart_name *name, const char *style);
void pd_svg_span(struct pd_chart *chart, const struct pd_chart_name *name,
                 const struct pd_chart_span *span);
void pd_svg_io(struct pd_chart *chart, const struct pd_chart_name *name,
               const struct pd_chart_io *io);
void pd_svg_label(struct pd_chart *chart, const struct pd_chart_name *name, const char *figures);
void pd_svg_wakeup(struct pd_chart *chart, const struct pd_chart_wakeup *wakeup,
                   const struct pd_chart_name *waker, const struct pd_chart_name *wakee);
void pd_svg_end(struct pd_chart *chart);

#endif
