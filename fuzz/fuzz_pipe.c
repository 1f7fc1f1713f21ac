/* SPDX-License-Identifier: MIT */
/* Streams of any bytes through a real pipe: read once, in delivery order, and written on as a
 * file. */
#include <fcntl.h>
#include <perfdata/perfdata.h>
#include <perfdata/rewrite.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static perfdata_recording *open_stream(const uint8_t *data, size_t size, int *fd)
{
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    perfdata_recording *recording = NULL;
    int ends[2];
    options.max_records = 20000;
    options.max_decompressed = 16 << 20;
    options.flags = PERFDATA_ALL_STREAMS;
    if (pipe(ends) < 0)
        abort();
    *fd = ends[0];
    if (write(ends[1], data, size) != (ssize_t)size) /* it has room for all */
        abort();
    close(ends[1]);
    if (perfdata_recording_open_fd(*fd, &options, &recording) == PERFDATA_OK)
        return recording;
    perfdata_recording_close(recording);
    close(*fd);
    return NULL;
}

static int drop(void *data, const char *text, size_t length)
{
    (void)data, (void)text, (void)length;
    return 0;
}

static void walk(perfdata_recording *recording)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    const perfdata_record *record;
    perfdata_cursor *cursor;
    size_t length;
    uint64_t sum = 0;
    if (perfdata_cursor_open(recording, &options, &cursor) < 0)
        return;
    while (perfdata_cursor_next(cursor, &record) > 0) {
        const uint8_t *bytes = perfdata_record_bytes(record, &length);
        for (size_t i = 0; i < length; i++)
            sum += bytes[i];
    }
    volatile uint64_t used = sum;
    (void)used;
    perfdata_cursor_close(cursor);
    perfdata_header_print(recording, PERFDATA_HEADER_FULL, drop, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct perfdata_inject_options inject = { .struct_size = sizeof inject,
                                              .flags = PERFDATA_INJECT_ALL_BUILD_IDS };
    int fd;
    perfdata_recording *recording = open_stream(data, size, &fd);
    if (!recording)
        return 0;
    walk(recording);
    perfdata_recording_close(recording);
    close(fd);
    recording = open_stream(data, size, &fd);
    if (!recording)
        abort(); /* the same bytes, the same answer */
    struct perfdata_output output = { .struct_size = sizeof output, .path = "/dev/null" };
    perfdata_inject(recording, &output, &inject);
    perfdata_recording_close(recording);
    close(fd);
    return 0;
}
