/* SPDX-License-Identifier: MIT */
/* Prints the branches of an Intel PT recording, as `script --itrace=b -F ip,sym,symoff,addr` does.
 *     cc pt_branches.c $(pkg-config --cflags --libs perfdata) -o pt_branches
 *     ./pt_branches perf.data [SYMFS] */
#include <perfdata/perfdata.h>
#include <inttypes.h>
#include <stdio.h>

static void print_place(const struct perfdata_sample_row *row, uint32_t field, const char *end)
{
    struct perfdata_location at = { .struct_size = sizeof at };
    perfdata_record_resolve(row->record, row->cpumode, row->values[field], &at);
    printf(" %16" PRIx64 " %s", row->values[field], at.symbol ? at.symbol : "[unknown]");
    if (at.symbol)
        printf("+0x%" PRIx64, at.address - at.symbol_start);
    printf("%s", end);
}

int main(int argc, char **argv)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    struct perfdata_sample_row row = { .struct_size = sizeof row };
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    options.flags = PERFDATA_CURSOR_RESOLVE;
    options.search.symfs = argc > 2 ? argv[2] : NULL;
    options.itrace = (const char *const[]){ "b" };
    options.itrace_count = 1;
    int status = perfdata_cursor_open_path(argc > 1 ? argv[1] : "perf.data", NULL, &options,
                                           &recording, &cursor);
    while (status >= 0 && (status = perfdata_cursor_next_sample(cursor, &row, NULL, 0)) > 0) {
        print_place(&row, PERFDATA_SAMPLE_IP, " =>");
        print_place(&row, PERFDATA_SAMPLE_ADDR, "\n");
    }
    if (status < 0)
        fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    return status < 0;
}
