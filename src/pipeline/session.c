/* SPDX-License-Identifier: MIT */
#include "pipeline/pipeline.h"

perfdata_status pd_session_open(struct pd_recording *recording,
                                const struct pd_object_search *search, struct pd_session *out)
{
    struct pd_context *context = &recording->context;
    *out = (struct pd_session){ .recording = recording };
    out->timeline = pd_timeline_new(context, &recording->features, recording->swap);
    if (out->timeline && search)
        out->symbols = pd_symbols_new(context, out->timeline, &recording->features, search);
    bool jit = search && search->jitdump && out->timeline;
    if (jit)
        out->jit = pd_jit_new(recording, out->timeline, search->jitdump, search->symfs);
    if (!out->timeline || (search && !out->symbols) || (jit && !out->jit)) {
        pd_session_close(out);
        return pd_fail(context, PERFDATA_ERROR_MEMORY, -1, "no memory for a session");
    }
    out->order_stats = &out->order_stats_copy;
    return 0;
}

void pd_session_close(struct pd_session *session)
{
    if (session->symbols)
        pd_symbols_free(session->symbols);
    if (session->timeline)
        pd_timeline_free(session->timeline);
    pd_jit_free(session->jit);
    memset(session, 0, sizeof *session);
}
