/* SPDX-License-Identifier: MIT */
/* Prints the call chain of each sample, as `perfdata script -F ip,sym` does.
 *     cc chains.c $(pkg-config --cflags --libs perfdata) -o chains
 *     ./chains perf.data [SYMFS [KALLSYMS]] */
#include <perfdata/perfdata.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    struct perfdata_cursor_options options = PERFDATA_CURSOR_OPTIONS_INIT;
    struct perfdata_sample_row row = { .struct_size = sizeof row };
    static struct perfdata_location frames[127];
    perfdata_recording *recording;
    perfdata_cursor *cursor;
    frames[0].struct_size = sizeof frames[0];
    options.flags = PERFDATA_CURSOR_RESOLVE;
    options.search.symfs = argc > 2 ? argv[2] : NULL;
    options.search.kallsyms = argc > 3 ? argv[3] : NULL;
    int status = perfdata_cursor_open_path(argc > 1 ? argv[1] : "perf.data", NULL, &options,
                                           &recording, &cursor);
    while (status >= 0 && (status = perfdata_cursor_next_sample(cursor, &row, frames, 127)) > 0) {
        printf("\n");
        for (size_t i = 0; row.has_chain && i < row.frame_count; i++)
            printf("\t%16" PRIx64 " %s\n", frames[i].address, /* in the object */
                   frames[i].symbol ? frames[i].symbol : "[unknown]");
        printf("\n");
    }
    if (status < 0)
        fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
    perfdata_cursor_close(cursor);
    perfdata_recording_close(recording);
    return status < 0;
}
