/* SPDX-License-Identifier: MIT */
/* The terminal while a view is open: lines, keys, colours. However the view ends, the terminal is
 * left as it was before. */
#ifndef PERFDATA_TUI_SCREEN_H
#define PERFDATA_TUI_SCREEN_H
#include "tool/tool.h"
#include "tool/tui/curses.h"

enum screen_pair {
    PAIR_RED = 1,
    PAIR_GREEN,
    PAIR_TITLE,
    PAIR_FLAME /* the first of those of flame.c */
};

enum { SCREEN_KEYS = KEY_MAX + 1, SCREEN_WOKEN, SCREEN_ENDED };

struct screen {
    SCREEN *terminal;
    bool colors;
    int wake[2]; /* a byte in this pipe ends waiting */
};

/* False: the terminal can't do it; nothing has changed. */
bool screen_begin(struct screen *screen, const struct tool *tool);
void screen_end(struct screen *screen);
/* From any thread, also from a signal's handler. */
void screen_wake(const struct screen *screen);
/* The next key; SCREEN_WOKEN: draw again, as screen_wake() or a new size asks for; SCREEN_ENDED: a
 * signal or a hang-up ends us. Waits without working. */
int screen_key(struct screen *screen);
/* Which signal ended us; 0: none. */
int screen_signal(void);

/* A line from column x on, `width` columns, filled with blanks. `text` may hold perf's colours
 * (ANSI), which are shown where `attributes` is 0; whatever else can't be printed is a question
 * mark. */
void screen_text(const struct screen *screen, int y, int x, int width, const char *text,
                 attr_t attributes);
/* The attributes of a title, on any terminal. */
attr_t screen_title(const struct screen *screen);

/* ---- windows.c ---- */

/* The last line: what can be done, or what happened. */
void screen_foot(const struct screen *screen, const char *notes);

/* Shows lines of text to scroll through, until a key closes them. */
void screen_show(struct screen *screen, const char *title, const char *text);
/* Lets the user type a line at the bottom. False: the user gave up. */
bool screen_ask(struct screen *screen, const char *question, char *answer, size_t size);
struct screen_choice {
    int key;
    const char *text;
};
/* The key of what was chosen; 0: nothing. */
int screen_choose(struct screen *screen, const struct screen_choice *choices, int count);
/* Copies the text to the terminal's clipboard (OSC 52). */
void screen_copy(const char *text);

#endif
