/* SPDX-License-Identifier: MIT */
/* annotate: the code of functions with the samples on each instruction. */
#include "tool/input.h"
#include "tool/options.h"
#include "tool/tui/tui.h"
#include "tool/verbs.h"
#include <perfdata/annotate.h>
#include <perfdata/report.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct annotate_options {
    int tui;
    int stdio, browser, source_lines, full_paths, samples, total_period, group, source, raw,
        skip_missing;
    int quiet, verbose, modules, demangle, demangle_kernel, ignore_vmlinux, dump;
    const char *symbol, *dsos, *cpus, *percent_limit, *percent_type;
    const char *objdump, *style, *prefix, *prefix_strip;
    const char *symfs, *kallsyms, *vmlinux, *jitdump;
};

#define FIELD(name) offsetof(struct annotate_options, name)

static const struct tool_option annotate_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_SYMBOLS(),
    { TOOL_FLAG, 0, "ignore-vmlinux", NULL, "kernel image is never read", FIELD(ignore_vmlinux) },
    { TOOL_FLAG, 'm', "modules", NULL, "symbols of kernel modules (on)", FIELD(modules) },
    TOOL_ROWS_READING,
    TOOL_ROW_ITRACE,
    { TOOL_GROUP, .help = "Which functions and samples" },
    { TOOL_STRING, 's', "symbol", "SYMBOL", "this function only", FIELD(symbol) },
    { TOOL_STRING, 'd', "dsos", "DSO[,...]", "keep these objects only", FIELD(dsos) },
    { TOOL_STRING, 'C', "cpu", "CPUS", "keep these CPUs only", FIELD(cpus) },
    { TOOL_STRING, 0, "percent-limit", "PERCENT", "leave out functions below",
      FIELD(percent_limit) },
    { TOOL_FLAG, 0, "skip-missing", NULL,
      "say nothing of functions whose code is not found (called as perf it is told all the same)",
      FIELD(skip_missing) },
    { TOOL_GROUP, .help = "Text" },
    { TOOL_FLAG, 0, "stdio", NULL, "plain text on a terminal, too", FIELD(stdio) },
    { TOOL_FLAG, 0, "tui", NULL, "code to walk through (on a terminal, unless --stdio is given)",
      FIELD(tui) },
    { TOOL_FLAG, 0, "stdio2", NULL,
      "as perf's browser shows code: offsets, arrows, names in place of addresses (x86)",
      FIELD(browser) },
    { TOOL_FLAG, 'l', "print-line", NULL, "before each function its hottest source lines",
      FIELD(source_lines) },
    { TOOL_FLAG, 'P', "full-paths", NULL, "objects and source files with their folders",
      FIELD(full_paths) },
    { TOOL_FLAG, 'n', "show-nr-samples", NULL, "numbers of samples in place of percentages",
      FIELD(samples) },
    { TOOL_FLAG, 0, "show-total-period", NULL, "sums of periods in place of percentages",
      FIELD(total_period) },
    { TOOL_STRING, 0, "percent-type", "TYPE", "local or global, -period or -hits: local-period",
      FIELD(percent_type) },
    { TOOL_FLAG, 0, "group", NULL, "events side by side (on for groups as recorded)",
      FIELD(group) },
    { TOOL_FLAG, 'q', "quiet", NULL, "no warnings", FIELD(quiet) },
    { TOOL_COUNT, 'v', "verbose", NULL, "samples by address; C++ parameters", FIELD(verbose) },
    { TOOL_GROUP, .help = "Code" },
    { TOOL_FLAG, 0, "source", NULL, "source between the instructions (on)", FIELD(source) },
    { TOOL_FLAG, 0, "asm-raw", NULL, "instructions with their bytes", FIELD(raw) },
    { TOOL_STRING, 0, "objdump", "PATH", "the objdump that is run", FIELD(objdump) },
    { TOOL_STRING, 'M', "disassembler-style", "STYLE", "objdump's -M", FIELD(style) },
    { TOOL_STRING, 0, "prefix", "PREFIX", "put before source files' paths", FIELD(prefix) },
    { TOOL_STRING, 0, "prefix-strip", "N", "folders that --prefix takes off those paths",
      FIELD(prefix_strip) },
    { TOOL_FLAG, 0, "demangle", NULL, "demangle C++, Rust, D and Java names (on)",
      FIELD(demangle) },
    { TOOL_FLAG, 0, "demangle-kernel", NULL, "demangle kernel names as well",
      FIELD(demangle_kernel) },
    { TOOL_GROUP, .help = "Instead of functions" },
    { TOOL_FLAG, 'D', "dump-raw-trace", NULL, "every record as hex and text", FIELD(dump) },
    { 0 },
};

static void annotate_defaults(void *data)
{
    struct annotate_options *options = data;
    options->source = options->modules = 1;
    options->demangle = -1;
    options->group = -1;
}

static uint64_t flags_of(const struct tool *tool, const struct annotate_options *from)
{
    const struct tool_flag rows[] = {
        { from->samples, PERFDATA_ANNOTATE_SAMPLES },
        { from->total_period, PERFDATA_ANNOTATE_TOTAL_PERIOD },
        { from->group == 1, PERFDATA_ANNOTATE_GROUP },
        { from->group == 0, PERFDATA_ANNOTATE_NO_GROUP },
        { !from->source, PERFDATA_ANNOTATE_NO_SOURCE },
        { from->raw, PERFDATA_ANNOTATE_RAW },
        { from->source_lines, PERFDATA_ANNOTATE_SOURCE_LINES },
        { from->full_paths, PERFDATA_ANNOTATE_FULL_PATHS },
        { from->skip_missing, PERFDATA_ANNOTATE_SKIP_MISSING },
        { from->demangle == 0, PERFDATA_ANNOTATE_NO_DEMANGLE },
        { from->demangle == 1, PERFDATA_ANNOTATE_DEMANGLE },
        { from->demangle_kernel, PERFDATA_ANNOTATE_DEMANGLE_KERNEL },
        { from->ignore_vmlinux, PERFDATA_ANNOTATE_IGNORE_VMLINUX },
        { tool->reading.force, PERFDATA_ANNOTATE_FORCE },
        { tool->no_itrace, PERFDATA_ANNOTATE_NO_ITRACE },
        { from->browser, PERFDATA_ANNOTATE_BROWSER },
        { from->verbose > 0 && !from->quiet, PERFDATA_ANNOTATE_VERBOSE },
    };
    return tool_flags(rows, TOOL_LENGTH(rows));
}

static struct perfdata_symbol_search search_of(const struct tool *tool,
                                               const struct annotate_options *from)
{
    return tool_search(tool, (struct perfdata_symbol_search){ TOOL_WHERE_SYMBOLS(from) });
}

static enum tool_exit run_dump(struct tool *tool, const struct annotate_options *from,
                               perfdata_recording *recording)
{
    struct perfdata_report_options options = tool_dump_options(tool, search_of(tool, from));
    options.itrace = tool->itrace;
    options.itrace_count = tool->itrace_count;
    struct perfdata_report_result result = { .struct_size = sizeof result };
    perfdata_status status = perfdata_report_run(recording, &options, tool_write_text, tool,
                                                 &result);
    return tool_close_run(tool, recording, status, result.perf_exit);
}

static struct perfdata_annotate_options library_options(const struct tool *tool,
                                                        const struct annotate_options *from)
{
    return (struct perfdata_annotate_options){
        .struct_size = sizeof(struct perfdata_annotate_options),
        .flags = flags_of(tool, from),
        .threads = tool->jobs,
        .symbol = from->symbol,
        .cpus = from->cpus,
        .dsos = from->dsos,
        .percent_limit = from->percent_limit,
        .percent_type = from->percent_type,
        .objdump = from->objdump,
        .style = from->style,
        .prefix = from->prefix,
        .prefix_strip = from->prefix_strip,
        .search = search_of(tool, from),
        .itrace = tool->itrace,
        .itrace_count = tool->itrace_count,
        .perf_config = getenv("PERF_CONFIG"),
    };
}

/* What the view reads must be a file. */
static bool is_interactive(const struct tool *tool, const struct annotate_options *from,
                           const char *name)
{
    bool printed = from->stdio || from->browser || from->dump || from->quiet;
    struct stat info;
    return !printed && tool_tui_possible(tool) && !stat(name, &info) &&
           (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode));
}

/* What can't be opened is told before the screen changes. */
static enum tool_exit run_interactive(struct tool *tool, const struct annotate_options *from,
                                      const char *name)
{
    struct perfdata_annotate_options options = library_options(tool, from);
    perfdata_recording *recording;
    enum tool_exit code = tool_open(tool, name, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_recording_close(recording);
    memset(tool->issues, 0, sizeof tool->issues); /* the view meets them again */
    return tool_tui_annotate(tool, name, &options);
}

static enum tool_exit annotate(struct tool *tool, const struct annotate_options *from,
                               perfdata_recording *recording)
{
    struct perfdata_annotate_options options = library_options(tool, from);
    struct perfdata_annotate_result result = { .struct_size = sizeof result };
    perfdata_status status = perfdata_annotate_run(recording, &options, tool_write_text, tool,
                                                   &result);
    enum tool_exit code = tool_close_run(tool, recording, status, result.perf_exit);
    if (code == TOOL_DONE && result.missing && !from->skip_missing)
        return tool_exit_as(tool, TOOL_PARTIAL, 0);
    return code;
}

static enum tool_exit run_annotate(struct tool *tool, void *data, int argc, char **argv)
{
    struct annotate_options *options = data;
    tool->quiet = options->quiet;
    if (options->prefix_strip && !options->prefix)
        return tool_exit_as(tool, tool_usage(tool, "--prefix-strip requires --prefix"), 234);
    if (!options->modules)
        return tool_refuse(tool, "--no-modules");
    if (options->tui && isatty(STDOUT_FILENO) && tool_tui_missing())
        return tool_usage(tool, "option --tui: %s", tool_tui_missing());
    perfdata_recording *recording;
    /* perf's only argument is the function; ours names the recording where -i does not. */
    if (argc == 1 && (tool->as_perf || tool->input)) {
        options->symbol = argv[0];
        argc = 0;
    }
    enum tool_exit code = tool_one_input(tool, argc, argv);
    if (code != TOOL_DONE)
        return code;
    const char *name = tool_input_name(tool, argc, argv);
    if (is_interactive(tool, options, name))
        return run_interactive(tool, options, name);
    code = tool_open(tool, name, &recording);
    if (code != TOOL_DONE)
        return code;
    return options->dump ? run_dump(tool, options, recording) : annotate(tool, options, recording);
}

const struct tool_verb tool_verb_annotate = {
    .name = "annotate",
    .synopsis = "[OPTIONS] [FILE]",
    .description =
        "Prints the code of the functions that samples lie in, the heaviest first, as objdump "
        "shows "
        "it: each\ninstruction with its share of the function's samples, between them the source "
        "where it is at hand.\n\n"
        "With `-i FILE` an argument is the function to print. Functions of the kernel need its "
        "image "
        "(-k); what\nhas no code that can be read is told on standard error.",
    .examples = { "annotate perf.data", "all functions", "annotate -l -s main perf.data",
                  "one function, its hottest source lines first" },
    .options = annotate_rows,
    .options_size = sizeof(struct annotate_options),
    .defaults = annotate_defaults,
    .run = run_annotate,
    .flags = TOOL_VERB_PERF,
};
