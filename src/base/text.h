/* SPDX-License-Identifier: MIT */
/* The writer of all text: a growing buffer with its own appenders for numbers and padding, no
 * printf on hot paths. Out of memory it sets `failed` and drops what follows; the caller asks once
 * at the end. */
#ifndef PD_TEXT_H
#define PD_TEXT_H
#include "base/base.h"

struct pd_text {
    char *data;
    size_t length, capacity;
    bool failed;
};

/* Makes room for `more` bytes behind length; false when it failed. */
bool pd_text_grow(struct pd_text *text, size_t more);
void pd_text_free(struct pd_text *text);

/* A pointer to room for `more` bytes, or NULL; the writer then adds what it used to length. */
PD_INLINE char *pd_text_room(struct pd_text *text, size_t more)
{
    if (PD_UNLIKELY(text->capacity - text->length < more) && !pd_text_grow(text, more))
        return NULL;
    return text->data + text->length;
}

PD_INLINE void pd_text_char(struct pd_text *text, char c)
{
    char *to = pd_text_room(text, 1);
    if (to) {
        *to = c;
        text->length++;
    }
}

PD_INLINE void pd_text_bytes(struct pd_text *text, const void *bytes, size_t size)
{
    char *to = size ? pd_text_room(text, size) : NULL; /* an empty text has no room to point into */
    if (to) {
        memcpy(to, bytes, size);
        text->length += size;
    }
}

PD_INLINE void pd_text_string(struct pd_text *text, const char *string)
{
    pd_text_bytes(text, string, strlen(string));
}

void pd_text_fill(struct pd_text *text, char c, size_t count);

/* %*s: right-aligned in `width`; never cut. */
void pd_text_right(struct pd_text *text, const char *string, size_t length, size_t width);
/* %-*s */
void pd_text_left(struct pd_text *text, const char *string, size_t length, size_t width);
/* Pads in the same way what has been written since the text was `from` long. */
PD_INLINE void pd_text_pad(struct pd_text *text, size_t from, size_t width)
{
    if (text->length - from < width)
        pd_text_fill(text, ' ', width - (text->length - from));
}

/* %*lu and %0*lu: `pad` is ' ' or '0', width 0 for none. */
void pd_text_u64(struct pd_text *text, uint64_t value, unsigned width, char pad);
/* Two digits a byte, nothing between them. */
void pd_text_hex_bytes(struct pd_text *text, const uint8_t *bytes, size_t size);
/* %*ld (blank padded). */
void pd_text_i64(struct pd_text *text, int64_t value, unsigned width);
/* %*lx and %0*lx, no 0x. */
void pd_text_hex(struct pd_text *text, uint64_t value, unsigned width, char pad);
/* %*.2f, with the same digits: exact halves go to the even one. */
void pd_text_hundredths(struct pd_text *text, double value, unsigned width);
/* %#lx: 0x and digits, zero prints "0". */
void pd_text_hex_prefixed(struct pd_text *text, uint64_t value);

/* For all that is not hot. */
void pd_text_format(struct pd_text *text, const char *format, ...) PD_PRINTF(2, 3);

/* The length of the well-formed UTF-8 sequence at p, 0 if it is none. */
size_t pd_utf8_length(const uint8_t *p, size_t left);
/* As a JSON string with its quotes; bytes that are not UTF-8 become \udcXX (reversible). */
void pd_text_json(struct pd_text *text, const char *string, size_t length);
/* As text of XML, also in an attribute; what may not stand in it is written \xNN. */
void pd_text_xml(struct pd_text *text, const char *string, size_t length);

#endif
