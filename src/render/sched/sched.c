/* SPDX-License-Identifier: MIT */
/* sched: the view that is asked for. */
#include "render/sched/sched.h"
#include "container/handle.h"

static perfdata_status print(struct pd_sched *sched)
{
    switch (sched->options->view) {
    case PERFDATA_SCHED_LATENCY: return pd_sched_latency(sched);
    case PERFDATA_SCHED_MAP: return pd_sched_map(sched);
    case PERFDATA_SCHED_TIMEHIST: return pd_sched_timehist(sched);
    default: break;
    }
    return pd_fail(&sched->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                   "there is no such view of the scheduler");
}

perfdata_status perfdata_sched_run(perfdata_recording *recording,
                                   const struct perfdata_sched_options *options,
                                   perfdata_write_fn write, void *data,
                                   struct perfdata_sched_result *result)
{
    struct perfdata_sched_options known = { 0 };
    struct perfdata_sched_result out = { .perf_exit = -1 };
    perfdata_status status = pd_handle_print(recording, &known, sizeof known, options, write);
    if (status < 0)
        return status;
    struct pd_sched sched = { .recording = &recording->recording,
                              .options = &known,
                              .write = write,
                              .write_data = data,
                              .perf_exit = -1 };
    status = print(&sched);
    out.perf_exit = sched.perf_exit;
    out.lacks_chains = sched.lacks_chains;
    pd_give_result(result, &out, sizeof out);
    return status;
}
