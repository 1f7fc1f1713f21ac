/* SPDX-License-Identifier: MIT */
/* Between kwork.c, which follows the kernel's works, and kwork_text.c, which prints them. */
#ifndef PD_KWORK_H
#define PD_KWORK_H
#include "analyse/tracepoints.h"
#include "base/intern.h"
#include "resolve/resolve.h"
#include "select/filter.h"
#include <perfdata/kwork.h>

enum pd_kwork_kind { PD_KWORK_IRQ, PD_KWORK_SOFTIRQ, PD_KWORK_WORKQUEUE, PD_KWORK_KINDS };

/* What happens to a work, in turn. */
enum pd_kwork_step { PD_KWORK_RAISE, PD_KWORK_ENTRY, PD_KWORK_EXIT, PD_KWORK_STEPS };

/* A step that waits for the next one. */
struct pd_kwork_wait {
    uint64_t time, raised; /* raised: of an entry, when the work was raised; 0: not known */
};

/* The same work on the same CPU. */
struct pd_kwork_work {
    uint64_t id; /* number of the interrupt, or address of the work */
    uint32_t cpu, name;
    uint8_t kind;
    uint64_t count, total; /* count of runs or waits, and their ns */
    uint64_t longest, longest_from, longest_to;
    PD_VEC(struct pd_kwork_wait) raised, entered;
};

typedef int (*pd_kwork_order)(const struct pd_kwork_work *, const struct pd_kwork_work *);

struct pd_kwork {
    const struct perfdata_kwork_options *options;
    struct pd_tp tp;
    struct pd_filter filter;
    struct pd_intern names, keys; /* keys: number of a work by kind, CPU and id */
    PD_VEC(struct pd_kwork_work) works;
    uint8_t kinds[PD_KWORK_KINDS]; /* the kind's place among those asked for; 0: not asked for */
    uint64_t from, to;             /* of --time; 0: open */
    uint64_t first, last;          /* times of the events that count */
    uint64_t events, skipped[PD_KWORK_STEPS];
    struct pd_tp_losses losses;
    pd_kwork_order orders[8];
    size_t order_count;
    int32_t perf_exit;
    PD_VEC(struct pd_frame) frames;
};

/* kwork_text.c */
perfdata_status pd_kwork_take_keys(struct pd_kwork *kwork, const char *keys);
void pd_kwork_name(const struct pd_kwork *kwork, const struct pd_kwork_work *work,
                   struct pd_text *out);
void pd_kwork_timehist_head(struct pd_kwork *kwork);
perfdata_status pd_kwork_put_run(struct pd_kwork *kwork, const struct pd_kwork_work *work,
                                 const struct pd_kwork_wait *entry,
                                 const struct pd_tp_sample *sample);
perfdata_status pd_kwork_put_table(struct pd_kwork *kwork);

#endif
