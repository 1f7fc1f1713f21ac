/* SPDX-License-Identifier: MIT */
/* How many threads of a recording run at a sample, by its context switches. */
#include "render/report/parallelism.h"

enum { STOPPED, RUNS };

/* Sets what a thread does. The idle task of a CPU is no work, so it never runs. False: no
 * memory. */
static bool set(struct pd_report_running *running, uint32_t tid, uint32_t state)
{
    uint32_t before = pd_map64_get(&running->threads, tid);
    bool ran = before == RUNS;
    if (!tid || tid == UINT32_MAX || ran == (state == RUNS))
        return true;
    running->count += state == RUNS ? 1 : UINT32_MAX; /* one less */
    return pd_map64_set(&running->threads, tid, state);
}

bool pd_report_running_take(struct pd_report_running *running, const struct pd_delivered *record)
{
    struct pd_identity identity;
    if (!record->event)
        return true;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    bool exits = record->type == PD_RECORD_EXIT;
    running->has_switches |= !exits;
    return set(running, identity.tid, exits || record->misc & PD_MISC_SWITCH_OUT ? STOPPED : RUNS);
}

uint32_t pd_report_parallelism(struct pd_report_running *running, uint32_t tid)
{
    if (!set(running, tid, RUNS))
        return 0;
    return running->count ? running->count : 1;
}

uint64_t pd_report_latency(uint64_t period, uint32_t parallelism)
{
    return period / parallelism * PD_REPORT_LATENCY_UNIT +
           period % parallelism * PD_REPORT_LATENCY_UNIT / parallelism;
}
