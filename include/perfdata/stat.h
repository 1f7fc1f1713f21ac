/* SPDX-License-Identifier: MIT */
/* Recordings of `perf stat record`, as `perf stat report` of 6.1 prints them. */
#ifndef PERFDATA_STAT_H
#define PERFDATA_STAT_H
#include <perfdata/recording.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a line of each event is about. Since 0.1. */
enum perfdata_stat_aggregate {
    PERFDATA_STAT_RECORDED, /* as it was when recorded */
    PERFDATA_STAT_CPU,      /* -A */
    PERFDATA_STAT_CORE,
    PERFDATA_STAT_DIE,
    PERFDATA_STAT_SOCKET,
    PERFDATA_STAT_NODE
};

/* Prints the counts of each round. Counts of tasks, of no CPU, are never added up another way: that
 * is an issue, in perf's words. A recording without rounds prints nothing. Since 0.1. */
PERFDATA_API perfdata_status perfdata_stat_report_run(perfdata_recording *recording,
                                                      uint32_t aggregate, perfdata_write_fn write,
                                                      void *data);

#ifdef __cplusplus
}
#endif
#endif
