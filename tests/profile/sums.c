/* SPDX-License-Identifier: MIT */
/* The sums of a recording's profile, a line "comm|tid|count|weight" each; sums.sh says what they
 * must be. */
#include <perfdata/profile.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* RECORDING FLAGS THREADS */
int main(int argc, char **argv)
{
    struct perfdata_profile_options options = PERFDATA_PROFILE_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_profile *profile;
    size_t count = 0;
    if (argc != 4)
        return 2;
    options.perf_config = "/dev/null";
    options.flags = atoi(argv[2]) ? PERFDATA_PROFILE_SUMS_BY_COMM : 0;
    options.threads = (unsigned)atoi(argv[3]);
    perfdata_status status = perfdata_recording_open(argv[1], NULL, &recording);
    if (status == PERFDATA_OK)
        status = perfdata_profile_build(recording, &options, &profile);
    if (status != PERFDATA_OK) {
        fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
        return 1;
    }
    const struct perfdata_profile_sum *sums = perfdata_profile_sums(profile, &count);
    for (size_t i = 0; i < count; i++) {
        const struct perfdata_profile_thread *thread = perfdata_profile_thread(profile,
                                                                               sums[i].thread);
        printf("%s|%" PRIu32 "|%" PRIu64 "|%" PRIu64 "\n", thread->comm, thread->tid, sums[i].count,
               sums[i].weight);
    }
    perfdata_profile_free(profile);
    perfdata_recording_close(recording);
    return 0;
}
