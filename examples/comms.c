/* SPDX-License-Identifier: MIT */
/* Counts samples by command and by function, as they were when the sample was taken.
 *     cc comms.c $(pkg-config --cflags --libs perfdata) -o comms
 *     ./comms perf.data [SYMFS [KALLSYMS]] */
#include <perfdata/records.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ROWS = 1000 };

struct row {
    char comm[32], symbol[200];
    unsigned long samples;
};

static struct row rows[MAX_ROWS];
static size_t row_count;

static void count(const char *comm, const char *symbol)
{
    size_t i = 0;
    while (i < row_count && (strcmp(rows[i].comm, comm) || strcmp(rows[i].symbol, symbol)))
        i++;
    if (i == MAX_ROWS)
        return;
    if (i == row_count) {
        snprintf(rows[i].comm, sizeof rows[i].comm, "%s", comm);
        snprintf(rows[i].symbol, sizeof rows[i].symbol, "%s", symbol);
        row_count++;
    }
    rows[i].samples++;
}

static void take(const perfdata_record *record)
{
    const perfdata_sample *sample;
    struct perfdata_thread thread;
    struct perfdata_location place;
    uint64_t ip;
    thread.struct_size = sizeof thread;
    place.struct_size = sizeof place;
    if (perfdata_record_sample(record, &sample) < 0 || /* no sample, or a damaged one */
        perfdata_sample_value(sample, PERFDATA_SAMPLE_IP, &ip) < 0 ||
        perfdata_record_thread(record, &thread) < 0 ||
        perfdata_record_resolve(record, perfdata_sample_cpumode(sample), ip, &place) < 0)
        return;
    count(thread.comm, place.symbol ? place.symbol : "[unknown]");
}

int main(int argc, char **argv)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_cursor *cursor = NULL;
    const perfdata_record *record;
    size_t i;
    int status = perfdata_recording_open(argc > 1 ? argv[1] : "perf.data", NULL, &recording);
    options.flags = PERFDATA_CURSOR_RESOLVE;
    options.search.symfs = argc > 2 ? argv[2] : NULL;
    options.search.kallsyms = argc > 3 ? argv[3] : NULL;
    if (status == 0)
        status = perfdata_cursor_open(recording, &options, &cursor);
    while (status == 0 && (status = perfdata_cursor_next(cursor, &record)) > 0) {
        take(record);
        status = 0;
    }
    if (status < 0)
        fprintf(stderr, "%s\n",
                recording ? perfdata_recording_error(recording, NULL)
                          : perfdata_status_text(status));
    for (i = 0; i < row_count; i++)
        printf("%6lu  %-16s %s\n", rows[i].samples, rows[i].comm, rows[i].symbol);
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    return status < 0;
}
