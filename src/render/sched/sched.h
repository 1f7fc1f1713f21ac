/* SPDX-License-Identifier: MIT */
/* The views of sched: each reads the recording once, in order, and prints into tp.out. */
#ifndef PD_RENDER_SCHED_H
#define PD_RENDER_SCHED_H
#include "analyse/tracepoints.h"
#include "base/intern.h"
#include <perfdata/sched.h>

enum { PD_SCHED_CPUS = 4096 }; /* more is damage */

struct pd_sched {
    struct pd_recording *recording;
    const struct perfdata_sched_options *options;
    perfdata_write_fn write;
    void *write_data;
    int perf_exit;     /* of a failure; -1: perf has none of its own */
    bool lacks_chains; /* they were asked for, and not every event has them */
};

/* CPUs of a list "0,2-5" as bits; false: it is none. */
bool pd_sched_read_cpus(const char *list, uint64_t bits[PD_SCHED_CPUS / 64]);
/* Reads such a list; PERFDATA_ERROR_ARGUMENT with perf's text when it is none. */
perfdata_status pd_sched_cpus(struct pd_sched *sched, const char *list,
                              uint64_t bits[PD_SCHED_CPUS / 64]);
PD_INLINE bool pd_sched_has_cpu(const uint64_t bits[PD_SCHED_CPUS / 64], uint32_t cpu)
{
    return cpu < PD_SCHED_CPUS && bits[cpu / 64] >> cpu % 64 & 1;
}

/* Counts a switch on a CPU that no machine has, and is to be left out. */
perfdata_status pd_sched_bad_cpu(const struct pd_tp_sample *sample);

/* What makes the figures doubtful, for the lines below a view. */
struct pd_sched_doubts {
    uint64_t stamps, late; /* times that were looked at; of them before the one that they follow */
    uint64_t bugs;         /* a task left a CPU that another one was on */
    uint64_t lost, lost_chunks;
};
void pd_sched_note_lost(const struct pd_tp *tp, struct pd_sched_doubts *doubts,
                        const struct pd_delivered *record);
/* After the run. */
void pd_sched_put_doubts(struct pd_tp *tp, const struct pd_sched_doubts *doubts);

perfdata_status pd_sched_latency(struct pd_sched *sched);
perfdata_status pd_sched_map(struct pd_sched *sched);
perfdata_status pd_sched_timehist(struct pd_sched *sched);

#endif
