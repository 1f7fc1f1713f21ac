/* SPDX-License-Identifier: MIT */
/* script: a line a sample. */
#include "tool/show/dlfilters.h"
#include "tool/event_files.h"
#include "tool/show/perf_scripts.h"
#include "tool/input.h"
#include "tool/options.h"
#include <perfdata/script.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FIELD_LISTS 64
#define MAX_DLARGS 64

struct script_options {
    const char *field_lists[MAX_FIELD_LISTS];
    size_t field_count;
    int stitch;
    int hide_chain, ns, reltime, deltatime, latency, kernel_path, demangle, demangle_kernel,
        full_source_path, inlined;
    int header, header_only, info, dump, dump_unsorted, pt_events, pt_insns, pt_switches, pt_source;
    int tasks, mmaps, switches, namespaces, lost, bpf, cgroups, text_pokes, rounds;
    const char *comms, *pids, *tids, *cpus, *dsos, *symbols, *time, *stop;
    const char *symfs, *kallsyms, *vmlinux, *jitdump;
    unsigned max_stack, max_blocks;
    struct perfdata_event_switch between;
    uint64_t address_range;
    const char *graph_functions;
    const char *guest_kallsyms, *guest_modules, *guest_vmlinux, *guest_mount;
    int per_event, check_order, all_cpus, json, guest_code, pad_dso, xed, list_dlfilters,
        list_scripts;
    const char *script_name, *generate;
    const char *dlfilter, *dlargs[MAX_DLARGS];
    size_t dlarg_count;
};

#define FIELD(name) offsetof(struct script_options, name)

struct value_list {
    const char **values;
    size_t *count, most;
    const char *too_many; /* what is said beyond `most` */
};

/* Appends a value, or drops all of them where the option is taken back (--no-NAME). */
static enum tool_exit add_value(struct tool *tool, const struct value_list *to, const char *value,
                                bool unset)
{
    if (unset) {
        *to->count = 0;
        return TOOL_DONE;
    }
    if (*to->count == to->most)
        return tool_usage(tool, "%s", to->too_many);
    to->values[(*to->count)++] = value;
    return TOOL_DONE;
}

static enum tool_exit parse_fields(struct tool *tool, void *data, const char *value, bool unset)
{
    struct script_options *options = data;
    struct value_list to = { options->field_lists, &options->field_count, MAX_FIELD_LISTS,
                             "too many lists of fields" };
    return add_value(tool, &to, value, unset);
}

static enum tool_exit parse_dlarg(struct tool *tool, void *data, const char *value, bool unset)
{
    struct script_options *options = data;
    struct value_list to = { options->dlargs, &options->dlarg_count, MAX_DLARGS,
                             "too many arguments of a filter" };
    return add_value(tool, &to, value, unset);
}

/* What perf makes of its shorthands. */
static enum tool_exit expand(struct tool *tool, void *data, const char *fields, const char *itrace)
{
    struct script_options *options = data;
    enum tool_exit code = parse_fields(tool, data, fields, false);
    options->ns = 1;
    return code == TOOL_DONE ? tool_parse_itrace(tool, data, itrace, false) : code;
}

static enum tool_exit parse_insn_trace(struct tool *tool, void *data, const char *value, bool unset)
{
    bool disassembled = value && !strcmp(value, "disasm");
    if (value && !disassembled && strcmp(value, "raw") != 0)
        return tool_usage(tool, "option --insn-trace takes raw or disasm, not '%s'", value);
    return unset
               ? TOOL_DONE
               : expand(tool, data,
                        disassembled ? "+disasm,-event,-period" : "+insn,-event,-period", "i0nse");
}

static enum tool_exit parse_call_trace(struct tool *tool, void *data, const char *value, bool unset)
{
    (void)value;
    if (unset)
        return TOOL_DONE;
    ((struct script_options *)data)->pad_dso = 1;
    return expand(tool, data, "-ip,-addr,-event,-period,+callindent", "cewp");
}

static enum tool_exit parse_call_return_trace(struct tool *tool, void *data, const char *value,
                                              bool unset)
{
    (void)value;
    return unset ? TOOL_DONE
                 : expand(tool, data, "-ip,-addr,-event,-period,+callindent,+flags", "crewp");
}

static bool is_word(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && !memcmp(text, word, length);
}

static enum tool_exit parse_pt_events(struct tool *tool, void *data, const char *value, bool unset)
{
    struct script_options *options = data;
    if (unset)
        return TOOL_DONE;
    options->pt_events = 1;
    for (size_t length; value && *value; value += length + (value[length] == ',')) {
        length = strcspn(value, ",");
        if (is_word(value, length, "insn-trace"))
            options->pt_insns = 1;
        else if (is_word(value, length, "src-trace"))
            options->pt_source = 1;
        else if (is_word(value, length, "all-switch-events"))
            options->pt_switches = 1;
        else
            return tool_usage(
                tool, "--pt-events takes insn-trace, src-trace, all-switch-events, not '%.*s'",
                (int)length, value);
    }
    if (options->pt_insns && options->pt_source)
        return tool_usage(tool, "--pt-events: insn-trace and src-trace exclude each other");
    bool insns = options->pt_insns || options->pt_source;
    return tool_parse_itrace(tool, data, insns ? "i0nsepwxI" : "bepwxI", false);
}

static const struct tool_option script_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROWS_SYMBOLS(),
    TOOL_ROWS_READING,
    { TOOL_GROUP, .help = "What is printed" },
    { TOOL_CALLBACK, 'F', "fields", "LIST",
      "fields, all or of a kind (hw: sw: trace: raw: break: synth:), + adds, - removes",
      .parse = parse_fields },
    { TOOL_FLAG, 'D', "dump-raw-trace", NULL, "every record as hex and text", FIELD(dump) },
    { TOOL_FLAG, 0, "dump-unsorted-raw-trace", NULL, "the same, as the records lie in the file",
      FIELD(dump_unsorted) },
    { TOOL_FLAG, 'G', "hide-call-graph", NULL, "symbol on the sample's line, no chain below it",
      FIELD(hide_chain) },
    { TOOL_FLAG, 0, "ns", NULL, "times with 9 decimals", FIELD(ns) },
    { TOOL_FLAG, 0, "json", NULL, "a JSON object a sample, with the chosen fields by name",
      FIELD(json), .flags = TOOL_OURS },
    { TOOL_FLAG, 0, "per-event-dump", NULL,
      "the lines of each event into a file of its own, INPUT.EVENT.dump", FIELD(per_event) },
    { TOOL_FLAG, 'd', "debug-mode", NULL, "no lines: whether times of samples go back",
      FIELD(check_order) },
    { TOOL_FLAG, 0, "reltime", NULL, "times since the first line", FIELD(reltime) },
    { TOOL_FLAG, 0, "deltatime", NULL, "times since the line before", FIELD(deltatime) },
    { TOOL_FLAG, 'L', "Latency", NULL, "columns as latency tracers have them", FIELD(latency) },
    { TOOL_FLAG, 0, "show-kernel-path", NULL,
      "path of the kernel image in place of [kernel.kallsyms]", FIELD(kernel_path) },
    { TOOL_FLAG, 0, "full-source-path", NULL, "srcline with the folders of the file",
      FIELD(full_source_path) },
    { TOOL_UINT, 0, "max-stack", "N", "frames shown at most of a chain", FIELD(max_stack) },
    { TOOL_UINT, 0, "max-blocks", "N", "blocks of code shown at most with brstackinsn",
      FIELD(max_blocks) },
    { TOOL_FLAG, 0, "stitch-lbr", NULL,
      "as in perf, tells that there are no call stacks of branches to join; refused where there "
      "are",
      FIELD(stitch) },
    { TOOL_STRING, 0, "stop-bt", "SYMBOL[,...]", "chains end at these symbols", FIELD(stop) },
    TOOL_ROWS_NAMES(),
    TOOL_ROWS_HEADER,
    { TOOL_GROUP, .help = "Which samples" },
    { TOOL_STRING, 'c', "comms", "COMM[,...]", "keep these comms only", FIELD(comms) },
    TOOL_ROWS_TASKS(),
    { TOOL_FLAG, 'a', "all-cpus", NULL, "all CPUs that were recorded, as without it",
      FIELD(all_cpus) },
    { TOOL_STRING, 0, "dsos", "DSO[,...]", "keep these objects only", FIELD(dsos) },
    { TOOL_STRING, 'S', "symbols", "SYMBOL[,...]",
      "keep samples in these symbols or at these addresses (hexadecimal)", FIELD(symbols) },
    { TOOL_U64, 0, "addr-range", "N", "with -S ADDRESS: bytes from the address",
      FIELD(address_range) },
    TOOL_ROW_TIME(),
    TOOL_ROWS_SWITCH,
    { TOOL_STRING, 0, "dlfilter", "FILE",
      "ask this shared object, a filter made for perf; show-cycles: built in", FIELD(dlfilter) },
    { TOOL_CALLBACK, 0, "dlarg", "ARG", "argument of the filter; may be given again",
      .parse = parse_dlarg },
    { TOOL_STRING, 's', "script", "SCRIPT",
      "run a Python script made for perf, a file or one of perf's own by name; words behind are "
      "its arguments",
      FIELD(script_name) },
    { TOOL_STRING, 'g', "gen-script", "LANGUAGE",
      "write a script that prints the recording's events, perf-script.py (LANGUAGE: python)",
      FIELD(generate) },
    { TOOL_FLAG, 'l', "list", NULL, "scripts that come with perf, where they are installed",
      FIELD(list_scripts) },
    { TOOL_FLAG, 0, "list-dlfilters", NULL, "filters here and among perf's",
      FIELD(list_dlfilters) },
    { TOOL_GROUP, .help = "AUX traces" },
    TOOL_ROW_ITRACE,
    { TOOL_CALLBACK, 0, "insn-trace", "FORM",
      "every instruction, with its bytes (raw) or disassembled (disasm)", .parse = parse_insn_trace,
      .flags = TOOL_OPTIONAL | TOOL_NO_NEGATION },
    { TOOL_FLAG, 0, "xed", NULL, "instructions disassembled, as xed prints them", FIELD(xed) },
    { TOOL_CALLBACK, 0, "call-trace", NULL, "calls, indented", .parse = parse_call_trace,
      .flags = TOOL_NO_VALUE | TOOL_NO_NEGATION },
    { TOOL_CALLBACK, 0, "call-ret-trace", NULL, "calls and returns, indented",
      .parse = parse_call_return_trace, .flags = TOOL_NO_VALUE | TOOL_NO_NEGATION },
    { TOOL_CALLBACK, 0, "pt-events", "VIEW[,...]",
      "events of traces as perf's script intel-pt-events.py prints them; with its insn-trace "
      "(instructions in place of branches) or src-trace (their source lines), all-switch-events",
      .parse = parse_pt_events, .flags = TOOL_OPTIONAL | TOOL_NO_NEGATION },
    { TOOL_STRING, 0, "graph-function", "SYMBOL[,...]", "only what runs within these functions",
      FIELD(graph_functions) },
    { TOOL_FLAG, 0, "guest-code", NULL, "guests run code of their host process",
      FIELD(guest_code) },
    { TOOL_STRING, 0, "guestkallsyms", "FILE",
      "show guests; the table of the kernel of the one that no pid names", FIELD(guest_kallsyms) },
    { TOOL_STRING, 0, "guestvmlinux", "FILE", "show guests; that kernel's image",
      FIELD(guest_vmlinux) },
    { TOOL_STRING, 0, "guestmodules", "FILE",
      "show guests; as in perf, the modules' maps are those that were recorded",
      FIELD(guest_modules) },
    { TOOL_STRING, 0, "guestmount", "DIR",
      "show guests; DIR/PID is the root of the one that PID is the hypervisor of",
      FIELD(guest_mount) },
    { TOOL_GROUP, .help = "Lines of other records" },
    { TOOL_FLAG, 0, "show-task-events", NULL, "FORK, COMM, EXIT", FIELD(tasks) },
    { TOOL_FLAG, 0, "show-mmap-events", NULL, "MMAP and MMAP2", FIELD(mmaps) },
    { TOOL_FLAG, 0, "show-switch-events", NULL, "SWITCH and SWITCH_CPU_WIDE", FIELD(switches) },
    { TOOL_FLAG, 0, "show-namespace-events", NULL, "NAMESPACES", FIELD(namespaces) },
    { TOOL_FLAG, 0, "show-lost-events", NULL, "LOST and LOST_SAMPLES", FIELD(lost) },
    { TOOL_FLAG, 0, "show-bpf-events", NULL, "BPF_EVENT and KSYMBOL", FIELD(bpf) },
    { TOOL_FLAG, 0, "show-cgroup-events", NULL, "CGROUP", FIELD(cgroups) },
    { TOOL_FLAG, 0, "show-text-poke-events", NULL, "TEXT_POKE", FIELD(text_pokes) },
    { TOOL_FLAG, 0, "show-round-events", NULL,
      "FINISHED_ROUND, and all records as they lie in the file", FIELD(rounds) },
    TOOL_ROW_VERBOSE,
    TOOL_ROW_COLOR,
    { 0 },
};

static void script_defaults(void *data)
{
    struct script_options *options = data;
    options->max_stack = 127;
    options->demangle = options->inlined = 1;
}

static uint64_t flags_of(const struct tool *tool, const struct script_options *from)
{
    const struct tool_flag rows[] = {
        { from->hide_chain, PERFDATA_SCRIPT_NO_CALLCHAIN },
        { from->ns, PERFDATA_SCRIPT_NS },
        { from->reltime, PERFDATA_SCRIPT_RELTIME },
        { from->deltatime, PERFDATA_SCRIPT_DELTATIME },
        { from->latency, PERFDATA_SCRIPT_LATENCY },
        { from->kernel_path, PERFDATA_SCRIPT_KERNEL_PATH },
        { !from->demangle, PERFDATA_SCRIPT_NO_DEMANGLE },
        { from->demangle_kernel, PERFDATA_SCRIPT_DEMANGLE_KERNEL },
        { !from->inlined, PERFDATA_SCRIPT_NO_INLINE },
        { tool_colors(tool), PERFDATA_SCRIPT_COLOR },
        { tool->verbose, PERFDATA_SCRIPT_VERBOSE_NAMES },
        { tool->reading.force, PERFDATA_SCRIPT_FORCE },
        { from->xed, PERFDATA_SCRIPT_XED },
        { from->header, PERFDATA_SCRIPT_HEADER },
        { from->header_only, PERFDATA_SCRIPT_HEADER_ONLY },
        { from->info, PERFDATA_SCRIPT_HEADER_FULL },
        { from->dump || from->dump_unsorted, PERFDATA_SCRIPT_DUMP },
        { from->dump_unsorted, PERFDATA_SCRIPT_UNSORTED },
        { from->pt_events, PERFDATA_SCRIPT_PT_EVENTS },
        { from->pt_insns, PERFDATA_SCRIPT_PT_INSNS },
        { from->pt_switches, PERFDATA_SCRIPT_PT_SWITCHES },
        { from->pt_source, PERFDATA_SCRIPT_PT_SOURCE },
        { from->full_source_path, PERFDATA_SCRIPT_FULL_SOURCE_PATH },
        { tool->no_itrace, PERFDATA_SCRIPT_NO_ITRACE },
        { from->guest_code, PERFDATA_SCRIPT_GUEST_CODE },
        { from->json, PERFDATA_SCRIPT_JSON },
        { from->check_order, PERFDATA_SCRIPT_CHECK_ORDER },
    };
    return tool_flags(rows, TOOL_LENGTH(rows));
}

static uint32_t shown(const struct script_options *from)
{
    const struct tool_flag rows[] = {
        { from->tasks, PERFDATA_SCRIPT_SHOW_TASKS },
        { from->mmaps, PERFDATA_SCRIPT_SHOW_MMAPS },
        { from->switches, PERFDATA_SCRIPT_SHOW_SWITCHES },
        { from->namespaces, PERFDATA_SCRIPT_SHOW_NAMESPACES },
        { from->lost, PERFDATA_SCRIPT_SHOW_LOST },
        { from->bpf, PERFDATA_SCRIPT_SHOW_BPF },
        { from->cgroups, PERFDATA_SCRIPT_SHOW_CGROUPS },
        { from->text_pokes, PERFDATA_SCRIPT_SHOW_TEXT_POKES },
        { from->rounds, PERFDATA_SCRIPT_SHOW_ROUNDS },
    };
    return (uint32_t)tool_flags(rows, TOOL_LENGTH(rows));
}

/* ---- scripts ---- */

/* The first option given that is for lines of text only; NULL: there is none. */
static const char *not_of_scripts(const struct script_options *from)
{
    const struct {
        bool given;
        const char *option;
    } rows[] = {
        { from->field_count, "-F" },
        { from->hide_chain, "-G" },
        { from->ns, "--ns" },
        { from->reltime, "--reltime" },
        { from->deltatime, "--deltatime" },
        { from->latency, "-L" },
        { from->kernel_path, "--show-kernel-path" },
        { from->demangle_kernel, "--demangle-kernel" },
        { from->full_source_path, "--full-source-path" },
        { !from->inlined, "--no-inline" },
        { from->header || from->header_only || from->info, "--header" },
        { from->dump || from->dump_unsorted, "-D" },
        { from->pt_events, "--pt-events" },
        { shown(from), "--show-..." },
        { from->dsos, "--dsos" },
        { from->symbols, "-S" },
        { from->address_range, "--addr-range" },
        { from->stop, "--stop-bt" },
        { from->max_blocks, "--max-blocks" },
        { from->graph_functions, "--graph-function" },
        { from->dlfilter, "--dlfilter" },
        { from->guest_code, "--guest-code" },
        { from->xed, "--xed" },
        { from->json, "--json" },
        { from->stitch, "--stitch-lbr" },
        { from->between.on || from->between.off, "--switch-on" },
    };
    for (size_t i = 0; i < TOOL_LENGTH(rows); i++)
        if (rows[i].given)
            return rows[i].option;
    return NULL;
}

static enum tool_exit run_python(struct tool *tool, const struct script_options *from,
                                 const char *name, char **arguments)
{
    struct tool_script script = { .count = 0 };
    char stack[16];
    const char *wrong = not_of_scripts(from);
    if (wrong)
        return tool_usage(tool, "option %s is for lines of text, a script prints its own", wrong);
    snprintf(stack, sizeof stack, "%u", from->max_stack);
    const struct {
        const char *option, *value;
    } options[] = { { "--input", tool->input },
                    { "--symfs", from->symfs },
                    { "--kallsyms", from->kallsyms },
                    { "--vmlinux", from->vmlinux },
                    { "--jitdump", from->jitdump },
                    { "--build-id-dir", tool->build_id_dir },
                    { "--comms", from->comms },
                    { "--pids", from->pids },
                    { "--tids", from->tids },
                    { "--cpus", from->cpus },
                    { "--time", from->time },
                    { "--guest-kallsyms", from->guest_kallsyms },
                    { "--guest-modules", from->guest_modules },
                    { "--guest-vmlinux", from->guest_vmlinux },
                    { "--guest-mount", from->guest_mount },
                    { "--max-stack", stack } };
    for (size_t i = 0; i < TOOL_LENGTH(options); i++)
        tool_script_option(&script, options[i].option, options[i].value);
    for (unsigned i = 0; i < tool->itrace_count; i++)
        tool_script_option(&script, "--itrace", tool->itrace[i]);
    if (tool->no_itrace)
        tool_script_word(&script, "--no-itrace");
    if (tool->as_perf)
        tool_script_word(&script, "--like-perf");
    if (tool->reading.force)
        tool_script_word(&script, "--force");
    if (tool->reading.strict)
        tool_script_word(&script, "--strict");
    if (!from->demangle)
        tool_script_word(&script, "--no-demangle");
    if (from->list_scripts)
        tool_script_word(&script, "--list");
    if (from->generate)
        tool_script_word(&script, "--generate");
    if (script.too_many)
        return tool_usage(tool, "too many options for a script");
    return from->list_scripts ? tool_list_scripts(tool, &script)
           : from->generate   ? tool_generate_script(tool, &script)
                              : tool_run_script(tool, &script, name, arguments);
}

/* What stands behind a script is the script's. */
static bool takes_rest(const void *data, const char *word)
{
    const struct script_options *from = data;
    bool form = !strcmp(word, "report") || !strcmp(word, "record");
    return from->script_name || (access(word, F_OK) != 0 && (form || tool_is_script(word)));
}

/* What is to be done in place of printing lines; false: nothing. */
static bool wants_python(const struct script_options *from, int argc, char **argv)
{
    bool reports = argc > 1 && !strcmp(argv[0], "report");
    return from->script_name || from->generate || from->list_scripts ||
           (argc && access(argv[reports], F_OK) != 0 && tool_is_script(argv[reports]));
}

static enum tool_exit choose_script(struct tool *tool, const struct script_options *from, int argc,
                                    char **argv)
{
    bool reports = !from->script_name && argc > 1 && !strcmp(argv[0], "report");
    if (from->generate && strcmp(from->generate, "python") != 0 &&
        strcmp(from->generate, "py") != 0)
        return tool_usage(tool, "option -g takes python, not '%s'", from->generate);
    if (from->script_name || !argc)
        return run_python(tool, from, from->script_name, argv);
    char **arguments = argv + reports + 1;
    if (*arguments && !strcmp(*arguments, "--"))
        arguments++;
    return run_python(tool, from, argv[reports], arguments);
}

static struct perfdata_script_options options_of(const struct tool *tool,
                                                 const struct script_options *from)
{
    return (struct perfdata_script_options){
        .struct_size = sizeof(struct perfdata_script_options),
        .flags = flags_of(tool, from),
        .show = shown(from),
        .fields = from->field_lists,
        .field_count = from->field_count,
        TOOL_WHICH_SAMPLES(from),
        .address_range = from->address_range,
        .time = from->time,
        .stop_symbols = from->stop,
        .max_stack = from->max_stack,
        .max_blocks = from->max_blocks,
        .threads = tool->jobs,
        .search = tool_search(
            tool, (struct perfdata_symbol_search){ TOOL_WHERE_SYMBOLS(from),
                                                   .guest_kallsyms = from->guest_kallsyms,
                                                   .guest_modules = from->guest_modules,
                                                   .guest_vmlinux = from->guest_vmlinux,
                                                   .guest_mount = from->guest_mount }),
        .perf_config = getenv("PERF_CONFIG"),
        .event_switch = from->between,
        .itrace = tool->itrace,
        .itrace_count = tool->itrace_count,
        .graph_functions = from->graph_functions,
        .dso_width = from->pad_dso ? 50 : 0,
        .dlfilter = from->dlfilter,
        .dlargs = from->dlargs,
        .dlarg_count = from->dlarg_count,
    };
}

static enum tool_exit run_script(struct tool *tool, void *data, int argc, char **argv)
{
    const struct script_options *from = data;
    struct perfdata_script_options options = options_of(tool, from);
    struct perfdata_script_result result = { .struct_size = sizeof result };
    perfdata_recording *recording;
    if (from->list_dlfilters)
        return tool_list_dlfilters(tool);
    if (argc > 1 && !strcmp(argv[0], "record") && tool_is_script(argv[1]))
        return tool_usage(tool,
                          "script record is not there: %s record, with the events of %s-record",
                          tool->name, argv[1]);
    if (wants_python(from, argc, argv))
        return choose_script(tool, from, argc, argv);
    if (argc && tool->as_perf) /* perf takes it for the name of a script */
        return tool_exit_as(tool, tool_usage(tool, "Couldn't find script '%s'", argv[0]), 129);
    const char *input = tool->input ? tool->input : argc ? argv[0] : "perf.data";
    tool_prepare_heap(input);
    enum tool_exit code = tool_open_to_stitch(tool, argc, argv, from->stitch, "", &recording);
    if (code != TOOL_DONE)
        return code;
    struct tool_event_files *files = from->per_event ? tool_event_files_open(tool, input, recording)
                                                     : NULL;
    if (from->per_event && !files) {
        perfdata_recording_close(recording);
        return TOOL_OUTPUT;
    }
    options.write_event = files ? tool_event_files_write : NULL;
    options.event_data = files;
    perfdata_status status = perfdata_script_run(recording, &options, tool_write_text, tool,
                                                 &result);
    bool written = !files || tool_event_files_close(tool, files, status < 0);
    if (from->check_order && status >= 0)
        fprintf(stderr, "Misordered timestamps: %llu\n", (unsigned long long)result.misordered);
    code = tool_close_run(tool, recording, status, result.perf_exit);
    return code == TOOL_DONE && !written ? TOOL_OUTPUT : code;
}

const struct tool_verb tool_verb_script = {
    .name = "script",
    .synopsis = "[OPTIONS] [FILE]",
    .description =
        "Prints a line for each sample, and below it the call chain where one was recorded.\n\n"
        "The fields of a line depend on the kind of its event; -F chooses others. Options before "
        "FILE "
        "say which samples are shown.",
    .examples = { "script -i perf.data", "every sample with its call chain",
                  "script -G -F comm,tid,time,ip,sym -S main", "the samples in main, a line each" },
    .options = script_rows,
    .options_size = sizeof(struct script_options),
    .defaults = script_defaults,
    .run = run_script,
    .stops = takes_rest,
    .flags = TOOL_VERB_PERF,
};
