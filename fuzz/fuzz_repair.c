/* SPDX-License-Identifier: MIT */
/* Recordings of any bytes, repaired into a file: what comes out is sound and holds the records that
 * were counted. */
#include <perfdata/perfdata.h>
#include <perfdata/rewrite.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Issues that tell of a damaged file; what its records say is theirs. */
static const int damage[] = { PERFDATA_ISSUE_UNFINISHED, PERFDATA_ISSUE_TRUNCATED,
                              PERFDATA_ISSUE_SKIPPED_BYTES };

static void check(const char *path)
{
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    const perfdata_record *record;
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    options.order = PERFDATA_FILE_ORDER;
    if (perfdata_recording_open(path, NULL, &recording) != PERFDATA_OK) {
        fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
        abort();
    }
    if (perfdata_cursor_open(recording, &options, &cursor) == PERFDATA_OK) {
        while (perfdata_cursor_next(cursor, &record) > 0)
            ;
        perfdata_cursor_close(cursor);
    }
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++)
        if (perfdata_recording_issue_count(recording, damage[i])) {
            fprintf(stderr, "the repaired file has issues of kind %d\n", damage[i]);
            abort();
        }
    perfdata_recording_close(recording);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char path[64];
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    struct perfdata_output output = { .struct_size = sizeof output, .path = path };
    perfdata_recording *recording;
    options.max_records = 20000;
    options.max_decompressed = 4 << 20;
    if (!*path)
        snprintf(path, sizeof path, "/dev/shm/perfdata-fuzz-%d", (int)getpid());
    if (perfdata_recording_open_memory(data, size, &options, &recording) == PERFDATA_OK &&
        perfdata_repair(recording, &output, NULL) == PERFDATA_OK)
        check(path);
    perfdata_recording_close(recording);
    unlink(path);
    return 0;
}
