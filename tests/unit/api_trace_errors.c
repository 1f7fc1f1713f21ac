/* SPDX-License-Identifier: MIT */
/* Each function that decodes traces tells how many errors it met: of a trace whose program is not
 * there the same number, and not none. */
#include "test.h"
#include <perfdata/perfdata.h>
#include <string.h>
#include <unistd.h>

static const char *const letters[] = { "be" };
#define NOWHERE                                                                                    \
    {                                                                                              \
        .symfs = "/nonexistent", .home = "/nonexistent"                                            \
    }

static perfdata_recording *open_trace(void)
{
    char path[1024];
    const char *root = getenv("SOURCE");
    perfdata_recording *recording;
    snprintf(path, sizeof path, "%s/tests/data/itrace/t_tsx.data", root ? root : ".");
    CHECK(perfdata_recording_open(path, NULL, &recording) == 0);
    return recording;
}

static int ignore(void *data, const char *text, size_t length)
{
    (void)data, (void)text, (void)length;
    return 0;
}

static uint64_t by_cursor(perfdata_recording *recording)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    options.order = PERFDATA_DELIVERY_ORDER;
    options.flags |= PERFDATA_CURSOR_RESOLVE;
    options.search = (struct perfdata_symbol_search)NOWHERE;
    options.itrace = letters;
    options.itrace_count = 1;
    CHECK(perfdata_cursor_open(recording, &options, &cursor) == 0);
    while (perfdata_cursor_next(cursor, &record) == 1)
        ;
    uint64_t errors = perfdata_cursor_trace_errors(cursor);
    perfdata_cursor_close(cursor);
    return errors;
}

static uint64_t by_script(perfdata_recording *recording)
{
    const struct perfdata_script_options options = {
        .struct_size = sizeof options, .search = NOWHERE, .itrace = letters, .itrace_count = 1
    };
    struct perfdata_script_result result = { .struct_size = sizeof result };
    (void)perfdata_script_run(recording, &options, ignore, NULL, &result);
    return result.trace_errors;
}

static uint64_t by_report(perfdata_recording *recording)
{
    const struct perfdata_report_options options = {
        .struct_size = sizeof options, .search = NOWHERE, .itrace = letters, .itrace_count = 1
    };
    struct perfdata_report_result result = { .struct_size = sizeof result };
    (void)perfdata_report_run(recording, &options, ignore, NULL, &result);
    return result.trace_errors;
}

static uint64_t by_annotate(perfdata_recording *recording)
{
    const struct perfdata_annotate_options options = {
        .struct_size = sizeof options, .search = NOWHERE, .itrace = letters, .itrace_count = 1
    };
    struct perfdata_annotate_result result = { .struct_size = sizeof result };
    (void)perfdata_annotate_run(recording, &options, ignore, NULL, &result);
    return result.trace_errors;
}

static uint64_t by_profile(perfdata_recording *recording)
{
    const struct perfdata_profile_options options = {
        .struct_size = sizeof options, .search = NOWHERE, .itrace = letters, .itrace_count = 1
    };
    perfdata_profile *profile;
    CHECK(perfdata_profile_build(recording, &options, &profile) == 0);
    uint64_t errors = perfdata_profile_trace_errors(profile);
    perfdata_profile_free(profile);
    return errors;
}

static uint64_t by_database(perfdata_recording *recording)
{
    uint64_t errors = UINT64_MAX;
    char path[] = "/tmp/trace-errors-XXXXXX";
    int fd = mkstemp(path);
    const struct perfdata_database_options options = { .struct_size = sizeof options,
                                                       .form = PERFDATA_DATABASE_POSTGRESQL,
                                                       .path = path,
                                                       .search = NOWHERE,
                                                       .itrace = letters,
                                                       .itrace_count = 1,
                                                       .trace_errors = &errors };
    CHECK(fd >= 0 && perfdata_export_database(recording, &options) == 0);
    close(fd);
    unlink(path);
    return errors;
}

static uint64_t by_inject(perfdata_recording *recording)
{
    uint64_t errors = UINT64_MAX;
    char path[] = "/tmp/trace-errors-XXXXXX";
    int fd = mkstemp(path);
    const struct perfdata_output output = { .struct_size = sizeof output, .path = path };
    const struct perfdata_inject_options options = { .struct_size = sizeof options,
                                                     .search = NOWHERE,
                                                     .itrace = letters,
                                                     .itrace_count = 1,
                                                     .trace_errors = &errors };
    CHECK(fd >= 0 && perfdata_inject(recording, &output, &options) == 0);
    close(fd);
    unlink(path);
    return errors;
}

int main(void)
{
    static uint64_t (*const ways[])(perfdata_recording *) = { by_script,  by_report,   by_annotate,
                                                              by_profile, by_database, by_inject };
    perfdata_recording *recording = open_trace();
    const uint64_t expected = by_cursor(recording);
    CHECK(expected > 0);
    perfdata_recording_close(recording);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        recording = open_trace();
        CHECK_U64(ways[i](recording), expected);
        perfdata_recording_close(recording);
    }
    return test_done();
}
