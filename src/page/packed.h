/* SPDX-License-Identifier: MIT */
/* Rows of samples in a quarter of their size, to be read from the first to the last. */
#ifndef PD_PAGE_PACKED_H
#define PD_PAGE_PACKED_H
#include "base/text.h"
#include "base/vec.h"

struct pd_page_row {
    uint64_t time, weight;
    uint32_t count, event, thread, stack, cpu, side;
};

struct pd_page_chunk {
    struct pd_text bytes;
    uint32_t rows;
};

struct pd_page_packed {
    PD_VEC(struct pd_page_chunk) chunks; /* each is read without those before it */
    struct pd_page_row last;             /* of the last chunk */
    uint64_t count;
};

/* Sides are not kept: they are 0. False: no memory. */
bool pd_page_pack(struct pd_page_packed *packed, const struct pd_page_row *row);
void pd_page_packed_free(struct pd_page_packed *packed);

/* Begins as { .packed = ... }; `chunk` may be set, too. */
struct pd_page_unpack {
    const struct pd_page_packed *packed;
    size_t chunk; /* the one that comes next */
    const uint8_t *at;
    uint32_t left; /* rows of the one before */
    struct pd_page_row row;
};

/* The next one, in `unpack->row`. False: there is none. */
bool pd_page_unpack(struct pd_page_unpack *unpack);

#endif
