/* SPDX-License-Identifier: MIT */
/* The views of sched: each reads the recording once, in order, and prints into its tp.out. */
#ifndef PD_RENDER_SCHED_H
#define PD_RENDER_SCHED_H
#include "analyse/tracepoints.h"
#include "base/intern.h"
#include <perfdata/sched.h>

enum { PD_SCHED_CPUS = 4096 }; /* a higher CPU is damage */

struct pd_sched {
    struct pd_recording *recording;
    const struct perfdata_sched_options *options;
    perfdata_write_fn write;
    void *write_data;
    int perf_exit;     /* of a failure; -1: perf has no exit code of its own for it */
    bool lacks_chains; /* chains were asked for, and not every event has them */
};

/* Reads a list of CPUs, "0,2-5", as bits; false: it is no such list. */
bool pd_sched_read_cpus(const char *list, uint64_t bits[PD_SCHED_CPUS / 64]);
/* The same; PERFDATA_ERROR_ARGUMENT, told in perf's text, where it is no such list. */
perfdata_status pd_sched_cpus(struct pd_sched *sched, const char *list,
                              uint64_t bits[PD_SCHED_CPUS / 64]);
PD_INLINE bool pd_sched_has_cpu(const uint64_t bits[PD_SCHED_CPUS / 64], uint32_t cpu)
{
    return cpu < PD_SCHED_CPUS && bits[cpu / 64] >> cpu % 64 & 1;
}

/* Counts, as one to be left out, a switch on a CPU that no machine has. */
perfdata_status pd_sched_bad_cpu(const struct pd_tp_sample *sample);

/* What makes the figures doubtful, for the lines below a view. */
struct pd_sched_doubts {
    uint64_t stamps, late; /* times that were looked at; of them before the one that they follow */
    uint64_t bugs;         /* a task left a CPU that another one was on */
    struct pd_tp_losses losses;
};
/* To be called after the run. */
void pd_sched_put_doubts(struct pd_tp *tp, const struct pd_sched_doubts *doubts);

perfdata_status pd_sched_latency(struct pd_sched *sched);
perfdata_status pd_sched_map(struct pd_sched *sched);
perfdata_status pd_sched_timehist(struct pd_sched *sched);

#endif
