/* SPDX-License-Identifier: MIT */
/* Records -> pieces of one zstd stream, each readable when it is met. */
#include "write/pack.h"
#include <stdlib.h>
#include <zstd.h>

enum { OUT_ROOM = 65527 }; /* of a record's 16-bit size, its header taken off */

struct pd_pack {
    ZSTD_CStream *stream;
    uint64_t taken, made;
    size_t size;
    uint8_t piece[PD_PACK_PIECE];
    uint8_t out[OUT_ROOM];
};

struct pd_pack *pd_pack_new(int level)
{
    struct pd_pack *pack = calloc(1, sizeof *pack);
    if (!pack)
        return NULL;
    pack->stream = ZSTD_createCStream();
    if (!pack->stream || ZSTD_isError(ZSTD_initCStream(pack->stream, level))) {
        pd_pack_free(pack);
        return NULL;
    }
    return pack;
}

void pd_pack_free(struct pd_pack *pack)
{
    if (!pack)
        return;
    ZSTD_freeCStream(pack->stream);
    free(pack);
}

size_t pd_pack_add(struct pd_pack *pack, const uint8_t *bytes, size_t size)
{
    size = PD_MIN(size, sizeof pack->piece - pack->size);
    memcpy(pack->piece + pack->size, bytes, size);
    pack->size += size;
    return size;
}

bool pd_pack_full(const struct pd_pack *pack)
{
    return pack->size == sizeof pack->piece;
}

bool pd_pack_flush(struct pd_pack *pack, const uint8_t **bytes, size_t *size)
{
    ZSTD_inBuffer in = { pack->piece, pack->size, 0 };
    ZSTD_outBuffer out = { pack->out, sizeof pack->out, 0 };
    *bytes = pack->out;
    *size = 0;
    if (!pack->size)
        return true;
    size_t result = ZSTD_compressStream(pack->stream, &out, &in);
    if (ZSTD_isError(result) || in.pos < in.size || ZSTD_flushStream(pack->stream, &out) != 0)
        return false;
    pack->taken += pack->size;
    pack->made += out.pos;
    pack->size = 0;
    *size = out.pos;
    return true;
}

uint32_t pd_pack_ratio(const struct pd_pack *pack)
{
    return pack->made ? (uint32_t)((pack->taken + pack->made / 2) / pack->made) : 0;
}

void pd_pack_totals(const struct pd_pack *pack, uint64_t *taken, uint64_t *made)
{
    *taken = pack->taken;
    *made = pack->made;
}
