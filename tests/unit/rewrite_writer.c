/* SPDX-License-Identifier: MIT */
/* The public writer: a recording made from nothing is read back; without finish nothing is left. */
#include "test.h"
#include <perfdata/records.h>
#include <perfdata/writer.h>
#include <unistd.h>

/* Records of two CPUs and one beside them, in a directory. */
static void test_directory(void)
{
    char path[128], name[160];
    snprintf(path, sizeof path, "/tmp/perfdata-writer-%d.folder", (int)getpid());
    struct perfdata_output output = { .struct_size = sizeof output,
                                      .path = path,
                                      .flags = PERFDATA_OUTPUT_DIRECTORY };
    uint64_t attr[16] = { (uint64_t)128 << 32 | 1, 0, 1000, 0x10005 }, id = 7;
    uint64_t record[4] = { (uint64_t)32 << 48 | (uint64_t)2 << 32 | 9, 7, 0x400000, 5 };
    perfdata_writer *writer;
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *read;
    CHECK(perfdata_writer_open(&output, &writer) == 0);
    CHECK(perfdata_writer_add_event(writer, attr, sizeof attr, &id, 1) == 0);
    CHECK(perfdata_writer_begin(writer) == 0);
    for (uint32_t file = 0; file < 3; file++) {
        CHECK(perfdata_writer_select(writer, file) == 0);
        for (uint64_t i = 0; i < 4; i++) {
            record[3] = 10 * i + file;
            CHECK(perfdata_writer_put(writer, record, sizeof record) == 0);
        }
    }
    CHECK(perfdata_writer_finish(writer) == 0);
    perfdata_writer_close(writer);
    CHECK(perfdata_recording_open(path, NULL, &recording) == 0);
    CHECK_U64(perfdata_recording_form(recording), PERFDATA_FORM_DIRECTORY);
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == 0);
    unsigned count = 0;
    while (perfdata_cursor_next(cursor, &read) > 0)
        count++;
    CHECK_U64(count, 12);
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    CHECK(perfdata_writer_open(&output, &writer) == PERFDATA_ERROR_OUTPUT); /* it is there */
    perfdata_writer_close(writer);
    for (int i = 0; i < 3; i++) {
        static const char *const files[] = { "data", "data.0", "data.1" };
        snprintf(name, sizeof name, "%s/%s", path, files[i]);
        CHECK(unlink(name) == 0);
    }
    CHECK(rmdir(path) == 0);
}

int main(void)
{
    test_directory();
    char path[128];
    snprintf(path, sizeof path, "/tmp/perfdata-writer-%d", (int)getpid());
    struct perfdata_output output = { .struct_size = sizeof output, .path = path };
    uint64_t attr[16] = { (uint64_t)128 << 32 | 1, 0, 1000, 0x10005 }, id = 7;
    uint64_t record[4] = { (uint64_t)32 << 48 | (uint64_t)2 << 32 | 9, 7, 0x400000, 5 };
    perfdata_writer *writer;
    perfdata_recording *recording;
    for (int finish = 0; finish < 2; finish++) {
        CHECK(perfdata_writer_open(&output, &writer) == 0);
        CHECK(perfdata_writer_put(writer, record, sizeof record) == PERFDATA_ERROR_ARGUMENT);
        CHECK(perfdata_writer_add_event(writer, attr, 64, &id, 1) == PERFDATA_ERROR_ARGUMENT);
        CHECK(perfdata_writer_error(writer)[0]);
        CHECK(perfdata_writer_add_event(writer, attr, sizeof attr, &id, 1) == 0);
        CHECK(perfdata_writer_set_text(writer, 3, "box") == 0);
        CHECK(perfdata_writer_begin(writer) == 0);
        CHECK(perfdata_writer_put(writer, record, 24) == PERFDATA_ERROR_ARGUMENT);
        for (int i = 0; i < 10; i++)
            CHECK(perfdata_writer_put(writer, record, sizeof record) == 0);
        if (finish)
            CHECK(perfdata_writer_finish(writer) == 0);
        perfdata_writer_close(writer);
        CHECK(access(path, F_OK) == (finish ? 0 : -1));
    }
    CHECK(perfdata_recording_open(path, NULL, &recording) == 0);
    CHECK_STR(perfdata_recording_hostname(recording), "box");
    CHECK_U64(perfdata_recording_event_count(recording), 1);
    uint64_t size = 0;
    perfdata_recording_data(recording, NULL, &size);
    CHECK_U64(size, 10 * sizeof record);
    perfdata_recording_close(recording);
    unlink(path);
    return test_done();
}
