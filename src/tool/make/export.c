/* SPDX-License-Identifier: MIT */
/* export sqlite, postgresql. */
#include "tool/output.h"
#include "tool/verbs.h"
#include <perfdata/export.h>
#include <stdlib.h>
#include <string.h>

struct export_options {
    const char *output, *comms, *pids, *tids, *cpus, *time, *symfs, *kallsyms, *vmlinux, *jitdump;
    int branches, calls, callchains, guest_code;
};
#define FIELD(name) offsetof(struct export_options, name)

static const struct tool_option export_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_SYMBOLS,
    { TOOL_CALLBACK, 0, "itrace", "WHAT", "what is made of a trace: letters and numbers as in perf",
      .flags = TOOL_OPTIONAL | TOOL_NO_NEGATION, .parse = tool_parse_itrace },
    { TOOL_FLAG, 0, "guest-code", NULL, "code that runs in a guest is its hypervisor's",
      FIELD(guest_code) },
    TOOL_ROW_STRICT,
    TOOL_ROW_STREAMS,
    TOOL_ROW_MEMORY,
    TOOL_ROW_VERBOSE,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 'o', "output", "FILE", "where to write; - is standard output (postgresql)",
      FIELD(output) },
    { TOOL_FLAG, 0, "branches", NULL, "without the columns that only other samples have",
      FIELD(branches) },
    { TOOL_FLAG, 0, "calls", NULL, "calls and call paths, from the branches of a trace",
      FIELD(calls) },
    { TOOL_FLAG, 0, "callchains", NULL, "call paths of samples, from their call chains",
      FIELD(callchains) },
    { TOOL_GROUP, .help = "Which samples" },
    { TOOL_STRING, 'c', "comms", "COMM[,...]", "keep these comms only", FIELD(comms) },
    TOOL_ROWS_TASKS,
    TOOL_ROW_TIME,
    { 0 },
};

static uint32_t flags_of(const struct export_options *options)
{
    const struct tool_flag rows[] = {
        { options->branches, PERFDATA_DATABASE_BRANCHES },
        { options->calls, PERFDATA_DATABASE_CALLS },
        { options->callchains, PERFDATA_DATABASE_CALLCHAINS },
        { options->guest_code, PERFDATA_DATABASE_GUEST_CODE },
    };
    return (uint32_t)tool_flags(rows, TOOL_LENGTH(rows));
}

static enum tool_exit run_export(struct tool *tool, void *data, int argc, char **argv)
{
    const struct export_options *options = data;
    bool sqlite = argc && !strcmp(argv[0], "sqlite");
    if (!sqlite && (!argc || strcmp(argv[0], "postgresql") != 0))
        return tool_usage(tool, "%s%s%ssqlite or postgresql is needed", argc ? "'" : "",
                          argc ? argv[0] : "", argc ? "': " : "");
    struct perfdata_database_options database = {
        .struct_size = sizeof database,
        .form = sqlite ? PERFDATA_DATABASE_SQLITE : PERFDATA_DATABASE_POSTGRESQL,
        .flags = flags_of(options),
        .path = options->output,
        .comms = options->comms,
        .pids = options->pids,
        .tids = options->tids,
        .cpus = options->cpus,
        .time = options->time,
        .itrace = tool->itrace,
        .itrace_count = tool->itrace_count,
        .search = { .symfs = options->symfs,
                    .kallsyms = options->kallsyms,
                    .vmlinux = options->vmlinux,
                    .jitdump = options->jitdump,
                    .home = getenv("HOME") },
        .perf_config = getenv("PERF_CONFIG"),
    };
    if (!options->output || (sqlite && !strcmp(options->output, "-")))
        return tool_usage(tool, "-o FILE is needed: where to write");
    perfdata_recording *recording;
    enum tool_exit code = tool_open_one(tool, argc - 1, argv + 1, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_export_database(recording, &database);
    return tool_rewritten(tool, recording, status);
}

const struct tool_verb tool_verb_export = {
    .name = "export",
    .synopsis = "sqlite|postgresql [OPTIONS] [FILE] -o OUT",
    .description =
        "Writes a recording as a database. `sqlite` makes a database file, `postgresql` a script "
        "for psql; both have the\ntables and views of perf's export-to-sqlite.py and "
        "export-to-postgresql.py, with the same numbers, so that\nexported-sql-viewer.py and "
        "queries written for those work on them.",
    .examples = { "export sqlite --itrace=bep --branches --calls perf.data -o perf.db",
                  "branches, calls and power events of a trace",
                  "export postgresql perf.data -o - | psql perf", "into a server" },
    .options = export_rows,
    .options_size = sizeof(struct export_options),
    .run = run_export,
};
