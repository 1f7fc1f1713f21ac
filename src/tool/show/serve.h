/* SPDX-License-Identifier: MIT */
/* One page, served to this machine until a signal ends it. */
#ifndef PERFDATA_TOOL_SERVE_H
#define PERFDATA_TOOL_SERVE_H
#include "tool/tool.h"

struct serve_page {
    char *text;
    size_t length, capacity;
};

/* Whether this build can serve at all. */
bool serve_built(void);
/* Comes before serve(). NULL, or why nothing can be served. */
const char *serve_load(void);
/* `port` 0: a free one. */
enum tool_exit serve(struct tool *tool, const struct serve_page *page, uint16_t port);

#endif
