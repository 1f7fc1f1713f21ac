/* SPDX-License-Identifier: MIT */
/* Compressed records -> the chunks of records that are in them. */
#include "container/inflate.h"
#include "container/walk.h"
#include "format/offsets.h"
#include "io/unpack.h"
#include <stdlib.h>

enum { PIECE_ROOM = 512 * 1024, CARRY_MAX = 1 << 20, PAYLOAD_AT = 8, PAYLOAD2_AT = 16 };

/* What is compressed in this record; false: it says something impossible. */
static bool find_payload(const struct pd_walk *walk, const struct pd_raw *raw,
                         const uint8_t **bytes, size_t *size)
{
    size_t at = raw->type == PD_RECORD_COMPRESSED2 ? PAYLOAD2_AT : PAYLOAD_AT;
    if (raw->size < at)
        return false;
    *bytes = raw->data + at;
    *size = raw->size - at;
    if (raw->type == PD_RECORD_COMPRESSED2) {
        uint64_t said = pd_load64(raw->data + PD_AT(compressed2, data_size), walk->swap);
        /* writers left it unset behind the first record of a chunk: the record's size counts
         * then */
        if (said <= *size && pd_align8(said) == pd_align8(*size))
            *size = (size_t)said;
    }
    return true;
}

perfdata_status pdc_inflate_enter(struct pd_walk *walk, const struct pd_raw *raw)
{
    struct pdc_inflate *inflate = &walk->inflate;
    const uint8_t *bytes;
    size_t size;
    if (inflate->inside)
        return pd_issue(walk->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)raw->offset,
                        "a compressed record within another");
    if (inflate->broken)
        return pd_issue(walk->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)raw->offset,
                        "a compressed record behind damage or the limit: what it holds is lost");
    if (!inflate->zstd && !(inflate->zstd = pd_zstd_new()))
        return pd_no_memory(walk->context, NULL);
    if (!find_payload(walk, raw, &bytes, &size))
        return pd_issue(walk->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)raw->offset,
                        "a compressed record without payload");
    pd_zstd_feed(inflate->zstd, bytes, size);
    inflate->taken += size;
    inflate->inside = true;
    inflate->offset = raw->offset;
    inflate->chunk = walk->chunk;
    inflate->next = walk->next;
    inflate->end = walk->end;
    walk->chunk = NULL;
    walk->next = walk->end = inflate->carry; /* pdc_inflate_fill() takes it on */
    if (inflate->carry_size)
        walk->end += inflate->carry_size;
    inflate->carry_size = 0;
    return PERFDATA_OK;
}

static perfdata_status limit_reached(struct pd_walk *walk)
{
    const struct pdc_inflate *inflate = &walk->inflate;
    walk->inflate.broken = true;
    return pd_issue(walk->context, PERFDATA_ISSUE_LIMIT, (int64_t)inflate->offset,
                    "%llu bytes of compressed records hold more than %llu: the rest is left out "
                    "(--memory=SIZE and max_decompressed allow more)",
                    (unsigned long long)inflate->taken, (unsigned long long)inflate->made);
}

perfdata_status pdc_inflate_fill(struct pd_walk *walk, size_t need)
{
    struct pdc_inflate *inflate = &walk->inflate;
    size_t left = (size_t)(walk->end - walk->next);
    if (inflate->broken)
        return PERFDATA_OK;
    struct pd_chunk *chunk = pd_chunk_new(walk->pool, PD_MAX(need, (size_t)PIECE_ROOM));
    if (!chunk)
        return pd_fail(walk->context, PERFDATA_ERROR_MEMORY, (int64_t)inflate->offset,
                       "out of memory");
    if (left)
        memcpy(chunk->bytes, walk->next, left);
    size_t got = 0;
    perfdata_status status = pd_zstd_read(inflate->zstd, chunk->bytes + left,
                                          chunk->capacity - left, &got);
    chunk->size = left + got;
    inflate->made += got;
    if (walk->chunk)
        pd_chunk_release(walk->chunk);
    walk->chunk = chunk;
    walk->next = chunk->bytes;
    walk->end = chunk->bytes + chunk->size;
    if (status < 0) {
        inflate->broken = true;
        status = pd_issue(walk->context, PERFDATA_ISSUE_BAD_RECORD, (int64_t)inflate->offset,
                          "compressed data is damaged (%s): the rest of the stream is lost",
                          pd_zstd_error(inflate->zstd));
    } else if (pd_is_bomb(walk->context, inflate->taken, inflate->made)) {
        status = limit_reached(walk);
    }
    return status;
}

perfdata_status pdc_inflate_leave(struct pd_walk *walk, bool keep_rest)
{
    struct pdc_inflate *inflate = &walk->inflate;
    size_t left = (size_t)(walk->end - walk->next);
    perfdata_status status = PERFDATA_OK;
    inflate->carry_size = 0;
    if (left && keep_rest && left <= CARRY_MAX) {
        uint8_t *carry = malloc(left);
        if (carry) {
            memcpy(carry, walk->next, left);
            free(inflate->carry);
            inflate->carry = carry;
            inflate->carry_size = left;
        } else {
            status = pd_no_memory(walk->context, NULL);
        }
    }
    if (walk->chunk)
        pd_chunk_release(walk->chunk);
    walk->chunk = inflate->chunk;
    walk->last = NULL;
    walk->next = inflate->next;
    walk->end = inflate->end;
    inflate->chunk = NULL;
    inflate->inside = false;
    return status;
}

void pdc_inflate_close(struct pd_walk *walk)
{
    struct pdc_inflate *inflate = &walk->inflate;
    if (inflate->inside)
        pdc_inflate_leave(walk, false);
    pd_zstd_free(inflate->zstd);
    free(inflate->carry);
    memset(inflate, 0, sizeof *inflate);
}
