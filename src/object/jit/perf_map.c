/* SPDX-License-Identifier: MIT */
/* Perf maps: lines "START SIZE name" that runtimes write about code they made. */
#include "object/internal.h"

#include <elf.h>

#define NAME_LEAST 3 /* shorter ones perf drops */

/* Like strtoull in base 16: blanks, a sign and 0x may lead. Returns what was read, 0 when there is no number. */
static size_t read_hex(const char *text, size_t size, uint64_t *value)
{
    size_t at = 0;
    bool negative = false, over = false;

    *value = 0;
    while (at < size && (text[at] == ' ' || (text[at] >= '\t' && text[at] <= '\r')))
        at++;
    if (at < size && (text[at] == '-' || text[at] == '+'))
        negative = text[at++] == '-';
    size_t first = at;
    if (size - at > 2 && text[at] == '0' && (text[at + 1] | 32) == 'x' &&
        strchr("0123456789abcdefABCDEF", text[at + 2]) && text[at + 2])
        first = at += 2;
    for (; at < size; at++) {
        char c = text[at];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if ((c | 32) >= 'a' && (c | 32) <= 'f')
            digit = (unsigned)((c | 32) - 'a' + 10);
        else
            break;
        over |= *value >> 60 != 0;
        *value = *value << 4 | digit;
    }
    if (at == first)
        return 0;
    if (over)
        *value = UINT64_MAX;
    else if (negative)
        *value = -*value;
    return at;
}

static bool parse_line(struct pd_symtab_builder *builder, const char *line, size_t size)
{
    uint64_t start, length;
    size_t at = read_hex(line, size, &start) + 1;

    if (at + NAME_LEAST - 1 >= size)
        return true;
    at += read_hex(line + at, size - at, &length) + 1;
    if (at + NAME_LEAST - 1 >= size)
        return true;
    return pd_symtab_add_range(builder, start, start + length, PD_SYMBOL_GLOBAL, STT_FUNC,
                               line + at, strnlen(line + at, size - at), PD_NAME_READY);
}

bool pd_perf_map_parse(struct pd_symtab_builder *builder, const char *text, size_t size)
{
    while (size) {
        const char *end = memchr(text, '\n', size);
        /* perf cuts each line's last character, also where a last line has no newline */
        size_t taken = end ? (size_t)(end - text) + 1 : size;
        if (!parse_line(builder, text, taken - 1))
            return false;
        text += taken;
        size -= taken;
    }
    return true;
}
