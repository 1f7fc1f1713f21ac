/* SPDX-License-Identifier: MIT */
/* Packed samples: see struct pd_synth_packed. */
#ifndef PD_SYNTH_COMPACT_SAMPLE_H
#define PD_SYNTH_COMPACT_SAMPLE_H
#include "base/stream.h"
#include "itrace/synth/internal.h"

/* pd_synth_unpack_one(), in line. */
PD_INLINE void pd_synth_make_record(const struct pd_synth_packed *packed,
                                    const struct pd_synth_origin *origin,
                                    struct pd_synth_unpacked *room, struct pd_delivered *record)
{
    uint64_t id = origin->event->ids[0];
    room->fixed = (struct pd_synth_fixed){ .type = PD_RECORD_SAMPLE,
                                           .misc = pd_synth_packed_mode(packed),
                                           .size = sizeof room->fixed,
                                           .ip = packed->from,
                                           .pid = origin->pid,
                                           .tid = origin->tid,
                                           .time = packed->time,
                                           .addr = packed->to,
                                           .id = id,
                                           .stream_id = id,
                                           .cpu = origin->cpu,
                                           .period = packed->period };
    room->facts = (struct pd_synth_facts){ .flags = packed->flags,
                                           .insn_count = packed->insn_count,
                                           .cycle_count = packed->cycle_count,
                                           .insn_ip = packed->insn_ip,
                                           .insn_thread = origin->insn_thread,
                                           .insn_length = packed->insn_length,
                                           .to = packed->to,
                                           .trace = origin->trace };
    pd_synth_record(&room->fixed, &room->facts, origin->event, origin->thread, record);
    record->number = origin->base + packed->place;
}

/* Whether origin `at` is that one. */
PD_INLINE bool pd_synth_packs_origin(const struct pd_synth_packs *packs, size_t at,
                                     const struct pd_synth_origin *origin)
{
    if (at >= packs->origins.count)
        return false;
    const struct pd_synth_origin *other = &packs->origins.data[at];
    return other->event == origin->event && other->base == origin->base &&
           other->thread == origin->thread && other->insn_thread == origin->insn_thread &&
           other->trace == origin->trace && other->pid == origin->pid &&
           other->tid == origin->tid && other->cpu == origin->cpu;
}

/* The origin of the samples that follow, as its place in the list. False: they have to be
 * records. */
PD_INLINE bool pd_synth_pack_origin(struct pd_synth_sink *sink, uint16_t *last,
                                    const struct pd_synth_origin *origin)
{
    struct pd_synth_packs *packs = sink->packs;
    if (PD_LIKELY(pd_synth_packs_origin(packs, *last, origin)))
        return true;
    if (packs->origins.count >= UINT16_MAX || !pd_vec_push(&packs->origins, *origin))
        return false;
    *last = (uint16_t)(packs->origins.count - 1);
    return true;
}

/* A place for a packed sample; NULL: it has to be a record. */
PD_INLINE struct pd_synth_packed *pd_synth_pack_next(struct pd_synth_sink *sink, uint16_t origin)
{
    enum { AHEAD = 8 };
    struct pd_synth_packs *packs = sink->packs;
    if (PD_UNLIKELY(packs->count == packs->capacity))
        return NULL;
    struct pd_synth_packed *packed = &packs->list[packs->count++];
    __builtin_prefetch(packed + AHEAD, 1); /* another core has read it */
    packed->place = (uint16_t)sink->count++;
    packed->origin = origin;
    packed->unpacked = false;
    packed->insn_count = packed->cycle_count = 0;
    return packed;
}

/* Fills a place that nobody reads here, by whole words; only where PD_STREAMS. */
PD_INLINE void pd_synth_pack_stream(struct pd_synth_packed *to, const struct pd_synth_packed *value)
{
    _Static_assert(sizeof *to == 64 && offsetof(struct pd_synth_packed, flags) == 56 &&
                       offsetof(struct pd_synth_packed, place) == 58 &&
                       offsetof(struct pd_synth_packed, origin) == 60 &&
                       offsetof(struct pd_synth_packed, insn_length) == 62,
                   "the last word");
    pd_stream64(&to->from, value->from);
    pd_stream64(&to->to, value->to);
    pd_stream64(&to->time, value->time);
    pd_stream64(&to->insn_ip, value->insn_ip);
    pd_stream64(&to->insn_count, value->insn_count);
    pd_stream64(&to->cycle_count, value->cycle_count);
    pd_stream64(&to->period, value->period);
    pd_stream64(&to->flags, (uint64_t)value->flags | (uint64_t)value->place << 16 |
                                (uint64_t)value->origin << 32 |
                                (uint64_t)value->insn_length << 48); /* x86 has the lowest first */
}

#endif
