/* SPDX-License-Identifier: MIT */
/* The walk over records in file order. The common record costs a look into two tables; all else
 * (the end of a chunk, payloads, odd records, damage) goes the slow way. */
#include "container/walk.h"
#include "format/offsets.h"
#include <perfdata/recording.h>
#include <stdlib.h>

enum {
    CHUNK_SIZE = 512 * 1024,
    SMALL_SIZE = 8 * 1024, /* behind a trace mostly comes another one */
    HEAD_SIZE = 64 * 1024, /* room for what the chunk before ends with */
    PAYLOAD_MAX = 1 << 30,
    FORMATS_MAX = 128 << 20, /* of tracepoints: opening a recording needs them whole */
    /* more than the least size that most records do not have: larger ones are looked into */
    SAMPLE_MORE = 512,
    SAMPLE_TAIL = 64, /* fixed fields behind those that may vary */
    PATH_MORE = 256,
    MORE = 128,
    PROGRESS_STEP = 2048 /* records between two looks at whether to go on */
};

/* How much larger than its least size a record of this type may be without a closer look. */
static uint16_t usual_span(const struct pd_recording *recording, unsigned type, uint16_t least)
{
    const uint64_t varying = PD_SAMPLE_READ | PD_SAMPLE_CALLCHAIN | PD_SAMPLE_RAW |
                             PD_SAMPLE_BRANCH_STACK | PD_SAMPLE_REGS_USER | PD_SAMPLE_STACK_USER |
                             PD_SAMPLE_REGS_INTR | PD_SAMPLE_AUX;
    uint16_t fixed = least;
    bool varies = recording->kind == PD_CONTAINER_PIPE; /* more events may come */
    switch (type) {
    case PD_RECORD_SAMPLE:
        for (size_t i = 0; i < recording->event_count; i++) {
            const struct pd_plan *plan = &recording->events[i]->plan;
            fixed = PD_MAX(fixed, plan->fixed_size);
            varies |= (plan->sample_type & varying) || plan->sample_type >= PD_SAMPLE_END;
        }
        return (uint16_t)(fixed - least + (varies ? SAMPLE_MORE : SAMPLE_TAIL));
    case PD_RECORD_MMAP:
    case PD_RECORD_MMAP2: return PATH_MORE;
    default: return MORE;
    }
}

/* Takes from the limit as many records as may come until the caller is asked whether to go on. */
static void take_records(struct pd_walk *walk)
{
    uint64_t step = walk->context->on_progress ? PROGRESS_STEP : UINT64_MAX;
    walk->limit.records_left = PD_MIN(step, walk->limit.more_records);
    walk->limit.more_records -= walk->limit.records_left;
}

perfdata_status pd_walk_open(struct pd_recording *recording, struct pd_walk **out)
{
    *out = NULL;
    struct pd_walk *walk = calloc(1, sizeof *walk);
    struct pd_chunk_pool *pool = pd_chunk_pool_new();
    if (!walk || !pool) {
        free(walk);
        pd_chunk_pool_close(pool);
        return pd_no_memory(&recording->context, NULL);
    }
    walk->recording = recording;
    walk->source = recording->source;
    walk->context = &recording->context;
    walk->pool = pool;
    walk->swap = recording->swap;
    walk->single = recording->event_count == 1 ? recording->events[0] : NULL;
    walk->next_offset = recording->data.offset;
    walk->data_end = recording->data.offset + recording->data.size;
    if (pd_recording_has_feature(recording, PD_FEATURE_AUXTRACE))
        walk->small_size = SMALL_SIZE; /* the first trace is not far */
    walk->limit.more_records = recording->context.limits.records ? recording->context.limits.records
                                                                 : UINT64_MAX;
    take_records(walk);
    for (unsigned type = 0; type < PD_LENGTH(walk->least); type++) {
        walk->least[type] = pdc_is_plain(type) ? (uint16_t)pd_record_min_size(type) : UINT16_MAX;
        walk->span[type] = usual_span(recording, type, walk->least[type]);
    }
    if (recording->kind == PD_CONTAINER_PIPE) /* events and features are made of them */
        walk->least[PD_RECORD_HEADER_ATTR] = walk->least[PD_RECORD_HEADER_FEATURE] = UINT16_MAX;
    *out = walk;
    return PERFDATA_OK;
}

void pd_walk_close(struct pd_walk *walk)
{
    if (!walk)
        return;
    pdc_inflate_close(walk);
    if (walk->chunk)
        pd_chunk_release(walk->chunk);
    if (walk->context == &walk->quiet)
        pd_context_fini(&walk->quiet);
    pd_chunk_pool_close(walk->pool);
    free(walk);
}

uint64_t pd_walk_position(const struct pd_walk *walk)
{
    return walk->before + pdc_walk_offset(walk) - (walk->part ? 0 : walk->recording->data.offset);
}

void pd_walk_set(struct pd_walk *walk, unsigned flags)
{
    walk->closed = flags & PD_WALK_CLOSED;
    walk->payloads = flags & PD_WALK_PAYLOADS;
    if (flags & PD_WALK_QUIET && walk->context != &walk->quiet) {
        pd_context_init(&walk->quiet);
        walk->quiet.limits = walk->context->limits;
        walk->context = &walk->quiet;
    }
}

void pd_walk_read_ahead(struct pd_walk *walk, struct pd_ahead *ahead)
{
    walk->ahead = ahead;
}

bool pd_walk_inside(const struct pd_walk *walk)
{
    return walk->inflate.inside;
}

bool pd_walk_doubts(const struct pd_walk *walk, const struct pd_raw *raw)
{
    return walk->doubtful == raw->offset + 1 && walk->part == raw->part;
}

/* ---- chunks ---- */

static perfdata_status use_memory(struct pd_walk *walk, const uint8_t *memory)
{
    struct pd_chunk *chunk = pd_chunk_over(walk->pool, memory + walk->next_offset,
                                           (size_t)(walk->data_end - walk->next_offset));
    if (!chunk)
        return pd_no_memory(walk->context, NULL);
    walk->chunk = chunk;
    walk->last = NULL;
    walk->next = chunk->bytes;
    walk->end = chunk->bytes + chunk->size;
    walk->next_offset = walk->data_end;
    return PERFDATA_OK;
}

/* Asks for the chunk behind, when there is somebody who may read it meanwhile. */
static void ask_ahead(struct pd_walk *walk)
{
    if (!walk->ahead || walk->small_size || walk->next_offset >= walk->data_end)
        return;
    struct pd_chunk *chunk = pd_chunk_new(walk->pool, HEAD_SIZE + CHUNK_SIZE);
    if (!chunk)
        return;
    size_t size = (size_t)PD_MIN(walk->data_end - walk->next_offset, (uint64_t)CHUNK_SIZE);
    pd_ahead_ask(walk->ahead, walk->source, walk->next_offset, chunk, HEAD_SIZE, size);
}

/* Goes on in the chunk, whose first `got` bytes of next_offset stand at `head`: what is left of the
 * last one before them. */
static void use_chunk(struct pd_walk *walk, struct pd_chunk *chunk, size_t head, size_t got)
{
    size_t left = (size_t)(walk->end - walk->next);
    if (left)
        memcpy(chunk->bytes + head - left, walk->next, left);
    chunk->size = head + got;
    if (walk->chunk)
        pd_chunk_release(walk->chunk);
    walk->chunk = chunk;
    walk->last = NULL;
    walk->next = chunk->bytes + head - left;
    walk->end = chunk->bytes + chunk->size;
    walk->next_offset += got;
}

/* The file shrank since it was opened. */
static perfdata_status note_shorter(struct pd_walk *walk, uint64_t end)
{
    walk->data_end = end;
    if (walk->context != &walk->quiet)
        walk->recording->truncated = true;
    return pd_issue(walk->context, PERFDATA_ISSUE_TRUNCATED, (int64_t)end,
                    "the file became shorter while it was read");
}

/* Where chunks begin and end does not depend on whether one was read ahead. */
static perfdata_status read_chunk(struct pd_walk *walk, size_t need)
{
    size_t left = (size_t)(walk->end - walk->next), got = 0;
    size_t usual = walk->small_size ? walk->small_size : CHUNK_SIZE;
    size_t head = PD_MAX(left, (size_t)HEAD_SIZE), size = PD_MAX(need - left, usual);
    size_t want = (size_t)PD_MIN((uint64_t)size, walk->data_end - walk->next_offset),
           least = PD_MIN(need - left, want);
    struct pd_chunk *chunk = NULL;
    if (walk->ahead && head == HEAD_SIZE && size == CHUNK_SIZE)
        chunk = pd_ahead_take(walk->ahead, walk->source, walk->next_offset, &got);
    perfdata_status status = PERFDATA_OK;
    if (!chunk) {
        chunk = pd_chunk_new(walk->pool, head + size);
        if (!chunk)
            return pd_fail(walk->context, PERFDATA_ERROR_MEMORY, (int64_t)walk->next_offset,
                           "out of memory");
        status = pd_source_read_least(walk->source, walk->next_offset, chunk->bytes + head, least,
                                      want, &got);
    }
    bool stream = pd_source_is_stream(walk->source);
    if (status == PERFDATA_OK && stream && got < least)
        walk->data_end = walk->next_offset + got;
    else if (status == PERFDATA_OK && !stream && got < want)
        status = note_shorter(walk, walk->next_offset + got);
    if (status < 0) {
        pd_chunk_release(chunk);
        return status;
    }
    use_chunk(walk, chunk, head, got);
    walk->small_size = walk->small_size < CHUNK_SIZE / 4 ? walk->small_size * 4 : 0;
    ask_ahead(walk);
    return PERFDATA_OK;
}

static perfdata_status fill_inside(struct pd_walk *walk, uint64_t need)
{
    perfdata_status status = PERFDATA_OK;
    size_t left = (size_t)(walk->end - walk->next), before;
    do {
        before = left;
        if (left < need)
            status = pdc_inflate_fill(walk, (size_t)need);
        left = (size_t)(walk->end - walk->next);
    } while (status == PERFDATA_OK && left > before && left < need);
    return status;
}

perfdata_status pdc_walk_fill(struct pd_walk *walk, uint64_t need)
{
    size_t left = (size_t)(walk->end - walk->next);
    if (PD_UNLIKELY(walk->inflate.inside))
        return fill_inside(walk, need);
    uint64_t rest = walk->data_end - walk->next_offset;
    if (left >= need || !rest)
        return PERFDATA_OK;
    const uint8_t *memory = pd_source_memory(walk->source);
    if (memory)
        return use_memory(walk, memory);
    return read_chunk(walk, (size_t)PD_MIN(need, left + rest));
}

void pdc_walk_skip(struct pd_walk *walk, uint64_t size)
{
    size_t left = (size_t)(walk->end - walk->next);
    if (size <= left) {
        walk->next += size;
        return;
    }
    /* Nothing is read of what lies between. The chunk stays: its last record is still in use. */
    uint64_t rest = walk->data_end - walk->next_offset;
    walk->next = walk->end;
    walk->next_offset += PD_MIN(size - left, rest);
    walk->small_size = SMALL_SIZE;
}

/* ---- records ---- */

/* An id that no event has is reported; the record is still delivered. */
static int with_event(struct pd_walk *walk, struct pd_raw *out)
{
    out->event = pdc_find_event(walk, out->data, out->size, out->type);
    if (out->event || out->type >= 64)
        return 1;
    perfdata_status status = pd_issue(
        walk->context, PERFDATA_ISSUE_UNKNOWN_ID, (int64_t)out->offset,
        "a record of type %u with an id that no event has", out->type);
    return status < 0 ? walk->failed = status : 1;
}

static const char *event_text(struct pd_walk *walk, const struct pd_raw *raw)
{
    enum { VALUE = sizeof(struct pd_at_event_update) };
    size_t room = raw->size - (uint32_t)VALUE;
    const char *text = (const char *)raw->data + VALUE;
    return memchr(text, 0, room) ? pd_arena_strdup(&walk->recording->arena, text)
                                 : pd_arena_copy(&walk->recording->arena, text, room);
}

/* EVENT_UPDATE acts when it is read. Most say what is known already. */
static void update_event(struct pd_walk *walk, const struct pd_raw *raw)
{
    enum { VALUE = sizeof(struct pd_at_event_update) };
    struct pd_recording *recording = walk->recording;
    if (raw->size < 32 || !recording->event_count)
        return;
    uint64_t what = pd_load64(raw->data + PD_AT(event_update, update_type), walk->swap),
             id = pd_load64(raw->data + PD_AT(event_update, id), walk->swap);
    uint32_t index = recording->event_count == 1 ? 0 : pd_map64_get(&recording->ids.by_id, id);
    if (index == PD_MAP64_NONE)
        return;
    struct pd_event *event = recording->events[index];
    size_t room = raw->size - (uint32_t)VALUE;
    if (what == PD_EVENT_UPDATE_SCALE) {
        uint64_t bits = pd_load64(raw->data + VALUE, walk->swap);
        memcpy(&event->scale, &bits, sizeof bits);
        return;
    }
    const char *now = what == PD_EVENT_UPDATE_UNIT   ? event->unit
                      : what == PD_EVENT_UPDATE_NAME ? event->name
                                                     : NULL;
    if (what > PD_EVENT_UPDATE_NAME ||
        (now && strlen(now) < room && !strncmp(now, (const char *)raw->data + VALUE, room)))
        return;
    const char *text = event_text(walk, raw);
    if (!text)
        return;
    if (what == PD_EVENT_UPDATE_UNIT) {
        event->unit = text;
    } else {
        pd_event_name(event, text);
    }
}

/* The bytes that follow the record, behind it in one chunk. False: they are not all there. */
static bool fetch(struct pd_walk *walk, struct pd_raw *raw)
{
    if (raw->payload_size > PAYLOAD_MAX)
        return false;
    walk->next -= raw->size;
    bool read = pdc_walk_fill(walk, raw->size + raw->payload_size) == PERFDATA_OK;
    raw->data = walk->next;
    raw->chunk = walk->chunk;
    walk->next += raw->size;
    return read && raw->payload_size <= (uint64_t)(walk->end - walk->next);
}

/* Records that bytes outside follow. False: what it says is impossible. */
static bool take_payload(struct pd_walk *walk, struct pd_raw *raw)
{
    uint64_t size;
    if (pdc_holds_tracing_data(raw->type, raw->size)) {
        enum { HEAD = sizeof(struct pd_at_tracing_data) };
        raw->payload = raw->data + HEAD;
        raw->payload_size = PD_MIN(
            pd_load32(raw->data + PD_AT(tracing_data, data_size), walk->swap), raw->size - HEAD);
        return true;
    }
    if (raw->type == PD_RECORD_AUXTRACE)
        size = pd_load64(raw->data + PD_AT(auxtrace, data_size), walk->swap);
    else
        size = pd_load32(raw->data + PD_AT(header_tracing_data, data_size), walk->swap);
    uint64_t rest = walk->data_end - pdc_walk_offset(walk);
    if (size > rest)
        return false;
    raw->payload_size = size;
    bool needed = walk->payloads ||
                  (raw->type == PD_RECORD_HEADER_TRACING_DATA && size <= FORMATS_MAX);
    if (needed && size > (uint64_t)(walk->end - walk->next) && !fetch(walk, raw))
        return false;
    if (size <= (uint64_t)(walk->end - walk->next))
        raw->payload = walk->next;
    pdc_walk_skip(walk, size);
    return true;
}

static perfdata_status lose_way(struct pd_walk *walk, const struct pd_raw *raw)
{
    bool cut = pdc_may_be_cut(walk);
    walk->doubtful = raw->offset + 1;
    if (cut) /* what there is of them lasts to the end */
        pdc_walk_skip(walk, UINT64_MAX);
    else
        walk->lost_way = true;
    return pd_issue(walk->context, cut ? PERFDATA_ISSUE_TRUNCATED : PERFDATA_ISSUE_BAD_RECORD,
                    (int64_t)raw->offset,
                    "the bytes that follow a record of type %u reach beyond the end", raw->type);
}

static int special(struct pd_walk *walk, struct pd_raw *out)
{
    perfdata_status status = PERFDATA_OK;
    switch (out->type) {
    case PD_RECORD_EVENT_UPDATE: update_event(walk, out); break;
    case PD_RECORD_AUXTRACE:
    case PD_RECORD_HEADER_TRACING_DATA:
        if (!take_payload(walk, out))
            status = lose_way(walk, out);
        break;
    case PD_RECORD_COMPRESSED:
    case PD_RECORD_COMPRESSED2:
        if (walk->recording->stay_closed)
            status = pd_fail(walk->context, PERFDATA_ERROR_BAD_RECORD, (int64_t)out->offset,
                             "Couldn't decompress data");
        else if (!walk->closed)
            status = pdc_inflate_enter(walk, out);
        break;
    case PD_RECORD_HEADER_ATTR:
    case PD_RECORD_HEADER_FEATURE: break;
    default:
        if (!pd_record_type_name(out->type))
            status = pd_issue(walk->context, PERFDATA_ISSUE_UNKNOWN_RECORD, (int64_t)out->offset,
                              "a record of the unknown type %u, %u bytes", out->type, out->size);
    }
    if (status == PERFDATA_OK && walk->recording->kind == PD_CONTAINER_PIPE &&
        out->offset >= walk->recording->head.end) {
        status = pdc_take_head(walk->recording, out);
        walk->single = walk->recording->event_count == 1 ? walk->recording->events[0] : NULL;
    }
    return status < 0 ? walk->failed = status : 1;
}

/* Streams may stand one behind the other, each with its header; perf ends with the first. */
static bool at_stream_header(struct pd_walk *walk, perfdata_status *status)
{
    enum { STREAM_HEADER = 16 };
    if (walk->recording->kind != PD_CONTAINER_PIPE || pdc_walk_fill(walk, STREAM_HEADER) < 0 ||
        walk->end - walk->next < STREAM_HEADER ||
        memcmp(walk->next, walk->recording->big_endian ? "2ELIFREP" : "PERFILE2", 8) != 0 ||
        pd_load64(walk->next + 8, walk->swap) != STREAM_HEADER)
        return false;
    if (walk->recording->all_streams) {
        pdc_walk_skip(walk, STREAM_HEADER);
        return true;
    }
    walk->next_offset = walk->data_end = pdc_walk_offset(walk);
    walk->end = walk->next;
    *status = pd_issue(walk->context, PERFDATA_ISSUE_SKIPPED_BYTES, (int64_t)walk->data_end,
                       "another stream begins here and is not read");
    return true;
}

/* Within a compressed record nothing is searched for: what it holds was written in one piece. */
static int bad_inside(struct pd_walk *walk, const struct pdc_header *header, size_t left)
{
    bool continues = left < 8 || header->size > left;
    perfdata_status status = PERFDATA_OK;
    if (!continues)
        status = pd_issue(walk->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)pdc_walk_offset(walk),
                          "a record of type %u and %u bytes within a compressed one", header->type,
                          header->size);
    if (status == PERFDATA_OK)
        status = pdc_inflate_leave(walk, continues);
    return status < 0 ? walk->failed = status : 2;
}

/* The next file of a directory; its compressed records are a stream of their own. */
static bool next_part(struct pd_walk *walk)
{
    const struct pd_recording *recording = walk->recording;
    if (walk->part >= recording->parts.count)
        return false;
    walk->before = pd_walk_position(walk);
    walk->source = recording->parts.sources[walk->part++];
    walk->next_offset = 0;
    walk->data_end = pd_source_size(walk->source);
    walk->next = walk->end;
    walk->lost_way = false;
    pdc_inflate_close(walk);
    return true;
}

static int at_end(struct pd_walk *walk)
{
    perfdata_status status = PERFDATA_OK;
    if (walk->inflate.carry_size) {
        walk->inflate.carry_size = 0;
        status = pd_issue(walk->context, PERFDATA_ISSUE_TRUNCATED, (int64_t)walk->inflate.offset,
                          "the last record within the compressed ones is cut");
    }
    return status < 0 ? walk->failed = status : next_part(walk) ? 2 : 0;
}

/* An unknown record that nothing plausible follows: it may be one, so it counts, but its size is
 * not believed. */
static int deliver_doubtful(struct pd_walk *walk, struct pd_raw *out,
                            const struct pdc_header *header)
{
    bool at_end = false;
    perfdata_status status = pdc_say_why(walk, header, &at_end);
    if (status < 0)
        return walk->failed = status;
    pdc_deliver(walk, out, header->type, header->misc, header->size);
    out->event = NULL;
    walk->doubtful = out->offset + 1;
    walk->next = out->data + 8;
    walk->lost_way = true;
    return 1;
}

/* What stands at `next`: 1 delivered, 0 the end, < 0 failed, 2: look again. */
static int slow_step(struct pd_walk *walk, struct pd_raw *out)
{
    perfdata_status status = pdc_walk_fill(walk, 8);
    if (status < 0)
        return walk->failed = status;
    size_t left = (size_t)(walk->end - walk->next);
    if (!left && !walk->inflate.inside)
        return at_end(walk);
    struct pdc_header header = { 0 };
    if (left >= 8 && !walk->lost_way) {
        header = pdc_header(walk->next, walk->swap);
        status = header.size <= PDC_RECORD_MAX ? pdc_walk_fill(walk, header.size) : PERFDATA_OK;
        if (status < 0)
            return walk->failed = status;
        left = (size_t)(walk->end - walk->next);
    }
    if (!walk->inflate.inside && !walk->lost_way && !pdc_looks_right(&header) &&
        at_stream_header(walk, &status))
        return status < 0 ? walk->failed = status : 2;
    bool good = header.size >= 8 && header.size <= left && header.size <= PDC_RECORD_MAX &&
                (pdc_looks_right(&header) || pdc_follows_record(walk, header.size));
    if (walk->inflate.inside && header.size >= 8 && header.size <= left)
        good = pdc_is_known(&header); /* nothing behind it tells more */
    if (good && header.type == PD_RECORD_SAMPLE)
        good = !pdc_is_hollow(walk, pdc_find_event(walk, walk->next, header.size, header.type),
                              header.size);
    else if (good && !walk->inflate.inside)
        good = !pdc_holds_records(walk, &header);
    if (!good && walk->inflate.inside)
        return bad_inside(walk, &header, left);
    if (!good && !walk->lost_way && !pdc_is_cut(walk, &header) && pdc_go_back(walk)) {
        status = pd_issue(walk->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)pdc_walk_offset(walk),
                          "the record before has a wrong size: it holds others");
        return status < 0 ? walk->failed = status : 2;
    }
    if (!good && header.size >= 8 && header.size <= left && !pd_record_type_name(header.type))
        return deliver_doubtful(walk, out, &header);
    if (!good) {
        status = pdc_resync(walk, &header);
        return status < 0 ? walk->failed = status : 2;
    }
    pdc_deliver(walk, out, header.type, header.misc, header.size);
    int result = special(walk, out);
    return result == 1 ? with_event(walk, out) : result;
}

int pdc_walk_next_slow(struct pd_walk *walk, struct pd_raw *out)
{
    if (walk->failed < 0)
        return walk->failed;
    int result;
    do
        result = slow_step(walk, out);
    while (result == 2);
    walk->limit.records_left -= result == 1;
    return result;
}

/* Bytes of all that will be walked; 0: nobody knows. */
static uint64_t total_of(const struct pd_recording *recording)
{
    uint64_t total = recording->data.size;
    for (uint32_t i = 0; i < recording->parts.count; i++)
        total += pd_source_size(recording->parts.sources[i]);
    return pd_source_size(recording->source) == UINT64_MAX ? 0 : total;
}

/* Tells the caller how far the walk is. Returns what the walk is to return: 1 to go on. */
static int tell_progress(struct pd_walk *walk)
{
    walk->limit.told_records += PROGRESS_STEP;
    if (!walk->context->on_progress) /* nor does it want issues told: PD_WALK_QUIET */
        return 1;
    struct perfdata_progress progress = { .struct_size = sizeof progress,
                                          .bytes = pd_walk_position(walk),
                                          .total = total_of(walk->recording),
                                          .records = walk->limit.told_records };
    int answer = walk->context->on_progress(walk->context->progress_data, &progress);
    if (!answer)
        return 1;
    walk->limit.more_records = 0;
    walk->stopped = walk->said_limit = true;
    perfdata_status status = answer < 0
                                 ? pd_fail(walk->context, PERFDATA_ERROR_CANCELLED, -1, "cancelled")
                                 : pd_issue(walk->context, PERFDATA_ISSUE_LIMIT,
                                            (int64_t)pdc_walk_offset(walk),
                                            "stopped after %llu records",
                                            (unsigned long long)walk->limit.told_records);
    return walk->failed = status;
}

int pdc_walk_at_limit(struct pd_walk *walk)
{
    if (walk->failed == PERFDATA_OK && !walk->stopped && walk->limit.more_records) {
        int result = tell_progress(walk);
        if (result <= 0)
            return result;
        take_records(walk);
        return 1;
    }
    walk->limit.records_left = 0;
    if (walk->failed == PERFDATA_OK && !walk->said_limit) {
        walk->said_limit = true;
        perfdata_status status = pd_issue(
            walk->context, PERFDATA_ISSUE_LIMIT, (int64_t)pdc_walk_offset(walk),
            "stopped after %llu records", (unsigned long long)walk->context->limits.records);
        if (status < 0)
            walk->failed = status;
    }
    return walk->failed;
}

int pd_walk_next(struct pd_walk *walk, struct pd_raw *out)
{
    return pdc_walk_next(walk, out);
}
