/* SPDX-License-Identifier: MIT */
/* Status codes, issues and limits: what every other header of libperfdata speaks of. */
#ifndef PERFDATA_STATUS_H
#define PERFDATA_STATUS_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PERFDATA_API __attribute__((visibility("default")))
#else
#define PERFDATA_API
#endif

/* 0, or negative: one of enum perfdata_error. Since 0.1. */
typedef int perfdata_status;

/* The values are fixed for ever; gaps are room for later codes. Since 0.1. */
enum perfdata_error {
    PERFDATA_OK = 0,
    /* Bad argument or bad state of the caller: nothing was done. */
    PERFDATA_ERROR_ARGUMENT = -1,
    PERFDATA_ERROR_UNSUPPORTED = -2,
    /* The world outside. */
    PERFDATA_ERROR_MEMORY = -20,
    PERFDATA_ERROR_IO = -21,
    PERFDATA_ERROR_NOT_FOUND = -22,
    PERFDATA_ERROR_ACCESS = -23,
    PERFDATA_ERROR_OUTPUT = -24,
    PERFDATA_ERROR_LIMIT = -25,
    PERFDATA_ERROR_CANCELLED = -26,
    /* The input. */
    PERFDATA_ERROR_EMPTY = -40,
    PERFDATA_ERROR_NOT_PERF_DATA = -41,
    PERFDATA_ERROR_BAD_HEADER = -42,
    PERFDATA_ERROR_BAD_RECORD = -43,
    PERFDATA_ERROR_TRUNCATED = -44,
    PERFDATA_ERROR_STRICT = -45,  /* strict mode: the first issue */
    PERFDATA_ERROR_NO_DATA = -46, /* what was asked for is not in the recording */
    /* Our own bug; please report. */
    PERFDATA_ERROR_INTERNAL = -90
};

/* A short text for a status, never NULL, static. Since 0.1. */
PERFDATA_API const char *perfdata_status_text(perfdata_status status);

/* Something wrong in the input that did not stop us. Since 0.1. */
enum perfdata_issue_kind {
    PERFDATA_ISSUE_NONE = 0,
    PERFDATA_ISSUE_UNFINISHED,      /* data.size 0: the recorder did not end properly       */
    PERFDATA_ISSUE_TRUNCATED,       /* the input ends before its header says                */
    PERFDATA_ISSUE_BAD_RECORD,      /* a record whose size or content is impossible         */
    PERFDATA_ISSUE_SKIPPED_BYTES,   /* bytes skipped to find the next plausible record      */
    PERFDATA_ISSUE_UNKNOWN_RECORD,  /* a record type that we do not know, skipped by size   */
    PERFDATA_ISSUE_UNKNOWN_FEATURE, /* a header feature that we do not know                 */
    PERFDATA_ISSUE_BAD_FEATURE,     /* a header feature that does not parse                 */
    PERFDATA_ISSUE_BAD_ATTR,        /* an attr with an odd size or unknown bits             */
    PERFDATA_ISSUE_UNKNOWN_ID,      /* a record whose id belongs to no event                */
    PERFDATA_ISSUE_BAD_SAMPLE,      /* a sample whose content exceeds its size              */
    PERFDATA_ISSUE_OUT_OF_ORDER,    /* a record older than what has been delivered          */
    PERFDATA_ISSUE_LOST,            /* the kernel lost records, samples or parts of a trace */
    PERFDATA_ISSUE_BAD_CALLCHAIN,   /* an unknown context marker                            */
    PERFDATA_ISSUE_OBJECT,          /* a program, library or symbol file that cannot be used */
    PERFDATA_ISSUE_LIMIT,           /* a limit of ours was reached                          */
    PERFDATA_ISSUE_UNSUPPORTED,     /* something that this version cannot read yet          */
    PERFDATA_ISSUE_LATE_SAMPLES,    /* what a trace adds to samples may be of another time  */
    PERFDATA_ISSUE_TRACE_ERROR,     /* parts of a trace that could not be decoded           */
    PERFDATA_ISSUE_SYMBOLS,         /* symbols of the kernel that are missing or not its own */
    PERFDATA_ISSUE_EXTRA_RECORD,    /* a record that may come once came again and is ignored */
    PERFDATA_ISSUE_CONFIG,          /* a setting of a configuration file that is not honoured */
    PERFDATA_ISSUE_COUNT
};

/* Valid during the callback only. `offset` is in the file named by `path`, -1 if unknown. Since
 * 0.1. */
struct perfdata_issue {
    size_t struct_size;
    int32_t kind; /* enum perfdata_issue_kind */
    uint32_t reserved;
    int64_t offset;
    const char *path;
    const char *text;
    /* What perf 6.1 writes to its standard error for this issue: whole lines, each with its newline
     * ("Warning:" may be the first). NULL: perf says nothing. Present when struct_size reaches it.
     * Since 0.1. */
    const char *perf_text;
};

/* The name of an issue kind in lower case with hyphens ("bad-record"), static, never NULL. Since
 * 0.1. */
PERFDATA_API const char *perfdata_issue_name(int32_t kind);

#ifdef __cplusplus
}
#endif
#endif
