/* SPDX-License-Identifier: MIT */
/* Records inside compressed ones: one zstd stream over all of a file, records split anywhere
 * between its pieces. */
#ifndef PD_CONTAINER_INFLATE_H
#define PD_CONTAINER_INFLATE_H
#include "io/io.h"
#include "io/zstd.h"

struct pdc_inflate {
    struct pd_zstd *zstd;
    bool broken;     /* the stream is damaged: the rest of it is lost */
    bool inside;     /* the walk is within a piece */
    uint64_t taken;  /* compressed bytes so far */
    uint64_t made;   /* bytes that came out of them */
    uint64_t offset; /* of the record that holds the piece */
    /* the walk's place outside */
    struct pd_chunk *chunk;
    const uint8_t *next, *end;
    /* the start of a record whose rest is in the next piece */
    uint8_t *carry;
    size_t carry_size;
};

#endif
