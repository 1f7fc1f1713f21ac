/* SPDX-License-Identifier: MIT */
/* What every file uses: attributes, bytes in either order, checked arithmetic. */
#ifndef PD_BASE_H
#define PD_BASE_H
#include <perfdata/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PD_LIKELY(x) __builtin_expect(!!(x), 1)
#define PD_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define PD_INLINE static inline __attribute__((always_inline))
#define PD_NOINLINE __attribute__((noinline))
#define PD_PRINTF(f, a) __attribute__((format(printf, f, a)))
#define PD_LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define PD_MIN(a, b) ((a) < (b) ? (a) : (b))
#define PD_MAX(a, b) ((a) > (b) ? (a) : (b))

/* Unaligned loads and stores of file bytes; `swap` when the file's order is not ours. The only
 * places that do so. */
PD_INLINE uint16_t pd_load16(const void *p, bool swap)
{
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap16(v) : v;
}

PD_INLINE uint32_t pd_load32(const void *p, bool swap)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap32(v) : v;
}

PD_INLINE uint64_t pd_load64(const void *p, bool swap)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return swap ? __builtin_bswap64(v) : v;
}

PD_INLINE void pd_store16(void *p, uint16_t v, bool swap)
{
    v = swap ? __builtin_bswap16(v) : v;
    memcpy(p, &v, sizeof v);
}

PD_INLINE void pd_store32(void *p, uint32_t v, bool swap)
{
    v = swap ? __builtin_bswap32(v) : v;
    memcpy(p, &v, sizeof v);
}

PD_INLINE void pd_store64(void *p, uint64_t v, bool swap)
{
    v = swap ? __builtin_bswap64(v) : v;
    memcpy(p, &v, sizeof v);
}

/* The low `size` bytes of `v`: 1, 2, 4 or 8. */
PD_INLINE void pd_store(void *p, uint64_t v, unsigned size, bool swap)
{
    switch (size) {
    case 1: *(uint8_t *)p = (uint8_t)v; break;
    case 2: pd_store16(p, (uint16_t)v, swap); break;
    case 4: pd_store32(p, (uint32_t)v, swap); break;
    default: pd_store64(p, v, swap); break;
    }
}

/* True when the result does not fit; *out is then unspecified. */
#define pd_add_overflows(a, b, out) __builtin_add_overflow((a), (b), (out))
#define pd_sub_overflows(a, b, out) __builtin_sub_overflow((a), (b), (out))
#define pd_mul_overflows(a, b, out) __builtin_mul_overflow((a), (b), (out))

/* Whether [offset, offset + size) lies in [0, total). */
PD_INLINE bool pd_range_ok(uint64_t offset, uint64_t size, uint64_t total)
{
    return offset <= total && size <= total - offset;
}

PD_INLINE uint64_t pd_align8(uint64_t v)
{
    return (v + 7) & ~UINT64_C(7);
}

/* Clears a small structure on a hot path: gcc turns one memset() of a few hundred bytes into `rep
 * stos`, whose start costs more than all the stores. */
PD_INLINE void pd_clear(void *to, size_t size)
{
    enum { BLOCK = 64 };
    size_t at = 0;
    for (; at + BLOCK <= size; at += BLOCK)
        memset((uint8_t *)to + at, 0, BLOCK);
    memset((uint8_t *)to + at, 0, size - at);
}

#endif
