/* SPDX-License-Identifier: MIT */
/* A kallsyms file -> symbols. */
#include "object/kernel/kallsyms.h"

#include <elf.h>

enum { USUAL_LINE = 40 }; /* characters */

static const int8_t hex_values[256] = {
    ['1'] = 1,  ['2'] = 2,  ['3'] = 3,  ['4'] = 4,  ['5'] = 5,  ['6'] = 6,  ['7'] = 7,
    ['8'] = 8,  ['9'] = 9,  ['a'] = 10, ['b'] = 11, ['c'] = 12, ['d'] = 13, ['e'] = 14,
    ['f'] = 15, ['A'] = 10, ['B'] = 11, ['C'] = 12, ['D'] = 13, ['E'] = 14, ['F'] = 15,
};

bool pd_kallsyms_next(const char **at, const char *end, struct pd_kallsyms_line *line)
{
    const char *p = *at;

    if (p >= end)
        return false;
    const char *eol = memchr(p, '\n', (size_t)(end - p));
    const char *stop = eol ? eol : end;
    *at = eol ? eol + 1 : end;
    line->type = 0;
    line->address = 0;
    const char *digits = p;
    for (; p < stop && (hex_values[(uint8_t)*p] || *p == '0'); p++)
        line->address = line->address << 4 | (uint8_t)hex_values[(uint8_t)*p];
    if (p == digits || stop - p < 3 || p[0] != ' ' || p[2] != ' ')
        return true;
    line->type = p[1];
    line->name = p + 3;
    line->length = strnlen(p + 3, (size_t)(stop - (p + 3)));
    return true;
}

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

bool pd_kallsyms_parse(struct pd_symtab_builder *builder, char *text, size_t size)
{
    const char *at = text, *end = text + size;
    struct pd_kallsyms_line line;

    builder->text = text;
    builder->text_size = size;
    pd_symtab_reserve(builder, size / USUAL_LINE);
    while (pd_kallsyms_next(&at, end, &line)) {
        char kind = upper(line.type);
        /* '$': mapping symbols of ARM modules */
        if ((kind != 'T' && kind != 'W' && kind != 'D' && kind != 'B') ||
            (line.length && line.name[0] == '$'))
            continue;
        uint8_t binding = line.type == 'W'    ? PD_SYMBOL_WEAK
                          : line.type == kind ? PD_SYMBOL_GLOBAL
                                              : PD_SYMBOL_LOCAL;
        uint8_t type = kind == 'T' || kind == 'W' ? STT_FUNC : STT_OBJECT;
        text[line.name - text + line.length] = 0;
        if (!pd_symtab_add_text(builder, line.address, binding, type, line.name, line.length))
            return false;
    }
    return true;
}

bool pd_kallsyms_function(const char *text, size_t size, const char *name, uint64_t *address)
{
    const char *end = text + size;
    size_t length = strlen(name);
    struct pd_kallsyms_line line;

    while (pd_kallsyms_next(&text, end, &line)) {
        char kind = upper(line.type);
        if ((kind == 'T' || kind == 'W' || line.type == 'A') && line.length == length &&
            !memcmp(line.name, name, length)) {
            *address = line.address;
            return true;
        }
    }
    return false;
}
