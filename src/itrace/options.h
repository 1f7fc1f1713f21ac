/* SPDX-License-Identifier: MIT */
/* What --itrace asks for, and perfconfig's keys for it. */
#ifndef PD_ITRACE_OPTIONS_H
#define PD_ITRACE_OPTIONS_H
#include "io/config.h"

enum pd_itrace_period { PD_ITRACE_INSTRUCTIONS, PD_ITRACE_TICKS, PD_ITRACE_NS };

struct pd_itrace_options {
    bool set;    /* something was asked for */
    bool decode; /* false: --no-itrace */
    bool instructions, branches, calls, returns, transactions, ptwrites, power, other;
    bool intr_events, errors, log;
    bool callchain, add_callchain, last_branch, add_last_branch;
    bool approximate_ipc, timeless;
    bool remote_access, mem, first_level, last_level, tlb; /* a M f m t: not for Intel PT */
    bool thread_stack; /* the verb shows the depth of calls: callindent */
    uint8_t quick;     /* number of q */
    enum pd_itrace_period period_type;
    uint64_t period; /* in units of period_type; 0: every instruction, whatever the type */
    uint64_t skip;   /* s */
    unsigned callchain_size, last_branch_size;
    uint32_t error_plus, error_minus; /* e+a-b: bit PD_ITRACE_FLAG(letter) */
    uint32_t log_plus, log_minus;
    /* perfconfig */
    bool mispred_all;
    uint64_t max_loops; /* 0 was read as PD_PT_MAX_LOOPS */
    uint64_t cache_divisor, log_buffer_size;
    bool callers_first;        /* call-graph.order of script */
    char build_id_cache[1024]; /* buildid.dir; "": not given */
};

#define PD_ITRACE_FLAG(letter) (UINT32_C(1) << ((letter) - 'a'))

/* Whose defaults hold where nothing is asked for (reference 5.2). */
enum pd_itrace_verb {
    PD_ITRACE_SCRIPT, /* script, c2c, mem: no samples but what the trace itself says */
    PD_ITRACE_REPORT, /* report, annotate */
    PD_ITRACE_INJECT  /* decodes only when asked */
};

/* What holds when nothing is asked for. */
void pd_itrace_options_init(struct pd_itrace_options *options, enum pd_itrace_verb verb);
/* --itrace (`text` NULL) or --itrace=text, after init; the last one counts, the letters of several
 * add up as in perf. False: it does not parse. */
bool pd_itrace_options_parse(struct pd_itrace_options *options, enum pd_itrace_verb verb,
                             const char *text);
/* The build-id cache of the options, else that of perfconfig; NULL: neither. Lives as long as
 * both. */
const char *pd_itrace_options_cache(const struct pd_itrace_options *options, const char *given);
/* One entry of perfconfig: "intel-pt.max-loops" and its value, NULL without "=". False: this key
 * cannot have that value. Entries that are not about traces give true. */
bool pd_itrace_options_config(struct pd_itrace_options *options, const char *key,
                              const char *value);
/* Takes everything: init, the entries of perfconfig (a value that its key cannot have is an issue;
 * `places` NULL: no perfconfig is read), then each of `asked`, where "" is a plain --itrace.
 * PERFDATA_ERROR_ARGUMENT with perf's text: one of these does not parse. */
perfdata_status pd_itrace_options_take(struct pd_itrace_options *options, enum pd_itrace_verb verb,
                                       struct pd_context *context,
                                       const struct pd_config_places *places,
                                       const char *const *asked, size_t count);

#endif
