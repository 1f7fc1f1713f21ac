/* SPDX-License-Identifier: MIT */
/* A CPU that goes offline before its events are opened, and while it is recorded. */
#include "fake_pt.h"
#include <perfdata/records.h>
#include <perfdata/recording.h>

static void feed(uint64_t id)
{
    struct perf_event_mmap_page *page = (void *)fake.ring;
    uint8_t *lost = fake.ring + PAGE + page->data_head;
    const uint64_t words[] = { PERF_RECORD_LOST | UINT64_C(24) << 48, id, 1 };
    memcpy(lost, words, sizeof words);
    page->data_head += sizeof words;
}

static uint64_t count_lost(void)
{
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    uint64_t count = 0;
    CHECK(perfdata_recording_open(output, NULL, &recording) == PERFDATA_OK);
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == PERFDATA_OK);
    while (perfdata_cursor_next(cursor, &record) > 0)
        count += perfdata_record_type(record) == PERF_RECORD_LOST;
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    return count;
}

/* The other CPU's events go on; without any there is nothing to wait for. */
static void test_while_recording(void)
{
    for (unsigned hung = 2; hung <= 3; hung++) {
        perfdata_recorder *recorder = open_recorder(
            "cpu-clock", (struct perfdata_recorder_options){
                             .flags = PERFDATA_RECORDER_ALL_CPUS | PERFDATA_RECORDER_NO_BUILD_ID });
        fake.hung = hung;
        CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
        feed(1);
        for (unsigned i = 0; i < 3; i++)
            CHECK(perfdata_recorder_read(recorder, 0) > 0 || hung == 3);
        if (hung == 2) {
            feed(2);
            CHECK(perfdata_recorder_read(recorder, 0) > 0);
            perfdata_recorder_stop(recorder);
        }
        while (perfdata_recorder_read(recorder, 1000) > 0) /* hung == 3: ends by itself */
            continue;
        CHECK(perfdata_recorder_finish(recorder, NULL) == PERFDATA_OK);
        perfdata_recorder_close(recorder);
        CHECK_U64(count_lost(), hung == 2 ? 2 : 1);
    }
}

int main(void)
{
    make_root();
    perfdata_recorder *recorder = open_recorder(
        "{cpu-clock,cs}",
        (struct perfdata_recorder_options){ .flags = PERFDATA_RECORDER_ALL_CPUS });
    fake.offline = 1;
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_OK);
    CHECK_U64(fake.calls, 3); /* two of the group and the dummy, on CPU 0 */
    CHECK_U64(fake.maps, 1);
    CHECK_STR(fake.told, "WARNING: CPU 1 has gone offline, it is left out\n");
    CHECK(finish(recorder) == PERFDATA_OK);
    perfdata_recorder_close(recorder);
    recorder = open_recorder("cpu-clock", (struct perfdata_recorder_options){
                                              .flags = PERFDATA_RECORDER_ALL_CPUS, .cpus = "0,1" });
    fake.offline = 1;
    CHECK(perfdata_recorder_start(recorder) == PERFDATA_ERROR_UNSUPPORTED);
    CHECK_STR(perfdata_recorder_error(recorder),
              "CPU 1 is not online.\nHint: /sys/devices/system/cpu/online lists those that are; "
              "choose among them with -C");
    perfdata_recorder_close(recorder);
    put("sys/devices/system/cpu/online", "0-1");
    test_while_recording();
    remove_root();
    return test_done();
}
