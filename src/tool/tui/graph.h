/* SPDX-License-Identifier: MIT */
/* The call tree of a profile as a flame graph: frames with their widths and neighbours. */
#ifndef PERFDATA_TUI_GRAPH_H
#define PERFDATA_TUI_GRAPH_H
#include "tool/tui/screen.h"
#include <perfdata/profile.h>

#define GRAPH_NONE UINT32_MAX

/* Node 0 is all. Callees are the heaviest first. */
struct graph_node {
    uint32_t parent, child, next, previous; /* nodes, GRAPH_NONE: none; siblings */
    uint32_t depth, function;
    uint64_t weight, offset; /* offset: of its left side */
    uint32_t flags, hue;     /* of its function */
    bool marked;
};

struct graph {
    const perfdata_profile *profile;
    struct graph_node *nodes;
    uint32_t count;
};

/* Reads a recording while a line tells how far it is; *out NULL: it failed (`message`), or the user
 * gave up (CANCELLED). */
perfdata_status graph_read(struct screen *screen, struct tool *tool, const char *name,
                           const struct perfdata_profile_options *options, perfdata_profile **out,
                           char *message, size_t size);
/* Makes the nodes anew. False without memory: there are none then. */
bool graph_make(struct graph *graph, uint32_t event, bool callers, bool counts);
void graph_free(struct graph *graph);

const char *graph_name(const struct graph *graph, uint32_t node);
const char *graph_object(const struct graph *graph, uint32_t node);
const char *graph_event(const struct graph *graph, uint32_t event);
/* Marks functions whose names hold the text; returns the weight of all stacks with any of them. */
uint64_t graph_mark(struct graph *graph, const char *text);
bool graph_is_below(const struct graph *graph, uint32_t node, uint32_t above);
/* The frame on the same level that stands next to it on that side, or GRAPH_NONE. */
uint32_t graph_beside(const struct graph *graph, uint32_t node, int step);
/* The node behind `node` in the order of the tree below `root`, without those narrower than half a
 * column; GRAPH_NONE: the end. */
uint32_t graph_after(const struct graph *graph, uint32_t node, uint32_t root, double columns);

#endif
