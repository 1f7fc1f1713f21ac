/* SPDX-License-Identifier: MIT */
/* A function with its code and what lies on each of its lines, for those that print it. */
#ifndef PD_ANNOTATION_H
#define PD_ANNOTATION_H
#include "analyse/code_hist.h"
#include "base/arena.h"
#include "render/annotate/listing.h"
#include "render/report/group.h"

/* What 100 % is: the sum of the function or of the event, of periods or of samples. */
struct pd_percent_type {
    bool global, hits;
};

struct pd_annotate_plan {
    bool samples, total_period; /* columns of counts in place of percentages */
    bool source_lines, full_paths, verbose;
    bool browser; /* as perf's browser shows it; the members up to `percent` are for this alone */
    bool hides_source, addresses, line_numbers, jump_counts;
    struct pd_percent_type percent;
};

struct pd_line_sum {
    uint64_t count, period;
};

struct pd_annotation {
    const struct pd_annotate_plan *plan;
    const struct pd_report_groups *groups;
    const struct pd_report_group *group;
    const struct pd_code_hist *hist;
    const struct pd_code_function *function;
    const struct pd_symbol *symbol;
    const struct pd_map *map;
    const char *object; /* its long name */
    uint64_t start;     /* its address in the object file */
    const struct pd_listing *listing;
    size_t event_count;
    struct pd_line_sum *sums; /* per line, one for each event */
    struct pd_symbols *symbols;
    uint64_t samples;           /* of the event or group, in all functions */
    uint64_t frequency;         /* of the event, as recorded */
    struct pd_line_sum *totals; /* of each event in the function */
    uint64_t period;            /* of the leader in all functions */
    const char **sources;       /* the source line of each line; NULL: none of any */
    bool *unknown_source; /* the last source line of the function before was PD_SOURCE_UNKNOWN */
};

#define PD_SOURCE_UNKNOWN "??:0"

/* Fills in `sums` and `totals`. False: no memory. */
bool pd_annotation_count(struct pd_annotation *annotation, struct pd_arena *arena);
double pd_annotation_percent(const struct pd_annotation *annotation, size_t line, size_t event);
/* The highest percentage of the line, of all events. */
double pd_annotation_percent_max(const struct pd_annotation *annotation, size_t line);
enum { PD_ANNOTATION_PERIOD_WIDTH = 11 };
/* Adds what stands before a line for one event: its period, its samples or its share. Samples and
 * shares are padded to `width`. */
void pd_annotation_put_value(const struct pd_annotation *annotation, size_t line, size_t event,
                             unsigned width, struct pd_text *out);
const char *pd_percent_type_name(struct pd_percent_type type);
/* Below this a line has no colour and no source line. */
#define PD_ANNOTATION_LEAST 0.5

/* source_lines.c: sets `sources`, and prints the hottest ones. False: no memory. */
bool pd_annotation_source_lines(struct pd_annotation *annotation, const struct pd_report_plan *plan,
                                struct pd_symbols *symbols, struct pd_arena *arena,
                                struct pd_text *out);
/* draw.c: the function as a list. */
void pd_annotation_draw(const struct pd_annotation *annotation, struct pd_text *out);
/* browse.c: the function as perf's browser shows it. x86 only. False: no memory. */
bool pd_annotation_browse(const struct pd_annotation *annotation, struct pd_arena *arena,
                          struct pd_text *out);

/* settings.c */
struct perfdata_annotate_options;
struct pd_annotate_settings {
    char style[256];
};
perfdata_status pd_annotate_settings_take(struct pd_context *context,
                                          struct perfdata_annotate_options *options,
                                          struct pd_annotate_settings *settings);

#endif
