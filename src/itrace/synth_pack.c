/* SPDX-License-Identifier: MIT */
/* Packed samples -> records. */
#include "itrace/synth_inside.h"
#include <stdlib.h>

void pd_synth_unpack_one(const struct pd_synth_packed *packed, const struct pd_synth_origin *origin,
                         struct pd_synth_unpacked *room, struct pd_delivered *record)
{
    uint16_t misc = pd_synth_packed_mode(packed);
    uint64_t id = origin->event->ids[0];
    room->fixed = (struct pd_synth_fixed){ .type = PD_RECORD_SAMPLE,
                                           .misc = misc,
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
    *record = (struct pd_delivered){ .data = (const uint8_t *)&room->fixed,
                                     .size = sizeof room->fixed,
                                     .type = PD_RECORD_SAMPLE,
                                     .misc = misc,
                                     .time = packed->time ? packed->time : PD_NO_TIME,
                                     .number = origin->base + packed->place,
                                     .event = origin->event,
                                     .thread = origin->thread,
                                     .facts = &room->facts };
}

void pd_synth_unpack(struct pd_synth_packs *packs, struct pd_synth_unpacked *room,
                     struct pd_delivered *records)
{
    for (size_t i = 0; i < packs->count; i++) {
        struct pd_synth_packed *packed = &packs->list[i];
        if (packed->unpacked)
            continue;
        pd_synth_unpack_one(packed, &packs->origins.data[packed->origin], &room[i],
                            &records[packed->place]);
        packed->unpacked = true;
    }
}

bool pd_synth_packs_make(struct pd_synth_packs *packs, size_t capacity)
{
    if (packs->list)
        return true;
    packs->list = aligned_alloc(sizeof *packs->list,
                                capacity * sizeof *packs->list); /* a line of the cache each */
    packs->capacity = packs->list ? capacity : 0;
    return packs->list != NULL;
}

void pd_synth_packs_reset(struct pd_synth_packs *packs)
{
    packs->count = packs->origins.count = 0;
    packs->kernel = false;
}

void pd_synth_packs_free(struct pd_synth_packs *packs)
{
    free(packs->list);
    packs->list = NULL;
    pd_vec_free(&packs->origins);
}
