/* SPDX-License-Identifier: MIT */
/* The public API on the demo's recording: opening each way, events, features, both orders, samples,
 * threads, symbols, strictness and limits. */
#include "test.h"
#include <fcntl.h>
#include <perfdata/perfdata.h>
#include <unistd.h>

static const char *source_path(const char *name)
{
    static char path[1024];
    const char *root = getenv("SOURCE");
    snprintf(path, sizeof path, "%s/tests/data/demo/%s", root ? root : ".", name);
    return path;
}

static void *read_file(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY);
    if (fd < 0)
        return NULL;
    *size = (size_t)lseek(fd, 0, SEEK_END);
    void *bytes = malloc(*size);
    if (bytes && pread(fd, bytes, *size, 0) != (ssize_t)*size)
        abort();
    close(fd);
    return bytes;
}

static size_t count_records(perfdata_recording *recording, uint32_t order, uint64_t *sum)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    size_t count = 0, size;
    uint64_t last = 0;
    options.order = order;
    *sum = 0;
    CHECK(perfdata_cursor_open(recording, &options, &cursor) == 0);
    while (perfdata_cursor_next(cursor, &record) == 1) {
        CHECK(perfdata_record_bytes(record, &size) && size >= 8);
        *sum += perfdata_record_offset(record) * size;
        CHECK(perfdata_record_number(record) > last);
        last = perfdata_record_number(record);
        count++;
    }
    CHECK(!record);
    perfdata_cursor_close(cursor);
    return count;
}

static void opens_the_same(void)
{
    size_t size;
    void *bytes = read_file(source_path("spin.data"), &size);
    int fd = open(source_path("spin.data"), O_RDONLY);
    perfdata_recording *recording[3];
    CHECK(perfdata_recording_open(source_path("spin.data"), NULL, &recording[0]) == 0);
    CHECK(perfdata_recording_open_fd(fd, NULL, &recording[1]) == 0);
    CHECK(perfdata_recording_open_memory(bytes, size, NULL, &recording[2]) == 0);
    uint64_t sum[2], first = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_STR(perfdata_recording_error(recording[i], NULL), "");
        size_t file = count_records(recording[i], PERFDATA_FILE_ORDER, &sum[0]);
        CHECK_U64(count_records(recording[i], PERFDATA_DELIVERY_ORDER, &sum[1]), file);
        CHECK(file > 50 && sum[0] == sum[1] && (!i || sum[0] == first));
        first = sum[0];
        perfdata_recording_close(recording[i]);
    }
    close(fd);
    free(bytes);
}

static void events_and_features(void)
{
    perfdata_recording *recording;
    CHECK(perfdata_recording_open(source_path("spin.data"), NULL, &recording) == 0);
    CHECK_U64(perfdata_recording_version(recording), 2);
    CHECK_U64(perfdata_recording_form(recording), PERFDATA_FORM_FILE);
    CHECK(!perfdata_recording_is_big_endian(recording));
    CHECK(!perfdata_recording_is_unfinished(recording) &&
          !perfdata_recording_is_truncated(recording));
    CHECK_U64(perfdata_recording_event_count(recording), 1);
    const perfdata_event *event = perfdata_recording_event(recording, 0);
    CHECK(!perfdata_recording_event(recording, 1));
    CHECK_STR(perfdata_event_name(event), "cpu-clock");
    CHECK_U64(perfdata_event_type(event), PERFDATA_TYPE_SOFTWARE);
    uint64_t value;
    CHECK(perfdata_event_attr(event, "sample_type", &value) == 0 &&
          value == perfdata_event_sample_type(event));
    CHECK(perfdata_event_attr(event, "sample_id_all", &value) == 0 && value == 1);
    CHECK(perfdata_event_attr(event, "precise_ip", &value) == 0 && value == 0);
    CHECK(perfdata_event_attr(event, "nonsense", &value) == PERFDATA_ERROR_NOT_FOUND);
    size_t count;
    const uint64_t *ids = perfdata_event_ids(event, &count);
    CHECK(count == 2 && perfdata_recording_event_by_id(recording, ids[1]) == event);
    CHECK(!perfdata_recording_event_by_id(recording, ids[0] + 1000));
    CHECK(perfdata_event_leader(event) == 0 && perfdata_event_member_count(event) == 1);
    CHECK(!perfdata_event_group_name(event));
    CHECK_STR(perfdata_recording_arch(recording), "x86_64");
    CHECK_STR(perfdata_recording_perf_version(recording), "6.1.192");
    CHECK(perfdata_recording_command_count(recording) > 3);
    CHECK(!perfdata_recording_command_word(recording, 1000));
    uint32_t online, available;
    CHECK(perfdata_recording_cpus(recording, &online, &available) == 0 && online == 2);
    uint64_t first, last, offset, size;
    CHECK(perfdata_recording_sample_times(recording, &first, &last) == 0 && first < last);
    CHECK(perfdata_recording_has_feature(recording, PERFDATA_FEATURE_HOSTNAME));
    CHECK(perfdata_recording_feature(recording, PERFDATA_FEATURE_HOSTNAME, &offset, &size) == 0 &&
          size);
    CHECK(perfdata_recording_feature(recording, PERFDATA_FEATURE_STAT, &offset, &size) ==
          PERFDATA_ERROR_NO_DATA);
    CHECK(perfdata_recording_feature(recording, 1000, &offset, &size) == PERFDATA_ERROR_NO_DATA);
    CHECK_STR(perfdata_feature_name(3), "HOSTNAME");
    CHECK(!perfdata_feature_name(99));
    struct perfdata_build_id id = { .struct_size = sizeof id };
    CHECK(perfdata_recording_build_id_count(recording) > 0);
    CHECK(perfdata_recording_build_id(recording, 0, &id) == 0 && id.id_size == 20 && id.path[0]);
    CHECK(perfdata_recording_build_id(recording, 1000, &id) == PERFDATA_ERROR_ARGUMENT);
    perfdata_recording_close(recording);
}

static void look_at_sample(const perfdata_record *record, size_t *resolved)
{
    const perfdata_sample *sample;
    uint64_t ip, time, value;
    CHECK(perfdata_record_sample(record, &sample) == 0);
    CHECK(perfdata_sample_value(sample, PERFDATA_SAMPLE_IP, &ip) == 0);
    CHECK(perfdata_sample_value(sample, PERFDATA_SAMPLE_TIME, &time) == 0);
    CHECK_U64(time, perfdata_record_time(record));
    CHECK(perfdata_sample_value(sample, PERFDATA_SAMPLE_WEIGHT, &value) == PERFDATA_ERROR_NO_DATA);
    CHECK(perfdata_sample_value(sample, 1000, &value) == PERFDATA_ERROR_ARGUMENT);
    CHECK(perfdata_sample_register(sample, 0, 3, &value) == PERFDATA_ERROR_NO_DATA);
    struct perfdata_identity identity = { .struct_size = sizeof identity };
    perfdata_record_identity(record, &identity);
    struct perfdata_thread thread = { .struct_size = sizeof thread };
    CHECK(perfdata_record_thread(record, &thread) == 0);
    CHECK(thread.tid == identity.tid && thread.comm && thread.comm[0]);
    struct perfdata_location at = { .struct_size = sizeof at };
    CHECK(perfdata_record_resolve(record, perfdata_sample_cpumode(sample), ip, &at) == 0);
    CHECK(at.ip == ip);
    *resolved += at.symbol && at.object;
    struct perfdata_location frames[8];
    size_t count;
    frames[0].struct_size = sizeof frames[0];
    perfdata_status status = perfdata_record_frames(record, frames, 8, &count);
    CHECK(status == 0 && count <= 8 && count <= perfdata_sample_callchain_count(sample));
    if (count)
        CHECK(frames[0].ip == ip);
}

static void samples_resolved(void)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    const perfdata_sample *sample;
    char symfs[1024];
    size_t samples = 0, resolved = 0;
    int status;
    snprintf(symfs, sizeof symfs, "%s", source_path("symfs"));
    options.flags = PERFDATA_CURSOR_RESOLVE;
    options.search.symfs = symfs;
    options.search.kallsyms = "/dev/null";
    CHECK(perfdata_recording_open(source_path("spin.data"), NULL, &recording) == 0);
    CHECK(perfdata_cursor_open(recording, &options, &cursor) == 0);
    while ((status = perfdata_cursor_next(cursor, &record)) == 1) {
        if (perfdata_record_type(record) == PERFDATA_RECORD_SAMPLE) {
            CHECK_STR(perfdata_record_name(record), "SAMPLE");
            CHECK(perfdata_record_event(record) == perfdata_recording_event(recording, 0));
            look_at_sample(record, &resolved);
            samples++;
        } else {
            CHECK(perfdata_record_sample(record, &sample) == PERFDATA_ERROR_ARGUMENT && !sample);
        }
    }
    CHECK(status == 0 && samples > 20 && resolved > samples / 2);
    uint64_t size;
    perfdata_recording_data(recording, NULL, &size);
    CHECK_U64(perfdata_cursor_position(cursor), size);
    perfdata_cursor_close(cursor);
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == 0); /* without resolving */
    CHECK(perfdata_cursor_next(cursor, &record) == 1);
    struct perfdata_thread thread = { .struct_size = sizeof thread };
    CHECK(perfdata_record_thread(record, &thread) == PERFDATA_ERROR_ARGUMENT);
    CHECK(strstr(perfdata_recording_error(recording, NULL), "RESOLVE"));
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
}

static void count_issue(void *data, const struct perfdata_issue *issue)
{
    int *issues = data;
    CHECK(issue->struct_size == sizeof *issue && issue->text[0] && issue->path[0]);
    issues[issue->kind]++;
}

static void issues_and_limits(void)
{
    size_t size;
    uint8_t *bytes = read_file(source_path("spin.data"), &size);
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    int issues[PERFDATA_ISSUE_COUNT] = { 0 };
    int64_t offset;
    options.on_issue = count_issue;
    options.issue_data = issues;
    CHECK(perfdata_recording_open_memory(bytes, 2000, &options, &recording) == 0);
    CHECK(issues[PERFDATA_ISSUE_TRUNCATED] == 1 && perfdata_recording_is_truncated(recording));
    CHECK_U64(perfdata_recording_issue_count(recording, PERFDATA_ISSUE_TRUNCATED), 1);
    CHECK_U64(perfdata_recording_issue_count(recording, 1000), 0);
    perfdata_recording_close(recording);
    options.flags = PERFDATA_STRICT;
    CHECK(perfdata_recording_open_memory(bytes, 2000, &options, &recording) ==
          PERFDATA_ERROR_STRICT);
    CHECK(perfdata_recording_error(recording, &offset)[0] && offset == 2000);
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == PERFDATA_ERROR_ARGUMENT && !cursor);
    CHECK(perfdata_header_print(recording, 0, NULL, NULL) == PERFDATA_ERROR_ARGUMENT);
    perfdata_recording_close(recording);
    options.flags = 0;
    options.max_records = 3;
    CHECK(perfdata_recording_open_memory(bytes, size, &options, &recording) == 0);
    CHECK(perfdata_cursor_open(recording, NULL, &cursor) == 0);
    size_t count = 0;
    while (perfdata_cursor_next(cursor, &record) == 1)
        count++;
    CHECK(count == 3 && issues[PERFDATA_ISSUE_LIMIT] == 1);
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    free(bytes);
    CHECK(perfdata_recording_open("no/such/file", NULL, &recording) == PERFDATA_ERROR_NOT_FOUND);
    CHECK(strstr(perfdata_recording_error(recording, &offset), "no/such/file") && offset == -1);
    perfdata_recording_close(recording);
    CHECK(perfdata_recording_open(NULL, NULL, &recording) == PERFDATA_ERROR_ARGUMENT);
    perfdata_recording_close(recording);
    perfdata_recording_close(NULL);
    perfdata_cursor_close(NULL);
}

static int stop_at_once(void *data, const char *text, size_t length)
{
    size_t *seen = data;
    CHECK(text && length);
    *seen += length;
    return 1;
}

static void texts_stop(void)
{
    perfdata_recording *recording;
    size_t seen = 0, size;
    uint8_t id[20];
    CHECK(perfdata_recording_open(source_path("spin.data"), NULL, &recording) == 0);
    CHECK(perfdata_header_print(recording, PERFDATA_HEADER_FULL, stop_at_once, &seen) ==
          PERFDATA_ERROR_OUTPUT);
    CHECK(perfdata_evlist_print(recording, 0, stop_at_once, &seen) == PERFDATA_ERROR_OUTPUT);
    CHECK(perfdata_build_ids_print(recording, PERFDATA_BUILD_IDS_HITS, stop_at_once, &seen) ==
          PERFDATA_ERROR_OUTPUT);
    CHECK(seen > 500);
    perfdata_recording_close(recording);
    CHECK(perfdata_file_build_id("/proc/self/exe", id, &size) != 0 || size == 20 || size == 0 ||
          size == 16 || size == 8);
    CHECK(perfdata_file_build_id(source_path("spin.data"), id, &size) < 0 && size == 0);
}

int main(void)
{
    if (access(source_path("spin.data"), R_OK) != 0) {
        puts("SOURCE does not name the source folder");
        return TEST_SKIP;
    }
    opens_the_same();
    events_and_features();
    samples_resolved();
    issues_and_limits();
    texts_stop();
    return test_done();
}
