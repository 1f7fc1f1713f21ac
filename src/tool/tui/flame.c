/* SPDX-License-Identifier: MIT */
/* A flame graph in characters: a line a level with names, or two levels a line in half blocks. */
#include "tool/tui/flame.h"
#include "tool/tui/graph.h"
#include "tool/tui/tui.h"
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct view {
    struct screen *screen;
    struct graph graph;
    uint32_t event; /* of the profile, or PERFDATA_NONE: all */
    bool callers, counts, halves;
    uint32_t zoom, cursor; /* nodes; zoom 0: all */
    uint32_t top;          /* the level in the first line */
    char found[128];
    char message[256];
    uint32_t *cells; /* levels x columns: the node there + 1, 0: none */
    int levels, columns;
};

static const char help[] = "h, ?, F1         this list\n"
                           "arrows           to the caller, the heaviest callee, the neighbours\n"
                           "ENTER            zoom into the chosen frame\n"
                           "BACKSPACE, u     zoom out by one\n"
                           "q, ESC           zoom out, or leave\n"
                           "/, n             mark functions that contain a text; the next of them\n"
                           "b                half blocks: two levels in each line\n"
                           "c                callers: what ran on top, below it who called it\n"
                           "p                widths are periods, or numbers of samples\n"
                           "TAB, BTAB        next and previous event\n"
                           "y                copy the frame's name (OSC 52)\n";

/* ---- colours ---- */

enum { COLORS_MAX = 6 };

static short palette(int index)
{
    static const short few[COLORS_MAX] = { COLOR_RED,  COLOR_YELLOW, COLOR_GREEN,
                                           COLOR_CYAN, COLOR_BLUE,   COLOR_MAGENTA };
    static const short many[COLORS_MAX] = { 208, 214, 220, 114, 75, 199 };
    return COLORS >= 256 ? many[index] : few[index];
}

static short pair_of(int upper, int lower)
{
    return (short)(PAIR_FLAME + upper * (COLORS_MAX + 1) + lower);
}

static short text_pair(int color)
{
    return (short)(PAIR_FLAME + (COLORS_MAX + 1) * (COLORS_MAX + 1) + color - 1);
}

static void make_pairs(void)
{
    for (int upper = 0; upper <= COLORS_MAX; upper++)
        for (int lower = 0; lower <= COLORS_MAX; lower++)
            init_pair(pair_of(upper, lower), upper ? palette(upper - 1) : -1,
                      lower ? palette(lower - 1) : -1);
    for (int color = 1; color <= COLORS_MAX; color++)
        init_pair(text_pair(color), COLOR_BLACK, palette(color - 1));
}

/* Pair 1 and up: warm colours for programs, blue for the kernel, green for functions that were
 * inlined; the last pair is for marked frames. */
static int color_of(const struct view *view, uint32_t node)
{
    const struct graph_node *at = &view->graph.nodes[node];
    if (at->marked)
        return COLORS_MAX;
    if (at->flags & PERFDATA_FUNCTION_KERNEL)
        return 5;
    if (at->flags & PERFDATA_FUNCTION_INLINED)
        return 4;
    return 1 + (int)(at->hue % 3);
}

/* ---- where frames are ---- */

static uint32_t *cell(const struct view *view, int level, int column)
{
    return &view->cells[(size_t)level * (size_t)view->columns + (size_t)column];
}

static void fill(const struct view *view, uint32_t node, long level, int from, int to)
{
    if (level < 0 || level >= view->levels)
        return;
    for (int x = from; x < to && x < view->columns; x++)
        *cell(view, (int)level, x) = node + 1;
}

/* Every frame that is a column wide or more, from the one that is zoomed into on. */
static void place(const struct view *view)
{
    const struct graph *graph = &view->graph;
    memset(view->cells, 0, (size_t)view->levels * (size_t)view->columns * sizeof *view->cells);
    for (uint32_t at = view->zoom;; at = graph->nodes[at].parent) {
        fill(view, at, (long)graph->nodes[at].depth - view->top, 0, view->columns);
        if (!at)
            break;
    }
    const struct graph_node *zoom = &graph->nodes[view->zoom];
    double scale = zoom->weight ? (double)view->columns / (double)zoom->weight : 0;
    uint32_t node = view->zoom;
    /* In the order of the tree, without what is too narrow: nothing below it is wider. */
    while ((node = graph_after(graph, node, view->zoom, scale)) != GRAPH_NONE) {
        const struct graph_node *at = &graph->nodes[node];
        double from = (double)(at->offset - zoom->offset) * scale,
               to = (double)(at->offset - zoom->offset + at->weight) * scale;
        fill(view, node, (long)at->depth - view->top, (int)(from + 0.5), (int)(to + 0.5));
    }
}

static bool make_cells(struct view *view)
{
    int lines = LINES - 2 > 0 ? LINES - 2 : 1;
    view->levels = view->halves ? 2 * lines : lines;
    view->columns = COLS;
    uint32_t *cells = realloc(view->cells,
                              (size_t)view->levels * (size_t)view->columns * sizeof *cells);
    if (!cells)
        return false;
    view->cells = cells;
    uint32_t depth = view->graph.nodes[view->cursor].depth;
    if (depth < view->top)
        view->top = depth;
    if (depth >= view->top + (uint32_t)view->levels)
        view->top = depth - (uint32_t)view->levels + 1;
    return true;
}

/* ---- drawing ---- */

static void draw_names(const struct view *view, int level)
{
    for (int x = 0; x < view->columns;) {
        uint32_t node = *cell(view, level, x);
        int end = x + 1;
        while (end < view->columns && *cell(view, level, end) == node)
            end++;
        if (node) {
            attr_t attributes = node - 1 == view->cursor ? A_REVERSE : 0;
            if (view->screen->colors)
                attributes |= COLOR_PAIR(text_pair(color_of(view, node - 1)));
            else if (view->graph.nodes[node - 1].marked)
                attributes |= A_BOLD;
            char text[300];
            /* Its first column keeps neighbours apart. */
            snprintf(text, sizeof text, "%s%.250s", end - x > 1 ? "|" : "",
                     graph_name(&view->graph, node - 1));
            screen_text(view->screen, level + 1, x, end - x, text, attributes);
        }
        x = end;
    }
}

static void draw_halves(const struct view *view, int line)
{
    for (int x = 0; x < view->columns; x++) {
        uint32_t upper = *cell(view, 2 * line, x), lower = *cell(view, 2 * line + 1, x);
        const char *shape = " ";
        attr_t attributes = 0;
        bool here = (upper && upper - 1 == view->cursor) || (lower && lower - 1 == view->cursor);
        if (view->screen->colors) {
            shape = upper || lower ? "\u2580" : " ";
            attributes = COLOR_PAIR(pair_of(upper ? color_of(view, upper - 1) : 0,
                                            lower ? color_of(view, lower - 1) : 0));
        } else {
            shape = upper && lower ? "\u2588" : upper ? "\u2580" : lower ? "\u2584" : " ";
        }
        screen_text(view->screen, line + 1, x, 1, shape,
                    attributes | (here ? A_REVERSE | A_BOLD : 0));
    }
}

static void draw_foot(const struct view *view)
{
    char line[700];
    const struct graph_node *at = &view->graph.nodes[view->cursor], *all = &view->graph.nodes[0];
    double share = all->weight ? 100 * (double)at->weight / (double)all->weight : 0;
    if (*view->message)
        snprintf(line, sizeof line, "%s", view->message);
    else
        snprintf(line, sizeof line, "%.2f %% %" PRIu64 " %s  %.300s  %.200s", share, at->weight,
                 view->counts ? "samples" : "period", graph_name(&view->graph, view->cursor),
                 graph_object(&view->graph, view->cursor));
    screen_foot(view->screen, line);
}

static void draw(struct view *view)
{
    char head[512];
    if (!make_cells(view))
        return;
    place(view);
    erase();
    snprintf(head, sizeof head, "%s of '%.200s'%s  ?: keys  ENTER: zoom  b: half blocks  q: out",
             view->callers ? "Callers" : "Flame graph", graph_event(&view->graph, view->event),
             view->zoom ? ", zoomed" : "");
    screen_text(view->screen, 0, 0, COLS, head, screen_title(view->screen));
    for (int i = 0; i < LINES - 2; i++) {
        if (view->halves)
            draw_halves(view, i);
        else
            draw_names(view, i);
    }
    draw_foot(view);
    refresh();
}

/* ---- keys ---- */

static void remake(struct view *view)
{
    view->zoom = view->cursor = view->top = 0;
    if (!graph_make(&view->graph, view->event, view->callers, view->counts))
        snprintf(view->message, sizeof view->message, "no memory for the graph");
    else if (*view->found)
        graph_mark(&view->graph, view->found);
}

static void next_event(struct view *view, int step)
{
    uint32_t count = perfdata_profile_event_count(view->graph.profile);
    for (uint32_t i = 0; i < count; i++) {
        view->event = (view->event + count + (uint32_t)step) % count;
        if (perfdata_profile_event(view->graph.profile, view->event)->samples)
            break;
    }
    remake(view);
}

static void search(struct view *view)
{
    if (!screen_ask(view->screen, "Mark functions that contain: ", view->found, sizeof view->found))
        return;
    uint64_t weight = graph_mark(&view->graph, view->found), all = view->graph.nodes[0].weight;
    snprintf(view->message, sizeof view->message, "'%.100s': %.2f %% of all", view->found,
             all ? 100 * (double)weight / (double)all : 0);
}

static void next_mark(struct view *view)
{
    for (uint32_t i = 1; i <= view->graph.count; i++) {
        uint32_t at = (view->cursor + i) % view->graph.count;
        if (view->graph.nodes[at].marked) {
            view->cursor = at;
            if (!graph_is_below(&view->graph, at, view->zoom))
                view->zoom = 0;
            return;
        }
    }
}

static bool zoom_out(struct view *view)
{
    bool zoomed = view->zoom != 0;
    if (zoomed) {
        view->cursor = view->zoom;
        view->zoom = view->graph.nodes[view->zoom].parent;
    }
    return zoomed;
}

static void walk(struct view *view, uint32_t to)
{
    if (to != GRAPH_NONE)
        view->cursor = to;
    if (!graph_is_below(&view->graph, view->cursor, view->zoom))
        view->zoom = view->cursor;
}

static bool take_key(struct view *view, int key)
{
    const struct graph_node *at = &view->graph.nodes[view->cursor];
    *view->message = '\0';
    switch (key) {
    case KEY_DOWN: walk(view, at->child); break;
    case KEY_UP: walk(view, view->cursor ? at->parent : GRAPH_NONE); break;
    case KEY_RIGHT: walk(view, graph_beside(&view->graph, view->cursor, 1)); break;
    case KEY_LEFT: walk(view, graph_beside(&view->graph, view->cursor, -1)); break;
    case KEY_HOME: view->cursor = view->zoom; break;
    case '\r':
    case '\n':
    case KEY_ENTER: view->zoom = view->cursor; break;
    case KEY_BACKSPACE:
    case 127:
    case '\b':
    case 'u': zoom_out(view); break;
    case 'b': view->halves = !view->halves; break;
    case 'c':
        view->callers = !view->callers;
        remake(view);
        break;
    case 'p':
        view->counts = !view->counts;
        remake(view);
        break;
    case '\t': next_event(view, 1); break;
    case KEY_BTAB: next_event(view, -1); break;
    case '/': search(view); break;
    case 'n': next_mark(view); break;
    case 'y':
        screen_copy(graph_name(&view->graph, view->cursor));
        snprintf(view->message, sizeof view->message, "copied: %.200s",
                 graph_name(&view->graph, view->cursor));
        break;
    case 'h':
    case '?':
    case KEY_F(1): screen_show(view->screen, "Keys", help); break;
    case 'q':
    case 27: return zoom_out(view);
    default: break;
    }
    return true;
}

/* ---- the view ---- */

/* The event that has this name, else the one that weighs something. */
static uint32_t first_event(const perfdata_profile *profile, const char *name)
{
    uint32_t found = 0, count = perfdata_profile_event_count(profile);
    for (uint32_t i = count; i-- > 0;) {
        const struct perfdata_profile_event *event = perfdata_profile_event(profile, i);
        if (event->samples)
            found = i;
    }
    for (uint32_t i = 0; i < count && name; i++)
        if (perfdata_profile_event(profile, i)->samples &&
            !strcmp(perfdata_profile_event(profile, i)->name, name))
            return i;
    return found;
}

static void run_view(struct view *view)
{
    for (bool goes_on = true; goes_on;) {
        draw(view);
        int key = screen_key(view->screen);
        if (key == SCREEN_ENDED)
            return;
        if (key != SCREEN_WOKEN)
            goes_on = take_key(view, key);
    }
}

perfdata_status flame_show(struct screen *screen, struct tool *tool, const char *name,
                           const struct perfdata_profile_options *options, const char *event,
                           char *message, size_t size)
{
    struct view view = { .screen = screen };
    perfdata_profile *profile = NULL;
    perfdata_status status = graph_read(screen, tool, name, options, &profile, message, size);
    if (!profile)
        return status;
    if (!perfdata_profile_sample_count(profile)) {
        snprintf(message, size, "%s has no samples", name);
        perfdata_profile_free(profile);
        return PERFDATA_ERROR_NO_DATA;
    }
    if (screen->colors)
        make_pairs();
    view.graph.profile = profile;
    view.event = first_event(profile, event);
    remake(&view);
    if (view.graph.count)
        run_view(&view);
    free(view.cells);
    graph_free(&view.graph);
    perfdata_profile_free(profile);
    return PERFDATA_OK;
}

enum tool_exit tool_tui_flame(struct tool *tool, const char *name,
                              const struct perfdata_profile_options *options)
{
    struct screen screen;
    char message[512] = "";
    if (!screen_begin(&screen, tool))
        return tool_usage(tool, "this terminal can't show the graph: -o FILE writes the page");
    perfdata_status status = flame_show(&screen, tool, name, options, NULL, message,
                                        sizeof message);
    int number = screen_signal();
    screen_end(&screen);
    if (number && number != SIGINT) {
        signal(number, SIG_DFL);
        raise(number);
    }
    return status < 0 && status != PERFDATA_ERROR_CANCELLED
               ? tool_failure(tool, status, NULL, message)
               : TOOL_DONE;
}
