/* SPDX-License-Identifier: MIT */
/* Tracing data, only as far as names go: which "system:name" has which id. Bounded by the section throughout. */
#include "container/internal.h"

struct reader {
    const uint8_t *next, *end;
    bool swap; /* the data tells its own byte order */
    bool bad;
};

static const uint8_t *take(struct reader *reader, uint64_t size)
{
    if (reader->bad || size > (uint64_t)(reader->end - reader->next)) {
        reader->bad = true;
        return NULL;
    }
    const uint8_t *at = reader->next;
    reader->next += size;
    return at;
}

static uint32_t take32(struct reader *reader)
{
    const uint8_t *at = take(reader, 4);
    return at ? pd_load32(at, reader->swap) : 0;
}

static uint64_t take64(struct reader *reader)
{
    const uint8_t *at = take(reader, 8);
    return at ? pd_load64(at, reader->swap) : 0;
}

static const char *take_string(struct reader *reader)
{
    const uint8_t *nul = reader->bad
                             ? NULL
                             : memchr(reader->next, 0, (size_t)(reader->end - reader->next));
    if (!nul) {
        reader->bad = true;
        return NULL;
    }
    const char *text = (const char *)reader->next;
    reader->next = nul + 1;
    return text;
}

/* Up to the event systems. */
static bool skip_head(struct reader *reader)
{
    const uint8_t *magic = take(reader, 10);
    if (!magic || memcmp(magic, "\x17\x08\x44tracing", 10) != 0)
        return false;
    take_string(reader); /* version */
    const uint8_t *order = take(reader, 2);
    if (!order)
        return false;
    const uint16_t one = 1;
    bool host_big = *(const uint8_t *)&one == 0;
    reader->swap = (order[0] == 1) != host_big;
    take32(reader);                    /* page size */
    for (unsigned i = 0; i < 2; i++) { /* header_page, header_event */
        take_string(reader);
        take(reader, take64(reader));
    }
    uint32_t count = take32(reader); /* events of ftrace itself */
    while (count-- && !reader->bad)
        take(reader, take64(reader));
    return !reader->bad;
}

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

const char *pdc_tracepoint_name(struct pd_arena *arena, const uint8_t *bytes, size_t size,
                                uint64_t id)
{
    struct reader reader = { .next = bytes, .end = bytes + size };
    if (!skip_head(&reader))
        return NULL;
    uint32_t systems = take32(&reader);
    while (systems-- && !reader.bad) {
        const char *system = take_string(&reader);
        uint32_t count = take32(&reader);
        while (count-- && !reader.bad) {
            uint64_t length = take64(&reader);
            const char *text = (const char *)take(&reader, length);
            if (text && format_has_id(text, (size_t)length, id))
                return make_name(arena, system, text, (size_t)length);
        }
    }
    return NULL;
}
