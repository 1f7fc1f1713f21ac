/* SPDX-License-Identifier: MIT */
/* Intel PT: the modes, privileges, kernels and virtual machines that its manual speaks of. */
#include "fake_pt.h"
#include <sys/stat.h>

enum { IDENTITY = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER };

static void begin(perfdata_recorder *recorder)
{
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    CHECK_STR(perfdata_recorder_error(recorder), "");
}

/* perf record -vv -e intel_pt//u uname: three events on each CPU, as the manual prints them. */
static void test_verbose(void)
{
    static const char *const lines[] = {
        "mmap size 528384B\n",
        "AUX area mmap length 4194304\n",
        "Synthesizing auxtrace information\n",
        "perf_event_attr:\n  type                             8\n",
        "  config                           0x300e601\n  { sample_period, sample_freq }   1\n"
        "  sample_type                      IP|TID|TIME|CPU|IDENTIFIER\n",
        "  exclude_kernel                   1\n  exclude_hv                       1\n"
        "  enable_on_exec                   1\n",
    };
    perfdata_recorder *recorder = open_recorder(
        "intel_pt//u", (struct perfdata_recorder_options){ .command = command });
    fake.listens = 2;
    begin(recorder);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(fake.told, lines[i]))
            CHECK_STR(fake.told, lines[i]);
    perfdata_recorder_close(recorder);
}

/* "The config value explicitly": without pass-through, which then is forced. */
static void test_explicit(void)
{
    perfdata_recorder *recorder = open_recorder(
        "intel_pt/config=0x400/", (struct perfdata_recorder_options){ .command = command });
    begin(recorder);
    CHECK_U64(fake.attrs[0].config, 0x401);
    CHECK_STR(fake.told, "Warning:\npt=0 doesn't make sense, forcing pt=1\n");
    perfdata_recorder_close(recorder);
}

/* ---- sizes and modes ---- */

static void test_modes(void)
{
    static const struct {
        struct perfdata_recorder_options options;
        size_t calls, trace_pages;
        int cpu;
        uint64_t switches;
        bool inherit, on_exec;
    } rows[] = {
        { { .command = command }, 6, 1024, 0, 3, true, true },
        { { .command = command, .flags = PERFDATA_RECORDER_PER_THREAD },
          2,
          1024,
          -1,
          0,
          false,
          true },
        { { .tids = "1", .flags = PERFDATA_RECORDER_PER_THREAD }, 2, 1024, -1, 0, false, false },
        { { .pids = "1" }, 6, 1024, 0, 3, true, false },
        { { .cpus = "1" }, 2, 1024, 1, 3, true, false },
        { { .flags = PERFDATA_RECORDER_ALL_CPUS, .aux_pages = 16384 },
          4,
          16384,
          0,
          3,
          true,
          false },
        { { .command = command, .aux_pages = 16 }, 6, 16, 0, 3, true, true },
        { { .command = command, .pages = 64, .aux_pages = 2 }, 6, 2, 0, 3, true, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perfdata_recorder *recorder = open_recorder("intel_pt//u", rows[i].options);
        begin(recorder);
        CHECK_U64(fake.calls, rows[i].calls);
        CHECK_U64(fake.aux_size, rows[i].trace_pages * PAGE);
        CHECK_U64(fake.ring_size, (rows[i].options.pages ? rows[i].options.pages : 128) * PAGE);
        CHECK_U64(fake.attrs[0].aux_watermark, rows[i].trace_pages * PAGE / 4);
        CHECK(fake.cpus[0] == rows[i].cpu && fake.attrs[0].inherit == rows[i].inherit &&
              fake.attrs[0].enable_on_exec == rows[i].on_exec);
        CHECK_U64(recorder->switches, rows[i].switches);
        CHECK_STR(fake.told, "");
        perfdata_recorder_close(recorder);
    }
}

/* "Privileged vs non-privileged users" */
static void test_privileges(void)
{
    static const struct {
        const char *paranoid;
        struct perfdata_recorder_options options;
        size_t trace, data;
        uint64_t switches;
    } rows[] = {
        { "-1", { .command = command }, 4 << 20, 512 << 10, 3 },
        { "0", { .command = command }, 128 << 10, 256 << 10, 3 },
        { "2", { .command = command }, 128 << 10, 256 << 10, 2 },
        { "2", { .command = command, .pages = 32 }, 128 << 10, 128 << 10, 2 },
        { "2", { .command = command, .aux_pages = 16 }, 64 << 10, 512 << 10, 2 },
        { "2", { .command = command, .snapshot = 1 }, 128 << 10, 256 << 10, 2 },
    };
    if (!geteuid() && seteuid(65534) < 0)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        put("proc/sys/kernel/perf_event_paranoid", rows[i].paranoid);
        perfdata_recorder *recorder = open_recorder("intel_pt//u", rows[i].options);
        begin(recorder);
        CHECK_U64(fake.aux_size, rows[i].trace);
        CHECK_U64(fake.ring_size, rows[i].data);
        CHECK_U64(recorder->switches, rows[i].switches);
        size_t last = fake.calls - 1;
        CHECK(fake.attrs[last].mmap && fake.attrs[last].context_switch == (rows[i].switches == 2));
        perfdata_recorder_close(recorder);
    }
    CHECK(seteuid(getuid()) == 0);
    put("proc/sys/kernel/perf_event_paranoid", "-1");
}

/* ---- context switches ---- */

/* "The sched_switch events are automatically added": where the kernel has no records of
 * switches. */
static void test_old_kernel(void)
{
    static const struct {
        const char *events;
        struct perfdata_recorder_options options;
        size_t calls;
        uint64_t switches;
        const char *told;
    } rows[] = {
        { "intel_pt//u", { .command = command }, 6, 1, "" },
        { "intel_pt//", { .flags = PERFDATA_RECORDER_ALL_CPUS }, 6, 1, "" },
        { "intel_pt//u", { .command = command, .flags = PERFDATA_RECORDER_PER_THREAD }, 2, 0, "" },
        { "intel_pt/tsc=0/u", { .command = command }, 4, 0, "" },
        { "intel_pt//u",
          { .flags = PERFDATA_RECORDER_ALL_CPUS, .no_switches = 1 },
          4,
          0,
          "Warning:\nIntel Processor Trace decoding will not be possible except for kernel "
          "tracing!\n" },
        { "intel_pt//k", { .flags = PERFDATA_RECORDER_ALL_CPUS, .no_switches = 1 }, 4, 0, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perfdata_recorder *recorder = open_recorder(rows[i].events, rows[i].options);
        fake.no_switches = true;
        begin(recorder);
        CHECK_U64(fake.calls, rows[i].calls);
        CHECK_U64(recorder->switches, rows[i].switches);
        CHECK_STR(fake.told, rows[i].told);
        for (size_t k = 0; k < fake.calls; k++)
            CHECK(!fake.attrs[k].context_switch);
        if (rows[i].switches) {
            const struct perf_event_attr *tracepoint = &fake.attrs[2];
            CHECK(tracepoint->type == PERF_TYPE_TRACEPOINT && tracepoint->config == 264);
            CHECK(tracepoint->sample_period == 1 && !tracepoint->freq && !tracepoint->disabled &&
                  !tracepoint->enable_on_exec && tracepoint->inherit && tracepoint->exclude_guest &&
                  !tracepoint->exclude_kernel && !tracepoint->mmap);
            CHECK_U64(tracepoint->sample_type,
                      IDENTITY | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW);
            CHECK(fake.pids[2] == -1 && fake.cpus[2] == 0 && fake.cpus[3] == 1);
        }
        perfdata_recorder_close(recorder);
    }
}

/* ... and may not be used. */
static void test_no_tracepoint(void)
{
    char path[200], other[200];
    snprintf(path, sizeof path, "%s/sys/kernel/tracing", root);
    snprintf(other, sizeof other, "%s/sys/kernel/gone", root);
    CHECK(rename(path, other) == 0);
    perfdata_recorder *recorder = open_recorder(
        "intel_pt//", (struct perfdata_recorder_options){ .flags = PERFDATA_RECORDER_ALL_CPUS });
    fake.no_switches = true;
    begin(recorder);
    CHECK_U64(fake.calls, 4);
    CHECK_U64(recorder->switches, 0);
    CHECK(strstr(fake.told, "decoding will not be possible except for kernel tracing!") != NULL);
    perfdata_recorder_close(recorder);
    CHECK(rename(other, path) == 0);
}

/* ---- virtual machines ---- */

static void test_guests(void)
{
    const struct perfdata_recorder_options both = {
        .pids = "1", .machines = PERFDATA_MACHINES_HOST | PERFDATA_MACHINES_GUESTS
    };
    struct perfdata_recorder_options threads = both;
    threads.flags = PERFDATA_RECORDER_PER_THREAD;
    /* perf kvm --guest --host record -e intel_pt/tsc=0,mtc=0,cyc=1/k -p 1430 --per-thread */
    perfdata_recorder *recorder = open_recorder("intel_pt/tsc=0,mtc=0,cyc=1/k", threads);
    begin(recorder);
    CHECK_U64(fake.calls, 2);
    CHECK_U64(fake.attrs[0].config, 0x300e003);
    CHECK(fake.attrs[0].exclude_user && !fake.attrs[0].exclude_kernel &&
          !fake.attrs[0].exclude_guest && !fake.attrs[0].exclude_host);
    CHECK(fake.cpus[0] == -1 && fake.attrs[1].mmap && fake.attrs[1].text_poke);
    perfdata_recorder_close(recorder);
    /* perf kvm --guest --host record -e intel_pt/cyc=1/k -p 16998 */
    recorder = open_recorder("intel_pt/cyc=1/k", both);
    begin(recorder);
    CHECK_U64(fake.calls, 6);
    CHECK_U64(fake.attrs[0].config, 0x300e603);
    CHECK(!fake.attrs[0].exclude_guest && fake.attrs[2].context_switch);
    perfdata_recorder_close(recorder);
    /* perf record -m,64M -a -e intel_pt/cyc/ */
    recorder = open_recorder(
        "intel_pt/cyc/", (struct perfdata_recorder_options){ .flags = PERFDATA_RECORDER_ALL_CPUS,
                                                             .aux_pages = 16384 });
    begin(recorder);
    CHECK_U64(fake.aux_size, 64 << 20);
    CHECK(!fake.attrs[0].exclude_guest);
    perfdata_recorder_close(recorder);
    /* a hypervisor that lets guests trace themselves */
    put("sys/module/kvm_intel/parameters/pt_mode", "1");
    recorder = open_recorder("intel_pt/cyc=1/k", both);
    begin(recorder);
    CHECK(fake.attrs[0].exclude_guest);
    perfdata_recorder_close(recorder);
    put("sys/module/kvm_intel/parameters/pt_mode", "0");
}

int main(void)
{
    char text[100];
    static const char *const formats[] = { "header_page", "header_event",
                                           "events/sched/sched_switch/format" };
    make_root();
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char path[100];
        snprintf(path, sizeof path, "sys/kernel/tracing/%s%s", i < 2 ? "events/" : "", formats[i]);
        put(path, "format");
    }
    put("sys/kernel/tracing/events/sched/sched_switch/id", "264");
    put("proc/1/task/1/comm", "one");
    snprintf(text, sizeof text, "chmod -R a+rwX '%s'", root);
    CHECK(system(text) == 0);
    test_verbose();
    test_explicit();
    test_modes();
    test_privileges();
    test_old_kernel();
    test_no_tracepoint();
    test_guests();
    remove_root();
    return test_done();
}
