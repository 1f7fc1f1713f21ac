/* SPDX-License-Identifier: MIT */
/* A report to walk through: the tables that perfdata_report_run() prints, row by row, and each
 * row's call chains on demand.
 *
 *     perfdata_report *report;
 *     if (perfdata_report_open(recording, &options, NULL, &report) == PERFDATA_OK)
 *         for (uint32_t i = 0; i < table.row_count; i++)
 *             if (perfdata_report_row(report, 0, i, &row) == PERFDATA_OK) ...
 *     perfdata_report_close(report);
 *
 * A report needs its recording until it is closed, and is used by one thread at a time. Structures
 * grow at their end in later versions: set struct_size before a call. */
#ifndef PERFDATA_REPORT_ROWS_H
#define PERFDATA_REPORT_ROWS_H
#include <perfdata/report.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct perfdata_report perfdata_report;

/* Reads the recording once and sorts its rows. Errors as of perfdata_report_run(); those of its
 * flags that print something else than a table of rows, and PERFDATA_REPORT_HIERARCHY,
 * _TOTAL_CYCLES and _THREAD_COUNTS, are PERFDATA_ERROR_ARGUMENT. With PERFDATA_REPORT_COLOR texts
 * have perf's colours. Strings of the options are borrowed until it is closed. `result` may be
 * NULL. Since 0.1. */
PERFDATA_API perfdata_status perfdata_report_open(perfdata_recording *recording,
                                                  const struct perfdata_report_options *options,
                                                  struct perfdata_report_result *result,
                                                  perfdata_report **out);
/* NULL does nothing. Since 0.1. */
PERFDATA_API void perfdata_report_close(perfdata_report *report);

/* An event's table, or a group's. Since 0.1. */
struct perfdata_report_table {
    size_t struct_size;
    const char *name; /* of its events */
    uint64_t samples;
    uint64_t period;    /* what the samples weigh: 100 % of the rows */
    uint32_t row_count; /* those above the percent limit */
    uint32_t has_chains;
    uint32_t has_children; /* callers have the weight of what they called */
    uint32_t event_count;  /* of its group; 1: it is of one event */
};
PERFDATA_API uint32_t perfdata_report_table_count(const perfdata_report *report);
/* PERFDATA_ERROR_ARGUMENT beyond the last. Since 0.1. */
PERFDATA_API perfdata_status perfdata_report_table(const perfdata_report *report, uint32_t table,
                                                   struct perfdata_report_table *out);

/* What is 100 % of a table's rows from now on; 0: what its samples weigh. Since 0.1. */
PERFDATA_API void perfdata_report_set_total(perfdata_report *report, uint32_t table,
                                            uint64_t total);

/* Since 0.1. */
enum perfdata_report_text_flags {
    PERFDATA_REPORT_TEXT_PERIODS = 1 << 0, /* sums in place of percentages */
    PERFDATA_REPORT_TEXT_RULES = 1 << 1    /* of titles: dots as wide as each column */
};
/* The titles of its columns, and a row, each as a line of the printed report has it but for the two
 * characters in front; no newline. NULL: there is no such row, or no memory. Valid until the next
 * text of this report. Since 0.1. */
PERFDATA_API const char *perfdata_report_title_text(perfdata_report *report, uint32_t table,
                                                    uint32_t flags);
PERFDATA_API const char *perfdata_report_row_text(perfdata_report *report, uint32_t table,
                                                  uint32_t row, uint32_t flags);

/* As perfdata_report_rows() gives it; its cells are valid until the next row of this report. Since
 * 0.1. */
PERFDATA_API perfdata_status perfdata_report_row(perfdata_report *report, uint32_t table,
                                                 uint32_t row, struct perfdata_report_row *out);

/* A line of a row's call chains. Frames that all stacks at that place share are one below the first
 * of them. The size of the structure is fixed for ever. Since 0.1. */
struct perfdata_report_frame {
    const char *name;  /* as printed */
    const char *value; /* its weight as printed, "12.34%"; "" where it goes without saying */
    uint32_t parent;   /* its place in the array, smaller than its own; all ones: the row itself */
    uint32_t depth;    /* 0: below the row */
    uint32_t has_below;
    uint32_t reserved;
    uint64_t period, samples;
};
/* The chains of a row in the order in which they are printed, to be freed at once with
 * perfdata_report_chains_free(); valid until then, or until the report is closed. *count 0 where
 * none are drawn. Since 0.1. */
PERFDATA_API perfdata_status perfdata_report_chains(perfdata_report *report, uint32_t table,
                                                    uint32_t row,
                                                    struct perfdata_report_frame **frames,
                                                    size_t *count);
PERFDATA_API void perfdata_report_chains_free(struct perfdata_report_frame *frames);

#ifdef __cplusplus
}
#endif
#endif
