/* SPDX-License-Identifier: MIT */
/* ncurses, loaded when the first view opens: its functions and variables keep their names. */
#ifndef PERFDATA_TUI_CURSES_H
#define PERFDATA_TUI_CURSES_H
#define NCURSES_WIDECHAR 1
#include "base/library.h"
#include <curses.h>

#define CURSES_NAMES(ROW)                                                                          \
    ROW(cbreak)                                                                                    \
    ROW(clearok)                                                                                   \
    ROW(curs_set)                                                                                  \
    ROW(delscreen)                                                                                 \
    ROW(endwin)                                                                                    \
    ROW(has_colors)                                                                                \
    ROW(init_pair)                                                                                 \
    ROW(keypad)                                                                                    \
    ROW(newterm)                                                                                   \
    ROW(noecho)                                                                                    \
    ROW(nonl)                                                                                      \
    ROW(set_escdelay)                                                                              \
    ROW(start_color)                                                                               \
    ROW(tigetstr)                                                                                  \
    ROW(use_default_colors)                                                                        \
    ROW(waddch)                                                                                    \
    ROW(waddnwstr)                                                                                 \
    ROW(wattrset)                                                                                  \
    ROW(werase)                                                                                    \
    ROW(wgetch)                                                                                    \
    ROW(wmove)                                                                                     \
    ROW(wrefresh)                                                                                  \
    ROW(wtimeout)                                                                                  \
    ROW(stdscr)                                                                                    \
    ROW(COLORS)                                                                                    \
    ROW(COLS)                                                                                      \
    ROW(LINES)

struct curses {
    CURSES_NAMES(PD_LIBRARY_MEMBER)
};
extern struct curses curses_library;
/* NULL: ncurses is loaded. Else the reason why it is not. */
const char *curses_load(void);

/* These replace the functions also within the macros of curses.h. curses.c itself needs the plain
 * names. */
#ifndef PERFDATA_TUI_CURSES_NAMES
#define cbreak curses_library.cbreak
#define clearok curses_library.clearok
#define curs_set curses_library.curs_set
#define delscreen curses_library.delscreen
#define endwin curses_library.endwin
#define has_colors curses_library.has_colors
#define init_pair curses_library.init_pair
#define keypad curses_library.keypad
#define newterm curses_library.newterm
#define noecho curses_library.noecho
#define nonl curses_library.nonl
#define set_escdelay curses_library.set_escdelay
#define start_color curses_library.start_color
#define tigetstr curses_library.tigetstr
#define use_default_colors curses_library.use_default_colors
#define waddch curses_library.waddch
#define waddnwstr curses_library.waddnwstr
#undef wattrset
#define wattrset curses_library.wattrset
#define werase curses_library.werase
#define wgetch curses_library.wgetch
#define wmove curses_library.wmove
#define wrefresh curses_library.wrefresh
#define wtimeout curses_library.wtimeout
#define stdscr (*curses_library.stdscr)
#define COLORS (*curses_library.COLORS)
#define COLS (*curses_library.COLS)
#define LINES (*curses_library.LINES)
#endif

#endif
