/* SPDX-License-Identifier: MIT */
/* Tracing data, only as far as names go: which "system:name" has which id. */
#include "container/internal.h"
#include "format/tracing.h"

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

static const char *make_name(struct pd_arena *arena, const char *system, const char *text,
                             size_t size)
{
    size_t length, system_length = strlen(system);
    const char *name = line_value(text, size, "name: ", &length);
    if (!name || length > 256 || system_length > 256)
        return NULL;
    char *result = pd_arena_alloc(arena, system_length + length + 2);
    if (!result)
        return NULL;
    memcpy(result, system, system_length);
    result[system_length] = ':';
    memcpy(result + system_length + 1, name, length);
    result[system_length + 1 + length] = 0;
    return result;
}

struct search {
    struct pd_arena *arena;
    uint64_t id;
    const char *name;
};

static bool is_other(void *data, const struct pd_tracing_part *part)
{
    struct search *search = data;
    uint64_t id;
    if (part->kind != PD_TRACING_FORMAT || !format_id(part, &id) || id != search->id)
        return true;
    search->name = make_name(search->arena, part->system, (const char *)part->data, part->size);
    return false;
}

const char *pdc_tracepoint_name(struct pd_arena *arena, const uint8_t *bytes, size_t size,
                                uint64_t id)
{
    struct search search = { arena, id, NULL };
    pd_tracing_walk(bytes, size, is_other, &search);
    return search.name;
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
            status = pd_fail(&recording->context, PERFDATA_ERROR_MEMORY, -1, "out of memory");
        else if (status == PERFDATA_OK && pd_map64_get(&known.ids, attr->config) == PD_MAP64_NONE)
            status = pd_fail(&recording->context, PERFDATA_ERROR_NOT_PERF_DATA, -1,
                             "%s: incompatible file format: no tracing data of event %s",
                             recording->path, recording->events[i]->name);
    }
    pd_map64_free(&known.ids);
    return status;
}
