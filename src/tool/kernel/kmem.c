/* SPDX-License-Identifier: MIT */
/* kmem: memory the kernel took and gave back. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <perfdata/config.h>
#include <perfdata/kmem.h>
#include <stdlib.h>
#include <string.h>

struct kmem_options {
    struct perfdata_kmem_options to; /* its strings are the command line's */
    int callers, allocations, raw_ip;
    bool slab;           /* --slab, whatever kmem.default says */
    bool last_is_caller; /* -l and -s are of the table that was asked for last */
};
#define FIELD(name) offsetof(struct kmem_options, name)

static enum tool_exit parse_callers(struct tool *tool, void *data, const char *value, bool unset)
{
    struct kmem_options *options = data;
    (void)tool, (void)value;
    options->callers = options->last_is_caller = !unset;
    return TOOL_DONE;
}

static enum tool_exit parse_allocations(struct tool *tool, void *data, const char *value,
                                        bool unset)
{
    struct kmem_options *options = data;
    (void)tool, (void)value;
    options->allocations = !unset;
    options->last_is_caller = false;
    return TOOL_DONE;
}

static enum tool_exit parse_lines(struct tool *tool, void *data, const char *value, bool unset)
{
    struct kmem_options *options = data;
    char *end = NULL;
    long lines = unset ? -1 : strtol(value, &end, 10);
    if (!unset && (end == value || *end || lines < 0 || lines > INT32_MAX))
        return tool_usage(tool, "option --line needs a number, not '%s'", value);
    *(options->last_is_caller ? &options->to.caller_lines
                              : &options->to.allocation_lines) = (int32_t)lines;
    return TOOL_DONE;
}

static enum tool_exit parse_sort(struct tool *tool, void *data, const char *value, bool unset)
{
    struct kmem_options *options = data;
    (void)tool;
    *(options->last_is_caller ? &options->to.caller_sort
                              : &options->to.allocation_sort) = unset ? NULL : value;
    return TOOL_DONE;
}

static enum tool_exit parse_slab(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)value;
    ((struct kmem_options *)data)->slab = true;
    return unset ? tool_refuse(tool, "--no-slab") : TOOL_DONE;
}

static const struct tool_option kmem_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_READING,
    TOOL_ROW_VERBOSE,
    TOOL_ROWS_SYMBOLS(to.search.),
    { TOOL_GROUP, .help = "Output" },
    { TOOL_CALLBACK, 0, "caller", NULL, "a table of call sites", .parse = parse_callers,
      .flags = TOOL_NO_VALUE },
    { TOOL_CALLBACK, 0, "alloc", NULL, "a table of what was allocated", .parse = parse_allocations,
      .flags = TOOL_NO_VALUE },
    { TOOL_CALLBACK, 's', "sort", "KEY[,...]",
      "of the table asked for before it: frag, hit, bytes, pingpong, ptr, callsite; largest first",
      .parse = parse_sort },
    { TOOL_CALLBACK, 'l', "line", "N", "lines at most of the table asked for before it",
      .parse = parse_lines },
    { TOOL_FLAG, 0, "raw-ip", NULL, "call sites as addresses", FIELD(raw_ip) },
    { TOOL_CALLBACK, 0, "slab", NULL, "the slab allocator (always)", .parse = parse_slab,
      .flags = TOOL_NO_VALUE },
    { TOOL_GROUP, .help = "Which events" },
    { TOOL_STRING, 0, "time", "SPAN", "START,STOP in seconds; either may be missing",
      FIELD(to.time) },
    { 0 },
};

static void set_defaults(void *data)
{
    struct kmem_options *options = data;
    options->to.caller_lines = options->to.allocation_lines = -1;
}

static int take_setting(void *data, const char *key, const char *value)
{
    bool *pages = data;
    if (!strcmp(key, "kmem.default") && (!strcmp(value, "page") || !strcmp(value, "slab")))
        *pages = *value == 'p';
    return 0;
}

static enum tool_exit print(struct tool *tool, const struct kmem_options *from, int argc,
                            char **argv)
{
    struct perfdata_kmem_options options = from->to;
    options.struct_size = sizeof options;
    options.flags = (from->callers ? PERFDATA_KMEM_CALLERS : 0) |
                    (from->allocations ? PERFDATA_KMEM_ALLOCATIONS : 0) |
                    (from->raw_ip ? PERFDATA_KMEM_RAW_IP : 0);
    options.search = tool_search(tool, options.search);
    bool pages = false;
    if (perfdata_settings(getenv("PERF_CONFIG"), getenv("HOME"), take_setting, &pages) < 0)
        return tool_failure(tool, PERFDATA_ERROR_MEMORY, NULL, NULL);
    if (pages && !from->slab)
        return tool_refuse(tool, "--page, as kmem.default says,");
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    return tool_close(tool, recording,
                      perfdata_kmem_run(recording, &options, tool_write_text, tool));
}

/* perf reads no option behind its verb, and says nothing of it; under our own name they count. */
static enum tool_exit run_kmem(struct tool *tool, void *data, int argc, char **argv)
{
    struct kmem_options *options = data;
    bool help = false;
    if (!argc || strncmp(argv[0], "stat", strlen(argv[0])) != 0 || !argv[0][0])
        return tool_usage(tool, argc && !strncmp(argv[0], "rec", 3)
                                    ? "record -e 'kmem:*' records what stat needs"
                                    : "kmem has the verb stat");
    if (tool->as_perf) {
        if (argc > 1)
            tool_error(tool, "what stands behind stat is not read, as with perf: put it before");
        return print(tool, options, 0, argv + argc);
    }
    argc--;
    enum tool_exit code = tool_parse(tool, &tool_verb_kmem, options, &argc, argv + 1, &help);
    if (code != TOOL_DONE)
        return code;
    if (help) {
        if (!tool->listed)
            tool_help_verb(tool, &tool_verb_kmem);
        return TOOL_DONE;
    }
    return print(tool, options, argc, argv + 1);
}

const struct tool_verb tool_verb_kmem = {
    .name = "kmem",
    .synopsis = "[OPTIONS] stat [OPTIONS] [FILE]",
    .description =
        "Shows what the kernel's slab allocator gave and took back, from the tracepoints "
        "kmem:kmalloc,\nkmem_cache_alloc, kfree and kmem_cache_free of a recording.",
    .examples = { "kmem --caller -l 10 -i perf.data stat", "the ten call sites that waste most",
                  "kmem --alloc -s bytes -i perf.data stat", "allocations, largest first" },
    .options = kmem_rows,
    .options_size = sizeof(struct kmem_options),
    .defaults = set_defaults,
    .run = run_kmem,
    .flags = TOOL_VERB_PERF | TOOL_VERB_STOP,
};
