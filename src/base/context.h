/* SPDX-License-Identifier: MIT */
/* Errors, issues and limits of one recording: where every layer reports what is wrong. */
#ifndef PD_CONTEXT_H
#define PD_CONTEXT_H
#include "base/base.h"
#include <pthread.h>

struct perfdata_progress;

typedef void (*pd_issue_fn)(void *data, const struct perfdata_issue *issue);

struct pd_limits {
    uint64_t memory;       /* bytes of queued records; 0: the default of order/    */
    uint64_t records;      /* records read; 0: no limit                            */
    uint64_t decompressed; /* bytes made from compressed records; 0: pd_is_bomb()  */
    uint32_t threads;      /* workers; 0: all cores                                */
};

/* As perfdata_progress_fn, which base/ does not know. */
typedef int (*pd_progress_fn)(void *data, const struct perfdata_progress *progress);

struct pd_context {
    pd_progress_fn on_progress; /* may be NULL */
    void *progress_data;
    pd_issue_fn on_issue; /* may be NULL */
    void *issue_data;
    const char *path; /* of the recording, for issues; may be NULL */
    bool strict;
    bool strict_failed; /* an issue came in strict mode; `message` tells it */
    struct pd_limits limits;
    pthread_mutex_t lock;
    uint64_t issue_count[PERFDATA_ISSUE_COUNT];
    perfdata_status status; /* of the last failure */
    int64_t offset;         /* of the last failure, -1 unknown */
    char message[512];
};

void pd_context_init(struct pd_context *context);
void pd_context_fini(struct pd_context *context);

/* Stores message and offset (-1: unknown), returns `status`. */
perfdata_status pd_fail(struct pd_context *context, perfdata_status status, int64_t offset,
                        const char *format, ...) PD_PRINTF(4, 5);

/* Fails with PERFDATA_ERROR_MEMORY. `what` names what there was no room for, "the profile"; NULL
 * where that would help nobody. */
perfdata_status pd_no_memory(struct pd_context *context, const char *what);

/* Counts an issue and tells the callback. 0, or PERFDATA_ERROR_STRICT in strict mode. Safe from any
 * worker. */
perfdata_status pd_issue(struct pd_context *context, enum perfdata_issue_kind kind, int64_t offset,
                         const char *format, ...) PD_PRINTF(4, 5);

/* Where an analysis ends: `status`, or PERFDATA_ERROR_STRICT when an issue came meanwhile where
 * nobody could stop, or PERFDATA_ERROR_MEMORY when an allocation failed on this thread since
 * pd_memory_forget(), whoever went on without it. */
perfdata_status pd_analysis_status(struct pd_context *context, perfdata_status status);

/* An issue that perf 6.1 tells on its standard error, in perf's words: `format` makes whole lines
 * with their newlines, "Warning:\n" first where perf has it. They reach the callback as
 * `perf_text`, and joined to one line without "Warning:" as `text`. Otherwise as pd_issue(). */
perfdata_status pd_warning(struct pd_context *context, enum perfdata_issue_kind kind,
                           int64_t offset, const char *format, ...) PD_PRINTF(4, 5);

/* Copies a caller's option struct, which begins with its own size, to `to` of `known` bytes.
 * Members that it lacks (an older caller) keep their value in `to`; bytes that it has beyond (a
 * newer caller) must be zero, else nothing is copied: PERFDATA_ERROR_ARGUMENT, with a message in
 * `context` (may be NULL). `given` NULL: nothing is copied. */
perfdata_status pd_take_options(struct pd_context *context, void *to, size_t known,
                                const void *given);
/* The other way round: copies `result` of `known` bytes to the caller's struct, which already holds
 * its own size and keeps it; bytes beyond become zero. `out` NULL: nothing is copied. */
void pd_give_result(void *out, const void *result, size_t known);

#endif
