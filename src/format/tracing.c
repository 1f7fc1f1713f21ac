/* SPDX-License-Identifier: MIT */
/* The bytes of tracing data -> its parts. Bounded by the bytes throughout. */
#include "format/tracing.h"

struct reader {
    const uint8_t *bytes;
    size_t at, size;
    bool swap; /* the data tell their own byte order */
    bool bad, stopped;
    bool (*each)(void *data, const struct pd_tracing_part *part);
    void *data;
};

const char *pd_tracing_kind_name(enum pd_tracing_kind kind)
{
    static const char *const names[] = {
        [PD_TRACING_MAGIC] = "magic",
        [PD_TRACING_VERSION] = "version",
        [PD_TRACING_ORDER] = "byte_order",
        [PD_TRACING_LONG] = "long_size",
        [PD_TRACING_PAGE] = "page_size",
        [PD_TRACING_HEADER_PAGE] = "header_page",
        [PD_TRACING_HEADER_EVENT] = "header_event",
        [PD_TRACING_FTRACE_COUNT] = "ftrace_count",
        [PD_TRACING_FTRACE_FORMAT] = "ftrace_format",
        [PD_TRACING_SYSTEM_COUNT] = "system_count",
        [PD_TRACING_SYSTEM] = "system",
        [PD_TRACING_FORMAT] = "format",
        [PD_TRACING_KALLSYMS] = "kallsyms",
        [PD_TRACING_PRINTK] = "printk",
        [PD_TRACING_CMDLINES] = "cmdlines",
        [PD_TRACING_REST] = "rest",
    };
    return names[kind];
}

static bool done(const struct reader *r)
{
    return r->bad || r->stopped;
}

/* NULL: there are not as many bytes. */
static const uint8_t *take(struct reader *r, uint64_t size)
{
    if (done(r) || size > r->size - r->at) {
        r->bad |= !r->stopped;
        return NULL;
    }
    const uint8_t *at = r->bytes + r->at;
    r->at += (size_t)size;
    return at;
}

static const char *take_string(struct reader *r, size_t *length)
{
    const uint8_t *start = r->bytes + r->at;
    const uint8_t *nul = done(r) ? NULL : memchr(start, 0, r->size - r->at);
    if (!nul) {
        r->bad |= !r->stopped;
        return NULL;
    }
    *length = (size_t)(nul - start);
    r->at += *length + 1;
    return (const char *)start;
}

static void tell(struct reader *r, struct pd_tracing_part part)
{
    if (!done(r))
        r->stopped = !r->each(r->data, &part);
}

/* A number of `width` bytes; 0 where there is none. */
static uint64_t number(struct reader *r, unsigned width)
{
    const uint8_t *at = take(r, width);
    return !at          ? 0
           : width == 1 ? *at
           : width == 4 ? pd_load32(at, r->swap)
                        : pd_load64(at, r->swap);
}

static uint64_t tell_number(struct reader *r, enum pd_tracing_kind kind, unsigned width)
{
    size_t at = r->at;
    uint64_t value = number(r, width);
    tell(r, (struct pd_tracing_part){ .kind = kind, .offset = at, .size = width, .number = value });
    return value;
}

/* A size of `width` bytes, and so many bytes. */
static void tell_bytes(struct reader *r, enum pd_tracing_kind kind, unsigned width,
                       const char *system)
{
    uint64_t size = number(r, width);
    size_t at = r->at;
    const uint8_t *data = take(r, size);
    if (data)
        tell(
            r,
            (struct pd_tracing_part){
                .kind = kind, .offset = at, .data = data, .size = (size_t)size, .system = system });
}

static void tell_head(struct reader *r)
{
    static const char magic[] = "\x17\x08\x44tracing";
    const uint16_t one = 1;
    size_t length = 0, at;
    const uint8_t *bytes = take(r, sizeof magic - 1);
    if (!bytes || memcmp(bytes, magic, sizeof magic - 1) != 0) {
        r->bad = true;
        r->at = 0;
        return;
    }
    tell(r, (struct pd_tracing_part){
                .kind = PD_TRACING_MAGIC, .data = bytes, .size = sizeof magic - 1 });
    at = r->at;
    const char *version = take_string(r, &length);
    tell(r, (struct pd_tracing_part){ .kind = PD_TRACING_VERSION,
                                      .offset = at,
                                      .data = (const uint8_t *)version,
                                      .size = length });
    bool host_is_big = *(const uint8_t *)&one == 0;
    r->swap = (tell_number(r, PD_TRACING_ORDER, 1) == 1) != host_is_big;
    tell_number(r, PD_TRACING_LONG, 1);
    tell_number(r, PD_TRACING_PAGE, 4);
    take_string(r, &length); /* "header_page" */
    tell_bytes(r, PD_TRACING_HEADER_PAGE, 8, NULL);
    take_string(r, &length);
    tell_bytes(r, PD_TRACING_HEADER_EVENT, 8, NULL);
}

static void tell_formats(struct reader *r)
{
    uint64_t count = tell_number(r, PD_TRACING_FTRACE_COUNT, 4);
    while (count-- && !done(r))
        tell_bytes(r, PD_TRACING_FTRACE_FORMAT, 8, "ftrace");
    uint64_t systems = tell_number(r, PD_TRACING_SYSTEM_COUNT, 4);
    while (systems-- && !done(r)) {
        size_t at = r->at, length = 0;
        const char *system = take_string(r, &length);
        count = number(r, 4);
        tell(r, (struct pd_tracing_part){ .kind = PD_TRACING_SYSTEM,
                                          .offset = at,
                                          .data = (const uint8_t *)system,
                                          .size = length,
                                          .number = count,
                                          .system = system });
        while (count-- && !done(r))
            tell_bytes(r, PD_TRACING_FORMAT, 8, system);
    }
}

/* The versions are told apart by their first digits: "0.5" has no cmdlines. */
static bool has_cmdlines(const struct reader *r, size_t version_at)
{
    const char *version = (const char *)r->bytes + version_at;
    return strcmp(version, "0.6") >= 0;
}

bool pd_tracing_walk(const uint8_t *bytes, size_t size,
                     bool (*each)(void *data, const struct pd_tracing_part *part), void *data)
{
    enum { VERSION_AT = 10 };
    struct reader r = { .bytes = bytes, .size = size, .each = each, .data = data };
    tell_head(&r);
    tell_formats(&r);
    tell_bytes(&r, PD_TRACING_KALLSYMS, 4, NULL);
    tell_bytes(&r, PD_TRACING_PRINTK, 4, NULL);
    if (!done(&r) && has_cmdlines(&r, VERSION_AT))
        tell_bytes(&r, PD_TRACING_CMDLINES, 8, NULL);
    if (!r.stopped && r.at < size) {
        struct pd_tracing_part rest = {
            .kind = PD_TRACING_REST, .offset = r.at, .data = bytes + r.at, .size = size - r.at
        };
        r.each(r.data, &rest);
    }
    return !r.bad;
}
