/* SPDX-License-Identifier: MIT */
/* Status codes -> their names. */
#include <perfdata/status.h>

const char *perfdata_status_text(perfdata_status status)
{
    switch ((enum perfdata_error)status) {
    case PERFDATA_OK: return "success";
    case PERFDATA_ERROR_ARGUMENT: return "bad argument";
    case PERFDATA_ERROR_UNSUPPORTED: return "not supported";
    case PERFDATA_ERROR_MEMORY: return "out of memory";
    case PERFDATA_ERROR_IO: return "input/output error";
    case PERFDATA_ERROR_NOT_FOUND: return "not found";
    case PERFDATA_ERROR_ACCESS: return "permission denied";
    case PERFDATA_ERROR_OUTPUT: return "output cannot be written";
    case PERFDATA_ERROR_LIMIT: return "limit reached";
    case PERFDATA_ERROR_CANCELLED: return "cancelled";
    case PERFDATA_ERROR_EMPTY: return "empty input";
    case PERFDATA_ERROR_NOT_PERF_DATA: return "not a perf.data recording";
    case PERFDATA_ERROR_BAD_HEADER: return "bad file header";
    case PERFDATA_ERROR_BAD_RECORD: return "bad record";
    case PERFDATA_ERROR_TRUNCATED: return "truncated input";
    case PERFDATA_ERROR_STRICT: return "issue found in strict mode";
    case PERFDATA_ERROR_NO_DATA: return "no such data in the recording";
    case PERFDATA_ERROR_INTERNAL: return "internal error";
    }
    return status > 0 ? "success" : "unknown error";
}

static const char *const issue_names[PERFDATA_ISSUE_COUNT] = {
    [PERFDATA_ISSUE_NONE] = "none",
    [PERFDATA_ISSUE_UNFINISHED] = "unfinished",
    [PERFDATA_ISSUE_TRUNCATED] = "truncated",
    [PERFDATA_ISSUE_BAD_RECORD] = "bad-record",
    [PERFDATA_ISSUE_SKIPPED_BYTES] = "skipped-bytes",
    [PERFDATA_ISSUE_UNKNOWN_RECORD] = "unknown-record",
    [PERFDATA_ISSUE_UNKNOWN_FEATURE] = "unknown-feature",
    [PERFDATA_ISSUE_BAD_FEATURE] = "bad-feature",
    [PERFDATA_ISSUE_BAD_ATTR] = "bad-attr",
    [PERFDATA_ISSUE_UNKNOWN_ID] = "unknown-id",
    [PERFDATA_ISSUE_BAD_SAMPLE] = "bad-sample",
    [PERFDATA_ISSUE_OUT_OF_ORDER] = "out-of-order",
    [PERFDATA_ISSUE_LOST] = "lost",
    [PERFDATA_ISSUE_BAD_CALLCHAIN] = "bad-callchain",
    [PERFDATA_ISSUE_OBJECT] = "object",
    [PERFDATA_ISSUE_LIMIT] = "limit",
    [PERFDATA_ISSUE_UNSUPPORTED] = "unsupported",
    [PERFDATA_ISSUE_LATE_SAMPLES] = "late-samples",
    [PERFDATA_ISSUE_TRACE_ERROR] = "trace-error",
    [PERFDATA_ISSUE_SYMBOLS] = "symbols",
    [PERFDATA_ISSUE_EXTRA_RECORD] = "extra-record",
    [PERFDATA_ISSUE_CONFIG] = "config",
};

const char *perfdata_issue_name(int32_t kind)
{
    return kind >= 0 && kind < PERFDATA_ISSUE_COUNT ? issue_names[kind] : "unknown";
}
