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

/* Writes the digits so that they end at `end`, two at a time; returns where they begin. */
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

PD_INLINE unsigned pd_digit_count(uint64_t value)
{
    static const uint64_t tens[] = {
        UINT64_C(0),
        UINT64_C(10),
        UINT64_C(100),
        UINT64_C(1000),
        UINT64_C(10000),
        UINT64_C(100000),
        UINT64_C(1000000),
        UINT64_C(10000000),
        UINT64_C(100000000),
        UINT64_C(1000000000),
        UINT64_C(10000000000),
        UINT64_C(100000000000),
        UINT64_C(1000000000000),
        UINT64_C(10000000000000),
        UINT64_C(100000000000000),
        UINT64_C(1000000000000000),
        UINT64_C(10000000000000000),
        UINT64_C(100000000000000000),
        UINT64_C(1000000000000000000),
        UINT64_C(10000000000000000000),
    };
    /* log10(2) is a little more than 1233/4096 */
    unsigned guess = (64 - (unsigned)__builtin_clzll(value | 1)) * 1233 >> 12;
    return guess + (value >= tens[guess]);
}

/* At most 20 bytes. */
PD_INLINE char *pd_put_u64(char *to, uint64_t value)
{
    char *end = to + pd_digit_count(value);
    (void)pd_digits_before(end, value);
    return end;
}

/* %*lu: max(20, width) bytes, all of which may be written. */
PD_INLINE char *pd_put_u64_right(char *to, uint64_t value, unsigned width)
{
    const unsigned length = pd_digit_count(value), pad = length < width ? width - length : 0;
    memset(to, ' ', 20);
    for (unsigned i = 20; i < pad; i++)
        to[i] = ' ';
    return pd_put_u64(to + pad, value);
}

/* Copies a text that is mostly short, which then takes no call. */
PD_INLINE char *pd_put_short(char *to, const char *text, size_t length)
{
    if (PD_UNLIKELY(length > 16)) {
        memcpy(to, text, length);
    } else if (length >= 8) { /* both ends, which may overlap */
        uint64_t begin, end;
        memcpy(&begin, text, 8);
        memcpy(&end, text + length - 8, 8);
        memcpy(to, &begin, 8);
        memcpy(to + length - 8, &end, 8);
    } else {
        for (size_t i = 0; i < length; i++)
            to[i] = text[i];
    }
    return to + length;
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

/* The eight digits of a number as a little-endian word, the first one lowest. */
PD_INLINE uint64_t pd_hex_word(uint32_t value)
{
    uint64_t digits = __builtin_bswap32(value), above_nine;
    digits = (digits | digits << 16) & UINT64_C(0x0000ffff0000ffff);
    digits = (digits | digits << 8) & UINT64_C(0x00ff00ff00ff00ff);
    digits = (digits >> 4 | digits << 8) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    above_nine = (digits + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return digits + UINT64_C(0x3030303030303030) + above_nine * ('a' - '0' - 10);
}

/* %lx, in room for 16 bytes, all of which may be written. */
PD_INLINE char *pd_put_hex_wide(char *to, uint64_t value)
{
    const bool swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    if (PD_UNLIKELY(value >> 32))
        return pd_put_hex(to, value);
    unsigned zeros = (unsigned)__builtin_clzll(value | 1) / 4 - 8;
    pd_store64(to, pd_hex_word((uint32_t)value) >> 8 * zeros, swap);
    return to + 8 - zeros;
}

/* %16lx: 16 bytes. */
PD_INLINE char *pd_put_hex16(char *to, uint64_t value)
{
    const bool swap = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    const uint64_t blanks = UINT64_C(0x2020202020202020);
    unsigned blank = 8 * ((unsigned)__builtin_clzll(value | 1) / 4); /* bits of them in front */
    uint64_t high = blank >= 64 ? 0 : UINT64_MAX << blank,
             low = blank <= 64 ? UINT64_MAX : UINT64_MAX << (blank - 64);
    high = (pd_hex_word((uint32_t)(value >> 32)) & high) | (blanks & ~high);
    low = (pd_hex_word((uint32_t)value) & low) | (blanks & ~low);
    pd_store64(to, high, swap);
    pd_store64(to + 8, low, swap);
    return to + 16;
}

PD_INLINE char *pd_put_bytes(char *to, const void *bytes, size_t size)
{
    memcpy(to, bytes, size);
    return to + size;
}

#endif
