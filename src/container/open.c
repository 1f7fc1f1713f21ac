/* SPDX-License-Identifier: MIT */
/* Opening: header, events, features, names, in this order. */
#include "container/internal.h"

perfdata_status pd_recording_open(struct pd_source *source, const char *path,
                                  struct pd_recording *out)
{
    out->source = source;
    out->path = pd_arena_strdup(&out->arena, path ? path : "");
    if (!out->path)
        return pd_no_memory(&out->context, NULL);
    out->context.path = out->path;
    out->kind = PD_CONTAINER_FILE;
    perfdata_status status = pd_source_unpack(&out->source);
    if (status == PERFDATA_OK && pd_source_is_directory(out->source))
        status = pdc_open_directory(out);
    if (status == PERFDATA_OK)
        status = pdc_read_header(out);
    if (status == PERFDATA_OK && out->kind == PD_CONTAINER_PIPE)
        return pdc_open_pipe(out);
    if (status == PERFDATA_OK)
        status = pdc_read_events(out);
    if (status == PERFDATA_OK)
        status = pdc_finish_positions(out);
    if (status == PERFDATA_OK)
        status = pdc_read_features(out);
    if (status == PERFDATA_OK)
        status = pdc_name_events(out);
    if (status == PERFDATA_OK && out->like_perf && !out->unfinished)
        status = pdc_need_formats(out);
    if (status == PERFDATA_OK && out->directory)
        status = pdc_open_parts(out);
    return status;
}

void pd_recording_close(struct pd_recording *recording)
{
    for (size_t i = 0; i < recording->parts.count; i++)
        pd_source_close(recording->parts.sources[i]);
    pd_source_close(recording->source);
    pd_source_close(recording->directory);
    pd_map64_free(&recording->ids.by_id);
    pdc_points_free(recording->points);
    pd_arena_free(&recording->arena);
    pd_context_fini(&recording->context);
    memset(recording, 0, sizeof *recording);
}
