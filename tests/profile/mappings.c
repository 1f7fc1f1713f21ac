/* SPDX-License-Identifier: MIT */
/* The mappings of a recording's profile, a line "pid|start|end|offset|object" each, made with as
 * many threads as asked. mappings.sh says what they must be. */
#include <perfdata/profile.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* RECORDING SYMFS THREADS */
int main(int argc, char **argv)
{
    struct perfdata_profile_options options = PERFDATA_PROFILE_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_profile *profile;
    if (argc != 4)
        return 2;
    options.search.symfs = argv[2];
    options.perf_config = "/dev/null";
    options.threads = (unsigned)atoi(argv[3]);
    perfdata_status status = perfdata_recording_open(argv[1], NULL, &recording);
    if (status == PERFDATA_OK)
        status = perfdata_profile_build(recording, &options, &profile);
    if (status != PERFDATA_OK) {
        fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
        return 1;
    }
    for (uint32_t i = 0; i < perfdata_profile_mapping_count(profile); i++) {
        const struct perfdata_profile_mapping *map = perfdata_profile_mapping(profile, i);
        printf("%" PRId32 "|%" PRIx64 "|%" PRIx64 "|%" PRIx64 "|%s\n", (int32_t)map->pid,
               map->start, map->end, map->offset,
               perfdata_profile_object(profile, map->object)->name);
    }
    perfdata_profile_free(profile);
    perfdata_recording_close(recording);
    return 0;
}
