/* SPDX-License-Identifier: MIT */
/* Records of Intel BTS, and their text. */
#include "itrace/bts/branch.h"
#include "format/format.h"
#include <inttypes.h>
#include <stdlib.h>

#define PREDICTED (UINT64_C(1) << 4)

struct pd_bts_branch pd_bts_branch(const uint8_t *bytes)
{
    bool swap = pd_is_big_endian(false); /* the machine that reads */
    return (struct pd_bts_branch){ .from = pd_load64(bytes, swap),
                                   .to = pd_load64(bytes + 8, swap),
                                   .predicted = (pd_load64(bytes + 16, swap) & PREDICTED) != 0 };
}

PD_INLINE bool same(const uint8_t *a, size_t i, const uint8_t *b, size_t j)
{
    return !memcmp(a + i * PD_BTS_SIZE, b + j * PD_BTS_SIZE, PD_BTS_SIZE);
}

/* borders[i]: how many of the first branches are also the last ones of those up to i. */
static void find_borders(const uint8_t *branches, size_t count, uint32_t *borders)
{
    uint32_t length = 0;
    borders[0] = 0;
    for (size_t i = 1; i < count; i++) {
        while (length && !same(branches, i, branches, length))
            length = borders[length - 1];
        length += same(branches, i, branches, length);
        borders[i] = length;
    }
}

/* How many of the last branches of `last` `next` begins with. In linear time, since the branches of
 * a loop are all the same. */
static size_t common(const uint8_t *last, size_t last_count, const uint8_t *next, size_t next_count,
                     const uint32_t *borders)
{
    size_t length = 0;
    for (size_t i = last_count > next_count ? last_count - next_count : 0; i < last_count; i++) {
        while (length && (length == next_count || !same(last, i, next, length)))
            length = borders[length - 1];
        length += same(last, i, next, length);
    }
    return length;
}

bool pd_bts_find_overlap(const uint8_t *last, size_t last_size, const uint8_t *next,
                         size_t next_size, size_t *first_new)
{
    size_t last_count = last_size / PD_BTS_SIZE, rest = last_size % PD_BTS_SIZE;
    size_t next_count = PD_MIN(next_size / PD_BTS_SIZE, (size_t)UINT32_MAX);
    *first_new = 0;
    if (!last_count || !next_count)
        return true;
    uint32_t *borders = malloc(next_count * sizeof *borders);
    if (!borders)
        return false;
    find_borders(next, next_count, borders);
    size_t length = common(last, last_count, next, next_count, borders);
    /* Where snapshots begin within a branch, what ends the last one goes on with them, too. */
    const uint8_t *tail = last + last_count * PD_BTS_SIZE;
    while (length && (next_size - length * PD_BTS_SIZE < rest ||
                      memcmp(next + length * PD_BTS_SIZE, tail, rest) != 0))
        length = borders[length - 1];
    if (length)
        *first_new = length * PD_BTS_SIZE + rest;
    free(borders);
    return true;
}

void pd_bts_dump(const uint8_t *bytes, size_t size, struct pd_text *text)
{
    for (size_t at = 0; at < size; at += PD_BTS_SIZE) {
        size_t length = PD_MIN(size - at, (size_t)PD_BTS_SIZE);
        pd_text_format(text, ".  %08zx: ", at);
        for (size_t i = 0; i < PD_BTS_SIZE; i++)
            if (i < length)
                pd_text_format(text, " %02x", bytes[at + i]);
            else
                pd_text_string(text, "   ");
        if (length < PD_BTS_SIZE) {
            pd_text_string(text, " Bad record!\n");
            continue;
        }
        struct pd_bts_branch branch = pd_bts_branch(bytes + at);
        pd_text_format(text, " %" PRIx64 " -> %" PRIx64 " %s\n", branch.from, branch.to,
                       branch.predicted ? "pred" : "miss");
    }
}
