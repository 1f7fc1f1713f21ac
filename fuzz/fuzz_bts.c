/* SPDX-License-Identifier: MIT */
/* Intel BTS: bytes as the raw dump shows them, and two snapshots, parted where the first byte says,
 * that may have branches in common: as many as a search branch by branch finds. */
#include "itrace/bts/branch.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t slow_overlap(const uint8_t *last, size_t last_size, const uint8_t *next,
                           size_t next_size)
{
    for (size_t at = 0; last_size - at >= PD_BTS_SIZE; at += PD_BTS_SIZE)
        if (last_size - at <= next_size && !memcmp(last + at, next, last_size - at))
            return last_size - at;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pd_text out = { 0 };
    if (!size)
        return 0;
    size_t first_new, last_size = (size - 1) * data[0] / 255, next_size = size - 1 - last_size;
    const uint8_t *last = data + 1, *next = last + last_size;
    pd_bts_dump(last, size - 1, &out);
    pd_text_free(&out);
    if (pd_bts_find_overlap(last, last_size, next, next_size, &first_new) &&
        first_new != slow_overlap(last, last_size, next, next_size))
        abort();
    return 0;
}
