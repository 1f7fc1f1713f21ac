/* SPDX-License-Identifier: MIT */
/* Proves: report's options parse as perf's: prefixes of keys, what stands in which column, the
 * words of -g. */
#include "test.h"
#include "render/report/plan.h"

static struct pd_recording recording;
static struct pd_event event;
static struct pd_event *events[] = { &event };

/* The titles of the columns, or "!" and the status when it does not parse. */
static const char *columns(struct perfdata_report_options options, uint64_t sample_type)
{
    static char text[512];
    struct pd_report_plan plan;
    int32_t perf_exit;
    recording.events = events;
    recording.event_count = 1;
    event.attr.sample_type = sample_type;
    perfdata_status status = pd_report_plan_make(&recording.context, &options, &plan);
    if (status == 0)
        status = pd_report_plan_fit(&recording, &plan, &perf_exit);
    snprintf(text, sizeof text, "!%d", status);
    if (status == 0)
        text[0] = 0;
    for (size_t i = 0; status == 0 && i < plan.layout.column_count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s%s", i ? "|" : "",
                 plan.layout.columns[i].title, plan.layout.columns[i].elided ? "-" : "");
    pd_report_plan_free(&plan);
    return text;
}

/* Style, threshold, limit, order, value of -g. */
static const char *chains(const char *words)
{
    static char text[128];
    struct perfdata_report_options options = { .struct_size = sizeof options, .call_graph = words };
    struct pd_report_plan plan;
    perfdata_status status = pd_report_plan_make(&recording.context, &options, &plan);
    snprintf(text, sizeof text, "%d:%d,%.2f,%u,%d,%d", status, (int)plan.chains.mode,
             plan.chains.percent, plan.chains.print_limit, plan.hist.caller_order,
             (int)plan.chains.value);
    pd_report_plan_free(&plan);
    return status ? "!" : text;
}

#define OPTIONS(...)                                                                               \
    (struct perfdata_report_options)                                                               \
    {                                                                                              \
        .struct_size = sizeof(struct perfdata_report_options), __VA_ARGS__                         \
    }

int main(void)
{
    pd_context_init(&recording.context);
    CHECK_STR(columns(OPTIONS(0), 0), "Overhead|Command|Shared Object|Symbol");
    CHECK_STR(columns(OPTIONS(0), PD_SAMPLE_CALLCHAIN),
              "Children|Self|Command|Shared Object|Symbol");
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_NO_CHILDREN | PERFDATA_REPORT_SAMPLES),
                      PD_SAMPLE_CALLCHAIN),
              "Overhead|Samples|Command|Shared Object|Symbol");
    /* The history of branches: rows of samples, by line, with or without chains. */
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_BRANCH_HISTORY), 0), "!-46");
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_BRANCH_HISTORY), PD_SAMPLE_CALLCHAIN),
              "Children|Self|Source:Line|Symbol|Shared Object|IPC   [IPC Coverage]");
    CHECK_STR(
        columns(OPTIONS(.flags = PERFDATA_REPORT_BRANCH_HISTORY | PERFDATA_REPORT_BRANCH_STACK,
                        .sort = "+cpu"),
                PD_SAMPLE_CALLCHAIN | PD_SAMPLE_BRANCH_STACK),
        "Children|Self|Command|Shared Object|Symbol|CPU");
    CHECK_STR(columns(OPTIONS(.sort = "SYM,d,c"), 0), "Overhead|Symbol|Shared Object|Command");
    CHECK_STR(columns(OPTIONS(.sort = "+cpu"), 0), "Overhead|Command|Shared Object|Symbol|CPU");
    CHECK_STR(columns(OPTIONS(.sort = "symbol"), 0), "Overhead|Symbol|IPC   [IPC Coverage]");
    CHECK_STR(columns(OPTIONS(.sort = "tid"), 0), "!-1");
    CHECK_STR(columns(OPTIONS(.sort = "+"), 0), "!-1");
    CHECK_STR(columns(OPTIONS(.sort = "srcline,srcf"), 0), "Overhead|Source:Line|Source File");
    CHECK_STR(columns(OPTIONS(.sort = "parent"), 0), "!-46");
    /* Keys of branches and memory accesses: unknown to other reports, and nothing without such
     * data. */
    CHECK_STR(columns(OPTIONS(.sort = "symbol_from"), 0), "!-1");
    CHECK_STR(columns(OPTIONS(.sort = "mem"), PD_SAMPLE_DATA_SRC), "!-1");
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_BRANCH_STACK), 0), "!-46");
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_BRANCH_STACK, .sort = "symbol_to"), 0),
              "!-46");
    CHECK_STR(
        columns(OPTIONS(.flags = PERFDATA_REPORT_BRANCH_STACK), PD_SAMPLE_BRANCH_STACK),
        "Overhead|Command|Source Shared Object|Source Symbol|Target Symbol|Basic Block Cycles");
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_BRANCH_STACK, .sort = "symbol_to,ab"),
                      PD_SAMPLE_BRANCH_STACK),
              "Overhead|Target Symbol|Transaction abort|IPC   [IPC Coverage]");
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_NO_BRANCH_STACK, .sort = "cpu"),
                      PD_SAMPLE_BRANCH_STACK),
              "Overhead|CPU");
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_MEM_MODE), 0), "!-46");
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_MEM_MODE), PD_SAMPLE_DATA_SRC),
              "Overhead|Local Weight|Memory access|Symbol|Shared Object|Data Symbol|Data Object|"
              "Snoop|TLB access|Locked|Blocked|Local INSTR Latency");
    /* perf leaves out the keys of POWER, but for parts of their names. */
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_MEM_MODE, .sort = "p_stage_cyc,local_p"),
                      PD_SAMPLE_DATA_SRC),
              "Overhead|Local Pipeline Stage Cycle");
    CHECK_STR(columns(OPTIONS(.flags = PERFDATA_REPORT_MEM_MODE, .sort = "symbol_from"),
                      PD_SAMPLE_DATA_SRC),
              "!-1");
    CHECK_STR(columns(OPTIONS(.fields = "comm,overhead,sample"), 0), "Command|Overhead|Samples");
    CHECK_STR(columns(OPTIONS(.fields = "period", .sort = "dso"), 0), "Period|Shared Object");
    CHECK_STR(columns(OPTIONS(.fields = "+period"), 0),
              "Overhead|Period|Command|Shared Object|Symbol");
    CHECK_STR(columns(OPTIONS(.comms = "a"), 0), "Overhead|Command-|Shared Object|Symbol");
    CHECK_STR(columns(OPTIONS(.comms = "a,b"), 0), "Overhead|Command|Shared Object|Symbol");
    CHECK_STR(columns(OPTIONS(.comms = "a", .sort = "comm"), 0), "Overhead|Command");
    CHECK_STR(columns(OPTIONS(.parent = "x("), 0), "!-1");
    CHECK_STR(columns(OPTIONS(.call_graph = "graph"), 0), "!-46");

    CHECK_STR(chains(NULL), "0:2,0.50,0,0,0");
    CHECK_STR(chains("none"), "0:0,0.50,0,0,0");
    CHECK_STR(chains("fractal,5,3,caller,count"), "0:3,5.00,3,1,2");
    CHECK_STR(chains("fo,0,callee,pe"), "0:4,0.00,0,0,0");
    CHECK_STR(chains("2.5,flat,period"), "0:1,2.50,0,0,1");
    CHECK_STR(chains("bogus"), "!");
    CHECK_STR(chains("caller,srcline"), "0:2,0.50,0,1,0");
    pd_context_fini(&recording.context);
    return test_done();
}
