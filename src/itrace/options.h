/* SPDX-License-Identifier: MIT */
/* What --itrace asks for, and perfconfig's keys for it. */
#ifndef PD_ITRACE_OPTIONS_H
#define PD_ITRACE_OPTIONS_H
#include "base/base.h"

enum pd_itrace_period { PD_ITRACE_INSTRUCTIONS, PD_ITRACE_TICKS, PD_ITRACE_NS };

struct pd_itrace_options {
    bool set;    /* an option was given: the defaults below are not replaced by a verb's */
    bool decode; /* false: --no-itrace */
    bool default_no_sample;
    bool instructions, cycles, branches, calls, returns, transactions, ptwrites, power, other,
        intr_events, errors, log;
    bool callchain, add_callchain, last_branch, add_last_branch;
    bool approximate_ipc, timeless;
    bool remote_access, mem, first_level, last_level, tlb,
        timestamps;    /* t M f m a T of other kinds: no effect for Intel PT */
    bool thread_stack; /* the verb shows the depth of calls: callindent */
    uint8_t quick;     /* number of q */
    enum pd_itrace_period period_type;
    uint64_t period; /* in units of period_type */
    uint64_t skip;   /* s */
    unsigned callchain_size, last_branch_size;
    uint32_t error_plus, error_minus, log_plus,
        log_minus; /* bit of each letter: PD_ITRACE_FLAG('o') */
    /* perfconfig */
    bool mispred_all;
    uint64_t max_loops; /* 100000 */
    uint64_t cache_divisor, log_buffer_size;
};

#define PD_ITRACE_FLAG(letter) (UINT32_C(1) << ((letter) - 'a'))

/* Whose defaults hold where nothing is asked for (reference 5.2). */
enum pd_itrace_verb {
    PD_ITRACE_SCRIPT, /* script, c2c, mem: no samples but what the trace itself says */
    PD_ITRACE_REPORT, /* report, annotate */
    PD_ITRACE_INJECT  /* decodes only when asked */
};

/* Nothing asked for: the verb's defaults. */
void pd_itrace_options_init(struct pd_itrace_options *options, enum pd_itrace_verb verb);
/* --itrace (`text` NULL or empty) or --itrace=text. False: it does not parse, the message is perf's
 * "Bad Instruction Tracing options '%s'". */
bool pd_itrace_options_parse(struct pd_itrace_options *options, enum pd_itrace_verb verb,
                             const char *text);
/* One line of perfconfig: "intel-pt.max-loops" and its value. False: the value does not parse; keys of others are true. */
bool pd_itrace_options_config(struct pd_itrace_options *options, const char *key,
                              const char *value);

#endif
