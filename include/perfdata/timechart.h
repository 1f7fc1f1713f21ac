/* SPDX-License-Identifier: MIT */
/* What a machine did over time, as a picture: `perf timechart` of 6.1. */
#ifndef PERFDATA_TIMECHART_H
#define PERFDATA_TIMECHART_H
#include <perfdata/recording.h>
#include <perfdata/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Since 0.1. */
enum perfdata_timechart_flags {
    PERFDATA_TIMECHART_POWER_ONLY = 1 << 0,    /* CPUs, no tasks */
    PERFDATA_TIMECHART_TASKS_ONLY = 1 << 1,    /* no states of processors */
    PERFDATA_TIMECHART_TOPOLOGY = 1 << 2,      /* CPUs that share a core stand together */
    PERFDATA_TIMECHART_SKIP_EAGAIN = 1 << 3,   /* no I/O that failed with EAGAIN */
    PERFDATA_TIMECHART_HIGHLIGHT_TIME = 1 << 4 /* `highlight_time` is given */
};

/* Strings and lists are borrowed for the call. Since 0.1. */
struct perfdata_timechart_options {
    size_t struct_size;
    uint64_t flags;               /* enum perfdata_timechart_flags */
    const char *const *processes; /* draw these only: pids or names; NULL: those that did most */
    uint32_t process_count;
    uint32_t width;      /* of the picture, in pixels; perf: 1000 */
    uint32_t task_count; /* so many tasks are drawn at least, where there are; perf: 15 */
    uint32_t reserved;
    uint64_t highlight_time;    /* ns: spans of running from there on are marked */
    const char *highlight_name; /* a task that is marked; NULL: none */
    uint64_t io_min_time;       /* ns: shorter I/O is drawn as if it took so long; perf: 1 ms */
    uint64_t io_merge_distance; /* ns: I/O of one kind and file so near is joined; perf: 1 us */
};

/* Since 0.1. */
struct perfdata_timechart_result {
    size_t struct_size;
    uint64_t first, last; /* ns: the picture's ends */
    int32_t perf_exit;    /* after a failure the exit code that perf has for it; -1: none */
    uint32_t reserved;
};

/* Draws the recording as SVG; `write` gets it in pieces. Tasks, CPUs and their states of a
 * recording of the scheduler's and power's tracepoints; where system calls are in it that read,
 * write, wait or sync, these by task instead. PERFDATA_ERROR_NO_DATA when there is nothing to draw.
 * Memory grows with the number of switches, wakeups and calls. Since 0.1. */
PERFDATA_API perfdata_status perfdata_timechart_run(
    perfdata_recording *recording, const struct perfdata_timechart_options *options,
    perfdata_write_fn write, void *data, struct perfdata_timechart_result *result);

/* Writes it into a file, which gets its name when it is complete; "-" is standard output. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_timechart_file(
    perfdata_recording *recording, const struct perfdata_timechart_options *options,
    const char *path, struct perfdata_timechart_result *result);

#ifdef __cplusplus
}
#endif
#endif
