/* SPDX-License-Identifier: MIT */
/* Lists of CPUs: "0-3,7". */
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
