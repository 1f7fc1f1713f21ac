/* SPDX-License-Identifier: MIT */
/* Exports a recording within given bounds, to standard output; parts.sh says what must come of
 * it. */
#include "convert/convert.h"
#include <perfdata/perfdata.h>
#include <stdio.h>
#include <stdlib.h>

static int put(void *data, const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, data) != size;
}

/* RECORDING FORMAT DETAIL GROUP THREADS NUMBERED STACKS FRAMES SYMFS KALLSYMS [ITRACE]; NUMBERED 0:
 * the usual bounds. */
int main(int argc, char **argv)
{
    struct perfdata_export_options options = { .struct_size = sizeof options, .detail = -1 };
    struct perfdata_profile_options profile = PERFDATA_PROFILE_OPTIONS_INIT;
    struct pd_profile_bounds bounds = PD_PROFILE_BOUNDS;
    perfdata_recording *recording;
    if (argc < 11)
        return 2;
    options.detail = atoi(argv[3]);
    options.group = (uint32_t)atoi(argv[4]);
    options.profile = &profile;
    profile.threads = (unsigned)atoi(argv[5]);
    profile.search.symfs = argv[9];
    profile.search.kallsyms = *argv[10] ? argv[10] : NULL;
    profile.perf_config = "/dev/null";
    profile.itrace = (const char *const *)&argv[11];
    profile.itrace_count = argc > 11;
    if (atoi(argv[6])) {
        bounds.numbered = (uint32_t)atoi(argv[6]);
        bounds.stacks = (uint32_t)atoi(argv[7]);
        bounds.frames = (uint32_t)atoi(argv[8]);
    }
    perfdata_status status = perfdata_recording_open(argv[1], NULL, &recording);
    if (status >= 0)
        status = pd_export_run(recording, argv[2], &options, &bounds, put, stdout, NULL);
    if (status < 0)
        fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
    perfdata_recording_close(recording);
    return status < 0 || fflush(stdout) ? 1 : 0;
}
