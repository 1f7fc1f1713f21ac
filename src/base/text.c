/* SPDX-License-Identifier: MIT */
/* Numbers, names and padding -> bytes of a growing text. */
#include "base/text.h"
#include "base/digits.h"
#include "base/memory.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

bool pd_text_grow(struct pd_text *text, size_t more)
{
    size_t need;
    if (text->failed || pd_add_overflows(text->length, more, &need) || need > SIZE_MAX / 2) {
        text->failed = true;
        return false;
    }
    if (need <= text->capacity)
        return true;
    size_t want = text->capacity ? text->capacity * 2 : 256;
    while (want < need)
        want *= 2;
    char *grown = pd_memory_noted(realloc(text->data, want));
    if (!grown) {
        text->failed = true;
        return false;
    }
    text->data = grown;
    text->capacity = want;
    return true;
}

void pd_text_free(struct pd_text *text)
{
    free(text->data);
    memset(text, 0, sizeof *text);
}

void pd_text_fill(struct pd_text *text, char c, size_t count)
{
    char *to = count ? pd_text_room(text, count) : NULL;
    if (to) {
        memset(to, c, count);
        text->length += count;
    }
}

void pd_text_right(struct pd_text *text, const char *string, size_t length, size_t width)
{
    if (length < width)
        pd_text_fill(text, ' ', width - length);
    pd_text_bytes(text, string, length);
}

/* Most cells and numbers are no wider than this. They are written into room of this size, which is
 * filled with stores of a fixed size: to fill or copy as many bytes as it takes is a call. */
enum { USUAL_WIDTH = 64, USUAL_NUMBER = 32 };

void pd_text_left(struct pd_text *text, const char *string, size_t length, size_t width)
{
    if (length >= width || width > USUAL_WIDTH) {
        pd_text_bytes(text, string, length);
        if (length < width)
            pd_text_fill(text, ' ', width - length);
        return;
    }
    char *to = pd_text_room(text, USUAL_WIDTH);
    if (!to)
        return;
    memset(to, ' ', USUAL_WIDTH);
    pd_put_short(to, string, length);
    text->length += width;
}

/* Where a number of `length` digits has to end, with what stands before it written. NULL: no
 * memory. */
PD_INLINE char *begin_number(struct pd_text *text, size_t length, unsigned width, char pad)
{
    const size_t total = length < width ? width : length;
    char *to = pd_text_room(text, PD_MAX(total, (size_t)USUAL_NUMBER));
    if (!to)
        return NULL;
    if (PD_LIKELY(total <= USUAL_NUMBER))
        memset(to, pad, USUAL_NUMBER);
    else
        memset(to, pad, total);
    text->length += total;
    return to + total;
}

void pd_text_u64(struct pd_text *text, uint64_t value, unsigned width, char pad)
{
    char *end = begin_number(text, pd_digit_count(value), width, pad);
    if (end)
        pd_digits_before(end, value);
}

void pd_text_i64(struct pd_text *text, int64_t value, unsigned width)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char *end = begin_number(text, pd_digit_count(magnitude) + (value < 0), width, ' ');
    char *start = end ? pd_digits_before(end, magnitude) : NULL;
    if (start && value < 0)
        *--start = '-';
}

void pd_text_hex(struct pd_text *text, uint64_t value, unsigned width, char pad)
{
    const size_t length = value ? (67 - (size_t)__builtin_clzll(value)) / 4 : 1;
    char *end = begin_number(text, length, width, pad);
    if (end)
        pd_put_hex(end - length, value);
}

void pd_text_hex_bytes(struct pd_text *text, const uint8_t *bytes, size_t size)
{
    char *to = pd_text_room(text, 2 * size);
    if (!to)
        return;
    for (size_t i = 0; i < size; i++) {
        to[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        to[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    text->length += 2 * size;
}

void pd_text_hex_prefixed(struct pd_text *text, uint64_t value)
{
    if (value)
        pd_text_bytes(text, "0x", 2);
    pd_text_hex(text, value, 0, ' ');
}

/* The number of hundredths, rounded as printf() does, from the exact value: the significand times
 * 100 has 60 bits at most. For values from 0 on, and below 2^30. */
static uint64_t hundredths(double value)
{
    enum { FRACTION_BITS = 52, EXPONENT_BIAS = 1023 };
    uint64_t bits, one = 1;
    memcpy(&bits, &value, sizeof bits);
    unsigned exponent = (unsigned)(bits >> FRACTION_BITS);
    unsigned shift = EXPONENT_BIAS + FRACTION_BITS - exponent;
    if (shift > 60)
        return 0;
    uint64_t exact = ((bits & ((one << FRACTION_BITS) - 1)) | one << FRACTION_BITS) * 100;
    uint64_t whole = exact >> shift, rest = exact & ((one << shift) - 1), half = one << (shift - 1);
    return whole + (rest > half || (rest == half && whole & 1));
}

void pd_text_hundredths(struct pd_text *text, double value, unsigned width)
{
    enum { LIMIT = 1 << 30 };
    if (!(value >= 0 && value < LIMIT) || signbit(value)) {
        pd_text_format(text, "%*.2f", (int)width, value);
        return;
    }
    uint64_t number = hundredths(value);
    char *end = begin_number(text, pd_digit_count(number / 100) + 3, width, ' ');
    if (!end)
        return;
    memcpy(end - 2, pd_digit_pairs + 2 * (number % 100), 2);
    end[-3] = '.';
    pd_digits_before(end - 3, number / 100);
}

void pd_text_format(struct pd_text *text, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t room = text->capacity - text->length;
    int need = vsnprintf(room ? text->data + text->length : NULL, room, format, arguments);
    if (need < 0) {
        text->failed = true;
    } else if ((size_t)need < room) {
        text->length += (size_t)need;
    } else if (pd_text_grow(text, (size_t)need + 1)) {
        vsnprintf(text->data + text->length, (size_t)need + 1, format, again);
        text->length += (size_t)need;
    }
    va_end(again);
    va_end(arguments);
}

size_t pd_utf8_length(const uint8_t *p, size_t left)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t n = *p < 0x80             ? 1
               : (*p & 0xe0) == 0xc0 ? 2
               : (*p & 0xf0) == 0xe0 ? 3
               : (*p & 0xf8) == 0xf0 ? 4
                                     : 0;
    if (n <= 1 || n > left)
        return n > left ? 0 : n;
    uint32_t code = *p & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3f);
    }
    return code < least[n] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : n;
}

void pd_text_json(struct pd_text *text, const char *string, size_t length)
{
    pd_text_char(text, '"');
    for (size_t i = 0; i < length;) {
        uint8_t c = (uint8_t)string[i];
        size_t n = pd_utf8_length((const uint8_t *)string + i, length - i);
        if (c == '"' || c == '\\') {
            pd_text_char(text, '\\');
            pd_text_char(text, (char)c);
        } else if (c == '\n' || c == '\t') {
            pd_text_bytes(text, c == '\n' ? "\\n" : "\\t", 2);
        } else if (c < 0x20 || c == 0x7f) {
            pd_text_bytes(text, "\\u00", 4);
            pd_text_hex(text, c, 2, '0');
        } else if (n) {
            pd_text_bytes(text, string + i, n);
        } else { /* a lone surrogate holds the byte, as Python's surrogateescape does */
            pd_text_bytes(text, "\\udc", 4);
            pd_text_hex(text, c, 2, '0');
        }
        i += n ? n : 1;
    }
    pd_text_char(text, '"');
}

void pd_text_xml(struct pd_text *out, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t size = pd_utf8_length((const uint8_t *)text + i, length - i);
        unsigned char c = (unsigned char)text[i];
        if (!size || c < 0x20 || c == 0x7f) {
            pd_text_format(out, "\\x%02x", c);
            i++;
            continue;
        }
        if (c == '<')
            pd_text_string(out, "&lt;");
        else if (c == '&')
            pd_text_string(out, "&amp;");
        else if (c == '"')
            pd_text_string(out, "&quot;");
        else
            pd_text_bytes(out, text + i, size);
        i += size;
    }
}
