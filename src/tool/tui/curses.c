/* SPDX-License-Identifier: MIT */
/* Loads ncurses, where a view opens. */
#define PERFDATA_TUI_CURSES_NAMES
#include "tool/tui/curses.h"

#define lib curses_library
struct curses curses_library = { CURSES_NAMES(PD_LIBRARY_LINKED) };
static const struct pd_library_row rows[] = { CURSES_NAMES(PD_LIBRARY_ROW) };
/* This name has stood for its interface since 2015. */
static struct pd_library library = PD_LIBRARY("libncursesw.so.6", rows);
PD_LIBRARY_NOTE("libncursesw.so.6", "tui", "report and flame on a terminal", "recommended")

const char *curses_load(void)
{
    return pd_library_load(&library);
}
