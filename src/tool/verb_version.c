/* SPDX-License-Identifier: MIT */
/* version: of perfdata, and of the perf whose text it prints. */
#include "tool/view/serve.h"
#include "tool/tui/tui.h"
#include "tool/verbs.h"

void tool_version(struct tool *tool)
{
    if (tool->as_perf)
        tool_puts(tool, "perf version 6.1.192\n");
    else
        tool_puts(tool, "perfdata " PERFDATA_VERSION " (prints the text of perf 6.1.192)\n");
}

#ifdef PD_HAVE_SQLITE
#define HAS_SQLITE true
#else
#define HAS_SQLITE false
#endif

#ifdef PD_HAVE_DEBUGINFOD
#define HAS_DEBUGINFOD true
#else
#define HAS_DEBUGINFOD false
#endif

void tool_build_options(struct tool *tool)
{
    /* perf's words where they mean this program too: scripts look for them. */
    const struct {
        const char *name, *macro;
        bool on;
    } rows[] = {
        { "dwarf", "HAVE_DWARF_SUPPORT", true },
        { "dwarf_getlocations", "HAVE_DWARF_GETLOCATIONS_SUPPORT", true },
        { "libbfd", "HAVE_LIBBFD_SUPPORT", false },
        { "debuginfod", "HAVE_DEBUGINFOD_SUPPORT", HAS_DEBUGINFOD },
        { "libelf", "HAVE_LIBELF_SUPPORT", true },
        { "libnuma", "HAVE_LIBNUMA_SUPPORT", false },
        { "libperl", "HAVE_LIBPERL_SUPPORT", false },
        { "libpython", "HAVE_LIBPYTHON_SUPPORT", false },
        { "libslang", "HAVE_SLANG_SUPPORT", false },
        { "libcrypto", "HAVE_LIBCRYPTO_SUPPORT", false },
        { "libunwind", "HAVE_LIBUNWIND_SUPPORT", false },
        { "libdw-dwarf-unwind", "HAVE_DWARF_SUPPORT", true },
        { "zlib", "HAVE_ZLIB_SUPPORT", true },
        { "lzma", "HAVE_LZMA_SUPPORT", true },
        { "get_cpuid", "HAVE_AUXTRACE_SUPPORT", true },
        { "bpf", "HAVE_LIBBPF_SUPPORT", false },
        { "zstd", "HAVE_ZSTD_SUPPORT", true },
        { "libpfm4", "HAVE_LIBPFM", false },
        { "libtraceevent", "HAVE_LIBTRACEEVENT", true },
        { "sqlite", "PD_HAVE_SQLITE", HAS_SQLITE },
        { "libmicrohttpd", "-Dview", serve_built() },
        { "ncursesw", "-Dtui", tool_tui_built() },
    };
    tool_version(tool);
    for (size_t i = 0; i < TOOL_LENGTH(rows); i++)
        tool_printf(tool, "%22s: [ %s ]  # %s\n", rows[i].name, rows[i].on ? "on " : "OFF",
                    rows[i].macro);
}

struct version_options {
    int build;
};
#define FIELD(name) offsetof(struct version_options, name)

static enum tool_exit run_version(struct tool *tool, void *data, int argc, char **argv)
{
    const struct version_options *options = data;
    if (argc)
        return tool_usage(tool, "version takes no argument: '%s'", argv[0]);
    if (options->build)
        tool_build_options(tool);
    else
        tool_version(tool);
    return TOOL_DONE;
}

static const struct tool_option version_rows[] = {
    { TOOL_FLAG, 0, "build-options", NULL, "also which libraries and features are built in",
      FIELD(build) },
    { 0 },
};

const struct tool_verb tool_verb_version = {
    .name = "version",
    .synopsis = "[--build-options]",
    .description = "Prints the version of perfdata and that of the perf whose text it prints.",
    .examples = { "version", "the version in one line", "version --build-options",
                  "what it was built with" },
    .options = version_rows,
    .options_size = sizeof(struct version_options),
    .run = run_version,
    .flags = TOOL_VERB_UNPAGED,
};
