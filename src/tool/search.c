/* SPDX-License-Identifier: MIT */
/* Where all verbs look for symbols; and --debuginfod: a line on a terminal for the file that is
 * being fetched, and an interrupt that ends fetching. */
#include "tool/options.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE_MAX = 24 * 60 * 60 };

static struct {
    struct tool *tool; /* NULL: nothing is fetched */
    struct perfdata_debuginfod how;
    const char *what; /* the file that comes, and since when */
    char id[64];
    uint64_t begin;
} fetching;

/* libdebuginfod knows servers by this variable alone. No thread runs yet. */
enum tool_exit tool_parse_debuginfod(struct tool *tool, void *options, const char *value,
                                     bool unset)
{
    (void)options;
    fetching.tool = unset ? NULL : tool;
    if (value && value[0] && setenv("DEBUGINFOD_URLS", value, 1))
        return tool_failure(tool, PERFDATA_ERROR_MEMORY, NULL, NULL);
    return TOOL_DONE;
}

static int on_progress(void *data, const char *what, const char *build_id, uint64_t bytes,
                       uint64_t total)
{
    enum { MIB = 1024 * 1024 };
    struct tool *tool = data;
    char line[160], of[32] = "";
    if (tool_interrupted())
        return 1;
    if (what != fetching.what || strcmp(build_id, fetching.id) != 0) {
        fetching.what = what;
        snprintf(fetching.id, sizeof fetching.id, "%s", build_id);
        fetching.begin = tool_milliseconds();
    }
    if (total)
        snprintf(of, sizeof of, " of %.1f", (double)total / MIB);
    snprintf(line, sizeof line, "%s: %s of %.12s: %.1f%s MiB", tool->verb, what, build_id,
             (double)bytes / MIB, of);
    tool_progress_line(tool, fetching.begin, line);
    return 0;
}

static void on_end(void *data, uint64_t asked, uint64_t not_there)
{
    struct tool *tool = data;
    if (!tool->as_perf && not_there)
        tool_error(tool, "debuginfod: no server has %" PRIu64 " of %" PRIu64 " files", not_there,
                   asked);
}

const struct perfdata_debuginfod *tool_debuginfod(void)
{
    const char *patience = getenv("DEBUGINFOD_TIMEOUT");
    long given = patience ? strtol(patience, NULL, 10) : 0;
    if (!fetching.tool)
        return NULL;
    fetching.how = (struct perfdata_debuginfod){
        .struct_size = sizeof fetching.how,
        .patience = given > 0 && given < PATIENCE_MAX ? (uint32_t)given : 0,
        .on_progress = on_progress,
        .on_end = on_end,
        .data = fetching.tool,
    };
    return &fetching.how;
}

struct perfdata_symbol_search tool_search(const struct tool *tool,
                                          struct perfdata_symbol_search own)
{
    own.build_id_dir = tool->build_id_dir;
    own.index_dir = tool_index_dir(tool);
    own.home = getenv("HOME");
    own.debuginfod = tool_debuginfod();
    return own;
}
