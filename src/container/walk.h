/* SPDX-License-Identifier: MIT */
/* The state of a walk: shared by the walk proper and by what finds the way back after damage. */
#ifndef PD_CONTAINER_WALK_H
#define PD_CONTAINER_WALK_H
#include "container/inflate.h"
#include "container/internal.h"
#include "io/ahead.h"

struct pdc_cached_event {
    uint64_t id;
    const struct pd_event *event;
};

struct pd_walk {
    const uint8_t *next, *end; /* in the chunk */
    const uint8_t *last;       /* the record delivered last, if it is in the chunk, or NULL */
    /* Counts of records. */
    struct {
        uint64_t records_left; /* until somebody is asked whether to go on */
        uint64_t more_records; /* of the limit, beyond these */
        uint64_t told_records; /* those before the last time that somebody was asked */
    } limit;
    const struct pd_event *single; /* the only event, NULL when there are more */
    bool swap;
    bool lost_way;            /* what follows the last record is unknown: search */
    bool said_limit, stopped; /* `stopped`: the caller wanted no more */
    bool closed, payloads;    /* pd_walk_set() */
    uint64_t doubtful;        /* offset + 1 of the last record that is doubted */
    perfdata_status failed;
    /* By type: a record whose size is between least and least + span needs no closer look. least
     * UINT16_MAX: each one needs it. */
    uint16_t least[128];
    uint16_t span[128];
    struct pdc_cached_event cache[64];
    struct pd_recording *recording;
    struct pd_source *source;   /* of the current part */
    uint32_t part;              /* 0: the main file */
    uint64_t before;            /* bytes of the parts before this one */
    struct pd_context *context; /* the recording's, or `quiet` */
    struct pd_context quiet;
    struct pd_chunk *chunk;
    struct pd_chunk_pool *pool;
    struct pd_ahead *ahead; /* NULL: nobody reads ahead */
    uint64_t next_offset;   /* in the file, of the byte that belongs at `end` */
    size_t small_size; /* of the next chunk: something was skipped before; 0: it is a whole one */
    uint64_t data_end; /* in the file */
    struct pdc_inflate inflate;
};

PD_INLINE uint64_t pdc_walk_offset(const struct pd_walk *walk)
{
    return walk->inflate.inside ? walk->inflate.offset
                                : walk->next_offset - (uint64_t)(walk->end - walk->next);
}

/* At least `need` bytes at `next`, or all that there are. */
perfdata_status pdc_walk_fill(struct pd_walk *walk, uint64_t need);
/* Moves on by `size` bytes, which need not be read. */
void pdc_walk_skip(struct pd_walk *walk, uint64_t size);

/* The input may end anywhere: nothing says where it should. */
PD_INLINE bool pdc_may_be_cut(const struct pd_walk *walk)
{
    const struct pd_recording *recording = walk->recording;
    return recording->truncated || recording->unfinished || recording->kind != PD_CONTAINER_FILE;
}

/* simpleperf has the tracing data in the record itself, perf behind it; where the compiler pads the
 * structure to 16 bytes, perf writes those. */
PD_INLINE bool pdc_holds_tracing_data(uint32_t type, uint32_t size)
{
    return type == PD_RECORD_HEADER_TRACING_DATA && size > 16;
}

/* ---- inflate.c ---- */

/* The walk goes on with what the record holds, if that can be read. */
perfdata_status pdc_inflate_enter(struct pd_walk *walk, const struct pd_raw *raw);
/* Appends more of the piece to what is left; if nothing is added, it is used up. */
perfdata_status pdc_inflate_fill(struct pd_walk *walk, size_t need);
/* Goes back to the records outside. `keep_rest`: what is left is the start of a record that ends in
 * the next piece. */
perfdata_status pdc_inflate_leave(struct pd_walk *walk, bool keep_rest);
void pdc_inflate_close(struct pd_walk *walk);

/* ---- resync.c ---- */

/* A header as it is meant: simpleperf's types have a wide size and no misc. */
struct pdc_header {
    uint32_t type, size;
    uint16_t misc;
};

enum { PDC_RECORD_MAX = 64 << 20 };

struct pdc_header pdc_header(const uint8_t *record, bool swap);
/* Records of this type need nothing but their header to be walked over. */
bool pdc_is_plain(uint32_t type);
/* A type that has a name, not larger than it ever is. */
bool pdc_is_known(const struct pdc_header *header);
/* A known type with a size that it may have. */
bool pdc_looks_right(const struct pdc_header *header);
/* A record of this size at `next` would be followed by others that look right, or by the end. */
bool pdc_follows_record(struct pd_walk *walk, uint32_t size);
/* The record at `next` is the last one, and its end is missing. */
bool pdc_is_cut(const struct pd_walk *walk, const struct pdc_header *header);
/* Says what is wrong with the record at `next`; sets *at_end when it is only cut by the end of the
 * input. */
perfdata_status pdc_say_why(struct pd_walk *walk, const struct pdc_header *header, bool *at_end);
/* The record at `next`, which is no sample, holds from some place to its end nothing but a row of
 * records. */
bool pdc_holds_records(const struct pd_walk *walk, const struct pdc_header *header);
/* The sample at `next` has bytes that nothing explains but as records of their own: its size is
 * wrong. */
bool pdc_is_hollow(struct pd_walk *walk, const struct pd_event *event, uint32_t size);
/* The largest size of an undamaged record of this type; UINT16_MAX: there is no limit. */
uint16_t pdc_most(uint32_t type);
/* Where the record before has a wrong size, whole ones lie within it: true when `next` is now the
 * first of them. */
bool pdc_go_back(struct pd_walk *walk);
/* Says what is wrong at `next` and moves to the next plausible record, or to the end. */
perfdata_status pdc_resync(struct pd_walk *walk, const struct pdc_header *header);

/* ---- the common record: in the header, since a call for each would be felt ---- */

PD_INLINE const struct pd_event *pdc_find_event(struct pd_walk *walk, const uint8_t *record,
                                                uint32_t size, uint32_t type)
{
    if (PD_LIKELY(walk->single && type < 64))
        return walk->single;
    if (type >= 64)
        return NULL;
    const struct pd_recording *recording = walk->recording;
    if (PD_LIKELY(type == PD_RECORD_SAMPLE && recording->ids.same_positions &&
                  recording->event_count)) {
        uint32_t at = 8u * recording->events[0]->plan.id_position;
        if (PD_LIKELY(at && at + 8 <= size)) {
            uint64_t id = pd_load64(record + at, walk->swap);
            struct pdc_cached_event *cached = &walk->cache[id % PD_LENGTH(walk->cache)];
            if (PD_LIKELY(cached->id == id && cached->event))
                return cached->event;
            const struct pd_event *event = pd_recording_event_of(recording, record, size, type);
            *cached = (struct pdc_cached_event){ id, event };
            return event;
        }
    }
    return pd_recording_event_of(recording, record, size, type);
}

PD_INLINE void pdc_deliver(struct pd_walk *walk, struct pd_raw *out, uint32_t type, uint16_t misc,
                           uint32_t size)
{
    out->data = walk->last = walk->next;
    out->size = size;
    out->type = type;
    out->misc = misc;
    out->offset = pdc_walk_offset(walk);
    out->part = walk->part;
    out->chunk = walk->chunk;
    out->payload = NULL;
    out->payload_size = 0;
    walk->next += size;
}

/* Not static, so that they are never made a part of what is hot. Both as pd_walk_next(). */
int pdc_walk_next_slow(struct pd_walk *walk, struct pd_raw *out);
int pdc_walk_at_limit(struct pd_walk *walk);

/* pd_walk_next() */
PD_INLINE int pdc_walk_next(struct pd_walk *walk, struct pd_raw *out)
{
    if (PD_UNLIKELY(!walk->limit.records_left)) {
        int result = pdc_walk_at_limit(walk);
        if (result <= 0)
            return result;
    }
    if (PD_UNLIKELY((size_t)(walk->end - walk->next) < 8))
        return pdc_walk_next_slow(walk, out);
    struct pd_record_header header = pd_record_header(walk->next, walk->swap);
    bool plain = header.type < PD_LENGTH(walk->least) &&
                 header.size - (uint32_t)walk->least[header.type] <= walk->span[header.type] &&
                 !(header.size & 7) && header.size <= (size_t)(walk->end - walk->next) &&
                 !walk->lost_way;
    if (PD_UNLIKELY(!plain))
        return pdc_walk_next_slow(walk, out);
    const struct pd_event *event = pdc_find_event(walk, walk->next, header.size, header.type);
    if (PD_UNLIKELY(!event && header.type < 64))
        return pdc_walk_next_slow(walk, out);
    walk->limit.records_left--;
    pdc_deliver(walk, out, header.type, header.misc, header.size);
    out->event = event;
    return 1;
}

/* ---- samples in a row: the same, without a struct pd_raw for each ---- */

/* The walk's place, out of its memory while common samples follow each other in the chunk. */
struct pdc_row {
    const uint8_t *next, *end, *last;
    uint64_t offset; /* in the file, of what is at `next` */
    uint64_t rises;  /* all ones; 0: all within a compressed record have its offset */
    uint64_t left;   /* of the walk's limit */
    uint32_t least, span, id_at;
    const struct pd_event *single;
};

/* False: there is no row, as pdc_walk_next() has to look closely. */
PD_INLINE bool pdc_row_begin(const struct pd_walk *walk, struct pdc_row *row)
{
    const struct pd_recording *recording = walk->recording;
    if (walk->swap || walk->lost_way || !recording->event_count)
        return false;
    *row = (struct pdc_row){ .next = walk->next,
                             .end = walk->end,
                             .last = walk->last,
                             .offset = pdc_walk_offset(walk),
                             .rises = walk->inflate.inside ? 0 : UINT64_MAX,
                             .left = walk->limit.records_left,
                             .least = walk->least[PD_RECORD_SAMPLE],
                             .span = walk->span[PD_RECORD_SAMPLE],
                             .single = walk->single };
    if (recording->ids.same_positions)
        row->id_at = 8u * recording->events[0]->plan.id_position;
    return row->single || row->id_at;
}

/* The event of the record at `next` and its size and misc, when it is a sample as most are; else
 * NULL, and pdc_walk_next() has to take it. */
PD_INLINE const struct pd_event *pdc_row_look(const struct pd_walk *walk, const struct pdc_row *row,
                                              uint32_t *size, uint16_t *misc)
{
    const size_t room = (size_t)(row->end - row->next);
    if (PD_UNLIKELY(room < 8 || !row->left))
        return NULL;
    const struct pd_record_header header = pd_record_header(row->next, false);
    if (PD_UNLIKELY(header.type != PD_RECORD_SAMPLE || header.size - row->least > row->span ||
                    (header.size & 7) || header.size > room))
        return NULL;
    *size = header.size;
    *misc = header.misc;
    if (row->single)
        return row->single;
    if (PD_UNLIKELY(row->id_at + 8 > header.size))
        return NULL;
    const uint64_t id = pd_load64(row->next + row->id_at, false);
    const struct pdc_cached_event *cached = &walk->cache[id % PD_LENGTH(walk->cache)];
    return PD_LIKELY(cached->id == id) ? cached->event : NULL;
}

PD_INLINE void pdc_row_take(struct pdc_row *row, uint32_t size)
{
    row->last = row->next;
    row->next += size;
    row->offset += size & row->rises;
    row->left--;
}

PD_INLINE void pdc_row_end(struct pd_walk *walk, const struct pdc_row *row)
{
    walk->next = row->next;
    walk->last = row->last;
    walk->limit.records_left = row->left;
}

#endif
