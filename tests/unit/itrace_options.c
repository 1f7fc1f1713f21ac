/* SPDX-License-Identifier: MIT */
/* --itrace: every letter, its numbers and flags, what does not parse; the verbs' defaults;
 * perfconfig's keys. */
#include "itrace/options.h"
#include "test.h"

static struct pd_itrace_options parse(enum pd_itrace_verb verb, const char *text)
{
    struct pd_itrace_options options;
    pd_itrace_options_init(&options, verb);
    CHECK(pd_itrace_options_parse(&options, verb, text));
    return options;
}

static bool refused(const char *text)
{
    struct pd_itrace_options options;
    pd_itrace_options_init(&options, PD_ITRACE_SCRIPT);
    return !pd_itrace_options_parse(&options, PD_ITRACE_SCRIPT, text);
}

static void check_defaults(void)
{
    struct pd_itrace_options o;
    pd_itrace_options_init(&o, PD_ITRACE_SCRIPT); /* cxwpoIe */
    CHECK(o.decode && !o.set && o.branches && o.calls && !o.returns && !o.instructions);
    CHECK(o.transactions && o.ptwrites && o.power && o.other && o.intr_events && o.errors);
    CHECK(!o.callchain && !o.add_callchain && !o.log);
    pd_itrace_options_init(&o, PD_ITRACE_REPORT); /* i100us x w p o I e g G */
    CHECK(!o.branches && !o.calls && o.instructions && o.callchain && o.add_callchain);
    CHECK(o.period_type == PD_ITRACE_NS);
    CHECK_U64(o.period, 100000);
    CHECK_U64(o.callchain_size, 16);
    o = parse(PD_ITRACE_REPORT, NULL); /* a plain --itrace keeps branches, without chains */
    CHECK(o.set && o.branches && !o.calls && o.instructions && !o.callchain && !o.add_callchain);
    pd_itrace_options_init(&o, PD_ITRACE_INJECT);
    CHECK(!o.decode);
    o = parse(PD_ITRACE_INJECT, NULL);
    CHECK(o.decode && o.branches && o.instructions);
    o = parse(PD_ITRACE_SCRIPT, NULL);
    CHECK(o.branches && o.calls && !o.instructions);
    o = parse(PD_ITRACE_SCRIPT, "");
    CHECK(o.set && o.decode && !o.branches && !o.errors);
}

static void check_periods(void)
{
    static const struct {
        const char *text;
        enum pd_itrace_period type;
        uint64_t period;
    } rows[] = {
        { "i", PD_ITRACE_NS, 100000 },
        { "i5i", PD_ITRACE_INSTRUCTIONS, 5 },
        { "i7t", PD_ITRACE_TICKS, 7 },
        { "i3ms", PD_ITRACE_NS, 3000000 },
        { "i3us", PD_ITRACE_NS, 3000 },
        { "i3ns", PD_ITRACE_NS, 3 },
        { "i0ns", PD_ITRACE_NS, 0 },
        { "i12", PD_ITRACE_NS, 12 },
        { "i, 12 ,us", PD_ITRACE_NS, 12000 },
        { "ib", PD_ITRACE_NS, 100000 },
        { "bei1i,x", PD_ITRACE_INSTRUCTIONS, 1 },
    };
    for (size_t i = 0; i < PD_LENGTH(rows); i++) {
        struct pd_itrace_options o = parse(PD_ITRACE_SCRIPT, rows[i].text);
        CHECK(o.instructions);
        CHECK(o.period_type == rows[i].type);
        CHECK_U64(o.period, rows[i].period);
    }
    CHECK(refused("y") && refused("iy") && refused("T")); /* letters of newer perf */
    CHECK(refused("i5x") && refused("i5m") && refused("i5u") && refused("i5nb"));
}

static void check_letters(void)
{
    struct pd_itrace_options o = parse(PD_ITRACE_SCRIPT, "b,x w,poIeqqAZfmtaM");
    CHECK(o.branches && o.transactions && o.ptwrites && o.power && o.other && o.intr_events);
    CHECK(o.errors && o.quick == 2 && o.approximate_ipc && o.timeless && !o.calls && !o.returns);
    CHECK(o.first_level && o.last_level && o.tlb && o.remote_access && o.mem);
    o = parse(PD_ITRACE_SCRIPT, "cr");
    CHECK(o.branches && o.calls && o.returns);
    o = parse(PD_ITRACE_SCRIPT, "g12l100");
    CHECK(o.callchain && o.last_branch && !o.add_callchain && !o.add_last_branch);
    CHECK_U64(o.callchain_size, 12);
    CHECK_U64(o.last_branch_size, 100);
    o = parse(PD_ITRACE_SCRIPT, "GL 5s1000000");
    CHECK(o.add_callchain && o.add_last_branch);
    CHECK_U64(o.callchain_size, 16);
    CHECK_U64(o.last_branch_size, 5);
    CHECK_U64(o.skip, 1000000);
    o = parse(PD_ITRACE_SCRIPT, "e-o-ld+a+e-b");
    CHECK(o.error_minus == (PD_ITRACE_FLAG('o') | PD_ITRACE_FLAG('l')) && !o.error_plus);
    CHECK(o.log_plus == (PD_ITRACE_FLAG('a') | PD_ITRACE_FLAG('e')));
    CHECK(o.log_minus == PD_ITRACE_FLAG('b') && o.log);
    CHECK(refused("k") && refused("g0") && refused("g1025") && refused("l2000") && refused("s"));
    o = parse(PD_ITRACE_SCRIPT, "e+ o - l b");
    CHECK(o.error_plus == PD_ITRACE_FLAG('o') && o.error_minus == PD_ITRACE_FLAG('l') &&
          o.branches);
    CHECK(refused("e,-o") && refused("b-o"));
    CHECK(refused("e-") && refused("e+A") && refused("e-1"));
}

static void check_config(void)
{
    struct pd_itrace_options o;
    pd_itrace_options_init(&o, PD_ITRACE_SCRIPT);
    CHECK_U64(o.max_loops, 100000);
    CHECK(pd_itrace_options_config(&o, "intel-pt.mispred-all", "on") && o.mispred_all);
    CHECK(pd_itrace_options_config(&o, "intel-pt.mispred-all", "0") && !o.mispred_all);
    CHECK(pd_itrace_options_config(&o, "intel-pt.mispred-all", NULL) && o.mispred_all);
    CHECK(!pd_itrace_options_config(&o, "intel-pt.mispred-all", "perhaps"));
    CHECK(pd_itrace_options_config(&o, "intel-pt.max-loops", "5") && o.max_loops == 5);
    CHECK(pd_itrace_options_config(&o, "intel-pt.max-loops", "0") && o.max_loops == 100000);
    CHECK(pd_itrace_options_config(&o, "intel-pt.cache-divisor", "8") && o.cache_divisor == 8);
    CHECK(pd_itrace_options_config(&o, "itrace.debug-log-buffer-size", "32k"));
    CHECK_U64(o.log_buffer_size, 32768);
    CHECK(!pd_itrace_options_config(&o, "itrace.debug-log-buffer-size", "much"));
    CHECK(pd_itrace_options_config(&o, "report.children", "x"));
    CHECK(pd_itrace_options_parse(&o, PD_ITRACE_SCRIPT, "i1us") && o.mispred_all);
}

/* A plain --itrace comes as "". */
static void check_take(void)
{
    static const char *const plain[] = { "" }, *const wrong[] = { "b", "k" };
    struct pd_itrace_options none, o;
    struct pd_context context;
    pd_context_init(&context);
    pd_itrace_options_init(&none, PD_ITRACE_SCRIPT);
    CHECK(!pd_itrace_options_take(&o, PD_ITRACE_SCRIPT, &context, NULL, plain, 1));
    CHECK(none.branches && o.branches && o.ptwrites == none.ptwrites && o.errors == none.errors);
    CHECK(pd_itrace_options_take(&o, PD_ITRACE_SCRIPT, &context, NULL, wrong, 2) ==
          PERFDATA_ERROR_ARGUMENT);
    CHECK_STR(context.message, "Bad Instruction Tracing options 'k'");
    pd_context_fini(&context);
}

int main(void)
{
    check_defaults();
    check_periods();
    check_letters();
    check_config();
    check_take();
    return test_done();
}
