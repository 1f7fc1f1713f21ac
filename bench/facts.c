/* SPDX-License-Identifier: MIT */
/* facts FILE: what the speed over a recording depends on, "146 MB, 884133 samples, 1754 processes,
 * 119000 stacks". A stack counts once by the addresses of its frames, whichever process had it. */
#include <perfdata/perfdata.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint64_t distinct(uint32_t *values, size_t count)
{
    uint64_t found = 0;
    qsort(values, count, sizeof *values, by_value);
    for (size_t i = 0; i < count; i++)
        found += i == 0 || values[i] != values[i - 1];
    return found;
}

static uint64_t distinct_stacks(const struct perfdata_samples *samples)
{
    uint32_t *stacks = malloc((samples->count + 1) * sizeof *stacks);
    if (!stacks)
        return 0;
    for (size_t i = 0; i < samples->count; i++)
        stacks[i] = samples->stack[i];
    uint64_t found = distinct(stacks, samples->count);
    free(stacks);
    return found;
}

static uint64_t distinct_processes(const perfdata_profile *profile)
{
    uint32_t threads = perfdata_profile_thread_count(profile), count = 0;
    uint32_t *pids = malloc(((size_t)threads + 1) * sizeof *pids);
    if (!pids)
        return 0;
    for (uint32_t i = 0; i < threads; i++) {
        const struct perfdata_profile_thread *thread = perfdata_profile_thread(profile, i);
        if (thread->samples)
            pids[count++] = thread->pid;
    }
    uint64_t found = distinct(pids, count);
    free(pids);
    return found;
}

int main(int argc, char **argv)
{
    struct perfdata_profile_options options = PERFDATA_PROFILE_OPTIONS_INIT;
    struct perfdata_samples samples = { .struct_size = sizeof samples };
    perfdata_profile *profile = NULL;
    perfdata_recording *recording = NULL;
    struct stat info;
    if (argc != 2 || stat(argv[1], &info))
        return 2;
    options.flags = PERFDATA_PROFILE_KEEP_SAMPLES | PERFDATA_PROFILE_NO_SUMS |
                    PERFDATA_PROFILE_NO_INLINE | PERFDATA_PROFILE_NO_ITRACE;
    options.detail = PERFDATA_FRAMES_BY_ADDRESS;
    int status = perfdata_recording_open(argv[1], NULL, &recording);
    if (status == 0)
        status = perfdata_profile_build(recording, &options, &profile);
    if (status == 0)
        status = perfdata_profile_samples(profile, &samples);
    if (status == 0)
        printf("%.1f MB, %zu samples, %" PRIu64 " processes, %" PRIu64 " stacks\n",
               (double)info.st_size / 1e6, samples.count, distinct_processes(profile),
               distinct_stacks(&samples));
    else
        fprintf(stderr, "facts: %s\n", perfdata_recording_error(recording, NULL));
    perfdata_profile_free(profile);
    perfdata_recording_close(recording);
    return status < 0;
}
