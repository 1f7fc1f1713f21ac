/* SPDX-License-Identifier: MIT */
/* Behind <perfdata/records.h>. */
#ifndef PD_API_CURSOR_H
#define PD_API_CURSOR_H
#include "container/handle.h"
#include "pipeline/front.h"
#include <perfdata/records.h>

struct perfdata_sample {
    struct pd_sample decoded;
};

struct perfdata_record {
    const struct pd_delivered *delivered;
    struct perfdata_cursor *cursor;
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
};

#endif
