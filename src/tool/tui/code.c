/* SPDX-License-Identifier: MIT */
/* Annotated code on the screen: perf's keys. */
#include "tool/tui/code.h"
#include "tool/input.h"
#include "tool/text.h"
#include "tool/tui/fit.h"
#include "tool/tui/tui.h"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SHIFT = 8, SHIFT_MAX = 1024 };

/* What the thread prints. */
struct printer {
    struct tool *tool;
    const struct screen *screen;
    char *name;
    struct perfdata_annotate_options options;
    pthread_t thread;
    pthread_mutex_t lock; /* for all below */
    struct tool_text code;
    bool done, quit;
    double share;
    perfdata_status status;
    char message[512];
};

struct line {
    size_t at, length; /* in the text */
    double share;      /* 0: no samples, or no instruction */
    bool head;         /* of a function */
};

struct view {
    struct screen *screen;
    struct printer *printer;
    struct line *lines;
    size_t count, capacity, known; /* `known`: bytes of the text that are lines */
    size_t top, cursor;
    unsigned shift;
    bool done;  /* `lines` are all that there will be */
    bool left;  /* a thread that prints no more may still run */
    bool moved; /* by a key: until then the cursor goes to the hottest line */
    char found[128];
    char message[512];
};

static const char help[] =
    "h, ?, F1       this list\n"
    "UP, DOWN       one line; PGUP, PGDN, SPACE: a screen; HOME, END: all the way\n"
    "RIGHT, LEFT    what is beyond the right side, and back\n"
    "H              the hottest instruction of this function\n"
    "TAB, BTAB      the next cooler, the next hotter instruction\n"
    "f, b           the next, the previous function\n"
    "ENTER          where this jump or call leads, where that is shown\n"
    "s              source between the instructions or not (reads again)\n"
    "t              percentages, periods, numbers of samples (reads again)\n"
    "/              a line that contains a text; n: the next one\n"
    "P              print all to perf.annotate.N\n"
    "q, ESC, CTRL+C out\n";

/* ---- the thread ---- */

static int take_text(void *data, const char *text, size_t length)
{
    struct printer *printer = data;
    pthread_mutex_lock(&printer->lock);
    bool goes_on = !tool_text_take(&printer->code, text, length) && !printer->quit;
    pthread_mutex_unlock(&printer->lock);
    screen_wake(printer->screen);
    return goes_on ? 0 : -1;
}

static int on_progress(void *data, const struct perfdata_progress *at)
{
    struct printer *printer = data;
    pthread_mutex_lock(&printer->lock);
    printer->share = tool_share(at);
    bool quit = printer->quit;
    pthread_mutex_unlock(&printer->lock);
    screen_wake(printer->screen);
    return quit ? -1 : 0;
}

static void *print(void *data)
{
    struct printer *printer = data;
    const struct tool *tool = printer->tool;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL); /* signals are the view's */
    struct tool issues = { .as_perf = tool->as_perf, .before = tool->before };
    struct perfdata_options open = PERFDATA_OPTIONS_INIT;
    tool_reading_options(tool, &issues, &open);
    open.on_progress = on_progress;
    open.progress_data = printer;
    struct perfdata_annotate_result result = { .struct_size = sizeof result };
    perfdata_recording *recording;
    perfdata_status status = perfdata_recording_open(printer->name, &open, &recording);
    if (status == PERFDATA_OK)
        status = perfdata_annotate_run(recording, &printer->options, take_text, printer, &result);
    pthread_mutex_lock(&printer->lock);
    printer->done = true;
    printer->status = status;
    if (status < 0)
        snprintf(printer->message, sizeof printer->message, "%s",
                 perfdata_recording_error(recording, NULL));
    else if (result.missing)
        snprintf(printer->message, sizeof printer->message,
                 "%llu of %llu functions have no code here", (unsigned long long)result.missing,
                 (unsigned long long)(result.missing + result.functions));
    bool told = !printer->quit;
    pthread_mutex_unlock(&printer->lock);
    if (told)
        tool_take_issues(printer->tool, &issues);
    free(issues.warnings.text);
    perfdata_recording_close(recording);
    screen_wake(printer->screen);
    return NULL;
}

static void printer_free(struct printer *printer)
{
    pthread_mutex_destroy(&printer->lock);
    free(printer->name);
    free(printer->code.text);
    free(printer);
}

/* NULL: no memory or no thread. */
static struct printer *printer_begin(struct screen *screen, struct tool *tool, const char *name,
                                     const struct perfdata_annotate_options *options)
{
    struct printer *printer = calloc(1, sizeof *printer);
    if (!printer)
        return NULL;
    printer->tool = tool;
    printer->screen = screen;
    printer->options = *options;
    printer->name = strdup(name);
    pthread_mutex_init(&printer->lock, NULL);
    if (printer->name && !pthread_create(&printer->thread, NULL, print, printer))
        return printer;
    printer_free(printer);
    return NULL;
}

/* False: objdump does not end soon, and the thread goes on. */
static bool printer_end(struct printer *printer)
{
    struct timespec until;
    pthread_mutex_lock(&printer->lock);
    printer->quit = true;
    pthread_mutex_unlock(&printer->lock);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    if (pthread_timedjoin_np(printer->thread, NULL, &until))
        return false;
    printer_free(printer);
    return true;
}

/* ---- lines ---- */

/* "   12.50 :  4004d6: ...": its share, of several events the first one's. */
static double share_of(const char *text, size_t length)
{
    char start[64];
    size_t kept = length < sizeof start - 1 ? length : sizeof start - 1;
    memcpy(start, text, kept);
    start[kept] = '\0';
    char *end;
    double share = strtod(start, &end);
    return end > start && *end == ' ' && strchr(end, ':') ? share : 0;
}

/* Takes the lines that are whole, all of them at the end. Under the lock. */
static void index_lines(struct view *view)
{
    const struct printer *printer = view->printer;
    while (view->known < printer->code.length) {
        const char *text = printer->code.text + view->known;
        const char *end = memchr(text, '\n', printer->code.length - view->known);
        if (!end && !printer->done)
            return;
        size_t length = end ? (size_t)(end - text) : printer->code.length - view->known;
        if (view->count == view->capacity) {
            size_t capacity = view->capacity ? view->capacity * 2 : 1024;
            struct line *grown = realloc(view->lines, capacity * sizeof *grown);
            if (!grown)
                return;
            view->lines = grown;
            view->capacity = capacity;
        }
        static const char head[] = "Source code & Disassembly of ";
        struct line line = { view->known, length, share_of(text, length),
                             memmem(text, length, head, sizeof head - 1) != NULL };
        view->lines[view->count++] = line;
        view->known += length + (end != NULL);
    }
}

static size_t page_size(void)
{
    return LINES > 2 ? (size_t)LINES - 1 : 1;
}

/* The lines of the function that the cursor is in: *from to *to. */
static void function_at(const struct view *view, size_t *from, size_t *to)
{
    *from = view->cursor;
    while (*from && !view->lines[*from].head)
        --*from;
    *to = view->cursor + 1;
    while (*to < view->count && !view->lines[*to].head)
        ++*to;
}

/* Whether `a` is the hotter instruction; of equals, the first one is. */
static bool is_hotter(const struct view *view, size_t a, size_t b)
{
    double x = view->lines[a].share, y = view->lines[b].share;
    return x != y ? x > y : a < b;
}

/* 0: the hottest instruction of the function; 1: the hottest one that is cooler than the one at the
 * cursor; -1: the coolest one that is hotter. */
static void go_hot(struct view *view, int step)
{
    size_t from, to, best = SIZE_MAX;
    if (!view->count)
        return;
    function_at(view, &from, &to);
    bool on_one = view->lines[view->cursor].share > 0;
    for (size_t i = from; i < to; i++) {
        if (view->lines[i].share <= 0 || (step && i == view->cursor))
            continue;
        if (step && on_one && is_hotter(view, view->cursor, i) != (step > 0))
            continue;
        if (best == SIZE_MAX ||
            is_hotter(view, step < 0 && on_one ? best : i, step < 0 && on_one ? i : best))
            best = i;
    }
    if (best != SIZE_MAX)
        view->cursor = best;
    else
        snprintf(view->message, sizeof view->message,
                 step ? "there is no other" : "no instruction of this function has samples");
}

static void go_function(struct view *view, int step)
{
    size_t at = view->cursor;
    for (;;) {
        if (step > 0 ? at + 1 >= view->count : at == 0)
            break;
        at += step > 0 ? 1 : (size_t)-1;
        if (view->lines[at].head) {
            view->cursor = view->top = at;
            return;
        }
    }
    snprintf(view->message, sizeof view->message, "there is no other function");
}

/* "... :   3d0:   jne    398 <outer_one+0x8>": the address in front of the name; *length: of its
 * text, 0: there is none. */
static const char *target_of(const char *text, size_t length, size_t *target)
{
    const char *name = memchr(text, '<', length), *at;
    *target = 0;
    if (!name || name == text || name[-1] != ' ')
        return NULL;
    for (at = --name; at > text && strchr("0123456789abcdef", at[-1]); at--)
        ++*target;
    return at > text && (at[-1] == ' ' || at[-1] == '\t') ? at : NULL;
}

/* Whether the line is the instruction at an address. */
static bool is_at(const char *text, size_t length, const char *address, size_t digits)
{
    const char *colon = memchr(text, ':', length), *end = text + length;
    if (!colon)
        return false;
    for (colon++; colon < end && *colon == ' ';)
        colon++;
    return (size_t)(end - colon) > digits && !memcmp(colon, address, digits) &&
           colon[digits] == ':';
}

/* Jumps lead within a function, calls to others: the nearest line of that address in the function,
 * or any. */
static void follow(struct view *view)
{
    size_t from, to, digits;
    if (!view->count)
        return;
    const struct line *line = &view->lines[view->cursor];
    pthread_mutex_lock(&view->printer->lock);
    const char *text = view->printer->code.text;
    const char *address = target_of(text + line->at, line->length, &digits);
    size_t found = SIZE_MAX;
    function_at(view, &from, &to);
    for (size_t i = 0; address && i < view->count; i++)
        if (is_at(text + view->lines[i].at, view->lines[i].length, address, digits)) {
            bool own = i >= from && i < to;
            if (own || found == SIZE_MAX)
                found = i;
            if (own)
                break;
        }
    pthread_mutex_unlock(&view->printer->lock);
    if (found != SIZE_MAX)
        view->cursor = found;
    else
        snprintf(view->message, sizeof view->message, "%s",
                 address ? "where it leads has no samples and is not shown"
                         : "this is no jump or call to a known place");
}

/* ---- drawing ---- */

/* As perf: 5 % and more are red, half a percent and more green. */
static attr_t color_of_share(const struct view *view, double share)
{
    const uint64_t numbers = PERFDATA_ANNOTATE_TOTAL_PERIOD | PERFDATA_ANNOTATE_SAMPLES;
    if (!view->screen->colors || share < 0.5 || view->printer->options.flags & numbers)
        return 0;
    return COLOR_PAIR(share < 5 ? PAIR_GREEN : PAIR_RED);
}

static void draw_line(const struct view *view, int y, size_t index)
{
    char text[1024];
    const struct line *line = &view->lines[index];
    size_t length = line->length < sizeof text - 1 ? line->length : sizeof text - 1;
    memcpy(text, view->printer->code.text + line->at, length);
    text[length] = '\0';
    for (char *tab = text; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    if (view->shift)
        fit_shift(text, view->shift, 0);
    attr_t attributes = index == view->cursor ? A_REVERSE : color_of_share(view, line->share);
    screen_text(view->screen, y, 0, COLS, text, attributes);
}

/* Scrolls until the cursor is in sight. */
static void scroll_to_cursor(struct view *view)
{
    size_t page = page_size();
    if (view->cursor >= view->count)
        view->cursor = view->count ? view->count - 1 : 0;
    if (view->cursor < view->top)
        view->top = view->cursor;
    else if (view->cursor >= view->top + page)
        view->top = view->cursor - page / 2;
    if (view->top + page > view->count)
        view->top = view->count > page ? view->count - page : 0;
    if (view->cursor >= view->top + page)
        view->top = view->cursor - page + 1;
}

static void draw(struct view *view)
{
    char foot[600];
    struct printer *printer = view->printer;
    pthread_mutex_lock(&printer->lock);
    size_t known = view->count;
    index_lines(view);
    view->done = printer->done;
    if (view->count > known && !view->moved)
        go_hot(view, 0);
    if (!view->moved)
        *view->message = '\0';
    scroll_to_cursor(view);
    erase();
    for (size_t i = 0; i < page_size() && view->top + i < view->count; i++)
        draw_line(view, (int)i, view->top + i);
    if (*view->message)
        snprintf(foot, sizeof foot, "%s", view->message);
    else if (!printer->done)
        snprintf(foot, sizeof foot, "reading: %.0f %%; q: out", printer->share * 100);
    else if (*printer->message)
        snprintf(foot, sizeof foot, "%s; q: out", printer->message);
    else
        snprintf(foot, sizeof foot,
                 "?: keys  q: out  H: hottest  TAB: next  /: search  f, b: functions");
    pthread_mutex_unlock(&printer->lock);
    screen_foot(view->screen, foot);
    refresh();
}

/* ---- keys ---- */

static bool contains(const struct view *view, size_t index, const char *wanted)
{
    const struct line *line = &view->lines[index];
    return memmem(view->printer->code.text + line->at, line->length, wanted, strlen(wanted)) !=
           NULL;
}

static void search(struct view *view, bool ask)
{
    if (ask && !screen_ask(view->screen, "search: ", view->found, sizeof view->found))
        return;
    if (!*view->found)
        return;
    struct printer *printer = view->printer;
    pthread_mutex_lock(&printer->lock);
    size_t at = view->cursor + 1;
    while (at < view->count && !contains(view, at, view->found))
        at++;
    pthread_mutex_unlock(&printer->lock);
    if (at < view->count)
        view->cursor = at;
    else
        snprintf(view->message, sizeof view->message, "no line below contains %.100s", view->found);
}

static void print_text(struct view *view)
{
    char path[40];
    FILE *file = NULL;
    for (int i = 0; i < 1000 && !file; i++) {
        snprintf(path, sizeof path, "perf.annotate.%d", i);
        file = fopen(path, "wx");
    }
    struct printer *printer = view->printer;
    pthread_mutex_lock(&printer->lock);
    bool failed = !file || fwrite(printer->code.text ? printer->code.text : "", 1,
                                  printer->code.length, file) != printer->code.length;
    const char *partly = printer->done ? "" : ", as much as there is so far";
    pthread_mutex_unlock(&printer->lock);
    failed |= file && fclose(file);
    if (failed)
        snprintf(view->message, sizeof view->message,
                 "the code can't be written to perf.annotate.N here");
    else
        snprintf(view->message, sizeof view->message, "printed to %s%s", path, partly);
}

/* Prints again, with other flags. */
static void restart(struct view *view, uint64_t flags)
{
    struct printer *old = view->printer;
    struct perfdata_annotate_options options = old->options;
    options.flags = flags;
    struct printer *new = printer_begin(view->screen, old->tool, old->name, &options);
    if (!new) {
        snprintf(view->message, sizeof view->message, "no memory or no thread to read with");
        return;
    }
    view->left |= !printer_end(old);
    view->printer = new;
    view->count = view->known = view->top = view->cursor = 0;
    view->moved = false;
}

/* Percentages, periods, numbers of samples. */
static uint64_t next_numbers(uint64_t flags)
{
    const uint64_t both = PERFDATA_ANNOTATE_TOTAL_PERIOD | PERFDATA_ANNOTATE_SAMPLES;
    uint64_t next = flags & PERFDATA_ANNOTATE_TOTAL_PERIOD ? PERFDATA_ANNOTATE_SAMPLES
                    : flags & PERFDATA_ANNOTATE_SAMPLES    ? 0
                                                           : PERFDATA_ANNOTATE_TOTAL_PERIOD;
    return (flags & ~both) | next;
}

static bool walk_key(struct view *view, int key)
{
    size_t page = page_size(), last = view->count ? view->count - 1 : 0;
    switch (key) {
    case KEY_DOWN: view->cursor += view->cursor < last; break;
    case KEY_UP: view->cursor -= view->cursor > 0; break;
    case KEY_NPAGE:
    case ' ': view->cursor = last - view->cursor < page ? last : view->cursor + page; break;
    case KEY_PPAGE: view->cursor = view->cursor < page ? 0 : view->cursor - page; break;
    case KEY_HOME: view->cursor = 0; break;
    case KEY_END: view->cursor = last; break;
    case KEY_RIGHT: view->shift += view->shift < SHIFT_MAX ? SHIFT : 0; break;
    case KEY_LEFT: view->shift -= view->shift ? SHIFT : 0; break;
    default: return false;
    }
    return true;
}

/* False: the user leaves the view. */
static bool take_key(struct view *view, int key)
{
    *view->message = '\0';
    view->moved = true;
    if (walk_key(view, key))
        return true;
    switch (key) {
    case 'q':
    case 27: return false; /* ESC */
    case 'h':
    case '?':
    case KEY_F(1): screen_show(view->screen, "Keys", help); break;
    case 'H': go_hot(view, 0); break;
    case '\t': go_hot(view, 1); break;
    case KEY_BTAB: go_hot(view, -1); break;
    case 'f': go_function(view, 1); break;
    case 'b': go_function(view, -1); break;
    case '/': search(view, true); break;
    case 'n': search(view, false); break;
    case 'P': print_text(view); break;
    case '\r':
    case '\n':
    case KEY_ENTER: follow(view); break;
    case 's': restart(view, view->printer->options.flags ^ PERFDATA_ANNOTATE_NO_SOURCE); break;
    case 't': restart(view, next_numbers(view->printer->options.flags)); break;
    default: break;
    }
    return true;
}

enum code_end code_show(struct screen *screen, struct tool *tool, const char *name,
                        const struct perfdata_annotate_options *options, char *message, size_t size,
                        perfdata_status *status)
{
    *message = '\0';
    *status = PERFDATA_OK;
    struct printer *printer = printer_begin(screen, tool, name, options);
    if (!printer) {
        *status = PERFDATA_ERROR_MEMORY;
        snprintf(message, size, "no memory or no thread to read with");
        return CODE_ENDED;
    }
    struct view view = { .screen = screen, .printer = printer };
    for (bool goes_on = true; goes_on;) {
        draw(&view);
        bool nothing = view.done && !view.count;
        int key = nothing ? SCREEN_ENDED : screen_key(screen);
        if (key == SCREEN_ENDED)
            break;
        if (key != SCREEN_WOKEN)
            goes_on = take_key(&view, key);
    }
    printer = view.printer;
    pthread_mutex_lock(&printer->lock);
    if (printer->done) {
        *status = printer->status;
        snprintf(message, size, "%s", printer->message);
    }
    pthread_mutex_unlock(&printer->lock);
    free(view.lines);
    bool ended = printer_end(printer);
    return ended && !view.left ? CODE_ENDED : CODE_ENDING;
}

enum tool_exit tool_tui_annotate(struct tool *tool, const char *name,
                                 const struct perfdata_annotate_options *options)
{
    struct screen *screen = calloc(1, sizeof *screen); /* the thread may outlive this call */
    char message[512];
    perfdata_status status;
    if (!screen)
        return tool_failure(tool, PERFDATA_ERROR_MEMORY, NULL, NULL);
    if (!screen_begin(screen, tool)) {
        free(screen);
        return tool_usage(tool, "this terminal can't show the code: --stdio prints it");
    }
    enum code_end end = code_show(screen, tool, name, options, message, sizeof message, &status);
    screen_end(screen);
    if (end == CODE_ENDED)
        free(screen);
    int number = screen_signal();
    if (number && number != SIGINT) {
        signal(number, SIG_DFL);
        raise(number);
    }
    if (status < 0 && status != PERFDATA_ERROR_CANCELLED)
        return tool_failure(tool, status, NULL, message);
    return TOOL_DONE;
}
