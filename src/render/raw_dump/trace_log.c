/* SPDX-License-Identifier: MIT */
/* The debug log of decoding -> ./intel_pt.log, or the output. */
#include "render/raw_dump/trace_log.h"
#include "render/raw_dump/record_text.h"
#include <errno.h>
#include <unistd.h>

static const char file_name[] = "intel_pt.log";

static perfdata_status put(void *data, const char *text, size_t size)
{
    struct pd_trace_log *log = data;
    if (log->file) /* a failure is told when the file is closed */
        fwrite(text, 1, size, log->file);
    else if (log->write(log->write_data, text, size))
        return PERFDATA_ERROR_OUTPUT;
    return PERFDATA_OK;
}

static void put_record(void *data, const struct pd_delivered *record, struct pd_text *out)
{
    struct pd_trace_log *log = data;
    struct pd_record_auxtrace_error error;
    struct pd_arena arena = { 0 };
    if (record->type != PD_RECORD_AUXTRACE_ERROR) {
        pd_raw_dump_name(&log->dump, record, out);
        return;
    }
    if (pd_record_decode(NULL, record->data, record->size, log->dump.recording->swap, &arena,
                         &error, sizeof error) >= 0)
        pd_auxtrace_error_text(&error, out);
    pd_arena_free(&arena);
}

static perfdata_status open_file(struct pd_trace_log *log, struct pd_context *context)
{
    perfdata_status status = pd_output_file_open(context, file_name, PD_OUTPUT_SHARED,
                                                 &log->output);
    if (status < 0)
        return status;
    int fd = dup(log->output.fd); /* the stream closes its own */
    log->file = fd < 0 ? NULL : fdopen(fd, "w");
    if (log->file)
        return PERFDATA_OK;
    if (fd >= 0)
        close(fd);
    status = pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "%s: %s", file_name, strerror(errno));
    return pd_output_file_close(context, &log->output, status);
}

perfdata_status pd_trace_log_open(struct pd_trace_log *log, struct pd_recording *recording,
                                  const struct pd_itrace_options *options,
                                  enum pd_trace_log_output output, struct pd_synth_config *config)
{
    bool to_output = options->log_plus & PD_ITRACE_FLAG('o');
    *log = (struct pd_trace_log){ .write = log->write, .write_data = log->write_data };
    if (!options->log)
        return PERFDATA_OK;
    if (to_output && output == PD_TRACE_LOG_REFUSED)
        return pd_fail(&recording->context, PERFDATA_ERROR_UNSUPPORTED, -1,
                       "the debug log of --itrace goes to %s only here: d without +o", file_name);
    pd_raw_dump_init(&log->dump, recording, PD_RAW_DUMP_SCRIPT);
    perfdata_status status = to_output ? PERFDATA_OK : open_file(log, &recording->context);
    if (status < 0)
        return status;
    bool written = log->file || output == PD_TRACE_LOG_WRITE;
    log->hooks = (struct pd_synth_log){ .data = log,
                                        .write = written ? put : NULL,
                                        .errors = log->file != NULL,
                                        .record = put_record };
    config->log = &log->hooks;
    return PERFDATA_OK;
}

perfdata_status pd_trace_log_decode(struct pd_trace_log *log, struct pd_session *session,
                                    enum pd_trace_log_output output, struct pd_synth_config *config)
{
    perfdata_status status = pd_trace_log_open(log, session->recording, config->options, output,
                                               config);
    return status < 0 ? status : pd_session_decode(session, config);
}

perfdata_status pd_trace_log_close(struct pd_trace_log *log, perfdata_status status)
{
    if (!log->file)
        return status;
    bool failed = ferror(log->file) != 0;
    failed |= fclose(log->file) != 0;
    log->file = NULL;
    /* Closed as if all went well, so that the log is kept: what led to a failure is what one
     * looks for. */
    struct pd_context *context = &log->dump.recording->context;
    perfdata_status closed = pd_output_file_close(context, &log->output, PERFDATA_OK);
    if (failed && closed >= 0)
        closed = pd_fail(context, PERFDATA_ERROR_OUTPUT, -1, "%s cannot be written", file_name);
    return status < 0 ? status : closed;
}
