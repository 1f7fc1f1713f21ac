/* SPDX-License-Identifier: MIT */
/* What opens over a view: text to scroll through, a question, a choice. */
#include "tool/tui/screen.h"
#include <stdio.h>
#include <string.h>

/* Notes stand apart by two blanks; those that do not fit are left out as a whole. */
void screen_foot(const struct screen *screen, const char *notes)
{
    char line[600];
    size_t room = COLS > 0 ? (size_t)COLS : 1;
    snprintf(line, sizeof line, "%s", notes);
    if (strlen(line) > room)
        for (size_t at = room; at > room / 2; at--)
            if (line[at] == ' ' && line[at + 1] == ' ') {
                line[at] = '\0';
                break;
            }
    screen_text(screen, LINES - 1, 0, COLS, line, screen_title(screen));
}

/* How much of the text goes into one line: up to its end, or to a blank where that is too far. */
static size_t line_length(const char *text)
{
    size_t length = strcspn(text, "\n"), room = COLS > 0 ? (size_t)COLS : 1;
    if (length <= room)
        return length;
    for (size_t at = room; at > room / 2; at--)
        if (text[at] == ' ')
            return at;
    return room;
}

/* Behind a line. */
static const char *next_line(const char *text)
{
    text += line_length(text);
    return *text == '\n' || *text == ' ' ? text + 1 : text;
}

/* The beginning of line `index`, or NULL. */
static const char *line_at(const char *text, int index)
{
    while (index-- && *text)
        text = next_line(text);
    return *text ? text : NULL;
}

static int count_lines(const char *text)
{
    int count = 0;
    for (; *text; count++)
        text = next_line(text);
    return count;
}

static void draw_line(const struct screen *screen, int y, const char *line)
{
    char piece[1024];
    size_t length = line ? line_length(line) : 0;
    if (length >= sizeof piece)
        length = sizeof piece - 1;
    if (length)
        memcpy(piece, line, length);
    piece[length] = '\0';
    screen_text(screen, y, 0, COLS, piece, 0);
}

void screen_show(struct screen *screen, const char *title, const char *text)
{
    int top = 0, total = count_lines(text);
    for (;;) {
        int page = LINES > 2 ? LINES - 2 : 1, last = total > page ? total - page : 0;
        top = top > last ? last : top < 0 ? 0 : top;
        erase();
        screen_text(screen, 0, 0, COLS, title, screen_title(screen));
        for (int y = 0; y < page && top + y < total; y++)
            draw_line(screen, y + 1, line_at(text, top + y));
        screen_text(screen, LINES - 1, 0, COLS, "arrows, PGUP, PGDN: scroll; q, ESC: back",
                    screen_title(screen));
        refresh();
        switch (screen_key(screen)) {
        case KEY_DOWN: top++; break;
        case KEY_UP: top--; break;
        case KEY_NPAGE:
        case ' ': top += page; break;
        case KEY_PPAGE: top -= page; break;
        case KEY_HOME: top = 0; break;
        case KEY_END: top = last; break;
        case SCREEN_WOKEN: break;
        default: return;
        }
    }
}

bool screen_ask(struct screen *screen, const char *question, char *answer, size_t size)
{
    char line[512];
    size_t length = strlen(answer);
    bool taken = false;
    curs_set(1);
    for (bool asking = true; asking;) {
        snprintf(line, sizeof line, "%s%s", question, answer);
        screen_text(screen, LINES - 1, 0, COLS, line, screen_title(screen));
        int at = (int)strlen(line);
        move(LINES - 1, at < COLS ? at : COLS - 1);
        refresh();
        int key = screen_key(screen);
        switch (key) {
        case '\r':
        case '\n':
        case KEY_ENTER:
            taken = true;
            asking = false;
            break;
        case 27: /* ESC */
        case SCREEN_ENDED: asking = false; break;
        case KEY_BACKSPACE:
        case 127:
        case '\b': length -= length > 0; break;
        case 'U' - '@': length = 0; break;
        default:
            if (key >= ' ' && key < 256 && length + 1 < size)
                answer[length++] = (char)key;
        }
        answer[length] = '\0';
    }
    curs_set(0);
    return taken;
}

int screen_choose(struct screen *screen, const struct screen_choice *choices, int count)
{
    int chosen = 0;
    for (;;) {
        int page = LINES > 2 ? LINES - 2 : 1, top = chosen >= page ? chosen - page + 1 : 0;
        erase();
        screen_text(screen, 0, 0, COLS, "What now?", screen_title(screen));
        for (int i = top; i < count && i - top < page; i++)
            screen_text(screen, i - top + 1, 0, COLS, choices[i].text, i == chosen ? A_REVERSE : 0);
        screen_text(screen, LINES - 1, 0, COLS, "ENTER: do it; q, ESC: back", screen_title(screen));
        refresh();
        switch (screen_key(screen)) {
        case KEY_DOWN: chosen += chosen + 1 < count; break;
        case KEY_UP: chosen -= chosen > 0; break;
        case KEY_HOME: chosen = 0; break;
        case KEY_END: chosen = count - 1; break;
        case '\r':
        case '\n':
        case KEY_ENTER: return choices[chosen].key;
        case SCREEN_WOKEN: break;
        default: return 0;
        }
    }
}

void screen_copy(const char *text)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t left = strlen(text);
    fputs("\033]52;c;", stdout);
    while (left) {
        size_t taken = left < 3 ? left : 3;
        unsigned char in[3] = { 0 };
        memcpy(in, text, taken);
        unsigned word = (unsigned)in[0] << 16 | (unsigned)in[1] << 8 | in[2];
        for (size_t i = 0; i < 4; i++)
            fputc(i <= taken ? digits[word >> (18 - 6 * i) & 63] : '=', stdout);
        text += taken;
        left -= taken;
    }
    fputc('\a', stdout);
    fflush(stdout);
}
