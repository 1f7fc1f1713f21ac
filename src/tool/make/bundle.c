/* SPDX-License-Identifier: MIT */
/* bundle: the parts of programs and libraries that a recording needs, for another machine. */
#include "tool/input.h"
#include "tool/verbs.h"
#include <inttypes.h>
#include <perfdata/bundle.h>
#include <stdio.h>

struct bundle_options {
    const char *output;
    const char *symfs, *kallsyms, *vmlinux, *jitdump;
};
#define FIELD(name) offsetof(struct bundle_options, name)

static const struct tool_option bundle_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_SYMBOLS(),
    TOOL_ROWS_READING,
    TOOL_ROW_VERBOSE,
    { TOOL_GROUP, .help = "Output" },
    { TOOL_STRING, 'o', "output", "DIR", "the folder to make", FIELD(output) },
    { 0 },
};

static enum tool_exit run_bundle(struct tool *tool, void *data, int argc, char **argv)
{
    const struct bundle_options *options = data;
    struct perfdata_bundle_result result = { .struct_size = sizeof result };
    struct perfdata_bundle_options bundle = {
        .struct_size = sizeof bundle,
        .path = options->output,
        .search = tool_search(tool, (struct perfdata_symbol_search){ TOOL_WHERE_SYMBOLS(options) }),
    };
    perfdata_recording *recording;
    if (!options->output)
        return tool_usage(tool, "-o DIR is needed: the folder to make");
    enum tool_exit code = tool_open_one(tool, argc, argv, &recording);
    if (code != TOOL_DONE)
        return code;
    perfdata_status status = perfdata_bundle_write(recording, &bundle, &result);
    code = tool_close(tool, recording, status);
    if (status >= 0 && result.absent)
        fprintf(stderr, "perfdata bundle: objects that occur and have no file here: %" PRIu64 "\n",
                result.absent);
    if (status >= 0)
        fprintf(stderr,
                "perfdata bundle: %" PRIu64 " addresses of %" PRIu64 " objects, %" PRIu64
                " bytes%s; elsewhere: perfdata --buildid-dir %s VERB\n",
                result.addresses, result.objects, result.bytes,
                result.whole ? ", some as whole files" : "", options->output);
    return code;
}

const struct tool_verb tool_verb_bundle = {
    .name = "bundle",
    .synopsis = "[OPTIONS] -o DIR [FILE]",
    .description =
        "Makes a folder with what another machine needs to show the recording as this one does: of "
        "each program, library and\nkernel only the symbols, code and call frame information of "
        "addresses that occur.\n\n"
        "The folder has the form of a build-id cache: `perfdata --buildid-dir DIR report` reads "
        "it. `archive` packs whole files.",
    .examples = { "bundle -i perf.data -o perf.bundle", "make it",
                  "--buildid-dir perf.bundle report -i perf.data", "elsewhere, use it" },
    .options = bundle_rows,
    .options_size = sizeof(struct bundle_options),
    .run = run_bundle,
    .flags = TOOL_VERB_WRITES,
};
