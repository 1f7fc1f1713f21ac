/* SPDX-License-Identifier: MIT */
/* Prints each branch of an Intel PT recording, as `perfdata script --itrace=b -F
 * ip,sym,symoff,addr` does.
 *     cc pt_branches.c $(pkg-config --cflags --libs perfdata) -o pt_branches
 *     ./pt_branches perf.data [SYMFS] */
#include <perfdata/perfdata.h>
#include <inttypes.h>
#include <stdio.h>

static void print_place(const perfdata_record *record, const perfdata_sample *sample,
                        uint32_t field, const char *end)
{
    struct perfdata_location at;
    uint64_t ip;
    at.struct_size = sizeof at;
    perfdata_sample_value(sample, field, &ip);
    if (perfdata_record_resolve(record, perfdata_sample_cpumode(sample), ip, &at) < 0 || !at.symbol)
        printf(" %16" PRIx64 " [unknown]%s", ip, end);
    else
        printf(" %16" PRIx64 " %s+0x%" PRIx64 "%s", ip, at.symbol, at.address - at.symbol_start,
               end);
}

int main(int argc, char **argv)
{
    static const char *const branches[] = { "b" };
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_cursor *cursor = NULL;
    const perfdata_record *record;
    const perfdata_sample *sample;
    int status = perfdata_recording_open(argc > 1 ? argv[1] : "perf.data", NULL, &recording);
    options.flags = PERFDATA_CURSOR_RESOLVE;
    options.search.symfs = argc > 2 ? argv[2] : NULL;
    options.itrace = branches;
    options.itrace_count = 1;
    if (status == 0)
        status = perfdata_cursor_open(recording, &options, &cursor);
    for (; status == 0 && (status = perfdata_cursor_next(cursor, &record)) > 0; status = 0) {
        if (perfdata_record_sample(record, &sample) < 0)
            continue; /* another record */
        print_place(record, sample, PERFDATA_SAMPLE_IP, " =>");
        print_place(record, sample, PERFDATA_SAMPLE_ADDR, "\n");
    }
    if (status < 0)
        fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    return status < 0;
}
