/* SPDX-License-Identifier: MIT */
/* Recordings side by side. */
#ifndef PD_DIFF_H
#define PD_DIFF_H
#include "base/intern.h"
#include "render/report/plan.h"

enum pd_diff_method { PD_DIFF_DELTA_ABS, PD_DIFF_DELTA, PD_DIFF_RATIO, PD_DIFF_WEIGHTED };

struct pd_diff_plan {
    enum pd_diff_method method;
    int64_t weights[2];
    uint32_t
        order; /* the recording whose values come first in sorting; 0: the first one's periods */
    bool baseline_only, periods, formula, quiet, verbose, json;
    const char *separator; /* NULL: columns are padded */
};

/* A recording with what was counted of it. */
struct pd_diff_side {
    struct pd_recording *recording;
    struct perfdata_report_options report;
    struct pd_report_plan plan;
    struct pd_report_counts counts;
    struct pd_hist_result result;
    struct pd_session session;
    char *time; /* its part of --time */
    bool is_open;
    struct pd_intern kinds; /* the types and configs of its events */
    PD_VEC(uint32_t) first; /* by kind, the first event that has it */
};

struct pd_diff_value {
    uint64_t period, count;
    bool has; /* the recording has this row */
};

/* Rows of several recordings that mean the same. */
struct pd_diff_row {
    const struct pd_hist_row *row; /* the row that is shown: of the first recording that has one */
    uint32_t side, index;
    struct pd_diff_value *values; /* by recording */
};

struct pd_diff_event {
    const struct pd_event *event; /* of the first recording */
    const uint32_t *events;       /* index in each recording, PD_DIFF_NO_EVENT */
    uint64_t *totals, *counts;    /* of periods and samples in each */
    uint64_t shown_total;         /* what is 100 % of the first column */
    PD_VEC(struct pd_diff_row) rows;
};

#define PD_DIFF_NO_EVENT UINT32_MAX

struct pd_diff {
    const struct pd_diff_plan *plan;
    struct pd_diff_side *sides;
    size_t count;
    struct pd_arena arena; /* freed after each event */
};

/* link.c: joins the rows of all recordings for an event of the first. */
perfdata_status pd_diff_link(struct pd_diff *diff, uint32_t event, struct pd_diff_event *out);
void pd_diff_event_free(struct pd_diff_event *event);

/* order.c: sorts the rows. False: rows of several recordings have no order by this key. */
bool pd_diff_knows_key(uint8_t key);
void pd_diff_sort(const struct pd_diff *diff, struct pd_diff_event *event);

/* The row's share of the recording's periods in percent; NaN where these are all 0. */
double pd_diff_percent(const struct pd_diff_event *event, const struct pd_diff_row *row,
                       size_t side);
/* What perf computes of a row; the recording must have it. */
double pd_diff_delta(const struct pd_diff_event *event, const struct pd_diff_row *row, size_t side);
double pd_diff_ratio(const struct pd_diff_row *row, size_t side);
int64_t pd_diff_weighted(const struct pd_diff_plan *plan, const struct pd_diff_row *row,
                         size_t side);

/* draw.c */
void pd_diff_draw(const struct pd_diff *diff, struct pd_diff_event *event, bool first,
                  struct pd_text *out);
void pd_diff_draw_json(const struct pd_diff *diff, struct pd_diff_event *event, bool first,
                       struct pd_text *out);

#endif
