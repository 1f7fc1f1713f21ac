/* SPDX-License-Identifier: MIT */
/* What the files of container/ share. */
#ifndef PD_CONTAINER_INTERNAL_H
#define PD_CONTAINER_INTERNAL_H
#include "container/container.h"

/* header.c: the file header and the feature bitmap. */
perfdata_status pdc_read_header(struct pd_recording *recording);
/* Bytes of a section of the file: from the caller's memory, or read into the arena. Never more than
 * the file has: *size is then less than asked. */
perfdata_status pdc_read_section(struct pd_recording *recording, struct pd_section section,
                                 const uint8_t **bytes, size_t *size);

/* events.c: the attrs section; then what finds a record's event. */
perfdata_status pdc_read_events(struct pd_recording *recording);
perfdata_status pdc_finish_positions(struct pd_recording *recording);

/* features.c: keeps a feature's payload, which lives as long as the recording, and what it says;
 * feature_bad reports one that does not parse. `offset`: where it is in the recording, for
 * issues. */
perfdata_status pdc_take_feature(struct pd_recording *recording, unsigned feature,
                                 const uint8_t *bytes, size_t size, uint64_t offset);
/* The feature table and each feature; names and groups that they give. */
perfdata_status pdc_read_features(struct pd_recording *recording);

/* names.c: every event gets its name. */
perfdata_status pdc_name_events(struct pd_recording *recording);

perfdata_status pdc_name_event(struct pd_recording *recording, struct pd_event *event);

/* directory.c: the main file of a directory, and the others once its features are known. */
perfdata_status pdc_open_directory(struct pd_recording *recording);
perfdata_status pdc_open_parts(struct pd_recording *recording);

/* pipe.c: a stream's head: all that a file keeps in sections. */
#define PDC_ENDLESS (UINT64_MAX / 4)
perfdata_status pdc_open_pipe(struct pd_recording *recording);
/* Takes one of the records that such a head consists of; others do nothing. */
perfdata_status pdc_take_head(struct pd_recording *recording, const struct pd_raw *raw);

/* tracing.c: "system:name" of the tracepoint with this id in the recording's tracing data; NULL:
 * it is not there. All are looked for at once, by the first call. */
perfdata_status pdc_tracepoint_name(struct pd_recording *recording, uint64_t id, const char **out);
void pdc_points_free(struct pdc_points *points);

/* With PERFDATA_LIKE_PERF: fails as perf does on a file with tracepoints whose formats are
 * missing. */
perfdata_status pdc_need_formats(struct pd_recording *recording);

PD_INLINE const struct pd_event *pdc_event_by_id(const struct pd_recording *recording, uint64_t id)
{
    uint32_t index = pd_map64_get(&recording->ids.by_id, id);
    return index == PD_MAP64_NONE ? NULL : recording->events[index];
}

/* Where the id of a record stands by this plan, 0: nowhere. */
PD_INLINE uint32_t pdc_id_offset(const struct pd_plan *plan, uint32_t size, uint32_t type)
{
    uint32_t at;
    if (type == PD_RECORD_SAMPLE) {
        at = 8u * plan->id_position;
        return at + 8 <= size ? at : 0;
    }
    at = 8u * plan->is_position;
    return at && (size & ~7u) >= at + 8 ? (size & ~7u) - at : 0;
}

#endif
