/* SPDX-License-Identifier: MIT */
/* Tracing data, only as far as names go: which "system:name" has which id. */
#include "base/vec.h"
#include "container/internal.h"
#include "format/tracing.h"
#include <stdlib.h>

/* The text behind `key` at the start of a line, up to the line's end. */
static const char *line_value(const char *text, size_t size, const char *key, size_t *length)
{
    size_t key_length = strlen(key);
    const char *end = text + size;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        stop = stop ? stop : end;
        if ((size_t)(stop - text) >= key_length && memcmp(text, key, key_length) == 0) {
            *length = (size_t)(stop - text) - key_length;
            return text + key_length;
        }
        text = stop + 1;
        if (stop == end)
            break;
    }
    return NULL;
}

/* False: the format has none. */
static bool format_id(const struct pd_tracing_part *part, uint64_t *id)
{
    size_t length;
    const char *value = line_value((const char *)part->data, part->size, "ID: ", &length);
    uint64_t number = 0;
    if (!value || !length)
        return false;
    for (size_t i = 0; i < length && value[i] >= '0' && value[i] <= '9' && number < UINT32_MAX; i++)
        number = number * 10 + (uint64_t)(value[i] - '0');
    *id = number;
    return true;
}

struct point {
    const char *system;
    const uint8_t *format;
    size_t size;
};

/* False: no memory. A format without a name, or with one that is too long, gives none. */
static bool make_name(struct pd_arena *arena, const struct point *point, const char **out)
{
    enum { LONGEST = 256 };
    size_t length, system_length = strlen(point->system);
    const char *name = line_value((const char *)point->format, point->size, "name: ", &length);
    if (!name || length > LONGEST || system_length > LONGEST)
        return true;
    char *result = pd_arena_alloc(arena, system_length + length + 2);
    if (!result)
        return false;
    memcpy(result, point->system, system_length);
    result[system_length] = ':';
    memcpy(result + system_length + 1, name, length);
    result[system_length + 1 + length] = 0;
    *out = result;
    return true;
}

/* The formats of one tracing data. */
struct pdc_points {
    const uint8_t *data;
    struct pd_map64 by_id; /* the first one with this id */
    PD_VEC(struct point) list;
    bool failed;
};

static bool note_point(void *data, const struct pd_tracing_part *part)
{
    struct pdc_points *points = data;
    uint64_t id;
    if (part->kind != PD_TRACING_FORMAT || !format_id(part, &id) ||
        pd_map64_get(&points->by_id, id) != PD_MAP64_NONE)
        return true;
    points->failed |= !pd_map64_set(&points->by_id, id, (uint32_t)points->list.count) ||
                      !pd_vec_push(&points->list,
                                   (struct point){ part->system, part->data, part->size });
    return !points->failed;
}

void pdc_points_free(struct pdc_points *points)
{
    if (!points)
        return;
    pd_map64_free(&points->by_id);
    pd_vec_free(&points->list);
    free(points);
}

static bool note_points(struct pd_recording *recording)
{
    const struct pd_span *span = &recording->features.tracing_data.data;
    struct pdc_points *points = recording->points;
    if (points && points->data == span->data)
        return true;
    pdc_points_free(points);
    recording->points = points = calloc(1, sizeof *points);
    if (!points)
        return false;
    points->data = span->data;
    pd_tracing_walk(span->data, span->size, note_point, points);
    return !points->failed;
}

perfdata_status pdc_tracepoint_name(struct pd_recording *recording, uint64_t id, const char **out)
{
    if (!note_points(recording))
        return pd_no_memory(&recording->context, "names of tracepoints");
    uint32_t at = pd_map64_get(&recording->points->by_id, id);
    if (at == PD_MAP64_NONE)
        return PERFDATA_OK;
    return make_name(&recording->arena, &recording->points->list.data[at], out)
               ? PERFDATA_OK
               : pd_no_memory(&recording->context, NULL);
}

struct known {
    struct pd_map64 ids;
    bool failed;
};

static bool note_id(void *data, const struct pd_tracing_part *part)
{
    struct known *known = data;
    uint64_t id;
    if (part->kind == PD_TRACING_FORMAT && format_id(part, &id))
        known->failed |= !pd_map64_set(&known->ids, id, 0);
    return !known->failed;
}

/* perf heeds where tracing data begin, not what size they are said to have. */
static perfdata_status note_ids(struct pd_recording *recording, struct known *known)
{
    enum { MOST = 64 << 20 };
    uint8_t entry[16];
    size_t got = 0, size = 0;
    const uint8_t *bytes = NULL;
    unsigned before = recording->feature_table.bits[0] & 1;
    uint64_t end = pd_source_size(recording->source);
    if (!pd_recording_has_feature(recording, PD_FEATURE_TRACING_DATA))
        return PERFDATA_OK;
    perfdata_status status = pd_source_read(recording->source,
                                            recording->feature_table.offset + 16u * before, entry,
                                            sizeof entry, &got);
    uint64_t offset = got == sizeof entry ? pd_load64(entry, recording->swap) : end;
    if (status == PERFDATA_OK && offset < end) {
        struct pd_section section = { offset, PD_MIN(end - offset, MOST) };
        status = pdc_read_section(recording, section, &bytes, &size);
    }
    if (status == PERFDATA_OK && size)
        pd_tracing_walk(bytes, size, note_id, known);
    return status;
}

perfdata_status pdc_need_formats(struct pd_recording *recording)
{
    struct known known = { 0 };
    perfdata_status status = PERFDATA_OK;
    bool is_noted = false;
    for (size_t i = 0; i < recording->event_count && status == PERFDATA_OK; i++) {
        const struct pd_attr *attr = &recording->events[i]->attr;
        if (attr->type != PD_TYPE_TRACEPOINT)
            continue;
        if (!is_noted)
            status = note_ids(recording, &known);
        is_noted = true;
        if (status == PERFDATA_OK && known.failed)
            status = pd_no_memory(&recording->context, NULL);
        else if (status == PERFDATA_OK && pd_map64_get(&known.ids, attr->config) == PD_MAP64_NONE)
            status = pd_fail(&recording->context, PERFDATA_ERROR_NOT_PERF_DATA, -1,
                             "%s: incompatible file format: no tracing data of event %s",
                             recording->path, recording->events[i]->name);
    }
    pd_map64_free(&known.ids);
    return status;
}
