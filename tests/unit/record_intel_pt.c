/* SPDX-License-Identifier: MIT */
/* Intel PT without the hardware: a sysfs of the test's own and a table of system calls that notes
 * what is asked. The buffers hold the records and the trace of a recording whose execution is
 * known; what is made of them decodes to the same. */
#include "fake_pt.h"
#include <perfdata/records.h>
#include <perfdata/recording.h>

/* ---- attributes ---- */

/* The order and what is said of intel_pt, the switches and the tasks: as perf wrote it on such
 * machines. */
static void test_command(void)
{
    perfdata_recorder *recorder = open_recorder(
        "cpu-clock,intel_pt//u", (struct perfdata_recorder_options){ .command = command });
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    CHECK_U64(fake.calls, 8); /* 4 events on 2 CPUs */
    CHECK_U64(fake.maps, 4);
    const struct perf_event_attr *pt = &fake.attrs[0], *clock = &fake.attrs[2],
                                 *switches = &fake.attrs[4], *tasks = &fake.attrs[6];
    CHECK_U64(pt->type, 8);
    CHECK_U64(pt->config, 0x300e601);
    CHECK_U64(pt->sample_period, 1);
    CHECK(!pt->freq && pt->exclude_kernel && pt->enable_on_exec && pt->disabled &&
          !pt->exclude_guest);
    CHECK_U64(pt->sample_type, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                                   PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
    CHECK_U64(pt->aux_watermark, 1 << 20);
    CHECK(clock->freq && clock->sample_freq == 4000 && !clock->mmap && clock->enable_on_exec);
    CHECK(switches->context_switch && switches->exclude_kernel && !switches->disabled &&
          !switches->mmap);
    CHECK(fake.pids[4] == -1 && fake.pids[0] > 0 && fake.pids[6] == fake.pids[0]);
    CHECK(tasks->mmap && tasks->comm && tasks->task && tasks->mmap2 && tasks->enable_on_exec &&
          !tasks->context_switch && tasks->exclude_kernel && !tasks->text_poke);
    CHECK_U64(fake.aux_size, 4 << 20);
    perfdata_recorder_close(recorder);
}

/* --no-switch-events: without the event that tells of them. */
static void test_no_switches(void)
{
    perfdata_recorder *recorder = open_recorder(
        "intel_pt//u", (struct perfdata_recorder_options){ .command = command, .no_switches = 1 });
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    CHECK_U64(fake.calls, 4);
    CHECK(!fake.attrs[2].context_switch && fake.attrs[2].mmap);
    CHECK_U64(recorder->switches, 0);
    perfdata_recorder_close(recorder);
}

static void test_all_cpus(void)
{
    perfdata_recorder *recorder = open_recorder(
        "intel_pt//",
        (struct perfdata_recorder_options){ .flags = PERFDATA_RECORDER_ALL_CPUS, .aux_pages = 8 });
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    CHECK_U64(fake.calls, 4);
    CHECK(fake.attrs[2].context_switch && fake.attrs[2].mmap && fake.attrs[2].text_poke &&
          !fake.attrs[2].disabled);
    CHECK_U64(fake.attrs[0].aux_watermark, 8 * PAGE / 4);
    CHECK_U64(fake.aux_size, 8 * PAGE);
    perfdata_recorder_close(recorder);
}

static void test_refused(void)
{
    static const struct {
        const char *events, *message;
        struct perfdata_recorder_options options;
    } rows[] = {
        { "intel_pt//,intel_pt/cyc/", "There may be only one intel_pt event", { 0 } },
        { "intel_pt//",
          "Cannot use clockid (-k option) with intel_pt",
          { .has_clock = 1, .clock = 1 } },
        { "intel_pt//",
          "Invalid mmap size for Intel Processor Trace: must be at least 8KiB and a power of 2",
          { .aux_pages = 1 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_refused(rows[i].events, rows[i].options, rows[i].message);
}

/* ---- a trace ---- */

/* The kernel's records and the trace of a recording, into the buffers. */
static void feed(const char *path, perfdata_cursor *cursor)
{
    const perfdata_record *record;
    struct perf_event_mmap_page *page = (void *)fake.ring;
    FILE *file = fopen(path, "r");
    size_t head = 0, traced = 0, size;
    CHECK(file != NULL);
    while (file && perfdata_cursor_next(cursor, &record) > 0) {
        const uint8_t *bytes = perfdata_record_bytes(record, &size);
        if (perfdata_record_type(record) < 64) {
            CHECK(head + size <= fake.ring_size);
            memcpy(fake.ring + PAGE + head, bytes, size);
            head += size;
        }
        if (perfdata_record_type(record) != PD_RECORD_AUXTRACE)
            continue;
        uint64_t length = pd_load64(bytes + 8, false);
        CHECK(traced + length <= fake.aux_size);
        CHECK(!fseek(file, (long)(perfdata_record_offset(record) + size), SEEK_SET));
        CHECK_U64(fread(fake.aux + traced, 1, length, file), length);
        traced += length;
    }
    page->data_head = head;
    page->aux_head = traced;
    if (file)
        fclose(file);
}

static void take_times(perfdata_cursor *cursor)
{
    const perfdata_record *record;
    size_t size;
    while (perfdata_cursor_next(cursor, &record) > 0)
        if (perfdata_record_type(record) == PD_RECORD_TIME_CONV) {
            const uint8_t *bytes = perfdata_record_bytes(record, &size);
            fake.time_shift = (uint16_t)pd_load64(bytes + 8, false);
            fake.time_mult = (uint32_t)pd_load64(bytes + 16, false);
            fake.time_zero = pd_load64(bytes + 24, false);
        }
}

/* What perf makes of both: the same lines. */
static void compare(const char *corpus, const char *path)
{
    char text[1600];
    snprintf(text, sizeof text,
             "command -v perf >/dev/null || { echo 'no perf here'; exit 0; }\n"
             "decode() { PERF_CONFIG=/dev/null perf script -i \"$1\" --symfs '%s/own-pt/symfs' "
             "--itrace=b -F tid,ip,addr "
             "2>/dev/null; }\n"
             "decode '%s' >'%s/theirs'; decode '%s' >'%s/ours'\n"
             "test $(wc -l <'%s/theirs') -gt 1000 && cmp '%s/theirs' '%s/ours'",
             corpus, path, root, output, root, root, root, root);
    CHECK(system(text) == 0);
}

static void test_trace(const char *corpus, int32_t compression)
{
    char path[400];
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    snprintf(path, sizeof path, "%s/own-pt/rec/t_tsc.data", corpus);
    CHECK(perfdata_recording_open(path, NULL, &recording) == PERFDATA_OK);
    perfdata_recorder *recorder = open_recorder(
        "intel_pt/mtc=0,psb_period=0/u",
        (struct perfdata_recorder_options){ .flags = PERFDATA_RECORDER_PER_THREAD |
                                                     PERFDATA_RECORDER_TIME,
                                            .tids = "9239",
                                            .compression = compression });
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == PERFDATA_OK);
    take_times(cursor);
    perfdata_cursor_close(cursor);
    for (uint32_t i = 0; i < 2; i++) {
        size_t count;
        const uint64_t *ids = perfdata_event_ids(perfdata_recording_event(recording, i), &count);
        fake.ids[i] = count ? ids[0] : 0;
    }
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    CHECK_U64(fake.attrs[0].config, 0xe401);
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == PERFDATA_OK);
    feed(path, cursor);
    perfdata_cursor_close(cursor);
    CHECK(finish(recorder) == PERFDATA_OK);
    CHECK_STR(perfdata_recorder_error(recorder), "");
    compare(corpus, path);
    perfdata_recorder_close(recorder);
    perfdata_recording_close(recording);
}

int main(void)
{
    make_root();
    test_command();
    test_all_cpus();
    test_no_switches();
    test_refused();
    const char *corpus = getenv("PERFDATA_CORPUS");
    if (corpus) {
        test_trace(corpus, 0);
        test_trace(corpus, 1); /* the trace itself stays as it is */
    } else {
        puts("without PERFDATA_CORPUS no trace is recorded");
    }
    remove_root();
    return test_done();
}
