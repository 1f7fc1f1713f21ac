/* SPDX-License-Identifier: MIT */
/* What buildid-cache and archive share: the cache that the options name, and the objects of a
 * recording. */
#ifndef PERFDATA_TOOL_OBJECT_LINES_H
#define PERFDATA_TOOL_OBJECT_LINES_H
#include "tool/tool.h"
#include <perfdata/build_id_cache.h>

/* The cache of --buildid-dir, of the setting buildid.dir, or HOME/.debug. */
perfdata_status tool_open_cache(struct tool *tool, perfdata_build_id_cache **out);
/* Tells why the cache could not be opened. */
enum tool_exit tool_no_cache(struct tool *tool, perfdata_status status);

/* One line of perfdata_build_ids_print(); `id` is "" where the object has none. A result other than
 * 0 ends the walk. */
typedef int (*tool_object_fn)(void *data, const char *id, const char *line, size_t size);
/* Calls `each` for every whole line of a text; the first result other than 0. */
int tool_object_lines(const char *text, size_t size, tool_object_fn each, void *data);

#endif
