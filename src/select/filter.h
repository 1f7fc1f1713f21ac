/* SPDX-License-Identifier: MIT */
/* Which samples are shown: the lists of --comms, --pid, --tid, -C, -S, --dsos and the spans of
 * --time, with perf's syntax and error texts. Made once before a run, then only read: any thread
 * may match. */
#ifndef PD_FILTER_H
#define PD_FILTER_H
#include "base/arena.h"
#include "base/vec.h"
#include "container/container.h"
#include "itrace/synth.h"
#include "model/model.h"
#include "resolve/resolve.h"

/* Sorted by length, then bytes. */
struct pd_name_set {
    struct pd_string_ref {
        const char *text;
        size_t length;
    } * names;
    size_t count;
};

#define PD_FILTER_CPUS 2048

/* All zero filters nothing. */
struct pd_filter {
    struct pd_arena arena; /* everything below */
    bool has_comms, has_pids, has_tids, has_cpus, has_dsos, has_symbols;
    struct pd_name_set comms, dsos, symbols;
    uint32_t *pids, *tids;
    size_t pid_count, tid_count;
    bool has_socket;
    uint32_t socket;
    const struct pd_feature_cpu_topology *topology; /* the recording's; NULL: not known */
    uint64_t cpus[PD_FILTER_CPUS / 64];
    uint64_t *addresses; /* those of -S that are numbers */
    size_t address_count;
    uint64_t address_range; /* --addr-range: bytes beyond each address */
    struct pd_time_range *spans;
    size_t span_count;
};

void pd_filter_free(struct pd_filter *filter);

/* Each adds one option's value. PERFDATA_ERROR_ARGUMENT with perf's text in `context` when it does
 * not parse. A list may be "file://PATH": a name a line. */
perfdata_status pd_filter_add_comms(struct pd_filter *filter, struct pd_context *context,
                                    const char *list);
perfdata_status pd_filter_add_dsos(struct pd_filter *filter, struct pd_context *context,
                                   const char *list);
/* Names, and numbers that are addresses; `range` bytes from each address. */
perfdata_status pd_filter_add_symbols(struct pd_filter *filter, struct pd_context *context,
                                      const char *list, uint64_t range);
perfdata_status pd_filter_add_pids(struct pd_filter *filter, struct pd_context *context,
                                   const char *list);
perfdata_status pd_filter_add_tids(struct pd_filter *filter, struct pd_context *context,
                                   const char *list);
/* PERFDATA_ERROR_NO_DATA when an event has no CPU, PERFDATA_ERROR_ARGUMENT for one that the
 * recording's machine had not. */
perfdata_status pd_filter_add_cpus(struct pd_filter *filter, struct pd_recording *recording,
                                   const char *list);
/* What options name, each NULL where they do not. */
struct pd_filter_lists {
    const char *dsos, *comms, *pids, *tids, *symbols;
    uint64_t address_range;   /* of `symbols` */
    const char *stop_symbols; /* functions that end a chain: they filter no sample */
};
/* Those of `from`, the public options of a verb that has all of them. */
#define PD_FILTER_LISTS(from)                                                                      \
    {                                                                                              \
        .dsos = (from)->dsos, .comms = (from)->comms, .pids = (from)->pids, .tids = (from)->tids,  \
        .symbols = (from)->symbols, .address_range = (from)->address_range,                        \
        .stop_symbols = (from)->stop_symbols                                                       \
    }
/* Adds them in perf's order, which decides the error that is reported first. *stop: the names of
 * stop_symbols, which live as long as the filter; NULL: they are not asked for. */
perfdata_status pd_filter_add_lists(struct pd_filter *filter, struct pd_context *context,
                                    const struct pd_filter_lists *lists, struct pd_name_set *stop);
/* The three lists, each NULL where it is not asked for. */
perfdata_status pd_filter_add_numbers(struct pd_filter *filter, struct pd_recording *recording,
                                      const char *pids, const char *tids, const char *cpus);
/* A number, of the sockets that the recording's header tells of. */
perfdata_status pd_filter_add_socket(struct pd_filter *filter, const struct pd_recording *recording,
                                     struct pd_context *context, const char *number);
/* Does the CPU lie in the asked socket? True without such a filter; false for a CPU that the header
 * does not tell of, or none (all ones). */
bool pd_filter_socket(const struct pd_filter *filter, uint32_t cpu);
/* PERFDATA_ERROR_ARGUMENT: of the CPUs `asked` there are no `what` ("traces"), and the bits of
 * `there` say of which there are. */
perfdata_status pd_filter_no_cpu(struct pd_context *context, const char *asked, const char *what,
                                 const uint64_t there[PD_FILTER_CPUS / 64]);
/* "start,stop start,stop ...", "a%-b%,...", "p%/n,...". Percentages, and with `relative` all times,
 * stand on the times of the first and last sample in the header: PERFDATA_ERROR_NO_DATA without
 * them. */
perfdata_status pd_filter_add_times(struct pd_filter *filter, struct pd_recording *recording,
                                    const char *text, bool relative);

/* "sec[.fraction]" -> nanoseconds, at most 9 decimals; false when it is none. */
bool pd_parse_time(const char *text, uint64_t *out);

bool pd_name_set_has(const struct pd_name_set *set, const char *text, size_t length);

/* ---- matching: true when the sample stays ---- */

PD_INLINE bool pd_filter_time(const struct pd_filter *filter, uint64_t time)
{
    if (!filter->span_count || !time)
        return true;
    for (size_t i = 0; i < filter->span_count; i++)
        if (time >= filter->spans[i].start &&
            (!filter->spans[i].end || time <= filter->spans[i].end))
            return true;
    return false;
}

/* A sample without a CPU (all ones) stays. */
PD_INLINE bool pd_filter_cpu(const struct pd_filter *filter, uint32_t cpu)
{
    return !filter->has_cpus || cpu == UINT32_MAX ||
           (cpu < PD_FILTER_CPUS && filter->cpus[cpu / 64] >> cpu % 64 & 1);
}

/* Both checks, for a sample that has not been decoded. */
PD_INLINE bool pd_filter_early(const struct pd_filter *filter, const struct pd_delivered *record)
{
    const struct pd_plan *plan = &record->event->plan;
    uint64_t time = UINT64_MAX;
    uint32_t cpu = UINT32_MAX;
    if (plan->time && plan->time + 8u <= record->size)
        time = pd_load64(record->data + plan->time, plan->swap);
    if (plan->cpu && plan->cpu + 4u <= record->size)
        cpu = pd_load32(record->data + plan->cpu, plan->swap);
    return pd_filter_time(filter, time) && pd_filter_cpu(filter, cpu);
}

PD_INLINE bool pd_filter_has_thread(const struct pd_filter *filter)
{
    return filter->has_comms || filter->has_pids || filter->has_tids;
}

/* What of a trace is decoded: the CPUs and spans. */
void pd_filter_trace(struct pd_filter *filter, struct pd_synth_config *config);

/* Comm, pid and tid as they hold at `number`; a NULL thread stays only without such filters. */
bool pd_filter_thread(const struct pd_filter *filter, const struct pd_thread *thread,
                      uint64_t number);

PD_INLINE bool pd_filter_has_location(const struct pd_filter *filter)
{
    return filter->has_dsos || filter->has_symbols;
}

/* The sample's own pid and tid, whatever thread they are of, and its CPU. */
bool pd_filter_numbers(const struct pd_filter *filter, uint32_t pid, uint32_t tid, uint32_t cpu);

/* DSO and symbol of a sample's own address; both are true where nothing is asked for. */
bool pd_filter_dso(const struct pd_filter *filter, struct pd_symbols *symbols,
                   const struct pd_location *location);
bool pd_filter_symbol(const struct pd_filter *filter, const struct pd_location *location);
PD_INLINE bool pd_filter_location(const struct pd_filter *filter, struct pd_symbols *symbols,
                                  const struct pd_location *location)
{
    return pd_filter_dso(filter, symbols, location) && pd_filter_symbol(filter, location);
}

#endif
