/* SPDX-License-Identifier: MIT */
/* Samples with half a call chain, and the records that hold the other half -> samples with a whole
 * one. */
#include "pipeline/deferred.h"

enum {
    WORD = 8,
    RECORD_MAX = 65528, /* the largest multiple of 8 that a header's size field holds */
    COOKIE_AT = 8,      /* in a CALLCHAIN_DEFERRED: */
    COUNT_AT = 16,
    IPS_AT = 24
};

/* What a CALLCHAIN_DEFERRED record says. */
struct pd_user_part {
    uint64_t cookie, time;
    uint32_t tid;
    uint32_t chain; /* in `chains`: u64 in the recording's byte order */
};

void pd_deferred_init(struct pd_deferred *deferred, struct pd_recording *recording,
                      struct pd_made *made)
{
    *deferred = (struct pd_deferred){ .recording = recording, .made = made };
}

void pd_deferred_free(struct pd_deferred *deferred)
{
    pd_vec_free(&deferred->parts);
    pd_intern_free(&deferred->chains);
    memset(deferred, 0, sizeof *deferred);
}

bool pd_deferred_any(const struct pd_recording *recording)
{
    bool defers = false;
    for (size_t i = 0; i < recording->event_count; i++) {
        const struct pd_attr *attr = &recording->events[i]->attr;
        defers |= pd_attr_flag(attr, PD_ATTR_DEFER_CALLCHAIN) ||
                  pd_attr_flag(attr, PD_ATTR_DEFER_OUTPUT);
    }
    return defers;
}

perfdata_status pd_deferred_prepare(struct pd_recording *recording)
{
    return pd_deferred_any(recording) && pd_source_is_stream(recording->source)
               ? pd_recording_spool(recording)
               : PERFDATA_OK;
}

/* ---- the user parts -------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    const struct pd_user_part *one = a, *other = b;
    if (one->tid != other->tid)
        return one->tid < other->tid ? -1 : 1;
    if (one->cookie != other->cookie)
        return one->cookie < other->cookie ? -1 : 1;
    if (one->time != other->time)
        return one->time < other->time ? -1 : 1;
    return one->chain < other->chain ? -1 : one->chain > other->chain;
}

/* False: no memory. */
static bool add_part(struct pd_deferred *deferred, const struct pd_raw *raw)
{
    bool swap = deferred->recording->swap;
    uint64_t count = pd_load64(raw->data + COUNT_AT, swap);
    count = PD_MIN(count, (uint64_t)(raw->size - IPS_AT) / WORD); /* the walk has told of damage */
    struct pd_identity identity;
    pd_record_identity(raw->event, raw->data, raw->size, raw->type, &identity);
    struct pd_user_part part = {
        .cookie = pd_load64(raw->data + COOKIE_AT, swap),
        .time = identity.time,
        .tid = identity.tid,
        .chain = pd_intern(&deferred->chains, (const char *)raw->data + IPS_AT,
                           (size_t)count * WORD),
    };
    return part.chain != PD_INTERN_NONE && pd_vec_push(&deferred->parts, part);
}

static uint64_t memory_of(const struct pd_deferred *deferred)
{
    return deferred->chains.arena.total + deferred->parts.capacity * sizeof *deferred->parts.data;
}

/* Reads the whole recording for its CALLCHAIN_DEFERRED records. */
static perfdata_status collect(struct pd_deferred *deferred)
{
    const uint64_t usual = UINT64_C(1) << 29;
    struct pd_context *context = &deferred->recording->context;
    uint64_t room = context->limits.memory ? context->limits.memory / 2 : usual;
    struct pd_walk *walk;
    struct pd_raw raw;
    deferred->collected = true;
    if (pd_source_is_stream(deferred->recording->source))
        return PERFDATA_OK; /* no event said that there would be any, and now it is too late */
    perfdata_status status = pd_walk_open(deferred->recording, &walk);
    if (status < 0)
        return status;
    pd_walk_set(walk, PD_WALK_QUIET);
    while (status >= 0 && pd_walk_next(walk, &raw) > 0) {
        if (raw.type != PD_RECORD_CALLCHAIN_DEFERRED || raw.size < IPS_AT || !raw.event)
            continue;
        if (memory_of(deferred) > room) {
            status = pd_issue(context, PERFDATA_ISSUE_LIMIT, (int64_t)raw.offset,
                              "more than %llu bytes of deferred call chains: later ones are left "
                              "out (--memory allows more)",
                              (unsigned long long)room);
            break;
        }
        if (!add_part(deferred, &raw))
            status = pd_no_memory(&deferred->recording->context, "deferred call chains");
    }
    if (deferred->parts.count)
        qsort(deferred->parts.data, deferred->parts.count, sizeof *deferred->parts.data, compare);
    pd_walk_close(walk); /* damage ends the other walk as well, which tells of it */
    return status;
}

/* The first one of the thread at or after `time`; NULL: there is none. */
static const struct pd_user_part *find_part(const struct pd_deferred *deferred, uint32_t tid,
                                            uint64_t cookie, uint64_t time)
{
    struct pd_user_part wanted = { .cookie = cookie, .tid = tid, .time = time };
    if (time == UINT64_MAX) /* the sample has none: any will do */
        wanted.time = 0;
    size_t low = 0, high = deferred->parts.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&deferred->parts.data[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == deferred->parts.count)
        return NULL;
    const struct pd_user_part *part = &deferred->parts.data[low];
    return part->tid == tid && part->cookie == cookie ? part : NULL;
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Where the chain of a sample begins, with its count; 0: it has none, or none that is whole. */
static uint32_t chain_at(const struct pd_delivered *record, uint64_t *count)
{
    const struct pd_plan *plan = &record->event->plan;
    uint32_t at = plan->fixed_size;
    *count = 0;
    if (!(plan->sample_type & PD_SAMPLE_CALLCHAIN) || at + WORD > record->size)
        return 0;
    if (PD_UNLIKELY(plan->sample_type & PD_SAMPLE_READ)) {
        struct pd_read_values values;
        uint32_t size = pd_read_decode(plan->read_format, record->data + at, record->size - at,
                                       plan->swap, &values);
        if (!size || (at += size) + WORD > record->size)
            return 0;
    }
    *count = pd_load64(record->data + at, plan->swap);
    return *count <= (record->size - at - WORD) / WORD ? at : 0;
}

bool pd_deferred_waits_behind_read(const struct pd_delivered *record)
{
    uint64_t count;
    uint32_t at = chain_at(record, &count);
    return at && pd_deferred_ends_chain(record, at);
}

/* Puts `count` addresses in place of the marker and the cookie, `user` before them unless they
 * begin with a marker. */
static perfdata_status rewrite(struct pd_deferred *deferred, struct pd_delivered *record,
                               const uint8_t *ips, size_t count)
{
    bool swap = record->event->plan.swap;
    uint64_t kept;
    uint32_t at = chain_at(record, &kept);
    kept -= 2;
    bool marks = count && pd_load64(ips, swap) < (uint64_t)-4095;
    size_t head = at + WORD + WORD * (size_t)kept, tail = record->size - head - 2 * WORD;
    size_t fits = head + tail + WORD < RECORD_MAX ? (RECORD_MAX - head - tail) / WORD - 1 : 0;
    size_t taken = PD_MIN(count, fits), added = marks && taken ? taken + 1 : taken;
    size_t size = head + WORD * added + tail;
    const uint8_t *recorded = record->data;
    uint8_t *out = pd_made_bytes(deferred->made, record, size);
    if (!out)
        return pd_no_memory(&deferred->recording->context, "deferred call chains");
    memcpy(out, recorded, head);
    pd_store16(out + 6, (uint16_t)size, swap);
    pd_store64(out + at, kept + added, swap);
    uint8_t *to = out + head;
    if (added > taken) {
        pd_store64(to, PD_CONTEXT(USER), swap);
        to += WORD;
    }
    if (taken)
        memcpy(to, ips, WORD * taken);
    memcpy(to + WORD * taken, recorded + head + 2 * (size_t)WORD, tail);
    return taken == count ? PERFDATA_OK
                          : pd_issue(&deferred->recording->context, PERFDATA_ISSUE_LIMIT,
                                     (int64_t)record->offset,
                                     "a call chain with its deferred part has more entries than "
                                     "a record can hold: the outermost are left out");
}

perfdata_status pd_deferred_complete(struct pd_deferred *deferred, struct pd_delivered *record)
{
    bool swap = record->event->plan.swap;
    perfdata_status status = deferred->collected ? PERFDATA_OK : collect(deferred);
    if (status < 0)
        return status;
    uint64_t count;
    uint32_t at = chain_at(record, &count);
    if (!at || count < 2)
        return PERFDATA_OK; /* it does not wait */
    uint64_t cookie = pd_load64(record->data + at + WORD * count, swap);
    struct pd_identity identity;
    pd_record_identity(record->event, record->data, record->size, record->type, &identity);
    const struct pd_user_part *part = find_part(deferred, identity.tid, cookie, identity.time);
    if (part) {
        const struct pd_string *chain = &deferred->chains.strings.data[part->chain];
        return rewrite(deferred, record, (const uint8_t *)chain->text, chain->length / WORD);
    }
    status = rewrite(deferred, record, NULL, 0);
    return status < 0 ? status
                      : pd_issue(&deferred->recording->context, PERFDATA_ISSUE_BAD_CALLCHAIN,
                                 (int64_t)record->offset,
                                 "the user part of a call chain was deferred and is not in the "
                                 "recording: the kernel's part is shown");
}
