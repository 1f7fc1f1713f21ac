/* SPDX-License-Identifier: MIT */
/* A report's options, parsed: what is counted, which columns are printed, how they are sorted and
 * drawn. */
#ifndef PD_REPORT_PLAN_H
#define PD_REPORT_PLAN_H
#include "analyse/chain.h"
#include "analyse/code_hist.h"
#include "base/text.h"
#include "render/report/reads.h"
#include "select/event_switch.h"
#include "select/filter.h"
#include "pipeline/pipeline.h"
#include "tracepoint/tracepoint.h"
#include <perfdata/report.h>
#include <regex.h>

enum pd_chain_value { PD_CHAIN_PERCENT, PD_CHAIN_PERIOD, PD_CHAIN_COUNT };

#define PD_REPORT_COLUMNS 32

struct pd_report_column {
    uint8_t what; /* enum pd_hist_key */
    bool elided;  /* has one value only, which is told above the table */
    uint32_t user_width;
    const char *title;
};

/* A field of an event as a part of the column of the key `key`. */
struct pd_report_field {
    uint8_t key; /* PD_KEY_FIELDS... */
    bool raw;
    uint32_t event;
    uint32_t user_width; /* 0: as wide as its values */
    const struct pd_trace_field *field;
};

enum pd_report_mode { PD_REPORT_NORMAL, PD_REPORT_BRANCH, PD_REPORT_MEMORY };

/* Which columns are printed, from left to right, and what rows are sorted by. */
struct pd_report_layout {
    const char *sort; /* options->sort, or its default */
    struct pd_report_column columns[PD_REPORT_COLUMNS];
    size_t column_count;
    uint8_t order[PD_REPORT_COLUMNS];
    size_t order_count;
    bool fields_are_strict, order_set;
    bool thread_counts; /* -T */
    bool for_diff; /* its keys bring no column for IPC and need no chains; set before fitting */
};

/* How chains are counted and drawn. */
struct pd_report_chains {
    unsigned max_stack;    /* of the options, or as much as a trace's chains need */
    bool asked;            /* -g given */
    bool with_branches;    /* -g branch, --branch-history */
    bool shows_ends;       /* chains tell what is known of their branches */
    bool skip_first_frame; /* -s sym...: the first frame is the row itself */
    enum pd_chain_mode mode;
    enum pd_chain_value value;
    double percent;
    uint32_t print_limit;
};

/* Filter lists that have one entry: its name, and whether a line above the table tells it. */
struct pd_report_only {
    const char *comm, *dso, *symbol;
    bool show_comm, show_dso, show_symbol;
};

/* --parent and --ignore-callees. */
struct pd_report_patterns {
    bool has_parent, has_ignore;
    bool parent_refused; /* it is no regular expression */
    regex_t parent, ignore;
};

/* What is read from the payloads of tracepoints. */
struct pd_report_payloads {
    PD_VEC(struct pd_report_field) fields;
    struct pd_tracing *tracing;             /* NULL: no payload is looked at */
    const struct pd_trace_format **formats; /* by the event's index; NULL with `tracing` */
};

struct pd_report_plan {
    const struct perfdata_report_options *options;
    struct pd_itrace_options itrace;
    enum pd_report_mode mode;
    bool has_mode_data; /* what `mode` needs was recorded */
    bool cpus_refused;  /* fitting the plan failed because of options->cpus */
    bool total_cycles, full_source_path, counts_latency;
    bool counts_code;        /* samples also count by address; filtered ones not at all */
    const char *code_symbol; /* then: only samples in a function of this name; NULL: all */
    struct pd_hist_options hist;
    struct pd_report_layout layout;
    struct pd_report_chains chains;
    float percent_limit;
    uint64_t time_quantum;
    bool only_tracepoints, relative, quiet, group_all, no_group, exclude_other, no_host;
    struct pd_filter filter;
    struct pd_report_only only;
    struct pd_report_patterns patterns;
    struct pd_event_switch event_switch; /* as it is before the first sample */
    struct pd_report_payloads payloads;
    struct pd_arena arena;
};

/* Makes a plan from options, as far as that needs no recording. */
perfdata_status pd_report_plan_make(struct pd_context *context,
                                    const struct perfdata_report_options *options,
                                    struct pd_report_plan *out);
/* Refuses, as perf does, reports that are of branches and of memory at once. */
perfdata_status pd_report_check_modes(struct pd_recording *recording,
                                      const struct pd_report_plan *plan);
/* Fits the plan to what the recording has, such as chains, and sets up the filters. *perf_exit is
 * perf's exit code for a failure. */
perfdata_status pd_report_plan_fit(struct pd_recording *recording, struct pd_report_plan *plan,
                                   int32_t *perf_exit);
void pd_report_plan_free(struct pd_report_plan *plan);
/* chain_words.c: fills in the plan's `chains` from its options. */
perfdata_status pd_report_parse_chains(struct pd_context *context, struct pd_report_plan *plan);
/* The next piece of a text, between characters of `separators`; false at the end. */
bool pd_report_next_token(const char **at, const char *separators, const char **token,
                          size_t *length);
/* The name that -F has for a key or column. */
const char *pd_report_key_of(uint8_t what);

/* What the recording tells of its Intel PT trace. Of several such records the first one counts, as
 * it does where traces are decoded. */
struct pd_report_trace {
    bool known;
    uint64_t number; /* the record's number */
    uint64_t pmu;    /* type of the events that record the trace */
};

/* collect.c: runs through the recording and counts. */
struct pd_report_counts {
    struct pd_report_reads reads;
    struct pd_hist hist;
    uint64_t lost_samples, dropped_samples; /* the latter by a BPF filter */
    struct pd_report_trace trace;
    struct pd_code_hist code; /* of a plan that counts_code */
};
perfdata_status pd_report_collect(struct pd_session *session, const struct pd_report_plan *plan,
                                  unsigned threads, struct pd_report_counts *out);

/* trace.c: prepares to read the payloads of tracepoints: opens their formats, once. */
perfdata_status pd_report_trace_open(struct pd_recording *recording, struct pd_report_plan *plan);
/* Adds the fields that a sort key names (FIELD, EVENT.FIELD, EVENT.*, trace_fields) to
 * `plan->fields`, under the key `key`; *found is false when there are none. */
perfdata_status pd_report_fields_add(struct pd_recording *recording, struct pd_report_plan *plan,
                                     const char *name, size_t length, uint8_t key, bool *found);
struct pd_report_payload {
    struct pd_resolver *resolver;
    const struct pd_event *event;
    const struct pd_sample *sample;
    const struct pd_thread *thread;
    uint64_t number;
};
/* A worker's memory for making texts. */
struct pd_report_scratch {
    struct pd_text text, key;
};
void pd_report_scratch_free(struct pd_report_scratch *scratch);
/* Sets those words of `key` that come from the payload: they are ids of names, or PD_HIST_NONE
 * where there is none. The event's own word stands before `words`. */
void pd_report_trace_words(const struct pd_report_plan *plan,
                           const struct pd_report_payload *payload, struct pd_hist *hist,
                           struct pd_report_scratch *scratch, uint64_t *words);

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
    uint64_t chain_total;                /* 100 % of chains, whose percentages are never relative */
    uint64_t least;                      /* hits that a node of a chain needs to be drawn */
    uint32_t address_digits; /* of an address without a symbol: 8 where the machine has 32 bits */
    uint32_t widths[PD_KEY_COUNT];
    uint32_t *field_widths;       /* per field of the plan */
    const char **last_mispredict; /* the text of the row before */
    unsigned threads;             /* to draw with */
    bool periods;                 /* sums in place of percentages */
    bool like_perf;               /* words newer than perf 6.1 are printed as it does */
};

/* sheet.c: titles and rows, each row with its chains. `flush` takes the text whenever it has
 * grown. */
perfdata_status pd_report_draw(struct pd_report_table *table, struct pd_text *out,
                               perfdata_status (*flush)(void *data, struct pd_text *text),
                               void *data);

/* trace.c: finds how wide each field of the table's leader is. */
perfdata_status pd_report_fields_measure(struct pd_report_table *table);
/* The value of the index-th field of one key. */
void pd_report_field_cell(const struct pd_report_table *table, const struct pd_hist_row *row,
                          uint8_t key, size_t index, uint32_t width, struct pd_text *out);

/* lines.c: finds the source lines that chains show. */
perfdata_status pd_report_frame_lines(const struct pd_report_plan *plan, struct pd_symbols *symbols,
                                      struct pd_hist *hist, struct pd_arena *arena);

/* ends.c: what a frame that is a branch's end tells of the branch. */
void pd_report_ends(const struct pd_chain_ends *ends, struct pd_text *out);

/* graph.c: the chains of one row. */
void pd_report_graph(const struct pd_report_table *table, const struct pd_hist_row *row,
                     const struct pd_chain_tree *tree, struct pd_text *out);

/* The address at which a cache line begins. We take lines of 64 bytes; perf asks the machine it
 * runs on. */
#define PD_CACHE_LINE_OF(address) ((address) & ~UINT64_C(63))

/* The sort keys as perf names them above a table of accesses to memory. */
void pd_report_sort_text(const struct pd_report_plan *plan, struct pd_text *out);

/* The options of report that annotate and diff have, too, under the same names. */
#define PD_REPORT_WHICH_SAMPLES(from)                                                              \
    .comms = (from)->comms, .pids = (from)->pids, .tids = (from)->tids, .cpus = (from)->cpus,      \
    .dsos = (from)->dsos, .symbols = (from)->symbols

#endif
