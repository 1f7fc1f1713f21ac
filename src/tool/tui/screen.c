/* SPDX-License-Identifier: MIT */
/* The terminal of a view: how it begins and ends, keys, lines. */
#include "tool/tui/screen.h"
#include "tool/tui/tui.h"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

/* What a handler needs to give the terminal back. */
static struct termios modes_before;
static char reset_text[256];
static size_t reset_length;
static volatile sig_atomic_t is_open, ending_signal;
static int wake_end = -1;

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
static const int crashing[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };
static struct sigaction ending_before[TOOL_LENGTH(ending)], crashing_before[TOOL_LENGTH(crashing)];

static void on_ending(int number)
{
    int kept = errno;
    ending_signal = number;
    (void)!write(wake_end, "!", 1);
    errno = kept;
}

/* Gives the terminal back, then lets happen what would have happened without this handler. */
static void on_crash(int number)
{
    if (is_open) {
        (void)!write(STDOUT_FILENO, reset_text, reset_length);
        tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
    }
    signal(number, SIG_DFL);
    raise(number);
}

int screen_signal(void)
{
    return ending_signal;
}

bool tool_tui_built(void)
{
    return true;
}

const char *tool_tui_missing(void)
{
    return curses_load();
}

bool tool_tui_possible(const struct tool *tool)
{
    const char *terminal = getenv("TERM");
    return !tool->pager_process && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && terminal &&
           *terminal && strcmp(terminal, "dumb") != 0 && !tool_tui_missing();
}

static void append_reset(const char *name)
{
    const char *capability = tigetstr(name);
    if (!capability || capability == (char *)-1) /* terminfo's "no string" */
        return;
    for (; *capability && reset_length < sizeof reset_text; capability++)
        reset_text[reset_length++] = *capability;
}

static void watch(void)
{
    struct sigaction change = { .sa_handler = on_ending };
    for (size_t i = 0; i < TOOL_LENGTH(ending); i++)
        sigaction(ending[i], &change, &ending_before[i]);
    struct sigaction crash = { .sa_handler = on_crash };
    for (size_t i = 0; i < TOOL_LENGTH(crashing); i++)
        sigaction(crashing[i], &crash, &crashing_before[i]);
}

static void unwatch(void)
{
    for (size_t i = 0; i < TOOL_LENGTH(ending); i++)
        sigaction(ending[i], &ending_before[i], NULL);
    for (size_t i = 0; i < TOOL_LENGTH(crashing); i++)
        sigaction(crashing[i], &crashing_before[i], NULL);
}

static void set_colors(struct screen *screen, const struct tool *tool)
{
    screen->colors = has_colors() && tool_colors(tool) && start_color() == OK;
    if (!screen->colors)
        return;
    use_default_colors();
    init_pair(PAIR_RED, COLOR_RED, -1);
    init_pair(PAIR_GREEN, COLOR_GREEN, -1);
    init_pair(PAIR_TITLE, COLOR_WHITE, COLOR_BLUE);
}

bool screen_begin(struct screen *screen, const struct tool *tool)
{
    *screen = (struct screen){ .wake = { -1, -1 } };
    setlocale(LC_CTYPE, "");
    if (tcgetattr(STDIN_FILENO, &modes_before) < 0 || pipe(screen->wake) < 0)
        return false;
    for (int i = 0; i < 2; i++)
        fcntl(screen->wake[i], F_SETFL, O_NONBLOCK);
    wake_end = screen->wake[1];
    ending_signal = 0;
    watch(); /* before ncurses, which takes only signals that nobody handles */
    screen->terminal = newterm(NULL, stdout, stdin);
    if (!screen->terminal) {
        unwatch();
        close(screen->wake[0]);
        close(screen->wake[1]);
        return false;
    }
    reset_length = 0;
    append_reset("sgr0");
    append_reset("op");
    append_reset("rmkx");
    append_reset("rmcup");
    append_reset("cnorm");
    is_open = 1;
    set_colors(screen, tool);
    cbreak();
    noecho();
    nonl();
    curs_set(0);
    set_escdelay(25);
    keypad(stdscr, TRUE);
    timeout(0);
    return true;
}

void screen_end(struct screen *screen)
{
    endwin();
    is_open = 0;
    delscreen(screen->terminal);
    unwatch(); /* a thread may still write into the pipe: it stays open */
}

void screen_wake(const struct screen *screen)
{
    (void)!write(screen->wake[1], "!", 1); /* a full pipe wakes as well */
}

int screen_key(struct screen *screen)
{
    char drop[64];
    for (;;) {
        if (ending_signal)
            return SCREEN_ENDED;
        int key = getch();
        if (key == KEY_RESIZE) {
            clearok(stdscr, TRUE);
            return SCREEN_WOKEN;
        }
        if (key != ERR)
            return key;
        struct pollfd ends[2] = { { .fd = STDIN_FILENO, .events = POLLIN },
                                  { .fd = screen->wake[0], .events = POLLIN } };
        if (poll(ends, 2, -1) < 0)
            continue; /* a signal: SIGWINCH becomes a key */
        if (ends[0].revents & (POLLHUP | POLLERR | POLLNVAL))
            return SCREEN_ENDED;
        if (ends[1].revents) {
            while (read(screen->wake[0], drop, sizeof drop) > 0)
                continue;
            return ending_signal ? SCREEN_ENDED : SCREEN_WOKEN;
        }
    }
}

/* ---- lines ---- */

attr_t screen_title(const struct screen *screen)
{
    return screen->colors ? COLOR_PAIR(PAIR_TITLE) : A_BOLD;
}

/* Behind an escape: the attributes of perf's colours; *length: of the sequence, 0: it is none of
 * them. */
static attr_t color_of(const char *text, size_t *length)
{
    static const struct {
        const char *text;
        attr_t attributes;
    } known[] = { { "\033[m", 0 },
                  { "\033[31m", COLOR_PAIR(PAIR_RED) },
                  { "\033[32m", COLOR_PAIR(PAIR_GREEN) } };
    for (size_t i = 0; i < TOOL_LENGTH(known); i++) {
        *length = strlen(known[i].text);
        if (!strncmp(text, known[i].text, *length))
            return known[i].attributes;
    }
    *length = 0;
    return 0;
}

void screen_text(const struct screen *screen, int y, int x, int width, const char *text,
                 attr_t attributes)
{
    mbstate_t state = { 0 };
    attr_t color = 0;
    int end = x + width;
    size_t left = strlen(text);
    if (end > COLS)
        end = COLS;
    move(y, x);
    attrset(attributes);
    while (left && x < end) {
        size_t length;
        if (*text == '\033') {
            color = color_of(text, &length);
            if (length) {
                attrset(attributes || !screen->colors ? attributes : color);
                text += length;
                left -= length;
                continue;
            }
        }
        wchar_t wide[2] = { 0 };
        length = mbrtowc(wide, text, left, &state);
        if (length == (size_t)-1 || length == (size_t)-2 || !length) {
            memset(&state, 0, sizeof state);
            length = 1;
            wide[0] = L'?';
        }
        int taken = wcwidth(wide[0]);
        if (taken < 1) { /* control, combining or unknown: a line must not come out of step */
            wide[0] = L'?';
            taken = 1;
        }
        if (x + taken > end)
            break;
        mvaddnwstr(y, x, wide, 1);
        x += taken;
        text += length;
        left -= length;
    }
    attrset(attributes);
    for (; x < end; x++)
        mvaddch(y, x, ' ');
    attrset(0);
}
