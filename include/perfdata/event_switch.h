/* SPDX-License-Identifier: MIT */
/* Part of the options of script and report: samples between two events. */
#ifndef PERFDATA_EVENT_SWITCH_H
#define PERFDATA_EVENT_SWITCH_H

#ifdef __cplusplus
extern "C" {
#endif

/* Names of events as perfdata_event_name() gives them; strings are borrowed for the call. Samples
 * count from the first one of `on` after which no `off` came. With `off` alone perf 6.1, and so
 * does perfdata, leaves out the first sample of that event and nothing else. Samples that other
 * filters drop switch nothing in script; in report only those outside of its times. Since 0.1. */
struct perfdata_event_switch {
    const char *on, *off; /* NULL: none */
    int shows_both;       /* the samples that switch are shown, too */
    int reserved;         /* 0 */
};

#ifdef __cplusplus
}
#endif
#endif
