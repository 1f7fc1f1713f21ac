/* SPDX-License-Identifier: MIT */
/* inject: a recording -> another one, with build-ids or samples of its trace. */
#include "tool/output.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct inject_options {
    struct tool_output_options output;
    const char *known, *vm_time, *symfs, *vmlinux, *kallsyms, *guest_data, *guest_mount;
    int build_ids, all, sched_stat, jit, strip, no_index, ignore_vmlinux, chains;
};
#define FIELD(name) offsetof(struct inject_options, name)

static const struct tool_option inject_rows[] = {
    { TOOL_GROUP, .help = "Input" },
    TOOL_ROW_INPUT,
    TOOL_ROW_FORCE,
    TOOL_ROW_VERBOSE,
    TOOL_ROW_STRICT,
    { TOOL_GROUP, .help = "Output" },
    TOOL_ROWS_OUTPUT(output),
    { TOOL_GROUP, .help = "What is added" },
    { TOOL_FLAG, 'b', "build-ids", NULL, "build-ids of the objects that samples hit",
      FIELD(build_ids) },
    { TOOL_FLAG, 0, "buildid-all", NULL, "build-ids of all objects that were mapped", FIELD(all) },
    { TOOL_STRING, 0, "known-build-ids", "LIST",
      "\"ID PATH,ID PATH...\" or @FILE with a pair a line: used before the files' own",
      FIELD(known) },
    { TOOL_FLAG, 's', "sched-stat", NULL,
      "merge sched_stat and sched_switch samples: where and how long tasks slept",
      FIELD(sched_stat) },
    { TOOL_FLAG, 'j', "jit", NULL,
      "code of runtimes: ELF files of what jitdumps hold, written beside them, and their maps",
      FIELD(jit) },
    { TOOL_FLAG, 0, "convert-callchain", NULL,
      "copies of stacks (--call-graph dwarf) are unwound here: call chains in their place, without "
      "inlined functions",
      FIELD(chains), .flags = TOOL_OURS },
    { TOOL_GROUP, .help = "What traces say" },
    { TOOL_CALLBACK, 0, "itrace", "WHAT",
      "samples made of the trace, which itself goes: letters and periods as in script",
      .flags = TOOL_OPTIONAL, .parse = tool_parse_itrace },
    { TOOL_FLAG, 0, "strip", NULL, "with --itrace: without the recorded samples and switches",
      FIELD(strip) },
    { TOOL_FLAG, 0, "no-hw-index", NULL,
      "with --itrace: branch stacks as older readers know them, create_gcov for one",
      FIELD(no_index), .flags = TOOL_OURS },
    { TOOL_STRING, 0, "symfs", "DIR", "root under which the traced programs are looked for",
      FIELD(symfs), .flags = TOOL_OURS },
    { TOOL_STRING, 'k', "vmlinux", "FILE", "kernel image whose code was traced", FIELD(vmlinux) },
    { TOOL_FLAG, 0, "ignore-vmlinux", NULL, "kernel image is never read", FIELD(ignore_vmlinux) },
    { TOOL_STRING, 0, "kallsyms", "FILE", "file used in place of /proc/kallsyms", FIELD(kallsyms) },
    { TOOL_GROUP, .help = "Guests" },
    { TOOL_STRING, 0, "guest-data", "FILE,PID,...",
      "tasks and maps that the guest of the hypervisor PID recorded; behind it OFFSET and SCALE of "
      "the guest's TSC",
      FIELD(guest_data), .flags = TOOL_OPTIONAL, .implied = "" },
    { TOOL_STRING, 0, "guestmount", "DIR", "DIR/PID is the root of the guest of that hypervisor",
      FIELD(guest_mount) },
    { TOOL_GROUP, .help = "Changed in place" },
    { TOOL_STRING, 0, "vm-time-correlation", "OFFSETS",
      "Intel PT of guests: their TSC packets get the host's time; \"[dry-run] "
      "[OFFSET[:VMCS,...]]...\"",
      FIELD(vm_time), .flags = TOOL_OPTIONAL, .implied = "" },
    { 0 },
};

/* ---- VM time correlation ---- */

static int write_error(void *data, const char *text, size_t length)
{
    (void)data;
    return fwrite(text, 1, length, stderr) != length;
}

static bool is_dry_run(const char *text)
{
    while (*text == ' ')
        text++;
    return !strncmp(text, "dry-run", strlen("dry-run"));
}

static enum tool_exit correlate(struct tool *tool, const struct inject_options *options)
{
    enum { FAILED = 255 };
    char file[4096];
    struct perfdata_vm_time_options vm = { .struct_size = sizeof vm,
                                           .offsets = options->vm_time,
                                           .write = write_error };
    const char *wrong = !is_dry_run(options->vm_time) && !tool->reading.force
                            ? "The input file would be updated in place, the --force option is "
                              "required."
                        : options->output.path
                            ? "Output file name must not be specified for in-place updating"
                        : !tool->input || !strcmp(tool->input, "-")
                            ? "Input file name required for in-place updating"
                            : NULL;
    if (wrong)
        return tool_exit_as(tool, tool_usage(tool, "%s", wrong), FAILED);
    perfdata_recording *recording;
    enum tool_exit code = tool_open(tool, tool->input, &recording);
    if (code != TOOL_DONE)
        return code;
    bool directory = perfdata_recording_form(recording) == PERFDATA_FORM_DIRECTORY;
    snprintf(file, sizeof file, directory ? "%s/data" : "%s", tool->input);
    tool->goes_on = !is_dry_run(options->vm_time);
    if (tool->goes_on)
        vm.write_to = file;
    perfdata_status status = perfdata_correlate_vm_time(recording, &vm);
    return tool_rewritten(tool, recording, status);
}

/* ---- guest data ---- */

struct guest_data {
    char file[4096];
    uint32_t pid;
    uint64_t offset;
    double scale;
};

static bool parse_guest_data(const char *text, struct guest_data *out)
{
    const char *comma = strchr(text, ',');
    size_t length = comma ? (size_t)(comma - text) : 0;
    char *end;
    if (!length || length >= sizeof out->file)
        return false;
    memcpy(out->file, text, length);
    out->file[length] = '\0';
    unsigned long pid = strtoul(comma + 1, &end, 0);
    if (end == comma + 1 || !pid || pid > INT32_MAX)
        return false;
    out->pid = (uint32_t)pid;
    out->offset = 0;
    out->scale = 1;
    if (*end == ',') {
        const char *at = end + 1;
        out->offset = strtoull(at, &end, 0);
        if (end == at)
            return false;
    }
    if (*end == ',') {
        const char *at = end + 1;
        out->scale = strtod(at, &end);
        if (end == at || !(out->scale > 0))
            return false;
    }
    return !*end;
}

/* The root of the guest must be there when it is named. */
static enum tool_exit check_mount(struct tool *tool, const char *mount, uint32_t pid)
{
    char path[4096];
    if (!mount)
        return TOOL_DONE;
    snprintf(path, sizeof path, "%s/%u", mount, pid);
    return access(path, R_OK) ? tool_usage(tool, "Can't access file %s", path) : TOOL_DONE;
}

static enum tool_exit merge_guest(struct tool *tool, const struct inject_options *options,
                                  const struct perfdata_output *output,
                                  struct perfdata_inject_options *inject)
{
    enum { FAILED = 255 };
    struct guest_data guest;
    perfdata_recording *recording;
    if (!parse_guest_data(options->guest_data, &guest))
        return tool_exit_as(
            tool,
            tool_usage(tool, "--guest-data option requires guest perf.data file name, guest "
                             "machine PID, and optionally guest timestamp offset, and guest "
                             "timestamp scale factor, separated by commas."),
            FAILED);
    enum tool_exit code = check_mount(tool, options->guest_mount, guest.pid);
    if (code == TOOL_DONE)
        code = tool_open(tool, guest.file, &inject->guest);
    if (code != TOOL_DONE)
        return code;
    inject->guest_pid = guest.pid;
    inject->guest_tsc_offset = guest.offset;
    inject->guest_tsc_scale = guest.scale;
    code = tool_open(tool, tool->input ? tool->input : "-", &recording);
    if (code == TOOL_DONE)
        code = tool_rewritten(tool, recording, perfdata_inject(recording, output, inject));
    perfdata_recording_close(inject->guest);
    return code;
}

/* Refuses options that mean nothing without others. */
static enum tool_exit check_company(struct tool *tool, const struct inject_options *options,
                                    bool itrace)
{
    if (options->known && !options->build_ids && !options->all)
        return tool_usage(tool, "--known-build-ids goes with -b or --buildid-all");
    if (options->strip && !itrace)
        return tool_exit_as(tool, tool_usage(tool, "--strip option requires --itrace option"), 255);
    if (options->no_index && !itrace)
        return tool_usage(tool, "--no-hw-index goes with --itrace");
    bool looks = itrace || options->chains;
    if (options->symfs && !looks)
        return tool_usage(tool, "--symfs goes with --itrace or --convert-callchain");
    if ((options->vmlinux || options->kallsyms || options->ignore_vmlinux) && !looks)
        return tool_usage(tool, "--vmlinux, --kallsyms and --ignore-vmlinux go with --itrace or "
                                "--convert-callchain");
    if (options->guest_mount && !itrace && !options->guest_data)
        return tool_usage(tool, "--guestmount goes with --guest-data or --itrace");
    return TOOL_DONE;
}

static enum tool_exit run_inject(struct tool *tool, void *data, int argc, char **argv)
{
    const struct inject_options *options = data;
    struct perfdata_inject_options inject = {
        .struct_size = sizeof inject,
        .flags = (options->build_ids ? PERFDATA_INJECT_BUILD_IDS : 0u) |
                 (options->all ? PERFDATA_INJECT_ALL_BUILD_IDS : 0u) |
                 (options->sched_stat ? PERFDATA_INJECT_SCHED_STAT : 0u) |
                 (options->jit ? PERFDATA_INJECT_JIT : 0u) |
                 (options->strip ? PERFDATA_INJECT_STRIP : 0u) |
                 (options->no_index ? PERFDATA_INJECT_NO_HW_INDEX : 0u) |
                 (options->ignore_vmlinux ? PERFDATA_INJECT_IGNORE_VMLINUX : 0u) |
                 (options->chains ? PERFDATA_INJECT_CONVERT_CHAINS : 0u),
        .known_build_ids = options->known,
        .itrace = tool->itrace,
        .itrace_count = tool->no_itrace ? 0 : tool->itrace_count,
        .search = tool_search(
            tool, (struct perfdata_symbol_search){ .symfs = options->symfs,
                                                   .vmlinux = options->vmlinux,
                                                   .kallsyms = options->kallsyms,
                                                   .guest_mount = options->guest_mount }),
        .perf_config = getenv("PERF_CONFIG"),
    };
    struct perfdata_output output;
    perfdata_recording *recording;
    if (argc && tool->as_perf)
        return tool_usage(tool, "'%s': the recording is named with -i", argv[0]);
    enum tool_exit code = tool_one_input(tool, argc, argv);
    if (code != TOOL_DONE)
        return code;
    if (argc)
        tool->input = argv[0];
    if (options->vm_time) {
        if (inject.flags || options->known || options->output.pipe || options->output.level ||
            options->output.order)
            return tool_usage(tool, "--vm-time-correlation goes with no other way of injecting");
        return correlate(tool, options);
    }
    code = tool_output(tool, &options->output, "-", &output);
    if (code == TOOL_DONE)
        code = check_company(tool, options, inject.itrace_count != 0);
    if (code == TOOL_DONE && options->guest_data)
        return merge_guest(tool, options, &output, &inject);
    if (code == TOOL_DONE) /* perf reads standard input here */
        code = tool_open(tool, tool->input ? tool->input : "-", &recording);
    if (code != TOOL_DONE)
        return code;
    return tool_rewritten(tool, recording, perfdata_inject(recording, &output, &inject));
}

const struct tool_verb tool_verb_inject = {
    .name = "inject",
    .synopsis = "[OPTIONS] [FILE]",
    .description =
        "Copies a recording record by record: from a pipe to a file and back, from a directory "
        "to a file, into\nanother byte order, compressed, with build-ids. The output takes its "
        "name when it is complete.",
    .examples = { "inject -i perf.data -o copy.data --byte-order=native",
                  "a foreign recording in this machine's byte order",
                  "inject -b -i perf.data -o with-ids.data", "with build-ids in its header" },
    .options = inject_rows,
    .options_size = sizeof(struct inject_options),
    .run = run_inject,
    .flags = TOOL_VERB_WRITES | TOOL_VERB_PERF,
};
