/* SPDX-License-Identifier: MIT */
/* On which CPUs a thread runs that reads buffers. */
#include "record/record.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>

bool pd_record_bind(pid_t thread, const struct pd_numbers *cpus)
{
    size_t most = 0;
    for (size_t i = 0; i < cpus->count; i++)
        most = PD_MAX(most, (size_t)cpus->data[i] + 1);
    cpu_set_t *set = CPU_ALLOC(most);
    if (!set)
        return false;
    CPU_ZERO_S(CPU_ALLOC_SIZE(most), set);
    for (size_t i = 0; i < cpus->count; i++)
        CPU_SET_S((size_t)cpus->data[i], CPU_ALLOC_SIZE(most), set);
    bool done = !sched_setaffinity(thread, CPU_ALLOC_SIZE(most), set);
    CPU_FREE(set);
    return done;
}

perfdata_status pd_record_node_of(perfdata_recorder *recorder, int32_t cpu, struct pd_numbers *out)
{
    size_t count;
    char **names = pd_roots_list(&recorder->roots, &count, "/sys/devices/system/node");
    perfdata_status status = PERFDATA_OK;
    for (size_t i = 0; i < count && status == PERFDATA_OK && !pd_numbers_have(out, cpu); i++) {
        char *text = strncmp(names[i], "node", 4) != 0
                         ? NULL
                         : pd_roots_read(&recorder->roots, NULL,
                                         "/sys/devices/system/node/%s/cpulist", names[i]);
        out->count = 0;
        if (text && *text)
            status = pd_record_numbers(recorder, text, "CPUs", out);
        free(text);
    }
    free(names);
    if (status == PERFDATA_OK && !pd_numbers_have(out, cpu)) {
        out->count = 0;
        if (!pd_vec_push(out, cpu))
            status = pd_record_no_memory(recorder);
    }
    return status;
}

void pd_record_follow(perfdata_recorder *recorder, int32_t cpu)
{
    struct pd_numbers *bound = &recorder->readers.bound;
    bool node = recorder->options.affinity == PERFDATA_AFFINITY_NODE;
    if (cpu < 0 || (node ? pd_numbers_have(bound, cpu) : bound->count && bound->data[0] == cpu))
        return;
    bound->count = 0;
    if (node ? pd_record_node_of(recorder, cpu, bound) == PERFDATA_OK : pd_vec_push(bound, cpu))
        /* fails where the CPU has gone: the thread then stays where it is */
        (void)pd_record_bind(0, bound);
}
