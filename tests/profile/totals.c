/* SPDX-License-Identifier: MIT */
/* What the functions of a recording take, by the profile: a line "event|self period|self
 * samples|total share|object|function" for each event and function, own weights of inlined
 * functions with their callers as in report; unknown ones are one for each object. totals.sh
 * compares it with report. */
#include <perfdata/profile.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int print_event(const perfdata_profile *profile, uint32_t event)
{
    struct perfdata_query query = PERFDATA_QUERY_INIT;
    struct perfdata_row *rows;
    size_t count;
    const struct perfdata_profile_event *about = perfdata_profile_event(profile, event);
    query.event = event;
    query.flags = PERFDATA_QUERY_OUTER_SELF;
    if (perfdata_profile_rows(profile, &query, &rows, &count) != PERFDATA_OK)
        return 1;
    for (size_t i = 0; i < count; i++) {
        const struct perfdata_profile_function *function = perfdata_profile_function(profile,
                                                                                     rows[i].key);
        const struct perfdata_profile_object *object = perfdata_profile_object(profile,
                                                                               function->object);
        double share = about->weight ? (double)rows[i].total_weight * 100 / (double)about->weight
                                     : 0;
        printf("%s|%" PRIu64 "|%" PRIu64 "|%.2f|%s|%s%s\n", about->name, rows[i].self_weight,
               rows[i].self_count, share, object ? object->name : "[unknown]", function->name,
               function->flags & PERFDATA_FUNCTION_INLINED ? " (inlined)" : "");
    }
    perfdata_rows_free(rows);
    return 0;
}

/* RECORDING DETAIL SYMFS KALLSYMS [ITRACE] */
int main(int argc, char **argv)
{
    struct perfdata_profile_options options = PERFDATA_PROFILE_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_profile *profile;
    if (argc < 5)
        return 2;
    options.detail = (uint32_t)atoi(argv[2]);
    options.search.symfs = argv[3];
    options.search.kallsyms = *argv[4] ? argv[4] : NULL;
    options.perf_config = "/dev/null";
    options.itrace = (const char *const *)&argv[5];
    options.itrace_count = argc > 5;
    perfdata_status status = perfdata_recording_open(argv[1], NULL, &recording);
    if (status == PERFDATA_OK)
        status = perfdata_profile_build(recording, &options, &profile);
    if (status != PERFDATA_OK) {
        fprintf(stderr, "%s\n", perfdata_recording_error(recording, NULL));
        return 1;
    }
    int failed = 0;
    for (uint32_t i = 0; i < perfdata_profile_event_count(profile); i++)
        failed |= perfdata_profile_event(profile, i)->samples && print_event(profile, i);
    perfdata_profile_free(profile);
    perfdata_recording_close(recording);
    return failed;
}
