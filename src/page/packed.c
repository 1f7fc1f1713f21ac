/* SPDX-License-Identifier: MIT */
/* Rows of samples <-> their differences to the row before, in as few bytes as each needs. */
#include "page/packed.h"

enum {
    CHUNK = 1 << 18, /* bytes, of which one is free before the next is full */
    LONGEST = 2 * 10 + 5 * 5
};

static char *put(char *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        *to++ = (char)(value | 0x80);
    *to++ = (char)value;
    return to;
}

static char *put_step(char *to, uint64_t value, uint64_t last)
{
    int64_t step = (int64_t)(value - last);
    return put(to, (uint64_t)step << 1 ^ (uint64_t)(step >> 63));
}

static uint64_t take(const uint8_t **from)
{
    uint64_t value = 0;
    unsigned shift = 0;
    for (; **from & 0x80; (*from)++, shift += 7)
        value |= (uint64_t)(**from & 0x7f) << shift;
    return value | (uint64_t) * (*from)++ << shift;
}

static uint64_t take_step(const uint8_t **from, uint64_t last)
{
    uint64_t step = take(from);
    return last + (step >> 1 ^ (0 - (step & 1)));
}

bool pd_page_pack(struct pd_page_packed *packed, const struct pd_page_row *row)
{
    size_t chunks = packed->chunks.count;
    if (!chunks || packed->chunks.data[chunks - 1].bytes.length > CHUNK - LONGEST) {
        if (!pd_vec_push(&packed->chunks, (struct pd_page_chunk){ 0 }))
            return false;
        packed->last = (struct pd_page_row){ 0 };
    }
    struct pd_page_chunk *chunk = &packed->chunks.data[packed->chunks.count - 1];
    const struct pd_page_row *last = &packed->last;
    char *begin = pd_text_room(&chunk->bytes, LONGEST), *to = begin;
    if (!to)
        return false;
    to = put_step(to, row->time, last->time);
    to = put_step(to, row->weight, last->weight);
    to = put(to, row->count);
    to = put(to, row->event);
    to = put(to, (uint32_t)(row->thread - last->thread)); /* they come in order in a piece */
    to = put(to, row->stack);
    to = put(to, (uint32_t)(row->cpu + 1));
    chunk->bytes.length += (size_t)(to - begin);
    chunk->rows++;
    packed->last = *row;
    packed->count++;
    return true;
}

void pd_page_packed_free(struct pd_page_packed *packed)
{
    for (size_t i = 0; i < packed->chunks.count; i++)
        pd_text_free(&packed->chunks.data[i].bytes);
    pd_vec_free(&packed->chunks);
    *packed = (struct pd_page_packed){ 0 };
}

bool pd_page_unpack(struct pd_page_unpack *unpack)
{
    struct pd_page_row *row = &unpack->row;
    if (!unpack->left) {
        if (unpack->chunk == unpack->packed->chunks.count)
            return false;
        const struct pd_page_chunk *chunk = &unpack->packed->chunks.data[unpack->chunk++];
        unpack->at = (const uint8_t *)chunk->bytes.data;
        unpack->left = chunk->rows;
        *row = (struct pd_page_row){ 0 };
    }
    unpack->left--;
    const uint8_t **at = &unpack->at;
    row->time = take_step(at, row->time);
    row->weight = take_step(at, row->weight);
    row->count = (uint32_t)take(at);
    row->event = (uint32_t)take(at);
    row->thread += (uint32_t)take(at);
    row->stack = (uint32_t)take(at);
    row->cpu = (uint32_t)take(at) - 1;
    return true;
}
