/* SPDX-License-Identifier: MIT */
/* Lists the events of a recording and where it was made.
 * cc events.c $(pkg-config --cflags --libs perfdata) -o events && ./events perf.data */
#include <perfdata/recording.h>
#include <inttypes.h>
#include <stdio.h>

static void on_issue(void *data, const struct perfdata_issue *issue)
{
    (void)data;
    fprintf(stderr, "%s: %s\n", perfdata_issue_name(issue->kind), issue->text);
}

static const char *or_unknown(const char *text)
{
    return text ? text : "unknown";
}

int main(int argc, char **argv)
{
    struct perfdata_options options = PERFDATA_OPTIONS_INIT;
    perfdata_recording *recording;
    options.on_issue = on_issue;
    perfdata_status status = perfdata_recording_open(argc > 1 ? argv[1] : "perf.data", &options,
                                                     &recording);
    if (status < 0) {
        fprintf(stderr, "%s\n",
                recording ? perfdata_recording_error(recording, NULL)
                          : perfdata_status_text(status));
        perfdata_recording_close(recording);
        return 1;
    }
    printf("machine %s, kernel %s, perf %s\n", or_unknown(perfdata_recording_arch(recording)),
           or_unknown(perfdata_recording_os_release(recording)),
           or_unknown(perfdata_recording_perf_version(recording)));
    for (size_t i = 0; i < perfdata_recording_event_count(recording); i++) {
        const perfdata_event *event = perfdata_recording_event(recording, i);
        uint64_t period = 0, freq = 0;
        size_t ids;
        perfdata_event_attr(event, "sample_period", &period);
        perfdata_event_attr(event, "freq", &freq);
        perfdata_event_ids(event, &ids);
        printf("%s: type %" PRIu32 ", config 0x%" PRIx64 ", %s %" PRIu64 ", %zu ids\n",
               perfdata_event_name(event), perfdata_event_type(event), perfdata_event_config(event),
               freq ? "frequency" : "period", period, ids);
    }
    perfdata_recording_close(recording);
    return 0;
}
