/* SPDX-License-Identifier: MIT */
/* perf's -e, under a sysfs of the test's own: attributes, names and messages are those that perf
 * 6.1 gave. */
#include "record/events/events.h"
#include "make_root.h"
#include <unistd.h>

static char root[] = "/tmp/perfdata-events-XXXXXX";

static void put(const char *path, const char *text)
{
    root_put(root, path, text);
}

#define PMU "sys/bus/event_source/devices/"

static void make_root(void)
{
    static const char *const formats[][2] = {
        { "pt", "config:0" },
        { "cyc", "config:1" },
        { "tsc", "config:10" },
        { "mtc", "config:9" },
        { "branch", "config:13" },
        { "mtc_period", "config:14-17" },
        { "cyc_thresh", "config:19-22" },
        { "psb_period", "config:24-27" },
        { "noretcomp", "config:11" },
    };
    static const char *const caps[][2] = { { "mtc", "1" },
                                           { "mtc_periods", "249" },
                                           { "psb_cyc", "1" },
                                           { "psb_periods", "3f" },
                                           { "cycle_thresholds", "3fff" } };
    CHECK(mkdtemp(root) != NULL);
    put("sys/kernel/tracing/events/sched/sched_switch/id", "372");
    put("sys/kernel/tracing/events/sched/sched_wakeup/id", "374");
    put(PMU "cpu/type", "4");
    put(PMU "cpu/format/event", "config:0-7,32-35");
    put(PMU "cpu/format/umask", "config:8-15");
    put(PMU "cpu/format/ldlat", "config1:0-15");
    put(PMU "cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3");
    put(PMU "cpu/events/loop", "loop");
    put(PMU "power/type", "17");
    put(PMU "power/format/event", "config:0-7");
    put(PMU "power/cpumask", "0");
    put(PMU "power/events/energy-pkg", "event=0x02");
    put(PMU "power/events/energy-pkg.unit", "Joules");
    put(PMU "power/events/energy-pkg.scale", "2.5e-10");
    put(PMU "intel_pt/type", "8");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char path[200];
        snprintf(path, sizeof path, PMU "intel_pt/format/%s", formats[i][0]);
        put(path, formats[i][1]);
    }
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++) {
        char path[200];
        snprintf(path, sizeof path, PMU "intel_pt/caps/%s", caps[i][0]);
        put(path, caps[i][1]);
    }
}

static struct pd_context context;
static struct pd_roots roots = { root };

static struct pd_events parsed(const char *text)
{
    struct pd_events events = { 0 };
    perfdata_status status = pd_events_parse(&context, &roots, text, &events);
    if (status < 0)
        fprintf(stderr, "%s: %s\n", text, context.message);
    CHECK(status == PERFDATA_OK);
    return events;
}

static void test_kinds(void)
{
    static const struct {
        const char *text, *name;
        uint32_t type;
        uint64_t config, flags, period, config1, config2;
    } rows[] = {
#define GUEST (UINT64_C(1) << PD_ATTR_EXCLUDE_GUEST)
#define KERNEL (UINT64_C(1) << PD_ATTR_EXCLUDE_KERNEL)
#define USER (UINT64_C(1) << PD_ATTR_EXCLUDE_USER)
#define HV (UINT64_C(1) << PD_ATTR_EXCLUDE_HV)
#define HOST (UINT64_C(1) << PD_ATTR_EXCLUDE_HOST)
#define PRECISE(n) ((uint64_t)(n) << PD_ATTR_PRECISE_IP)
        { "cycles", NULL, 0, 0, GUEST, 0, 0, 0 },
        { "cs", NULL, 1, 3, GUEST, 0, 0, 0 },
        { "faults:u", NULL, 1, 2, GUEST | KERNEL | HV, 0, 0, 0 },
        { "task-clock:k", NULL, 1, 1, USER | HV, 0, 0, 0 },
        { "cpu-clock:uk", NULL, 1, 0, HV | GUEST, 0, 0, 0 },
        { "cpu-clock:G", NULL, 1, 0, HOST, 0, 0, 0 },
        { "cpu-clock:GH", NULL, 1, 0, 0, 0, 0, 0 },
        { "cpu-clock:h", NULL, 1, 0, USER | KERNEL, 0, 0, 0 },
        { "cpu-clock:ppp", NULL, 1, 0, GUEST | PRECISE(3), 0, 0, 0 },
        { "cpu-clock:D", NULL, 1, 0, UINT64_C(1) << PD_ATTR_PINNED, 0, 0, 0 },
        { "cpu-clock:e", NULL, 1, 0, UINT64_C(1) << PD_ATTR_EXCLUSIVE, 0, 0, 0 },
        { "cpu-clock/name=x,period=10/u", "x", 1, 0, GUEST | KERNEL | HV, 0, 0, 0 },
        { "1:2:u", NULL, 1, 2, GUEST | KERNEL | HV, 0, 0, 0 },
        { "r1a8", NULL, 4, 0x1a8, GUEST, 0, 0, 0 },
        { "L1-dcache-load-misses", NULL, 3, 0x10000, GUEST, 0, 0, 0 },
        { "LLC-load", NULL, 3, 2, GUEST, 0, 0, 0 },
        { "node-prefetches", NULL, 3, 0x206, GUEST, 0, 0, 0 },
        { "branch-load-misses", NULL, 3, 0x10005, GUEST, 0, 0, 0 },
        { "mem:0x1000", NULL, 5, 0, GUEST, 1, 0x1000, 4 },
        { "mem:0x1000/8:w", "mem:0x1000", 5, 0, GUEST, 1, 0x1000, 8 },
        { "mem:0x1000:x", NULL, 5, 0, GUEST, 1, 0x1000, 8 },
        { "sched:sched_switch", NULL, 2, 372, GUEST, 1, 0, 0 },
        { "sched:*_switch", "sched:sched_switch", 2, 372, GUEST, 1, 0, 0 },
        { "sched:sched_switch/call-graph=fp/", "sched:sched_switch", 2, 372, GUEST, 1, 0, 0 },
        { "bpf-output", NULL, 1, 10, GUEST, 1, 0, 0 },
        { "cpu/event=0x3c,umask=0x2/", NULL, 4, 0x23c, GUEST, 0, 0, 0 },
        { "cpu/event=0xf12,config1=7/", NULL, 4, 0xf00000012, GUEST, 0, 7, 0 },
        { "cpu/mem-loads,ldlat=30/u", NULL, 4, 0x1cd, GUEST | KERNEL | HV, 0, 30, 0 },
        { "mem-loads", NULL, 4, 0x1cd, GUEST, 0, 3, 0 },
        { "power/energy-pkg/", NULL, 17, 2, GUEST, 0, 0, 0 },
        { "intel_pt//", NULL, 8, 0x300e601, GUEST, 0, 0, 0 },
        { "intel_pt/cyc,mtc_period=9,psb_period=0/u", NULL, 8, 0x26603, GUEST | KERNEL | HV, 0, 0,
          0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct pd_events events = parsed(rows[i].text);
        CHECK_U64(events.list.count, 1);
        if (events.list.count == 1) {
            const struct pd_attr *attr = &events.list.data[0].attr;
            CHECK_STR(events.list.data[0].name, rows[i].name ? rows[i].name : rows[i].text);
            CHECK_U64(attr->type, rows[i].type);
            CHECK_U64(attr->config, rows[i].config);
            CHECK_U64(attr->flags, rows[i].flags);
            CHECK_U64(attr->sample_period, rows[i].period);
            CHECK_U64(attr->bp_addr, rows[i].config1);
            CHECK_U64(attr->bp_len, rows[i].config2);
        }
        pd_events_free(&events);
    }
}

static void test_lists(void)
{
    struct pd_events events = parsed("g1{cpu-clock:k,task-clock}:uS, cs ,{faults,cs}");
    CHECK_U64(events.list.count, 5);
    const struct pd_selected *list = events.list.data;
    CHECK_STR(list[0].group_name, "g1");
    CHECK_U64(list[0].members, 2);
    CHECK_U64(list[1].leader, 0);
    CHECK(list[0].sample_read && list[1].sample_read && !list[2].sample_read);
    CHECK_U64(list[0].attr.flags, HV | GUEST);
    CHECK_U64(list[1].attr.flags, KERNEL | HV | GUEST);
    CHECK_STR(list[2].name, " cs ");
    CHECK_U64(list[4].leader, 3);
    CHECK(list[3].group_name == NULL);
    pd_events_free(&events);
    events = parsed(
        "sched:sched_*,cpu-clock/freq=7,call-graph=dwarf,stack-size=512,time=0,no-inherit/");
    CHECK_U64(events.list.count, 3);
    CHECK_STR(events.list.data[2].terms.text[PD_TERM_CALL_GRAPH], "dwarf");
    CHECK_U64(events.list.data[2].terms.number[PD_TERM_FREQ], 7);
    CHECK_U64(events.list.data[2].terms.number[PD_TERM_NO_INHERIT], 1);
    CHECK(pd_term_said(&events.list.data[2].terms, PD_TERM_TIME));
    CHECK(!pd_term_said(&events.list.data[2].terms, PD_TERM_PERIOD));
    pd_events_free(&events);
    events = parsed("power/energy-pkg/");
    CHECK_STR(events.list.data[0].unit, "Joules");
    CHECK_STR(events.list.data[0].cpus, "0");
    pd_events_free(&events);
}

static void test_errors(void)
{
    static const char *const rows[][2] = {
        { "nosuch", "event syntax error: 'nosuch'\n                     \\___ parser error" },
        { "cpu-clock:z",
          "event syntax error: 'cpu-clock:z'\n                              \\___ parser error" },
        { "cpu-clock:kk",
          "event syntax error: 'cpu-clock:kk'\n                               \\___ Bad modifier" },
        { "cpu-clock:ppppp", "event syntax error: 'cpu-clock:ppppp'\n                              "
                             " \\___ Bad modifier" },
        { "nopmu/config=1/", "event syntax error: 'nopmu/config=1/'\n                     \\___ "
                             "Cannot find PMU `nopmu'. Missing kernel support?" },
        { "cpu-clock/period=1k/", "event syntax error: '..ock/period=1k/'\n                        "
                                  "          \\___ parser error" },
        { "cpu-clock/period=/", "event syntax error: '..lock/period=/'\n                           "
                                "       \\___ parser error" },
        { "context-switches OR cs", "event syntax error: '..xt-switches OR cs'\n                   "
                                    "               \\___ parser error" },
        { "cpu-clock/foo=1/", "event syntax error: 'cpu-clock/foo=1/'\n                            "
                              "   \\___ unknown term\n\nvalid terms: "
                              "config,config1,config2,name,period,freq,branch_type,time,call-graph,"
                              "stack-size,no-inherit,inherit,"
                              "max-stack,nr,no-overwrite,overwrite,driver-config,percore,aux-"
                              "output,aux-sample-size,metric-id" },
        { "sched:nosuch",
          "event syntax error: 'sched:nosuch'\n                     \\___ unknown "
          "tracepoint\n\nError:\t"
          "File /sys/kernel/tracing/events/sched/nosuch not found.\n"
          "Hint:\tPerhaps this kernel misses some CONFIG_ setting to enable this feature?.\n" },
        { "intel_pt/cyc_thresh=15/", "Invalid cyc_thresh for intel_pt. Valid values are: 0-13" },
        { "intel_pt/mtc_period=5/", "Invalid mtc_period for intel_pt. Valid values are: 0,3,6,9" },
        { "intel_pt/psb_period=7/", "Invalid psb_period for intel_pt. Valid values are: 0-5" },
    };
    static const char *const bad[] = { "",
                                       ",",
                                       "cpu-clock,",
                                       "{",
                                       "{cpu-clock",
                                       "cpu-clock}",
                                       "{}",
                                       "mem:",
                                       "mem:0x:r",
                                       "mem:1:rr",
                                       "cpu/",
                                       "cpu/event=/",
                                       "cpu/event=0xfffff/",
                                       "loop",
                                       "1:",
                                       ":u",
                                       "*:*:*",
                                       "sched:",
                                       "..:..",
                                       "sched:../x",
                                       "cpu/loop/",
                                       "cpu-clock/driver-config=1/",
                                       "cpu-clock/@sink/",
                                       "cpu/@sink/",
                                       "a{b{c}}" };
    struct pd_events events = { 0 };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CHECK(pd_events_parse(&context, &roots, rows[i][0], &events) == PERFDATA_ERROR_ARGUMENT);
        CHECK_STR(context.message, rows[i][1]);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        perfdata_status status = pd_events_parse(&context, &roots, bad[i], &events);
        if (status != PERFDATA_ERROR_ARGUMENT)
            fprintf(stderr, "'%s' passed\n", bad[i]);
        CHECK(status == PERFDATA_ERROR_ARGUMENT);
    }
    CHECK_U64(events.list.count, 0);
    pd_events_free(&events);
}

static void test_too_many(void)
{
    enum { COUNT = (1 << 16) + 1 };
    struct pd_events events = { 0 };
    char *text = malloc(COUNT * 3);
    CHECK(text != NULL);
    for (size_t i = 0; text && i < COUNT; i++)
        memcpy(text + 3 * i, "cs,", 3);
    if (text) {
        text[3 * COUNT - 1] = 0;
        CHECK(pd_events_parse(&context, &roots, text, &events) == PERFDATA_ERROR_ARGUMENT);
        CHECK(strstr(context.message, "more than 65536 events") != NULL);
        CHECK_U64(events.list.count, 0);
        text[3 * COUNT - 4] = 0;
        CHECK(pd_events_parse(&context, &roots, text, &events) == PERFDATA_OK);
        CHECK_U64(events.list.count, COUNT - 1);
    }
    pd_events_free(&events);
    free(text);
}

int main(void)
{
    char command[100];
    pd_context_init(&context);
    make_root();
    test_kinds();
    test_lists();
    test_errors();
    test_too_many();
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    CHECK(system(command) == 0);
    pd_context_fini(&context);
    return test_done();
}
