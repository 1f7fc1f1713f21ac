/* SPDX-License-Identifier: MIT */
/* Where the debug log of --itrace (letter d) goes: to ./intel_pt.log, or with d+o into the
 * output. */
#ifndef PD_TRACE_LOG_H
#define PD_TRACE_LOG_H
#include "render/raw_dump/raw_dump.h"
#include "io/output_file.h"
#include "itrace/synth.h"
#include "pipeline/pipeline.h"
#include <perfdata/recording.h>
#include <stdio.h>

struct pd_trace_log {
    struct pd_synth_log hooks;
    struct pd_raw_dump dump; /* for what perf prints of a record */
    struct pd_output_file output;
    FILE *file;              /* a stream to `output`; NULL: d+o */
    perfdata_write_fn write; /* with d+o and PD_TRACE_LOG_WRITE */
    void *write_data;
};

/* What the caller does with d+o. */
enum pd_trace_log_output { PD_TRACE_LOG_REFUSED, PD_TRACE_LOG_RECORDS, PD_TRACE_LOG_WRITE };

/* Does nothing without a d in the options. The log has to live longer than the session. For
 * PD_TRACE_LOG_WRITE the caller first sets `write` and `write_data`; else they stay zero. */
perfdata_status pd_trace_log_open(struct pd_trace_log *log, struct pd_recording *recording,
                                  const struct pd_itrace_options *options,
                                  enum pd_trace_log_output output, struct pd_synth_config *config);
/* Opens the log by the options of `config` and decodes the session's traces. */
perfdata_status pd_trace_log_decode(struct pd_trace_log *log, struct pd_session *session,
                                    enum pd_trace_log_output output,
                                    struct pd_synth_config *config);
/* Returns `status`, or the error where the file could not be written. */
perfdata_status pd_trace_log_close(struct pd_trace_log *log, perfdata_status status);

#endif
