/* SPDX-License-Identifier: MIT */
/* Prints each sample of a tracepoint: its name, perf's text, and its fields with their numbers.
 *     cc tracepoints.c $(pkg-config --cflags --libs perfdata) -o tracepoints
 *     ./tracepoints perf.data */
#include <perfdata/perfdata.h>
#include <inttypes.h>
#include <stdio.h>

static void print_fields(const perfdata_record *record)
{
    struct perfdata_tracepoint_field field;
    size_t i, count = perfdata_record_tracepoint_count(record);
    const char *text;
    field.struct_size = sizeof field;
    for (i = 0; i < count; i++) {
        if (perfdata_record_tracepoint_at(record, i, &field) < 0 || field.common)
            continue;
        printf("  %s (%s)", field.name, field.type);
        if (field.value.kind <= PERFDATA_VALUE_SIGNED)
            printf(" = %" PRIu64, field.value.number);
        if (perfdata_record_tracepoint_text(record, field.name, &text) == 0)
            printf(": %s", text);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    perfdata_recording *recording;
    perfdata_cursor *cursor = NULL;
    const perfdata_record *record;
    const char *text;
    int status = perfdata_recording_open(argc > 1 ? argv[1] : "perf.data", NULL, &recording);
    if (status == 0)
        status = perfdata_cursor_open(recording, NULL, &cursor);
    while (status == 0 && (status = perfdata_cursor_next(cursor, &record)) > 0) {
        status = 0;
        if (perfdata_record_tracepoint_text(record, NULL, &text) < 0)
            continue; /* no sample of a tracepoint */
        printf("%s: %s\n", perfdata_event_name(perfdata_record_event(record)), text);
        print_fields(record);
    }
    if (status < 0)
        fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    return status < 0;
}
