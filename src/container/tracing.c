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

static bool format_has_id(const char *text, size_t size, uint64_t id)
{
    size_t length;
    const char *value = line_value(text, size, "ID: ", &length);
    uint64_t number = 0;
    if (!value || !length)
        return false;
    for (size_t i = 0; i < length && value[i] >= '0' && value[i] <= '9' && number < UINT32_MAX; i++)
        number = number * 10 + (uint64_t)(value[i] - '0');
    return number == id;
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
    const char *text = (const char *)part->data;
    if (part->kind != PD_TRACING_FORMAT || !format_has_id(text, part->size, search->id))
        return true;
    search->name = make_name(search->arena, part->system, text, part->size);
    return false;
}

const char *pdc_tracepoint_name(struct pd_arena *arena, const uint8_t *bytes, size_t size,
                                uint64_t id)
{
    struct search search = { arena, id, NULL };
    pd_tracing_walk(bytes, size, is_other, &search);
    return search.name;
}
