/* SPDX-License-Identifier: MIT */
/* What the views of sched share: lists of CPUs, texts of failures. */
#include "render/sched/sched.h"
#include "container/handle.h"
#include <stdlib.h>

static bool read_cpu(const char **text, uint32_t *cpu)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    unsigned long value = strtoul(*text, &end, 10);
    *text = end;
    *cpu = (uint32_t)value;
    return value < PD_SCHED_CPUS;
}

bool pd_sched_read_cpus(const char *list, uint64_t bits[PD_SCHED_CPUS / 64])
{
    const char *at = list;
    for (;;) {
        uint32_t from = 0, to;
        bool good = read_cpu(&at, &from);
        to = from;
        if (good && *at == '-') {
            at++;
            good = read_cpu(&at, &to) && from <= to;
        }
        if (!good || (*at && *at != ','))
            return false;
        for (uint32_t cpu = from; cpu <= to; cpu++)
            bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
        if (!*at)
            return true;
        at++;
    }
}

perfdata_status pd_sched_cpus(struct pd_sched *sched, const char *list,
                              uint64_t bits[PD_SCHED_CPUS / 64])
{
    if (pd_sched_read_cpus(list, bits))
        return PERFDATA_OK;
    return pd_fail(&sched->recording->context, PERFDATA_ERROR_ARGUMENT, -1,
                   "failed to get cpus map from %s", list);
}

perfdata_status pd_sched_bad_cpu(const struct pd_tp_sample *sample)
{
    return pd_issue(&sample->tp->recording->context, PERFDATA_ISSUE_BAD_SAMPLE,
                    (int64_t)sample->record->offset,
                    "a switch on CPU %u, which no machine has, is left out", sample->sample.cpu);
}

void pd_sched_note_lost(const struct pd_tp *tp, struct pd_sched_doubts *doubts,
                        const struct pd_delivered *record)
{
    enum { LOST = 16 };
    if (record->type != PD_RECORD_LOST || record->size < LOST + 8)
        return;
    doubts->lost += pd_load64(record->data + LOST, tp->recording->swap);
    doubts->lost_chunks++;
}

static void put_share(struct pd_text *out, const char *what, uint64_t part, uint64_t whole)
{
    pd_text_format(out, "  INFO: %.3f%% %s (%llu out of %llu", (double)part / (double)whole * 100,
                   what, (unsigned long long)part, (unsigned long long)whole);
}

void pd_sched_put_doubts(struct pd_tp *tp, const struct pd_sched_doubts *doubts)
{
    struct pd_text *out = &tp->out;
    uint64_t records = tp->session.order_stats_copy.records;
    if (doubts->late && doubts->stamps) {
        put_share(out, "unordered timestamps", doubts->late, doubts->stamps);
        pd_text_string(out, ")\n");
    }
    if (doubts->lost && records) {
        put_share(out, "lost events", doubts->lost, records);
        pd_text_format(out, ", in %llu chunks)\n", (unsigned long long)doubts->lost_chunks);
    }
    if (doubts->bugs && doubts->stamps) {
        put_share(out, "context switch bugs", doubts->bugs, doubts->stamps);
        pd_text_string(out, doubts->lost ? ") (due to lost events?)\n" : ")\n");
    }
}

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
    if (!recording || !options || !write)
        return PERFDATA_ERROR_ARGUMENT;
    perfdata_status status = pd_handle_options(recording, &known, sizeof known, options);
    if (status < 0)
        return status;
    struct pd_sched sched = { .recording = &recording->recording,
                              .options = &known,
                              .write = write,
                              .write_data = data,
                              .perf_exit = -1 };
    status = print(&sched);
    out.perf_exit = sched.perf_exit;
    pd_give_result(result, &out, sizeof out);
    return status;
}
