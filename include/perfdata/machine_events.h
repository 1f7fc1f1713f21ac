/* SPDX-License-Identifier: MIT */
/* The events that this machine can record, as `perf list` of 6.1 knows them. */
#ifndef PERFDATA_MACHINE_EVENTS_H
#define PERFDATA_MACHINE_EVENTS_H
#include <perfdata/status.h>
#include <perfdata/text.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bits, in the order in which events are given. Since 0.1. */
enum perfdata_machine_event_type {
    PERFDATA_EVENT_HARDWARE = 1 << 0,   /* those that the kernel opens */
    PERFDATA_EVENT_SOFTWARE = 1 << 1,   /* counted by the kernel */
    PERFDATA_EVENT_TOOL = 1 << 2,       /* of perf stat alone */
    PERFDATA_EVENT_CACHE = 1 << 3,      /* those that the kernel opens */
    PERFDATA_EVENT_PMU = 1 << 4,        /* that a unit below /sys/bus/event_source/devices names */
    PERFDATA_EVENT_TRACEPOINT = 1 << 5, /* of tracefs */
    PERFDATA_EVENT_SDT = 1 << 6         /* probes of programs in the build-id cache */
};

/* Strings live during the call. Since 0.1. */
struct perfdata_machine_event {
    size_t struct_size;
    uint32_t type;     /* enum perfdata_machine_event_type, one */
    const char *name;  /* as -e takes it: "cpu-cycles", "cpu/mem-loads/", "sched:sched_switch" */
    const char *alias; /* another name of it, or NULL */
    const char *parameters; /* ",umask=?": terms of a unit's event that want a value, or "" */
    const char *path;       /* of a probe: the program; else NULL */
    const char *build_id;   /* of a probe: in hexadecimal digits; else NULL */
};

/* 0 to go on; anything else ends the listing. Since 0.1. */
typedef int (*perfdata_machine_event_fn)(void *data, const struct perfdata_machine_event *event);

/* Strings are borrowed for the call. Since 0.1. */
struct perfdata_machine_events_options {
    size_t struct_size;
    uint32_t types; /* bits; 0: all */
    /* Shell pattern, found anywhere in a name; with ':' between system and name of tracepoints and
     * probes, each all of it. NULL: all events. */
    const char *pattern;
    const char *build_id_dir; /* NULL: home/.debug */
    const char *home;         /* NULL: no probes */
    const char *root;         /* in front of /sys, for tests; NULL: this machine */
};

/* Calls `each` for the events of this machine, sorted by name within a type. What cannot be read
 * (tracefs, for who may not) has no events. PERFDATA_ERROR_MEMORY, or what `each` returned last.
 * Costs an open of each hardware and cache event. Since 0.1. */
PERFDATA_API perfdata_status
perfdata_machine_events(const struct perfdata_machine_events_options *options,
                        perfdata_machine_event_fn each, void *data);

/* The event as a line of JSON (docs/json.md). PERFDATA_ERROR_MEMORY or PERFDATA_ERROR_OUTPUT. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_machine_event_json(const struct perfdata_machine_event *event,
                                                         perfdata_write_fn write, void *data);

#ifdef __cplusplus
}
#endif
#endif
