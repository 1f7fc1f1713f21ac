/* SPDX-License-Identifier: MIT */
/* A report's options, parsed: what is counted, which columns are printed, how they are sorted and drawn. */
#ifndef PD_REPORT_PLAN_H
#define PD_REPORT_PLAN_H
#include "analyse/chain.h"
#include "base/text.h"
#include "export/filter.h"
#include "pipeline/pipeline.h"
#include "tracepoint/tracepoint.h"
#include <perfdata/report.h>
#include <regex.h>

enum pd_chain_value { PD_CHAIN_PERCENT, PD_CHAIN_PERIOD, PD_CHAIN_COUNT };

#define PD_REPORT_COLUMNS 32

struct pd_report_column {
    uint8_t what; /* enum pd_hist_key */
    bool elided;  /* one value only: said above the table */
    uint32_t user_width;
    const char *title;
};

struct pd_report_plan {
    const struct perfdata_report_options *options;
    struct pd_hist_options hist;
    struct pd_report_column columns[PD_REPORT_COLUMNS];
    size_t column_count;
    uint8_t order[PD_REPORT_COLUMNS]; /* what rows are sorted by */
    size_t order_count;
    bool chains_asked;     /* -g given */
    bool skip_first_frame; /* -s sym...: it is the row itself */
    bool fields_are_strict, order_set;
    enum pd_chain_mode chain_mode;
    enum pd_chain_value chain_value;
    double chain_percent;
    uint32_t print_limit;
    float percent_limit;
    uint64_t time_quantum;
    bool only_tracepoints, relative, quiet, group_all, no_group, exclude_other, has_parent,
        has_ignore;
    regex_t parent, ignore;
    struct pd_filter filter;
    const char *only_comm, *only_dso, *only_symbol; /* of filter lists with one entry */
    bool show_comm, show_dso, show_symbol;          /* their lines are printed */
    struct pd_tracing *tracing;                     /* NULL: no payload is looked at */
    const struct pd_trace_format **formats;         /* by the event's index; NULL with `tracing` */
    struct pd_arena arena;
};

/* Parses what needs no recording. */
perfdata_status pd_report_plan_make(struct pd_context *context,
                                    const struct perfdata_report_options *options,
                                    struct pd_report_plan *out);
/* Fits it to what the recording has: chains or not, filters. *perf_exit is perf's code for a failure. */
perfdata_status pd_report_plan_fit(struct pd_recording *recording, struct pd_report_plan *plan,
                                   int32_t *perf_exit);
void pd_report_plan_free(struct pd_report_plan *plan);

/* report_collect.c: runs through the recording and counts. */
struct pd_report_counts {
    struct pd_hist hist;
    uint64_t lost_samples;
};
perfdata_status pd_report_collect(struct pd_session *session, const struct pd_report_plan *plan,
                                  unsigned threads, struct pd_report_counts *out);

/* report_trace.c: the payloads of tracepoints. Opens the formats when a key asks for them. */
perfdata_status pd_report_trace_open(struct pd_recording *recording, struct pd_report_plan *plan);
struct pd_report_payload {
    struct pd_resolver *resolver;
    const struct pd_event *event;
    const struct pd_sample *sample;
    const struct pd_thread *thread;
    uint64_t number;
};
/* The id of the payload's text among the names, PD_HIST_NONE without one. `scratch` is the worker's. */
uint32_t pd_report_trace_id(const struct pd_report_plan *plan,
                            const struct pd_report_payload *payload, struct pd_hist *hist,
                            struct pd_text *scratch);

/* One event's (or group's) table. */
struct pd_report_table {
    const struct pd_report_plan *plan;
    const struct pd_hist *hist;
    const struct pd_hist_result *result;
    struct pd_timeline *timeline;
    const struct pd_hist_event *event;
    const uint32_t *events; /* the group, leader first */
    size_t event_count;
    const struct pd_chain_index *chains; /* NULL: none drawn */
    uint64_t total;                      /* 100 % */
    uint64_t chain_total; /* 100 % of chains: relative percentages are not for them */
    uint64_t least;       /* hits that a node of a chain needs */
    uint32_t widths[PD_KEY_COUNT];
};

/* report_draw.c: titles and rows, each row with its chains. `flush` gives the text away when it has grown. */
perfdata_status pd_report_draw(struct pd_report_table *table, struct pd_text *out,
                               perfdata_status (*flush)(void *data, struct pd_text *text),
                               void *data);

/* report_graph.c: the chains of one row. */
void pd_report_graph(const struct pd_report_table *table, const struct pd_hist_row *row,
                     const struct pd_chain_tree *tree, struct pd_text *out);

#endif
