/* SPDX-License-Identifier: MIT */
/* perf's -e: text -> events to be opened. */
#ifndef PD_RECORD_EVENTS_H
#define PD_RECORD_EVENTS_H
#include "base/vec.h"
#include "format/format.h"
#include "record/calls.h"

/* The terms of events.def. */
enum pd_term {
#define TERM(NAME, name, value) PD_TERM_##NAME,
#include "record/events/events.def"
    PD_TERM_COUNT
};

/* What was said of an event: numbers by term, and which were said. */
struct pd_terms {
    uint32_t said; /* bit 1 << enum pd_term */
    uint64_t number[PD_TERM_COUNT];
    const char *text[PD_TERM_COUNT];
};

PD_INLINE bool pd_term_said(const struct pd_terms *terms, enum pd_term term)
{
    return terms->said >> term & 1;
}

struct pd_selected {
    struct pd_attr attr;
    const char *name; /* as it was written */
    const char *pmu;  /* of sysfs; NULL: none */
    const char *cpus; /* the PMU's cpumask; NULL: any */
    uint32_t leader,
        members; /* leader: its number, its own when alone; members of its group when it leads */
    const char *group_name;
    const char *system, *tracepoint; /* NULL: no tracepoint */
    const char *filter;
    const char *unit; /* NULL: none */
    double scale;
    struct pd_terms terms;
    uint64_t said_config; /* bits of config that were given */
    bool sample_read;     /* :S */
    bool most_precise;    /* :P: the greatest precise_ip that opens */
    bool weak;            /* :W: its group may be broken up */
    bool no_guest;        /* its PMU knows nothing of guests */
    bool tracking;        /* mmap, comm... are its task */
    bool made;            /* by us, not by the user */
    bool at_once;         /* enabled from the start */
    bool everywhere;      /* all CPUs, whatever the target is */
    bool in_cgroup;       /* tasks of a control group */
    int cgroup;           /* its descriptor */
};

/* Zero is empty; strings lie in the arena. */
struct pd_events {
    struct pd_arena arena;
    /* whose execution an event counts that does not say it: the host's alone, with `guests`
     * theirs, too, and with `no_host` theirs alone */
    bool guests, no_host;
    PD_VEC(struct pd_selected) list;
};

/* Appends the events of one -e. On failure the list is as before and the context holds perf's
 * text. */
perfdata_status pd_events_parse(struct pd_context *context, const struct pd_roots *roots,
                                const char *text, struct pd_events *events);
void pd_events_free(struct pd_events *events);
/* One event of ours, appended; NULL: no memory. */
struct pd_selected *pd_events_add(struct pd_events *events, uint32_t type, uint64_t config,
                                  const char *name);

/* ---- PMUs in sysfs ---- */

#define PD_PMU_FOLDER "/sys/bus/event_source/devices"

/* config (word 0) to config3 of an attribute. */
uint64_t *pd_pmu_config(struct pd_attr *attr, unsigned word);
/* Sets `bits` of a term "config1:0-7,32" in the attr; false: the value has no room. *most is what
 * would fit. */
bool pd_pmu_set(struct pd_attr *attr, const char *format, uint64_t value, uint64_t *most);
/* The mask of a format within its word; 0 when there is no such term. *word: 0 config, 1 config1, 2
 * config2, 3 config3. */
uint64_t pd_pmu_mask(const struct pd_roots *roots, const char *pmu, const char *term,
                     unsigned *word);

/* tracefs: where events/ lies, below the root; NULL when there is none. */
const char *pd_tracefs(const struct pd_roots *roots);

#endif
