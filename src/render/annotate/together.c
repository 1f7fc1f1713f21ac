/* SPDX-License-Identifier: MIT */
/* One text of objdump for many functions, cut into what it would print of each alone. objdump
 * prints the name of a function, a place in a source and lines of that source only where they
 * differ from what it printed before. So its text of a function depends on the function before,
 * unless the text begins with both a name and a place, or there are none anywhere, and no source
 * can be read. Functions with source lines that can be read are left out of a second run. */
#include "render/annotate/together.h"
#include "base/vec.h"
#include "render/annotate/excerpt.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum kind {
    BLANK,
    SECTION,  /* "Disassembly of section .text:" */
    HEADER,   /* "0000000000001000 <main>:" */
    FUNCTION, /* "main():", "A::f(int) const:" */
    PLACE,    /* "/a/b.c:12", "/a/b.c:12 (discriminator 3)" */
    SKIPPED,  /* "\t...", in place of zeros */
    CODE,
    OTHER
};

struct line {
    const char *text;
    size_t length;
    enum kind kind;
    uint64_t address; /* of HEADER and CODE */
};

struct cutting {
    struct pd_together_part *parts;
    size_t count, next;            /* the next part that may begin */
    struct line section;           /* that the lines are of */
    const char *object;            /* the path that stands in the text */
    struct pd_together_part *part; /* the part that the lines are of; NULL: none */
    const char *from, *to;         /* its text */
    enum kind before;              /* the kind of the line before, within `part` */
    uint8_t head;                  /* what its first lines are: 1 << FUNCTION, 1 << PLACE */
    uint8_t seen;                  /* which of these were seen anywhere */
    bool *sourced;                 /* by part: it, or what is close behind it, has source lines */
    bool any_sourced;
    bool useless;      /* the whole text cannot be used */
    struct line place; /* the last one whose file was looked for, and whether it is there */
    bool readable;
    uint8_t *heads; /* by part: its `head` */
};

/* ---- lines ---- */

static bool starts(const struct line *line, const char *word)
{
    size_t length = strlen(word);
    return line->length >= length && !memcmp(line->text, word, length);
}

static bool ends(const struct line *line, const char *word)
{
    size_t length = strlen(word);
    return line->length >= length && !memcmp(line->text + line->length - length, word, length);
}

/* How many characters a hexadecimal number has. */
static size_t take_hex(const char *text, size_t length, uint64_t *number)
{
    size_t i;
    *number = 0;
    for (i = 0; i < length && i <= 16 && isxdigit((unsigned char)text[i]); i++) {
        unsigned digit = isdigit((unsigned char)text[i])
                             ? (unsigned)(text[i] - '0')
                             : (unsigned)(tolower((unsigned char)text[i]) - 'a') + 10;
        *number = *number << 4 | digit;
    }
    return i;
}

/* The length of the file's name; 0: the line is no place. */
static size_t take_place(const struct line *line)
{
    size_t end = line->length;
    const char *bracket = line->length ? memchr(line->text, '(', line->length) : NULL;
    static const char word[] = " (discriminator ";
    if (bracket && ends(line, ")") && bracket > line->text &&
        (size_t)(line->text + line->length - bracket) > sizeof word - 2 &&
        !memcmp(bracket - 1, word, sizeof word - 1))
        end = (size_t)(bracket - 1 - line->text);
    size_t at = end;
    while (at && isdigit((unsigned char)line->text[at - 1]))
        at--;
    return at < end && at > 1 && line->text[at - 1] == ':' ? at - 1 : 0;
}

static enum kind kind_of(struct line *line)
{
    enum { DIGITS = 16 };
    size_t blanks = 0;
    if (!line->length)
        return BLANK;
    if (line->length == 4 && starts(line, "\t..."))
        return SKIPPED;
    if (starts(line, "Disassembly of section ") && ends(line, ":"))
        return SECTION;
    if (take_hex(line->text, line->length, &line->address) == DIGITS && ends(line, ">:") &&
        !memcmp(line->text + DIGITS, " <", 2))
        return HEADER;
    while (blanks < line->length && line->text[blanks] == ' ')
        blanks++;
    size_t digits = take_hex(line->text + blanks, line->length - blanks, &line->address);
    if (digits && digits <= DIGITS && line->length - blanks - digits >= 2 &&
        !memcmp(line->text + blanks + digits, ":\t", 2))
        return CODE;
    if (ends(line, ":") && memchr(line->text, '(', line->length))
        return FUNCTION;
    return take_place(line) ? PLACE : OTHER;
}

/* ---- sources ---- */

/* Whether objdump can read the file of the place. */
static bool is_readable(struct cutting *cutting, const struct line *place)
{
    struct pd_text path = { 0 };
    size_t length = take_place(place);
    if (cutting->place.length && take_place(&cutting->place) == length &&
        !memcmp(cutting->place.text, place->text, length))
        return cutting->readable;
    cutting->place = *place;
    pd_text_bytes(&path, place->text, length);
    pd_text_char(&path, 0);
    cutting->readable = path.failed || !access(path.data, F_OK);
    pd_text_free(&path);
    return cutting->readable;
}

/* ---- parts ---- */

static void begin(struct cutting *cutting, const struct line *line)
{
    while (cutting->next < cutting->count && cutting->parts[cutting->next].start < line->address)
        cutting->next++;
    if (cutting->next >= cutting->count || cutting->parts[cutting->next].start != line->address)
        return;
    cutting->part = &cutting->parts[cutting->next++];
    cutting->from = line->text;
    cutting->to = NULL;
    cutting->head = 0;
    cutting->before = HEADER;
}

static void end(struct cutting *cutting, bool whole)
{
    struct pd_together_part *part = cutting->part;
    cutting->part = NULL;
    if (!whole || !cutting->to)
        return;
    pd_text_format(&part->text, "\n%s:\n\n\n", cutting->object);
    pd_text_bytes(&part->text, cutting->section.text, cutting->section.length);
    pd_text_string(&part->text, "\n\n");
    pd_text_bytes(&part->text, cutting->from, (size_t)(cutting->to - cutting->from));
    part->done = !part->text.failed;
    cutting->heads[part - cutting->parts] = cutting->head;
}

static bool begins_code(enum kind before, enum kind kind)
{
    return (kind == FUNCTION && before == HEADER) ||
           (kind == PLACE && (before == HEADER || before == FUNCTION));
}

static void take_line(struct cutting *cutting, const struct line *line)
{
    enum kind before = cutting->before;
    bool addressed = line->kind == HEADER || line->kind == CODE;
    if (cutting->part && addressed && line->address >= cutting->part->end)
        end(cutting, line->address == cutting->part->end);
    else if (cutting->part && (line->kind == SKIPPED || line->kind == SECTION))
        end(cutting, false);
    if (line->kind == SECTION)
        cutting->section = *line;
    if (cutting->part && line->kind == CODE)
        cutting->to = line->text + line->length + 1; /* the newline */
    else if (cutting->part && !cutting->to && begins_code(before, line->kind))
        cutting->head |= (uint8_t)(1 << line->kind);
    else if (!cutting->part && line->kind == HEADER)
        begin(cutting, line);
    cutting->before = line->kind;
}

/* Notes a source line. objdump prints it only once, so that the text around is not that of a run
 * alone. */
static void note_source(struct cutting *cutting)
{
    cutting->any_sourced = true;
    if (cutting->next)
        cutting->sourced[cutting->next - 1] = true;
    else
        cutting->useless = true;
}

static void cut(struct cutting *cutting, const char *text, size_t size, bool sources)
{
    bool told = false; /* a section was named */
    for (const char *newline; size && (newline = memchr(text, '\n', size));) {
        struct line line = { .text = text, .length = (size_t)(newline - text) };
        line.kind = kind_of(&line);
        size -= line.length + 1;
        text = newline + 1;
        told = told || line.kind == SECTION;
        if (!told)
            continue;
        if (line.kind == FUNCTION || line.kind == PLACE)
            cutting->seen |= (uint8_t)(1 << line.kind);
        if (line.kind == OTHER || (line.kind == PLACE && sources && is_readable(cutting, &line)))
            note_source(cutting);
        take_line(cutting, &line);
    }
}

static void run(const struct pd_objdump *how, const struct pd_excerpt *excerpt,
                struct cutting *cutting)
{
    struct pd_objdump_output output;
    uint64_t last = 0;
    for (size_t i = 0; i < cutting->count; i++)
        last = PD_MAX(last, cutting->parts[i].end);
    last = last > UINT64_MAX - PD_EXCERPT_BEHIND ? UINT64_MAX : last + PD_EXCERPT_BEHIND;
    pd_objdump_run(how, excerpt->path.data, cutting->parts->start, last, &output);
    cutting->useless = output.failed || output.error;
    if (!cutting->useless)
        cut(cutting, output.text.data, output.text.length, how->source);
    pd_text_free(&output.text);
}

/* Moves the parts without source lines to the front, keeping their order. Returns how many they
 * are. */
static size_t leave_out(struct cutting *cutting, struct pd_together_part *left)
{
    size_t count = 0, out = 0;
    for (size_t i = 0; i < cutting->count; i++) {
        pd_text_free(&cutting->parts[i].text);
        cutting->parts[i].done = false;
        if (cutting->sourced[i])
            left[out++] = cutting->parts[i];
        else
            cutting->parts[count++] = cutting->parts[i];
    }
    memcpy(cutting->parts + count, left, out * sizeof *left);
    return count;
}

/* Returns how many parts are worth another run. `left` has room for all parts. */
static size_t try_all(const struct pd_objdump *how, const char *path, struct pd_together_part *left,
                      struct cutting *cutting)
{
    PD_VEC(struct pd_excerpt_range) ranges = { 0 };
    struct pd_excerpt excerpt;
    bool ready = true;
    for (size_t i = 0; i < cutting->count && ready; i++) {
        struct pd_excerpt_range range = { cutting->parts[i].start, cutting->parts[i].end };
        ready = pd_vec_push(&ranges, range);
    }
    if (ready && pd_excerpt_make(path, ranges.data, ranges.count, &excerpt)) {
        run(how, &excerpt, cutting);
        pd_excerpt_free(&excerpt);
    } else {
        cutting->useless = true;
    }
    free(ranges.data);
    if (cutting->any_sourced && !cutting->useless)
        return leave_out(cutting, left);
    for (size_t i = 0; i < cutting->count; i++)
        cutting->parts[i].done = cutting->parts[i].done && !cutting->useless &&
                                 cutting->heads[i] == cutting->seen;
    return 0;
}

void pd_together_run(const struct pd_objdump *how, const char *path, struct pd_together_part *parts,
                     size_t count)
{
    struct pd_together_part *left = calloc(count + 1, sizeof *left);
    for (int turn = 0; turn < 2 && count; turn++) {
        struct cutting cutting = { .parts = parts,
                                   .count = count,
                                   .object = path,
                                   .heads = calloc(count, sizeof *cutting.heads),
                                   .sourced = calloc(count, sizeof *cutting.sourced) };
        if (left && cutting.heads && cutting.sourced)
            count = try_all(how, path, left, &cutting);
        else
            count = 0;
        free(cutting.heads);
        free(cutting.sourced);
    }
    free(left);
}
