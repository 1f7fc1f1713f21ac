/* SPDX-License-Identifier: MIT */
/* A report's columns in a narrow terminal. */
#include "tool/tui/fit.h"
#include <stdlib.h>
#include <string.h>

enum {
    GAP = 2,         /* between columns */
    LEAST_NAME = 8,  /* of a column that is cut; below that it is left out */
    LEAST_LAST = 24, /* what the last column is to have, or a third of the line if that is more */
    MOST = 4096
};

/* In place of the middle of a name. */
static const char *ellipsis(void)
{
    return MB_CUR_MAX > 1 ? "\xe2\x80\xa6" : "~";
}

/* ---- characters ---- */

/* A line taken apart: where each character that is shown begins. */
struct line {
    size_t count;
    size_t at[MOST + 1]; /* at[count]: the end */
};

/* The bytes of the character, or of the change of colours, that begins there. */
static size_t length_at(const char *text)
{
    size_t length = 1;
    if (*text == '\033')
        return strcspn(text, "m") + (strchr(text, 'm') != NULL);
    while (((unsigned char)text[length] & 0xc0) == 0x80)
        length++;
    return length;
}

static void take_apart(const char *text, struct line *line)
{
    size_t at = 0;
    line->count = 0;
    while (text[at] && line->count < MOST) {
        if (text[at] != '\033')
            line->at[line->count++] = at;
        at += length_at(text + at);
    }
    line->at[line->count] = at;
}

/* How many characters of a column's text there are, without blanks behind it; *lead: those in
 * front. */
static size_t used(const char *text, const struct line *line, size_t start, size_t width,
                   size_t *lead)
{
    size_t end = start + width < line->count ? start + width : line->count, first = start;
    while (end > start && text[line->at[end - 1]] == ' ')
        end--;
    while (first < end && text[line->at[first]] == ' ')
        first++;
    *lead = first - start;
    return end > start ? end - start : 0;
}

/* ---- measuring ---- */

static void find_columns(struct fit *fit, const char *rule)
{
    size_t at = 0;
    fit->count = 0;
    while (rule && rule[at]) {
        size_t width = strspn(rule + at, ".");
        if (fit->count == FIT_COLUMNS || !width) {
            fit->count = 0;
            return;
        }
        fit->columns[fit->count].start = at;
        fit->columns[fit->count].width = width;
        fit->columns[fit->count].need = fit->columns[fit->count].want = 0;
        fit->columns[fit->count].is_number = false;
        fit->count++;
        at += width;
        at += strspn(rule + at, " ");
    }
}

/* Short titles are never cut, others where room is scarce. */
static void measure_titles(struct fit *fit, const struct list *list, struct line *line)
{
    const char *text = perfdata_report_title_text(list->report, list->table, fit->flags);
    if (!text)
        return;
    take_apart(text, line);
    for (size_t c = 0; c < fit->count; c++) {
        size_t lead;
        size_t length = used(text, line, fit->columns[c].start, fit->columns[c].width, &lead);
        size_t *need = &fit->columns[c].need;
        if (length > *need && length <= LEAST_NAME)
            *need = length;
        fit->columns[c].want = length > *need ? length : *need;
    }
}

static size_t longest_of_rows(struct fit *fit, const struct list *list, struct line *line)
{
    size_t longest = 0;
    for (size_t i = 0; i < list->count && i < FIT_ROWS; i++) {
        const char *text = perfdata_report_row_text(list->report, list->table, list->rows[i].row,
                                                    fit->flags);
        if (!text)
            continue;
        take_apart(text, line);
        for (size_t c = 0; c < fit->count; c++) {
            size_t lead, width = c + 1 < fit->count ? fit->columns[c].width : MOST;
            size_t length = used(text, line, fit->columns[c].start, width, &lead);
            fit->columns[c].is_number |= lead > 0 && length == fit->columns[c].width;
            if (length > fit->columns[c].need)
                fit->columns[c].need = length;
            if (length && fit->columns[c].start + length > longest)
                longest = fit->columns[c].start + length;
        }
    }
    return longest;
}

/* Where the last column begins. */
static size_t last_start(const struct fit *fit)
{
    size_t start = 0;
    for (size_t c = 0; c + 1 < fit->count; c++)
        start += fit->columns[c].shown ? fit->columns[c].shown + GAP : 0;
    return start;
}

/* The widest column of names that may be cut further; FIT_COLUMNS: none. */
static size_t widest(const struct fit *fit)
{
    size_t found = FIT_COLUMNS, most = LEAST_NAME;
    for (size_t c = 0; c + 1 < fit->count; c++)
        if (!fit->columns[c].is_number && fit->columns[c].shown > most) {
            found = c;
            most = fit->columns[c].shown;
        }
    return found;
}

/* Leaves out a column: names from the left, then numbers but for the first. False: none is left. */
static bool leave_out(struct fit *fit)
{
    for (int numbers = 0; numbers < 2; numbers++)
        for (size_t c = numbers; c + 1 < fit->count; c++)
            if (fit->columns[c].shown && fit->columns[c].is_number == (bool)numbers) {
                fit->columns[c].shown = 0;
                return true;
            }
    return false;
}

/* Room that is free goes to names and titles that were cut, the shortest first. */
static void give_back(struct fit *fit, size_t room)
{
    for (;;) {
        size_t found = FIT_COLUMNS;
        for (size_t c = 0; c + 1 < fit->count; c++)
            if (fit->columns[c].shown && fit->columns[c].shown < fit->columns[c].want &&
                (found == FIT_COLUMNS || fit->columns[c].shown < fit->columns[found].shown))
                found = c;
        if (found == FIT_COLUMNS || last_start(fit) >= room)
            return;
        fit->columns[found].shown++;
    }
}

static void make_room(struct fit *fit, size_t width)
{
    size_t last = fit->columns[fit->count - 1].need, third = width / 3;
    size_t most = third > LEAST_LAST ? third : LEAST_LAST;
    if (last > most)
        last = most;
    size_t room = width > last ? width - last : 0;
    for (size_t c = 0; c < fit->count; c++)
        fit->columns[c].shown = fit->columns[c].need;
    while (last_start(fit) > room) {
        size_t column = widest(fit);
        if (column < FIT_COLUMNS)
            fit->columns[column].shown--;
        else if (!leave_out(fit))
            return;
    }
    give_back(fit, room);
}

void fit_measure(struct fit *fit, const struct list *list, uint32_t flags, int width)
{
    enum { SIGN = 2 };
    if (fit->report == list->report && fit->table == list->table && fit->flags == flags &&
        fit->rows == list->count && fit->width == width)
        return;
    fit->report = list->report;
    fit->table = list->table;
    fit->flags = flags;
    fit->rows = list->count;
    fit->width = width;
    find_columns(fit, perfdata_report_title_text(list->report, list->table,
                                                 flags | PERFDATA_REPORT_TEXT_RULES));
    struct line *line = malloc(sizeof *line);
    size_t room = width > SIGN ? (size_t)width - SIGN : 0;
    if (!line || fit->count < 2 || longest_of_rows(fit, list, line) <= room)
        fit->count = 0;
    if (line && fit->count) {
        measure_titles(fit, list, line);
        make_room(fit, room);
    }
    free(line);
}

/* ---- a line ---- */

struct made {
    char *text;
    size_t length, size;
};

static void add(struct made *made, const char *bytes, size_t length)
{
    if (length < made->size - made->length) {
        memcpy(made->text + made->length, bytes, length);
        made->length += length;
    }
}

/* Characters [from, to) of the line, with the colours that begin behind the one before. */
static void add_range(struct made *made, const char *text, const struct line *line, size_t from,
                      size_t to)
{
    size_t begin = from ? line->at[from - 1] + length_at(text + line->at[from - 1]) : 0;
    size_t end = to ? line->at[to - 1] + length_at(text + line->at[to - 1]) : 0;
    if (to == line->count)
        end = strlen(text);
    if (end > begin)
        add(made, text + begin, end - begin);
}

static void add_column(const struct fit *fit, size_t c, const char *text, const struct line *line,
                       struct made *made)
{
    size_t start = fit->columns[c].start, shown = fit->columns[c].shown, lead;
    if ((!shown && c + 1 < fit->count) || start >= line->count)
        return;
    if (c + 1 == fit->count) {
        add_range(made, text, line, start, line->count);
        return;
    }
    size_t length = used(text, line, start, fit->columns[c].width, &lead);
    if (fit->columns[c].is_number)
        length = shown = fit->columns[c].width;
    if (length <= shown) {
        add_range(made, text, line, start, start + length);
    } else {
        size_t back = (shown - 1) / 2, front = shown - 1 - back;
        add_range(made, text, line, start, start + front);
        add(made, ellipsis(), strlen(ellipsis()));
        add_range(made, text, line, start + length - back, start + length);
        length = shown;
    }
    for (; length < shown + GAP; length++)
        add(made, " ", 1);
}

void fit_text(const struct fit *fit, char *text, size_t size)
{
    enum { SIGN = 2 };
    struct line *line = malloc(sizeof *line);
    struct made made = { malloc(size), 0, size };
    if (fit->count && line && made.text && strlen(text) >= SIGN) {
        take_apart(text + SIGN, line);
        add(&made, text, SIGN);
        for (size_t c = 0; c < fit->count; c++)
            add_column(fit, c, text + SIGN, line, &made);
        memcpy(text, made.text, made.length);
        text[made.length] = '\0';
    }
    free(made.text);
    free(line);
}

void fit_shift(char *text, unsigned columns, size_t kept)
{
    char *to = text + strnlen(text, kept);
    for (const char *from = to; *from;) {
        size_t length = 1;
        bool stays = !columns;
        if (*from == '\033') {
            length = strcspn(from, "m") + 1;
            stays = true;
        } else {
            while (((unsigned char)from[length] & 0xc0) == 0x80) /* the rest of a character */
                length++;
            columns -= columns > 0;
        }
        length = strnlen(from, length);
        if (stays) {
            memmove(to, from, length);
            to += length;
        }
        from += length;
    }
    *to = '\0';
}
