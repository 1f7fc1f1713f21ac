/* SPDX-License-Identifier: MIT */
/* Snapshots and samples of one buffer may hold the same bytes twice. Where the second goes on is
 * found by comparing the TSC behind the last PSB of the first with those of the second (reference
 * 4.4), or without TSC byte by byte. */
#include "itrace/aux/aux.h"
#include "itrace/intel_pt/packet.h"

enum { PSB_SIZE = 16, PADDING = 7 };
#define TSC_MASK ((UINT64_C(1) << 56) - 1)
#define TSC_HALF (UINT64_C(1) << 55)

/* The last PSB that begins before `before`; `size` when there is none. */
static size_t last_psb(const uint8_t *bytes, size_t size, size_t before)
{
    for (size_t step = 4096, from = before; from;) {
        from = from > step ? from - step : 0;
        size_t found = size, at = pd_pt_find_psb(bytes, PD_MIN(size, before + PSB_SIZE - 1), from);
        while (at < before && at < size) {
            found = at;
            at = pd_pt_find_psb(bytes, PD_MIN(size, before + PSB_SIZE - 1), at + 1);
        }
        if (found < size)
            return found;
        step *= 4;
    }
    return size;
}

/* The TSC of the PSB+ at `at`; *left: bytes from its packet to the end. */
static bool psb_tsc(const uint8_t *bytes, size_t size, size_t at, uint64_t *tsc, size_t *left)
{
    enum pd_pt_context context = PD_PT_NO_BLOCK;
    struct pd_pt_packet packet;
    for (; at < size; at += packet.size) {
        pd_pt_packet_decode(bytes + at, size - at, &context, &packet);
        if (packet.kind == PD_PT_TSC) {
            *tsc = packet.payload;
            *left = size - at;
            return true;
        }
        if (packet.kind == PD_PT_PSBEND || packet.kind == PD_PT_BAD)
            return false;
    }
    return false;
}

/* The first may end in zeros that only fill it up to 8 bytes: what differs from them is new. */
static size_t before_padding(const uint8_t *last, size_t last_size, const uint8_t *next, size_t at)
{
    if (at < PADDING || last_size < PADDING)
        return at;
    for (size_t i = 0; i < PADDING; i++)
        if (next[at - PADDING + i] != last[last_size - PADDING + i])
            return at - PADDING + i;
    return at;
}

static size_t find_by_tsc(const uint8_t *last, size_t last_size, const uint8_t *next,
                          size_t next_size, size_t start, bool vm_time, bool *consecutive)
{
    uint64_t tsc, here;
    size_t left, here_left, at = last_psb(last, last_size, last_size);
    bool found = at < last_size && psb_tsc(last, last_size, at, &tsc, &left);
    if (!found) { /* its PSB+ may be cut */
        at = last_psb(last, last_size, at < last_size ? at : 0);
        found = at < last_size && psb_tsc(last, last_size, at, &tsc, &left);
    }
    if (!found)
        return start;
    for (at = start; at < next_size; at = pd_pt_find_psb(next, next_size, at + 1)) {
        if (!psb_tsc(next, next_size, at, &here, &here_left))
            continue;
        if (here == tsc && here_left >= left) {
            *consecutive = true;
            return before_padding(last, last_size, next, next_size - (here_left - left));
        }
        uint64_t ahead = (here - tsc) & TSC_MASK;
        if (!vm_time && ahead && ahead < TSC_HALF)
            return at;
    }
    return next_size;
}

static size_t find_by_bytes(const uint8_t *last, size_t last_size, const uint8_t *next,
                            size_t next_size, size_t from, size_t start, bool *consecutive)
{
    const uint8_t *fresh = next + start;
    size_t fresh_size = next_size - start;
    while (from < last_size && fresh_size < last_size - from)
        from = pd_pt_find_psb(last, last_size, from + 1);
    for (; from < last_size; from = pd_pt_find_psb(last, last_size, from + 1)) {
        size_t same = last_size - from;
        if (memcmp(last + from, fresh, same) == 0) {
            *consecutive = true;
            return before_padding(last, last_size, next, start + same);
        }
    }
    return start;
}

size_t pd_pt_find_overlap(const uint8_t *last, size_t last_size, const uint8_t *next,
                          size_t next_size, bool have_tsc, bool vm_time, bool *consecutive)
{
    *consecutive = false;
    size_t start = pd_pt_find_psb(next, next_size, 0);
    if (start >= next_size)
        return next_size;
    size_t from = pd_pt_find_psb(last, last_size, 0);
    if (from >= last_size)
        return start;
    if (have_tsc)
        return find_by_tsc(last, last_size, next, next_size, start, vm_time, consecutive);
    return find_by_bytes(last, last_size, next, next_size, from, start, consecutive);
}
