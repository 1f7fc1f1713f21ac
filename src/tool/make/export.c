/* SPDX-License-Identifier: MIT */
/* export: a recording in the forms of other tools. */
#include "tool/output.h"
#include "tool/profile.h"
#include "tool/verbs.h"
#include <perfdata/export.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct export_options {
    struct tool_profile profile;
    const char *output, *events, *group, *detail, *object;
    int branches, calls, callchains, stacks, count, lines;
};
#define FIELD(name) offsetof(struct export_options, name)

static const struct tool_option export_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_PROFILE_INPUT,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 'o', "output", "FILE",
      "where to write, of several tables a folder; - is standard output (not of sqlite, ctf)",
      FIELD(output) },
    { TOOL_GROUP, .help = "Profiles" },
    { TOOL_STRING, 0, "event", "EVENT[,...]", "these events only", FIELD(events) },
    { TOOL_FLAG, 0, "count", NULL, "a sample weighs 1, not its period", FIELD(count) },
    { TOOL_STRING, 0, "group", "WHAT",
      "above the first function: comm (default), process, thread, none", FIELD(group) },
    { TOOL_STRING, 0, "detail", "WHAT",
      "frames differ by function, line or address; default: as suits the form", FIELD(detail) },
    { TOOL_FLAG, 0, "lines", NULL, "source lines, also where frames differ by address",
      FIELD(lines) },
    TOOL_ROWS_PROFILE_CHAINS,
    { TOOL_GROUP, .help = "Branches" },
    { TOOL_STRING, 0, "object", "NAME",
      "the object that bolt, fdata, autofdo and llvm are of: name, path or build-id; default: the "
      "one "
      "with most branches",
      FIELD(object) },
    { TOOL_GROUP, .help = "Databases" },
    { TOOL_FLAG, 0, "branches", NULL, "without the columns that only other samples have",
      FIELD(branches) },
    { TOOL_FLAG, 0, "calls", NULL, "calls and call paths, from the branches of a trace",
      FIELD(calls) },
    { TOOL_FLAG, 0, "callchains", NULL, "call paths of samples, from their call chains",
      FIELD(callchains) },
    { TOOL_FLAG, 0, "stacks", NULL,
      "tables profile_samples, _stacks, _functions beside perf's: all samples, whole stacks",
      FIELD(stacks) },
    { TOOL_GROUP, .help = "Which samples" },
    TOOL_ROWS_PROFILE_SAMPLES,
    { 0 },
};

static void export_defaults(void *data)
{
    struct export_options *options = data;
    tool_profile_defaults(&options->profile);
}

/* ---- databases ---- */

static uint32_t database_flags(const struct export_options *options)
{
    const struct tool_flag rows[] = {
        { options->branches, PERFDATA_DATABASE_BRANCHES },
        { options->calls, PERFDATA_DATABASE_CALLS },
        { options->callchains, PERFDATA_DATABASE_CALLCHAINS },
        { options->stacks, PERFDATA_DATABASE_PROFILE },
        { options->profile.guest_code, PERFDATA_DATABASE_GUEST_CODE },
    };
    return (uint32_t)tool_flags(rows, TOOL_LENGTH(rows));
}

/* The first option given that is not for databases; NULL: there is none. */
static const char *not_of_database(const struct tool *tool, const struct export_options *options)
{
    return options->events                    ? "--event"
           : options->count                   ? "--count"
           : options->group                   ? "--group"
           : options->detail                  ? "--detail"
           : options->lines                   ? "--lines"
           : options->object                  ? "--object"
           : options->profile.hide_chain      ? "-G"
           : options->profile.max_stack       ? "--max-stack"
           : options->profile.stop            ? "--stop-bt"
           : options->profile.dsos            ? "--dsos"
           : options->profile.symbols         ? "-S"
           : options->profile.address_range   ? "--addr-range"
           : !options->profile.inlined        ? "--no-inline"
           : !options->profile.demangle       ? "--no-demangle"
           : options->profile.demangle_kernel ? "--demangle-kernel"
           : tool->no_itrace                  ? "--no-itrace"
           : options->profile.guest_kallsyms || options->profile.guest_vmlinux
               ? "--guestkallsyms, --guestvmlinux"
           : options->profile.guest_modules || options->profile.guest_mount
               ? "--guestmodules, --guestmount"
               : NULL;
}

static enum tool_exit run_database(struct tool *tool, const struct export_options *options,
                                   bool sqlite, int argc, char **argv)
{
    struct perfdata_database_options database = {
        .struct_size = sizeof database,
        .form = sqlite ? PERFDATA_DATABASE_SQLITE : PERFDATA_DATABASE_POSTGRESQL,
        .flags = database_flags(options),
        .path = options->output,
        .comms = options->profile.comms,
        .pids = options->profile.pids,
        .tids = options->profile.tids,
        .cpus = options->profile.cpus,
        .time = options->profile.time,
        .itrace = tool->itrace,
        .itrace_count = tool->itrace_count,
        .search = tool_search(
            tool, (struct perfdata_symbol_search){ .symfs = options->profile.symfs,
                                                   .kallsyms = options->profile.kallsyms,
                                                   .vmlinux = options->profile.vmlinux,
                                                   .jitdump = options->profile.jitdump }),
        .perf_config = getenv("PERF_CONFIG"),
    };
    const char *wrong = not_of_database(tool, options);
    if (wrong)
        return tool_usage(tool, "option %s is not for databases", wrong);
    if (!options->output || (sqlite && !strcmp(options->output, "-")))
        return tool_usage(tool, "-o FILE is needed: where to write");
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_export_database(recording, &database);
    return tool_rewritten(tool, recording, status);
}

/* ---- profiles ---- */

/* The place of `word` in a list that NULL ends; -1: it is not there. */
static int place_of(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (!strcmp(word, words[i]))
            return i;
    return -1;
}

static enum tool_exit parse_words(struct tool *tool, const struct export_options *options,
                                  struct perfdata_export_options *out)
{
    static const char *const groups[] = { "comm", "process", "thread", "none", NULL };
    static const char *const details[] = { "function", "line", "address", NULL };
    int group = options->group ? place_of(options->group, groups) : 0;
    int detail = options->detail ? place_of(options->detail, details) : -1;
    if (group < 0)
        return tool_usage(tool, "option --group takes comm, process, thread or none, not '%s'",
                          options->group);
    if (options->detail && detail < 0)
        return tool_usage(tool, "option --detail takes function, line or address, not '%s'",
                          options->detail);
    if (options->branches || options->calls || options->callchains || options->stacks)
        return tool_usage(tool, "options --branches, --calls, --callchains and --stacks are for "
                                "databases");
    out->group = (uint32_t)group;
    out->detail = detail;
    return TOOL_DONE;
}

static enum tool_exit run_profile(struct tool *tool, const struct export_options *options,
                                  const char *format, uint32_t flags, int argc, char **argv)
{
    struct perfdata_profile_options profile = tool_profile_options(
        tool, &options->profile, options->lines ? PERFDATA_PROFILE_LINES : 0);
    struct perfdata_export_options how = { .struct_size = sizeof how,
                                           .flags = options->count ? PERFDATA_EXPORT_COUNT : 0,
                                           .events = options->events,
                                           .profile = &profile,
                                           .object = options->object };
    struct perfdata_export_result result = { .struct_size = sizeof result };
    const char *path = options->output ? options->output : "-";
    perfdata_recording *recording;
    enum tool_exit code = parse_words(tool, options, &how);
    if (code == TOOL_DONE && flags & PERFDATA_FORMAT_BINARY && !strcmp(path, "-") &&
        isatty(STDOUT_FILENO))
        code = tool_usage(tool, "standard output is a terminal: -o FILE is needed");
    if (code == TOOL_DONE)
        code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_export_file(recording, format, &how, path, &result);
    return tool_close_run(tool, recording, status, -1);
}

static enum tool_exit no_format(struct tool *tool, const char *given)
{
    char names[400];
    size_t length = 0;
    const char *name;
    for (size_t i = 0; (name = perfdata_export_format(i, NULL, NULL)) != NULL; i++)
        length += (size_t)snprintf(names + length, sizeof names - length, "%s, ", name);
    return tool_usage(tool, "%s%s%sone of %ssqlite, postgresql is needed", given ? "'" : "",
                      given ? given : "", given ? "': " : "", names);
}

static enum tool_exit run_export(struct tool *tool, void *data, int argc, char **argv)
{
    const struct export_options *options = data;
    const char *name;
    uint32_t flags;
    if (!argc)
        return no_format(tool, NULL);
    bool sqlite = !strcmp(argv[0], "sqlite");
    if (sqlite || !strcmp(argv[0], "postgresql"))
        return run_database(tool, options, sqlite, argc - 1, argv + 1);
    for (size_t i = 0; (name = perfdata_export_format(i, NULL, &flags)) != NULL; i++)
        if (!strcmp(name, argv[0]))
            return run_profile(tool, options, name, flags, argc - 1, argv + 1);
    return no_format(tool, argv[0]);
}

const struct tool_verb tool_verb_export = {
    .name = "export",
    .synopsis = "FORMAT [OPTIONS] [FILE] [-o OUT]",
    .description =
        "Writes a recording in a form of other tools.\n\n"
        "`folded` makes a line of each stack, as FlameGraph's scripts do, with what its samples "
        "weigh together; `pprof`,\n`speedscope` and `callgrind` sum up stacks as well. `firefox` "
        "and "
        "`chrome` show samples one by one, in time.\n\n"
        "`bolt`, `fdata`, `autofdo` and `llvm` are of the branches of one object (--object), for "
        "compilers.\n"
        "`csv` and `parquet` make a file for each table, in the folder that -o names. "
        "`json` is the text of `perf data convert --to-json`, `ctf` the folder of --to-ctf.\n\n"
        "`sqlite` makes a database file, `postgresql` a script for psql; both have the tables and "
        "views of perf's\nexport-to-sqlite.py and export-to-postgresql.py, with the same numbers, "
        "so that exported-sql-viewer.py and\nqueries written for those work on them.",
    .examples = { "export folded perf.data | flamegraph.pl > flame.svg", "a flame graph",
                  "export sqlite --itrace=bep --branches --calls perf.data -o perf.db",
                  "branches, calls and power events of a trace" },
    .options = export_rows,
    .options_size = sizeof(struct export_options),
    .defaults = export_defaults,
    .run = run_export,
    .flags = TOOL_VERB_WRITES,
};
