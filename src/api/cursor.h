/* SPDX-License-Identifier: MIT */
/* Behind <perfdata/records.h>. */
#ifndef PD_API_CURSOR_H
#define PD_API_CURSOR_H
#include "base/text.h"
#include "container/handle.h"
#include "itrace/options.h"
#include "pipeline/front.h"
#include "render/script/plan.h"
#include "tracepoint/tracepoint.h"
#include <perfdata/records.h>

struct perfdata_sample {
    struct pd_sample decoded;
    struct perfdata_cursor *cursor;
};

struct perfdata_record {
    const struct pd_delivered *delivered;
    struct perfdata_cursor *cursor;
};

/* What perfdata_cursor_next_samples() needs to remember. */
struct pd_api_batch {
    PD_VEC(const struct pd_delivered *) given; /* the samples that it gave last */
    int failed;          /* what stopped it behind them: the next call's result */
    uint32_t frames;     /* that have numbers */
    uint32_t generation; /* of these numbers */
};

struct perfdata_cursor {
    struct pd_recording *recording;
    uint32_t flags;
    struct perfdata_record record;
    struct perfdata_sample sample;
    /* without resolving: records as order/ gives them */
    struct pd_order *order;
    struct pd_delivered delivered;
    /* with: a front of its own, batch after batch */
    struct pd_object_search search;
    struct pd_session session;
    struct pd_consumer consumer;
    struct pd_front front;
    struct pd_job *job;
    size_t next; /* in the job's batch */
    int filled;  /* what filling it returned: 1 there is more behind it */
    struct pd_resolver *resolver;
    struct pd_itrace_options itrace;
    /* formats of tracepoints, read when they are first asked for */
    struct pd_tracing *tracing;
    bool tracing_known;
    struct pd_code_reader *code;     /* NULL until an instruction is asked for, */
    struct pd_script_source *source; /* or a line of source */
    struct pd_insn_bytes insn;       /* that was given out last */
    PD_VEC(struct pd_frame) frames;  /* scratch */
    struct pd_text text;             /* what was given out last */
    struct pd_api_batch batch;
};

/* The record's bytes are in this machine's order: decoding a trace made it. */
PD_INLINE bool pd_api_is_made(const struct pd_delivered *delivered)
{
    return !delivered->chunk;
}
/* Into cursor->text, NUL-terminated. */
perfdata_status pd_api_give_text(struct perfdata_cursor *cursor, const char **text);
/* PERFDATA_ERROR_ARGUMENT: the cursor does not resolve; PERFDATA_ERROR_NO_DATA: the record has no
 * thread. */
perfdata_status pd_api_resolves(const perfdata_record *record);
perfdata_status pd_api_decode(const perfdata_record *record, struct pd_sample *out);
/* It is a sample of a known event. */
PD_INLINE bool pd_api_is_sample(const struct pd_delivered *delivered)
{
    return delivered->type == PD_RECORD_SAMPLE && delivered->event;
}
/* Goes on to the next record, which is cursor->record then; 1, 0, or a status. */
int pd_api_next(struct perfdata_cursor *cursor);
/* Whether the next record can be had while what points to the last ones stays valid. */
PD_INLINE bool pd_api_is_at_hand(const struct perfdata_cursor *cursor)
{
    return !cursor->order && cursor->next < cursor->job->batch.count;
}
/* Fills a row, which is all zero, with the current record, and cursor->frames with the row's
 * frames, at most `capacity`. */
perfdata_status pd_api_fill_row(struct perfdata_cursor *cursor, size_t capacity,
                                struct perfdata_sample_row *row);
void pd_api_put_location(const perfdata_record *record, const struct pd_location *location,
                         uint64_t ip, struct perfdata_location *out);

#endif
