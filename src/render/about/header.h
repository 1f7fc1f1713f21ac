/* SPDX-License-Identifier: MIT */
/* The text of `--header` (text reference, section 2), for the verb `header` and for script and
 * report. */
#ifndef PD_RENDER_HEADER_H
#define PD_RENDER_HEADER_H
#include "base/text.h"
#include "container/container.h"

/* `full`: the long parts too (-I). */
/* What perf can print before it reads the records: every feature of a file, none of a pipe. */
void pd_header_before_records(const struct pd_recording *recording, bool full, struct pd_text *out);
/* The features alone. Of a pipe, perf prints them for -I even without --header. */
void pd_header_features(const struct pd_recording *recording, bool full, struct pd_text *out);
void pd_header_text(const struct pd_recording *recording, bool full, struct pd_text *out);
/* One object on one line with a newline. */
void pd_header_json(const struct pd_recording *recording, struct pd_text *out);

/* Each adds one feature's lines, or nothing where perf prints none. header_parts.c, header_bpf.c */
void pd_header_topology(const struct pd_recording *recording, struct pd_text *out);
void pd_header_numa(const struct pd_recording *recording, struct pd_text *out);
void pd_header_cache(const struct pd_recording *recording, struct pd_text *out);
void pd_header_memory(const struct pd_recording *recording, struct pd_text *out);
void pd_header_hybrid(const struct pd_recording *recording, struct pd_text *out);
void pd_header_domains(const struct pd_recording *recording, struct pd_text *out);
void pd_header_clock(const struct pd_recording *recording, struct pd_text *out);
void pd_header_cpu_caps(const struct pd_recording *recording, struct pd_text *out);
void pd_header_pmu_caps(const struct pd_recording *recording, struct pd_text *out);
void pd_header_bpf(const struct pd_recording *recording, struct pd_text *out);

#endif
