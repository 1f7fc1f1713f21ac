/* SPDX-License-Identifier: MIT */
/* Digits written straight to memory: for lines whose room was reserved at once. Each returns the
 * end. */
#ifndef PD_DIGITS_H
#define PD_DIGITS_H
#include "base/base.h"

static const char pd_digit_pairs[] =
    "0001020304050607080910111213141516171819202122232425262728293031"
    "3233343536373839404142434445464748495051525354555657585960616263"
    "6465666768697071727374757677787980818283848586878889909192939495"
    "96979899";

/* Writes the digits before `end`, returns where they begin: two a step. */
PD_INLINE char *pd_digits_before(char *end, uint64_t value)
{
    while (value >= 100) {
        end -= 2;
        memcpy(end, pd_digit_pairs + 2 * (value % 100), 2);
        value /= 100;
    }
    if (value >= 10) {
        end -= 2;
        memcpy(end, pd_digit_pairs + 2 * value, 2);
    } else {
        *--end = (char)('0' + value);
    }
    return end;
}

/* At most 20 bytes. */
PD_INLINE char *pd_put_u64(char *to, uint64_t value)
{
    char digits[20], *end = digits + sizeof digits, *start = pd_digits_before(end, value);
    size_t length = (size_t)(end - start);
    memcpy(to, start, length);
    return to + length;
}

/* %*lu: max(20, width) bytes. */
PD_INLINE char *pd_put_u64_right(char *to, uint64_t value, unsigned width)
{
    char digits[20], *end = digits + sizeof digits, *start = pd_digits_before(end, value);
    size_t length = (size_t)(end - start), pad = length < width ? width - length : 0;
    memset(to, ' ', pad);
    memcpy(to + pad, start, length);
    return to + pad + length;
}

/* Exactly `count` digits with zeros before; what does not fit is cut. */
PD_INLINE char *pd_put_fixed(char *to, uint32_t value, unsigned count)
{
    unsigned i = count;
    for (; i >= 2; value /= 100) {
        i -= 2;
        memcpy(to + i, pd_digit_pairs + 2 * (value % 100), 2);
    }
    if (i)
        *to = (char)('0' + value % 10);
    return to + count;
}

/* %lx: at most 16 bytes. */
PD_INLINE char *pd_put_hex(char *to, uint64_t value)
{
    unsigned count = value ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 1;
    for (unsigned i = count; i--; value >>= 4)
        to[i] = "0123456789abcdef"[value & 15];
    return to + count;
}

/* %16lx: 16 bytes. */
PD_INLINE char *pd_put_hex16(char *to, uint64_t value)
{
    unsigned count = value ? (67 - (unsigned)__builtin_clzll(value)) / 4 : 1;
    memset(to, ' ', 16);
    for (unsigned i = 16; count--; value >>= 4)
        to[--i] = "0123456789abcdef"[value & 15];
    return to + 16;
}

PD_INLINE char *pd_put_bytes(char *to, const void *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return to + size;
}

#endif
