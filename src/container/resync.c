/* SPDX-License-Identifier: MIT */
/* What a plausible record is, and the way back to one after damage.
 *
 * One header proves little, a row of them much: each must begin where the last ends. Records are
 * nearly always aligned to 8 bytes, so an aligned row may be shorter than one that is not. */
#include "container/walk.h"
#include "format/offsets.h"

enum {
    LINKS_ALIGNED = 3,
    LINKS_ODD = 6,
    LINKS_BEHIND_ODD_RECORD = 4,
    ROWS_TRIED = 32,
    TYPE_MAX = 1 << 17, /* no perf, nor simpleperf, has numbers from here on */
    AHEAD = 128 * 1024, /* a row is judged by what lies within so many bytes */
    WINDOW = AHEAD + 64 * 1024,
    BITS_OF_ENDS = UINT16_MAX / 8 + 1 /* a bit for each place in a record that is not wide */
};

/* Only simpleperf's own types have wide sizes here: any number may stand in the type of a damaged
 * record. */
struct pdc_header pdc_header(const uint8_t *record, bool swap)
{
    struct pdc_header header = { pd_load32(record, swap), pd_load16(record + 6, swap),
                                 pd_load16(record + 4, swap) };
    if (header.type >= PD_RECORD_WIDE && pd_record_type_name(header.type)) {
        header.size |= (uint32_t)header.misc << 16;
        header.misc = 0;
    }
    return header;
}

static bool may_be_odd(uint32_t type)
{
    return type == PD_RECORD_HEADER_TRACING_DATA || type == PD_RECORD_HEADER_FEATURE ||
           type == PD_RECORD_HEADER_BUILD_ID || type == PD_RECORD_COMPRESSED ||
           type >= PD_RECORD_WIDE;
}

bool pdc_is_plain(uint32_t type)
{
    switch (type) {
    case PD_RECORD_EVENT_UPDATE:
    case PD_RECORD_AUXTRACE:
    case PD_RECORD_HEADER_TRACING_DATA:
    case PD_RECORD_COMPRESSED:
    case PD_RECORD_COMPRESSED2: return false;
    default: return pd_record_type_name(type) != NULL;
    }
}

uint16_t pdc_most(uint32_t type)
{
    enum { PATH = 4096 + 256, SHORT = 1024 };
    switch (type) {
    case PD_RECORD_MMAP:
    case PD_RECORD_MMAP2:
    case PD_RECORD_CGROUP: return PATH;
    case PD_RECORD_SAMPLE:
    case PD_RECORD_TEXT_POKE: return UINT16_MAX;
    default: return type < PD_RECORD_KERNEL_END ? SHORT : UINT16_MAX;
    }
}

bool pdc_is_known(const struct pdc_header *header)
{
    return pd_record_type_name(header->type) &&
           (header->type >= PD_RECORD_KERNEL_END || header->size <= pdc_most(header->type));
}

bool pdc_looks_right(const struct pdc_header *header)
{
    if (!pdc_is_known(header) || header->size < pd_record_min_size(header->type) ||
        header->size > PDC_RECORD_MAX)
        return false;
    if (header->type == PD_RECORD_FINISHED_ROUND || header->type == PD_RECORD_FINISHED_INIT)
        return header->size == 8;
    return !(header->size & 7) || may_be_odd(header->type);
}

/* Bytes from one record's start to the next's. */
static uint64_t stride(const struct pd_walk *walk, const uint8_t *record,
                       const struct pdc_header *header)
{
    uint64_t size = header->size;
    if (header->type == PD_RECORD_AUXTRACE && (uint64_t)(walk->end - record) >= 16)
        size += PD_MIN(pd_load64(record + PD_AT(auxtrace, data_size), walk->swap), walk->data_end);
    else if (header->type == PD_RECORD_HEADER_TRACING_DATA &&
             !pdc_holds_tracing_data(header->type, header->size) && walk->end - record >= 12)
        size += pd_load32(record + PD_AT(header_tracing_data, data_size), walk->swap);
    return size;
}

static bool window_is_all(const struct pd_walk *walk)
{
    return walk->next_offset >= walk->data_end;
}

/* Whether the record has an event, as far as its id can tell: bytes that only seem to be a record
 * have an id that no event has. */
static bool has_event(const struct pd_walk *walk, const uint8_t *at,
                      const struct pdc_header *header)
{
    const struct pd_recording *recording = walk->recording;
    return header->type >= PD_RECORD_KERNEL_END || recording->event_count < 2 ||
           pd_recording_event_of(recording, at, header->size, header->type);
}

/* A row of `links` records that look right begins at `at`, or one that ends with the data. */
static bool row_at(const struct pd_walk *walk, const uint8_t *at, unsigned links)
{
    bool cut = pdc_may_be_cut(walk);
    for (unsigned seen = 0; seen < links; seen++) {
        size_t left = (size_t)(walk->end - at);
        if (left < 8)
            return seen && (left == 0 || !window_is_all(walk) || cut);
        struct pdc_header header = pdc_header(at, walk->swap);
        if (!pdc_looks_right(&header))
            return false;
        uint64_t step = stride(walk, at, &header);
        if (step > left)
            return seen &&
                   (window_is_all(walk) ? cut : step - left <= walk->data_end - walk->next_offset);
        if (!has_event(walk, at, &header))
            return false;
        at += step;
    }
    return true;
}

bool pdc_follows_record(struct pd_walk *walk, uint32_t size)
{
    uint32_t type = pd_load32(walk->next, walk->swap);
    if ((!pd_record_type_name(type) && type >= TYPE_MAX) ||
        (type < PD_RECORD_KERNEL_END && size > pdc_most(type)))
        return false;
    if (pdc_walk_fill(walk, (uint64_t)size + AHEAD) < 0)
        return false;
    if (size > (size_t)(walk->end - walk->next))
        return false;
    const uint8_t *at = walk->next + size;
    for (unsigned seen = 0; seen < LINKS_BEHIND_ODD_RECORD; seen++) {
        size_t left = (size_t)(walk->end - at);
        if (left == 0)
            return true;
        if (left < 8)
            return seen > 0;
        struct pdc_header header = pdc_header(at, walk->swap);
        if (header.size < 8)
            return false;
        uint64_t step = stride(walk, at, &header);
        if (pdc_looks_right(&header))
            return row_at(walk, at, LINKS_BEHIND_ODD_RECORD);
        if (step > left)
            return false;
        at += step;
    }
    return false;
}

/* ---- the search ---- */

/* A file keeps in sections what these records hold: there no row begins with one. */
static bool may_begin(const struct pd_walk *walk, uint32_t type)
{
    return walk->recording->kind == PD_CONTAINER_PIPE ||
           (type != PD_RECORD_HEADER_ATTR && type != PD_RECORD_HEADER_FEATURE &&
            type != PD_RECORD_HEADER_TRACING_DATA);
}

/* The first plausible position in [from, to), or `to`; where `base` stands records are aligned. */
static const uint8_t *find_row(const struct pd_walk *walk, const uint8_t *from, const uint8_t *to,
                               uint64_t base)
{
    while (from < to) {
        if ((size_t)(walk->end - from) < 8)
            return to;
        if (!pd_load64(
                from,
                false)) { /* no type lies in the first four bytes of the next five positions */
            from += 5;
            continue;
        }
        struct pdc_header header = pdc_header(from, walk->swap);
        bool aligned = !(((uint64_t)(uintptr_t)from - base) & 7);
        if (pdc_looks_right(&header) && may_begin(walk, header.type) &&
            row_at(walk, from, aligned ? LINKS_ALIGNED : LINKS_ODD))
            return from;
        from++;
    }
    return to;
}

static uint64_t base_of_data(const struct pd_walk *walk)
{
    uint64_t start = walk->part ? 0 : walk->recording->data.offset;
    return (uint64_t)(uintptr_t)walk->next - (pdc_walk_offset(walk) - start);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
    return size && !bytes[0] && !memcmp(bytes, bytes + 1, size - 1);
}

static perfdata_status search(struct pd_walk *walk)
{
    bool first = !walk->lost_way; /* at a bad record: not at the same place again */
    walk->lost_way = false;
    for (;;) {
        perfdata_status status = pdc_walk_fill(walk, WINDOW);
        if (status < 0)
            return status;
        size_t left = (size_t)(walk->end - walk->next);
        if (left < 8) {
            walk->next = walk->end;
            return PERFDATA_OK;
        }
        const uint8_t *to = window_is_all(walk) ? walk->end - 7 : walk->end - AHEAD;
        const uint8_t *found = find_row(walk, walk->next + first, to, base_of_data(walk));
        first = false;
        if (found < to) {
            walk->next = found;
            return PERFDATA_OK;
        }
        walk->next = found > walk->end ? walk->end : found;
        left = (size_t)(walk->end - walk->next);
        if (is_zero(walk->next, left)) { /* a hole in the file may be large */
            uint64_t data = pd_source_next_data(walk->source, walk->next_offset);
            if (data > walk->next_offset + 8)
                pdc_walk_skip(walk, left + (data - 8 - walk->next_offset));
        }
    }
}

/* ---- what is wrong ---- */

bool pdc_is_cut(const struct pd_walk *walk, const struct pdc_header *header)
{
    uint64_t rest = walk->data_end - pdc_walk_offset(walk);
    return pdc_may_be_cut(walk) && (rest < 8 || (header->size > rest && pdc_looks_right(header)));
}

perfdata_status pdc_say_why(struct pd_walk *walk, const struct pdc_header *header, bool *at_end)
{
    uint64_t offset = pdc_walk_offset(walk), rest = walk->data_end - offset;
    if (walk->lost_way)
        return PERFDATA_OK; /* said with the record before */
    if (pdc_is_cut(walk, header)) {
        *at_end = true;
        return pd_issue(walk->context, PERFDATA_ISSUE_TRUNCATED, (int64_t)offset,
                        "the last record is cut: %llu bytes of it are there",
                        (unsigned long long)rest);
    }
    if (rest < 8)
        return PERFDATA_OK; /* the skipped bytes say it all */
    if (header->size < 8)
        return pd_issue(walk->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)offset,
                        "a record of type %u with the size %u", header->type, header->size);
    if (header->size > rest)
        return pd_issue(walk->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)offset,
                        "a record of type %u and %u bytes, %llu bytes before the end", header->type,
                        header->size, (unsigned long long)rest);
    return pd_issue(walk->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)offset,
                    "a record of type %u and %u bytes that no record follows", header->type,
                    header->size);
}

bool pdc_is_hollow(struct pd_walk *walk, const struct pd_event *event, uint32_t size)
{
    struct pd_sample sample;
    const uint8_t *record = walk->next, *end = record + size;
    if (event && event->attr.sample_type >= PD_SAMPLE_END)
        return false;
    bool bad = !event || pd_sample_decode(event, record, size, &sample) < 0;
    const uint8_t *from = record + (bad ? 8 : PD_MIN(sample.parts_end, size));
    return from < end && find_row(walk, from, end, (uint64_t)(uintptr_t)record) < end;
}

/* The row from `at` on ends there. */
static bool row_ends_at(const struct pd_walk *walk, const uint8_t *at, const uint8_t *end)
{
    while (at < end && (size_t)(end - at) >= 8) {
        struct pdc_header header = pdc_header(at, walk->swap);
        uint64_t step = stride(walk, at, &header);
        if (step < 8 || step > (uint64_t)(end - at))
            return false;
        at += step;
    }
    return at == end;
}

static bool may_hold_records(uint32_t type)
{
    switch (type) {
    case PD_RECORD_HEADER_ATTR:
    case PD_RECORD_HEADER_FEATURE:
    case PD_RECORD_HEADER_TRACING_DATA:
    case PD_RECORD_COMPRESSED:
    case PD_RECORD_COMPRESSED2: return false;
    default: return type < PD_RECORD_WIDE;
    }
}

bool pdc_holds_records(const struct pd_walk *walk, const struct pdc_header *header)
{
    if (!may_hold_records(header->type))
        return false;
    /* By the record's own place: what is written anew must be judged as it was read. Bytes before
     * the row may seem to be one, too. */
    const uint8_t *at = walk->next + pd_record_min_size(header->type);
    const uint8_t *end = walk->next + header->size;
    for (unsigned i = 0; i < ROWS_TRIED; i++, at++) {
        at = find_row(walk, at, end, (uint64_t)(uintptr_t)walk->next);
        if (at >= end)
            return false;
        if (row_ends_at(walk, at, end))
            return true;
    }
    return false;
}

/* Of each byte of [0, size): whether a row of headers from there on ends with the last byte. Found
 * out from the end backwards, so that many bytes that look like headers do not take long. */
static void rows_that_end(const struct pd_walk *walk, const uint8_t *bytes, uint32_t size,
                          uint8_t ends[BITS_OF_ENDS])
{
    memset(ends, 0, BITS_OF_ENDS);
    ends[size / 8] |= (uint8_t)(1 << (size & 7));
    for (uint32_t at = size < 8 ? 0 : size - 7; at-- > 0;) {
        uint32_t step = pdc_header(bytes + at, walk->swap).size;
        if (step < 8 || step > size - at)
            continue;
        uint32_t next = at + step;
        if (ends[next / 8] >> (next & 7) & 1)
            ends[at / 8] |= (uint8_t)(1 << (at & 7));
    }
}

bool pd_walk_is_sure(const struct pd_walk *walk, const struct pd_raw *raw)
{
    uint8_t ends[BITS_OF_ENDS];
    struct pdc_header header = pdc_header(raw->data, walk->swap);
    struct pd_sample sample;
    if (!pdc_looks_right(&header))
        return false;
    if (!may_hold_records(header.type))
        return true;
    bool is_sample = header.type == PD_RECORD_SAMPLE;
    uint32_t from = pd_record_min_size(header.type);
    if (is_sample && (!raw->event || raw->event->attr.sample_type >= PD_SAMPLE_END))
        return raw->event;
    if (is_sample)
        from = pd_sample_decode(raw->event, raw->data, raw->size, &sample) < 0
                   ? 8
                   : PD_MIN(sample.parts_end, raw->size);
    else
        rows_that_end(walk, raw->data, raw->size, ends);
    for (uint32_t at = from; at + 8 <= raw->size; at++) {
        header = pdc_header(raw->data + at, walk->swap);
        if (pdc_looks_right(&header) && (is_sample || ends[at / 8] >> (at & 7) & 1))
            return false;
    }
    return true;
}

bool pdc_go_back(struct pd_walk *walk)
{
    const uint8_t *from = walk->last;
    walk->last = NULL;
    if (!from || walk->inflate.inside || from < walk->chunk->bytes || from + 8 >= walk->next ||
        (size_t)(walk->next - from) > UINT16_MAX)
        return false;
    const uint8_t *found = find_row(walk, from + 8, walk->next, (uint64_t)(uintptr_t)from);
    for (const uint8_t *at = found; at < walk->next;) {
        if ((size_t)(walk->end - at) < 8)
            break;
        struct pdc_header header = pdc_header(at, walk->swap);
        uint64_t step = stride(walk, at, &header);
        if (step < 8 || step > (uint64_t)(walk->end - at))
            break;
        at += step;
        if (at == walk->next)
            return false;
    }
    if (found >= walk->next)
        return false;
    walk->next = found;
    return true;
}

perfdata_status pdc_resync(struct pd_walk *walk, const struct pdc_header *header)
{
    uint64_t from = pdc_walk_offset(walk);
    bool at_end = false;
    perfdata_status status = pdc_say_why(walk, header, &at_end);
    if (status < 0)
        return status;
    if (at_end) {
        pdc_walk_skip(walk, walk->data_end - from);
        return PERFDATA_OK;
    }
    status = search(walk);
    uint64_t skipped = pdc_walk_offset(walk) - from;
    if (status < 0 || !skipped)
        return status;
    return pd_issue(walk->context, PERFDATA_ISSUE_SKIPPED_BYTES, (int64_t)from,
                    "%llu bytes skipped up to the next plausible record",
                    (unsigned long long)skipped);
}
