/* SPDX-License-Identifier: MIT */
/* Packed samples -> records. */
#include "itrace/synth/compact_sample.h"
#include <stdlib.h>

void pd_synth_unpack_one(const struct pd_synth_packed *packed, const struct pd_synth_origin *origin,
                         struct pd_synth_unpacked *room, struct pd_delivered *record)
{
    pd_synth_make_record(packed, origin, room, record);
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
