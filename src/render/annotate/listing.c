/* SPDX-License-Identifier: MIT */
/* objdump's text -> lines with addresses, source lines numbered. */
#include "render/annotate/listing.h"
#include <ctype.h>

struct parsing {
    const char *path;
    size_t path_length;
    uint64_t start, end;
    uint32_t number;
    bool places;
    struct pd_text text; /* lines, each NUL-terminated */
    struct pd_listing *out;
};

/* Whether the line names the file; like perf, looks only at the first place where its path
 * occurs. */
static bool names_file(const struct parsing *parsing, const char *line)
{
    const char *at = strstr(line, parsing->path);
    return at && at[parsing->path_length] == ':';
}

/* Takes the number of a line that begins with "/folders/file:12"; what follows does not matter. */
static bool take_place(struct parsing *parsing, const char *line)
{
    if (*line != '/')
        return false;
    size_t length = 1 + strcspn(line + 1, ":");
    const char *digits = line + length + 1;
    if (length == 1 || !line[length] || !isdigit((unsigned char)*digits))
        return false;
    parsing->number = (uint32_t)strtoul(digits, NULL, 10);
    return true;
}

enum { TAB = 8 };

static void put_expanded(struct pd_text *out, const char *line, size_t length)
{
    size_t begin = out->length;
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\t')
            pd_text_fill(out, ' ', TAB - (out->length - begin) % TAB);
        else
            pd_text_char(out, line[i]);
    }
    pd_text_char(out, 0);
}

/* Where a line begins with an address of the function, a colon and more: what is behind the
 * colon. */
static const char *take_address(const struct parsing *parsing, const char *line, uint64_t *offset)
{
    char *end;
    unsigned long long address = strtoull(line, &end, 16);
    if (end == line || end[0] != ':' || !end[1] || address < parsing->start ||
        address >= parsing->end)
        return NULL;
    *offset = address - parsing->start;
    return end + 1;
}

/* `line` is NUL-terminated and may be written to. */
static void take_line(struct parsing *parsing, char *line)
{
    if (names_file(parsing, line))
        return;
    uint32_t indent = 0;
    for (; isspace((unsigned char)*line); line++)
        indent = *line == '\t' ? (indent / TAB + 1) * TAB : indent + 1;
    size_t length = strlen(line);
    while (length && isspace((unsigned char)line[length - 1]))
        length--;
    line[length] = 0;
    if (take_place(parsing, line) && !parsing->places)
        return;
    struct pd_listing_line made = { .offset = PD_LISTING_NO_OFFSET,
                                    .number = parsing->number++,
                                    .indent = indent,
                                    .at = parsing->text.length };
    put_expanded(&parsing->text, line, length);
    if (!parsing->text.failed) {
        const char *text = parsing->text.data + made.at;
        const char *code = take_address(parsing, text, &made.offset);
        if (code)
            made.at += (size_t)(code - text);
    }
    if (parsing->text.failed || !pd_vec_push(&parsing->out->lines, made))
        parsing->out->failed = true;
}

static void finish(struct parsing *parsing)
{
    struct pd_listing *out = parsing->out;
    uint32_t next = (uint32_t)out->lines.count;
    out->text = parsing->text.data;
    for (size_t i = out->lines.count; i-- > 0;) {
        struct pd_listing_line *line = &out->lines.data[i];
        line->next = next;
        if (line->offset != PD_LISTING_NO_OFFSET)
            next = (uint32_t)i;
    }
}

void pd_listing_parse(const char *text, size_t size, const char *path, uint64_t start, uint64_t end,
                      bool places, struct pd_listing *out)
{
    struct parsing parsing = { .path = path,
                               .path_length = strlen(path),
                               .start = start,
                               .end = end,
                               .places = places,
                               .out = out };
    struct pd_text line = { 0 };
    *out = (struct pd_listing){ .failed = false };
    for (size_t at = 0; at < size && !out->failed;) {
        const char *newline = memchr(text + at, '\n', size - at);
        size_t length = newline ? (size_t)(newline - (text + at)) : size - at;
        line.length = 0;
        pd_text_bytes(&line, text + at, length);
        pd_text_char(&line, 0);
        if (line.failed || out->lines.count >= UINT32_MAX - 1)
            out->failed = true;
        else
            take_line(&parsing, line.data);
        at += length + 1;
    }
    pd_text_free(&line);
    finish(&parsing);
}

void pd_listing_free(struct pd_listing *listing)
{
    free(listing->text);
    free(listing->lines.data);
    *listing = (struct pd_listing){ .failed = false };
}
