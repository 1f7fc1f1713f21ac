/* SPDX-License-Identifier: MIT */
/* The interactive report: perf's screen and keys. */
#include "tool/input.h"
#include "tool/text.h"
#include "tool/tui/code.h"
#include "tool/tui/fit.h"
#include "tool/tui/flame.h"
#include "tool/tui/list.h"
#include "tool/tui/reader.h"
#include "tool/tui/tui.h"
#include "tool/verbs.h"
#include <inttypes.h>
#include <perfdata/text.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct view {
    struct tool *tool;
    struct screen screen;
    struct reader reader;
    struct perfdata_report_options options;
    const char *name;
    perfdata_recording *recording;
    perfdata_report *report; /* NULL: nothing has been read yet */
    struct list list;
    uint32_t flags; /* of rows' text */
    unsigned shift; /* columns that are left of the screen */
    struct fit fit; /* what is shown of columns while `shift` is 0 */
    bool titles, relative, whole, busy;
    char found[128]; /* what was searched for */
    char message[512];
    char socket[16]; /* that is zoomed into, or empty */
    double share;
    uint64_t records;
    perfdata_status status;
};

static const char help[] =
    "h, ?, F1       this list\n"
    "UP, DOWN       one line; PGUP, PGDN, SPACE: a screen; HOME, END: all the way\n"
    "RIGHT, LEFT    what is beyond the right side, columns in full, and back\n"
    "q, ESC, CTRL+C back, zoomed out, or out of the report\n"
    "TAB, BTAB      next and previous event\n"
    "ENTER, m       what can be done with this row\n"
    "+              unfold or fold one level of the call chains\n"
    "e              unfold or fold all chains of this row\n"
    "E, C           unfold, fold the chains of all rows\n"
    "d              zoom into this row's object (shared library, program), and out\n"
    "t              zoom into this row's thread (by command where rows are of commands)\n"
    "k              zoom into the kernel\n"
    "/              only symbols that contain a text\n"
    "n, N           next row whose symbol or object contains a text; N asks for it\n"
    "L              leave out rows below a percentage\n"
    "F              percentages of what is shown, or of all\n"
    "p              periods in place of percentages\n"
    "f              flame graph of the recording\n"
    "H              column titles on and off\n"
    "V              addresses, whence symbols are, C++ parameters (reads again)\n"
    "i              the recording's header\n"
    "a              annotate this symbol\n"
    "y              copy this line (OSC 52: the terminal has to allow it)\n"
    "P              print what is unfolded to perf.hist.N\n"
    "0-9            sort by that event of a group (reads again)\n"
    "S              zoom into a processor socket, and out (reads again)\n"
    "s, r           perf's data files and scripts: not here\n";

static int list_height(const struct view *view)
{
    int height = LINES - 2 - view->titles;
    return height > 0 ? height : 1;
}

/* ---- drawing ---- */

static void count_text(uint64_t count, char *text, size_t size)
{
    static const char units[] = " KMG";
    unsigned unit = 0;
    while (count > 1000 && unit < 3) {
        count /= 1000;
        unit++;
    }
    snprintf(text, size, "%" PRIu64 "%c", count, units[unit]);
}

/* What is zoomed into or filtered by: ", DSO: libc.so.6"; its length. */
static size_t zoom_text(const struct view *view, char *text, size_t size)
{
    const struct list_filter *filter = &view->list.filter;
    const struct {
        const char *name, *value;
    } parts[] = { { ", Thread: ", filter->comm },
                  { ", DSO: ", filter->object },
                  { ", Socket: ", view->socket },
                  { ", kernel", filter->kernel ? " " : "" },
                  { ", Symbol: ", filter->symbol } };
    size_t at = 0;
    *text = '\0';
    for (size_t i = 0; i < TOOL_LENGTH(parts) && at < size; i++)
        if (*parts[i].value)
            at += (size_t)snprintf(text + at, size - at, "%s%s", parts[i].name,
                                   *parts[i].value == ' ' ? "" : parts[i].value);
    return at;
}

/* Where all of it does not fit, the count goes, and what is zoomed into comes first. */
static void draw_head(const struct view *view)
{
    char line[2048], samples[32], zoom[600], what[400], count[64];
    const struct list *list = &view->list;
    bool zoomed = zoom_text(view, zoom, sizeof zoom) != 0;
    count_text(zoomed ? list->samples : list->about.samples, samples, sizeof samples);
    snprintf(what, sizeof what, "Samples: %s of event '%.300s'", samples,
             list->about.name ? list->about.name : "");
    snprintf(count, sizeof count, ", Event count (approx.): %" PRIu64,
             zoomed ? list->period : list->about.period);
    if (!view->report)
        snprintf(line, sizeof line, "%.500s: nothing has been read yet", view->name);
    else if (strlen(what) + strlen(count) + strlen(zoom) <= (size_t)COLS)
        snprintf(line, sizeof line, "%s%s%s", what, count, zoom);
    else if (!zoomed || strlen(what) + strlen(zoom) <= (size_t)COLS)
        snprintf(line, sizeof line, "%s%s", what, zoomed ? zoom : count);
    else
        snprintf(line, sizeof line, "%s, %s", zoom + 2, what);
    screen_text(&view->screen, 0, 0, COLS, line, screen_title(&view->screen));
}

static void draw_foot(const struct view *view)
{
    char line[600];
    if (*view->message)
        snprintf(line, sizeof line, "%s", view->message);
    else if (view->busy)
        snprintf(line, sizeof line, "reading: %.0f %%, %" PRIu64 " records; %sq: out",
                 view->share * 100, view->records,
                 view->report ? "figures are of a first part and grow; " : "");
    else
        snprintf(line, sizeof line,
                 "?: keys  +: unfold  d, t: zoom  /: filter  f: flame graph  "
                 "q: out");
    screen_foot(&view->screen, line);
}

/* The text of a line. */
static void line_text(struct view *view, const struct list_place *place, char *text, size_t size)
{
    struct list *list = &view->list;
    const struct list_row *row = list_row(list, place->row);
    char sign = list_sign(list, place);
    *text = '\0';
    if (row && place->frame < 0) {
        const char *cells = perfdata_report_row_text(list->report, list->table, row->row,
                                                     view->flags);
        snprintf(text, size, "%c %s", sign, cells ? cells : "");
    } else if (row) {
        const struct perfdata_report_frame *frame = &row->frames[place->frame];
        unsigned depth = frame->depth < 100 ? frame->depth
                                            : 100; /* deeper ones stand no further right */
        snprintf(text, size, "%*s%c %s%s%s", (int)(3 * (depth + 1)), "", sign, frame->value,
                 *frame->value ? " " : "", frame->name);
    }
}

/* What of a line is shown: all that was scrolled to, or at first what fits. */
static void place_text(struct view *view, char *text, size_t size, bool has_columns)
{
    if (view->shift)
        fit_shift(text, view->shift, 2); /* the sign stays */
    else if (has_columns)
        fit_text(&view->fit, text, size);
}

static void draw(struct view *view)
{
    char text[4096];
    int y = 1, height = list_height(view);
    erase();
    draw_head(view);
    if (view->report)
        fit_measure(&view->fit, &view->list, view->flags, COLS);
    if (view->report && view->titles) {
        const char *titles = perfdata_report_title_text(view->list.report, view->list.table,
                                                        view->flags);
        snprintf(text, sizeof text, "  %s", titles ? titles : "");
        place_text(view, text, sizeof text, true);
        screen_text(&view->screen, y++, 0, COLS, text, screen_title(&view->screen));
    }
    list_settle(&view->list, height);
    struct list_place at = view->list.top;
    bool more = view->report && view->list.count;
    if (view->report && !more)
        screen_text(&view->screen, y, 0, COLS,
                    "  no rows are left by the zoom or filter (ESC: back)", 0);
    for (int i = 0; i < height && more; i++) {
        bool here = at.row == view->list.cursor.row && at.frame == view->list.cursor.frame;
        line_text(view, &at, text, sizeof text);
        place_text(view, text, sizeof text, at.frame < 0);
        screen_text(&view->screen, y + i, 0, COLS, text, here ? A_REVERSE : 0);
        more = list_next(&view->list, &at);
    }
    draw_foot(view);
    refresh();
}

/* ---- what keys do ---- */

static void say(struct view *view, const char *text)
{
    snprintf(view->message, sizeof view->message, "%s", text);
}

static void refilter(struct view *view)
{
    perfdata_report_set_total(view->report, view->list.table, 0);
    if (!list_refill(&view->list))
        say(view, "no memory for the rows");
    if (view->relative)
        perfdata_report_set_total(view->report, view->list.table, view->list.period);
}

static void toggle_text(struct view *view, char *filter, size_t size, const char *value)
{
    snprintf(filter, size, "%s", *filter ? "" : value);
    refilter(view);
}

static void zoom_thread(struct view *view, const struct perfdata_report_row *row)
{
    struct list_filter *filter = &view->list.filter;
    const char *sort = view->options.sort;
    char name[64];
    filter->by_thread = sort && (strstr(sort, "pid") || strstr(sort, "tid"));
    filter->tid = row->tid;
    if (filter->by_thread)
        snprintf(name, sizeof name, "%.48s(%u)", row->comm, row->tid);
    else
        snprintf(name, sizeof name, "%s", row->comm);
    toggle_text(view, filter->comm, sizeof filter->comm, name);
}

static bool reread(struct view *view, const struct perfdata_report_options *options);

static bool zoom_out_of_socket(struct view *view)
{
    struct perfdata_report_options options = view->options;
    options.socket = NULL;
    if (!*view->socket)
        return false;
    if (reread(view, &options))
        *view->socket = '\0';
    return true;
}

/* Which rows a socket has is not kept: they are read again. */
static void zoom_socket(struct view *view)
{
    struct perfdata_report_options options = view->options;
    char text[sizeof view->socket] = "";
    if (zoom_out_of_socket(view) ||
        !screen_ask(&view->screen, "Processor socket: ", text, sizeof text) || !*text)
        return;
    if (strspn(text, "0123456789") != strlen(text) || strlen(text) > 9) {
        say(view, "a socket is a number; the header (i) lists them");
        return;
    }
    options.socket = view->socket;
    memcpy(view->socket, text, sizeof text);
    if (!reread(view, &options))
        *view->socket = '\0';
}

static void sort_by_member(struct view *view, uint32_t member)
{
    struct perfdata_report_options options = view->options;
    uint32_t count = view->list.about.event_count;
    options.group_sort = member;
    if (count < 2)
        say(view, "this event is in no group");
    else if (member >= count)
        snprintf(view->message, sizeof view->message,
                 "Max event group index to sort is %u (index from 0 to %u)", count - 1, count - 1);
    else if (reread(view, &options))
        snprintf(view->message, sizeof view->message, "sorted by event %u of the group", member);
}

/* True: something was zoomed. */
static bool zoom_out(struct view *view)
{
    struct list_filter *filter = &view->list.filter;
    bool any = *filter->object || *filter->comm || *filter->symbol || filter->kernel ||
               filter->percent > 0;
    if (any) {
        *filter = (struct list_filter){ 0 };
        refilter(view);
    }
    return zoom_out_of_socket(view) || any;
}

static void ask_symbol(struct view *view)
{
    struct list_filter *filter = &view->list.filter;
    if (screen_ask(&view->screen, "Symbols that contain: ", filter->symbol, sizeof filter->symbol))
        refilter(view);
}

static void ask_percent(struct view *view)
{
    char text[32] = "";
    char *end;
    if (!screen_ask(&view->screen, "Leave out rows below (percent): ", text, sizeof text))
        return;
    double percent = strtod(text, &end);
    if (end == text || *end || !(percent >= 0 && percent <= 100)) {
        say(view, "that is no percentage");
        return;
    }
    view->list.filter.percent = percent;
    refilter(view);
}

static void search(struct view *view, bool ask)
{
    if ((ask || !*view->found) &&
        !screen_ask(&view->screen, "Next row that contains: ", view->found, sizeof view->found))
        return;
    if (!list_find(&view->list, view->found, list_height(view)))
        say(view, "no such row");
}

static void next_table(struct view *view, int step)
{
    uint32_t count = perfdata_report_table_count(view->report);
    uint32_t table = (view->list.table + count + (uint32_t)step) % count;
    if (count < 2)
        say(view, "there is one event only");
    else if (!list_set(&view->list, view->report, table))
        say(view, "no memory for the rows");
    refilter(view);
}

/* A line as it is shown, without colours. */
static void plain_line(struct view *view, const struct list_place *place, char *text, size_t size)
{
    line_text(view, place, text, size);
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '\033')
            while (*from && *from != 'm')
                from++;
        else
            *to++ = *from;
        if (!*from)
            break;
    }
    *to = '\0';
}

static void copy_line(struct view *view)
{
    char text[4096];
    plain_line(view, &view->list.cursor, text, sizeof text);
    screen_copy(text + strspn(text, "+- "));
    snprintf(view->message, sizeof view->message, "copied: %.400s", text + strspn(text, "+- "));
}

static void print_lines(struct view *view)
{
    char path[32], text[4096];
    FILE *file = NULL;
    for (int i = 0; i < 1000 && !file; i++) {
        snprintf(path, sizeof path, "perf.hist.%d", i);
        file = fopen(path, "wx");
    }
    struct list_place at = { 0, -1 };
    for (bool more = file && view->list.count; more; more = list_next(&view->list, &at)) {
        plain_line(view, &at, text, sizeof text);
        fprintf(file, "%s\n", text);
    }
    bool failed = !file || ferror(file);
    failed |= file && fclose(file);
    if (failed)
        say(view, "the rows can't be written to perf.hist.N here");
    else
        snprintf(view->message, sizeof view->message, "printed to %s", path);
}

static void show_header(struct view *view)
{
    struct tool_text header = { 0 };
    if (perfdata_header_print(view->recording, PERFDATA_HEADER_FULL, tool_text_take, &header) < 0 ||
        !header.text)
        say(view, "the header can't be shown");
    else
        screen_show(&view->screen, "Header of the recording", header.text);
    free(header.text);
}

/* Code of the samples that the report is of. */
static void annotate(struct view *view, const struct perfdata_report_row *row)
{
    if (!row->symbol) {
        say(view, "there is no symbol here");
        return;
    }
    const struct perfdata_report_options *from = &view->options;
    char *object = strdup(row->object), *symbol = strdup(row->symbol);
    struct perfdata_annotate_options options = {
        .struct_size = sizeof options,
        .threads = from->threads,
        .symbol = symbol,
        .dsos = object,
        .cpus = from->cpus,
        .comms = from->comms,
        .pids = from->pids,
        .tids = from->tids,
        .time = from->time,
        .search = from->search,
        .itrace = from->itrace,
        .itrace_count = from->itrace_count,
        .perf_config = from->perf_config,
    };
    perfdata_status status;
    if (!object || !symbol) {
        say(view, "out of memory");
        free(object);
        free(symbol);
        return;
    }
    enum code_end end = code_show(&view->screen, view->tool, view->name, &options, view->message,
                                  sizeof view->message, &status);
    if (status == PERFDATA_ERROR_NO_DATA)
        snprintf(view->message, sizeof view->message, "no samples lie in %.300s itself",
                 row->symbol);
    if (end == CODE_ENDING)
        return;
    free(object);
    free(symbol);
}

static int choose(struct view *view, const struct perfdata_report_row *row)
{
    static const struct screen_choice rest[] = {
        { '+', "Unfold or fold one level of the call chains (+)" },
        { 'e', "Unfold or fold all chains of this row (e)" },
        { 'f', "Flame graph of the recording (f)" },
        { 'i', "Header of the recording (i)" },
        { 'y', "Copy this line (y)" },
        { 'P', "Print to perf.hist.N (P)" },
        { 'q', "Exit (q)" },
    };
    char texts[3][512];
    struct screen_choice choices[3 + TOOL_LENGTH(rest)] = { { 't', texts[0] },
                                                            { 'd', texts[1] },
                                                            { 'a', texts[2] } };
    snprintf(texts[0], sizeof texts[0], "Zoom %s %.200s thread (t)",
             *view->list.filter.comm ? "out of" : "into", row->comm);
    snprintf(texts[1], sizeof texts[1], "Zoom %s %.400s DSO (d)",
             *view->list.filter.object ? "out of" : "into", row->object);
    snprintf(texts[2], sizeof texts[2], "Annotate %.400s (a)", row->symbol ? row->symbol : "");
    memcpy(choices + 3, rest, sizeof rest);
    return screen_choose(&view->screen, choices, (int)TOOL_LENGTH(choices));
}

/* False: the key is for rows, and there is none. */
static bool row_key(struct view *view, int key)
{
    struct perfdata_report_row row;
    if (!list_about(&view->list, view->list.cursor.row, &row))
        return false;
    switch (key) {
    case 'd':
        toggle_text(view, view->list.filter.object, sizeof view->list.filter.object, row.object);
        break;
    case 't': zoom_thread(view, &row); break;
    case '+': list_toggle(&view->list, false); break;
    case 'e': list_toggle(&view->list, true); break;
    case 'E':
    case 'C': list_fold_all(&view->list, key == 'E'); break;
    case 'n':
    case 'N': search(view, key == 'N'); break;
    case 'a': annotate(view, &row); break;
    case 'y': copy_line(view); break;
    case 'P': print_lines(view); break;
    default: return false;
    }
    return true;
}

static bool walk_key(struct view *view, int key)
{
    enum { SHIFT = 8, SHIFT_MAX = 1024 };
    int height = list_height(view);
    switch (key) {
    case KEY_DOWN: list_move(&view->list, 1, height); break;
    case KEY_UP: list_move(&view->list, -1, height); break;
    case KEY_NPAGE:
    case ' ': list_move(&view->list, height, height); break;
    case KEY_PPAGE: list_move(&view->list, -height, height); break;
    case KEY_RIGHT: view->shift += view->shift < SHIFT_MAX ? SHIFT : 0; break;
    case KEY_LEFT: view->shift -= view->shift ? SHIFT : 0; break;
    case KEY_HOME: list_home(&view->list); break;
    case KEY_END: list_end(&view->list, height); break;
    default: return false;
    }
    return true;
}

static void view_key(struct view *view, int key)
{
    struct perfdata_report_options verbose = view->options;
    switch (key) {
    case '\t': next_table(view, 1); break;
    case KEY_BTAB: next_table(view, -1); break;
    case 'k':
        view->list.filter.kernel = !view->list.filter.kernel;
        refilter(view);
        break;
    case '/': ask_symbol(view); break;
    case 'L': ask_percent(view); break;
    case 'F':
        view->relative = !view->relative;
        perfdata_report_set_total(view->report, view->list.table,
                                  view->relative ? view->list.period : 0);
        say(view, view->relative ? "percentages of what is shown" : "percentages of all");
        break;
    case 'p': view->flags ^= PERFDATA_REPORT_TEXT_PERIODS; break;
    case 'i': show_header(view); break;
    case 'V':
        verbose.flags ^= PERFDATA_REPORT_VERBOSE;
        (void)reread(view, &verbose);
        break;
    case 's': say(view, "another data file: leave (q) and name it"); break;
    case 'r': say(view, "scripts are not run here; `perfdata script` prints what they read"); break;
    case 'S': zoom_socket(view); break;
    default:
        if (key >= '0' && key <= '9')
            sort_by_member(view, (uint32_t)(key - '0'));
    }
}

/* False: the user leaves the view. */
static bool take_key(struct view *view, int key)
{
    *view->message = '\0';
    if ((key == '\r' || key == '\n' || key == KEY_ENTER || key == 'm') && view->report) {
        struct perfdata_report_row row;
        key = list_about(&view->list, view->list.cursor.row, &row) ? choose(view, &row) : 0;
        if (key == 'q')
            return false;
    }
    switch (key) {
    case 'q':
    case 27: return view->report && zoom_out(view);
    case 'h':
    case '?':
    case KEY_F(1): screen_show(&view->screen, "Keys", help); return true;
    case 'H': view->titles = !view->titles; return true;
    case 'f':
        (void)flame_show(&view->screen, view->tool, view->name, NULL,
                         view->report ? view->list.about.name : NULL, view->message,
                         sizeof view->message);
        return true;
    default: break;
    }
    if (view->report && !walk_key(view, key) && !row_key(view, key))
        view_key(view, key);
    return true;
}

/* ---- reading ---- */

/* Takes what the reader has finished since the last look. */
static void look(struct view *view)
{
    perfdata_report *report;
    perfdata_recording *recording;
    struct reader *reader = &view->reader;
    pthread_mutex_lock(&reader->lock);
    view->busy = !reader->done;
    view->share = reader->share;
    view->records = reader->records;
    view->status = reader->status;
    if (reader->done && reader->status < 0)
        snprintf(view->message, sizeof view->message, "%s", reader->message);
    pthread_mutex_unlock(&reader->lock);
    /* Asked for behind `done`: once that is set, there is no more to come. */
    if (!reader_take(reader, &report, &recording))
        return;
    uint32_t table = view->list.table < perfdata_report_table_count(report) ? view->list.table : 0;
    view->fit.report = NULL; /* the older one may have lain at the same place */
    if (!list_set(&view->list, report, table))
        say(view, "no memory for the rows");
    if (view->relative)
        perfdata_report_set_total(report, table, view->list.period);
    perfdata_report_close(view->report);
    perfdata_recording_close(view->recording);
    view->report = report;
    view->recording = recording;
}

/* Reads from the beginning, with other options. False: everything stays as it was. */
static bool reread(struct view *view, const struct perfdata_report_options *options)
{
    if (!reader_end(&view->reader)) {
        say(view, "it is still being read");
        return false;
    }
    if (!reader_begin(&view->reader, view->tool, &view->screen, view->name, options)) {
        say(view, "no thread to read with");
        return false;
    }
    view->options = *options;
    return true;
}

static void run_view(struct view *view)
{
    for (bool goes_on = true; goes_on;) {
        look(view);
        /* Nothing to look at: the verb tells why. */
        if (!view->busy && !view->report)
            return;
        draw(view);
        int key = screen_key(&view->screen);
        if (key == SCREEN_ENDED)
            return;
        if (key != SCREEN_WOKEN)
            goes_on = take_key(view, key);
    }
}

static enum tool_exit end_view(struct view *view)
{
    screen_end(&view->screen);
    bool ended = reader_end(&view->reader);
    int number = screen_signal();
    perfdata_status status = view->status;
    bool nothing = !view->report;
    struct tool *tool = view->tool;
    char message[512];
    snprintf(message, sizeof message, "%s", view->message);
    list_free(&view->list);
    perfdata_report_close(view->report);
    perfdata_recording_close(view->recording);
    if (ended)
        free(view);
    if (number && number != SIGINT) {
        signal(number, SIG_DFL);
        raise(number);
    }
    if (status < 0 && nothing && status != PERFDATA_ERROR_CANCELLED)
        return tool_failure(tool, status, NULL, message);
    return TOOL_DONE;
}

enum tool_exit tool_tui_report(struct tool *tool, const char *name,
                               const struct perfdata_report_options *options)
{
    struct view *view = calloc(1, sizeof *view); /* the reader's thread may outlive this call */
    if (!view)
        return tool_failure(tool, PERFDATA_ERROR_MEMORY, NULL, NULL);
    view->tool = tool;
    view->name = name;
    view->options = *options;
    if (options->socket)
        snprintf(view->socket, sizeof view->socket, "%s", options->socket);
    view->titles = view->busy = true;
    if (!screen_begin(&view->screen, tool)) {
        free(view);
        return tool_usage(tool,
                          "this terminal can't show the interactive report: --stdio prints it");
    }
    view->options.flags &= ~PERFDATA_REPORT_COLOR;
    view->options.flags |= view->screen.colors ? PERFDATA_REPORT_COLOR : 0;
    if (reader_begin(&view->reader, tool, &view->screen, name, &view->options))
        run_view(view);
    return end_view(view);
}
