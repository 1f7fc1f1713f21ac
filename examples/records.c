/* SPDX-License-Identifier: MIT */
/* Lists the records of a recording in file order, a JSON object a line.
 * cc records.c $(pkg-config --cflags --libs perfdata) -o records && ./records perf.data */
#include <perfdata/records.h>
#include <inttypes.h>
#include <stdio.h>

static void print(const perfdata_record *record)
{
    const char *name = perfdata_record_name(record);
    const perfdata_event *event = perfdata_record_event(record);
    struct perfdata_identity who;
    size_t size;
    perfdata_record_bytes(record, &size);
    who.struct_size = sizeof who;
    perfdata_record_identity(record, &who);
    printf("{\"offset\":%" PRIu64 ",\"type\":%" PRIu32 ",\"name\":\"%s\",\"size\":%zu",
           perfdata_record_offset(record), perfdata_record_type(record), name ? name : "unknown",
           size);
    if (perfdata_record_time(record) != PERFDATA_NO_TIME)
        printf(",\"time\":\"%" PRIu64 "\"", perfdata_record_time(record));
    if (who.pid != UINT32_MAX)
        printf(",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32, who.pid, who.tid);
    if (event)
        printf(",\"event\":%zu", perfdata_event_index(event));
    printf("}\n");
}

int main(int argc, char **argv)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_cursor *cursor = NULL;
    const perfdata_record *record;
    int status = perfdata_recording_open(argc > 1 ? argv[1] : "perf.data", NULL, &recording);
    options.order = PERFDATA_FILE_ORDER;
    if (status == 0)
        status = perfdata_cursor_open(recording, &options, &cursor);
    while (status == 0 && (status = perfdata_cursor_next(cursor, &record)) > 0) {
        print(record);
        status = 0;
    }
    if (status < 0)
        fprintf(stderr, "%s\n",
                recording ? perfdata_recording_error(recording, NULL)
                          : perfdata_status_text(status));
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    return status < 0;
}
