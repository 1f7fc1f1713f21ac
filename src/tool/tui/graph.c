/* SPDX-License-Identifier: MIT */
/* A profile read beside its screen, and its call tree with widths. */
#include "tool/tui/graph.h"
#include "tool/profile.h"
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

struct reading {
    struct screen *screen;
    struct tool *tool;
    const char *name;
    struct perfdata_profile_options options;
    pthread_mutex_t lock; /* for all below */
    bool quit, done;
    struct perfdata_progress at;
    perfdata_profile *profile;
    perfdata_status status;
    char message[512];
};

static int on_progress(void *data, const struct perfdata_progress *at)
{
    struct reading *reading = data;
    pthread_mutex_lock(&reading->lock);
    bool quit = reading->quit;
    reading->at = *at;
    pthread_mutex_unlock(&reading->lock);
    screen_wake(reading->screen);
    return quit ? -1 : 0;
}

static void *read_profile(void *data)
{
    struct reading *reading = data;
    struct perfdata_options open = PERFDATA_OPTIONS_INIT;
    perfdata_recording *recording;
    perfdata_profile *profile = NULL;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL); /* signals are the screen's */
    open.on_progress = on_progress;
    open.progress_data = reading;
    open.threads = reading->tool->jobs;
    open.max_memory = reading->tool->reading.memory;
    perfdata_status status = perfdata_recording_open(reading->name, &open, &recording);
    if (status == PERFDATA_OK)
        status = perfdata_profile_build(recording, &reading->options, &profile);
    pthread_mutex_lock(&reading->lock);
    if (status < 0)
        snprintf(reading->message, sizeof reading->message, "%s",
                 perfdata_recording_error(recording, NULL));
    reading->profile = profile;
    reading->status = status;
    reading->done = true;
    pthread_mutex_unlock(&reading->lock);
    perfdata_recording_close(recording);
    screen_wake(reading->screen);
    return NULL;
}

static bool is_done(struct reading *reading, struct perfdata_progress *at)
{
    pthread_mutex_lock(&reading->lock);
    bool done = reading->done;
    *at = reading->at;
    pthread_mutex_unlock(&reading->lock);
    return done;
}

static void wait_for(struct reading *reading)
{
    char line[256];
    struct perfdata_progress at;
    while (!is_done(reading, &at)) {
        erase();
        snprintf(line, sizeof line, "reading: %.0f %%, %" PRIu64 " records; q: give up",
                 tool_share(&at) * 100, at.records);
        screen_text(reading->screen, 0, 0, COLS, line, screen_title(reading->screen));
        refresh();
        int key = screen_key(reading->screen);
        if (key == 'q' || key == 27 || key == SCREEN_ENDED) {
            pthread_mutex_lock(&reading->lock);
            reading->quit = true;
            pthread_mutex_unlock(&reading->lock);
            return; /* the thread ends at its next look */
        }
    }
}

perfdata_status graph_read(struct screen *screen, struct tool *tool, const char *name,
                           const struct perfdata_profile_options *options, perfdata_profile **out,
                           char *message, size_t size)
{
    struct tool_profile defaults = { 0 };
    struct reading reading = { .screen = screen, .tool = tool, .name = name };
    pthread_t thread;
    *out = NULL;
    tool_profile_defaults(&defaults);
    reading.options = options ? *options : tool_profile_options(tool, &defaults, 0);
    pthread_mutex_init(&reading.lock, NULL);
    if (pthread_create(&thread, NULL, read_profile, &reading)) {
        snprintf(message, size, "no thread to read with");
        return PERFDATA_ERROR_MEMORY;
    }
    wait_for(&reading);
    pthread_join(thread, NULL);
    pthread_mutex_destroy(&reading.lock);
    snprintf(message, size, "%s", reading.message);
    if (reading.quit) {
        perfdata_profile_free(reading.profile);
        return PERFDATA_ERROR_CANCELLED;
    }
    *out = reading.profile;
    return reading.status;
}

/* ---- the tree ---- */

void graph_free(struct graph *graph)
{
    free(graph->nodes);
    graph->nodes = NULL;
    graph->count = 0;
}

static const struct perfdata_profile_function *function_of(const struct graph *graph, uint32_t node)
{
    return node ? perfdata_profile_function(graph->profile, graph->nodes[node].function) : NULL;
}

const char *graph_name(const struct graph *graph, uint32_t node)
{
    const struct perfdata_profile_function *function = function_of(graph, node);
    return function ? function->name : "all";
}

const char *graph_object(const struct graph *graph, uint32_t node)
{
    const struct perfdata_profile_function *function = function_of(graph, node);
    const struct perfdata_profile_object *object = function && function->object != PERFDATA_NONE
                                                       ? perfdata_profile_object(graph->profile,
                                                                                 function->object)
                                                       : NULL;
    return object ? object->name : "";
}

const char *graph_event(const struct graph *graph, uint32_t event)
{
    const struct perfdata_profile_event *found = perfdata_profile_event(graph->profile, event);
    return found ? found->name : "";
}

struct heavy {
    uint64_t weight;
    uint32_t node;
};

static int compare_heavy(const void *a, const void *b)
{
    const struct heavy *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Light nodes first, so that each, put before its siblings, ends up where it belongs. */
static bool link_children(struct graph *graph)
{
    struct heavy *order = malloc((size_t)graph->count * sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < graph->count; i++)
        order[i] = (struct heavy){ graph->nodes[i].weight, i };
    qsort(order, graph->count, sizeof *order, compare_heavy);
    for (uint32_t i = graph->count; i-- > 0;) {
        uint32_t node = order[i].node;
        if (!node)
            continue;
        struct graph_node *at = &graph->nodes[node], *above = &graph->nodes[at->parent];
        at->next = above->child;
        if (at->next != GRAPH_NONE)
            graph->nodes[at->next].previous = node;
        above->child = node;
    }
    free(order);
    return true;
}

/* Parents stand before their children, so one pass does it; siblings are reached through their
 * parent. */
static void set_places(struct graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++) {
        uint64_t offset = graph->nodes[i].offset;
        for (uint32_t at = graph->nodes[i].child; at != GRAPH_NONE; at = graph->nodes[at].next) {
            graph->nodes[at].offset = offset;
            graph->nodes[at].depth = graph->nodes[i].depth + 1;
            offset += graph->nodes[at].weight;
        }
    }
}

static void take_node(struct graph *graph, const struct perfdata_node *from, bool counts)
{
    const struct perfdata_profile_function *function = perfdata_profile_function(graph->profile,
                                                                                 from->key);
    struct graph_node *node = &graph->nodes[graph->count++];
    *node = (struct graph_node){ .parent = from->parent == PERFDATA_NONE ? 0 : from->parent + 1,
                                 .child = GRAPH_NONE,
                                 .next = GRAPH_NONE,
                                 .previous = GRAPH_NONE,
                                 .function = from->key,
                                 .weight = counts ? from->total_count : from->total_weight,
                                 .flags = function ? function->flags : 0,
                                 .hue = function ? (uint32_t)(function->hash >> 7) : 0 };
    if (!node->parent)
        graph->nodes[0].weight += node->weight;
}

bool graph_make(struct graph *graph, uint32_t event, bool callers, bool counts)
{
    struct perfdata_query query = PERFDATA_QUERY_INIT;
    struct perfdata_node *nodes;
    size_t count;
    graph_free(graph);
    query.event = event;
    query.flags = callers ? PERFDATA_QUERY_CALLERS : 0;
    if (perfdata_profile_tree(graph->profile, &query, &nodes, &count) < 0)
        return false;
    graph->nodes = count < UINT32_MAX - 1 ? calloc(count + 1, sizeof *graph->nodes) : NULL;
    if (graph->nodes) {
        graph->nodes[0] = (struct graph_node){ .child = GRAPH_NONE,
                                               .next = GRAPH_NONE,
                                               .previous = GRAPH_NONE };
        graph->count = 1;
        for (size_t i = 0; i < count; i++)
            take_node(graph, &nodes[i], counts);
    }
    perfdata_rows_free(nodes);
    if (!graph->nodes || !link_children(graph)) {
        graph_free(graph);
        return false;
    }
    set_places(graph);
    return true;
}

/* ---- walking ---- */

uint64_t graph_mark(struct graph *graph, const char *text)
{
    uint64_t weight = 0;
    /* What is below a marked frame is counted with it. Parents come first, so `above` of a parent
     * is set. */
    bool *above = calloc(graph->count + 1, sizeof *above);
    for (uint32_t i = 1; i < graph->count; i++) {
        struct graph_node *node = &graph->nodes[i];
        node->marked = *text && strstr(graph_name(graph, i), text);
        if (!above)
            continue;
        above[i] = above[node->parent] || graph->nodes[node->parent].marked;
        if (node->marked && !above[i])
            weight += node->weight;
    }
    free(above);
    return weight;
}

bool graph_is_below(const struct graph *graph, uint32_t node, uint32_t above)
{
    while (node && node != above)
        node = graph->nodes[node].parent;
    return node == above;
}

uint32_t graph_beside(const struct graph *graph, uint32_t node, int step)
{
    uint32_t depth = graph->nodes[node].depth, at = node;
    /* Up to where there is a neighbour, then down its side. */
    while (at && (step > 0 ? graph->nodes[at].next : graph->nodes[at].previous) == GRAPH_NONE)
        at = graph->nodes[at].parent;
    if (!at)
        return GRAPH_NONE;
    at = step > 0 ? graph->nodes[at].next : graph->nodes[at].previous;
    while (graph->nodes[at].depth < depth && graph->nodes[at].child != GRAPH_NONE)
        at = graph->nodes[at].child;
    return at;
}

uint32_t graph_after(const struct graph *graph, uint32_t node, uint32_t root, double columns)
{
    uint32_t at = graph->nodes[node].child;
    /* Siblings become lighter: behind one that is too narrow all are. */
    if (at != GRAPH_NONE && (double)graph->nodes[at].weight * columns >= 0.5)
        return at;
    for (at = node; at != root; at = graph->nodes[at].parent) {
        uint32_t next = graph->nodes[at].next;
        if (next != GRAPH_NONE && (double)graph->nodes[next].weight * columns >= 0.5)
            return next;
    }
    return GRAPH_NONE;
}
