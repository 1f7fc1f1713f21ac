/* SPDX-License-Identifier: MIT */
/* The build-id cache that the options name, and the objects of a recording line by line. */
#include "tool/make/object_lines.h"
#include <stdlib.h>
#include <string.h>

perfdata_status tool_open_cache(struct tool *tool, perfdata_build_id_cache **out)
{
    const struct perfdata_build_id_cache_options where = {
        .struct_size = sizeof where,
        .dir = tool->build_id_dir,
        .home = getenv("HOME"),
        .perf_config = getenv("PERF_CONFIG"),
        .debuginfod = tool_debuginfod(),
        .on_issue = tool_on_issue,
        .issue_data = tool,
    };
    return perfdata_build_id_cache_open(&where, out);
}

enum tool_exit tool_no_cache(struct tool *tool, perfdata_status status)
{
    const char *why = "no directory: neither --buildid-dir nor buildid.dir nor HOME";
    if (status == PERFDATA_ERROR_MEMORY)
        why = NULL;
    else if (status == PERFDATA_ERROR_UNSUPPORTED)
        why = "nothing can be fetched";
    return tool_failure(tool, status, "build-id cache", why);
}

/* "ID NAME"; spaces stand for an id that is not there. */
int tool_object_lines(const char *text, size_t size, tool_object_fn each, void *data)
{
    int result = 0;
    for (const char *line = text, *end; !result && line < text + size; line = end) {
        char id[PERFDATA_BUILD_ID_TEXT] = "";
        const char *newline = memchr(line, '\n', (size_t)(text + size - line));
        end = newline ? newline + 1 : text + size;
        const char *space = memchr(line, ' ', (size_t)(end - line));
        if (space && (size_t)(space - line) < sizeof id)
            memcpy(id, line, (size_t)(space - line));
        result = each(data, id, line, (size_t)(end - line));
    }
    return result;
}
