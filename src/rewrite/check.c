/* SPDX-License-Identifier: MIT */
/* What makes a recording's content doubtful, though its file may be sound. */
#include "container/handle.h"
#include "format/offsets.h"
#include "rewrite/sample_map.h"
#include "object/elf/build_id.h"
#include "object/lines/lines.h"
#include <inttypes.h>
#include <perfdata/rewrite.h>

enum { NAMES_SHOWN = 20 };

struct check {
    struct pd_recording *recording;
    struct pd_sample_map sample_map;
    struct perfdata_check_result result;
    uint64_t lost_records, lost_samples, dropped_samples, throttled, unthrottled, bad_samples,
        no_map, no_event;
    uint64_t aux_truncated, aux_partial, aux_collision, trace_errors, backward;
    PD_VEC(uint8_t) hits; /* by the object's index */
    bool no_memory;
};

static void note_hit(struct check *check, const struct pd_dso *dso)
{
    if (!pd_vec_reserve(&check->hits, dso->index + 1u)) {
        check->no_memory = true;
        return;
    }
    while (check->hits.count <= dso->index)
        check->hits.data[check->hits.count++] = 0;
    check->hits.data[dso->index] = 1;
}

static void note_sample(struct check *check, const struct pd_delivered *record,
                        const struct pd_map *map)
{
    struct pd_sample sample;
    check->result.samples++;
    if (!record->event) {
        check->no_event++;
        return;
    }
    if (pd_sample_decode(record->event, record->data, record->size, &sample) < 0)
        check->bad_samples++;
    uint32_t mode = record->misc & PD_MISC_CPUMODE_MASK;
    if (map && map->dso)
        note_hit(check, map->dso);
    else if (record->event->plan.ip && (mode == PD_CPUMODE_KERNEL || mode == PD_CPUMODE_USER))
        check->no_map++;
}

static void note_aux(struct check *check, const struct pd_delivered *record)
{
    uint64_t flags = record->size >= 32
                         ? pd_load64(record->data + PD_AT(aux, flags), check->recording->swap)
                         : 0;
    check->aux_truncated += (flags & PD_AUX_TRUNCATED) != 0;
    check->aux_partial += (flags & PD_AUX_PARTIAL) != 0;
    check->aux_collision += (flags & PD_AUX_COLLISION) != 0;
}

static void note(struct check *check, const struct pd_delivered *record, const struct pd_map *map)
{
    bool swap = check->recording->swap;
    check->result.records++;
    switch (record->type) {
    case PD_RECORD_SAMPLE: note_sample(check, record, map); break;
    case PD_RECORD_LOST:
        check->lost_records += record->size >= 24
                                   ? pd_load64(record->data + PD_AT(lost, lost), swap)
                                   : 0;
        break;
    case PD_RECORD_LOST_SAMPLES:
        *(record->misc & PD_MISC_LOST_SAMPLES_BPF ? &check->dropped_samples
                                                  : &check->lost_samples) +=
            record->size >= 16 ? pd_load64(record->data + PD_AT(lost_samples, lost), swap) : 0;
        break;
    case PD_RECORD_THROTTLE: check->throttled++; break;
    case PD_RECORD_UNTHROTTLE: check->unthrottled++; break;
    case PD_RECORD_AUX: note_aux(check, record); break;
    case PD_RECORD_AUXTRACE_ERROR: check->trace_errors++; break;
    default: break;
    }
}

static perfdata_status read_all(struct check *check)
{
    struct pd_order *order;
    struct pd_delivered record;
    int got = pd_order_open(check->recording, PD_ORDER_DELIVERY, &order);
    if (got < 0)
        return got;
    while ((got = pd_order_next(order, &record)) > 0) {
        const struct pd_map *map;
        got = pd_sample_map_take(&check->sample_map, record.event, record.data, record.size,
                                 record.type, record.misc, &map);
        if (got < 0)
            break;
        note(check, &record, map);
    }
    check->backward = pd_order_statistics(order)->late;
    pd_order_close(order);
    if (check->no_memory)
        return pd_no_memory(&check->recording->context, NULL);
    return got;
}

/* ---- the text ---- */

static void line(struct check *check, struct pd_text *out, uint64_t count, const char *text)
{
    if (!count)
        return;
    check->result.content_issues++;
    pd_text_format(out, "content: %" PRIu64 " %s\n", count, text);
}

static void put_objects(struct check *check, struct pd_text *out)
{
    size_t count = pd_timeline_dso_count(check->sample_map.session.timeline);
    uint64_t missing = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pd_dso *dso = pd_timeline_dso(check->sample_map.session.timeline, i);
        bool file = dso->kind == PD_DSO_USER || dso->kind == PD_DSO_KERNEL ||
                    dso->kind == PD_DSO_MODULE;
        if (!file || dso->build_id_size || dso->index >= check->hits.count ||
            !check->hits.data[dso->index])
            continue;
        if (missing++ < NAMES_SHOWN)
            pd_text_format(out, "content: no build-id of %s\n", dso->long_name);
    }
    if (missing > NAMES_SHOWN)
        pd_text_format(out, "content: no build-id of %" PRIu64 " more objects\n",
                       missing - NAMES_SHOWN);
    check->result.content_issues += missing != 0;
}

/* The file that was recorded, as far as build-ids tell. */
static bool is_recorded(const struct pd_dso *dso)
{
    struct pd_build_id recorded = pd_build_id_make(dso->build_id, dso->build_id_size), found;
    return !recorded.size || (pd_build_id_read(dso->long_name, &found) == PERFDATA_OK &&
                              pd_build_id_equal(&recorded, &found));
}

/* Debug data that will be missing from reports, of objects that samples hit. */
static void put_debug_data(struct check *check, struct pd_text *out)
{
    const struct pd_timeline *timeline = check->sample_map.session.timeline;
    for (size_t i = 0; i < pd_timeline_dso_count(timeline); i++) {
        const struct pd_dso *dso = pd_timeline_dso(timeline, i);
        if (dso->kind != PD_DSO_USER || dso->index >= check->hits.count ||
            !check->hits.data[dso->index] || !is_recorded(dso))
            continue;
        struct pd_lines *lines = pd_lines_probe(dso->long_name);
        const char *path, *problem = lines ? pd_lines_problem(lines, &path) : NULL;
        if (problem) {
            pd_text_format(out, "content: %s: %s\n", path, problem);
            check->result.content_issues++;
        }
        pd_lines_free(lines);
    }
}

static void put_text(struct check *check, struct pd_text *out)
{
    line(check, out, check->lost_records, "records lost by the kernel: its buffer was full");
    line(check, out, check->lost_samples, "samples lost by the kernel");
    line(check, out, check->throttled, "times throttled: samples are missing");
    line(check, out, check->backward, "records older than what was delivered before them");
    line(check, out, check->no_event, "samples of no event");
    line(check, out, check->bad_samples, "samples that say more than they hold");
    line(check, out, check->no_map, "samples at addresses where nothing is mapped");
    line(check, out, check->aux_truncated, "times trace data was cut: the buffer was full");
    line(check, out, check->aux_partial, "times trace data has gaps");
    line(check, out, check->aux_collision, "times trace data of others was mixed in");
    line(check, out, check->trace_errors, "errors of decoded trace data");
    put_objects(check, out);
    put_debug_data(check, out);
    if (check->dropped_samples) /* dropped on request: nothing is amiss */
        pd_text_format(out, "%" PRIu64 " more samples were dropped by a BPF filter\n",
                       check->dropped_samples);
    pd_text_format(out, "%" PRIu64 " records, %" PRIu64 " samples\n", check->result.records,
                   check->result.samples);
}

perfdata_status perfdata_check(perfdata_recording *recording, perfdata_write_fn write, void *data,
                               struct perfdata_check_result *result)
{
    if (!recording->open)
        return PERFDATA_ERROR_ARGUMENT;
    struct pd_recording *inner = &recording->recording;
    struct check check = { .recording = inner };
    struct pd_text text = { 0 };
    perfdata_status status = pd_session_open(inner, NULL, &check.sample_map.session);
    if (status < 0)
        return status;
    status = read_all(&check);
    put_text(&check, &text);
    status = pd_analysis_status(&inner->context, status);
    for (unsigned kind = 0; kind < PERFDATA_ISSUE_COUNT; kind++)
        check.result.file_issues += inner->context.issue_count[kind] &&
                                    kind != PERFDATA_ISSUE_OUT_OF_ORDER;
    perfdata_status written = pd_api_emit(&inner->context, &text, write, data);
    pd_vec_free(&check.hits);
    pd_session_close(&check.sample_map.session);
    pd_give_result(result, &check.result, sizeof check.result);
    return status < 0 ? status : written;
}
