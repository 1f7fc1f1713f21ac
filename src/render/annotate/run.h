/* SPDX-License-Identifier: MIT */
/* The state of one run of annotate, which its parts share. */
#ifndef PD_ANNOTATE_RUN_H
#define PD_ANNOTATE_RUN_H
#include "render/annotate/annotation.h"
#include "render/annotate/together.h"
#include "render/raw_dump/trace_log.h"
#include <perfdata/annotate.h>

/* The code of a function, once objdump has told it. */
struct pd_annotate_code {
    struct pd_code_file file;
    uint64_t end;
    struct pd_listing listing;
    bool done, failed; /* objdump was run; its exit code was not 0 */
    int error;         /* PD_OBJDUMP_...; 0: there is a listing */
    size_t last;       /* the last row that prints it */
};

struct pd_annotate_batch {
    size_t first, count;
};

/* A function of an event or group. */
struct pd_annotate_row {
    const struct pd_report_group *group;
    const struct pd_symbol *symbol;
    uint32_t function;
};

/* fetch.c: the code of many rows at once. */
struct pd_annotate_fetching {
    PD_VEC(uint32_t) wanted; /* functions to run objdump for, by object and address */
    PD_VEC(struct pd_annotate_batch) batches; /* each of functions of one object */
    PD_VEC(struct pd_together_part) parts;    /* one for each of `wanted` */
    struct pd_map64 apart; /* objects of which each function needs a run of its own */
};

struct pd_annotate {
    struct pd_recording *recording;
    const struct perfdata_annotate_options *options;
    struct perfdata_report_options report; /* what counts the samples */
    struct pd_report_plan plan;
    struct pd_annotate_plan look;
    struct pd_objdump objdump;
    char objdump_name[256];
    struct pd_report_counts counts;
    struct pd_hist_result result;
    struct pd_report_groups groups;
    struct pd_session session;
    struct pd_trace_log log;
    struct pd_annotate_code *codes; /* by function */
    struct pd_map64 refused; /* objects whose code could not be had: as perf, we do not ask again */
    PD_VEC(struct pd_annotate_row) rows;
    struct pd_annotate_fetching fetching;
    struct pd_text text;
    struct pd_arena arena; /* of one row */
    bool unknown_source;   /* the source line printed last is not known */
    perfdata_write_fn write;
    perfdata_code_fn take; /* in place of `write`: functions as rows */
    void *data;
    bool enough; /* `take` wants no more */
    struct perfdata_annotate_result told;
    unsigned threads;
};

/* Runs objdump for what the rows from `first` to before `*end` need. *end may become less. */
perfdata_status pd_annotate_fetch(struct pd_annotate *annotate, size_t first, size_t *end);
void pd_annotate_fetching_free(struct pd_annotate_fetching *fetching);
bool pd_annotate_is_refused(const struct pd_annotate *annotate, uint32_t function);

/* code.c: functions as rows, the heaviest first; without their code. */
perfdata_status pd_annotate_list_code(struct pd_annotate *annotate);
/* Gives the row to `take`; its code must have been fetched. */
perfdata_status pd_annotate_give_code(struct pd_annotate *annotate, size_t index);

#endif
