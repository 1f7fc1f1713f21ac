/* SPDX-License-Identifier: MIT */
/* Bytes in a raw dump -> the same in perf's blue, which it puts around each byte and each
 * character. */
#include "render/raw_dump/internal.h"

enum { PER_LINE = 16, RAW_DIGITS = 4, TRACE_DIGITS = 8 };

static void blue(const char *bytes, size_t size, struct pd_text *out)
{
    pd_text_string(out, "\033[34m");
    pd_text_bytes(out, bytes, size);
    pd_text_string(out, "\033[m");
}

/* Digits of the offset in ".  0010: "; 0: another line. */
static size_t offset_digits(const char *line, size_t size)
{
    size_t digits = 3;
    if (size < 3 || memcmp(line, ".  ", 3) != 0)
        return 0;
    while (digits < size && strchr("0123456789abcdef", line[digits]))
        digits++;
    return digits + 1 < size && line[digits] == ':' ? digits - 3 : 0;
}

/* `size` includes the line's end. */
static void put_bytes(const char *line, size_t size, size_t digits, struct pd_text *out)
{
    size_t at = 3 + digits + 2;
    pd_text_char(out, '.');
    blue(line + 1, at - 1, out);
    for (size_t i = 0; i < PER_LINE && at + 3 <= size; i++, at += 3)
        blue(line + at, 3, out);
    if (digits != RAW_DIGITS) { /* the line also says what the packet is */
        blue(line + at, size - at, out);
        return;
    }
    blue(line + at, PD_MIN(size - at, (size_t)2), out);
    for (at = PD_MIN(at + 2, size); at < size; at++)
        blue(line + at, 1, out);
}

void pd_raw_dump_color(struct pd_text *text, size_t begin)
{
    static const char head[] = ".\n. ... raw event", trace[] = ". ... Intel Processor Trace data";
    struct pd_text out = { 0 };
    size_t size;
    for (size_t at = begin; at < text->length; at += size) {
        const char *line = text->data + at, *end = memchr(line, '\n', text->length - at);
        size_t left = text->length - at, digits;
        size = end ? (size_t)(end - line) + 1 : left;
        if (left > sizeof head && !memcmp(line, head, sizeof head - 1)) {
            const char *second = memchr(line + 2, '\n', left - 2);
            size = second ? (size_t)(second - line) + 1 : left;
            pd_text_char(&out, '.');
            blue(line + 1, size - 1, &out);
        } else if (size > sizeof trace && !memcmp(line, trace, sizeof trace - 1)) {
            blue(line, size, &out);
        } else if ((digits = offset_digits(line, size)) == RAW_DIGITS || digits == TRACE_DIGITS) {
            put_bytes(line, size, digits, &out);
        } else {
            pd_text_bytes(&out, line, size);
        }
    }
    text->length = begin;
    pd_text_bytes(text, out.data, out.length);
    text->failed |= out.failed;
    pd_text_free(&out);
}
