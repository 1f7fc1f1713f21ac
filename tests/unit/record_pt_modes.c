/* SPDX-License-Identifier: MIT */
/* Intel PT as its manual shows it: each example, each wrong value, samples that carry the trace,
 * snapshots. */
#include "fake_pt.h"
#include <perfdata/records.h>
#include <perfdata/recording.h>

/* ---- config terms ---- */

static void test_terms(void)
{
    static const struct {
        const char *event;
        uint64_t config;
        const char *told;
    } rows[] = {
        { "intel_pt//u", 0x300e601, "" },
        { "intel_pt/tsc,noretcomp=0/", 0x300e601, "" },
        { "intel_pt/tsc=0/", 0x300e201, "" },
        { "intel_pt/noretcomp/", 0x300ee01, "" },
        { "intel_pt/psb_period=5/", 0x500e601, "" },
        { "intel_pt/mtc=0/", 0x300e401, "" },
        { "intel_pt/mtc_period=9/", 0x3026601, "" },
        { "intel_pt/cyc/", 0x300e603, "" },
        { "intel_pt/cyc,cyc_thresh=12/u", 0x360e603, "" },
        { "intel_pt/branch=0/", 0x300c601, "" },
        { "intel_pt/ptw,fup_on_ptw/", 0x300f621, "" },
        { "intel_pt/pwr_evt/", 0x300e611, "" },
        { "intel_pt/event/u", 0x8300e601, "" },
        { "intel_pt/notnt/u", 0x8000000300e601, "" },
        { "intel_pt/tsc=0,mtc=0,cyc=1/k", 0x300e003, "" },
        { "intel_pt/pt=0/", 0x300e601, "Warning:\npt=0 doesn't make sense, forcing pt=1\n" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perfdata_recorder *recorder = open_recorder(
            rows[i].event, (struct perfdata_recorder_options){ .command = command });
        CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
        CHECK_U64(fake.attrs[0].config, rows[i].config);
        CHECK_U64(fake.attrs[0].type, 8);
        CHECK_STR(fake.told, rows[i].told);
        perfdata_recorder_close(recorder);
    }
}

static void check_wrong_event(const char *event, const char *message)
{
    perfdata_recorder *recorder = open_empty(
        (struct perfdata_recorder_options){ .command = command });
    CHECK(perfdata_recorder_add_events(recorder, event) == PERFDATA_ERROR_ARGUMENT);
    CHECK_STR(perfdata_recorder_error(recorder), message);
    perfdata_recorder_close(recorder);
}

static void test_wrong_terms(void)
{
    static const char *const rows[][2] = {
        { "intel_pt/psb_period=15/u", "Invalid psb_period for intel_pt. Valid values are: 0-5" },
        { "intel_pt/psb_period=6/u", "Invalid psb_period for intel_pt. Valid values are: 0-5" },
        { "intel_pt/mtc_period=15/u",
          "Invalid mtc_period for intel_pt. Valid values are: 0,3,6,9" },
        { "intel_pt/mtc_period=1/u", "Invalid mtc_period for intel_pt. Valid values are: 0,3,6,9" },
        { "intel_pt/cyc,cyc_thresh=15/u",
          "Invalid cyc_thresh for intel_pt. Valid values are: 0-12" },
        { "intel_pt/cyc,cyc_thresh=13/u",
          "Invalid cyc_thresh for intel_pt. Valid values are: 0-12" },
        { "intel_pt/psb_period=16/u", "event syntax error: '..psb_period=16/u'\n                "
                                      "                  \\___ value "
                                      "too big for format, maximum is 15" },
        { "intel_pt/tsc=2/", "event syntax error: 'intel_pt/tsc=2/'\n                              "
                             "    \\___ value too "
                             "big for format, maximum is 1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_wrong_event(rows[i][0], rows[i][1]);
}

/* What the hardware does not have has but the value 0. */
static void test_old_hardware(void)
{
    put(PT "caps/psb_cyc", "0");
    put(PT "caps/mtc", "0");
    static const char *const rows[][2] = {
        { "intel_pt/psb_period=3/", "Invalid psb_period for intel_pt. Valid values are: 0" },
        { "intel_pt/mtc_period=3/", "Invalid mtc_period for intel_pt. Valid values are: 0" },
        { "intel_pt/cyc_thresh=1/", "Invalid cyc_thresh for intel_pt. Valid values are: 0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_wrong_event(rows[i][0], rows[i][1]);
    perfdata_recorder *recorder = open_recorder(
        "intel_pt//", (struct perfdata_recorder_options){ .command = command });
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    CHECK_U64(fake.attrs[0].config, 0x2401);
    perfdata_recorder_close(recorder);
    put(PT "caps/psb_cyc", "1");
    put(PT "caps/mtc", "1");
}

/* ---- samples that carry the trace ---- */

static void test_samples(void)
{
    static const struct {
        const char *events[2];
        uint32_t all, size; /* --aux-sample[=size] */
        uint32_t want;
        const char *told;
    } rows[] = {
        { { "{intel_pt//u,branch-misses:u}" }, 1, 0, 4096, "" },
        { { "{intel_pt//u,branch-misses:u}" }, 1, 8192, 8192, "" },
        { { "intel_pt//u", "branch-misses/aux-sample-size=8192/u" }, 0, 0, 8192, "" },
        { { "{intel_pt//u,branch-misses/aux-sample-size=8192/u}" }, 0, 0, 8192, "" },
        { { "intel_pt//u", "branch-misses:u" }, 1, 0, 4096, "" },
        { { "{intel_pt//u,branch-misses:u}" },
          1,
          2304,
          2304,
          "Warning:\nIntel PT sample size (2304) may be too small for PSB period (2048)\n" },
        { { "{intel_pt//u,branch-misses:u}" }, 1, 2305, 2305, "" },
        { { "{intel_pt//u,branch-misses:u}" }, 1, 61440, 61440, "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perfdata_recorder *recorder = open_empty((struct perfdata_recorder_options){
            .command = command, .aux_sample = rows[i].all, .aux_sample_size = rows[i].size });
        for (size_t k = 0; k < 2 && rows[i].events[k]; k++)
            CHECK(perfdata_recorder_add_events(recorder, rows[i].events[k]) == PERFDATA_OK);
        CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
        const struct perf_event_attr *pt = &fake.attrs[0], *misses = &fake.attrs[2];
        CHECK_U64(pt->config, 0xe601); /* the PSB period is the smallest */
        CHECK_U64(pt->aux_watermark, 0);
        CHECK_U64(pt->aux_sample_size, 0);
        CHECK(!(pt->sample_type & PERF_SAMPLE_AUX) && pt->disabled && pt->enable_on_exec);
        CHECK_U64(misses->type, PERF_TYPE_HARDWARE);
        CHECK_U64(misses->aux_sample_size, rows[i].want);
        CHECK(misses->sample_type & PERF_SAMPLE_AUX && !misses->disabled &&
              !misses->enable_on_exec && misses->freq);
        CHECK(fake.groups[2] == fake.fds[0] && fake.groups[3] == fake.fds[1] &&
              fake.groups[0] == -1);
        CHECK_U64((uint64_t)fake.aux_protection, PROT_READ);
        CHECK_STR(fake.told, rows[i].told);
        perfdata_recorder_close(recorder);
    }
}

static void test_wrong_samples(void)
{
    static const struct {
        const char *events;
        struct perfdata_recorder_options options;
        const char *message;
    } rows[] = {
        { "{intel_pt//u,branch-misses:u}",
          { .aux_sample = 1, .aux_sample_size = 61441 },
          "AUX area sample size 61441 too big, max. 61440" },
        { "intel_pt//u,branch-misses/aux-sample-size=100000/u",
          { 0 },
          "AUX area sample size 100000 too big, max. 61440" },
        { "{intel_pt//u,branch-misses:u}",
          { .aux_sample = 1, .snapshot = 1 },
          "Snapshot mode (intel_pt PMU) and sample trace cannot be used together" },
        { "branch-misses:u", { .aux_sample = 1 }, "No AUX area event to sample" },
        { "branch-misses:u", { .snapshot = 1 }, "No AUX area tracing to snapshot" },
        { "intel_pt/aux-sample-size=4096/u",
          { 0 },
          "intel_pt/aux-sample-size=4096/u: the event that traces cannot be sampled with the "
          "trace" },
        { "{cycles,branch-misses/aux-sample-size=8192/},intel_pt//",
          { 0 },
          "branch-misses/aux-sample-size=8192/: the leader of its group must be the event that "
          "traces" },
        { "{intel_pt//,cycles/aux-output/ppp,branch-misses/aux-output/}",
          { 0 },
          "intel_pt supports at most one event with aux-output" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_refused(rows[i].events, rows[i].options, rows[i].message);
}

/* PEBS via PT: explicitly in a group, or put there. */
static void test_output(void)
{
    static const char *const rows[] = { "{intel_pt/branch=0/,cycles/aux-output/ppp}",
                                        "cycles/aux-output/ppp,intel_pt/branch=0/" };
    for (size_t i = 0; i < 2; i++) {
        perfdata_recorder *recorder = open_recorder(
            rows[i], (struct perfdata_recorder_options){ .command = command, .period = 10000 });
        CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
        const struct perf_event_attr *pt = &fake.attrs[0], *cycles = &fake.attrs[2];
        CHECK_U64(pt->config, 0x300c601);
        CHECK(!pt->aux_output && cycles->aux_output && cycles->precise_ip == 3);
        CHECK_U64(cycles->sample_period, 10000);
        CHECK_U64((uint64_t)fake.aux_protection, PROT_READ | PROT_WRITE);
        CHECK_U64(pt->aux_watermark, 1 << 20);
        CHECK(fake.groups[2] == fake.fds[0]);
        perfdata_recorder_close(recorder);
    }
}

/* ---- snapshots ---- */

static void test_snapshot_sizes(void)
{
    static const struct {
        uint64_t size;
        uint32_t pages;
        uint64_t area; /* 0: refused */
        const char *text;
    } rows[] = {
        { 0, 0, 4 << 20, "" },
        { 0x100000, 0, 1 << 20, "" },
        { 5000, 0, 8192,
          "Warning:\nIntel PT snapshot size (5000) may be too small for PSB period (16384)\n" },
        { 0, 16, 1 << 16, "" },
        { 0, 1, 4096,
          "Warning:\nIntel PT snapshot size (4096) may be too small for PSB period (16384)\n" },
        { 0x20000, 16, 0,
          "Snapshot size 131072 must not be greater than AUX area tracing mmap size 65536" },
        { 0, 3, 0,
          "Invalid mmap size for Intel Processor Trace: must be at least 4KiB and a power of 2" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perfdata_recorder *recorder = open_recorder(
            "intel_pt//u", (struct perfdata_recorder_options){ .command = command,
                                                               .snapshot = 1,
                                                               .snapshot_size = rows[i].size,
                                                               .aux_pages = rows[i].pages });
        bool good = rows[i].area != 0;
        CHECK(perfdata_recorder_start(recorder) == (good ? PERFDATA_OK : PERFDATA_ERROR_ARGUMENT));
        CHECK_U64(fake.aux_size, rows[i].area);
        CHECK_STR(good ? fake.told : perfdata_recorder_error(recorder), rows[i].text);
        if (good) {
            CHECK_U64((uint64_t)fake.aux_protection, PROT_READ);
            CHECK_U64(fake.attrs[0].aux_watermark, 0);
        }
        perfdata_recorder_close(recorder);
    }
}

/* The trace so far: byte n of it is a function of n. */
static uint8_t trace_byte(uint64_t n)
{
    return (uint8_t)(1 + n % 251);
}

static void run_trace(uint64_t from, uint64_t to)
{
    struct perf_event_mmap_page *page = (void *)fake.ring;
    for (uint64_t n = from; n < to; n++)
        fake.aux[n & (fake.aux_size - 1)] = trace_byte(n);
    page->aux_head = to & (fake.aux_size - 1); /* as the driver has it */
}

/* What the recording has: pairs of first byte and length, which must hold the trace. */
static size_t read_snapshots(uint64_t spans[][2], size_t most)
{
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    size_t count = 0, size;
    FILE *file = fopen(output, "r");
    CHECK(perfdata_recording_open(output, NULL, &recording) == PERFDATA_OK);
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == PERFDATA_OK);
    while (file && perfdata_cursor_next(cursor, &record) > 0) {
        if (perfdata_record_type(record) != PD_RECORD_AUXTRACE || count == most)
            continue;
        const uint8_t *bytes = perfdata_record_bytes(record, &size);
        uint64_t length = pd_load64(bytes + 8, false), from = pd_load64(bytes + 16, false);
        CHECK(!fseek(file, (long)(perfdata_record_offset(record) + size), SEEK_SET));
        for (uint64_t n = from; n < from + length; n++)
            if ((uint8_t)fgetc(file) != trace_byte(n)) {
                CHECK_U64(n, UINT64_MAX);
                break;
            }
        spans[count][0] = from;
        spans[count++][1] = length;
    }
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    if (file)
        fclose(file);
    return count;
}

static void test_snapshots(void)
{
    enum { SIZE = 64 << 10, WHOLE = 256 << 10 };
    perfdata_recorder *recorder = open_recorder(
        "intel_pt/psb_period=0/u",
        (struct perfdata_recorder_options){ .pids = "1",
                                            .flags = PERFDATA_RECORDER_PER_THREAD,
                                            .tids = NULL,
                                            .snapshot = PERFDATA_SNAPSHOT_AT_END,
                                            .snapshot_size = SIZE,
                                            .aux_pages = WHOLE / PAGE });
    put("proc/1/task/1/comm", "one");
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    /* less than a snapshot; the new part; more than one; around once; around, to nearly the same
     * place; nothing new */
    static const uint64_t heads[] = {
        8000, 20000, 160000, 300000, 300000 + WHOLE + 64, 300000 + WHOLE + 64
    };
    static const uint64_t wanted[][2] = {
        { 0, 8000 },
        { 8000, 12000 },
        { 160000 - SIZE, SIZE },
        { 300000 - SIZE, SIZE },
        { 300000 + WHOLE + 64 - SIZE, SIZE },
        { 300000 + WHOLE + 64, 1000 },
    };
    uint64_t before = 0, spans[8][2];
    for (size_t i = 0; i < 6; i++) {
        run_trace(before, heads[i]);
        before = heads[i];
        fake.switched_off = 0;
        CHECK(perfdata_recorder_snapshot(recorder) == PERFDATA_OK);
        CHECK_U64(fake.switched_off, 1);
        CHECK(perfdata_recorder_read(recorder, 0) > 0);
    }
    run_trace(before, before + 1000);
    CHECK(finish(recorder) == PERFDATA_OK);
    perfdata_recorder_close(recorder);
    CHECK_U64(read_snapshots(spans, 8), 6);
    for (size_t i = 0; i < 6; i++) {
        CHECK_U64(spans[i][0], wanted[i][0]);
        CHECK_U64(spans[i][1], wanted[i][1]);
    }
}

/* The first snapshot of an area that is full already. */
static void test_full_snapshot(void)
{
    enum { WHOLE = 64 << 10, END = WHOLE + 8000 };
    uint64_t spans[2][2];
    perfdata_recorder *recorder = open_recorder(
        "intel_pt//u", (struct perfdata_recorder_options){ .pids = "1",
                                                           .flags = PERFDATA_RECORDER_PER_THREAD,
                                                           .snapshot = PERFDATA_SNAPSHOT_ASKED,
                                                           .aux_pages = WHOLE / PAGE });
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    run_trace(0, END);
    CHECK(perfdata_recorder_snapshot(recorder) == PERFDATA_OK);
    run_trace(END, END + 512);
    CHECK(finish(recorder) == PERFDATA_OK);
    perfdata_recorder_close(recorder);
    CHECK_U64(read_snapshots(spans, 2), 1); /* at the end only where that is asked for */
    CHECK_U64(spans[0][0], END - WHOLE);
    CHECK_U64(spans[0][1], WHOLE);
}

/* ---- address filters ---- */

/* Where a function of this program lies in its file. */
static uint64_t file_offset(uintptr_t address)
{
    char line[4096];
    unsigned long long start, end, offset;
    uint64_t found = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%llx-%llx %*s %llx", &start, &end, &offset) == 3 && address >= start &&
            address < end)
            found = address - start + offset;
    if (maps)
        fclose(maps);
    return found;
}

static int filtered_function(int n)
{
    return n * 3;
}
static int (*volatile keep_function)(int) = filtered_function;

static void put_symbols(void)
{
    put("proc/kallsyms", "ffffffff81000000 T _text\nffffffff81001000 T alpha\n"
                         "ffffffff81001040 t beta\nffffffff81001100 T gamma\n"
                         "ffffffff81001200 t beta\nffffffff81001240 T delta\n"
                         "ffffffff82000000 T _etext");
}

static void test_filters(const char *program)
{
    char text[300], wanted[300];
    static const char *const rows[][2] = {
        { "filter 0x100 / 0x20", "filter 0x100/0x20" },
        { "filter 256/32", "filter 0x100/0x20" },
        { "start 0x1000, stop 0x2000", "start 0x1000 stop 0x2000" },
        { "tracestop 4096/16 filter 0x1/0x2", "tracestop 0x1000/0x10 filter 0x1/0x2" },
        { "filter alpha", "filter 0xffffffff81001000/0x40" },
        { "filter alpha / gamma", "filter 0xffffffff81001000/0x200" },
        { "filter beta#2", "filter 0xffffffff81001200/0x40" },
        { "filter beta#1 / 8,start delta",
          "filter 0xffffffff81001040/0x8 start 0xffffffff81001240" },
    };
    put_symbols();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perfdata_recorder *recorder = open_recorder(
            "intel_pt//u", (struct perfdata_recorder_options){ .command = command });
        CHECK(perfdata_recorder_set_filter(recorder, rows[i][0]) == PERFDATA_OK);
        CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
        CHECK_STR(fake.filter, rows[i][1]);
        perfdata_recorder_close(recorder);
    }
    /* the manual's example with this program; the event that is sampled comes behind the filter */
    perfdata_recorder *recorder = open_recorder(
        "intel_pt//u", (struct perfdata_recorder_options){ .command = command });
    snprintf(text, sizeof text, "filter filtered_function @%s", program);
    CHECK(perfdata_recorder_set_filter(recorder, text) == PERFDATA_OK);
    snprintf(text, sizeof text, "stop filtered_function @ %s", program);
    CHECK(perfdata_recorder_set_filter(recorder, text) == PERFDATA_OK);
    CHECK(perfdata_recorder_add_events(recorder, "branch-misses/aux-sample-size=8192/u") ==
          PERFDATA_OK);
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    unsigned long long start = file_offset((uintptr_t)keep_function), size = 0;
    CHECK(start && keep_function(2) == 6);
    CHECK(sscanf(fake.filter, "filter %*x/%llx@", &size) == 1 && size > 0 && size < 200);
    snprintf(wanted, sizeof wanted, "filter 0x%llx/0x%llx@%s stop 0x%llx@%s", start, size, program,
             start, program);
    CHECK_STR(fake.filter, wanted);
    CHECK_U64(fake.attrs[2].aux_sample_size, 8192);
    perfdata_recorder_close(recorder);
    /* all of it */
    recorder = open_recorder("intel_pt//u",
                             (struct perfdata_recorder_options){ .command = command });
    snprintf(text, sizeof text, "filter * @%s", program);
    CHECK(perfdata_recorder_set_filter(recorder, text) == PERFDATA_OK);
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    unsigned long long first = 0;
    CHECK(sscanf(fake.filter, "filter %llx/%llx@", &first, &size) == 2);
    CHECK(first && first <= start && start < first + size);
    perfdata_recorder_close(recorder);
}

static void test_wrong_filters(void)
{
    static const char *const rows[][2] = {
        { "trace 0x100/0x20", "no such action: trace" },
        { "filter", "an address or a symbol is missing" },
        { "filter 0x100", "a size is needed for filter" },
        { "filter 0x100 / ", "an address or a symbol is missing" },
        { "filter 12z", "not a number" },
        { "filter nosuch", "no function nosuch" },
        { "filter beta", "choose with #1, #2... or #g among the symbols beta" },
        { "filter beta#3", "not so many symbols beta" },
        { "filter beta#x", "which one is beta" },
        { "filter gamma / alpha", "it ends before it starts, with alpha" },
        { "filter * / 16", "* has no size" },
        { "filter main @/no/such/file", "no such file: /no/such/file" },
        { "filter main @", "a file is missing" },
        { " , ", "nothing in it" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perfdata_recorder *recorder = open_recorder(
            "intel_pt//u", (struct perfdata_recorder_options){ .command = command });
        CHECK(perfdata_recorder_set_filter(recorder, rows[i][0]) == PERFDATA_ERROR_ARGUMENT);
        if (!strstr(perfdata_recorder_error(recorder), rows[i][1]))
            CHECK_STR(perfdata_recorder_error(recorder), rows[i][1]);
        perfdata_recorder_close(recorder);
    }
    put(PT "nr_addr_filters", "0");
    perfdata_recorder *recorder = open_recorder(
        "intel_pt//u", (struct perfdata_recorder_options){ .command = command });
    CHECK(perfdata_recorder_set_filter(recorder, "filter 1/2") == PERFDATA_ERROR_ARGUMENT);
    CHECK_STR(perfdata_recorder_error(recorder), "This CPU does not support address filtering");
    perfdata_recorder_close(recorder);
    put(PT "nr_addr_filters", "2");
}

/* ---- what the decoder is told ---- */

static void test_info(const char *filter, size_t length)
{
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    size_t size, seen = 0;
    perfdata_recorder *recorder = open_recorder(
        "intel_pt/cyc/u",
        (struct perfdata_recorder_options){ .flags = PERFDATA_RECORDER_ALL_CPUS, .snapshot = 1 });
    if (filter)
        CHECK(perfdata_recorder_set_filter(recorder, filter) == PERFDATA_OK);
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    CHECK(finish(recorder) == PERFDATA_OK);
    perfdata_recorder_close(recorder);
    size_t room = length ? (length + 8) / 8 * 8 : 0;
    const uint64_t wanted[] = { 8, 0,      0,         0,   1, 1 << 10, 1 << 11, 3,     1,
                                1, 1 << 9, 0xf << 14, 184, 2, 2,       23,      length };
    CHECK(perfdata_recording_open(output, NULL, &recording) == PERFDATA_OK);
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == PERFDATA_OK);
    while (perfdata_cursor_next(cursor, &record) > 0) {
        if (perfdata_record_type(record) != PD_RECORD_AUXTRACE_INFO)
            continue;
        const uint8_t *bytes = perfdata_record_bytes(record, &size);
        seen++;
        CHECK_U64(size, 16 + sizeof wanted + room + 8);
        CHECK_U64(pd_load32(bytes + 8, false), 1);
        for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
            CHECK_U64(pd_load64(bytes + 16 + 8 * i, false), wanted[i]);
        if (length)
            CHECK_STR((const char *)bytes + 16 + sizeof wanted, filter);
        CHECK_U64(pd_load64(bytes + 16 + sizeof wanted + room, false), 1); /* caps/event_trace */
    }
    CHECK_U64(seen, 1);
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
}

int main(void)
{
    char *program = realpath("/proc/self/exe", NULL);
    CHECK(program != NULL);
    make_root();
    test_terms();
    test_wrong_terms();
    test_old_hardware();
    test_samples();
    test_wrong_samples();
    test_output();
    test_snapshot_sizes();
    test_snapshots();
    test_full_snapshot();
    test_filters(program ? program : "");
    free(program);
    test_wrong_filters();
    test_info(NULL, 0);
    test_info("filter 0x1000/0x10", 18);
    test_info("filter 0x1000/0x10 start 0x2", 28);
    remove_root();
    return test_done();
}
