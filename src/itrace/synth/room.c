/* SPDX-License-Identifier: MIT */
/* Memory for samples until whoever takes them has read them. */
#include "itrace/synth/internal.h"
#include <stdlib.h>

void pd_synth_room_reset(struct pd_synth_room *room)
{
    room->block = room->used = room->total = 0;
}

void pd_synth_room_free(struct pd_synth_room *room)
{
    for (size_t i = 0; i < room->blocks.count; i++)
        free(room->blocks.data[i]);
    pd_vec_free(&room->blocks);
    pd_synth_room_reset(room);
}

void *pd_synth_next_block(struct pd_synth *synth, struct pd_synth_room *room, size_t size)
{
    if (room->blocks.count && room->used)
        room->block++;
    if (room->block == room->blocks.count) {
        uint8_t *block = size <= PD_SYNTH_BLOCK ? malloc(PD_SYNTH_BLOCK) : NULL;
        if (!block || !pd_vec_push(&room->blocks, block)) {
            free(block);
            synth->status = pd_no_memory(&synth->recording->context, "samples");
            return NULL;
        }
    }
    room->used = size;
    room->total += size;
    return room->blocks.data[room->block];
}
