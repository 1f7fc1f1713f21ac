/* SPDX-License-Identifier: MIT */
/* aux list, extract, dump, stat, index. */
#include "tool/output.h"
#include "tool/verbs.h"
#include <perfdata/itrace.h>
#include <string.h>

struct aux_options {
    const char *cpus, *output, *raw;
    int json, cut, as_perf, store;
};
#define FIELD(name) offsetof(struct aux_options, name)

static const struct tool_option aux_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_VERBOSE,
    TOOL_ROW_PROGRESS,
    TOOL_ROW_STRICT,
    TOOL_ROW_STREAMS,
    { TOOL_STRING, 'C', "cpu", "LIST", "only the buffers of these CPUs: 0,2-3", FIELD(cpus) },
    { TOOL_STRING, 0, "raw", "FILE", "dump: a file that is nothing but an Intel PT trace",
      FIELD(raw) },
    { TOOL_GROUP, .help = "Output" },
    { TOOL_FLAG, 0, "json", NULL, "list, dump, stat, index: a JSON object a line", FIELD(json) },
    { TOOL_FLAG, 0, "perf", NULL, "dump: the text of perf's -D", FIELD(as_perf) },
    { TOOL_FLAG, 0, "cut-overlaps", NULL,
      "extract, dump, stat, index: what snapshots or samples have twice comes once", FIELD(cut) },
    { TOOL_FLAG, 0, "store", NULL,
      "index: kept beside the recording (FILE.psbindex), where --time and qq look for it",
      FIELD(store) },
    { TOOL_STRING, 'o', "output", "DIR", "extract: where the traces go", FIELD(output) },
    { 0 },
};

typedef perfdata_status (*print_fn)(perfdata_aux *, perfdata_write_fn, void *);

enum { JSON = 1, PERF = 2, CUT = 4, RAW = 8, OUTPUT = 16, STORE = 32 };

static const struct view {
    const char *name;
    print_fn print; /* NULL: extract */
    unsigned takes; /* which of the options above */
} views[] = {
    { "list", perfdata_aux_print_list, JSON },
    { "extract", NULL, CUT | OUTPUT },
    { "dump", perfdata_aux_print_packets, JSON | PERF | CUT | RAW },
    { "stat", perfdata_aux_print_statistics, JSON | CUT },
    { "index", perfdata_aux_print_index, JSON | CUT | STORE },
};

static const struct view *find_view(const char *name)
{
    for (size_t i = 0; i < TOOL_LENGTH(views); i++)
        if (!strcmp(views[i].name, name))
            return &views[i];
    return NULL;
}

static enum tool_exit check_options(struct tool *tool, const struct aux_options *options,
                                    const struct view *view)
{
    const struct {
        bool given;
        unsigned what;
        const char *name;
    } rows[] = { { options->json, JSON, "--json" },         { options->as_perf, PERF, "--perf" },
                 { options->cut, CUT, "--cut-overlaps" },   { options->raw != NULL, RAW, "--raw" },
                 { options->output != NULL, OUTPUT, "-o" }, { options->store, STORE, "--store" } };
    for (size_t i = 0; i < TOOL_LENGTH(rows); i++)
        if (rows[i].given && !(view->takes & rows[i].what))
            return tool_usage(tool, "%s does not go with %s", rows[i].name, view->name);
    if (options->json && options->as_perf)
        return tool_usage(tool, "--json and --perf exclude each other");
    if (view->takes & OUTPUT && !options->output)
        return tool_usage(tool, "%s: -o DIR is needed", view->name);
    if (options->store && (options->json || options->cut || options->cpus))
        return tool_usage(tool, "--store keeps the whole index, and prints nothing");
    if (options->raw && (options->cut || options->cpus || tool->input))
        return tool_usage(tool, "--raw reads no recording");
    return TOOL_DONE;
}

static enum tool_exit dump_raw(struct tool *tool, const struct aux_options *options, uint32_t flags)
{
    char error[512] = "";
    perfdata_status status = perfdata_trace_print_packets(options->raw, flags, tool_write_text,
                                                          tool, error, sizeof error);
    return status == PERFDATA_OK ? TOOL_DONE : tool_failure(tool, status, NULL, error);
}

static enum tool_exit run_aux(struct tool *tool, void *data, int argc, char **argv)
{
    const struct aux_options *options = data;
    const struct view *view = argc ? find_view(argv[0]) : NULL;
    if (!view)
        return tool_usage(tool, "%s%s%slist, extract, dump, stat or index is needed",
                          argc ? "'" : "", argc ? argv[0] : "", argc ? "': " : "");
    enum tool_exit code = check_options(tool, options, view);
    struct perfdata_aux_options asked = {
        .struct_size = sizeof asked,
        .cpus = options->cpus,
        .flags = (options->json ? PERFDATA_AUX_PRINT_JSON : 0) |
                 (options->cut ? PERFDATA_AUX_PRINT_CUT : 0) |
                 (options->as_perf ? PERFDATA_AUX_PRINT_AS_PERF : 0),
    };
    if (code == TOOL_DONE && options->raw)
        return argc > 1 ? tool_usage(tool, "--raw reads no recording")
                        : dump_raw(tool, options, asked.flags);
    perfdata_recording *recording;
    perfdata_aux *aux = NULL;
    if (code == TOOL_DONE)
        code = tool_open_one(tool, argc - 1, argv + 1, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_aux_open(recording, &asked, &aux);
    if (status == PERFDATA_OK)
        status = options->store ? perfdata_aux_store_index(aux)
                 : view->print  ? view->print(aux, tool_write_text, tool)
                                : perfdata_aux_extract(aux, options->output, tool_write_text, tool);
    perfdata_aux_close(aux);
    return view->print && !options->store ? tool_close(tool, recording, status)
                                          : tool_rewritten(tool, recording, status);
}

const struct tool_verb tool_verb_aux = {
    .name = "aux",
    .synopsis = "list|extract|dump|stat|index [OPTIONS] [FILE]",
    .description =
        "The AUX areas of a recording. `list` shows the buffers, `extract` writes the trace of "
        "each CPU or thread to a\nfile of its own, with index.tsv that says what is where in "
        "them. Intel Processor Trace is looked into:\n`dump` shows its packets with their times, "
        "`stat` what there is of each, `index` the PSBs with their times.\nOther kinds (Intel BTS, "
        "Arm CoreSight and SPE, s390, HiSilicon) are named, listed and extracted.",
    .examples = { "aux extract perf.data -o traces", "bare traces for other decoders",
                  "aux dump --raw traces/cpu0.pt", "the packets of one of them" },
    .options = aux_rows,
    .options_size = sizeof(struct aux_options),
    .run = run_aux,
};
